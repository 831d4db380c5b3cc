//! A connection that runs elsewhere: over real sockets, for an application of the simulator.

use afteryou_base::Span;
use afteryou_scenario::network::Route;
use afteryou_scenario::outcome::Totals;
use std::rc::Rc;

/// A connection that runs elsewhere. Dropping it closes it.
pub trait Remote {
    /// Begins the handshake.
    fn connect(&mut self);
    /// Gives `bytes` more to send; `u64::MAX` for as much as can be sent.
    fn give(&mut self, bytes: u64);
    /// Takes back what was not sent yet. Returns how much that is.
    fn take_back(&mut self) -> u64;
    /// Sends a datagram.
    fn send_datagram(&mut self);
    /// Stops both ends at once.
    fn stop(&mut self);
    /// Returns the payload received, bytes, each once.
    fn received(&self) -> u64;
    /// Returns whether everything given has been sent and acknowledged.
    fn is_flushed(&self) -> bool;
    /// Returns the counters of its sender.
    fn totals(&self) -> Totals;
}

/// Names a connection; no two of a run have the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// Its number, which is used again.
    pub(crate) number: usize,
    /// Distinguishes the connections with that number.
    pub(crate) generation: u16,
}

/// A connection to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// Index of its flow.
    pub flow: usize,
    /// The connection's identifier.
    pub id: Id,
    /// The route of its packets: its own between hosts, else that of its flow.
    pub route: &'a Route,
}

/// Opens connections.
pub type Dial = Rc<dyn Fn(Opening<'_>) -> Box<dyn Remote>>;

/// The two ends, as the simulator sees them.
pub(super) struct Ends {
    pub(super) remote: Box<dyn Remote>,
    /// Mean time between two datagrams, of a constant rate.
    pub(super) interval: Option<Span>,
}

impl Ends {
    pub(super) fn send_datagram(&mut self) -> Option<Span> {
        let interval = self.interval?;
        self.remote.send_datagram();
        Some(interval)
    }

    /// Gives the next piece if everything before is acknowledged. Returns how much that is.
    pub(super) fn refill(&mut self, bytes: u64) -> u64 {
        let given = if self.remote.is_flushed() { bytes } else { 0 };
        if given > 0 {
            self.remote.give(given);
        }
        given
    }
}
