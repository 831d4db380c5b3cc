//! libutp: LEDBAT as BitTorrent clients run it.
//!
//! # Model
//! The same off-target law as RFC 6817, with mostly different constants from years of practice:
//!
//! ```text
//!   acked a, window W:   wf = min(a, W) / max(W, a)
//!   W += 3000 B · wf · (TARGET − delay) / TARGET                 once for each ack that brings a delay
//!   loss: W /= 2, at most once in 100 ms
//! ```
//!
//! # States
//! ```text
//!   slow start ──delay > 0.9 TARGET, W > ssthresh, loss──▶ congestion avoidance
//!        ▲                                                   │
//!        └──timeout, or a window below one packet for 1 s────┘
//! ```
//! "Slow start" adds the larger of `wf` packets and the law's step, a little more than two packets a round trip either
//! way. It is linear from the first ack.
//!
//! # Constants
//! | name | value | why, or what RFC 6817 says |
//! |---|---|---|
//! | TARGET | 100 ms | §2.5 |
//! | gain | 3000 B per RTT | about two packets; §2.5 allows at most one |
//! | base history | 13 bins, a new one with the first sample more than 60 s after the last | 10 minutes of the clock |
//! | current filter | the smallest of the last 3 samples; until there are 3, zero | at least 4 |
//! | decay | half, at most once in 100 ms | once per RTT: on shorter paths libutp halves less often, on longer more |
//! | slow-start exit | 0.9 TARGET | none |
//! | floor | 10 B | 2 packets |
//! | ceiling | 1 MiB | the send buffer |
//! | application limit | no growth once the window has not been full for 1 s | flightsize + 1 packet |
//!
//! # Source
//! bittorrent/libutp 2b364cb, `utp_internal.cpp`, read for facts; Al-Saadi, Armitage and But (2017) §IV-A for the
//! effects on a network. The transport's side of it (resends, minimum RTO) is uTP's recovery preset of the same name.
//!
//! # Not implemented
//! A window below one packet sends nothing in libutp until its retransmission timer, at least a second, resets it. Here
//! the transport spaces single packets by the window meanwhile, and after [`STALL`] the same reset comes. Marks count
//! as losses: libutp has no ECN. Like libutp, it does not undo a halving whose loss proves to be none.
//!
//! # Known bad cases
//! Latecomers and drift as in RFC 6817. In slow start it has no delay for the first two samples. Over paths with a
//! bandwidth-delay product beyond 1 MiB it cannot fill the link. With an AQM it takes more than Reno: twice the growth
//! for the same loss.

use crate::base_delay::{difference, BaseDelay, MAX_BINS};
use crate::clock_skew::{ClockSkew, DriftPenalty};
use crate::controller::{Controller, Directive, Snapshot};
use crate::delay_signal::{rtt_us, DelaySignal};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, Timeout};
use crate::fixed::mul_div;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;

/// Samples of which the smallest counts.
pub const FILTER: usize = 3;
/// Without a full window for this long, there is no growth.
pub const APP_LIMIT: Span = Span::from_secs(1);
/// A window below one packet is reset after this: libutp's smallest retransmission timeout.
pub const STALL: Span = Span::from_secs(1);

params! {
    /// Parameters.
    pub table PARAMS;

    pub(crate) const TARGET: Key<Span> = Key::millis("target", 100, (1, 1000))
        .explained("queuing delay to steer to", "libutp CCONTROL_TARGET");
    pub(crate) const GAIN: Key<u64> = Key::bytes("gain", 3000, (1, 1_000_000))
        .explained("growth of a round trip on an empty queue", "libutp MAX_CWND_INCREASE_BYTES_PER_RTT");
    pub(crate) const DECAY: Key<Span> = Key::millis("decay_interval", 100, (0, 10_000))
        .explained("least time between two halvings; 0: the smoothed round-trip time", "libutp MAX_WINDOW_DECAY");
    pub(crate) const BINS: Key<u64> = Key::count("base_history", "bins", 13, (1, MAX_BINS as u64))
        .explained("bins of a minute that the base delay remembers", "libutp DELAY_BASE_HISTORY");
    pub(crate) const EXIT: Key<f64> = Key::number("slow_start_exit", "of target", 0.9, (0.05, 1.0))
        .explained("queuing delay that ends slow start", "libutp apply_ccontrol");
    pub(crate) const MIN_WINDOW: Key<u64> = Key::bytes("min_window", 10, (1, 3000))
        .explained("window's floor", "libutp MIN_WINDOW_SIZE");
    pub(crate) const MAX_WINDOW: Key<u64> = Key::bytes("max_window", 1 << 20, (3000, 1 << 40))
        .explained("window's ceiling: the send buffer", "libutp opt_sndbuf");
    pub(crate) const SKEW: Key<bool> = Key::flag("clock_skew", true)
        .explained(
            "follow the drift of the receiver's clock, and punish delays that fall too fast",
            "libutp utp_process_incoming",
        );
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "libutp",
        summary: "LEDBAT as BitTorrent clients run it: two packets per round trip, half in 100 ms",
        source: "libutp 2b364cb",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Libutp::new(settings, setup.mss)),
};

/// libutp's controller. Windows are whole bytes, as there.
#[derive(Clone, Debug)]
pub struct Libutp {
    target_us: u64,
    gain: u64,
    /// Least time between two halvings; none: the smoothed round-trip time.
    decay_interval: Option<Span>,
    exit_us: u64,
    min_window: u64,
    max_window: u64,
    mss: u64,
    cwnd: u64,
    ssthresh: u64,
    in_slow_start: bool,
    signal: DelaySignal,
    base: BaseDelay,
    /// Newest samples less the base of their time.
    recent_us: [u32; FILTER],
    next: usize,
    skew: Option<(ClockSkew, DriftPenalty)>,
    queuing_us: Option<u32>,
    smoothed_rtt: Option<Span>,
    decayed_at: Option<Time>,
    full_at: Time,
    stalled_since: Option<Time>,
}

impl Libutp {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Libutp {
        let target_us = settings.get(&TARGET).as_micros();
        let max_window = settings.get(&MAX_WINDOW);
        let base = BaseDelay::by_elapsed_minutes(settings.get(&BINS) as usize);
        Libutp {
            target_us,
            gain: settings.get(&GAIN),
            decay_interval: settings.get(&DECAY).nonzero(),
            exit_us: (target_us * crate::fixed::to_16(settings.get(&EXIT))) >> 16,
            min_window: settings.get(&MIN_WINDOW),
            max_window,
            mss: u64::from(mss),
            cwnd: u64::from(mss),
            ssthresh: max_window.max(u64::from(mss)),
            in_slow_start: true,
            skew: settings.get(&SKEW).then(|| (ClockSkew::new(base.clone()), DriftPenalty::default())),
            signal: DelaySignal::OneWayAwaited,
            base,
            recent_us: [0; FILTER],
            next: 0,
            queuing_us: None,
            smoothed_rtt: None,
            decayed_at: None,
            full_at: Time::ZERO,
            stalled_since: None,
        }
    }

    /// Returns the queuing delay in µs, if the ack brings a sample.
    fn measure(&mut self, ack: &Ack) -> Option<u32> {
        let (sample, forget) = self.signal.sample(ack, ack.one_way_delay);
        if forget {
            self.base.clear();
            self.recent_us = [0; FILTER];
        }
        let delay_us = sample?;
        if let (Some((skew, penalty)), false) = (&mut self.skew, self.signal.is_rtt()) {
            self.base.shift(skew.gained(ack));
            penalty.update(ack.now, delay_us);
        }
        self.base.update(ack.now, delay_us);
        let base = self.base.get()?;
        self.recent_us[self.next] = difference(delay_us, base).max(0) as u32;
        self.next = (self.next + 1) % FILTER;
        let mut queuing_us = self.recent_us.into_iter().min().unwrap_or(0);
        // No packet waits for longer than its round trip: if it seems so, the base is wrong.
        if let Some(excess) = rtt_us(ack).and_then(|rtt| queuing_us.checked_sub(rtt)) {
            self.base.shift(excess);
            queuing_us -= excess;
        }
        Some(queuing_us.saturating_add(self.skew.as_ref().map_or(0, |(_, penalty)| penalty.us())))
    }

    /// Returns the window after the law's step, and after slow start's.
    fn steps(&self, acked: u64, queuing_us: u64, may_grow: bool) -> (u64, u64) {
        let (small, large) = (acked.min(self.cwnd), acked.max(self.cwnd).max(1));
        let gain16 = mul_div(self.gain << 16, small, large);
        let cwnd16 = self.cwnd << 16;
        let law16 = if queuing_us <= self.target_us {
            let step = mul_div(gain16, self.target_us - queuing_us, self.target_us);
            cwnd16 + if may_grow { step } else { 0 }
        } else {
            cwnd16.saturating_sub(mul_div(gain16, queuing_us - self.target_us, self.target_us))
        };
        let slow_start = (cwnd16 + mul_div(self.mss << 16, small, large)) >> 16;
        ((law16 >> 16).max(self.min_window), slow_start)
    }

    fn decay(&mut self, now: Time) {
        let interval = self.decay_interval.or(self.smoothed_rtt).unwrap_or_default();
        if self.decayed_at.is_some_and(|at| now.since(at) < interval) {
            return;
        }
        self.decayed_at = Some(now);
        self.set_cwnd(now, (self.cwnd / 2).max(self.min_window.min(self.cwnd)));
        self.in_slow_start = false;
        self.ssthresh = self.cwnd;
    }

    fn set_cwnd(&mut self, now: Time, cwnd: u64) {
        self.cwnd = cwnd;
        self.stalled_since = (cwnd < self.mss).then(|| self.stalled_since.unwrap_or(now));
    }

    /// Resets the state after libutp's retransmission timer: one packet, in slow start.
    fn reset(&mut self, now: Time, cwnd: u64) {
        self.in_slow_start = true;
        self.stalled_since = None;
        self.set_cwnd(now, cwnd);
    }

    /// Returns when a window that is too small for a packet is reset.
    fn stall_ends(&self) -> Option<Time> {
        self.stalled_since.map(|since| since + STALL)
    }

    /// Returns the window's ceiling, which lets a packet through whatever was asked for.
    fn ceiling(&self) -> u64 {
        self.max_window.max(self.mss)
    }
}

impl Controller for Libutp {
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        if ack.marks.any() {
            self.decay(ack.now);
        }
        if !ack.app_limited {
            self.full_at = ack.now;
        }
        let acked = ack.delivered();
        let Some(queuing_us) = self.measure(ack).filter(|_| acked > 0) else { return };
        self.queuing_us = Some(queuing_us);
        let queuing_us = u64::from(queuing_us);
        let may_grow = ack.now.since(self.full_at) <= APP_LIMIT;
        let (by_law, by_slow_start) = self.steps(acked, queuing_us, may_grow);
        let mut cwnd = by_law;
        if self.in_slow_start {
            cwnd = self.cwnd;
            if by_slow_start > self.ssthresh {
                self.in_slow_start = false;
            } else if queuing_us > self.exit_us {
                self.in_slow_start = false;
                self.ssthresh = self.cwnd;
            } else {
                cwnd = by_slow_start.max(by_law);
            }
        }
        self.set_cwnd(ack.now, cwnd.clamp(self.min_window, self.ceiling()));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.decay(loss.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.reset(timeout.now, self.mss.min(self.cwnd));
    }

    fn on_idle(&mut self, idle: &Idle) {
        // Each expiry with nothing in flight doubles the timeout and leaves two thirds, down to a packet and slow start.
        let mut rto = idle.rto.max(Span::from_millis(1));
        let mut left = idle.idle_for;
        while left > rto && !(self.in_slow_start && self.cwnd <= self.mss) {
            (left, rto) = (left - rto, rto * 2);
            self.in_slow_start |= self.cwnd <= self.mss;
            self.cwnd = self.cwnd.min((self.cwnd / 3 * 2).max(self.mss));
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = u64::from(mss);
        self.cwnd = self.cwnd.max(self.min_window.min(self.mss));
        self.stalled_since = None; // counted anew for the new packet
    }

    fn on_wake(&mut self, now: Time) {
        if self.stall_ends().is_some_and(|at| at <= now) {
            self.reset(now, self.mss);
        }
    }

    fn directive(&self) -> Directive {
        let wake_at = self.stall_ends();
        Directive { wake_at, ..Directive::growing_window(self.cwnd, self.in_slow_start) }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: match (self.in_slow_start, self.stalled_since) {
                (_, Some(_)) => "stalled",
                (true, None) => "slow start",
                (false, None) => "congestion avoidance",
            },
            cwnd: self.cwnd,
            ssthresh: (self.ssthresh < self.ceiling()).then_some(self.ssthresh),
            queuing_delay: self.queuing_us.map(|us| Span::from_micros(u64::from(us))),
            target: Some(Span::from_micros(self.target_us)),
            gain: Some(self.gain as f64 / self.mss as f64),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
