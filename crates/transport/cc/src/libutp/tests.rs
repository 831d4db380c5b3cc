use super::*;
use crate::event::Sent;
use crate::libutp_mod;
use afteryou_base::param::Param;

fn with(table: &'static [Param], cwnd: u64) -> Libutp {
    let mut libutp = Libutp::new(&Settings::defaults(table), 1400);
    libutp.cwnd = cwnd;
    libutp.in_slow_start = false;
    libutp
}

/// Returns an ack whose newest three samples are all `queuing_us` over a base of 50 ms.
fn ack(libutp: &mut Libutp, acked: u64, queuing_us: u32) -> Ack {
    libutp.signal = DelaySignal::OneWay;
    libutp.base.update(Time::ZERO, 50_000);
    libutp.recent_us = [queuing_us; FILTER];
    Ack { newly_acked: acked, one_way_delay: Some(50_000 + queuing_us), ..Ack::for_tests() }
}

fn after_ack(mut libutp: Libutp, acked: u64, queuing_us: u32) -> u64 {
    let ack = ack(&mut libutp, acked, queuing_us);
    libutp.on_ack(&ack);
    libutp.directive().cwnd
}

fn loss(ms: u64) -> Loss {
    let now = Time::from_millis(ms);
    Loss {
        now,
        sent: Sent { now, bytes: 1400, packet_number: 1, ..Sent::default() },
        flightsize: 20_000,
        ..Loss::default()
    }
}

#[test]
fn one_ack_moves_the_window_by_its_part_of_3000_bytes() {
    for (queuing_us, expected) in [(0, 20_210), (50_000, 20_105), (150_000, 19_895), (400_000, 19_370)] {
        assert_eq!(after_ack(with(PARAMS, 20_000), 1400, queuing_us), expected, "{queuing_us} us");
    }
    assert_eq!(after_ack(with(PARAMS, 1000), 1400, 0), 3142);
    for (queuing_us, expected) in [(0, 20_096), (50_000, 20_048)] {
        assert_eq!(after_ack(with(libutp_mod::PARAMS, 20_000), 1400, queuing_us), expected, "mod");
    }
}

#[test]
fn slow_start_takes_the_larger_step_and_ends_above_nine_tenths_of_target() {
    let slow = || Libutp { in_slow_start: true, ..with(PARAMS, 20_000) };
    let mut libutp = slow();
    assert_eq!(libutp.steps(1400, 0, true), (20_210, 20_098));
    assert_eq!(after_ack(libutp.clone(), 1400, 0), 20_210);
    let ack = ack(&mut libutp, 1400, 91_000);
    libutp.on_ack(&ack);
    assert_eq!((libutp.in_slow_start, libutp.ssthresh, libutp.cwnd), (false, 20_000, 20_000));
    let limited = Libutp { ssthresh: 20_097, ..slow() };
    assert_eq!(after_ack(limited, 1400, 0), 20_000, "past ssthresh: the window waits for the next ack");
}

#[test]
fn losses_halve_at_most_once_in_100_ms_and_in_the_mod_once_in_a_round_trip() {
    let windows = |table, smoothed_ms| {
        let mut libutp = with(table, 20_000);
        libutp.smoothed_rtt = Some(Span::from_millis(smoothed_ms));
        [0, 60, 100].map(|ms| {
            libutp.on_loss(&loss(ms));
            libutp.directive().cwnd
        })
    };
    assert_eq!(windows(PARAMS, 40), [10_000, 10_000, 5_000]);
    assert_eq!(windows(libutp_mod::PARAMS, 40), [10_000, 5_000, 2_500]);
}

#[test]
fn losses_every_20_ms_halve_ten_times_a_second_and_in_the_mod_once_a_round_trip() {
    let halvings = |table| {
        let mut libutp = with(table, 1 << 40);
        libutp.smoothed_rtt = Some(Span::from_millis(40));
        (0..50).for_each(|i| libutp.on_loss(&loss(20 * i)));
        (1u64 << 40).ilog2() - libutp.directive().cwnd.ilog2()
    };
    assert_eq!((halvings(PARAMS), halvings(libutp_mod::PARAMS)), (10, 25));
}

#[test]
fn the_delay_reads_zero_until_there_are_three_samples() {
    let mut libutp = with(PARAMS, 20_000);
    let delays = [50_000, 90_000, 95_000, 93_000, 99_000].map(|delay_us| {
        libutp.on_ack(&Ack { one_way_delay: Some(delay_us), ..Ack::for_tests() });
        libutp.queuing_us.unwrap()
    });
    assert_eq!(delays, [0, 0, 0, 40_000, 43_000]);
}

#[test]
fn no_packet_waits_for_longer_than_its_round_trip() {
    let mut libutp = with(PARAMS, 20_000);
    let mut ack = ack(&mut libutp, 1400, 80_000);
    ack.rtt = Some(Span::from_millis(60));
    libutp.on_ack(&ack);
    assert_eq!((libutp.queuing_us, libutp.base.get()), (Some(60_000), Some(70_000)));
}

#[test]
fn a_timeout_leaves_a_packet_in_slow_start_and_silence_two_thirds_for_each_timeout() {
    let mut libutp = with(PARAMS, 20_000);
    libutp.on_timeout(&Timeout { now: Time::from_millis(1000), flightsize: 20_000, consecutive: 1 });
    assert_eq!((libutp.directive().cwnd, libutp.directive().is_growing()), (1400, true));
    let mut libutp = with(PARAMS, 27_000);
    let rto = Span::from_secs(1);
    libutp.on_idle(&Idle { now: Time::from_millis(9000), idle_for: Span::from_millis(3500), rto });
    assert_eq!(
        (libutp.directive().cwnd, libutp.directive().is_growing()),
        (12_000, false),
        "expiries after 1 and 3 s"
    );
    libutp.on_idle(&Idle { now: Time::from_millis(9000), idle_for: Span::from_secs(3600), rto });
    assert_eq!((libutp.directive().cwnd, libutp.directive().is_growing()), (1400, true));
}

#[test]
fn a_ceiling_below_a_packet_lets_a_packet_through_and_never_asks_to_be_woken_in_the_past() {
    let overrides = [("max_window", afteryou_base::param::Value::Bytes(3000))];
    let mut libutp = Libutp::new(&Settings::new(PARAMS, &overrides).unwrap(), 8948);
    let mut queue = ack(&mut libutp, 8948, 400_000);
    queue.now = Time::from_millis(1000);
    libutp.on_ack(&queue);
    libutp.on_wake(Time::from_millis(9000));
    assert!(libutp.directive().wake_at.is_none_or(|at| at > Time::from_millis(9000)), "{libutp:?}");
    assert_eq!(libutp.directive().cwnd, 8948);
}

#[test]
fn round_trip_times_before_the_first_one_way_delay_are_no_drift() {
    let mut libutp = with(PARAMS, 20_000);
    for i in 0..60u64 {
        let now = Time::from_millis(1000 * i);
        let one_way_delay = (i >= 3).then_some(0u32.wrapping_sub(1_000_000_000));
        libutp.on_ack(&Ack { now, rtt: Some(Span::from_millis(50)), one_way_delay, ..Ack::for_tests() });
    }
    assert_eq!(libutp.queuing_us, Some(0));
}

#[test]
fn a_window_below_a_packet_is_reset_after_a_second() {
    let mut libutp = with(PARAMS, 1500);
    let mut queue = ack(&mut libutp, 1400, 400_000);
    queue.now = Time::from_millis(5000);
    libutp.on_ack(&queue);
    assert!(libutp.directive().cwnd < 1400 && libutp.snapshot().phase == "stalled");
    assert_eq!(libutp.directive().wake_at, Some(Time::from_millis(6000)));
    libutp.on_wake(Time::from_millis(5999));
    assert!(libutp.directive().cwnd < 1400);
    libutp.on_wake(Time::from_millis(6000));
    assert_eq!(
        (libutp.directive().cwnd, libutp.directive().is_growing(), libutp.directive().wake_at),
        (1400, true, None)
    );
}

#[test]
fn a_window_that_was_not_full_for_a_second_does_not_grow() {
    for (ms, expected) in [(1000, 20_210), (1001, 20_000)] {
        let mut libutp = with(PARAMS, 20_000);
        let mut limited = ack(&mut libutp, 1400, 0);
        (limited.app_limited, limited.now) = (true, Time::from_millis(ms));
        libutp.on_ack(&limited);
        assert_eq!(libutp.directive().cwnd, expected);
    }
}
