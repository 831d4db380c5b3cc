//! An end of a connection under observation: its counters and its controller's state, whatever its transport.

use afteryou_base::Span;
use afteryou_cc::Snapshot;
use afteryou_scenario::outcome::Totals;
use std::sync::Arc;

/// An end of a connection.
pub(crate) trait Watch: Send + Sync {
    /// Returns the state now; none once the connection is gone.
    fn state(&self) -> Option<EndState>;

    /// Ends the connection at once: what has not been sent is not sent.
    fn abort(&self);
}

/// An end of a connection that several look at.
pub(crate) type Watched = Arc<dyn Watch>;

/// The state of an end at a moment.
pub(crate) struct EndState {
    pub(crate) controller: Snapshot,
    pub(crate) smoothed_rtt: Option<Span>,
    /// Counters of the sender.
    pub(crate) totals: Totals,
    /// Payload that has arrived, bytes, each once.
    pub(crate) arrived: u64,
}
