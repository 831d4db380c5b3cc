//! TCP-LP: NewReno that halves at the first sign of a queue, and falls to one packet at the second.
//!
//! # Model
//! The smallest and the largest one-way delay represent the empty and the full queue. A smoothed delay above 15 % of
//! this range is an early congestion indication (ECI). The first one halves the window and starts an inference phase of
//! three round trips in which it does not grow. A second one within that phase reduces the window to one packet:
//!
//! ```text
//!   smoothed > min + 0.15 · (max − min):  ECI, at most once a round trip
//!       in the inference phase: cwnd = 1          else: cwnd /= 2        and the phase begins anew
//! ```
//!
//! # States
//! ```text
//!   initial slow start ──loss, or 3 RTT without growth──▶ as NewReno ──ECI: halve──▶ inference: no growth
//!                                                             ▲                        │  ▲      │
//!                                                             └──3 RTT without ECI─────┘  └──────┘ ECI: one packet
//! ```
//! Losses and timeouts are NewReno's. The initial slow start learns the range of delays: there is no ECI in it.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | threshold | 0.15 of the delay's range | Linux, ns-3 |
//! | weight of a sample | 1/8 | Linux, ns-3 |
//! | inference | 3 RTT | Linux, ns-3 |
//! | noise | 5 ms, 4 packets | ours: where the range is small, 15 % of it are one's own packets ([`crate::noise`]) |
//! | floor | 1 packet | |
//! | largest delay | the second largest seen, until there are more | one freak sample shall not stretch the range |
//!
//! # Source
//! Kuzmanovic and Knightly, "TCP-LP: low-priority service via end-point congestion control" (2003, 2006), by way of RFC
//! 6297 §2.3; Linux `net/ipv4/tcp_lp.c` and ns-3 `tcp-lp.cc` (read for facts). Default is the paper's memory, a
//! connection's lifetime, with one reaction a round trip. `memory = linux` learns the range anew after each ECI, which
//! then spans as much as the delay itself. It has no such gate: a second ECI may follow with the next ack. Linux
//! doubles the absolute delay, in which the clocks' offset is; here half the smallest round-trip time represents the
//! path.
//!
//! Four things are ours. The paper's flow has a range from its first loss on, Linux' from its first sample on. Here it
//! is also used once a receive window or the application has limited the window for three round trips: such a flow may
//! never have a loss. The other three prevent minutes at one packet on lossy or short paths. Delays that may include a
//! delayed ack can lower the smoothed delay but not raise it, and cause no reaction (see [`crate::ack_habit`]). Neither
//! does a newest delay below the threshold: with few packets in a round trip the smoothed delay still includes a queue
//! that is long gone. And a queue below `noise` does not count.
//!
//! # Not implemented
//! The estimate of the receiver's timestamp unit: the signal comes in µs. Its skew is corrected, see [`crate::clock_drift`].
//!
//! # Known bad cases
//! Its initial slow start fills the buffer, as NewReno's does, and a flow that is too short to fill it never yields. It
//! reacts to 15 % of the largest queue so far, which is late if that was large. If an AQM keeps the queue below that,
//! it does not yield at all. `memory = linux` yields there. A longer route looks like a queue indefinitely.

use crate::ack_habit::AckHabit;
use crate::base_delay::difference;
use crate::clock_drift::{ClockDrift, Gain};
use crate::controller::{Controller, Directive, Snapshot};
use crate::delay_signal::{DelaySignal, SIGNAL};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::newreno::NewReno;
use crate::noise::{Noise, NOISE, NOISE_PACKETS};
use crate::slow_start::{HYSTART, INITIAL_WINDOW};
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;

/// The smoothed delay moves by one over this of the way to a sample.
const WEIGHT: i64 = 8;

params! {
    /// Parameters.
    pub table PARAMS;

    const THRESHOLD: Key<f64> = Key::number("threshold", "of range", 0.15, (0.01, 0.9))
        .explained("smoothed delay between smallest and largest that indicates congestion", "Linux tcp_lp.c");
    use NOISE, NOISE_PACKETS;
    const INFERENCE: Key<u64> = Key::count("inference", "RTT", 3, (1, 100))
        .explained("round trips without growth after an indication", "Linux tcp_lp.c");
    const LEARNS_ANEW: Key<bool> = Key::choice("memory", &["lifetime", "linux"], &[false, true])
        .explained(
            "what the range of delays remembers: everything, or only since the last indication",
            "RFC 6297 §2.3",
        );
    use SIGNAL, INITIAL_WINDOW, HYSTART;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "tcp-lp",
        summary: "NewReno that halves at the first sign of a queue and leaves at the second",
        source: "Kuzmanovic 2003, Linux tcp_lp.c",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(TcpLp::new(settings, setup.mss)),
};

/// The delays that a flow has seen, µs, counted from its first sample: the clocks' offset does not matter.
#[derive(Clone, Copy, Debug)]
struct Delays {
    /// The newest sample as it came, and as it is counted.
    raw: u32,
    newest: i64,
    min: i64,
    min_at: Time,
    max: i64,
    /// The largest; the range ends at the one before.
    reserve: i64,
    max_at: Time,
    /// Eight times the smoothed delay.
    smoothed8: i64,
}

impl Delays {
    fn first(now: Time, raw: u32) -> Delays {
        Delays { raw, newest: 0, min: 0, min_at: now, max: 0, reserve: 0, max_at: now, smoothed8: 0 }
    }

    /// Takes in a sample.
    fn update(&mut self, now: Time, raw: u32) {
        let sample = self.counted(raw);
        (self.raw, self.newest) = (raw, sample);
        if sample < self.min {
            (self.min, self.min_at) = (sample, now);
        }
        if sample > self.reserve {
            (self.max, self.reserve, self.max_at) = (self.reserve, sample, now);
        } else if sample > self.max {
            (self.max, self.max_at) = (sample, now);
        }
        self.smoothed8 = self.smoothed8.saturating_add(sample - self.smoothed8 / WEIGHT);
    }

    /// Returns whether the sample is above the smoothed delay.
    fn would_rise(&self, raw: u32) -> bool {
        self.counted(raw) > self.smoothed()
    }

    fn counted(&self, raw: u32) -> i64 {
        self.newest.saturating_add(i64::from(difference(raw, self.raw)))
    }

    /// Corrects the range: the receiver's clock has gained `change` more than was thought since the range was seen.
    fn carry(&mut self, now: Time, change: Gain) {
        let [min_us, max_us] = [self.min_at, self.max_at].map(|at| change.over(now.since(at)));
        self.min = self.min.saturating_add(min_us);
        self.max = self.max.saturating_add(max_us);
        self.reserve = self.reserve.saturating_add(max_us);
    }

    fn smoothed(&self) -> i64 {
        self.smoothed8 / WEIGHT
    }

    /// Starts the range anew at the smoothed delay; `path_us` is the part of the delay that is no queue.
    fn learn_anew(&mut self, now: Time, path_us: i64) {
        let delay = self.smoothed().saturating_sub(self.min).saturating_add(path_us);
        self.min = self.smoothed();
        self.max = self.min.saturating_add(delay);
        self.reserve = self.max;
        (self.min_at, self.max_at) = (now, now);
    }
}

/// A TCP-LP controller.
#[derive(Clone, Debug)]
pub struct TcpLp {
    threshold: f64,
    noise: Noise,
    inference_rtts: u64,
    learns_anew: bool,
    signal: DelaySignal,
    clock: ClockDrift,
    mss: u32,
    reno: NewReno,
    habit: AckHabit,
    delays: Option<Delays>,
    min_rtt: Option<Span>,
    /// Window at the start of the round, and rounds in a row that it has not grown in.
    round_cwnd: f64,
    still_rounds: u64,
    /// The latest indication.
    indicated_at: Option<Time>,
    /// The latest indication or loss.
    reacted_at: Option<Time>,
}

impl TcpLp {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> TcpLp {
        TcpLp {
            threshold: settings.get(&THRESHOLD),
            noise: Noise::new(settings),
            inference_rtts: settings.get(&INFERENCE),
            learns_anew: settings.get(&LEARNS_ANEW),
            signal: settings.get(&SIGNAL),
            clock: ClockDrift::default(),
            mss,
            reno: NewReno::new(settings, mss),
            habit: AckHabit::default(),
            delays: None,
            min_rtt: None,
            round_cwnd: 0.0,
            still_rounds: 0,
            indicated_at: None,
            reacted_at: None,
        }
    }

    /// Takes in the ack's delay; false if it is no occasion to react. An ack of what was sent twice is ambiguous: over TCP
    /// it echoes an old timestamp.
    fn measure(&mut self, ack: &Ack) -> bool {
        if let Some(rtt) = ack.rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        let (one_way_us, change) = self.clock.correct(ack);
        let (sample, forget) = self.signal.sample(ack, one_way_us);
        if forget {
            self.delays = None;
        }
        if let (Some(delays), Some(change), false) = (&mut self.delays, change, self.signal.is_rtt()) {
            delays.carry(ack.now, change);
        }
        let may_have_waited = self.habit.may_have_waited(ack, self.mss);
        let (Some(raw), Some(_)) = (sample, ack.rtt) else { return false };
        match &mut self.delays {
            Some(delays) if may_have_waited && delays.would_rise(raw) => {}
            Some(delays) => delays.update(ack.now, raw),
            None => self.delays = Some(Delays::first(ack.now, raw)),
        }
        !may_have_waited
    }

    /// Returns whether the smoothed and the newest delay are beyond their share of the range.
    fn is_queue_building(&self) -> bool {
        self.delays.is_some_and(|delays| {
            let range = delays.max.saturating_sub(delays.min) as f64;
            let excess = (self.threshold * range).max(self.noise.us(range));
            delays.smoothed().min(delays.newest) as f64 > delays.min as f64 + excess
        })
    }

    fn is_inferring(&self, now: Time, rtt: Span) -> bool {
        self.indicated_at.is_some_and(|at| now.since(at) < rtt * self.inference_rtts)
    }

    /// Counts the rounds in which the window does not grow.
    fn note_round(&mut self) {
        let cwnd = self.reno.window.cwnd;
        self.still_rounds = if cwnd > self.round_cwnd { 0 } else { self.still_rounds + 1 };
        self.round_cwnd = cwnd;
    }

    /// Returns whether the range is learnt, which happens in the initial slow start: before it ends, "15 % of the way" means
    /// nothing. It ends with a loss, or where something else keeps the window from growing: such a flow may never see a
    /// loss.
    fn knows_range(&self) -> bool {
        let is_limited = self.still_rounds >= self.inference_rtts;
        self.learns_anew || is_limited || self.reno.window.ssthresh.is_finite()
    }

    /// Returns whether a reaction is allowed. There is at most one in a round trip, so that it takes two to get down to one
    /// packet (RFC 6297 §2.3).
    fn may_react(&self, now: Time, rtt: Span) -> bool {
        self.learns_anew || self.reacted_at.is_none_or(|at| now.since(at) >= rtt)
    }

    /// Reacts to an early congestion indication.
    fn react(&mut self, now: Time, inferring: bool) {
        let packet = f64::from(self.mss);
        let cwnd = if inferring { packet } else { (self.reno.window.cwnd / 2.0).max(packet) };
        self.reno.shrink_to(cwnd.min(self.reno.window.cwnd));
        // Linux and ns-3 leave ssthresh alone and slow-start back to it; half is what a loss would leave.
        self.reno.window.ssthresh = self.reno.window.cwnd.max(2.0 * packet);
        self.indicated_at = Some(now);
        self.reacted_at = Some(now);
        let path_us = self.min_rtt.map_or(0, |rtt| (rtt.as_micros() / 2).min(1 << 32) as i64);
        if let (true, Some(delays)) = (self.learns_anew, &mut self.delays) {
            delays.learn_anew(now, path_us);
        }
    }
}

impl Controller for TcpLp {
    fn on_ack(&mut self, ack: &Ack) {
        self.noise.on_ack(ack, self.mss);
        let may_react = self.measure(ack);
        if ack.round_start {
            self.note_round();
        }
        if !self.reno.may_grow(ack) {
            return;
        }
        let rtt = ack.rtt.or(ack.smoothed_rtt).unwrap_or_default();
        let inferring = self.is_inferring(ack.now, rtt);
        if may_react && self.knows_range() && self.is_queue_building() && self.may_react(ack.now, rtt) {
            self.react(ack.now, inferring);
        } else if !inferring {
            self.reno.grow(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.noise.on_loss();
        let before = self.reno.window.cwnd;
        self.reno.on_loss(loss);
        if self.reno.window.cwnd < before {
            self.reacted_at = Some(loss.now);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.reno.on_spurious_loss(spurious);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.reno.on_timeout(timeout);
        self.reacted_at = Some(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.noise.on_idle();
        self.reno.on_idle(idle);
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.reno.on_mtu(mss);
    }

    fn directive(&self) -> Directive {
        self.reno.directive()
    }

    fn snapshot(&self) -> Snapshot {
        let above_min = |us: i64, min: i64| Span::from_micros(us.saturating_sub(min).max(0) as u64);
        let range = self.delays.map(|delays| above_min(delays.max, delays.min).as_millis_f64());
        Snapshot {
            queuing_delay: self.delays.map(|delays| above_min(delays.smoothed(), delays.min)),
            extra: [range.map(|ms| ("delay_range_ms", ms)), None, None, None],
            ..self.reno.snapshot()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::param::Value;

    const MSS: u32 = 1000;
    const BASE_RTT: Span = Span::from_millis(100);

    /// Returns a controller with a window of 20 packets in congestion avoidance, delays from 20 to 120 ms, smoothed
    /// `smoothed_ms`.
    fn lp(memory: &'static str, smoothed_ms: i64) -> TcpLp {
        let overrides = [("memory", Value::Choice(memory))];
        let mut lp = TcpLp::new(&Settings::new(PARAMS, &overrides).unwrap(), MSS);
        lp.habit = AckHabit::every_packet();
        lp.signal = DelaySignal::OneWay;
        lp.min_rtt = Some(BASE_RTT);
        (lp.reno.window.cwnd, lp.reno.window.ssthresh) = (20_000.0, 20_000.0);
        let smoothed = smoothed_ms * 1000;
        lp.delays = Some(Delays {
            raw: smoothed as u32,
            newest: smoothed,
            min: 20_000,
            min_at: Time::ZERO,
            max: 120_000,
            reserve: 120_000,
            max_at: Time::ZERO,
            smoothed8: 8 * smoothed,
        });
        lp
    }

    fn ack(ms: u64, delay_ms: u32) -> Ack {
        let rtt = Some(BASE_RTT + Span::from_millis(u64::from(delay_ms)));
        Ack {
            now: Time::from_millis(ms),
            newly_acked: 1000,
            one_way_delay: Some(delay_ms * 1000),
            rtt,
            ..Ack::for_tests()
        }
    }

    /// Returns the windows in packets after acks with a delay of 36 ms, round-trip times of 136 ms, at `times_ms`.
    fn windows<const N: usize>(memory: &'static str, times_ms: [u64; N]) -> [f64; N] {
        let mut lp = lp(memory, 36);
        times_ms.map(|ms| {
            lp.on_ack(&ack(ms, 36));
            lp.reno.window.cwnd / 1000.0
        })
    }

    #[test]
    fn the_threshold_itself_is_no_indication() {
        let mut lp = lp("lifetime", 30);
        lp.on_ack(&ack(1000, 70));
        assert_eq!(lp.delays.unwrap().smoothed(), 35_000);
        assert!(!lp.is_queue_building() && lp.directive().cwnd > 20_000);
    }

    #[test]
    fn the_first_indication_halves_and_the_second_leaves_one_packet() {
        assert_eq!(windows("lifetime", [1000, 1135]), [10.0, 10.0], "once in a round trip");
        assert_eq!(windows("lifetime", [1000, 1136]), [10.0, 1.0]);
        assert_eq!(windows("lifetime", [1000, 1407]), [10.0, 1.0]);
        assert_eq!(windows("lifetime", [1000, 1408]), [10.0, 5.0], "the inference phase is over");
    }

    #[test]
    fn linux_has_no_gate_but_learns_the_range_anew() {
        let mut lp = lp("linux", 36);
        lp.on_ack(&ack(1000, 36));
        // Half of 100 ms and 16 ms of queue: the range is 66 ms from 36 ms on, a queue of 10 ms more is congestion again.
        let delays = lp.delays.unwrap();
        assert_eq!((lp.directive().cwnd, delays.min, delays.max), (10_000, 36_000, 102_000));
        lp.delays = Some(Delays { smoothed8: 8 * 47_000, ..delays });
        lp.on_ack(&ack(1010, 47));
        assert_eq!(lp.directive().cwnd, 1000);
    }

    #[test]
    fn the_largest_delay_counts_only_once_it_is_confirmed() {
        let mut delays = Delays::first(Time::ZERO, 100);
        let mut seen = vec![(delays.max, delays.reserve)];
        for sample in [200, 150, 250, 120] {
            delays.update(Time::ZERO, sample);
            seen.push((delays.max, delays.reserve));
        }
        let absolute: Vec<_> = seen.iter().map(|(max, reserve)| (max + 100, reserve + 100)).collect();
        assert_eq!(absolute, [(100, 100), (100, 200), (150, 200), (200, 250), (200, 250)]);
    }

    #[test]
    fn the_threshold_lies_15_percent_into_the_range() {
        for (smoothed_us, building) in [(35_000, false), (35_001, true)] {
            let mut lp = lp("lifetime", 40);
            lp.delays = lp.delays.map(|delays| Delays { smoothed8: 8 * smoothed_us, ..delays });
            assert_eq!(lp.is_queue_building(), building);
        }
    }

    #[test]
    fn it_does_not_grow_while_inferring() {
        let mut lp = lp("lifetime", 36);
        lp.on_ack(&ack(1000, 36));
        lp.delays = lp.delays.map(|delays| Delays { smoothed8: 8 * 20_000, ..delays });
        (0..10).for_each(|i| lp.on_ack(&ack(1010 + 30 * i, 20)));
        assert_eq!(lp.directive().cwnd, 10_000);
        lp.on_ack(&ack(1360, 20));
        assert!(lp.directive().cwnd > 10_000);
    }

    #[test]
    fn a_delayed_ack_is_no_queue() {
        let mut lp = lp("lifetime", 30);
        let alone = |ms, delay_ms| Ack { flightsize: 1000, ..ack(ms, delay_ms) };
        (0..100).for_each(|i| lp.on_ack(&alone(1000 + 50 * i, 90)));
        assert_eq!(lp.delays.unwrap().smoothed(), 30_000);
        lp.on_ack(&alone(9000, 22));
        assert_eq!(lp.delays.unwrap().smoothed(), 29_000, "a lower one counts");
        lp.on_ack(&Ack { newly_acked: 2000, ..ack(9000, 90) });
        assert_eq!(lp.delays.unwrap().smoothed(), 36_625, "so does that of two packets");
    }

    #[test]
    fn a_queue_that_has_just_gone_is_no_occasion_to_react() {
        let mut lp = lp("lifetime", 60);
        lp.on_ack(&ack(1000, 34));
        assert!(lp.delays.unwrap().smoothed() > 50_000 && lp.directive().cwnd >= 20_000);
        lp.on_ack(&ack(1001, 36));
        assert!(lp.directive().cwnd < 11_000, "a queue that is still there is");
    }

    #[test]
    fn a_far_clock_that_gains_is_no_queue() {
        for ppm in [-200, 200] {
            let mut lp = lp("lifetime", 20);
            for second in 0..600i32 {
                let gained_us = ppm * second;
                let now = Time::from_millis(1000 * second as u64);
                let one_way_delay = Some((20_000 + gained_us) as u32);
                let reverse_delay = Some((20_000 - gained_us) as u32);
                lp.on_ack(&Ack { now, one_way_delay, reverse_delay, ..ack(0, 20) });
            }
            let delays = lp.delays.unwrap();
            assert!(
                lp.directive().cwnd > 20_000 && (delays.smoothed() - delays.min).abs() < 300,
                "{delays:?}"
            );
            assert!((delays.max - delays.min - 100_000).abs() < 300, "{delays:?}");
        }
    }

    /// Returns a flow whose window has not grown for `rounds` round trips of its initial slow start, after 30 ms more delay.
    fn after_limited_rounds(rounds: u64) -> TcpLp {
        let mut lp = TcpLp::new(&Settings::defaults(PARAMS), MSS);
        lp.habit = AckHabit::every_packet();
        let round = |round: u64, delay_ms| Ack {
            round_start: true,
            app_limited: true,
            ..ack(1000 + 130 * round, delay_ms)
        };
        (0..=rounds).for_each(|i| lp.on_ack(&round(i, 20)));
        (0..8).for_each(|_| lp.on_ack(&Ack { round_start: false, ..round(rounds, 50) }));
        lp
    }

    #[test]
    fn a_flow_that_something_else_limits_does_not_wait_for_a_loss_to_yield() {
        let initial = TcpLp::new(&Settings::defaults(PARAMS), MSS).directive().cwnd;
        assert_eq!(after_limited_rounds(2).directive().cwnd, initial, "it may grow yet");
        assert_eq!(after_limited_rounds(3).directive().cwnd, initial / 2);
    }

    #[test]
    fn a_packet_that_waited_for_the_next_one_shows_no_queue() {
        let mut lp = lp("linux", 20);
        // The second packet was sent 36 ms after the first, whose timestamp is echoed.
        let spaced = |ms| Ack {
            newly_acked: 2000,
            one_way_delay: Some(56_000),
            reverse_delay: Some(80_000),
            rtt: Some(BASE_RTT),
            ..ack(ms, 20)
        };
        (0..20).for_each(|i| lp.on_ack(&spaced(1000 + 50 * i)));
        assert!(lp.directive().cwnd > 20_000 && lp.delays.unwrap().smoothed() == 20_000, "{:?}", lp.delays);
    }

    #[test]
    fn any_clock_offset_leaves_it_unchanged() {
        let run = |offset: u32| {
            let mut lp = TcpLp::new(&Settings::defaults(PARAMS), MSS);
            (0..400u32).for_each(|i| {
                let mut ack = ack(1000 + u64::from(i) * 5, 20 + i % 97);
                ack.one_way_delay = ack.one_way_delay.map(|delay| delay.wrapping_add(offset));
                lp.on_ack(&ack);
            });
            lp.directive().cwnd
        };
        assert_eq!(run(0), run(0xFFFF_0000));
        assert_eq!(run(0), run(0x7FFF_F000));
    }
}
