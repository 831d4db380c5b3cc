//! Scripted faults: packets that are dropped or held back before they reach the queue.

use afteryou_base::{Span, Time};
use afteryou_scenario::scenario::{Delay, Drop, Every};
use afteryou_scenario::Scenario;
use std::collections::BTreeMap;

/// A packet's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet continues.
    Pass,
    /// It is dropped.
    Drop,
    /// The packet continues later.
    Hold(Span),
}

/// All scripted faults.
#[derive(Debug, Default)]
pub struct Script {
    flows: Vec<Option<Box<FlowScript>>>,
    by_time: Vec<ByTime>,
}

/// A rule that chooses packets by time.
struct Chosen {
    flow: Option<usize>,
    at: Time,
    until: Option<afteryou_scenario::Duration>,
    every: Option<Every>,
    count: Option<u64>,
}

/// Faults of one flow's packets, by number and transmission.
#[derive(Debug, Default)]
struct FlowScript {
    fates: BTreeMap<(u64, u32), Fate>,
    /// Transmissions so far of the numbers that the script names.
    seen: BTreeMap<u64, u32>,
}

/// Drops or holds back packets from a time on.
#[derive(Debug)]
struct ByTime {
    flow: Option<u32>,
    at: Time,
    until: Time,
    left: u64,
    repeats: Repeats,
    fate: Fate,
}

/// Which of the packets that a rule means it takes.
#[derive(Debug)]
enum Repeats {
    /// Each.
    Always,
    /// Every n-th; the second counts.
    Packets(u64, u64),
    /// The first in each interval of this length.
    Time(Span),
}

impl ByTime {
    fn new(rule: Chosen, fate: Fate) -> ByTime {
        let endless = rule.until.is_some() || rule.every.is_some();
        ByTime {
            flow: rule.flow.map(|flow| flow as u32),
            at: rule.at,
            until: rule.until.map_or(Time::NEVER, |until| Time(until.0 .0)),
            left: rule.count.unwrap_or(if endless { u64::MAX } else { 1 }),
            repeats: match rule.every {
                None => Repeats::Always,
                Some(Every::Packets(every)) => Repeats::Packets(every.max(1), 0),
                Some(Every::Time(every)) => Repeats::Time(every.0.max(Span(1))),
            },
            fate,
        }
    }

    /// Returns the rule's effect on a packet that is sent now.
    fn fate(&mut self, now: Time, flow: u32) -> Option<Fate> {
        let meant = self.flow.is_none_or(|meant| meant == flow);
        if !meant || self.left == 0 || !(self.at..self.until).contains(&now) {
            return None;
        }
        match &mut self.repeats {
            Repeats::Always => {}
            Repeats::Packets(every, seen) => {
                *seen += 1;
                if !seen.is_multiple_of(*every) {
                    return None;
                }
            }
            // The next interval of the same grid.
            Repeats::Time(every) => self.at += *every * (now.since(self.at).0 / every.0 + 1),
        }
        self.left -= 1;
        Some(self.fate)
    }
}

impl Script {
    /// Reads the script of a scenario.
    pub fn new(scenario: &Scenario) -> Script {
        let index = |name: &str| scenario.flow.iter().position(|flow| flow.name == name);
        let mut script = Script { flows: scenario.flow.iter().map(|_| None).collect(), by_time: Vec::new() };
        for Drop { flow, packet, transmission, at, until, every, count } in &scenario.drop {
            let flow = flow.as_deref().and_then(index);
            let (until, every) = (*until, *every);
            if let Some(at) = at {
                let rule = Chosen { flow, at: Time(at.0 .0), until, every, count: *count };
                script.by_time.push(ByTime::new(rule, Fate::Drop));
            }
            let count = count.unwrap_or(1);
            if let (Some(flow), Some(first)) = (flow, packet) {
                for number in *first..first.saturating_add(count.min(MOST_IN_A_ROW)) {
                    script.add(flow, number, transmission.unwrap_or(1), Fate::Drop);
                }
            }
        }
        for Delay { flow, packet, transmission, at, until, every, count, by } in &scenario.delay {
            let Some(flow) = index(flow) else { continue };
            if let Some(at) = at {
                let (flow, at) = (Some(flow), Time(at.0 .0));
                let rule = Chosen { flow, at, until: *until, every: *every, count: *count };
                script.by_time.push(ByTime::new(rule, Fate::Hold(by.0)));
            }
            if let Some(packet) = packet {
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

    /// Returns the outcome for data packet `number` (from 1) of `flow`, which is sent now.
    pub fn fate(&mut self, now: Time, flow: u32, number: u64) -> Fate {
        if let Some(script) = self.flows.get_mut(flow as usize).and_then(Option::as_mut) {
            if let Some(seen) = script.seen.get_mut(&number) {
                *seen += 1;
                if let Some(fate) = script.fates.get(&(number, *seen)) {
                    return *fate;
                }
            }
        }
        self.by_time.iter_mut().find_map(|rule| rule.fate(now, flow)).unwrap_or(Fate::Pass)
    }
}

/// Most packets in a row that one line of the script names.
const MOST_IN_A_ROW: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Flow, Link, Role};

    fn script(drop: Vec<Drop>) -> Script {
        with(drop, Vec::new())
    }

    fn with(drop: Vec<Drop>, delay: Vec<Delay>) -> Script {
        let link = Link::new("1 Mbit/s".parse().unwrap(), "10 packets".parse().unwrap());
        let flow =
            ["a", "b"].map(|name| Flow::new(name, Role::Foreground, "newreno", Duration::from_millis(10)));
        let scenario = Scenario {
            flow: flow.to_vec(),
            drop,
            delay,
            ..Scenario::new("", Duration::from_millis(1000), link)
        };
        Script::new(&scenario.checked().unwrap())
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
    fn rules_repeat_by_number_and_by_time() {
        let at = Some(Duration::from_millis(5));
        let until = Some(Duration::from_millis(45));
        let rule = |every| Drop { at, until, every: Some(every), ..Drop::default() };
        let dropped = |every| {
            let mut script = script(vec![rule(every)]);
            let times = 0..60u64;
            times.filter(|ms| script.fate(Time::from_millis(*ms), 1, *ms) == Fate::Drop).collect::<Vec<_>>()
        };
        assert_eq!(dropped(Every::Packets(12)), [16, 28, 40], "the 12th from 5 ms on, and so on");
        assert_eq!(dropped(Every::Time(Duration::from_millis(20))), [5, 25]);
    }

    #[test]
    fn a_packet_in_each_interval_is_held_back() {
        let delay = Delay {
            flow: "b".to_owned(),
            at: Some(Duration::default()),
            every: Some(Every::Time(Duration::from_millis(20))),
            by: Duration::from_millis(7),
            packet: None,
            transmission: None,
            until: None,
            count: Some(2),
        };
        let mut script = with(Vec::new(), vec![delay]);
        let held = (0..100).filter(|ms| script.fate(Time::from_millis(*ms), 1, *ms) != Fate::Pass);
        assert_eq!(held.collect::<Vec<_>>(), [0, 20]);
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
