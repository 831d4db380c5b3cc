//! Scripted faults: packets that are dropped or held back before they reach the queue.

use afteryou_base::{Span, Time};
use afteryou_scenario::scenario::{Delay, Drop};
use afteryou_scenario::Scenario;
use std::collections::BTreeMap;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Pass,
    /// It is dropped.
    Drop,
    /// It goes on later.
    Hold(Span),
}

/// All scripted faults.
#[derive(Debug, Default)]
pub struct Script {
    flows: Vec<Option<Box<FlowScript>>>,
    by_time: Vec<ByTime>,
}

/// Faults of one flow's packets, by number and transmission.
#[derive(Debug, Default)]
struct FlowScript {
    fates: BTreeMap<(u64, u32), Fate>,
    /// Transmissions so far of the numbers that the script names.
    seen: BTreeMap<u64, u32>,
}

/// Drops packets from a time on.
#[derive(Debug)]
struct ByTime {
    flow: Option<u32>,
    at: Time,
    until: Time,
    left: u64,
}

impl Script {
    /// The script of a scenario.
    pub fn new(scenario: &Scenario) -> Script {
        let index = |name: &str| scenario.flow.iter().position(|flow| flow.name == name);
        let mut script = Script { flows: scenario.flow.iter().map(|_| None).collect(), by_time: Vec::new() };
        for Drop { flow, packet, transmission, at, until, count } in &scenario.drop {
            let flow = flow.as_deref().and_then(index);
            let count = count.unwrap_or(if until.is_some() { u64::MAX } else { 1 });
            let until = until.map_or(Time::NEVER, |until| Time(until.0 .0));
            if let Some(at) = at {
                let flow = flow.map(|flow| flow as u32);
                script.by_time.push(ByTime { flow, at: Time(at.0 .0), until, left: count });
            }
            if let (Some(flow), Some(first)) = (flow, packet) {
                for number in *first..first.saturating_add(count.min(MOST_IN_A_ROW)) {
                    script.add(flow, number, transmission.unwrap_or(1), Fate::Drop);
                }
            }
        }
        for Delay { flow, packet, transmission, by } in &scenario.delay {
            if let Some(flow) = index(flow) {
                script.add(flow, *packet, transmission.unwrap_or(1), Fate::Hold(by.0));
            }
        }
        script
    }

    fn add(&mut self, flow: usize, number: u64, transmission: u32, fate: Fate) {
        let script = self.flows[flow].get_or_insert_default();
        script.fates.insert((number, transmission), fate);
        script.seen.insert(number, 0);
    }

    /// What becomes of data packet `number` (from 1) of `flow`, which is sent now.
    pub fn fate(&mut self, now: Time, flow: u32, number: u64) -> Fate {
        if let Some(script) = self.flows.get_mut(flow as usize).and_then(Option::as_mut) {
            if let Some(seen) = script.seen.get_mut(&number) {
                *seen += 1;
                if let Some(fate) = script.fates.get(&(number, *seen)) {
                    return *fate;
                }
            }
        }
        for drop in &mut self.by_time {
            let meant = drop.flow.is_none_or(|meant| meant == flow);
            if meant && drop.left > 0 && (drop.at..drop.until).contains(&now) {
                drop.left -= 1;
                return Fate::Drop;
            }
        }
        Fate::Pass
    }
}

/// Most packets in a row that one line of the script names.
const MOST_IN_A_ROW: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Flow, Link, Role};

    fn script(drop: Vec<Drop>) -> Script {
        let link = Link::new("1 Mbit/s".parse().unwrap(), "10 packets".parse().unwrap());
        let flow =
            ["a", "b"].map(|name| Flow::new(name, Role::Foreground, "newreno", Duration::from_millis(10)));
        let scenario =
            Scenario { flow: flow.to_vec(), drop, ..Scenario::new("", Duration::from_millis(1000), link) };
        scenario.check().unwrap();
        Script::new(&scenario)
    }

    #[test]
    fn a_packet_is_dropped_in_the_transmission_that_the_script_names() {
        let drop =
            Drop { flow: Some("b".to_owned()), packet: Some(3), transmission: Some(2), ..Drop::default() };
        let mut script = script(vec![drop]);
        let mut fate = |flow, number| script.fate(Time::ZERO, flow, number);
        assert_eq!([fate(1, 3), fate(0, 3), fate(0, 3), fate(1, 2)], [Fate::Pass; 4]);
        assert_eq!([fate(1, 3), fate(1, 3)], [Fate::Drop, Fate::Pass]);
    }

    #[test]
    fn from_a_time_on_so_many_packets_are_dropped() {
        let at = Some(Duration::from_millis(5));
        let mut counted = script(vec![Drop { at, count: Some(2), ..Drop::default() }]);
        let until = Some(Duration::from_millis(7));
        let mut outage = script(vec![Drop { at, until, ..Drop::default() }]);
        let during: Vec<Fate> = (4..9).map(|ms| outage.fate(Time::from_millis(ms), 1, ms)).collect();
        assert_eq!(during, [Fate::Pass, Fate::Drop, Fate::Drop, Fate::Pass, Fate::Pass]);
        let fates: Vec<Fate> = (4..9).map(|ms| counted.fate(Time::from_millis(ms), 0, ms)).collect();
        assert_eq!(fates, [Fate::Pass, Fate::Drop, Fate::Drop, Fate::Pass, Fate::Pass]);
    }
}
