//! LEDBAT++: LEDBAT that is fair among its own kind and never loses sight of the empty path.
//!
//! # Model
//! Round-trip times replace one-way delays. Below TARGET the window grows by GAIN ≤ 1 packets per round trip, the
//! less the shorter the path, so that it never outruns Reno where queues are short. Above TARGET it shrinks in
//! proportion to itself, which makes two flows meet; at most by half in a round trip:
//!
//! ```text
//!   q ≤ TARGET:  W += GAIN
//!   q > TARGET:  W += max(GAIN − Constant · W · (q/TARGET − 1), −W/2)          never below 2 packets
//!   GAIN = 1 / min(16, ⌈2 · TARGET / base⌉)
//! ```
//!
//! From time to time it drops to 2 packets for two round trips and climbs back, so that the queue empties and
//! everybody can measure the base delay anew; nine tenths of the time it works.
//!
//! The rule is per round trip; here each ack applies its share, `delta · acked / W`, with `W` frozen at the start of
//! the round so that the shares add up to the rule. They never add up to more: a round counts W bytes at most, however many
//! one ack covers, and after a loss the half window counts what was left of the rule.
//!
//! # States
//! ```text
//!   slow start ──q > ¾ TARGET, W ≥ ssthresh, or loss──▶ congestion avoidance ──2 RTT later──▶ freeze (W = 2, 2 RTT)
//!        ▲                                               ▲   │   ▲                              │
//!        │                                               │   │   └──W ≥ ssthresh, or loss── ramp ◀┘
//!        │                                               │   └──9 × the slowdown's duration later──▶ freeze
//!        └──timeout, idle, or the restart rule───────────┘
//! ```
//! Slow start multiplies the window by (1 + GAIN) in a round trip. Only the initial one, one after idle, and one of
//! the restart rule have the delay exit; ramps and the climb after a timeout end at ssthresh.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | TARGET | 60 ms | §4.5: above delayed-ack timers, well below what calls notice |
//! | GAIN divisor's cap | 16 | §4.2: tunable; keeps growth alive on very short paths |
//! | Constant | 1 | §4.3 |
//! | decrease cap | W/2 per RTT | §4.3 |
//! | initial window, floor | 2 packets | §4.1, §4.3 |
//! | slow-start exit | ¾ of TARGET | §4.1: before the queue reaches the point where it would have to shrink |
//! | freeze | 2 RTT | §4.4 |
//! | wait | 9 × the slowdown | §4.4: a tenth of the time at most |
//! | base history | 10 bins of a minute | §3.3, as RFC 6817 |
//! | current filter | minimum of 4 | §4.5 |
//! | restart | off | ours, see [`crate::restart`]; the draft has nothing of the kind |
//!
//! # Source
//! draft-irtf-iccrg-ledbat-plus-plus-01, sections at each rule. Where it is silent: the freeze lasts two *smoothed*
//! round trips as of its entry; a loss in the ramp ends the slowdown; the climb after a timeout is followed by the
//! same two-round-trip wait as the initial slow start.
//!
//! # Not implemented
//! Proxies that break the delay measurement (§5) are not noticed.
//!
//! # Options of others
//! Off by default. Bagnulo and García-Martínez (2022, §5.1.3) propose `instant_restore` and `ignore_after_restore`;
//! with the first a slowdown is so short that nine times it would follow at once, so at least 10 s lie between two
//! (ours). Apple ships a target of 40 ms, `increase = packet`, `decrease_with_gain = false`, `step = round`,
//! `ramp_exit` and `defer = 30 s`.
//!
//! # Known bad cases
//! A queue held down by an AQM or a buffer shorter than TARGET: Reno-like, with growth scaled by GAIN. A loaded
//! reverse path looks like forward queue. Base delays of more than ~300 ms: the ramp itself overshoots TARGET.

use crate::base_delay::BaseDelay;
use crate::clock_skew::CLOCK_SKEW;
use crate::controller::{Controller, Snapshot};
use crate::delay_meter::{DelayMeter, FILTER, HISTORY};
use crate::delay_signal::rtt_us;
use crate::event::{Ack, Idle, Loss, Timeout};
use crate::fixed::{mul_div, to_16, Bytes16};
#[cfg(feature = "alloc")]
use crate::list::{Class, Entry};
use crate::loss_gate::LossGate;
use crate::param::{Param, Settings};
use crate::restart::{Restart, RECOVERED_FLOORS, ROUNDS};
use crate::route_change::ROUTE_CHANGE;
use crate::slowdown::Slowdown;
use crate::units::{Span, Time};

/// Initial window and floor, packets (§4.1, §4.3: MUST NOT go below).
pub const FLOOR_PACKETS: u64 = 2;

/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::millis("target", 60, (1, 100)).explained("queuing delay to stay below", "draft-01 §4.5"),
    Param::count("gain_divisor_max", "", 16, (1, 256))
        .explained("GAIN is at least one over this", "draft-01 §4.2"),
    Param::number("constant", "", 1.0, (0.01, 16.0))
        .explained("how strongly the window shrinks per TARGET of excess", "draft-01 §4.3"),
    Param::number("slow_start_exit", "of target", 0.75, (0.05, 1.0))
        .explained("queuing delay that ends the initial slow start", "draft-01 §4.1"),
    Param::flag("slowdowns", true)
        .explained("drop to the floor now and then to see the base delay", "draft-01 §4.4"),
    HISTORY,
    FILTER,
    Param::flag("instant_restore", false).explained(
        "after the freeze the window is back at once, paced, and slowdowns are at least 10 s apart",
        "Bagnulo 2022 §5.1.3",
    ),
    Param::flag("ignore_after_restore", false).explained(
        "delays of the round trip after a slowdown do not count: the way back made that queue itself",
        "Bagnulo 2022 §5.1.3",
    ),
    Param::choice("step", "ack", &["ack", "round"])
        .explained("apply the rule's share with each ack, or all of it once a window", "draft-01 §4.2; round: xnu-11417"),
    Param::choice("increase", "gain", &["gain", "packet"])
        .explained("growth of a round trip: GAIN, or a whole packet as Apple does", "draft-01 §4.2; xnu-11417"),
    Param::flag("decrease_with_gain", true)
        .explained("growth and decrease go together; Apple's decrease goes alone", "draft-01 §4.3; xnu-11417"),
    Param::flag("ramp_exit", false).explained(
        "ramps end when the queue exceeds TARGET, too, and such a slowdown counts twice as long, as Apple does",
        "xnu-11417 tcp_ledbat.c",
    ),
    Param::millis("defer", 0, (0, 600_000))
        .explained("a decrease puts the next slowdown off until so much later; Apple: 30 s", "xnu-11417 tcp_ledbat.c"),
    Param::choice("signal", "rtt", &["rtt", "one-way"])
        .explained("delay that is measured; one-way ignores the reverse path's queue", "draft-01 §4.5"),
    CLOCK_SKEW,
    ROUTE_CHANGE,
    Param::flag("restart", false)
        .explained("slow start again once the path is empty after yielding to the floor", "afteryou"),
    Param::count("restart_rounds", "rounds", ROUNDS, (1, 64))
        .explained("quiet rounds in a row that restart wants", "afteryou"),
];

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    name: "ledbat++",
    class: Class::Background,
    summary: "stays below a target delay, yields fast, fair among its own kind",
    source: "draft-irtf-iccrg-ledbat-plus-plus-01",
    params: PARAMS,
    make: |settings, mss| alloc::boxed::Box::new(LedbatPp::new(settings, mss)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    /// Exponential; `delay_exit` ends it at three quarters of TARGET.
    SlowStart {
        delay_exit: bool,
    },
    Avoidance,
}

/// A LEDBAT++ controller.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    target_us: u64,
    divisor_max: u64,
    constant16: u64,
    exit_us: u64,
    slowdowns_on: bool,
    mss: u64,
    cwnd: Bytes16,
    ssthresh: Bytes16,
    growth: Growth,
    slowdown: Slowdown,
    slowdowns: u32,
    /// Window at the start of the round: the rule's W.
    round_cwnd: Bytes16,
    /// Bytes that may still count in this round.
    round_left: Bytes16,
    meter: DelayMeter,
    /// Base round-trip time in µs; GAIN needs one even when the signal is one-way.
    base_rtt: BaseDelay,
    smoothed_rtt: Span,
    gate: LossGate,
    restart: Option<Restart>,
    options: Options,
    /// Bytes acknowledged since the rule was last applied (`step = round`).
    accumulated: u64,
    /// When the window was restored at once, until a packet sent after that is acknowledged.
    restored_at: Option<Time>,
    /// Delay samples before that do not count.
    ignore_until: Time,
}

/// What others do differently; all off by default.
#[derive(Clone, Copy, Debug)]
struct Options {
    instant_restore: bool,
    ignore_after_restore: bool,
    once_a_round: bool,
    whole_packets: bool,
    decrease_with_gain: bool,
    ramp_exit: bool,
    defer: Span,
}

impl Options {
    fn new(settings: &Settings<'_>) -> Options {
        Options {
            instant_restore: settings.flag("instant_restore"),
            ignore_after_restore: settings.flag("ignore_after_restore"),
            once_a_round: settings.choice("step") == "round",
            whole_packets: settings.choice("increase") == "packet",
            decrease_with_gain: settings.flag("decrease_with_gain"),
            ramp_exit: settings.flag("ramp_exit"),
            defer: settings.time("defer"),
        }
    }
}

impl LedbatPp {
    /// A controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> LedbatPp {
        let target = settings.time("target");
        let cwnd = Bytes16::from_bytes(FLOOR_PACKETS * u64::from(mss));
        LedbatPp {
            target_us: target.as_micros(),
            divisor_max: settings.count("gain_divisor_max"),
            constant16: to_16(settings.number("constant")),
            exit_us: (target.as_micros() * to_16(settings.number("slow_start_exit"))) >> 16,
            slowdowns_on: settings.flag("slowdowns"),
            mss: u64::from(mss),
            cwnd,
            ssthresh: Bytes16::MAX,
            growth: Growth::SlowStart { delay_exit: true },
            slowdown: Slowdown::Unscheduled,
            slowdowns: 0,
            round_cwnd: cwnd,
            round_left: cwnd,
            meter: DelayMeter::new(settings),
            base_rtt: BaseDelay::new(settings.count("base_history") as usize),
            smoothed_rtt: Span::ZERO,
            gate: LossGate::default(),
            restart: settings.flag("restart").then(|| Restart::new(target, settings.count("restart_rounds"))),
            options: Options::new(settings),
            accumulated: 0,
            restored_at: None,
            ignore_until: Time::ZERO,
        }
    }

    fn floor(&self) -> Bytes16 {
        Bytes16::from_bytes(FLOOR_PACKETS * self.mss)
    }

    /// §4.2: `1 / GAIN = min(16, ⌈2 · TARGET / base⌉)`.
    fn gain_divisor(&self) -> u64 {
        // A one-way base has the clocks' offset in it.
        let by_rtt = || self.base_rtt.get().map_or(0, u64::from);
        let base_us = self.meter.base().map_or_else(by_rtt, Span::as_micros).max(1);
        (2 * self.target_us).div_ceil(base_us).clamp(1, self.divisor_max)
    }

    fn measure(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        if ack.now < self.ignore_until {
            return;
        }
        if let Some(rtt_us) = rtt_us(ack) {
            self.base_rtt.update(ack.now, rtt_us);
        }
        self.meter.measure(ack, Span::MAX, self.cwnd <= self.floor());
    }

    /// §4.1: each acknowledged byte adds GAIN bytes.
    fn grow_exponentially(&mut self, now: Time, acked: u64, delay_exit: bool) {
        let exceeds = |limit| self.meter.queuing_us().is_some_and(|queuing| u64::from(queuing) > limit);
        if delay_exit && exceeds(self.exit_us) {
            self.enter_avoidance(now);
            return;
        }
        if self.options.ramp_exit && exceeds(self.target_us) {
            if let Slowdown::Ramping { began } = self.slowdown {
                // Apple: what did not reach its ssthresh counts twice.
                self.slowdown = Slowdown::Ramping { began: Time(began.0.saturating_sub(now.since(began).0)) };
                self.enter_avoidance(now);
                return;
            }
        }
        let grown = self.cwnd.plus(Bytes16::from_bytes(acked).times(1, self.gain_divisor()));
        self.cwnd = grown.min(self.cwnd.max(self.ssthresh));
        if self.cwnd >= self.ssthresh {
            self.enter_avoidance(now);
        }
    }

    /// The rule's W is the window now.
    fn begin_round(&mut self) {
        self.round_cwnd = self.cwnd;
        self.round_left = self.cwnd;
    }

    /// Returns how many of the `acked` bytes the rule counts: no more than a window in a round.
    fn counted(&mut self, acked: u64) -> Bytes16 {
        if !self.options.once_a_round {
            let counted = Bytes16::from_bytes(acked).min(self.round_left);
            self.round_left = self.round_left.minus(counted);
            return counted;
        }
        self.accumulated = self.accumulated.saturating_add(acked);
        if self.accumulated < self.round_cwnd.to_bytes() {
            return Bytes16::ZERO;
        }
        self.accumulated = 0;
        self.round_cwnd
    }

    /// §4.2, §4.3: this ack's share of the round's change.
    fn steer(&mut self, now: Time, acked: u64, queuing_us: u64) {
        let counted = self.counted(acked);
        let share = |change: Bytes16| change.times(counted.0, self.round_cwnd.0);
        let divisor = if self.options.whole_packets { 1 } else { self.gain_divisor() };
        let increase = Bytes16::from_bytes(self.mss).times(1, divisor);
        if queuing_us <= self.target_us {
            self.cwnd = self.cwnd.plus(share(increase));
            return;
        }
        // Twice TARGET is past the cap of W/2 already (Constant ≥ ½), and keeps the product small.
        let excess_us = (queuing_us - self.target_us).min(64 * self.target_us);
        let decrease = self.round_cwnd.times(excess_us, self.target_us).times(self.constant16, 1 << 16);
        let increase = if self.options.decrease_with_gain { increase } else { Bytes16::ZERO };
        if decrease <= increase {
            self.cwnd = self.cwnd.plus(share(increase.minus(decrease)));
            return;
        }
        let decrease = decrease.minus(increase).min(Bytes16(self.round_cwnd.0 / 2));
        self.cwnd = self.cwnd.minus(share(decrease));
        self.put_slowdown_off(now);
        if self.cwnd <= self.floor() {
            self.cwnd = self.floor();
            if let Some(restart) = &mut self.restart {
                restart.arm();
            }
        }
    }

    /// Apple: a flow that shrinks has no need to look for the base delay.
    fn put_slowdown_off(&mut self, now: Time) {
        if let (Slowdown::Waiting { next }, 1..) = (self.slowdown, self.options.defer.0) {
            self.slowdown = Slowdown::Waiting { next: next.max(now + self.options.defer) };
        }
    }

    /// Slow start, a ramp or a timeout's climb is over.
    fn enter_avoidance(&mut self, now: Time) {
        self.growth = Growth::Avoidance;
        self.begin_round();
        self.accumulated = 0;
        if self.options.ignore_after_restore && self.slowdown.is_under_way() {
            self.meter.forget_present();
            self.ignore_until = now + self.smoothed_rtt;
        }
        self.slowdown = match self.slowdown {
            _ if !self.slowdowns_on => Slowdown::Unscheduled,
            Slowdown::Freezing { began, .. } | Slowdown::Ramping { began } => Slowdown::end(began, now),
            Slowdown::Unscheduled | Slowdown::Waiting { .. } => {
                Slowdown::after_slow_start(now, self.smoothed_rtt)
            }
        };
    }

    /// Slow start with the delay exit: at the beginning, after idle, by the restart rule.
    fn start_over(&mut self) {
        self.ssthresh = Bytes16::MAX;
        self.growth = Growth::SlowStart { delay_exit: true };
        self.slowdown = Slowdown::Unscheduled;
        if let Some(restart) = &mut self.restart {
            restart.disarm();
        }
    }

    /// §4.4: moves the slowdown on if its time has come.
    fn run_slowdown(&mut self, now: Time) {
        match self.slowdown {
            Slowdown::Waiting { next } if now >= next => {
                self.ssthresh = self.cwnd;
                self.cwnd = self.floor();
                self.slowdown = Slowdown::begin(now, self.smoothed_rtt);
                self.slowdowns += 1;
            }
            Slowdown::Freezing { began, until } if now >= until && self.options.instant_restore => {
                self.cwnd = self.ssthresh.max(self.floor());
                self.restored_at = Some(now);
                self.enter_avoidance(now);
                self.slowdown = Slowdown::end_restored(began, now);
            }
            Slowdown::Freezing { began, until } if now >= until => {
                self.slowdown = Slowdown::Ramping { began };
                self.growth = Growth::SlowStart { delay_exit: false };
                if self.cwnd >= self.ssthresh {
                    self.enter_avoidance(now);
                }
            }
            _ => {}
        }
    }

    /// The restart rule (ours). Slowdowns empty the queue by themselves, so their rounds do not count.
    fn path_fell_quiet(&mut self, ack: &Ack) -> Option<Time> {
        let recovered = self.cwnd > self.floor().times(RECOVERED_FLOORS, 1);
        let (Some(restart), Some(queuing_us)) = (&mut self.restart, self.meter.queuing_us()) else {
            return None;
        };
        if self.growth != Growth::Avoidance || matches!(self.slowdown, Slowdown::Freezing { .. }) {
            restart.count_again();
            return None;
        }
        if recovered {
            restart.note_recovery();
        }
        restart.on_ack(ack.now, queuing_us, ack.round_start)
    }

    fn is_frozen(&self) -> bool {
        matches!(self.slowdown, Slowdown::Freezing { .. })
    }

    /// Loss or mark, once per round trip: halve, as standard TCP does (§1).
    fn reduce(&mut self, now: Time) {
        if let Some(restart) = &mut self.restart {
            restart.count_again();
        }
        if self.is_frozen() {
            // The window is at its floor already; what it comes back to is halved instead.
            self.ssthresh = Bytes16(self.ssthresh.0 / 2).max(self.floor());
            return;
        }
        self.cwnd = self.cwnd.min(Bytes16(self.cwnd.0 / 2).max(self.floor()));
        self.ssthresh = self.cwnd;
        let left = self.round_left.times(self.cwnd.0, self.round_cwnd.0);
        self.begin_round();
        self.round_left = left.min(self.cwnd);
        if self.growth != Growth::Avoidance {
            self.enter_avoidance(now);
        }
    }
}

impl Controller for LedbatPp {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        if ack.ce_marks > 0 && self.gate.admit(ack.sent_at, ack.now) {
            self.reduce(ack.now);
            return;
        }
        self.run_slowdown(ack.now);
        self.restored_at = self.restored_at.filter(|restored_at| ack.sent_at < *restored_at);
        if let Some(quiet_since) = self.path_fell_quiet(ack) {
            self.start_over();
            self.slowdown = Slowdown::Ramping { began: quiet_since };
        }
        if ack.round_start {
            self.begin_round();
        }
        if self.is_frozen() {
            return;
        }
        let acked = ack.delivered();
        match (self.growth, self.meter.queuing_us()) {
            (Growth::SlowStart { .. }, _) if ack.app_limited => {}
            (Growth::SlowStart { delay_exit }, _) => self.grow_exponentially(ack.now, acked, delay_exit),
            (Growth::Avoidance, Some(queuing_us)) => {
                if !ack.app_limited || u64::from(queuing_us) > self.target_us {
                    self.steer(ack.now, acked, u64::from(queuing_us));
                }
            }
            (Growth::Avoidance, None) => {}
        }
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.gate.admit(loss.sent_at, loss.now) {
            self.reduce(loss.now);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // RFC 5681 §3.1: only the first expiry sets ssthresh, or an outage would erase it.
        // At the floor of a slowdown the window to come back to is halved.
        if timeout.consecutive == 1 && self.is_frozen() {
            self.ssthresh = Bytes16(self.ssthresh.0 / 2).max(self.floor());
        } else if timeout.consecutive == 1 {
            self.ssthresh =
                Bytes16::from_bytes(timeout.flightsize.min(self.cwnd.to_bytes()) / 2).max(self.floor());
        }
        self.cwnd = Bytes16::from_bytes(self.mss);
        self.begin_round();
        self.restored_at = None;
        self.growth = Growth::SlowStart { delay_exit: false };
        self.slowdown = Slowdown::Unscheduled;
        self.gate.close(timeout.now);
        if let Some(restart) = &mut self.restart {
            restart.count_again();
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.cwnd = self.floor();
            self.meter.forget_present();
            self.start_over();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = u64::from(mss);
        self.cwnd = self.cwnd.max(self.floor());
    }

    fn on_wake(&mut self, now: Time) {
        self.run_slowdown(now);
    }

    fn cwnd(&self) -> u64 {
        self.cwnd.to_bytes()
    }

    /// A window that is restored at once is spread over a round trip, whatever the transport does otherwise.
    fn pacing_rate(&self) -> Option<u64> {
        let rtt_us = self.smoothed_rtt.as_micros().max(1);
        self.restored_at.map(|_| mul_div(self.cwnd(), 1_000_000, rtt_us).max(1))
    }

    fn in_slow_start(&self) -> bool {
        self.growth != Growth::Avoidance
    }

    fn wake_at(&self) -> Option<Time> {
        self.slowdown.wake_at()
    }

    fn snapshot(&self) -> Snapshot {
        let phase = match (self.slowdown, self.growth) {
            (Slowdown::Freezing { .. }, _) => "slowdown freeze",
            (_, Growth::SlowStart { delay_exit: true }) => "slow start",
            (Slowdown::Ramping { .. }, _) => "slowdown ramp",
            (_, Growth::SlowStart { .. }) => "slow start",
            (_, Growth::Avoidance) => "congestion avoidance",
        };
        Snapshot {
            phase,
            cwnd: self.cwnd(),
            ssthresh: (self.ssthresh != Bytes16::MAX).then(|| self.ssthresh.to_bytes()),
            base_delay: self.meter.base(),
            queuing_delay: self.meter.queuing(),
            target: Some(Span::from_micros(self.target_us)),
            gain: Some(1.0 / self.gain_divisor() as f64),
            slowdowns: Some(self.slowdowns),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
