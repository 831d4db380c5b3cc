//! RFC 6817's rule. Slow start, which the RFC leaves optional (§2.2), is the owner's; so is its response to a queue
//! above the target.

use super::{halve_once, AckEvent, Before, Delay, Kept, HAS_DELAY, MARKED, ROUND_START};
use crate::fixed::Bytes16;
use crate::loss_gate::LossGate;
use crate::window_use::WindowUse;
use afteryou_base::Time;

/// Parameters; ratios have 16 fractional bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// TARGET, µs.
    pub target_us: u64,
    /// GAIN, packets per round trip.
    pub gain16: u64,
    /// The same above TARGET.
    pub decrease_gain16: u64,
    /// ALLOWED_INCREASE, packets.
    pub allowed_increase: u64,
    /// The bound of an application-limited window is this multiple of the bytes in flight.
    pub tether: u64,
    /// INIT_CWND, packets.
    pub init_cwnd: u64,
    /// MIN_CWND, packets.
    pub min_cwnd: u64,
    /// Payload of a packet, bytes.
    pub mss: u64,
    /// BASE_HISTORY and CURRENT_FILTER.
    pub kept: Kept,
}

/// State of an RFC 6817 sender.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<const MINUTES: usize, const SAMPLES: usize, const OLDER: usize> {
    /// Window.
    pub cwnd: Bytes16,
    /// Losses and marks once per round trip.
    pub gate: LossGate,
    /// Base delay and present delay.
    pub delay: Delay<MINUTES, SAMPLES, OLDER>,
    /// The part of the window in use.
    pub window_use: WindowUse,
}

/// The state with the RFC's ten minutes and four samples.
pub type Compact = State<10, 4, 3>;
const _: () = assert!(size_of::<Compact>() == 104);

impl<const MINUTES: usize, const SAMPLES: usize, const OLDER: usize> State<MINUTES, SAMPLES, OLDER> {
    /// Returns the state at the start of a connection.
    pub fn new(p: &Params) -> Self {
        State {
            cwnd: Bytes16::from_bytes(p.init_cwnd * p.mss),
            gate: LossGate::default(),
            delay: Delay::NEW,
            window_use: WindowUse::default(),
        }
    }

    /// Returns MIN_CWND.
    #[inline]
    pub fn floor(&self, p: &Params) -> Bytes16 {
        Bytes16::from_bytes(p.min_cwnd * p.mss)
    }

    /// Applies an ack of the plain rule.
    pub fn on_ack(&mut self, p: &Params, ack: &AckEvent) {
        if ack.has(HAS_DELAY) {
            self.delay.take(&p.kept, ack.now, ack.delay_us);
        }
        let queuing_us = self.delay.queuing_us(&p.kept, ack.now, max_age(ack.smoothed_rtt));
        self.respond(p, ack, |state| {
            if let Some(queuing_us) = queuing_us {
                state.steer(p, ack.delivered, queuing_us.into());
            } // no fresh sample: skip the delay-based step
        });
    }

    /// Answers an ack whose delay has been taken in; `step` moves the window. Returns true if a mark has halved it instead.
    #[inline]
    pub fn respond(&mut self, p: &Params, ack: &AckEvent, step: impl FnOnce(&mut Self)) -> bool {
        self.window_use.on_ack(ack.flightsize, ack.has(ROUND_START), self.cwnd.to_bytes(), p.mss);
        // §1.3: a mark is a loss.
        if ack.has(MARKED) && self.on_loss(p, ack.sent_at, ack.now) {
            return true;
        }
        step(self);
        if self.window_use.is_app_limited() {
            self.cwnd = self.cwnd.min(self.most_allowed(p));
        }
        self.cwnd = self.cwnd.max(self.floor(p));
        false
    }

    /// Moves the window by §2.4.2: `cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd`.
    #[inline]
    pub fn steer(&mut self, p: &Params, acked: u64, queuing_us: u64) {
        let reno_step = |acked: u64| Bytes16::from_bytes(acked).times(p.mss << 16, self.cwnd.0);
        if queuing_us <= p.target_us {
            // One ack for more than a window, as after a needless timeout, counts no more than one for a window.
            let reno_step = reno_step(acked.min(self.cwnd.to_bytes()));
            let step = reno_step.times(p.target_us - queuing_us, p.target_us).times(p.gain16, 1 << 16);
            self.cwnd = self.cwnd.plus(step);
            return;
        }
        let step =
            reno_step(acked).times(queuing_us - p.target_us, p.target_us).times(p.decrease_gain16, 1 << 16);
        self.cwnd = self.cwnd.minus(step);
    }

    /// Returns `max_allowed_cwnd` (§2.4.2): an application-limited window does not run away. §2.5: it is limited by the
    /// flight size "in the previous RTT".
    fn most_allowed(&self, p: &Params) -> Bytes16 {
        let tethered = self.window_use.most_in_flight().saturating_mul(p.tether);
        Bytes16::from_bytes(tethered.saturating_add(p.allowed_increase * p.mss))
    }

    /// Halves the window (§2.4.2), once per round trip, but never lets a small window grow by it. Returns true if the loss
    /// of a packet sent at `sent_at` ns counts.
    pub fn on_loss(&mut self, p: &Params, sent_at: u64, now: u64) -> bool {
        let floor = self.floor(p);
        halve_once(&mut self.gate, &mut self.cwnd, floor, sent_at, now)
    }

    /// Shrinks the window to one packet: no ack came within CTO (§2.4.2).
    pub fn on_timeout(&mut self, p: &Params, now: u64) {
        self.cwnd = Bytes16::from_bytes(p.mss);
        self.gate.close(Time(now));
    }

    /// Returns the state that a loss or a timeout is about to change.
    pub fn before(&self) -> Before {
        Before { cwnd: self.cwnd, gate: self.gate }
    }

    /// Takes back a reduction whose loss or timeout was none.
    pub fn undo(&mut self, before: &Before) {
        before.restore(&mut self.cwnd, &mut self.gate);
    }

    /// Shrinks the window for a restart after more than a timeout with nothing in flight. §2.4.2 keeps the base list through
    /// idle.
    pub fn on_idle(&mut self, p: &Params) {
        self.cwnd = self.cwnd.min(Bytes16::from_bytes(p.init_cwnd * p.mss)).max(self.floor(p));
        self.delay.forget_present();
    }

    /// Adapts the window to a payload of `p.mss`.
    pub fn on_mtu(&mut self, p: &Params) {
        self.cwnd = self.cwnd.max(self.floor(p));
    }
}

/// Returns the greatest age of a sample, one round trip (§2.5); before there is one, all are young.
#[inline]
pub fn max_age(smoothed_rtt: u64) -> u64 {
    match smoothed_rtt {
        0 => u64::MAX,
        rtt => rtt,
    }
}
