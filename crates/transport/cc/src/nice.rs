//! TCP Nice: Vegas that halves when the queue is a tenth full, with windows far below one packet.
//!
//! # Model
//! The smallest and the largest round-trip time represent the empty and the full queue. A packet is late if its
//! round-trip time exceeds the smallest by more than a tenth of the range:
//!
//! ```text
//!   late:  RTT > min + t · (max − min)
//!   once a round:  more than f of the packets late:  cwnd /= 2        else: Vegas
//! ```
//! Halving by delay continues below one packet, while losses halve down to two packets and timeouts down to one. Even many
//! background flows together still take next to nothing. A window below two packets is a rate: two packets every 2/cwnd round
//! trips, two so that delayed acks do not hold them up.
//!
//! # States
//! ```text
//!   slow start ──Diff > γ, late, or loss──▶ congestion avoidance ◀──late or loss: halve
//!                                              │    ▲
//!                        cwnd < 2 packets      ▼    │ an uncongested round: +1 packet
//!                                            pairs of packets, spaced
//! ```
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | t | 0.1 | the paper's experiments |
//! | f | 0.5 | the paper's experiments |
//! | floor | 1/48 packet | two packets every 96 round trips; as ports have it |
//! | α, β | 1, 3 packets | as a Linux port has it |
//! | noise | 5 ms, 4 packets | ours: a Nice flow alone never fills the queue; its range is its own packets ([`crate::noise`]) |
//! | memory of min and max | 10 minutes | ours: the paper leaves it open, and a lifetime's maximum would blunt the rule permanently |
//!
//! # Source
//! Venkataramani, Kokku and Dahlin, "TCP Nice: a mechanism for background transfers", OSDI 2002, §3; RFC 6297 §2.1.
//! `growth_below_one = double` is ours: doubling up to one packet instead of the packet that Vegas adds at once.
//!
//! # Not implemented
//! Nothing known.
//!
//! # Known bad cases
//! It recovers late. At its floor the next two packets leave after 96 round trips, lengthened by the queue: 14 s at 150
//! ms, whatever happens meanwhile. On a path with noisy round-trip times (Wi-Fi) it stays slow, because the noise is
//! its range. A buffer that is already full when it starts hides the base delay.

use crate::ack_habit::AckHabit;
use crate::base_delay::{difference, BaseDelay, MAX_BINS};
use crate::controller::{Controller, Directive, Pacing, Snapshot};
use crate::delay_signal::rtt_us;
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::noise::{Noise, NOISE, NOISE_PACKETS};
use crate::slow_start::{FLOOR_PACKETS, HYSTART, INITIAL_WINDOW};
use crate::vegas::{self, Vegas, GAMMA, IS_LINUX};
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::Span;
#[cfg(feature = "alloc")]
use afteryou_base::About;

params! {
    /// Parameters.
    pub table PARAMS;

    const THRESHOLD: Key<f64> = Key::number("threshold", "", 0.1, (0.01, 0.9))
        .explained("part of the way from smallest to largest RTT beyond which a packet is late", "Nice §3.1");
    const FRACTION: Key<f64> = Key::number("fraction", "", 0.5, (0.0, 0.99))
        .explained("part of a round's packets that may be late", "Nice §3.1");
    use NOISE, NOISE_PACKETS;
    const MIN_WINDOW: Key<f64> = Key::number("min_window", "packets", 1.0 / 48.0, (0.001, 2.0))
        .explained("window's floor", "as ports of Nice have it");
    const DOUBLES_BELOW_ONE: Key<bool> = Key::choice("growth_below_one", &["vegas", "double"], &[false, true])
        .explained(
            "below one packet: a packet more after a good round, or twice as much",
            "Nice §3.1; double: afteryou",
        );
    const HISTORY: Key<u64> = Key::count("history", "minutes", 10, (1, MAX_BINS as u64))
        .explained("minutes that smallest and largest RTT are remembered", "afteryou");
    const ALPHA: Key<f64> = vegas::ALPHA.with_default(1.0).after("as a Linux port of Nice has it");
    const BETA: Key<f64> = vegas::BETA.with_default(3.0).after("as a Linux port of Nice has it");
    use GAMMA, IS_LINUX, INITIAL_WINDOW, HYSTART;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "nice",
        summary: "Vegas that halves when the queue is a tenth full, down to windows below a packet",
        source: "Venkataramani 2002",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Nice::new(settings, setup.mss)),
};

/// A Nice controller.
#[derive(Clone, Debug)]
pub struct Nice {
    threshold: f64,
    fraction: f64,
    min_packets: f64,
    doubles_below_one: bool,
    mss: u32,
    vegas: Vegas,
    habit: AckHabit,
    noise: Noise,
    smallest: BaseDelay,
    /// Of the negated samples, so that the smallest is the largest.
    largest: BaseDelay,
    late_bytes: u64,
    round_bytes: u64,
    smoothed_rtt: Option<Span>,
}

impl Nice {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Nice {
        let history = settings.get(&HISTORY) as usize;
        Nice {
            threshold: settings.get(&THRESHOLD),
            fraction: settings.get(&FRACTION),
            min_packets: settings.get(&MIN_WINDOW),
            doubles_below_one: settings.get(&DOUBLES_BELOW_ONE),
            mss,
            vegas: Vegas::new(settings, mss).content_with_one_sample(),
            habit: AckHabit::default(),
            noise: Noise::new(settings),
            smallest: BaseDelay::new(history),
            largest: BaseDelay::new(history),
            late_bytes: 0,
            round_bytes: 0,
            smoothed_rtt: None,
        }
    }

    fn mss(&self) -> f64 {
        f64::from(self.mss)
    }

    /// Returns the window, bytes, which may be less than a packet.
    fn window(&self) -> f64 {
        self.vegas.reno.window.cwnd
    }

    /// Returns the bytes that may be in flight: at least the two packets that go together.
    fn flight(&self) -> u64 {
        self.window().max(FLOOR_PACKETS * self.mss()) as u64
    }

    fn floor(&self) -> f64 {
        self.min_packets * self.mss()
    }

    /// Returns whether the window is a rate, as it is below two packets.
    fn is_rate(&self) -> bool {
        self.window() < FLOOR_PACKETS * self.mss()
    }

    /// Returns the round-trip time beyond which a packet is late, µs over the smallest (§3.1).
    fn late_after_us(&self) -> Option<u32> {
        let range = difference(0u32.wrapping_sub(self.largest.get()?), self.smallest.get()?);
        let range_us = f64::from(range.max(0));
        Some((self.threshold * range_us).max(self.noise.us(range_us)) as u32)
    }

    /// Counts the packets of an ack that can be judged, and the late ones among them (§3.1).
    fn count(&mut self, ack: &Ack) {
        let may_have_waited = self.habit.may_have_waited(ack, self.mss);
        let Some(rtt_us) = rtt_us(ack) else { return };
        if may_have_waited && self.smallest.get().is_some_and(|us| difference(rtt_us, us) > 0) {
            return; // for a second packet, not in a queue
        }
        self.round_bytes = self.round_bytes.saturating_add(ack.delivered());
        self.smallest.update(ack.now, rtt_us);
        self.largest.update(ack.now, 0u32.wrapping_sub(rtt_us));
        let over = self.smallest.get().map_or(0, |smallest| difference(rtt_us, smallest));
        if self.late_after_us().is_some_and(|late| over > late as i32) {
            self.late_bytes = self.late_bytes.saturating_add(ack.delivered());
        }
    }

    /// Returns whether the round was congested (§3.1). Counting starts again.
    fn end_round(&mut self) -> bool {
        let (late, all) = (self.late_bytes as f64, self.round_bytes as f64);
        (self.late_bytes, self.round_bytes) = (0, 0);
        late > self.fraction * all
    }

    fn halve(&mut self) {
        let halved = (self.window() / 2.0).max(self.floor()).min(self.window());
        self.vegas.shrink_to(halved);
        self.vegas.begin_round();
    }

    /// Leaves slow start below two packets: Vegas' packet more comes soon enough.
    fn no_slow_start_below_two(&mut self) {
        if self.is_rate() {
            self.vegas.shrink_to(self.window());
        }
    }
}

impl Controller for Nice {
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        self.noise.on_ack(ack, self.mss);
        let before = self.window();
        // The ack that ends a round counts for it: below two packets it is all there is of a round.
        self.count(ack);
        if ack.round_start && self.end_round() && !self.vegas.reno.is_recovering(ack) {
            self.halve();
            return;
        }
        self.vegas.on_ack(ack);
        let doubled = (2.0 * before).min(self.mss());
        if self.doubles_below_one && before < self.mss() && self.window() > doubled {
            self.vegas.reno.window.cwnd = doubled;
        }
        self.no_slow_start_below_two();
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.noise.on_loss();
        self.vegas.on_loss(loss);
        self.no_slow_start_below_two();
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.vegas.on_spurious_loss(spurious);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let before = self.window();
        self.vegas.on_timeout(timeout);
        self.vegas.reno.window.cwnd = self.window().min(before);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.noise.on_idle();
        self.vegas.on_idle(idle);
        if idle.idle_for > idle.rto {
            (self.late_bytes, self.round_bytes) = (0, 0);
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        let window = self.window();
        self.mss = mss;
        self.vegas.on_mtu(mss);
        self.vegas.reno.window.cwnd = window.max(self.floor());
    }

    /// Returns the directive; a window below two packets is a rate: two packets every 2/cwnd round trips (§3.1).
    fn directive(&self) -> Directive {
        if !self.is_rate() {
            return Directive::growing_window(self.window() as u64, self.vegas.reno.window.in_slow_start());
        }
        let round_trips = FLOOR_PACKETS * self.mss() / self.window();
        let every = Span::from_secs_f64(self.smoothed_rtt.unwrap_or_default().as_secs_f64() * round_trips);
        let pacing = Pacing::Together { packets: FLOOR_PACKETS as u32, apart_us: 0, every };
        Directive { pacing, ..Directive::window(self.flight()) }
    }

    fn snapshot(&self) -> Snapshot {
        let snapshot = self.vegas.snapshot();
        let late = self.late_after_us().map(|us| ("late_after_ms", f64::from(us) / 1000.0));
        Snapshot {
            phase: if self.is_rate() { "below two packets" } else { snapshot.phase },
            cwnd: self.flight(),
            extra: [Some(("window", self.window() / self.mss())), late, None, None],
            ..snapshot
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Sent;
    use afteryou_base::param::Value;
    use afteryou_base::units::Time;

    const MSS: u32 = 1000;

    fn nice(packets: f64, overrides: &[(&'static str, Value)]) -> Nice {
        let mut nice = Nice::new(&Settings::new(PARAMS, overrides).unwrap(), MSS);
        for rtt_us in [100_000, 200_000u32] {
            nice.smallest.update(Time::ZERO, rtt_us);
            nice.largest.update(Time::ZERO, 0u32.wrapping_sub(rtt_us));
        }
        nice.habit = AckHabit::every_packet();
        nice.vegas.reno.window.cwnd = packets * f64::from(MSS);
        nice.vegas.reno.window.ssthresh = nice.window();
        nice.vegas.on_ack(&ack(100, false));
        nice.vegas.begin_round();
        nice
    }

    fn ack(rtt_ms: u64, round_start: bool) -> Ack {
        let smoothed_rtt = Some(Span::from_millis(100));
        Ack {
            newly_acked: 1000,
            rtt: Some(Span::from_millis(rtt_ms)),
            round_start,
            smoothed_rtt,
            ..Ack::for_tests()
        }
    }

    /// Returns the window in packets after a round of ten packets of which `late` took 111 ms and the others 109.
    fn after_round(mut nice: Nice, late: usize) -> f64 {
        (0..10).for_each(|i| nice.on_ack(&ack(if i < late { 111 } else { 109 }, false)));
        nice.on_ack(&ack(109, true));
        nice.window() / f64::from(MSS)
    }

    #[test]
    fn more_than_half_of_the_packets_late_halve_the_window() {
        assert_eq!(nice(10.0, &[]).late_after_us(), Some(10_000), "late beyond 110 ms");
        assert_eq!(after_round(nice(10.0, &[]), 6), 5.0);
        // Exactly half: Vegas, whose Diff at 109 ms is 0.83 of its α of 1.
        assert_eq!(after_round(nice(10.0, &[]), 5), 11.0);
    }

    #[test]
    fn halving_goes_on_to_a_forty_eighth_of_a_packet() {
        let mut window = nice(2.0, &[]);
        let mut seen = Vec::new();
        for _ in 0..9 {
            window.on_ack(&ack(150, false));
            window.on_ack(&ack(150, false));
            window.on_ack(&ack(150, true));
            seen.push(window.window() / 1000.0);
        }
        assert_eq!(seen[..3], [1.0, 0.5, 0.25]);
        assert!((seen[8] - 1.0 / 48.0).abs() < 1e-9, "{seen:?}");
        assert_eq!(window.directive().cwnd, 2000, "two packets may be in flight");
    }

    #[test]
    fn a_sixteenth_of_a_packet_is_two_packets_every_32_round_trips() {
        let mut nice = nice(1.0 / 16.0, &[]);
        nice.smoothed_rtt = Some(Span::from_millis(100));
        let every = Span::from_millis(3200);
        assert_eq!(nice.directive().pacing, Pacing::Together { packets: 2, apart_us: 0, every });
    }

    #[test]
    fn below_two_packets_each_pair_is_judged_by_its_own_ack() {
        let mut nice = nice(1.0 / 16.0, &[]);
        let windows = [100, 150, 100].map(|rtt_ms| {
            nice.on_ack(&Ack { newly_acked: 2000, flightsize: 2000, ..ack(rtt_ms, true) });
            nice.window() / 1000.0
        });
        assert_eq!(windows, [1.0625, 0.53125, 1.53125]);
    }

    #[test]
    fn a_pair_that_waits_for_itself_on_a_slow_link_is_not_late() {
        for (noise_packets, expected) in [(4.0, 4.0..5.0), (0.0, 0.0..0.03)] {
            let overrides = [("noise_packets", Value::Number(noise_packets))];
            let mut nice = Nice::new(&Settings::new(PARAMS, &overrides).unwrap(), MSS);
            nice.habit = AckHabit::every_packet();
            // 24 ms for each packet of the initial window; then pairs of which the second one is 24 ms late.
            (0..10).for_each(|i| nice.on_ack(&Ack { now: Time::from_millis(64 + 24 * i), ..ack(64, false) }));
            nice.vegas.shrink_to(0.5 * f64::from(MSS));
            for i in 1..10 {
                let pair = Ack { newly_acked: 2000, flightsize: 2000, ..ack(88, true) };
                nice.on_ack(&Ack {
                    now: Time::from_millis(1000 * i),
                    sent_at: Time::from_millis(1000 * i - 88),
                    ..pair
                });
            }
            let packets = nice.window() / f64::from(MSS);
            assert!(expected.contains(&packets), "{noise_packets} packets of noise: {packets}");
        }
    }

    #[test]
    fn a_receiver_that_acknowledges_every_packet_does_not_hide_late_pairs() {
        let mut nice = nice(1.5, &[]);
        for _ in 0..12 {
            nice.on_ack(&Ack { flightsize: 2000, ..ack(150, true) });
            nice.on_ack(&Ack { flightsize: 1000, ..ack(150, false) });
        }
        assert!((nice.window() / 1000.0 - 1.0 / 48.0).abs() < 1e-9, "{}", nice.window());
    }

    #[test]
    fn a_good_round_adds_a_packet_or_doubles_if_asked_to() {
        for (growth, expected) in [("vegas", 1.0625), ("double", 0.125)] {
            let mut nice = nice(1.0 / 16.0, &[("growth_below_one", Value::Choice(growth))]);
            nice.on_ack(&ack(100, false));
            nice.on_ack(&ack(100, true));
            assert_eq!(nice.window() / 1000.0, expected, "{growth}");
        }
    }

    #[test]
    fn neither_a_timeout_nor_a_loss_enlarges_a_small_window() {
        let mut nice = nice(0.25, &[]);
        let now = Time::from_millis(900);
        nice.on_loss(&Loss {
            now,
            sent: Sent { now, bytes: 1000, packet_number: 1, ..Sent::default() },
            flightsize: 2000,
            ..Loss::default()
        });
        nice.on_timeout(&Timeout { now, flightsize: 2000, consecutive: 1 });
        assert_eq!(nice.window(), 250.0);
    }
}
