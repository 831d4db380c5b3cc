//! Flows that are not directed, and measured like the others: transfers, which direct themselves, and programs of the user.

use crate::run::log::Log;
use afteryou_scenario::outcome::Totals;
use afteryou_sim::director::Remote;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The source of a flow's count of bytes.
#[derive(Clone)]
pub(in crate::testbed) enum Counted {
    /// A transfer's log.
    Transfer(Arc<Log>),
    /// The wire's view of the flow with this index.
    Passed(Arc<[AtomicU64]>, usize),
}

impl Remote for Counted {
    fn connect(&mut self) {}

    fn give(&mut self, _: u64) {}

    fn take_back(&mut self) -> u64 {
        0
    }

    fn send_datagram(&mut self) {}

    fn stop(&mut self) {}

    fn received(&self) -> u64 {
        match self {
            Counted::Transfer(log) => log.arrived().0,
            Counted::Passed(passed, flow) => passed[*flow].load(Ordering::Relaxed),
        }
    }

    fn is_flushed(&self) -> bool {
        match self {
            Counted::Transfer(log) => log.arrived().1,
            Counted::Passed(..) => false,
        }
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }
}
