//! CUBIC, RFC 9438: the rule of most foreground traffic on the Internet.
//!
//! # Model
//! After a reduction the window follows a cubic function of *time*, not of acks, so flows with different round-trip
//! times regrow alike. It is steep at first, flat around W_max, where the last loss was, and steep again beyond:
//!
//! ```text
//!   W(t) = C · (t − K)³ + W_max        K = ∛((W_max − cwnd_epoch) / C)        packets and seconds
//!
//!     cwnd │                          ╱ convex: probing
//!    W_max │         ________________╱
//!          │     ╱‾‾  concave       K
//!   epoch  │____╱
//! ```
//!
//! Where Reno would be faster (short round trips, small windows) it follows a Reno of the same average instead:
//!
//! ```text
//!   W_est += α · acked / cwnd          α = 3 (1 − β) / (1 + β), and 1 once W_est reaches the window before the loss
//!   cwnd   = W_est                                                 if W(t) < W_est
//!   cwnd  += (clamp(W(t + SRTT), cwnd, 1.5 cwnd) − cwnd) · acked / cwnd    otherwise
//!   loss or mark:  W_max = cwnd,  cwnd = ssthresh = β · FlightSize         once per round trip
//! ```
//!
//! # States
//! ```text
//!   slow start ──cwnd ≥ ssthresh, loss, mark, or HyStart──▶ congestion avoidance ◀──loss, mark: times β
//!        ▲                                                       │
//!        └──────────────timeout; idle, if cwnd > IW──────────────┘
//! ```
//! After a reduction the window is frozen until an ack for a packet sent after it arrives (recovery); that ack
//! begins the epoch, t = 0.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | C | 0.4 packets/s³ | §5.1: as fair to Reno as can be while fast on long paths |
//! | β | 0.7 | §4.6 |
//! | α | 0.5294 | §4.3: the average window of Reno, for this β |
//! | target's clamp | 1.5 cwnd | §4.2: never faster than half of slow start |
//! | fast convergence | on | §4.7, SHOULD: a newcomer gets room |
//! | floor | 2 packets, 1 after a mark | §4.6 |
//! | initial window | 10 packets | RFC 6928 §2 |
//! | HyStart | off | §4.10 recommends HyStart++; off so that the reference needs no delay samples. `linux` is what Linux does, see
//! [`crate::hystart::linux`] |
//! | friendly | rfc9438 | §4.3 has W_est grow like Reno above the last window. `linux` keeps the slower growth there, as the kernel's
//! `tcp_cubic.c` does, so that it takes less beside Reno. It also grows by 5 % per round trip at least until the first loss, and from a timeout
//! to the next loss: after an early end of slow start the cubic function alone needs seconds to fill the path |
//!
//! # Source
//! RFC 9438 (August 2023), sections at each rule. Where it states nothing: growth of one ack is scaled by the bytes it
//! acknowledges, as deployed stacks do. W_est only raises the window, and FlightSize counts at most as the window. A
//! timeout inside recovery does not change ssthresh. A new packet size begins a new epoch. After several timeouts in a
//! row the window is the floor (RFC 9002 §7.6.2).
//!
//! # Not implemented
//! Linux's integer arithmetic.
//!
//! # Known bad cases
//! Deep buffers are kept full, even fuller than by NewReno. Random loss counts as congestion. Flows of very different
//! age converge slowly.

use crate::controller::{Controller, Directive, Setup, Snapshot};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::loss_gate::LossGate;
use crate::slow_start::{SlowStartExit, Window, FLOOR_PACKETS, INITIAL_WINDOW};
use crate::undo::Undo;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;

/// The window's growth in a round trip is limited to this many times itself (§4.2).
const TARGET_CLAMP: f64 = 1.5;
/// Least growth in a round trip while no loss has shown the capacity, as a part of the window, in Linux' `bictcp_update`.
const BLIND_GROWTH: f64 = 0.05;
/// Floor after a mark, packets (§4.6).
const ECE_FLOOR_PACKETS: f64 = 1.0;

params! {
    /// Parameters.
    pub table PARAMS;

    pub const C: Key<f64> = Key::number("c", "packets/s^3", 0.4, (0.001, 100.0))
        .explained("steepness of the cubic function", "RFC 9438 §5.1");
    pub const BETA: Key<f64> = Key::number("beta", "", 0.7, (0.1, 0.95))
        .explained("what a congestion event leaves of the window", "RFC 9438 §4.6");
    pub const FAST_CONVERGENCE: Key<bool> = Key::flag("fast_convergence", true)
        .explained("give up more when the window no longer reaches its last maximum", "RFC 9438 §4.7");
    use INITIAL_WINDOW;
    const HYSTART: Key<SlowStartExit> = Key::choice(
        "hystart",
        &["off", "hystart++", "linux"],
        &[SlowStartExit::Loss, SlowStartExit::Rfc9406, SlowStartExit::Linux],
    )
    .explained(
        "leave slow start when the delay rises: by HyStart++ in the initial one, or as Linux does, by trains of acks, too",
        "RFC 9406 §4.2; Linux tcp_cubic.c",
    );
    pub const FRIENDLY_AS_LINUX: Key<bool> = Key::choice("friendly", &["rfc9438", "linux"], &[false, true])
        .explained(
            "growth in the Reno-friendly region: Reno's own above the last window, or slower throughout, as in Linux, and there 5 % \
             per round trip at least before the first loss",
            "RFC 9438 §4.3; Linux tcp_cubic.c",
        );
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "cubic",
        summary: "regrows by a cubic function of time: the Internet's default",
        source: "RFC 9438",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Foreground,
    make: |settings, setup| alloc::boxed::Box::new(Cubic::of(settings, *setup)),
};

/// A stretch of congestion avoidance without a congestion event.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Epoch {
    /// When W(t) is back at W_max, seconds.
    k: f64,
    /// Time in the epoch during which the window could have grown.
    t: Span,
    /// Until when `t` is counted.
    counted_to: Time,
    /// Since when it has been counted without a break.
    counted_since: Time,
    /// The window of a Reno flow with the same average window, bytes.
    w_est: f64,
}

/// Parameters of the cubic function; windows in bytes.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// None if there was no loss to remember: the next epoch takes its first window.
    w_max: Option<f64>,
    /// Window before the latest congestion event; zero before the first, which leaves W_est at Reno's full speed.
    cwnd_prior: f64,
    /// None until the first ack in congestion avoidance.
    epoch: Option<Epoch>,
    /// No loss has shown the capacity since the beginning or the latest timeout.
    is_blind: bool,
}

/// The state that a loss changes.
#[derive(Clone, Copy, Debug)]
struct Before {
    window: Window,
    curve: Curve,
    gate: LossGate,
    recovering: bool,
}

/// A CUBIC controller.
#[derive(Clone, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    alpha: f64,
    /// The same above the window before the latest congestion event.
    alpha_above: f64,
    /// Least growth in a round trip before the first loss, as a part of the window.
    blind_growth: f64,
    fast_convergence: bool,
    mss: u32,
    window: Window,
    curve: Curve,
    gate: LossGate,
    /// No packet sent after the latest reduction has been acknowledged yet.
    recovering: bool,
    undo: Undo<Before>,
}

impl Cubic {
    /// Creates a controller for packets of `mss` bytes of payload, over a transport that paces.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Cubic {
        Cubic::of(settings, Setup::of(mss))
    }

    /// Creates a controller for the transport that `setup` describes.
    pub fn of(settings: &Settings<'_>, setup: Setup) -> Cubic {
        let early_exit = settings.get(&HYSTART).early(setup.paced);
        let mss = setup.mss;
        let beta = settings.get(&BETA);
        let alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
        let as_linux = settings.get(&FRIENDLY_AS_LINUX);
        Cubic {
            c: settings.get(&C),
            beta,
            alpha,
            alpha_above: if as_linux { alpha } else { 1.0 },
            blind_growth: if as_linux { BLIND_GROWTH } else { 0.0 },
            fast_convergence: settings.get(&FAST_CONVERGENCE),
            mss,
            window: Window::new(settings, mss, early_exit),
            curve: Curve { w_max: None, cwnd_prior: 0.0, epoch: None, is_blind: true },
            gate: LossGate::default(),
            recovering: false,
            undo: Undo::default(),
        }
    }

    fn before(&self) -> Before {
        let Cubic { window, curve, gate, recovering, .. } = *self;
        Before { window, curve, gate, recovering }
    }

    fn packets(&self, n: f64) -> f64 {
        n * f64::from(self.mss)
    }

    /// Returns the window after a reduction, from the data in flight (§4.6).
    fn reduced(&self, flightsize: u64) -> f64 {
        (flightsize as f64).min(self.window.cwnd) * self.beta
    }

    /// Returns the window of §4.2, eq. 1, in bytes: `W(t) = C · (t − K)³ + W_max`.
    fn w_cubic(&self, w_max: f64, k: f64, t: f64) -> f64 {
        let x = t - k;
        self.packets(self.c) * x * x * x + w_max
    }

    /// Returns the time of §4.2, eq. 2: `K = ∛((W_max − cwnd_epoch) / C)`, zero if the window has reached `W_max`.
    fn k(&self, w_max: f64) -> f64 {
        libm::cbrt((w_max - self.window.cwnd).max(0.0) / self.packets(self.c))
    }

    /// Moves the window by an ack in congestion avoidance (§4.2, §4.3).
    fn avoid(&mut self, ack: &Ack, acked: f64) {
        let cwnd = self.window.cwnd;
        // §4.8, §4.10: after a timeout, or a slow start that ended without loss, this is W_max and K is 0.
        let w_max = *self.curve.w_max.get_or_insert(cwnd);
        let mut epoch = self.curve.epoch.unwrap_or_else(|| Epoch {
            k: self.k(w_max), // the only cube root, which no ack within the epoch pays for
            t: Span::ZERO,
            counted_to: ack.now,
            counted_since: ack.now,
            w_est: cwnd,
        });
        let passed = ack.now.since(epoch.counted_to);
        epoch.counted_to = ack.now;
        if ack.app_limited {
            // §5.8: no growth, and the time does not count, or the window would jump afterwards.
            epoch.counted_since = ack.now;
            self.curve.epoch = Some(epoch);
            return;
        }
        epoch.t = epoch.t + passed;
        let t = epoch.t.as_secs_f64();
        // One ack cannot carry more than a whole window's worth.
        let share = (acked / cwnd).min(1.0);
        let alpha = if epoch.w_est >= self.curve.cwnd_prior { self.alpha_above } else { self.alpha };
        epoch.w_est += self.packets(alpha) * share;
        if self.curve.is_blind {
            self.window.grow_to(cwnd + self.blind_growth * acked);
        }
        if self.w_cubic(w_max, epoch.k, t) < epoch.w_est {
            self.window.grow_to(epoch.w_est);
        } else {
            let ahead = self.w_cubic(w_max, epoch.k, t + ack.smoothed_rtt.unwrap_or_default().as_secs_f64());
            let target = ahead.clamp(cwnd, TARGET_CLAMP * cwnd);
            self.window.grow_to(cwnd + (target - cwnd) * share);
        }
        self.curve.epoch = Some(epoch);
    }

    /// Reacts to the loss or mark of a packet sent at `sent_at`; counts once per round trip.
    fn congestion(&mut self, sent_at: Time, now: Time, flightsize: u64, floor_packets: f64) -> bool {
        if !self.gate.admit(sent_at, now) {
            return false;
        }
        self.recovering = true;
        let cwnd = self.window.cwnd;
        // §4.7: a window that did not reach its last maximum again meets more flows than before.
        let others_need_room = self.fast_convergence && self.curve.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max = if others_need_room { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.curve = Curve { w_max: Some(w_max), cwnd_prior: cwnd, epoch: None, is_blind: false };
        self.window.reduce(self.reduced(flightsize), self.packets(floor_packets), self.mss);
        true
    }

    /// Forgets the path (§4.8): the next epoch begins with K = 0.
    fn forget(&mut self) {
        self.curve.w_max = None;
        self.curve.epoch = None;
        self.curve.is_blind = true;
        self.recovering = false;
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, ack: &Ack) {
        self.undo.on_ack(ack);
        let marked = ack.marks.any();
        if marked && self.congestion(ack.sent_at, ack.now, ack.flightsize, ECE_FLOOR_PACKETS) {
            return;
        }
        self.recovering &= self.gate.is_before_reduction(ack.sent_at);
        if self.recovering {
            return;
        }
        let mut acked = ack.delivered() as f64;
        if self.window.in_slow_start() {
            acked = self.window.grow_exponentially(ack, self.mss);
        }
        if !self.window.in_slow_start() {
            self.avoid(ack, acked);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let before = self.before();
        if self.congestion(loss.sent.now, loss.now, loss.flightsize, FLOOR_PACKETS) {
            self.undo.keep(loss.now, before);
        }
        if loss.persistent {
            self.window.cwnd = self.window.cwnd.min(self.packets(FLOOR_PACKETS));
            self.forget();
            self.undo.forget();
        }
    }

    /// Takes a needless reduction back (§4.9.1, §4.9.2).
    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let Some(Before { window, curve, gate, recovering }) = self.undo.take(spurious) else {
            return;
        };
        self.recovering = recovering;
        if self.window.cwnd < window.cwnd {
            self.window = window;
            self.curve = curve;
            // Other losses of that flight, if they are real, were not answered either.
            self.gate = gate;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // RFC 5681 §3.1: only the first expiry sets ssthresh, or an outage would erase it.
        let before = self.before();
        let is_news = timeout.consecutive == 1 && !self.recovering;
        if is_news {
            self.curve.cwnd_prior = self.window.cwnd;
        }
        self.window.collapse(is_news.then(|| self.reduced(timeout.flightsize)), self.mss);
        self.gate.close(timeout.now);
        self.forget();
        if timeout.consecutive == 1 {
            self.undo.keep(timeout.now, before);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.recovering = false; // nothing is in flight that could still belong to it
        if idle.idle_for > idle.rto {
            self.window.restart(self.mss);
            self.curve.epoch = None;
            self.undo.forget();
        }
        if let Some(epoch) = &mut self.curve.epoch {
            // §5.8: idle time is application-limited time, from the last packet on, whose ack was counted. Linux moves its epoch by
            // the same time.
            let silent_since = Time(idle.now.0.saturating_sub(idle.idle_for.0));
            epoch.t = epoch.t - epoch.counted_to.since(silent_since.max(epoch.counted_since));
            (epoch.counted_to, epoch.counted_since) = (idle.now, idle.now);
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.window.grow_to(f64::from(mss));
        self.curve.epoch = None; // K was made for the old packet
        self.undo.saved().for_each(|before| before.curve.epoch = None);
    }

    fn directive(&self) -> Directive {
        Directive::growing_window(self.window.cwnd as u64, self.window.in_slow_start())
    }

    fn snapshot(&self) -> Snapshot {
        let w_max = self.curve.w_max.map(|w_max| ("w_max", w_max / f64::from(self.mss)));
        let k = self.curve.epoch.map(|epoch| ("k_s", epoch.k));
        Snapshot {
            phase: self.window.phase(),
            cwnd: self.window.cwnd as u64,
            ssthresh: self.window.known_ssthresh(),
            extra: [w_max, k, None, None],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
