//! The state of a direction, for people.

use afteryou_base::Span;

/// State of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Connections with a place.
    pub active: usize,
    /// Connections with more data than a trickle.
    pub wanting: usize,
    /// Queuing delay, once it was seen.
    pub queue: Option<Span>,
    /// Round-trip time without a queue.
    pub base: Option<Span>,
    /// Payload, bytes a second.
    pub rate: f64,
    /// Others have the link.
    pub is_yielding: bool,
}
