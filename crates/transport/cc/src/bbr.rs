//! BBR version 1: send at the rate of the bottleneck, with a window of about twice what the path holds.
//!
//! # Model
//! Two measurements describe the path. The bottleneck's rate is the largest delivery rate of the last rounds. The other is the smallest
//! round-trip time of the last seconds. Their product (BDP) fills the path without a queue:
//!
//! ```text
//!   bw      = largest delivery rate of 10 rounds       not from application-limited samples, unless they are the largest
//!   min_rtt = smallest RTT of 10 s
//!   pacing  = gain · bw · 0.99                         in the first startup it never falls
//!   target  = gain · bw · min_rtt + extra + 3 quanta, rounded up to an even number of packets, + 2 packets in the phase of 1.25
//!   window  = min(window + acked, target), at least 4 packets;   before the pipe is full: + acked while below the target
//!   quantum = what 1 ms carries, at least 2 packets (1 below 1.2 Mbit/s), at most 64 kB
//! ```
//! `extra` is the room for [batches of acks](crate::ack_aggregation).
//!
//! # States
//! ```text
//!   startup ──3 rounds without 25 % more bw──▶ drain ──in flight ≤ BDP──▶ probe bandwidth ◀──┐
//!                                                                             │              │
//!                  min_rtt is 10 s old, from any state ──▶ probe RTT ──200 ms and a round────┘
//! ```
//! | state | pacing gain | window gain | until |
//! |---|---|---|---|
//! | startup | 2.885 | 2.885 | the pipe is full |
//! | drain | 1/2.885 | 2.885 | in flight ≤ target of gain 1 |
//! | probe bandwidth | 1.25, 0.75, then 6 × 1 | 2 | each about a min_rtt; begins at random, but not with 0.75 |
//! | probe RTT | 1 | 4 packets | 200 ms and a round at no more than 4 packets |
//!
//! The phase of 1.25 also lasts until that much is in flight or a packet is lost. The phase of 0.75 ends early once in flight ≤ target of
//! gain 1.
//!
//! Losses do not change the model. A recovery begins with what is in flight. Each loss takes its bytes from the window. For a round an ack
//! releases what it delivers, afterwards twice that. At its end the window of before comes back.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | gain of startup | 2.885 = 2/ln 2 | smallest that doubles the rate in each round |
//! | gain of the window | 2 | delayed and batched acks leave the link busy |
//! | rounds of bw | 10 | a cycle of 8 phases and 2 more |
//! | age of min_rtt | 10 s | pauses of applications renew it by then |
//! | duration of probe RTT | 200 ms | flows with other round-trip times meet in it; 2 % of 10 s |
//! | pacing margin | 1 % | the queue shrinks, rather than grows, by errors of measurement |
//! | least window | 4 packets | delayed acks come for two packets at a time |
//! | pipe is full | 3 rounds below 25 % more | Linux |
//!
//! # Source
//! Linux `net/ipv4/tcp_bbr.c` (6.1, read for facts); Cardwell et al., "BBR: congestion-based congestion control" (2016);
//! draft-cardwell-iccrg-bbr-congestion-control-00. The differences between stacks:
//!
//! | | here, Linux | quinn 0.11 | quiche (`gcongestion/bbr.rs`) | picoquic (`bbr1.c`) |
//! |---|---|---|---|---|
//! | window gain | 2 | 2 | 2 | 2 |
//! | order of phases | 1.25, 0.75, 6 × 1 | the same | the same | up to 6 × 1, 1.25, 0.75; fewer after growth |
//! | phase of 0.75 | at most a min_rtt | until in flight ≤ BDP | at most a min_rtt | a min_rtt and in flight ≤ target |
//! | window in probe RTT | 4 packets | 0.75 BDP | 4 packets | 4 packets |
//! | target | + 3 quanta, even | BDP, no quanta | BDP, no quanta | + 3 quanta |
//! | end of a recovery | all of before is repaired | a round without loss | a round without loss | none; halves at high loss |
//! | recovery in startup | yes | no | no | leaves startup at high loss |
//! | room for batches | yes | yes | yes | no |
//! | policers | not here; Linux yes | no | no | yes |
//! | long startup | no | no | no | HyStart above 50 ms |
//!
//! # Not implemented
//! Detection of token-bucket policers (lt_bw in Linux). Departure times ahead of now: the transport's pacer holds no packets. The handshake's
//! round-trip time counts in Linux; here only those of data do. Marks (ECN) are ignored, as in Linux: a flow with BBR v1 should not ask for
//! them. Nothing says when a recovery is over. It ends with the ack of a packet that left after the last loss of a packet of before.
//!
//! # Known bad cases
//! Buffers below a BDP: the window of two BDP overflows them, and loss-based flows lose their share while BBR does not react. Buffers of many
//! BDP: loss-based flows fill them, and BBR keeps two BDP. Random loss above about 20 % looks like a lower rate. Flows with long round-trip
//! times take more than those with short ones. Paths whose delay varies by more than min_rtt, such as Wi-Fi: the BDP is too small.

mod control;
mod phases;
mod recovery;

use crate::ack_aggregation::AckAggregation;
use crate::controller::{Controller, Directive, Needs, Pacing, RecoveryWindow, Setup, Snapshot};
use crate::delivery_rounds::{DeliveryRounds, RateSample};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::slow_start::{initial_window, INITIAL_WINDOW};
use crate::windowed_max::WindowedMax;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;
pub(crate) use recovery::Recovery;

/// Pacing gains of the phases in which bandwidth is probed.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phase of the cycle that may not be the first one.
const DRAINING: u8 = 1;
/// Fewest packets of a window outside of recovery (bbr_cwnd_min_target).
const MIN_PACKETS: f64 = 4.0;
/// Growth of the bandwidth in a round that shows that the pipe is not full, and rounds without it.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u8 = 3;
params! {
    /// Parameters.
    pub table PARAMS;

    const STARTUP_GAIN: Key<f64> = Key::number("startup_gain", "", 2.885, (1.5, 4.0))
        .explained("gain of rate and window in startup; the drain is its inverse", "Linux tcp_bbr.c");
    const CWND_GAIN: Key<f64> = Key::number("cwnd_gain", "", 2.0, (1.0, 4.0))
        .explained("window over BDP while bandwidth is probed", "Linux tcp_bbr.c");
    const BW_ROUNDS: Key<u64> = Key::count("bw_rounds", "rounds", 10, (2, 100))
        .explained("round trips for which a delivery rate counts", "Linux tcp_bbr.c");
    const MIN_RTT_AGE: Key<Span> = Key::millis("min_rtt_age", 10_000, (1000, 60_000))
        .explained("age of the smallest round-trip time at which it is measured anew", "Linux tcp_bbr.c");
    const PROBE_RTT_TIME: Key<Span> = Key::millis("probe_rtt_time", 200, (0, 1000))
        .explained("how long it stays at four packets to measure the path", "Linux tcp_bbr.c");
    const ROOM_FOR_BATCHES: Key<bool> = Key::flag("room_for_batches", true)
        .explained("widen the window by the largest batch of acks", "Linux tcp_bbr.c, bbr_extra_acked_gain");
    use INITIAL_WINDOW;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "bbr",
        summary: "sends at the bottleneck's rate, whatever is lost: BBR version 1",
        source: "Linux tcp_bbr.c, Cardwell 2016",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Foreground,
    make: |settings, setup| alloc::boxed::Box::new(Bbr::new(settings, setup)),
};

/// The settings.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    startup_gain: f64,
    cwnd_gain: f64,
    min_rtt_age: Span,
    probe_rtt_time: Span,
    room_for_batches: bool,
}

/// Where it is in the state diagram.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    ProbeBandwidth {
        /// Place in [`CYCLE`].
        phase: u8,
        began: Time,
    },
    ProbeRtt {
        /// When it may end: since the flight was small enough.
        ends: Option<Time>,
        round_done: bool,
    },
}

/// Whether the bandwidth still grows.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    baseline: f64,
    rounds: u8,
    reached: bool,
}

impl FullPipe {
    /// Takes in the bandwidth at the begin of a round.
    fn on_round(&mut self, bandwidth: f64) {
        if bandwidth >= FULL_GROWTH * self.baseline {
            (self.baseline, self.rounds) = (bandwidth, 0);
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= FULL_ROUNDS;
    }

    /// Forgets the bandwidth that further growth is compared with.
    fn restart(&mut self) {
        (self.baseline, self.rounds) = (0.0, 0);
    }
}

/// The smallest round-trip time and when it was measured.
#[derive(Clone, Copy, Debug)]
struct MinRtt {
    rtt: Span,
    at: Time,
}

/// A BBR v1 controller.
#[derive(Clone, Debug)]
pub struct Bbr {
    tuning: Tuning,
    random: u64,
    mss: f64,
    initial_window: f64,
    state: State,
    rounds: DeliveryRounds,
    bandwidth: WindowedMax,
    min_rtt: Option<MinRtt>,
    aggregation: AckAggregation,
    full: FullPipe,
    recovery: Recovery,
    cwnd: f64,
    /// The window to return to after a recovery or a probe of the round-trip time.
    prior_cwnd: f64,
    /// Bytes per second; 0: the transport paces.
    pacing_rate: f64,
    in_flight: f64,
    delivered: f64,
    latest_acked: f64,
    latest_rtt: Option<Span>,
    has_lost: bool,
    /// The application paused, and no ack has come since.
    idle_restart: bool,
}

impl Bbr {
    /// Creates a controller.
    pub fn new(settings: &Settings<'_>, setup: &Setup) -> Bbr {
        let mss = f64::from(setup.mss);
        let initial_window = initial_window(settings.get(&INITIAL_WINDOW), setup.mss) as f64;
        Bbr {
            tuning: Tuning {
                startup_gain: settings.get(&STARTUP_GAIN),
                cwnd_gain: settings.get(&CWND_GAIN),
                min_rtt_age: settings.get(&MIN_RTT_AGE),
                probe_rtt_time: settings.get(&PROBE_RTT_TIME),
                room_for_batches: settings.get(&ROOM_FOR_BATCHES),
            },
            random: setup.seed,
            mss,
            initial_window,
            state: State::Startup,
            rounds: DeliveryRounds::default(),
            bandwidth: WindowedMax::new(settings.get(&BW_ROUNDS)),
            min_rtt: None,
            aggregation: AckAggregation::default(),
            full: FullPipe::default(),
            recovery: Recovery::default(),
            cwnd: initial_window,
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            in_flight: 0.0,
            delivered: 0.0,
            latest_acked: 0.0,
            latest_rtt: None,
            has_lost: false,
            idle_restart: false,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.tuning.startup_gain,
            State::Drain => 1.0 / self.tuning.startup_gain,
            State::ProbeBandwidth { phase, .. } => CYCLE[usize::from(phase)],
            State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.tuning.startup_gain,
            State::ProbeBandwidth { .. } => self.tuning.cwnd_gain,
            State::ProbeRtt { .. } => 1.0,
        }
    }

    fn is_probing_up(&self) -> bool {
        matches!(self.state, State::ProbeBandwidth { phase: 0, .. })
    }

    fn take_rate(&mut self, sample: &RateSample) {
        if !sample.app_limited || sample.rate >= self.bandwidth.get() {
            self.bandwidth.update(self.rounds.count(), sample.rate);
        }
    }

    /// Shrinks the window to a packet: everything in flight is taken for lost.
    fn collapse(&mut self, now: Time, flightsize: u64) {
        self.save_cwnd();
        self.recovery = Recovery::after_timeout(now, flightsize);
        self.full.baseline = 0.0;
        self.in_flight = 0.0;
        self.cwnd = self.cwnd.min(self.mss);
    }
}

/// Returns a number that looks random, from one that need not (Steele et al. 2014, SplitMix64).
pub(crate) fn mixed(seed: u64) -> u64 {
    let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Controller for Bbr {
    fn needs(&self) -> Needs {
        Needs { delivery_rates: true, per_packet: false }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.in_flight = sent.in_flight as f64;
    }

    fn on_ack(&mut self, ack: &Ack) {
        let acked = ack.delivered() as f64;
        self.in_flight = ack.in_flight.saturating_sub(ack.delivered()) as f64;
        self.delivered += acked;
        self.latest_acked = acked;
        self.latest_rtt = ack.rtt.or(self.latest_rtt);
        let round_begins = self.rounds.on_ack(ack);
        let sample = self.rounds.sample(ack);
        if let Some(sample) = &sample {
            self.take_rate(sample);
        }
        self.aggregation.on_ack(ack.now, acked, self.bandwidth.get(), self.cwnd, self.rounds.count());
        self.advance_phase(ack);
        if round_begins && !self.full.reached && sample.is_some_and(|sample| !sample.app_limited) {
            self.full.on_round(self.bandwidth.get());
        }
        self.leave_startup(ack.now);
        self.update_min_rtt(ack, round_begins);
        if self.recovery.on_ack(ack, round_begins) {
            self.restore_cwnd();
        }
        self.set_pacing_rate(self.pacing_gain(), ack.smoothed_rtt);
        self.set_cwnd(acked);
        self.has_lost = false;
    }

    fn on_loss(&mut self, loss: &Loss) {
        let lost = loss.sent.bytes as f64;
        self.has_lost = true;
        self.in_flight = (self.in_flight - lost).max(0.0);
        if self.recovery.is_on() {
            self.recovery.extend(loss);
            self.cwnd = (self.cwnd - lost).max(self.mss);
        } else {
            self.save_cwnd();
            self.recovery = Recovery::after_loss(loss.now);
            self.rounds.begin(loss.now);
            self.cwnd = self.cwnd.min((self.in_flight + self.latest_acked).max(self.mss));
        }
        if loss.persistent {
            self.collapse(loss.now, loss.flightsize);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if !self.recovery.is_needless(spurious) {
            return;
        }
        self.full.restart();
        self.recovery = Recovery::default();
        self.restore_cwnd();
        self.limit_cwnd();
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.collapse(timeout.now, timeout.flightsize);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.idle_restart = true;
        self.aggregation.restart(idle.now);
        match self.state {
            State::ProbeBandwidth { .. } => self.set_pacing_rate(1.0, None),
            State::ProbeRtt { .. } => self.end_probe_rtt(idle.now),
            State::Startup | State::Drain => {}
        }
        self.limit_cwnd();
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = f64::from(mss);
        self.cwnd = self.cwnd.max(self.mss);
    }

    fn directive(&self) -> Directive {
        let pacing = match self.pacing_rate > 0.0 {
            true => Pacing::Rate((self.pacing_rate as u64).max(1)),
            false => Pacing::GrowingWindow,
        };
        Directive {
            pacing,
            send_quantum: if self.pacing_rate > 0.0 { self.quantum() as u64 } else { 0 },
            recovery: RecoveryWindow::Controller,
            ..Directive::window(self.cwnd as u64)
        }
    }

    fn snapshot(&self) -> Snapshot {
        let base = self.min_rtt.map(|min| min.rtt);
        Snapshot {
            phase: self.phase_name(),
            cwnd: self.cwnd as u64,
            base_delay: base,
            queuing_delay: self.latest_rtt.zip(base).map(|(rtt, base)| rtt.saturating_sub(base)),
            extra: [
                Some(("bandwidth_bit_s", 8.0 * self.bandwidth.get())),
                Some(("pacing_gain", self.pacing_gain())),
                Some(("bdp", self.bdp(1.0))),
                None,
            ],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
