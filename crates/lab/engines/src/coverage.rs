//! The engines that support an algorithm: each engine is asked whether it [supports](crate::Engine::supports) a small
//! scenario with it.
//!
//! ```
//! use afteryou_engines::coverage;
//!
//! assert_eq!(coverage::of_controller("ledbat++"), ["sim", "fluid", "bed"]);
//! assert_eq!(coverage::of_transport("tcp")[..2], ["sim", "fluid"]);
//! assert_eq!(coverage::of_queue("no such queue"), [""; 0]);
//! ```

use crate::engines::ENGINES;
use afteryou_scenario::{Checked, TransportKind};
use afteryou_scenario_file::Experiment;

/// Returns the names of the engines that have a controller; nothing if there is no such controller.
pub fn of_controller(name: &str) -> Vec<&'static str> {
    knowing("flow.probe.controller", "droptail", &format!("transport = \"utp\"\ncontroller = {name:?}"))
}

/// Returns the names of the engines that have a queue discipline; nothing if there is no such discipline.
pub fn of_queue(name: &str) -> Vec<&'static str> {
    knowing("link.queue", name, "controller = \"cubic\"")
}

/// Returns the names of the engines that have a transport; nothing if there is no such transport.
pub fn of_transport(name: &str) -> Vec<&'static str> {
    let load = match TransportKind::of_name(name) {
        // Bare datagrams have no controller: they carry constant rates alone.
        Ok(TransportKind::Udp) => "traffic = { cbr = \"64 kbit/s\", payload = \"160 B\" }",
        Ok(TransportKind::Tcp | TransportKind::Utp | TransportKind::Quic) => "controller = \"cubic\"",
        Err(_) => return Vec::new(),
    };
    knowing("flow.probe.transport", "droptail", &format!("transport = {name:?}\n{load}"))
}

/// Returns the names of the engines that have a receiver's rule; nothing if there is no such rule.
pub fn of_receiver(name: &str) -> Vec<&'static str> {
    knowing("flow.probe.receiver", "droptail", &format!("controller = \"cubic\"\nreceiver = {name:?}"))
}

/// Returns the names of the engines that have a rule of senders' hosts; nothing if there is no such rule.
pub fn of_sender(name: &str) -> Vec<&'static str> {
    knowing("flow.probe.sender", "droptail", &format!("controller = \"cubic\"\nsender = {name:?}"))
}

/// Returns the engines that have nothing against `key` in a scenario with this queue and this flow.
fn knowing(key: &str, queue: &str, flow: &str) -> Vec<&'static str> {
    let Some(scenario) = scenario(queue, flow) else { return Vec::new() };
    let knows = |reasons: &afteryou_scenario::support::Unsupported| !reasons.concerns(key);
    let engines = ENGINES.iter().map(|engine| (engine.name(), engine.supports(&scenario)));
    let known = engines.filter(|(_, answer)| answer.as_ref().err().is_none_or(|all| all.iter().all(knows)));
    known.map(|(name, _)| name).collect()
}

fn scenario(queue: &str, flow: &str) -> Option<Checked> {
    let text = format!(
        "duration = \"10 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\nqueue = {queue:?}\n\
         [[flow]]\nname = \"probe\"\nrtt = \"50 ms\"\n{flow}\n"
    );
    let runs = Experiment::parse(&text, "probe", &[]).and_then(|probe| probe.runs(None, None)).ok()?;
    runs.into_iter().next().map(|run| run.scenario)
}
