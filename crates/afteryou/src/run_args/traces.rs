//! `--trace` and `--qlog`: which engines have them, and where they lead.

use afteryou_engines::{Engine, ENGINES};
use afteryou_terminal::Failure;
use std::path::PathBuf;

/// Where packets and senders are written.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Every packet into this file.
    pub trace: Option<PathBuf>,
    /// Every sender into a file in this folder.
    pub qlog: Option<PathBuf>,
}

impl Traces {
    /// Returns whether `engine` can write what was asked for.
    ///
    /// # Errors
    /// A trace of packets or senders from an engine that has none.
    pub fn check(&self, engine: &dyn Engine) -> Result<(), Failure> {
        let Some(option) = self.option().filter(|_| !engine.capabilities().traces) else { return Ok(()) };
        let reason = format!("{option} is not for afteryou {}, which has no packets", engine.name());
        let able = ENGINES.iter().filter(|engine| engine.capabilities().traces);
        let names: Vec<_> = able.map(|engine| engine.name()).collect();
        Err(Failure::usage(format!("{reason}: use afteryou {}", names.join(" or "))))
    }

    /// Returns the option that was given, if any.
    pub fn option(&self) -> Option<&'static str> {
        let trace = self.trace.as_ref().map(|_| "--trace");
        trace.or(self.qlog.as_ref().map(|_| "--qlog"))
    }
}
