//! `--qlog`: a file of each connection, for qvis.

use super::args::Common;
use afteryou_base::Time;
use afteryou_quic::Factory;
use afteryou_report::{Qlogs, Vantage};
use afteryou_scenario::senders::Begun;
use afteryou_terminal::Failure;
use std::sync::Arc;

/// The logs of this process's connections, if they are asked for.
#[derive(Clone, Debug)]
pub struct Logs(Option<Qlogs>);

impl Logs {
    /// Makes the folder.
    pub fn begin(common: &Common, command: &str, vantage: Vantage) -> Result<Logs, Failure> {
        let Some(folder) = &common.qlog else { return Ok(Logs(None)) };
        let title = format!("afteryou {command}, {}", common.controller());
        let logs = Qlogs::of_connections(&title, "QUIC", vantage, folder);
        Ok(Logs(Some(logs.map_err(|error| Failure::usage(format!("--qlog: {error}")))?)))
    }

    /// Makes the controllers of `factory`, each with a log. Times count from the first connection of this process.
    pub fn of(&self, factory: Arc<Factory>) -> Arc<Factory> {
        let Some(logs) = &self.0 else { return factory };
        let observers = logs.observers();
        let begun = Begun { flow: 0, zero: Time::ZERO };
        Factory::changed(factory, move |controller| observers.watch(begun, controller))
    }

    /// Gives names to the logs of connections that are still open.
    pub fn finish(self) -> Result<(), Failure> {
        let Some(logs) = self.0 else { return Ok(()) };
        let files = logs.finish()?;
        tracing::debug!(?files, "the last logs of connections are written");
        Ok(())
    }
}
