//! A controller's rate over quinn: the window is closed until the next departure.
//!
//! Before it builds a datagram of data, quinn 0.11 asks for the window twice (`poll_transmit`, lines 616 and 631 of
//! `quinn-proto/src/connection/mod.rs`):
//!
//! ```text
//!   1. in flight + datagram < window?     no: nothing of data is built        here: the window, or 0 until the next departure
//!   2. its own pacer: 1.25 · window / RTT, none above 4 GiB (`pacing.rs`)     here: more than 4 GiB
//! ```
//! It builds up to ten datagrams before it reports them by `on_sent`. So the first question charges a copy of the pacer with the
//! datagram, if that may leave, and the next one is the second. The report charges the pacer with what was built. With each
//! [turn](crate::driver) and each transmission the questions begin anew.
//!
//! If a later quinn asked once for each datagram, every second one would pass unasked. The rate would hold, since all of them are
//! charged.

use crate::driver;
use afteryou_base::{Span, Time};
use afteryou_cc::{Directive, Pacing};
use afteryou_sender::departures::Departures;
use afteryou_sender::pacer::TIMER_SLACK;

/// A window for which quinn does not pace.
const UNPACED: u64 = 1 << 33;

/// Opens and closes a window by a directive that has a rate of its own.
#[derive(Debug)]
pub(super) struct Gate {
    departures: Departures,
    /// The same with the datagrams of the batch that quinn is building.
    trial: Departures,
    batch: Batch,
    /// The turn of the latest question.
    turn: u64,
}

/// The batch of datagrams that quinn is building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batch {
    /// Nothing has been asked.
    None,
    /// The gate let the datagram pass; quinn's pacer asks next.
    Passed,
    /// quinn's pacer has asked.
    Built,
}

impl Default for Gate {
    fn default() -> Gate {
        let departures = Departures::new(TIMER_SLACK);
        Gate { departures, trial: departures, batch: Batch::None, turn: 0 }
    }
}

/// Returns whether the directive says when packets leave. Windows are left to quinn's pacer.
pub(super) fn is_paced_here(directive: &Directive) -> bool {
    matches!(directive.pacing, Pacing::Rate(_) | Pacing::Together { .. })
}

impl Gate {
    /// Returns when the next packet may leave.
    pub(super) fn next(&self) -> Time {
        self.departures.next()
    }

    /// Answers quinn's question for a window in this `turn`: `window`, none before the next departure, and more than all to
    /// quinn's pacer.
    pub(super) fn answer(
        &mut self,
        turn: u64,
        now: Time,
        (directive, packet, window): (&Directive, u64, u64),
        rtt: Span,
    ) -> u64 {
        if self.turn != turn {
            (self.turn, self.batch) = (turn, Batch::None);
        }
        if self.batch == Batch::Passed {
            self.batch = Batch::Built;
            return UNPACED;
        }
        if self.batch == Batch::None {
            self.departures.clear_deadline(now, Some(rtt));
            self.trial = self.departures;
        }
        if !self.departures_allow(now) {
            driver::wake_at(self.trial.next());
            return 0;
        }
        self.trial.sent(now, packet, directive, packet, rate(directive));
        self.batch = Batch::Passed;
        window
    }

    /// Returns whether the next datagram of the batch may leave. A datagram that has to wait sets the deadline by which the next
    /// turn is late.
    fn departures_allow(&mut self, now: Time) -> bool {
        match self.batch {
            Batch::None => self.departures.allow(now),
            _ => self.trial.allow(now),
        }
    }

    /// Notes that packets are built, and the next question is about another batch. Returns whether there is data in them.
    pub(super) fn end_batch(&mut self) -> bool {
        let has_data = self.batch != Batch::None;
        self.batch = Batch::None;
        has_data
    }

    /// Charges a packet of data that leaves now.
    pub(super) fn sent(&mut self, now: Time, bytes: u64, directive: &Directive, packet: u64) {
        self.departures.sent(now, bytes, directive, packet, rate(directive));
    }

    /// Shortens a wait of more than a round trip to that of the directive of now.
    pub(super) fn hasten(&mut self, now: Time, directive: &Directive, packet: u64, rtt: Span) {
        if self.departures.next() > now + rtt {
            self.departures.hasten(now, directive, packet, rate(directive).unwrap_or(1));
        }
    }

    /// Lets the next packet go at once, after a silence or an outage.
    pub(super) fn restart(&mut self, now: Time) {
        self.departures.restart(now);
    }
}

fn rate(directive: &Directive) -> Option<u64> {
    match directive.pacing {
        Pacing::Rate(rate) => Some(rate.max(1)),
        _ => None,
    }
}
