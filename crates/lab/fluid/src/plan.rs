//! A scenario as inputs of the equations: a network, a step, a time table. Refuses what has no model.

use crate::error::Error;
use crate::history::History;
use crate::model::{Model, Slowdowns};
use crate::network::{Network, Sender};
use crate::options::{Options, Pacing};
use crate::support;
use afteryou_base::{Span, Time};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{Buffer, Checked, Flow, Scenario, Traffic};

/// A scenario as equations.
pub struct Plan {
    /// The network; data in bytes.
    pub network: Network,
    /// Length of a step, s: a part of [`GRID_S`].
    pub step_s: f64,
    /// Steps.
    pub steps: u64,
    /// The starts and stops with their steps, in order.
    pub changes: Vec<Change>,
}

/// A flow starts or stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of steps before it.
    pub step: u64,
    /// The flow's number.
    pub flow: usize,
    /// Whether the flow starts.
    pub starts: bool,
}

/// Points of curves lie on this grid, so steps divide it, s.
pub const GRID_S: f64 = 0.1;
/// Most steps times flows: some minutes of work.
const MOST_WORK: u64 = 1_000_000_000;
/// Most numbers that the past may take: 400 MB.
const MOST_REMEMBERED: u64 = 50_000_000;

impl Plan {
    /// Makes the plan of a checked scenario.
    pub fn new(scenario: &Scenario, options: &Options) -> Result<Plan, Error> {
        let network = network(scenario, options)?;
        let step_s = GRID_S / (GRID_S / network.step_s()).ceil();
        let steps = step_of(scenario.duration.0, step_s).max(1);
        if steps.saturating_mul(scenario.flow.len() as u64 + 1) > MOST_WORK {
            return Err(Error::TooLong { steps, step_ms: step_s * 1e3 });
        }
        let remembered_s = network.longest_delay_s(network.buffer);
        let remembered = ((remembered_s / step_s).ceil() as u64).min(steps);
        let numbers = History::numbers_per_step(1 + 2 * scenario.flow.len());
        if remembered.saturating_mul(numbers) > MOST_REMEMBERED {
            let reason = format!(
                "link.buffer = {} holds {remembered_s:.0} s: that is too long a memory for the flows: use a smaller \
                 buffer or a shorter run",
                scenario.link.buffer
            );
            return Err(Unsupported::new("link.buffer", reason).into());
        }
        let end = Time(scenario.duration.0 .0);
        let mut changes = Vec::new();
        for (index, flow) in scenario.flow.iter().enumerate() {
            add_changes(flow, index, end, step_s, &mut changes);
        }
        // Stops before starts, then in the order of the flows.
        changes.sort_by_key(|change| (change.step, change.starts, change.flow));
        Ok(Plan { network, step_s, steps, changes })
    }
}

/// Returns whether a checked scenario can be run as equations.
///
/// # Errors
/// Everything in it that has none, in the order of the file's sections; a run that is too long if there is nothing else.
pub fn supports(scenario: &Checked, options: &Options) -> Result<(), Vec<Unsupported>> {
    let reasons = support::without_equations(scenario, options);
    if !reasons.is_empty() {
        return Err(reasons);
    }
    match Plan::new(scenario, options) {
        Err(Error::Unsupported(reason)) => Err(vec![reason]),
        Err(too_long @ Error::TooLong { .. }) => {
            Err(vec![Unsupported::new("duration", too_long.to_string())])
        }
        // A scenario that contradicts itself is no matter of this engine.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the edge nearest to a time.
pub fn step_of(at: Span, step_s: f64) -> u64 {
    (at.as_secs_f64() / step_s).round() as u64
}

/// Returns the network of a checked scenario.
pub fn network(scenario: &Scenario, options: &Options) -> Result<Network, Error> {
    if let Some(reason) = support::without_equations(scenario, options).into_iter().next() {
        return Err(reason.into());
    }
    let link = &scenario.link;
    let senders = scenario.flow.iter().map(|flow| sender(flow, options)).collect::<Result<Vec<_>, _>>()?;
    let bytes_per_second = link.rate.bits_per_second() as f64 / 8.0;
    let largest = senders.iter().map(|sender| sender.size).fold(0.0, f64::max);
    let buffer = match link.buffer {
        Buffer::Packets(packets) => packets as f64 * largest.max(1.0),
        Buffer::Size(size) => size.bytes() as f64,
        Buffer::Time(time) => time.as_secs_f64() * bytes_per_second,
    };
    let network = Network::new(bytes_per_second, *options, senders);
    Ok(network.with_buffer(buffer).with_loss(link.loss.ratio()))
}

fn sender(flow: &Flow, options: &Options) -> Result<Sender, Error> {
    let rtt_s = flow.rtt.as_secs_f64();
    let format = flow.packet_format();
    let (payload, overhead) = (format.payload.bytes() as f64, format.overhead.bytes() as f64);
    let (rwnd, paces) = match flow.transport.protocol()? {
        Protocol::Tcp(options) => (options.rwnd as f64, options.pacing),
        Protocol::Utp(options) => (options.rwnd as f64, true),
        Protocol::Quic(options) => (options.rwnd as f64, true),
        Protocol::Udp => (f64::INFINITY, true),
    };
    let mut model = Model::of(flow)?;
    if let Model::LedbatPp(rule) = &mut model {
        if options.mean_slowdowns && rule.slowdowns == Slowdowns::Events {
            rule.slowdowns = Slowdowns::Mean;
        }
    }
    let least = match model {
        Model::Constant(_) => 0.0,
        _ => options.floor.unwrap_or(model.floor()),
    };
    let paced = paces || options.pacing == Pacing::All;
    Ok(Sender { model, rtt_s, size: payload + overhead, least, most: rwnd / payload, paced })
}

/// Adds the changes of a flow's time table: start and stop, times of activity, on and off.
fn add_changes(flow: &Flow, index: usize, end: Time, step_s: f64, changes: &mut Vec<Change>) {
    let time = |at: afteryou_scenario::Duration| Time(at.0 .0);
    let (start, stop) = (time(flow.start), flow.stop.map_or(end, time).min(end));
    let mut add = |from: Time, to: Time| {
        let (from, to) = (step_of(Span(from.0), step_s), step_of(Span(to.0), step_s));
        changes.push(Change { step: from, flow: index, starts: true });
        // A step at least: stops come before starts, so one at the same step would find nothing to stop.
        changes.push(Change { step: to.max(from + 1), flow: index, starts: false });
    };
    let always = [[flow.start, afteryou_scenario::Duration(Span(stop.0))]];
    let listed = if flow.active.is_empty() { &always[..] } else { &flow.active };
    for [from, to] in listed {
        let (from, to) = (time(*from).max(start), time(*to).min(stop));
        if from >= to {
            continue;
        }
        let Traffic::OnOff { on, off } = flow.traffic else {
            add(from, to);
            continue;
        };
        let period = on.0 + off.0;
        // The first time on that is not over when the activity begins.
        let mut begins = start + period * (from.since(start).0 / period.0);
        while begins < to {
            let (on_from, on_to) = (begins.max(from), (begins + on.0).min(to));
            if on_from < on_to {
                add(on_from, on_to);
            }
            begins += period;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Link, Role};

    fn flow() -> Flow {
        Flow::new("a", Role::Background, "ledbat", Duration::from_millis(50))
    }

    fn times(flow: &Flow) -> Vec<(u64, bool)> {
        let mut changes = Vec::new();
        add_changes(flow, 0, Time::from_millis(20_000), 0.01, &mut changes);
        changes.iter().map(|change| (change.step * 10, change.starts)).collect()
    }

    #[test]
    fn a_time_table_is_start_and_stop_activity_and_on_and_off_together() {
        let s = |s: u64| Duration::from_millis(s * 1000);
        assert_eq!(times(&flow()), [(0, true), (20_000, false)]);
        let late = Flow { start: s(3), stop: Some(s(9)), ..flow() };
        assert_eq!(times(&late), [(3_000, true), (9_000, false)]);
        let active = Flow { active: vec![[s(1), s(4)], [s(8), s(30)]], ..late.clone() };
        assert_eq!(times(&active), [(3_000, true), (4_000, false), (8_000, true), (9_000, false)]);
        let on_off = Flow { traffic: Traffic::OnOff { on: s(2), off: s(2) }, ..late.clone() };
        assert_eq!(times(&on_off), [(3_000, true), (5_000, false), (7_000, true), (9_000, false)]);
        let brief = Flow { stop: Some(Duration::from_millis(3_001)), ..late.clone() };
        assert_eq!(times(&brief), [(3_000, true), (3_010, false)], "a step at least");
        let both = Flow { active: vec![[s(4), s(8)]], ..on_off };
        assert_eq!(times(&both), [(4_000, true), (5_000, false), (7_000, true), (8_000, false)]);
    }

    #[test]
    fn steps_divide_the_grid_of_the_curves() {
        let link = Link::new("10 Mbit/s".parse().unwrap(), "100 packets".parse().unwrap());
        for rtt_ms in [1, 7, 50, 135, 400] {
            let flow = Flow { rtt: Duration::from_millis(rtt_ms), ..flow() };
            let scenario = Scenario {
                flow: vec![flow],
                ..Scenario::new("", Duration::from_millis(5_000), link.clone())
            };
            let plan = Plan::new(&scenario, &Options::default()).unwrap();
            let parts = GRID_S / plan.step_s;
            assert!((parts - parts.round()).abs() < 1e-9 && plan.step_s <= rtt_ms as f64 / 1e4);
            assert!((plan.steps as f64 * plan.step_s - 5.0).abs() < 1e-9);
        }
    }
}
