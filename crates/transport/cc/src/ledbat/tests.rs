use super::*;
use crate::controller::Controller;
use crate::delay_signal::DelaySignal;
use crate::event::{Loss, Marks, Sent, Timeout};
use afteryou_base::param::Value;

const MSS: u64 = 1500;

fn ledbat(overrides: &[(&'static str, Value)]) -> Ledbat {
    Ledbat::new(&Settings::new(PARAMS, overrides).unwrap(), MSS as u32)
}

/// Returns a controller with a window of `cwnd` bytes that has just measured `queuing_ms` of queue over 50 ms of base.
fn with_window(cwnd: u64, queuing_ms: u32) -> Ledbat {
    let mut ledbat = ledbat(&[]);
    ledbat.meter.preset(DelaySignal::OneWay, &mut ledbat.rule.state.delay, 50_000, queuing_ms * 1000);
    ledbat.rule.state.cwnd = Bytes16::from_bytes(cwnd);
    ledbat
}

fn ack(acked: u64, flightsize: u64, queuing_ms: u32) -> Ack {
    Ack {
        now: Time::from_millis(100),
        newly_acked: acked,
        newly_sacked: 0,
        flightsize,
        in_flight: flightsize,
        sent_at: Time::ZERO,
        packet_number: 1,
        rtt: None,
        smoothed_rtt: Some(Span::from_millis(150)),
        one_way_delay: Some(50_000 + queuing_ms * 1000),
        reverse_delay: None,
        delivery: None,
        round_start: false,
        ..Ack::default()
    }
}

fn loss(sent_ms: u64, now_ms: u64) -> Loss {
    Loss {
        now: Time::from_millis(now_ms),
        sent: Sent { now: Time::from_millis(sent_ms), bytes: MSS, packet_number: 1, ..Sent::default() },
        flightsize: 15000,
        ..Loss::default()
    }
}

#[test]
fn one_ack_moves_the_window_by_the_off_target_law() {
    for (queuing_ms, expected) in [(0, 15150), (50, 15075), (100, 15000), (150, 14925)] {
        let mut ledbat = with_window(15000, queuing_ms);
        ledbat.on_ack(&ack(1500, 150_000, queuing_ms));
        assert_eq!(ledbat.directive().cwnd, expected, "q = {queuing_ms} ms");
    }
    let mut ledbat = with_window(15000, 20);
    ledbat.on_ack(&ack(3000, 15000, 20));
    assert_eq!(ledbat.directive().cwnd, 15240);
}

#[test]
fn the_window_never_leaves_its_floor_downwards() {
    let mut ledbat = with_window(3000, 300);
    ledbat.on_ack(&ack(1500, 150_000, 300));
    assert_eq!(ledbat.directive().cwnd, 3000);
}

#[test]
fn an_application_limited_window_is_clamped_to_what_was_in_flight() {
    let mut ledbat = with_window(15000, 0);
    ledbat.on_ack(&ack(1500, 4500, 0));
    assert_eq!(ledbat.directive().cwnd, 6000);
}

#[test]
fn a_loss_halves_once_per_round_trip_and_never_enlarges_a_small_window() {
    for (before, after) in [(15000, 7500), (4000, 3000), (2500, 2500)] {
        let mut ledbat = with_window(before, 0);
        ledbat.on_loss(&loss(50, 100));
        assert_eq!(ledbat.directive().cwnd, after);
        ledbat.on_loss(&loss(90, 120));
        assert_eq!(ledbat.directive().cwnd, after, "sent before the reduction");
    }
    let mut ledbat = with_window(15000, 0);
    ledbat.on_loss(&loss(50, 100));
    ledbat.on_loss(&loss(110, 210));
    assert_eq!(ledbat.directive().cwnd, 3750);
}

#[test]
fn a_timeout_leaves_one_packet_and_the_next_ack_the_floor() {
    let mut ledbat = with_window(15000, 0);
    ledbat.on_timeout(&Timeout { now: Time::from_millis(1000), flightsize: 15000, consecutive: 1 });
    assert_eq!(ledbat.directive().cwnd, 1500);
    ledbat.on_ack(&ack(1500, 1500, 0));
    assert_eq!(ledbat.directive().cwnd, 3000);
}

#[test]
fn a_clock_offset_of_any_size_and_the_wrap_change_nothing() {
    for offset in [0u32, 0x7FFF_0000, 0xFFFF_0000] {
        let mut ledbat = ledbat(&[]);
        for delay_us in [50_000u32, 100_000, 100_000, 100_000, 100_000, 100_000] {
            let mut ack = ack(1500, 150_000, 0);
            ack.one_way_delay = Some(delay_us.wrapping_add(offset));
            ledbat.on_ack(&ack);
        }
        assert_eq!(ledbat.meter.queuing_us(), Some(50_000), "offset {offset:#x}");
    }
}

#[test]
fn a_mark_counts_as_a_loss() {
    let mut ledbat = with_window(15000, 0);
    let mut marked = ack(1500, 150_000, 0);
    marked.marks = Marks::Echo;
    marked.sent_at = Time::from_millis(10);
    ledbat.on_ack(&marked);
    assert_eq!(ledbat.directive().cwnd, 7500);
    ledbat.on_ack(&marked);
    assert!(ledbat.directive().cwnd > 7500, "once per round trip");
}

#[test]
fn slow_start_with_the_delay_exit_ends_above_three_quarters_of_target() {
    let mut ledbat = ledbat(&[("slow_start", Value::Choice("delay"))]);
    for _ in 0..4 {
        ledbat.on_ack(&ack(1500, 150_000, 0));
    }
    assert!(ledbat.directive().is_growing());
    assert_eq!(ledbat.directive().cwnd, 9000);
    for _ in 0..4 {
        ledbat.on_ack(&ack(1500, 150_000, 76));
    }
    assert!(!ledbat.directive().is_growing());
}

#[test]
fn an_ack_without_a_one_way_sample_does_not_mix_the_rtt_in() {
    // Offsets that put the one-way delay far above and far below the RTT.
    for offset in [7_000_000u32, 7_000_000u32.wrapping_neg()] {
        let mut ledbat = ledbat(&[]);
        ledbat.rule.state.cwnd = Bytes16::from_bytes(15000);
        for i in 0..40 {
            let mut ack = ack(1500, 150_000, 0);
            ack.rtt = Some(Span::from_millis(50));
            // The first acks and every fourth have none.
            ack.one_way_delay = (i >= 3 && i % 4 != 0).then_some(offset);
            ledbat.on_ack(&ack);
            assert_eq!(ledbat.meter.queuing_us(), Some(0), "ack {i}, offset {offset:#x}");
        }
        assert!(ledbat.directive().cwnd > 18_000, "{}", ledbat.directive().cwnd);
    }
}

#[test]
fn one_ack_for_many_windows_adds_no_more_than_a_packet() {
    let mut ledbat = with_window(1500, 0);
    ledbat.on_ack(&ack(150_000, 150_000, 0));
    assert_eq!(ledbat.directive().cwnd, 3000);
}

#[test]
fn apples_eighth_comes_once_a_round_trip_and_not_beside_a_halving() {
    let mut ledbat = ledbat(&[("decrease", Value::Choice("eighth"))]);
    ledbat.meter.preset(DelaySignal::OneWay, &mut ledbat.rule.state.delay, 50_000, 200_000);
    ledbat.rule.state.cwnd = Bytes16::from_bytes(16_000);
    let late = |sent_ms| Ack { sent_at: Time::from_millis(sent_ms), ..ack(1500, 150_000, 200) };
    ledbat.on_ack(&late(10));
    ledbat.on_ack(&late(20));
    assert_eq!(ledbat.directive().cwnd, 14_000);
    ledbat.on_loss(&loss(101, 150));
    ledbat.on_ack(&late(120));
    assert_eq!(ledbat.directive().cwnd, 7_000);
}
