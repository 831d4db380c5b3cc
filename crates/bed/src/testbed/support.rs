//! Settings that the testbed does not support yet, each with its key.

use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Flow, Gaps, Scenario, Traffic};

/// Can a checked scenario be run in the testbed?
///
/// # Errors
/// Everything in it that cannot, in the order of the file's sections.
pub fn supports(scenario: &Scenario) -> Result<(), Vec<Unsupported>> {
    let record =
        (!scenario.record.is_empty()).then(|| Unsupported::new("record", not_yet("a record of each packet")));
    let reasons: Vec<_> = record.into_iter().chain(scenario.flow.iter().flat_map(of_flow)).collect();
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(reasons),
    }
}

fn of_flow(flow: &Flow) -> Vec<Unsupported> {
    let is_tcp = flow.transport.kind() == "tcp";
    let traffic = match flow.traffic {
        Traffic::Chunk(_) => Some("traffic in chunks"),
        Traffic::OnOff { .. } => Some("traffic that goes on and off"),
        Traffic::Cbr { gaps: Gaps::Exponential, .. } => Some("exponential gaps"),
        ref traffic if traffic.has_transfers() => Some("traffic of many transfers"),
        _ => None,
    };
    let traffic = traffic.map(|what| ("traffic".to_owned(), what));
    let settings = flow.transport.0.params.keys().filter(|_| !is_tcp);
    let settings = settings.map(|name| (format!("transport.{name}"), "settings of the transport"));
    let packet = flow.packet.filter(|_| !is_tcp).map(|_| ("packet".to_owned(), "settings of the packet"));
    let active = (!flow.active.is_empty()).then(|| ("active".to_owned(), "flows that are active at times"));
    let controller = flow.controller.iter().filter(|controller| is_tcp && !controller.params.is_empty());
    let controller =
        controller.map(|_| ("controller".to_owned(), "parameters of the kernel's congestion control"));
    let all = settings.chain(packet).chain(traffic).chain(active).chain(controller);
    all.map(|(key, what)| Unsupported::of_flow(flow, key, not_yet(&format!("{what} (flow {:?})", flow.name))))
        .collect()
}

fn not_yet(what: &str) -> String {
    format!("{what} is not done with real packets yet: use afteryou sim")
}
