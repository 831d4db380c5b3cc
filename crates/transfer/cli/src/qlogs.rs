//! `--qlog`: a file of each connection, for qvis.

use super::args::Common;
use afteryou_base::Time;
use afteryou_cc::{NewSender, Observed};
use afteryou_quic::Factory;
use afteryou_terminal::Failure;
use afteryou_trace::qlog::{Qlogs, Vantage};
use std::sync::Arc;

/// The logs of this process's connections, if they are asked for.
#[derive(Clone, Debug)]
pub struct Logs {
    files: Option<Qlogs>,
    /// Strangers may connect.
    listens: bool,
}

impl Logs {
    /// Makes the folder.
    pub fn begin(common: &Common, command: &str, vantage: Vantage) -> Result<Logs, Failure> {
        let listens = vantage == Vantage::Server;
        let Some(folder) = &common.qlog else { return Ok(Logs { files: None, listens }) };
        let title = format!("afteryou {command}, {}", common.controller());
        let logs = Qlogs::of_connections(&title, "QUIC", vantage, folder);
        let logs = logs.map_err(|error| Failure::usage(format!("--qlog: {error}")))?;
        Ok(Logs { files: Some(logs), listens })
    }

    /// Makes the controllers of `factory`, each with a log. Times count from the first connection of this process. The side that
    /// listens writes nothing about a peer that is not admitted.
    pub fn of(&self, factory: Arc<Factory>) -> Arc<Factory> {
        let Some(logs) = &self.files else { return factory };
        let (logs, listens) = (logs.clone(), self.listens);
        let sender = NewSender { flow: 0, zero: Time::ZERO };
        Factory::changed(factory, move |controller, monitor| {
            let monitor = monitor.clone();
            let observer = match listens {
                true => logs.observer_once(sender, move || monitor.is_admitted()),
                false => logs.observers().observer(sender),
            };
            match observer {
                Some(observer) => Box::new(Observed::new(controller, observer)),
                None => controller,
            }
        })
    }

    /// Gives names to the logs of connections that are still open.
    pub fn finish(self) -> Result<(), Failure> {
        let Some(logs) = self.files else { return Ok(()) };
        let files = logs.finish()?;
        tracing::debug!(?files, "the last logs of connections are written");
        Ok(())
    }
}
