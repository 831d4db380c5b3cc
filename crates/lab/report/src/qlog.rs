//! Senders of a run as qlog files, for qvis and other readers of qlog. Each sender has a file, whose times are the scenario's. The records are
//! those of [`afteryou_trace::qlog`]; sizes are payload, which windows count.
//!
//! Not written: handshakes and closes, which controllers do not see; the receivers; traffic at a constant rate, which has no controller.

use crate::error::Error;
use afteryou_scenario::Scenario;
use afteryou_trace::qlog::{LoggedFlow, Qlogs};
use std::path::Path;

/// Makes `folder` for the qlog files of a run of `scenario`.
///
/// # Errors
/// A folder that cannot be made or written to, or that another run is writing to.
pub fn qlogs(scenario: &Scenario, folder: &Path) -> Result<Qlogs, Error> {
    let flows = scenario.flow.iter().map(|flow| LoggedFlow {
        name: flow.name.clone(),
        protocol: flow.transport.kind.name().to_uppercase(),
    });
    let title = format!("{}, seed {}", scenario.name, scenario.seed);
    Ok(Qlogs::of_run(&title, flows.collect(), folder)?)
}
