//! Settings that the bed does not support yet, each with its key.
//!
//! The relay has uTP, QUIC and bare UDP over one link with two directions. The testbed has everything else, on Linux.

#[cfg(target_os = "linux")]
use crate::quic_packet::PAYLOADS;
use afteryou_scenario::support::Unsupported;
#[cfg(target_os = "linux")]
use afteryou_scenario::{Algorithm, Record};
use afteryou_scenario::{Checked, Elements, Flow, Gaps, Traffic, TransportKind};

/// Returns whether a checked scenario can be run over the relay.
///
/// # Errors
/// Everything in it that cannot, in the order of the file's sections.
pub fn by_relay(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    let mut reasons = Vec::new();
    if scenario.has_named_links() {
        reasons.push(Unsupported::new("link", not_yet("an experiment of named links ([[link]])")));
    }
    if !scenario.record.is_empty() {
        reasons.push(Unsupported::new("record", not_yet("a record of each packet")));
    }
    for (key, is_there) in [("drop", !scenario.drop.is_empty()), ("delay", !scenario.delay.is_empty())] {
        if is_there {
            reasons.push(Unsupported::new(key, not_yet("scripted drops and delays")));
        }
    }
    if !scenario.route_change.is_empty() {
        reasons.push(Unsupported::new("route_change", not_yet("changes of routes")));
    }
    let link = &scenario.link;
    let reverse = link.reverse.as_ref().and_then(|reverse| reverse.elements.as_ref());
    for (key, elements) in [("link", Some(&link.elements)), ("link.reverse", reverse)] {
        if let Some(element) = elements.and_then(Elements::first) {
            reasons.push(Unsupported::new(format!("{key}.{element}"), not_yet(&format!("{key}.{element}"))));
        }
    }
    reasons.extend(scenario.flow.iter().flat_map(of_flow_by_relay));
    answer(reasons)
}

fn of_flow_by_relay(flow: &Flow) -> Vec<Unsupported> {
    let traffic = match flow.traffic {
        Traffic::Chunk(_) => Some("traffic in chunks"),
        Traffic::OnOff { .. } => Some("traffic that goes on and off"),
        Traffic::Command(_) => Some("a command"),
        Traffic::Cbr { gaps: Gaps::Exponential, .. } => Some("exponential gaps"),
        ref traffic if traffic.has_transfers() => Some("traffic of many transfers"),
        _ => None,
    };
    let is_tcp = flow.transport.kind == TransportKind::Tcp;
    let settings = flow.transport.params.keys().map(|name| format!("transport.{name}"));
    let tcp = is_tcp.then(|| ("transport".to_owned(), "tcp"));
    let settings = settings.filter(|_| !is_tcp).map(|key| (key, "settings of the transport"));
    let packet = flow.packet.map(|_| ("packet".to_owned(), "settings of the packet"));
    let traffic = traffic.map(|what| ("traffic".to_owned(), what));
    let active = (!flow.active.is_empty()).then(|| ("active".to_owned(), "flows that are active at times"));
    let host = flow.host.as_ref().map(|_| ("host".to_owned(), "the hosts of flows"));
    let element =
        flow.elements.first().map(|element| (element.to_owned(), "elements of a flow, noise among them,"));
    let tcp = tcp.into_iter().chain(ends(flow));
    let all = tcp.chain(settings).chain(packet).chain(traffic).chain(active).chain(host).chain(element);
    all.map(|(key, what)| Unsupported::of_flow(flow, key, not_yet(&format!("{what} (flow {:?})", flow.name))))
        .collect()
}

/// Returns the rules of a flow's ends that neither uTP nor the kernel has: of the kernel's sockets only what they report and let be set is known.
fn ends(flow: &Flow) -> Vec<(String, &'static str)> {
    let ends = [("receiver", &flow.receiver), ("sender", &flow.sender)];
    let own = ends.into_iter().filter(|(_, rule)| rule.as_ref().is_some_and(|rule| !rule.is_outside()));
    own.map(|(key, _)| (key.to_owned(), "congestion control at the receiver")).collect()
}

/// Returns whether a checked scenario can be run in the testbed.
///
/// # Errors
/// Everything in it that cannot, in the order of the file's sections.
#[cfg(target_os = "linux")]
pub fn by_testbed(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    let reasons: Vec<_> = scenario.flow.iter().flat_map(of_flow_in_testbed).collect();
    answer(reasons)
}

/// Returns whether the kernel can queue for a checked scenario that the testbed supports. Whether this kernel has the queue is known when it is
/// run.
///
/// # Errors
/// Everything in it that the kernel's queues cannot do.
#[cfg(target_os = "linux")]
pub fn by_kernel_queues(scenario: &Checked) -> Result<(), Vec<Unsupported>> {
    let mut reasons = Vec::new();
    if !scenario.hosts.is_empty() {
        let reason = "the kernel does not queue at the links of hosts: leave --queue-by out";
        reasons.push(Unsupported::new("hosts", reason));
    }
    if [Record::Queues, Record::Losses].iter().any(|record| scenario.record.contains(record)) {
        let reason = "of its own queue the kernel reports neither the length over time nor which packets it drops: leave \
                      queues and losses out of record, or the option --queue-by";
        reasons.push(Unsupported::new("record", reason));
    }
    let network = scenario.network();
    for (index, way) in network.links.iter().enumerate() {
        if network.flows_with_data_on(index).next().is_none() {
            continue;
        }
        let key = if scenario.has_named_links() { format!("link.{}", way.name) } else { "link".to_owned() };
        if way.link.elements.rate.is_some() || way.link.elements.arq.is_some() {
            let reason = "the kernel's htb has one rate: use a constant one, or leave --queue-by out";
            reasons.push(Unsupported::new(format!("{key}.rate"), reason));
        }
        if let Err(reason) = crate::net::qdisc_of(&way.link) {
            reasons.push(Unsupported::new(format!("{key}.queue"), reason));
        }
    }
    answer(reasons)
}

#[cfg(target_os = "linux")]
fn of_flow_in_testbed(flow: &Flow) -> Vec<Unsupported> {
    let is_tcp = flow.transport.kind == TransportKind::Tcp;
    let skew = flow.transport.params.keys().filter(|name| *name == "skew");
    let skew = skew.map(|name| (format!("transport.{name}"), "a clock that runs faster"));
    let controller = flow.controller.iter().filter(|controller| is_tcp && !is_the_kernels(controller));
    let controller =
        controller.map(|_| ("controller".to_owned(), "parameters of the kernel's congestion control"));
    let is_odd = flow.transport.kind == TransportKind::Quic
        && flow.packet.is_some_and(|packet| !PAYLOADS.contains(&packet.payload.bytes()));
    let packet = is_odd.then(|| {
        let (least, most) = (PAYLOADS.start(), PAYLOADS.end());
        let reason = format!(
            "packets of QUIC carry {least} to {most} bytes here (flow {:?}): use such a payload, or leave it out",
            flow.name
        );
        Unsupported::of_flow(flow, "packet", reason)
    });
    let all = skew.chain(controller).chain(ends(flow));
    all.map(|(key, what)| Unsupported::of_flow(flow, key, not_yet(&format!("{what} (flow {:?})", flow.name))))
        .chain(packet)
        .collect()
}

/// Returns whether the kernel has this congestion control's parameters. Its CUBIC has a HyStart and a Reno-friendly region of its own.
#[cfg(target_os = "linux")]
fn is_the_kernels(controller: &Algorithm) -> bool {
    let is_own = |(name, value): (&String, &String)| {
        controller.kind == "cubic" && ["hystart", "friendly"].contains(&name.as_str()) && value == "linux"
    };
    controller.params.iter().all(is_own)
}

fn answer(reasons: Vec<Unsupported>) -> Result<(), Vec<Unsupported>> {
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(reasons),
    }
}

fn not_yet(what: &str) -> String {
    format!("{what} is not done with real packets yet: use afteryou sim")
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario_file::Experiment;

    fn keys(text: &str) -> Vec<String> {
        let text = format!("duration = \"9 s\"\n[link]\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n{text}");
        let experiment = Experiment::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let reasons = by_relay(&experiment.runs(None, None).unwrap()[0].scenario).err().unwrap_or_default();
        reasons.into_iter().map(|reason| reason.key).collect()
    }

    #[test]
    fn every_reason_is_listed_with_its_key() {
        let utp = "[[flow]]\nname = \"a\"\ncontroller = \"nice\"\nrtt = \"40 ms\"\ntransport = \"utp\"\n";
        assert_eq!(keys(utp), [""; 0]);
        assert_eq!(keys(&utp.replace("\"utp\"", "\"tcp\"")), ["flow.a.transport"]);
        for transfers in ["{ arrivals = \"1 s\", size = \"9 kB\" }", "{ every = \"1 s\", size = \"9 kB\" }"] {
            assert_eq!(keys(&format!("{utp}traffic = {transfers}\n")), ["flow.a.traffic"]);
        }
        let settings = "{ kind = \"utp\", ack = \"every packet\", rwnd = \"1 MB\" }";
        assert_eq!(
            keys(&utp.replace("\"utp\"", settings)),
            ["flow.a.transport.ack", "flow.a.transport.rwnd"]
        );
        let all = format!(
            "reverse = {{ rate = \"2 Mbit/s\" }}\n{utp}count = 2\ndirection = \"down\"\ntraffic = {{ on = \"1 s\", off = \"1 s\" }}\n\
             active = [[\"0 s\", \"3 s\"]]\npacket = {{ payload = \"1000 B\", overhead = \"40 B\" }}\n\
             [[drop]]\nat = \"1 s\"\n"
        );
        let of_flow = ["flow.a.packet", "flow.a.traffic", "flow.a.active"];
        assert_eq!(keys(&all), [&["drop"], &of_flow[..], &of_flow[..]].concat());
    }
}
