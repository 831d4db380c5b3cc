//! PCC Proteus: try rates, ask what they brought about, and go where the utility is larger.
//!
//! # Model
//! Time is divided into [monitor intervals](crate::monitor_intervals) of about a round trip. The packets of one leave at one rate. Once all of
//! them have arrived or are lost, the interval has a utility:
//!
//! ```text
//!   u = x^0.9 − x · (900 · max(0, dRTT/dt) + 11.35 · L + d · σ(RTT))
//!
//!   x: rate at which packets left, Mbit/s      dRTT/dt: growth of the round-trip time, s/s
//!   L: part of the packets that was lost       σ(RTT): standard deviation of the round-trip time, s
//!   d = 0 for Proteus-P (primary), 1500 for Proteus-S (scavenger)
//! ```
//! Alone, a flow of either kind fills the link: more is worth more until the queue grows. Another flow's queue comes and goes, and the
//! round-trip time deviates. To Proteus-S that makes each Mbit/s a loss, so that it yields.
//!
//! Changes of the round-trip time that are noise cost nothing. `proteus/tolerance.rs` has the rules: a line through the samples must be
//! clear, or the trend of six intervals unusual, or the deviation; [bursts of acks](crate::ack_gaps) do not count at all.
//!
//! # States
//! ```text
//!   starting ──the utility does not grow: half the rate──▶ probing ◀──the utility does not follow── moving
//!      ▲                                                   │  │                                      ▲
//!      └────at the least rate, twice without a result──────┘  └──────────enough pairs agree──────────┘
//! ```
//! | state | rates | next |
//! |---|---|---|
//! | starting | one, twice the one before | growth of less than 1 ms in an interval and deviations cost nothing |
//! | probing | pairs of 5 % more and 5 % less, in random order | P: 2 of 3 pairs lead upwards, or 3 downwards. S: both of 2 pairs agree |
//! | moving | one | the change grows with each step in the same direction |
//!
//! ```text
//!   change = slope of u over the rate · 1 Mbit/s · ⌊(steps + 1) / 2⌋^1.2
//!   bound  = 5 % of the rate, and 5 % more for each change in a row that exceeds it
//!   at least 500 kbit/s or 2.5 % of the rate, whichever is less
//!   a step that fails: back to the rate before it
//! ```
//! Until the results are there, packets leave at the rate in the middle. An interval that the application limited leads downwards only.
//!
//! The window is a cap: twice the rate times the smoothed round-trip time, and 4 packets. After a timeout it is one packet until an ack
//! comes.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | exponent 0.9, loss 11.35 | | up to 100 Mbit/s, more is worth more at a random loss of 5 % |
//! | gradient 900 | | 1 % too much outweighs every rate |
//! | deviation 1500 | | a millisecond of deviation outweighs each rate above 10 kbit/s |
//! | least rate | 500 kbit/s | PCC-Uspace; below it, an interval of 4 samples takes long |
//! | pairs | 3 (P), 2 (S) | PCC-Uspace |
//! | window | 2 rates × round-trip times | ours: what is in flight if acks stop |
//!
//! # Source
//! PCC-Uspace, `src/pcc` (read for facts), the code of Meng et al., "PCC Proteus: Scavenger Transport And Beyond" (SIGCOMM 2020), of Dong et
//! al., "PCC Vivace" (NSDI 2018), and of their "PCC" (NSDI 2015). The papers themselves were not at hand. Differences from that code:
//!
//! | | here | PCC-Uspace |
//! |---|---|---|
//! | line | over the times at which packets left | over packet numbers, divided by the spacing |
//! | error of the line | of that line | of a line whose slope is in another unit |
//! | least change | 500 kbit/s, at most 2.5 % of the rate | 500 kbit/s, a quarter of a rate of 2 Mbit/s |
//! | a step that fails | back to the rate before it, as PCC of 2015 | back by 5–10 %, so that noise lowers the rate |
//! | a megabit | 10^6 bits | 2^20 bits for changes, 10^6 in utilities |
//! | timeout | half the rate | nothing |
//! | idle for a retransmission timeout | starts again | nothing |
//! | application-limited | no increase | as any other interval |
//!
//! # Not implemented
//! Proteus-H, the hybrid that is primary below a rate and scavenger above it. Marks (ECN) are ignored. A timeout that was needless keeps its
//! reduction.
//!
//! # Known bad cases
//! A standing queue has no gradient and no deviation: a flow that begins on one leaves it there, and Proteus-S sees nothing to yield
//! to. Links below about 2 Mbit/s: the least rate is a quarter of them and more. Random loss near 5 %: an interval of n packets measures
//! it with an error of 22 % / √n, which hides the slope. On a long path the rate needs minutes to grow. Buffers that loss-based flows
//! fill: Proteus-P yields to them as Proteus-S does. Short flows: starting doubles every other round trip.

mod rate_control;
mod tolerance;
mod utility;

use crate::ack_gaps::AckGaps;
use crate::controller::{Controller, Directive, Needs, Pacing, RecoveryWindow, Setup, Snapshot};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Delivered, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::monitor_intervals::{MonitorIntervals, Report, MOST_INTERVALS};
use crate::slow_start::{initial_window, INITIAL_WINDOW, MAX_WINDOW};
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::Span;
#[cfg(feature = "alloc")]
use afteryou_base::About;
pub use rate_control::Direction;
use rate_control::{Limits, Mode, RateControl, Trial};
use tolerance::Tolerance;
use utility::Weights;

/// A Mbit/s in bytes per second.
const MBIT_S: f64 = 125_000.0;
/// Window in products of the rate and the smoothed round-trip time, and the packets on top: acks may wait for a second packet.
const WINDOW_GAIN: f64 = 2.0;
const WINDOW_PACKETS: f64 = 4.0;
/// Growth of the round-trip time in an interval that starting tolerates, s.
const TOLERATED_IN_STARTING: f64 = 1e-3;

/// The parameter `gradient_penalty`.
const GRADIENT_PENALTY: Key<f64> = Key::number("gradient_penalty", "", 900.0, (0.0, 10_000.0))
    .explained("weight of the growth of the round-trip time, s/s", "PCC-Uspace");
/// The parameter `loss_penalty`.
const LOSS_PENALTY: Key<f64> = Key::number("loss_penalty", "", 11.35, (0.0, 1000.0))
    .explained("weight of the part that is lost; 11.35 tolerates 5 %", "PCC-Uspace");
/// The parameter `deviation_penalty`.
const DEVIATION_PENALTY: Key<f64> = Key::number("deviation_penalty", "", 1500.0, (0.0, 100_000.0))
    .explained("weight of the deviation of the round-trip time, 1/s; what makes it yield", "PCC-Uspace");
/// The parameter `pairs`.
const PAIRS: Key<u64> = Key::count("pairs", "pairs", 2, (1, MOST_INTERVALS as u64 / 2))
    .explained("pairs of rates that are compared before the rate moves", "PCC-Uspace");
/// The parameter `min_rate`.
const MIN_RATE: Key<u64> =
    Key::count("min_rate", "kbit/s", 500, (8, 100_000)).explained("least rate", "PCC-Uspace");

/// Parameters of Proteus-S.
pub mod scavenger {
    use super::*;

    params! {
        /// Parameters.
        pub table PARAMS;

        use DEVIATION_PENALTY, GRADIENT_PENALTY, LOSS_PENALTY, PAIRS, MIN_RATE, INITIAL_WINDOW;
    }
}

/// Parameters of Proteus-P: the same, with other defaults.
pub mod primary {
    use super::*;

    params! {
        /// Parameters.
        pub table PARAMS;

        const NO_DEVIATION_PENALTY: Key<f64> = DEVIATION_PENALTY.with_default(0.0);
        use GRADIENT_PENALTY, LOSS_PENALTY;
        const THREE_PAIRS: Key<u64> = PAIRS.with_default(3);
        use MIN_RATE, INITIAL_WINDOW;
    }
}

/// The list's line of the scavenger.
#[cfg(feature = "alloc")]
pub const SCAVENGER: Entry = Entry {
    about: About {
        name: "proteus-s",
        summary: "learns its rate and yields when the delay deviates: PCC Proteus' scavenger",
        source: "Meng 2020, PCC-Uspace",
        params: scavenger::PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Proteus::new(settings, setup, Direction::Down)),
};

/// The list's line of the primary.
#[cfg(feature = "alloc")]
pub const PRIMARY: Entry = Entry {
    about: About {
        name: "proteus-p",
        summary: "learns its rate from loss and from growing delays: PCC Proteus' primary",
        source: "Meng 2020, PCC-Uspace",
        params: primary::PARAMS,
        presets: &[],
    },
    class: Class::Foreground,
    make: |settings, setup| alloc::boxed::Box::new(Proteus::new(settings, setup, Direction::Up)),
};

/// A Proteus controller.
#[derive(Clone, Debug)]
pub struct Proteus {
    weights: Weights,
    mss: f64,
    initial_window: f64,
    rates: RateControl,
    intervals: MonitorIntervals,
    /// Intervals of the plan that have begun.
    begun: usize,
    gaps: AckGaps,
    tolerance: Tolerance,
    smoothed_rtt: Option<Span>,
    min_rtt: Span,
    /// A timeout has expired, and no ack has come since.
    is_silent: bool,
}

impl Proteus {
    /// Creates a controller that goes in the direction `favours` by a majority of pairs, and in the other one if all pairs agree.
    pub fn new(settings: &Settings<'_>, setup: &Setup, favours: Direction) -> Proteus {
        let limits = Limits {
            pairs: settings.get(&PAIRS) as usize,
            favours,
            least: settings.get(&MIN_RATE) as f64 / 1e3,
        };
        Proteus {
            weights: Weights {
                gradient: settings.get(&GRADIENT_PENALTY),
                loss: settings.get(&LOSS_PENALTY),
                deviation: settings.get(&DEVIATION_PENALTY),
            },
            mss: f64::from(setup.mss),
            initial_window: initial_window(settings.get(&INITIAL_WINDOW), setup.mss) as f64,
            rates: RateControl::new(limits, setup.seed),
            intervals: MonitorIntervals::default(),
            begun: 0,
            gaps: AckGaps::default(),
            tolerance: Tolerance::default(),
            smoothed_rtt: None,
            min_rtt: Span(u64::MAX),
            is_silent: false,
        }
    }

    /// Returns the rate at which packets leave now, bytes per second; none before a round-trip time is known.
    fn pacing_rate(&self) -> Option<f64> {
        self.smoothed_rtt?;
        Some(self.intervals.open_rate().unwrap_or(self.rates.rate() * MBIT_S))
    }

    fn cwnd(&self) -> f64 {
        if self.is_silent {
            return self.mss;
        }
        let window = match (self.pacing_rate(), self.smoothed_rtt) {
            (Some(rate), Some(rtt)) => WINDOW_GAIN * rate * rtt.as_secs_f64() + WINDOW_PACKETS * self.mss,
            _ => self.initial_window,
        };
        window.clamp(self.mss, MAX_WINDOW)
    }

    /// Returns the rate that sends the initial window in a round trip, Mbit/s.
    fn initial_rate(&self, rtt: Span) -> f64 {
        self.initial_window / rtt.as_secs_f64().max(1e-6) / MBIT_S
    }

    fn take_rtt(&mut self, ack: &Ack) {
        let Some(smoothed) = ack.smoothed_rtt else { return };
        if self.smoothed_rtt.replace(smoothed).is_none() {
            self.rates.start(self.initial_rate(smoothed));
        }
        self.min_rtt = ack.min_rtt.or(ack.rtt).unwrap_or(self.min_rtt).min(self.min_rtt);
        if let Some(rtt) = ack.rtt {
            let counts = self.gaps.admit(ack.now, rtt, smoothed) && !ack.may_have_waited;
            self.intervals.on_rtt(ack.sent_at, rtt, counts);
        }
        self.intervals.expire(ack.sent_at, smoothed);
    }

    /// Forgets the intervals and tries the plan from its begin.
    fn try_again(&mut self) {
        self.intervals.clear();
        self.begun = 0;
    }

    /// Decides on the next rates once the results of the whole plan are known.
    fn decide(&mut self) {
        let planned = self.rates.plan().len();
        if planned == 0 || self.begun < planned || !self.intervals.are_known(planned) {
            return;
        }
        let mut trials = [Trial::default(); MOST_INTERVALS];
        let is_starting = self.rates.mode() == Mode::Starting;
        for (trial, report) in trials.iter_mut().zip(self.intervals.reports()) {
            let utility = utility(&self.weights, &mut self.tolerance, &report, is_starting);
            *trial = Trial { mbit_s: report.asked / MBIT_S, utility, app_limited: report.app_limited };
        }
        self.rates.decide(&trials[..planned]);
        self.try_again();
    }

    fn phase_name(&self) -> &'static str {
        match self.rates.mode() {
            Mode::Starting => "slow start", // the word for every rule's exponential phase
            Mode::Probing { .. } => "probing",
            Mode::Moving { to: Direction::Up, .. } => "moving up",
            Mode::Moving { to: Direction::Down, .. } => "moving down",
        }
    }
}

/// Returns the utility of an interval.
fn utility(weights: &Weights, tolerance: &mut Tolerance, report: &Report, is_starting: bool) -> f64 {
    let mut outcome = tolerance.judge(report);
    if is_starting {
        outcome.deviation = 0.0;
        if outcome.gradient * report.duration < TOLERATED_IN_STARTING {
            outcome.gradient = 0.0;
        }
    }
    weights.utility(&outcome)
}

impl Controller for Proteus {
    fn needs(&self) -> Needs {
        Needs { delivery_rates: false, per_packet: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        let Some(smoothed) = self.smoothed_rtt else { return };
        self.decide();
        self.intervals.end_if_due(sent.now, self.min_rtt.min(smoothed), smoothed);
        if self.intervals.open_rate().is_none() {
            if let Some(rate) = self.rates.plan().get(self.begun) {
                self.intervals.begin(rate * MBIT_S);
                self.begun += 1;
            }
        }
        self.intervals.on_sent(sent);
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        self.intervals.on_delivered(&delivered.sent);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.is_silent = false;
        self.take_rtt(ack);
        self.decide();
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.intervals.on_loss(&loss.sent);
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.intervals.on_spurious_loss(&spurious.sent);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.consecutive <= 1 {
            self.rates.halve();
        }
        self.is_silent = true;
        self.try_again();
    }

    fn on_idle(&mut self, idle: &Idle) {
        if let Some(smoothed) = self.smoothed_rtt.filter(|_| idle.idle_for > idle.rto) {
            self.rates.start(self.initial_rate(smoothed).min(self.rates.rate()));
        }
        self.try_again();
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = f64::from(mss);
    }

    fn directive(&self) -> Directive {
        let pacing =
            self.pacing_rate().map_or(Pacing::GrowingWindow, |rate| Pacing::Rate((rate as u64).max(1)));
        Directive { pacing, recovery: RecoveryWindow::Controller, ..Directive::window(self.cwnd() as u64) }
    }

    fn snapshot(&self) -> Snapshot {
        let rate = self.pacing_rate().map(|rate| ("rate", 8.0 * rate));
        Snapshot {
            phase: self.phase_name(),
            cwnd: self.cwnd() as u64,
            base_delay: Some(self.min_rtt).filter(|rtt| rtt.0 < u64::MAX),
            extra: [rate, Some(("utility", self.rates.latest_utility())), None, None],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
