//! Errors of a simulation.

use afteryou_scenario::outcome::{Ledger, Offered};
use afteryou_scenario::support::Unsupported;
use thiserror::Error;

/// Why a simulation gave no result. The message has the remedy.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] afteryou_scenario::Error),
    /// The scenario has what only real packets can do.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The simulator lost or invented bytes: a bug.
    #[error("bytes do not add up: this is a bug of the simulator, please report the scenario ({link}: {ledger:?})")]
    Conservation {
        /// The link.
        link: String,
        /// The link's ledger.
        ledger: Ledger,
    },
    /// More was happening than a run should hold.
    #[error(
        "the run would hold more than {limit} packets at once: use a smaller buffer or receive window (rwnd)"
    )]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The simulator lost or invented bytes of an application: a bug.
    #[error("bytes of flow {flow:?} do not add up: this is a bug of the simulator, please report the scenario ({books:?})")]
    Books {
        /// The flow.
        flow: String,
        /// The flow's books.
        books: Offered,
    },
    /// Applications open connections faster than the network carries what they send.
    #[error("more than {limit} connections are open at once: let transfers arrive less often, or make them smaller")]
    TooManyConnections {
        /// The limit.
        limit: usize,
    },
}
