//! Bounds in any sequence of events, honest or forged.

use super::*;
use crate::ebb_core::burst::Question;
use crate::event::DeliveryRate;
use afteryou_base::units::Time;
use alloc::vec::Vec;
use proptest::prelude::*;

const MSS: u32 = 1448;
const BASE_US: u64 = 40_000;

fn ebb() -> Ebb {
    Ebb::new(&Settings::of_checked(PARAMS, &[]), &Setup::of(MSS))
}

/// The ack of a packet. The receiver may make up all of it but that the packet was sent when it was.
#[derive(Clone, Copy, Debug)]
struct Said {
    /// Since the event before, µs.
    after_us: u64,
    queue_us: u32,
    reverse_us: u32,
    rate_packets: u64,
    waited: bool,
    lost: bool,
    marked: bool,
}

fn said() -> impl Strategy<Value = Said> {
    let queue_us = prop_oneof![3 => 0..3_000u32, 2 => 0..200_000u32, 1 => Just(0), 1 => any::<u32>()];
    let reverse_us = prop_oneof![3 => Just(20_000u32), 1 => any::<u32>()];
    let rate_packets = prop_oneof![4 => 1..5_000u64, 1 => any::<u64>()];
    let flags =
        (proptest::bool::weighted(0.1), proptest::bool::weighted(0.02), proptest::bool::weighted(0.01));
    (100..20_000u64, queue_us, reverse_us, rate_packets, flags).prop_map(
        |(after_us, queue_us, reverse_us, rate_packets, (waited, lost, marked))| Said {
            after_us,
            queue_us,
            reverse_us,
            rate_packets,
            waited,
            lost,
            marked,
        },
    )
}

/// Returns acks in stretches that say the same: a standing queue is one of them.
fn all_said() -> impl Strategy<Value = Vec<Said>> {
    let stretch = (said(), prop_oneof![2 => Just(1usize), 1 => 2..60usize, 1 => 200..800usize]);
    prop::collection::vec(stretch, 1..60).prop_map(|stretches| {
        stretches.into_iter().flat_map(|(said, times)| core::iter::repeat_n(said, times)).collect()
    })
}

/// A sender whose packets are acknowledged one by one, a base round-trip time after they left.
struct Sender {
    ebb: Ebb,
    now_us: u64,
    number: u64,
    /// Number and time of what is in flight.
    flight: alloc::collections::VecDeque<(u64, u64)>,
}

impl Sender {
    fn new() -> Sender {
        Sender { ebb: ebb(), now_us: 1_000_000, number: 0, flight: Default::default() }
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * u64::from(MSS)
    }

    /// Fills the window. Returns the packets that left.
    fn fill(&mut self) -> u64 {
        let before = self.number;
        while self.in_flight() + u64::from(MSS) <= self.ebb.directive().cwnd && self.number < before + 500 {
            self.flight.push_back((self.number, self.now_us));
            let now = Time::from_micros(self.now_us);
            self.ebb.on_sent(&Sent { now, bytes: MSS.into(), packet_number: self.number, ..Sent::default() });
            self.number += 1;
        }
        self.number - before
    }

    fn hears(&mut self, said: &Said) {
        let Some((number, sent_us)) = self.flight.pop_front() else { return };
        self.now_us = (self.now_us + said.after_us).max(sent_us + BASE_US);
        let (now, bytes) = (Time::from_micros(self.now_us), u64::from(MSS));
        let sent = Sent { now: Time::from_micros(sent_us), bytes, packet_number: number, ..Sent::default() };
        if said.lost {
            return self.ebb.on_loss(&Loss { now, sent, ..Loss::default() });
        }
        let rtt = Span::from_micros(BASE_US + u64::from(said.queue_us));
        self.ebb.on_ack(&Ack {
            now,
            newly_acked: bytes,
            in_flight: self.in_flight() + bytes,
            flightsize: self.in_flight() + bytes,
            sent_at: sent.now,
            packet_number: number,
            rtt: Some(rtt),
            smoothed_rtt: Some(rtt),
            reverse_delay: Some(said.reverse_us),
            may_have_waited: said.waited,
            marks: if said.marked { crate::event::Marks::Echo } else { crate::event::Marks::None },
            delivery: Some(DeliveryRate {
                delivered: said.rate_packets.saturating_mul(bytes),
                interval: Span::from_secs(1),
                ..DeliveryRate::default()
            }),
            ..Ack::default()
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_acks_make_it_grow_faster_than_slow_start(all in all_said()) {
        let mut sender = Sender::new();
        let (mut began_us, mut most) = (sender.now_us, sender.ebb.state.cwnd);
        let mut bound = 2 * most;
        for said in &all {
            sender.fill();
            sender.hears(said);
            if sender.now_us >= began_us + BASE_US {
                (began_us, bound) = (sender.now_us, 2 * most + 8 * u64::from(MSS));
            }
            let cwnd = sender.ebb.state.cwnd;
            prop_assert!(cwnd <= bound.max(8 * u64::from(MSS)), "{cwnd} B, {most} B before");
            most = most.max(cwnd);
        }
    }

    #[test]
    fn a_train_is_no_longer_than_it_says(all in all_said()) {
        let mut sender = Sender::new();
        for said in &all {
            let most = match sender.ebb.state.burst().question {
                Question::Route => 64,
                Question::Share => 100,
                Question::None => 0,
            };
            let directive = sender.ebb.directive();
            prop_assert!(u64::from(directive.train) <= most * u64::from(MSS), "{} B", directive.train);
            prop_assert_eq!(directive.cwnd, sender.ebb.state.cwnd + u64::from(directive.train));
            sender.fill();
            sender.hears(said);
        }
    }

    #[test]
    fn it_leaves_the_floor_by_two_samples_that_are_not_high_or_a_train(all in all_said()) {
        let mut sender = Sender::new();
        let (mut began, mut calm) = (0, 0);
        let mut prompt_until = 0;
        for said in &all {
            sender.fill();
            let before = (sender.ebb.state.phase, sender.ebb.state.burst().question);
            let first = sender.flight.front().map_or(0, |(_, sent_us)| *sent_us);
            sender.hears(said);
            let state = &sender.ebb.state;
            if before.0 != Phase::Yield {
                (began, calm) = (sender.now_us, 0);
                continue;
            }
            let high = sender.ebb.params.high(state.packet_us(), state.noise_us());
            // A delay that may be the receiver's does not count soon after one that is not.
            if !said.waited && !said.lost {
                prompt_until = sender.now_us + 1_000_000;
            }
            let is_doubtful = said.waited && sender.now_us < prompt_until;
            let is_within_train = before.1 != Question::None && state.burst().question != Question::None;
            if !said.lost && !is_doubtful && first >= began && !is_within_train {
                calm = if state.queue_us() > high { 0 } else { calm + 1 };
            }
            if state.phase != Phase::Yield {
                prop_assert!(before.1 == Question::Route || calm >= 2, "after {calm} samples");
                let hold_us = Span::from_millis(200).as_micros();
                prop_assert!(before.1 == Question::Route || sender.now_us >= began + hold_us);
            }
        }
    }

    #[test]
    fn the_core_never_panics(events in prop::collection::vec((any::<[u64; 6]>(), any::<[u32; 4]>(), 0..8u8), 1..200), mss in 1..=65_535u64) {
        let mut params = ebb().params;
        params.mss = mss;
        let mut state = State::new(10 * mss);
        for ([now, sent_at, number, delivered, in_flight, rate], [rtt_us, smoothed_us, reverse_us, flags], what) in events {
            // Times of the interface are ns in 64 bits.
            let (now, sent_at) = (now / 1000, sent_at / 1000);
            match what {
                0 => state.on_loss(now, sent_at, &params),
                1 => state.on_timeout(now, &params),
                2 => state.on_idle(now, 10 * mss),
                3 => state.on_sent(number),
                _ => state.on_ack(&AckEvent { now, sent_at, number, delivered, in_flight, rate, rtt_us, smoothed_us, reverse_us, flags }, &params),
            }
            let window = state.window(&params);
            prop_assert!((2 * mss..=1 << 40).contains(&window), "{window} B");
            prop_assert!(state.spread(&params) != Spread::Rate(0));
        }
    }
}

#[test]
fn a_train_whose_numbers_leave_gaps_has_an_answer() {
    let mut burst = crate::ebb_core::burst::Burst::new(Question::Route, 16, 1 << 40, None);
    let numbers: Vec<u64> = (0..16).map(|i| 1_000_000_000 + 12_345 * i).collect();
    numbers.iter().for_each(|number| burst.sent(*number));
    let is_over: Vec<bool> = numbers.iter().map(|number| burst.sample(*number, 70_000, 120_000)).collect();
    assert_eq!(is_over.iter().filter(|over| **over).count(), 1);
    assert_eq!(burst.new_base(100), Some(120_000));
}
