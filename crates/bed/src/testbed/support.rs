//! Settings that the testbed does not support yet, each with its key.

use crate::run::quic::PAYLOADS;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Algorithm, Flow, Record, Scenario};

/// Can a checked scenario be run in the testbed?
///
/// # Errors
/// Everything in it that cannot, in the order of the file's sections.
pub fn supports(scenario: &Scenario) -> Result<(), Vec<Unsupported>> {
    let of_senders = [Record::Senders, Record::Events].iter().any(|record| scenario.record.contains(record));
    let record = of_senders.then(|| {
        let reason = "senders and events are not recorded with real packets, whose kernel does not report them: record queues and \
                      losses, or use afteryou sim";
        Unsupported::new("record", reason)
    });
    let reasons: Vec<_> = record.into_iter().chain(scenario.flow.iter().flat_map(of_flow)).collect();
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(reasons),
    }
}

fn of_flow(flow: &Flow) -> Vec<Unsupported> {
    let is_tcp = flow.transport.kind() == "tcp";
    let skew = flow.transport.0.params.keys().filter(|name| *name == "skew");
    let skew = skew.map(|name| (format!("transport.{name}"), "a clock that runs faster"));
    let controller = flow.controller.iter().filter(|controller| is_tcp && !is_the_kernels(controller));
    let controller =
        controller.map(|_| ("controller".to_owned(), "parameters of the kernel's congestion control"));
    let is_odd = flow.transport.kind() == "quic"
        && flow.packet.is_some_and(|packet| !PAYLOADS.contains(&packet.payload.bytes()));
    let packet = is_odd.then(|| {
        let (least, most) = (PAYLOADS.start(), PAYLOADS.end());
        let reason = format!(
            "packets of QUIC carry {least} to {most} bytes here (flow {:?}): use such a payload, or leave it out",
            flow.name
        );
        Unsupported::of_flow(flow, "packet", reason)
    });
    let all = skew.chain(controller);
    all.map(|(key, what)| Unsupported::of_flow(flow, key, not_yet(&format!("{what} (flow {:?})", flow.name))))
        .chain(packet)
        .collect()
}

/// Does the kernel have this congestion control's parameters? Its CUBIC has a HyStart and a Reno-friendly region of its own.
fn is_the_kernels(controller: &Algorithm) -> bool {
    let is_own = |(name, value): (&String, &String)| {
        controller.kind == "cubic" && ["hystart", "friendly"].contains(&name.as_str()) && value == "linux"
    };
    controller.params.iter().all(is_own)
}

fn not_yet(what: &str) -> String {
    format!("{what} is not done with real packets yet: use afteryou sim")
}
