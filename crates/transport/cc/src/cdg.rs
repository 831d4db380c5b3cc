//! CDG (CAIA delay gradient): back off at random while the delay rises, the more likely the faster it rises.
//!
//! # Model
//! The delay itself is not compared with anything, so no base delay has to be known. Its change from round to round shows whether the queue
//! grows. The smallest and the largest round-trip time of a round have a gradient each:
//!
//! ```text
//!   g_min = smallest RTT of this round − that of the last one         g_max likewise
//!   g     = sum of g_min over 8 rounds, if positive, else that of g_max
//!   once a round, if g > 0:   back off with probability 1 − e^(−42/s · g)
//!   back off:        cwnd *= 0.7071, evenly over the round trip: 0.7071 packets leave for each that arrives
//!   otherwise:       as Reno: cwnd += MSS · acked / cwnd, in slow start += acked
//!   loss or mark:    shadow = min(shadow / 2, cwnd),  cwnd = max(shadow, cwnd / 2)
//! ```
//! A gradient is counted per round trip, so flows with short round trips draw more often from smaller gradients. On average all flows back
//! off alike.
//!
//! Two rules help beside flows that only a loss stops. After five backoffs in a row that did not lower the delay there are no more until it
//! falls. The shadow window grows as the window does but does not shrink by backoffs: it is what a Reno flow would have. A loss leaves half
//! of it, not of the window.
//!
//! # States
//! ```text
//!   slow start ──HyStart, backoff, loss──▶ congestion avoidance ◀──backoff: × 0.7071; loss: half of the shadow window
//!        ▲                                       │
//!        └───────────timeout; idle───────────────┘
//! ```
//! After a reduction the window is frozen until an ack for a packet sent after it arrives. The gradient of that round is left out. The fall
//! of the delay after a backoff is in the next gradient, since the window shrinks little by little, and lowers the sum.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | rounds | 8 | smooths a noisy round, and still sees a queue in time |
//! | factor | 42/s | 1 s / (8 · 3 ms): with 3 ms more delay in each of 8 rounds, 63 % back off |
//! | β | 0.7071 | √½: two backoffs halve |
//! | ineffectual backoffs | 5 | others fill the queue; 0 switches the rule off |
//! | effect | 32 µs | a fall of the sums that shows an effect |
//! | floor | 2 packets | Linux |
//! | initial window | 10 packets | RFC 6928 §2 |
//!
//! # Source
//! Hayes and Armitage, "Revisiting TCP congestion control using delay gradients", IFIP Networking 2011; Linux `net/ipv4/tcp_cdg.c` (read for
//! facts), which is the default here; FreeBSD `cc_cdg.c` by the first author, for what the paper leaves open. The differences:
//!
//! | | here, Linux | paper, FreeBSD |
//! |---|---|---|
//! | a backoff | evenly over the round trip (PRR) | at once |
//! | strength | 42/s of the sum | 1/G of the mean, G = 3 ms: 41.7/s of the sum |
//! | β of a backoff | 0.7071 | 0.7 |
//! | gradient in slow start | the sum, as otherwise | that of the round alone first |
//! | missing rounds at the start | count like the others | count as zero |
//! | after 5 ineffectual backoffs | none until the delay falls | none for 5 more rises, then again |
//! | a loss while the queue is not full | as any loss; `tolerance` ignores it | ignored |
//! | shadow window | at most twice the window after a loss, never forgotten | forgotten when the queue is empty |
//! | growth | by acks | by a packet at the end of a round |
//! | slow start | HyStart | until a backoff or a loss |
//!
//! A flow that is to yield should run with `shadow = false` and `ineffectual = 0`, as the kernel's file says.
//!
//! # Not implemented
//! The kernel's own HyStart: [CUBIC's](crate::hystart::linux) takes its place. The kernel's has no least window, takes gaps of 3 ms and an
//! eighth of the round-trip time without the least 4 ms, and halves also for paced senders. Its whole packets: a backoff rounds the kernel's
//! window down twice, by 0.85 packets on average, so its small windows stay smaller.
//!
//! # Known bad cases
//! A backoff at a short queue leaves the link idle until the window has grown back, by a packet per round trip. Alone it uses 77 to 90 % of
//! a path of 50 to 200 ms. A standing queue has no gradient, so a flow that meets one adds to it. Where jitter, or a host that reads acks
//! in batches, changes delays by milliseconds, it backs off at random. Beside CUBIC in a deep buffer it keeps next to nothing: losses, after
//! which the shadow window helps, are rare there.

mod gradients;

use crate::bbr::mixed;
use crate::controller::{Controller, Directive, Setup, Snapshot};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::loss_gate::LossGate;
use crate::slow_start::{SlowStartExit, Window, FLOOR_PACKETS, INITIAL_WINDOW, MAX_WINDOW};
use crate::undo::Undo;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::Time;
#[cfg(feature = "alloc")]
use afteryou_base::About;
use gradients::{Gradients, Queue, RoundTrips, MOST_ROUNDS};

/// Part of the window that a backoff leaves.
#[expect(clippy::approx_constant, reason = "the kernel has these digits of √½")]
const KERNELS_BETA: f64 = 0.7071;

params! {
    /// Parameters.
    pub table PARAMS;

    const ROUNDS: Key<u64> = Key::count("rounds", "rounds", 8, (1, MOST_ROUNDS as u64))
        .explained("rounds over which gradients are summed", "Linux tcp_cdg.c, window");
    const BETA: Key<f64> = Key::number("beta", "", KERNELS_BETA, (0.1, 1.0))
        .explained("part of the window that a backoff leaves", "Linux tcp_cdg.c, backoff_beta");
    const FACTOR: Key<f64> = Key::number("factor", "1/s", 42.0, (1.0, 1000.0))
        .explained("strength of the backoff: 1000/(G · rounds) for the paper's G in ms", "Linux tcp_cdg.c, backoff_factor");
    const INEFFECTUAL: Key<u64> = Key::count("ineffectual", "backoffs", 5, (0, 1000))
        .explained("backoffs in a row without effect that are allowed; 0: any number", "Linux tcp_cdg.c, use_ineff");
    const SHADOW: Key<bool> = Key::flag("shadow", true)
        .explained("a loss leaves half of what the window would be without backoffs", "Linux tcp_cdg.c, use_shadow");
    const TOLERANCE: Key<bool> = Key::flag("tolerance", false)
        .explained("ignore losses while the gradients show that the queue is not full", "Linux tcp_cdg.c, use_tolerance");
    const HYSTART: Key<SlowStartExit> = Key::choice(
        "hystart",
        &["linux", "hystart++", "off"],
        &[SlowStartExit::Linux, SlowStartExit::Rfc9406, SlowStartExit::Loss],
    )
    .explained(
        "leave slow start when the delay rises: as Linux does, by trains of acks, too, or by HyStart++ in the initial one",
        "Linux tcp_cdg.c, hystart_detect; RFC 9406 §4.2",
    );
    use INITIAL_WINDOW;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "cdg",
        summary: "backs off at random while the delay rises, whatever the delay is",
        source: "Hayes 2011, Linux tcp_cdg.c",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Foreground,
    make: |settings, setup| alloc::boxed::Box::new(Cdg::new(settings, setup)),
};

/// The settings.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    rounds: usize,
    beta: f64,
    factor: f64,
    ineffectual: u64,
    shadow: bool,
    tolerance: bool,
}

/// The state that a loss changes.
#[derive(Clone, Copy, Debug)]
struct Before {
    window: Window,
    gate: LossGate,
    recovering: bool,
}

/// A CDG controller.
#[derive(Clone, Debug)]
pub struct Cdg {
    tuning: Tuning,
    random: u64,
    mss: u32,
    window: Window,
    /// The window without backoffs, bytes.
    shadow: f64,
    trips: RoundTrips,
    gradients: Gradients,
    queue: Queue,
    /// Backoffs in a row without effect.
    ineffectual: u64,
    /// A round ends with the ack of a packet that left then or later.
    round_from: Time,
    gate: LossGate,
    /// No packet sent after the latest reduction has been acknowledged yet.
    recovering: bool,
    /// Bytes of the window before the latest backoff that are not given up yet.
    excess: f64,
    undo: Undo<Before>,
}

impl Cdg {
    /// Creates a controller.
    pub fn new(settings: &Settings<'_>, setup: &Setup) -> Cdg {
        let tuning = Tuning {
            rounds: settings.get(&ROUNDS) as usize,
            beta: settings.get(&BETA),
            factor: settings.get(&FACTOR),
            ineffectual: settings.get(&INEFFECTUAL),
            shadow: settings.get(&SHADOW),
            tolerance: settings.get(&TOLERANCE),
        };
        let window = Window::new(settings, setup.mss, settings.get(&HYSTART).early(setup.paced));
        Cdg {
            tuning,
            random: setup.seed,
            mss: setup.mss,
            window,
            shadow: window.cwnd,
            trips: RoundTrips::default(),
            gradients: Gradients::over(tuning.rounds),
            queue: Queue::Unknown,
            ineffectual: 0,
            round_from: Time::ZERO,
            gate: LossGate::default(),
            recovering: false,
            excess: 0.0,
            undo: Undo::default(),
        }
    }

    fn before(&self) -> Before {
        Before { window: self.window, gate: self.gate, recovering: self.recovering }
    }

    fn floor(&self) -> f64 {
        FLOOR_PACKETS * f64::from(self.mss)
    }

    /// Returns a number from 0 to 1, at random.
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mixed(self.random) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns the probability that a summed gradient leads to a backoff.
    fn probability(&self, summed_us: f64) -> f64 {
        1.0 - libm::exp(-self.tuning.factor * summed_us / 1e6)
    }

    /// Ends the round with this ack. Returns whether the window is to shrink.
    fn end_round(&mut self, ack: &Ack) -> bool {
        self.round_from = ack.now;
        let Some(gradient) = self.trips.end_round() else { return false };
        self.gradients.push(gradient);
        if self.gradients.falls() {
            self.ineffectual = 0;
        }
        if self.tuning.tolerance {
            self.queue = self.gradients.queue(self.queue);
        }
        let summed_us = self.gradients.summed_us();
        summed_us > 0.0 && self.draw() < self.probability(summed_us) && self.may_back_off()
    }

    /// Counts a backoff, unless too many had no effect.
    fn may_back_off(&mut self) -> bool {
        self.ineffectual = self.ineffectual.saturating_add(1);
        self.tuning.ineffectual == 0 || self.ineffectual <= self.tuning.ineffectual
    }

    fn back_off(&mut self, now: Time) {
        self.shadow = self.shadow.max(self.window.cwnd);
        self.gate.close(now);
        self.recovering = true;
        let before = self.window.cwnd;
        self.window.reduce(self.tuning.beta * before, self.floor(), self.mss);
        self.excess = before - self.window.cwnd;
        self.undo.forget(); // the window of before is no longer wanted
    }

    /// Returns the window that a loss leaves, before its floor.
    fn after_loss(&mut self) -> f64 {
        let cwnd = self.window.cwnd;
        if self.tuning.tolerance && self.queue == Queue::NotFull {
            return cwnd;
        }
        self.shadow = (self.shadow / 2.0).min(cwnd);
        match self.tuning.shadow {
            true => self.shadow.max(cwnd / 2.0),
            false => cwnd / 2.0,
        }
    }

    /// Reacts to the loss or mark of a packet sent at `sent_at`; counts once per round trip.
    fn congestion(&mut self, sent_at: Time, now: Time) -> bool {
        if !self.gate.admit(sent_at, now) {
            return false;
        }
        self.recovering = true;
        let target = self.after_loss();
        self.window.reduce(target, self.floor(), self.mss);
        true
    }

    /// Gives up what a backoff takes, evenly over the round trip.
    fn give_up(&mut self, acked: u64) {
        let share = (1.0 - self.tuning.beta) * acked as f64;
        self.excess = (self.excess - share).max(0.0);
    }

    /// Ends a recovery. The delays meanwhile are the ones to compare the next round with.
    fn end_recovery(&mut self, now: Time) {
        self.recovering = false;
        self.excess = 0.0;
        self.queue = Queue::Unknown;
        self.round_from = now;
        self.trips.end_round();
    }

    /// Grows by Reno's rule, and the shadow window with it.
    fn grow(&mut self, ack: &Ack) {
        let before = self.window.cwnd;
        let mut acked = ack.delivered() as f64;
        if self.window.in_slow_start() {
            acked = self.window.grow_exponentially(ack, self.mss);
        }
        if !self.window.in_slow_start() {
            let share = (acked / self.window.cwnd).min(1.0);
            self.window.grow_to(self.window.cwnd + f64::from(self.mss) * share);
        }
        self.shadow = (self.shadow + self.window.cwnd - before).min(MAX_WINDOW);
    }
}

impl Controller for Cdg {
    fn on_ack(&mut self, ack: &Ack) {
        self.undo.on_ack(ack);
        self.trips.take(ack, self.mss);
        if ack.marks.any() && self.congestion(ack.sent_at, ack.now) {
            return;
        }
        if self.recovering {
            self.give_up(ack.delivered());
            if self.gate.is_before_reduction(ack.sent_at) {
                return;
            }
            self.end_recovery(ack.now);
        }
        if ack.sent_at >= self.round_from && self.trips.any() && self.end_round(ack) {
            return self.back_off(ack.now);
        }
        if ack.app_limited {
            self.shadow = self.shadow.min(self.window.cwnd);
            return;
        }
        self.grow(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.excess = 0.0; // the transport spreads what is left of the reduction
        let before = self.before();
        if self.congestion(loss.sent.now, loss.now) {
            self.undo.keep(loss.now, before);
        }
        if loss.persistent {
            self.window.cwnd = self.window.cwnd.min(self.floor());
            self.recovering = false;
            self.undo.forget();
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let Some(Before { window, gate, recovering }) = self.undo.take(spurious) else {
            return;
        };
        self.recovering = recovering;
        if self.window.cwnd < window.cwnd {
            self.window = window;
            self.gate = gate;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let before = self.before();
        let is_news = timeout.consecutive == 1 && !self.recovering;
        let target = is_news.then(|| self.after_loss());
        self.window.collapse(target, self.mss);
        self.excess = 0.0;
        self.gate.close(timeout.now);
        self.recovering = false;
        if timeout.consecutive == 1 {
            self.undo.keep(timeout.now, before);
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if self.recovering {
            self.end_recovery(idle.now); // nothing is in flight that could still belong to it
        }
        if idle.idle_for > idle.rto {
            self.shadow = self.window.cwnd;
            (self.trips, self.gradients) = (RoundTrips::default(), Gradients::over(self.tuning.rounds));
            (self.queue, self.ineffectual, self.round_from) = (Queue::Unknown, 0, idle.now);
            self.window.restart(self.mss);
            self.undo.forget();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.window.grow_to(f64::from(mss));
    }

    fn directive(&self) -> Directive {
        Directive::growing_window((self.window.cwnd + self.excess) as u64, self.window.in_slow_start())
    }

    fn snapshot(&self) -> Snapshot {
        let summed_us = self.gradients.summed_us();
        Snapshot {
            phase: self.window.phase(),
            cwnd: self.directive().cwnd,
            ssthresh: self.window.known_ssthresh(),
            extra: [
                Some(("summed_gradient_ms", summed_us / 1e3)),
                Some(("ineffectual", self.ineffectual as f64)),
                Some(("shadow", self.shadow / f64::from(self.mss))),
                None,
            ],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
