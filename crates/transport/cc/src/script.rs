//! A controller driven by a script: events in, states out.
//!
//! A test of one rule, a table of a paper or another implementation's check vector needs no path: a list of timed
//! events is enough. The [`Driver`] passes them on in their order and returns the state after each. It also keeps the
//! transport's promise about time. Before an event it makes every wake-up that is due, at the very time that the
//! controller asked for.
//!
//! ```
//! use afteryou_cc::script::{Driver, Event};
//! use afteryou_cc::{list, Ack, Setup, Span, Time};
//!
//! let mut ledbat = list::find("ledbat").unwrap().build(&[], Setup::of(1500)).unwrap();
//! let mut driver = Driver::new(ledbat.as_mut());
//! let ack = |ms: u64, queuing_ms: u32| Ack {
//!     now: Time::from_millis(ms),
//!     newly_acked: 3000,
//!     flightsize: 3000,
//!     smoothed_rtt: Some(Span::from_millis(50)),
//!     one_way_delay: Some(25_000 + 1000 * queuing_ms),
//!     ..Ack::default()
//! };
//! let grown = driver.apply(&Event::Ack(ack(50, 0)))?;
//! assert!(grown.directive.cwnd > 3000);
//! assert!(driver.apply(&Event::Ack(ack(40, 0))).is_err(), "events come in the order of their times");
//! # Ok::<(), afteryou_cc::script::OutOfOrder>(())
//! ```
//!
//! **Not in here:** sending. A script names when packets leave and what is in flight; the simulator is for the closed loop.

use crate::controller::{Controller, Directive, Snapshot};
use crate::event::{Ack, Delivered, Idle, Loss, Sent, SpuriousLoss, Timeout};
use afteryou_base::Time;
use core::fmt;

/// Wake-ups before one event, at most. A rule that is due again at once, indefinitely, must not hold up the script.
const MOST_WAKE_UPS: u32 = 100_000;

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A packet leaves.
    Sent(Sent),
    /// A packet is delivered; passed on only to a controller that [needs](crate::Needs) packets one by one.
    Delivered(Delivered),
    /// An acknowledgement arrives.
    Ack(Ack),
    /// A packet is found lost.
    Loss(Loss),
    /// A packet that was reported lost arrives after all.
    SpuriousLoss(SpuriousLoss),
    /// The retransmission timer expires.
    Timeout(Timeout),
    /// The handshake's timer expires: the request is sent again.
    HandshakeTimeout(Time),
    /// Sending starts again after a time with nothing in flight.
    Idle(Idle),
    /// The largest payload of a packet changes.
    Mtu {
        /// When.
        now: Time,
        /// Bytes.
        mss: u32,
    },
    /// Nothing happens until this time but wake-ups.
    Until(Time),
}

impl Event {
    /// Returns when it happens.
    pub fn at(&self) -> Time {
        match self {
            Event::Sent(Sent { now, .. })
            | Event::Delivered(Delivered { now, .. })
            | Event::Ack(Ack { now, .. })
            | Event::Loss(Loss { now, .. })
            | Event::SpuriousLoss(SpuriousLoss { now, .. })
            | Event::Timeout(Timeout { now, .. })
            | Event::Idle(Idle { now, .. })
            | Event::Mtu { now, .. }
            | Event::HandshakeTimeout(now)
            | Event::Until(now) => *now,
        }
    }
}

/// The state after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScriptState {
    /// Time of the event.
    pub now: Time,
    /// Instructions for the transport until the next one.
    pub directive: Directive,
    /// The state in named quantities.
    pub snapshot: Snapshot,
}

/// An event is earlier than the one before it: scripts are written in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Time of the event that was refused.
    pub at: Time,
    /// Time of the event before it.
    pub after: Time,
}

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfOrder { at, after } = self;
        let (at, after) = (at.as_secs_f64(), after.as_secs_f64());
        write!(f, "the event at {at} s comes after one at {after} s: sort the script by time")
    }
}

impl core::error::Error for OutOfOrder {}

/// A controller and the time that its script has reached.
#[derive(Debug)]
pub struct Driver<'a> {
    controller: &'a mut dyn Controller,
    now: Time,
}

impl<'a> Driver<'a> {
    /// Creates a driver at time zero.
    pub fn new(controller: &'a mut dyn Controller) -> Driver<'a> {
        Driver { controller, now: Time::ZERO }
    }

    /// Makes the wake-ups that are due by the time of `event`, passes it on and returns the state after it.
    ///
    /// # Errors
    /// An event that is earlier than the one before; the controller has not seen it.
    pub fn apply(&mut self, event: &Event) -> Result<ScriptState, OutOfOrder> {
        let at = event.at();
        if at < self.now {
            return Err(OutOfOrder { at, after: self.now });
        }
        self.wake_until(at);
        self.now = at;
        match event {
            Event::Sent(sent) => self.controller.on_sent(sent),
            Event::Delivered(delivered) if self.controller.needs().per_packet => {
                self.controller.on_delivered(delivered);
            }
            Event::Ack(ack) => self.controller.on_ack(ack),
            Event::Loss(loss) => self.controller.on_loss(loss),
            Event::SpuriousLoss(spurious) => self.controller.on_spurious_loss(spurious),
            Event::Timeout(timeout) => self.controller.on_timeout(timeout),
            Event::HandshakeTimeout(now) => self.controller.on_handshake_timeout(*now),
            Event::Idle(idle) => self.controller.on_idle(idle),
            Event::Mtu { mss, .. } => self.controller.on_mtu(*mss),
            Event::Delivered(_) | Event::Until(_) => {}
        }
        Ok(self.state())
    }

    /// Returns the state now.
    pub fn state(&self) -> ScriptState {
        ScriptState {
            now: self.now,
            directive: self.controller.directive(),
            snapshot: self.controller.snapshot(),
        }
    }

    fn wake_until(&mut self, end: Time) {
        for _ in 0..MOST_WAKE_UPS {
            let Some(at) = self.controller.directive().wake_at.filter(|at| *at <= end) else { return };
            self.now = self.now.max(at);
            self.controller.on_wake(self.now);
        }
    }
}
