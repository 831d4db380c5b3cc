//! Settings that have no equations, each with its key.

use crate::model;
use crate::options::Options;
use crate::QUEUES;
use afteryou_scenario::fluid::FLOORS;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Direction, Flow, Scenario, Traffic};

/// Most times on and off, of all flows together.
const MOST_TIMES_ON: u64 = 1_000_000;
/// The shortest round trip that is taken, s.
const SHORTEST_RTT_S: f64 = 1e-4;

/// Returns everything in a scenario that has no equations.
pub(crate) fn without_equations(scenario: &Scenario, options: &Options) -> Vec<Unsupported> {
    let mut reasons = Vec::new();
    let mut refuse = |key: &str, reason: String| reasons.push(Unsupported::new(key, reason));
    if scenario.has_named_links() {
        let reason = "[[link]]: the fluid model has one bottleneck: write one [link], or run the scenario in the simulator";
        refuse("link", reason.to_owned());
    }
    let link = &scenario.link;
    if !QUEUES.iter().any(|entry| entry.name == link.queue.kind) {
        let (kind, known) = (&link.queue.kind, QUEUES.iter().map(|entry| entry.name).collect::<Vec<_>>());
        let known = known.join(", ");
        let reason =
            format!("there is no fluid model of the queue {kind}: use {known}, or run it in the simulator");
        refuse("link.queue", reason);
    }
    if let Some(element) = link.elements.first() {
        let reason = format!(
            "link.{element}: there is no fluid model of it: leave it out, or run the scenario in the simulator"
        );
        refuse(&format!("link.{element}"), reason);
    }
    if link.reverse.is_some() {
        let reason = "link.reverse: the fluid model has no queue on the reverse path: leave it out, or run the scenario \
                      in the simulator";
        refuse("link.reverse", reason.to_owned());
    }
    if !scenario.record.is_empty() {
        let reason =
            "record: a fluid has no packets and no acks to record: leave it out, or run the scenario in the \
                      simulator";
        refuse("record", reason.to_owned());
    }
    if !scenario.route_change.is_empty() {
        let reason = "a fluid keeps its route: leave it out, or run the scenario in the simulator";
        refuse("route_change", format!("[[route_change]]: {reason}"));
    }
    for (key, is_there) in [("drop", !scenario.drop.is_empty()), ("delay", !scenario.delay.is_empty())] {
        if is_there {
            let reason = format!(
                "[[{key}]]: a fluid has no single packets: leave it out, or run the scenario in the simulator"
            );
            refuse(key, reason);
        }
    }
    if times_on(scenario) > MOST_TIMES_ON {
        let reason = format!(
            "the flows go on and off more than {MOST_TIMES_ON} times together: use fewer flows, longer times, or a \
             shorter run"
        );
        refuse("flow", reason);
    }
    if options.step_s.is_some_and(|step_s| step_s <= 0.0) {
        refuse("fluid.step", "fluid.step = 0: use a longer step, or leave it out".to_owned());
    }
    if options.floor.is_some_and(|floor| !FLOORS.contains(&floor)) {
        let reason = "fluid.floor is no smallest window: use 0.001 to 1000 packets, or leave it out";
        refuse("fluid.floor", reason.to_owned());
    }
    reasons.extend(scenario.flow.iter().flat_map(of_flow));
    reasons
}

fn of_flow(flow: &Flow) -> Vec<Unsupported> {
    let mut reasons = model::unsupported(flow);
    if flow.rtt.as_secs_f64() < SHORTEST_RTT_S {
        let reason =
            format!("flow {:?}: rtt = {} is too short for a fluid: use 0.1 ms or more", flow.name, flow.rtt);
        reasons.push(Unsupported::of_flow(flow, "rtt", reason));
    }
    if flow.direction == Direction::Down {
        let reason = format!(
            "flow {:?}: direction = \"down\": the fluid model has no queue on the reverse path: leave it out, or run the \
             scenario in the simulator",
            flow.name
        );
        reasons.push(Unsupported::of_flow(flow, "direction", reason));
    }
    for (key, rule) in [("receiver", &flow.receiver), ("sender", &flow.sender)] {
        if rule.is_some() {
            let reason = format!(
                "flow {:?}: {key}: the fluid model has no rules of ends: leave it out, or run the scenario in the simulator",
                flow.name
            );
            reasons.push(Unsupported::of_flow(flow, key, reason));
        }
    }
    if let Some(element) = flow.elements.first() {
        let reason = format!(
            "flow {:?}: {element} has no fluid model, and noise is one: leave it out, or run the scenario in the simulator",
            flow.name
        );
        reasons.push(Unsupported::of_flow(flow, element, reason));
    }
    let what = match &flow.traffic {
        Traffic::Chunk(_) => Some("traffic in chunks"),
        Traffic::Command(_) => {
            let reason = format!("flow {:?}: a command sends real packets: use afteryou bed", flow.name);
            return vec![Unsupported::of_flow(flow, "traffic", reason)];
        }
        traffic if traffic.has_transfers() => Some("traffic of many transfers"),
        _ => None,
    };
    if let Some(what) = what {
        let reason = format!(
            "flow {:?}: {what} has no fluid model: use bulk, size, on/off or cbr, or run the scenario in the \
             simulator",
            flow.name
        );
        reasons.push(Unsupported::of_flow(flow, "traffic", reason));
    }
    reasons
}

/// Returns the number of times that flows turn on, all together.
fn times_on(scenario: &Scenario) -> u64 {
    let of = |flow: &Flow| match flow.traffic {
        Traffic::OnOff { on, off } => scenario.duration.0 .0 / (on.0 + off.0).0.max(1),
        _ => 0,
    };
    scenario.flow.iter().fold(0, |sum, flow| of(flow).saturating_add(sum))
}
