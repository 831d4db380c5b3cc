//! An acknowledgement while the scoreboard takes it in, and the times with which it is judged.

use super::segment::Transmission;
use super::{AckProgress, Flight};
use afteryou_base::{Span, Time};

/// Times with which an acknowledgement is judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// When it arrived.
    pub now: Time,
    /// The sending time that it echoes (RFC 7323), if it does.
    pub echoed: Option<Time>,
    /// The smallest round-trip time so far.
    pub min_rtt: Option<Span>,
    /// A retransmission that is acknowledged within this time was needless: it was the original that arrived. For transports
    /// whose acks echo no time.
    pub undo_within: Option<Span>,
    /// Nothing that left later than this has arrived. For transports whose acks bound it (uTP's time stamps).
    pub answered_until: Option<Time>,
}

impl Timing {
    /// Returns whether the ack echoes the time of a packet that left at `sent_at` or later.
    pub(super) fn echoes(&self, sent_at: Time) -> bool {
        self.echoed.is_some_and(|echoed| echoed.as_micros() >= sent_at.as_micros())
    }

    pub(super) fn is_sooner(&self, sent_at: Time, bound: Option<Span>) -> bool {
        bound.is_some_and(|bound| self.now.since(sent_at) < bound)
    }

    /// Returns whether nothing has arrived that left as late as `sent_at`. Clocks on the wire count whole microseconds.
    pub(super) fn is_after_answered(&self, sent_at: Time) -> bool {
        self.answered_until.is_some_and(|until| until.as_micros() < sent_at.as_micros())
    }
}

/// A transmission that an acknowledgement shows to have arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub(super) number: u64,
    pub(super) sent_at: Time,
    pub(super) app_limited: bool,
}

impl Arrived {
    /// Returns the transmission with this number.
    #[inline]
    pub(super) fn of(number: u64, sent: &Transmission) -> Arrived {
        Arrived { number, sent_at: sent.sent_at, app_limited: sent.app_limited }
    }
}

/// An acknowledgement that is being taken in.
#[derive(Debug, Default)]
pub struct Taken {
    pub(super) timing: Timing,
    /// Its changes so far.
    pub progress: AckProgress,
    pub(super) newest: Option<Arrived>,
    /// The same among transmissions whose packets had been sent again: their acks time nothing.
    pub(super) newest_earlier: Option<Arrived>,
    /// A packet that was sent more than once is among the delivered.
    pub(super) ambiguous: bool,
    /// The first packet acknowledged in order is known to be its first transmission.
    pub(super) first_is_original: bool,
}

impl Taken {
    /// Notes the arrival of the newest transmission of a packet.
    #[inline]
    pub(super) fn note(&mut self, arrived: Arrived) {
        if self.newest.is_none_or(|newest| newest.number < arrived.number) {
            self.newest = Some(arrived);
        }
    }

    /// Returns whether the ack comes too soon for this retransmission. Then an earlier transmission counts as the one that arrived.
    pub fn is_too_soon(&self, flight: &Flight) -> bool {
        let Timing { undo_within, min_rtt, .. } = self.timing;
        self.timing.is_after_answered(flight.sent_at)
            || [undo_within, min_rtt].into_iter().any(|bound| self.timing.is_sooner(flight.sent_at, bound))
    }
}
