//! Ctrl-C while the engines run.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(50);

/// Lets Python's signal handlers run now and then; they run in the main thread alone.
pub struct Signals {
    next: Instant,
    raised: Option<PyErr>,
}

impl Default for Signals {
    fn default() -> Signals {
        Signals { next: Instant::now() + EVERY, raised: None }
    }
}

impl Signals {
    /// Returns whether the run continues: it breaks after an exception.
    pub fn go_on(&mut self) -> ControlFlow<()> {
        if self.raised.is_none() && Instant::now() >= self.next {
            self.next = Instant::now() + EVERY;
            self.raised = Python::attach(|py| py.check_signals()).err();
        }
        match self.raised {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    /// Sets `stop` if the runs shall end.
    pub fn stop(&mut self, stop: &AtomicBool) {
        if self.go_on().is_break() {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the exception that ends the runs.
    pub fn take(self) -> Option<PyErr> {
        self.raised
    }
}
