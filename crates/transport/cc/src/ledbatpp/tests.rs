use super::*;
use crate::delay_signal::DelaySignal;
use crate::event::Sent;
use afteryou_base::param::Value;

/// 2^20 B packets make whole bytes a fine unit for windows given in packets.
const MSS: u64 = 1 << 20;

fn with(overrides: &[(&'static str, Value)]) -> LedbatPp {
    LedbatPp::new(&Settings::new(PARAMS, overrides).unwrap(), MSS as u32)
}

fn packets(n: f64) -> Bytes16 {
    Bytes16((n * MSS as f64 * 65536.0) as u64)
}

fn in_packets(controller: &LedbatPp) -> f64 {
    controller.state.cwnd.to_f64() / MSS as f64
}

fn ack(now_ms: f64, acked: u64, rtt_us: u64) -> Ack {
    Ack {
        now: Time::from_micros((now_ms * 1000.0) as u64),
        newly_acked: acked,
        newly_sacked: 0,
        flightsize: acked,
        in_flight: acked,
        sent_at: Time::ZERO,
        packet_number: 1,
        rtt: Some(Span::from_micros(rtt_us)),
        smoothed_rtt: Some(Span::from_micros(rtt_us)),
        one_way_delay: None,
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
        flightsize: 100 * MSS,
        ..Loss::default()
    }
}

/// Returns a controller in congestion avoidance with window `w`, all of whose filters hold `q_us` over `base_us`.
fn steady(w: f64, base_us: u32, q_us: u32, overrides: &[(&'static str, Value)]) -> LedbatPp {
    let mut controller = with(overrides);
    controller.state.cwnd = packets(w);
    controller.state.begin_round();
    controller.state.phase = Phase::Avoidance;
    controller.meter.preset(DelaySignal::Rtt, &mut controller.state.delay, base_us, q_us);
    controller
}

fn gain_divisor(controller: &LedbatPp) -> u64 {
    controller.state.gain_divisor(&controller.params, &controller.parts)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

#[test]
fn gain_follows_the_base_round_trip_time() {
    let rows = [(200.0, 1), (120.0, 1), (119.0, 2), (60.0, 2), (59.0, 3), (50.0, 3), (20.0, 6), (10.0, 12)];
    for (base_ms, divisor) in rows.into_iter().chain([(8.0, 15), (7.5, 16), (5.0, 16)]) {
        let controller = steady(2.0, (base_ms * 1000.0) as u32, 0, &[]);
        assert_eq!(gain_divisor(&controller), divisor, "base {base_ms} ms");
    }
}

#[test]
fn the_acks_of_one_round_add_up_to_the_rule() {
    let rows = [
        (100.0, 20, 10, 100.166_667),
        (100.0, 100, 72, 80.5),
        (100.0, 100, 150, 50.0),
        (10.0, 60, 61, 10.333_333),
        (3.0, 60, 200, 2.0),
        (40.0, 30, 90, 20.25),
    ];
    for (w, base_ms, q_ms, expected) in rows {
        let mut controller = steady(w, base_ms * 1000, q_ms * 1000, &[]);
        for _ in 0..w as u64 {
            controller.on_ack(&ack(1.0, MSS, u64::from(base_ms + q_ms) * 1000));
        }
        assert!(
            close(in_packets(&controller), expected),
            "W {w}: {} for {expected}",
            in_packets(&controller)
        );
    }
}

#[test]
fn one_ack_for_the_whole_round_makes_the_same_step() {
    let mut controller = steady(100.0, 100_000, 72_000, &[]);
    controller.on_ack(&ack(1.0, 100 * MSS, 172_000));
    assert!(close(in_packets(&controller), 80.5));
}

#[test]
fn an_ack_for_more_than_a_window_counts_for_one() {
    for (base_ms, q_ms, expected) in [(60, 0, 10.5), (60, 30, 10.5), (60, 200, 5.0)] {
        let mut controller = steady(10.0, base_ms * 1000, q_ms * 1000, &[]);
        controller.on_ack(&ack(1.0, 70 * MSS, u64::from(base_ms + q_ms) * 1000));
        assert!(close(in_packets(&controller), expected), "{} for {expected}", in_packets(&controller));
    }
}

#[test]
fn a_round_with_a_loss_in_it_makes_one_step_and_so_does_the_one_after() {
    let mut controller = steady(40.0, 60_000, 0, &[]);
    let acked = |controller: &mut LedbatPp, packets: u32, round_start: bool| {
        for i in 0..packets {
            controller.on_ack(&Ack { round_start: round_start && i == 0, ..ack(100.0, MSS, 60_000) });
        }
        in_packets(controller)
    };
    assert!(close(acked(&mut controller, 10, false), 40.125), "a quarter of GAIN");
    controller.on_loss(&loss(90, 100));
    assert!(close(in_packets(&controller), 20.0625));
    // Thirty packets were left of the round, and ten more had gone out.
    assert!(close(acked(&mut controller, 40, false), 20.0625 + 0.375), "the other three quarters");
    assert!(close(acked(&mut controller, 40, true), 20.0625 + 0.875));
}

#[test]
fn slow_start_ends_at_ssthresh_and_not_beyond() {
    for acked in [1, 5, 60] {
        let mut controller = with(&[]);
        (controller.state.cwnd, controller.state.ssthresh) = (packets(19.5), packets(20.0));
        controller.on_ack(&ack(0.0, acked * MSS, 120_000));
        assert_eq!(
            (in_packets(&controller), controller.directive().is_growing()),
            (20.0, false),
            "{acked} packets"
        );
    }
}

#[test]
fn slow_start_multiplies_by_one_plus_gain() {
    for (base_ms, rounds, expected) in
        [(60, 8, 51.257_812), (20, 1, 2.333_333), (20, 10, 9.343_248), (20, 20, 43.648_145)]
    {
        let mut controller = with(&[]);
        for round in 0..rounds {
            let acked = controller.directive().cwnd;
            controller.on_ack(&ack(f64::from(round), acked, base_ms * 1000));
        }
        assert!(close(in_packets(&controller), expected), "{} for {expected}", in_packets(&controller));
    }
}

#[test]
fn slow_start_ends_above_45_ms_of_queue_and_not_at_it() {
    let mut controller = with(&[]);
    controller.on_ack(&ack(0.0, MSS, 60_000));
    (0..4).for_each(|_| controller.on_ack(&ack(1.0, MSS, 105_000)));
    assert!(controller.directive().is_growing());
    (0..4).for_each(|_| controller.on_ack(&ack(2.0, MSS, 105_001)));
    assert!(!controller.directive().is_growing());
}

#[test]
fn the_first_slowdown_comes_two_round_trips_after_slow_start() {
    let mut controller = with(&[]);
    controller.state.ssthresh = packets(3.0);
    controller.on_ack(&ack(3000.0, MSS * 2, 80_000));
    assert!(!controller.directive().is_growing());
    assert_eq!(controller.directive().wake_at, Some(Time::from_millis(3160)));
    controller.on_wake(Time::from_millis(3159));
    assert_eq!(controller.snapshot().phase, "congestion avoidance");
    controller.on_wake(Time::from_millis(3160));
    assert_eq!(controller.snapshot().phase, "slowdown freeze");
    assert_eq!(controller.directive().cwnd, 2 * MSS);
}

/// Drives a slowdown at RTT = base = 50 ms from W = 80. An ack arrives after each of `fraction` parts of a round trip and covers
/// the `fraction`-th part of the window. Returns the ramp's windows in packets, the slowdown's duration and the wait
/// after it.
fn slowdown_from_80(fraction: u64) -> (Vec<f64>, Span, Span) {
    let mut controller = steady(80.0, 50_000, 0, &[]);
    controller.state.smoothed_rtt = Span::from_millis(50).0;
    controller.state.due = Time::from_millis(1000).0;
    controller.on_wake(Time::from_millis(1000));
    assert_eq!(controller.directive().wake_at, Some(Time::from_millis(1100)), "two round trips at the floor");
    assert_eq!(controller.directive().cwnd, 2 * MSS);
    controller.on_wake(Time::from_millis(1100));
    assert_eq!(controller.snapshot().phase, "slowdown ramp");
    let mut windows = vec![in_packets(&controller)];
    let mut now_us = 1_100_000;
    while controller.directive().is_growing() {
        now_us += 50_000 / fraction;
        controller.on_ack(&ack(now_us as f64 / 1000.0, controller.directive().cwnd / fraction, 50_000));
        windows.push(in_packets(&controller));
    }
    let now = Time::from_micros(now_us);
    (windows, now.since(Time::from_millis(1000)), controller.directive().wake_at.unwrap().since(now))
}

#[test]
fn a_slowdown_lasts_freeze_and_ramp_and_the_next_waits_nine_times_as_long() {
    // Round by round: by exactly (1 + GAIN) = 4/3, so thirteen whole rounds lead from 2 to 80 and twelve do not.
    let (windows, duration, wait) = slowdown_from_80(1);
    assert!(windows.windows(2).all(|pair| close(pair[1], (pair[0] * 4.0 / 3.0).min(80.0))), "{windows:?}");
    assert_eq!(windows.len() - 1, 13);
    assert!(windows[12] < 80.0 && windows[13] == 80.0);
    assert_eq!((duration, wait), (Span::from_millis(750), Span::from_millis(6750)));
    // Taken as continuous, that growth needs 12.8228 round trips.
    let rounds = libm::log(80.0 / windows[0]) / libm::log(windows[1] / windows[0]);
    assert!((rounds - 12.8228).abs() < 5e-5, "{rounds}");
    // Acks of a tenth of the window compound within the round: (1 + GAIN/10)^n ≥ 40 from n = 113 on.
    let (windows, duration, wait) = slowdown_from_80(10);
    assert!(windows.windows(2).all(|pair| close(pair[1], (pair[0] * 31.0 / 30.0).min(80.0))), "{windows:?}");
    assert_eq!(windows.len() - 1, 113);
    assert_eq!((duration, wait), (Span::from_millis(665), Span::from_millis(5985)));
}

#[test]
fn rough_share_against_reno_is_the_root_of_gain() {
    for (base_us, share) in [(120_000, 1.0), (60_000, 0.707), (20_000, 0.408), (7_500, 0.25)] {
        let gain = steady(2.0, base_us, 0, &[]).snapshot().gain.unwrap();
        assert!((libm::sqrt(gain) - share).abs() < 5e-4);
    }
}

#[test]
fn a_loss_halves_and_a_loss_in_the_ramp_ends_the_slowdown() {
    let mut controller = steady(80.0, 50_000, 0, &[]);
    controller.state.smoothed_rtt = Span::from_millis(50).0;
    controller.on_loss(&loss(50, 100));
    controller.on_loss(&loss(60, 110));
    assert!(close(in_packets(&controller), 40.0));
    (controller.state.phase, controller.state.began) = (Phase::Ramp, Time::from_millis(100).0);
    controller.on_loss(&loss(150, 200));
    assert!(close(in_packets(&controller), 20.0));
    assert_eq!(controller.directive().wake_at, Some(Time::from_millis(200 + 900)));
}

#[test]
fn a_timeout_keeps_ssthresh_through_an_outage() {
    let mut controller = steady(80.0, 50_000, 0, &[]);
    for consecutive in 1..6 {
        let flightsize = if consecutive == 1 { 80 * MSS } else { MSS };
        let now = Time::from_millis(1000 << consecutive);
        controller.on_timeout(&Timeout { now, flightsize, consecutive });
        assert_eq!(controller.directive().cwnd, MSS);
    }
    assert!(controller.directive().is_growing());
    assert_eq!(controller.snapshot().ssthresh, Some(40 * MSS));
}

#[test]
fn a_flow_driven_to_its_floor_starts_over_only_with_the_restart_option() {
    for (restart, expected) in [(false, "congestion avoidance"), (true, "slow start")] {
        let mut controller = steady(4.0, 50_000, 200_000, &[("restart", Value::Flag(restart))]);
        (0..8).for_each(|_| controller.on_ack(&ack(10.0, MSS, 250_000)));
        assert_eq!(controller.directive().cwnd, 2 * MSS);
        for round in 0..8 {
            let mut quiet = ack(1000.0 + 50.0 * f64::from(round), MSS, 51_000);
            quiet.round_start = true;
            controller.on_ack(&quiet);
        }
        assert_eq!(controller.snapshot().phase, expected);
    }
}

#[test]
fn a_window_that_has_recovered_by_itself_does_not_start_over() {
    // Eight packets are four floors: at them the rule stays armed, above them not.
    for (recovered_to, expected) in [(7.0, "slow start"), (7.5, "congestion avoidance")] {
        let mut controller = steady(4.0, 120_000, 200_000, &[("restart", Value::Flag(true))]);
        (0..8).for_each(|_| controller.on_ack(&ack(10.0, MSS, 320_000)));
        assert_eq!(controller.directive().cwnd, 2 * MSS);
        // 30 ms of queue: room to grow, too much for the rule.
        (0..4).for_each(|_| controller.on_ack(&ack(20.0, 0, 150_000)));
        controller.state.cwnd = packets(recovered_to);
        controller.state.begin_round();
        controller.on_ack(&ack(30.0, controller.directive().cwnd, 150_000));
        assert!(close(in_packets(&controller), recovered_to + 1.0));
        for round in 0..8 {
            let mut quiet = ack(1000.0 + 120.0 * f64::from(round), 0, 121_000);
            quiet.round_start = true;
            controller.on_ack(&quiet);
        }
        assert_eq!(controller.snapshot().phase, expected, "{recovered_to} packets");
    }
}

#[test]
fn a_window_driven_down_by_losses_does_not_start_over() {
    let mut controller = steady(4.0, 50_000, 5_000, &[("restart", Value::Flag(true))]);
    controller.on_loss(&loss(5, 10));
    controller.on_loss(&loss(11, 20));
    assert_eq!(controller.directive().cwnd, 2 * MSS);
    for round in 0..40 {
        let mut quiet = ack(1000.0 + 50.0 * f64::from(round), MSS, 51_000);
        quiet.round_start = true;
        controller.on_ack(&quiet);
        assert_ne!(controller.snapshot().phase, "slow start");
    }
}

#[test]
fn the_one_way_signal_ignores_a_loaded_reverse_path() {
    let mut controller = with(&[("signal", Value::Choice("one-way"))]);
    for (rtt_ms, one_way) in
        [(50, 7_000_000u32), (250, 7_001_000), (250, 7_001_000), (250, 7_001_000), (250, 7_001_000)]
    {
        let mut ack = ack(1.0, MSS, rtt_ms * 1000);
        ack.one_way_delay = Some(one_way);
        controller.on_ack(&ack);
    }
    assert!(controller.directive().is_growing());
    assert_eq!(controller.meter.queuing_us(), Some(1_000));
}

#[test]
fn with_the_one_way_signal_the_rtt_serves_until_the_first_sample_and_never_again() {
    let mut controller = with(&[("signal", Value::Choice("one-way"))]);
    let mut feed = |acks: usize, rtt_ms: u64, one_way_delay: Option<u32>| {
        let mut ack = ack(1.0, MSS, rtt_ms * 1000);
        ack.one_way_delay = one_way_delay;
        (0..acks).for_each(|_| controller.on_ack(&ack));
        (controller.meter.queuing_us(), controller.snapshot().base_delay)
    };
    let base = Some(Span::from_millis(50));
    assert_eq!(feed(1, 50, None), (Some(0), base));
    assert_eq!(feed(4, 70, None), (Some(20_000), base));
    assert_eq!(feed(1, 70, Some(7_000_000)), (Some(0), None));
    assert_eq!(feed(4, 250, None), (Some(0), None));
    assert_eq!(feed(4, 70, Some(7_003_000)), (Some(3_000), None));
    assert_eq!(feed(4, 70, None), (Some(3_000), None));
}

/// Returns a controller at the end of a freeze from 1.0 s to 1.1 s, with 80 packets to come back to. The path has 50 ms.
fn after_a_freeze(options: &[(&'static str, Value)]) -> LedbatPp {
    let mut controller = steady(80.0, 50_000, 0, options);
    controller.state.smoothed_rtt = Span::from_millis(50).0;
    controller.state.due = Time::from_millis(1000).0;
    controller.on_wake(Time::from_millis(1000));
    assert_eq!((controller.directive().cwnd, controller.directive().pacing), (2 * MSS, Pacing::Window));
    controller.on_wake(Time::from_millis(1100));
    controller
}

#[test]
fn an_instant_restore_brings_the_window_back_and_changes_nothing_else() {
    let controller = after_a_freeze(&[("instant_restore", Value::Flag(true))]);
    let directive = controller.directive();
    assert_eq!((directive.cwnd, controller.snapshot().phase), (80 * MSS, "congestion avoidance"));
    assert_eq!(directive.pacing, Pacing::Window, "as the transport sends any window");
    assert_eq!(directive.wake_at, Some(Time::from_millis(1100 + 9 * 100)), "nine times the slowdown");
}

#[test]
fn a_restored_window_can_be_paced_until_a_packet_of_it_has_come_round() {
    let options = [("instant_restore", Value::Flag(true)), ("restore_pacing", Value::Flag(true))];
    let mut controller = after_a_freeze(&options);
    assert_eq!(controller.directive().pacing, Pacing::Rate(80 * MSS * 20), "a window in a round trip");
    let mut later = ack(1160.0, MSS, 50_000);
    later.sent_at = Time::from_millis(1105);
    controller.on_ack(&later);
    assert_eq!(controller.directive().pacing, Pacing::Window);
    let ramps = after_a_freeze(&[("restore_pacing", Value::Flag(true))]);
    assert_eq!(ramps.directive().pacing, Pacing::GrowingWindow, "nothing was restored");
}

#[test]
fn slowdowns_can_be_kept_apart_with_and_without_a_ramp() {
    let gap = ("slowdown_gap", Value::Time(Span::from_secs(10)));
    let restored = after_a_freeze(&[("instant_restore", Value::Flag(true)), gap]);
    assert_eq!(restored.directive().wake_at, Some(Time::from_millis(11_100)));
    let mut ramps = after_a_freeze(&[gap]);
    assert_eq!(ramps.snapshot().phase, "slowdown ramp");
    ramps.on_ack(&ack(1200.0, 400 * MSS, 50_000));
    assert_eq!(ramps.snapshot().phase, "congestion avoidance");
    assert_eq!(ramps.directive().wake_at, Some(Time::from_millis(11_200)));
    let short = ("slowdown_gap", Value::Time(Span::from_millis(100)));
    let mut ramps = after_a_freeze(&[short]);
    ramps.on_ack(&ack(1200.0, 400 * MSS, 50_000));
    assert_eq!(
        ramps.directive().wake_at,
        Some(Time::from_millis(1200 + 9 * 200)),
        "the draft's wait is longer"
    );
}

#[test]
fn the_wait_can_leave_out_the_time_at_the_floor() {
    let ramp_alone = ("slowdown_length", Value::Choice("ramp"));
    // At the floor until 1.1 s, back at 1.2 s.
    for (options, wait_ms) in [(&[][..], 9 * 200), (&[ramp_alone], 9 * 100)] {
        let mut controller = after_a_freeze(options);
        controller.on_ack(&ack(1200.0, 400 * MSS, 50_000));
        assert_eq!(controller.directive().wake_at, Some(Time::from_millis(1200 + wait_ms)));
    }
    let restored = after_a_freeze(&[("instant_restore", Value::Flag(true)), ramp_alone]);
    assert_eq!(
        restored.directive().wake_at,
        Some(Time::from_millis(1100 + 9 * 100)),
        "without a ramp the floor counts"
    );
}

#[test]
fn delays_of_the_round_trip_after_a_slowdown_can_be_ignored() {
    for (ignore, shrinks) in [(false, true), (true, false)] {
        let options = [("instant_restore", Value::Flag(true)), ("ignore_after_restore", Value::Flag(ignore))];
        let mut controller = steady(80.0, 50_000, 0, &options);
        controller.state.smoothed_rtt = Span::from_millis(50).0;
        controller.state.due = Time::from_millis(1000).0;
        controller.on_wake(Time::from_millis(1000));
        controller.on_wake(Time::from_millis(1100));
        (0..20).for_each(|_| controller.on_ack(&ack(1149.0, MSS, 150_000)));
        assert_eq!(controller.directive().cwnd < 79 * MSS, shrinks, "{}", in_packets(&controller));
        (0..20).for_each(|_| controller.on_ack(&ack(1151.0, MSS, 150_000)));
        assert!(controller.directive().cwnd < 79 * MSS, "a queue that stays is seen a round trip later");
    }
}

#[test]
fn apples_increase_is_a_packet_and_its_decrease_goes_without_gain() {
    let round = |options: &[(&'static str, Value)], w: f64, q_ms: u32| {
        let mut controller = steady(w, 20_000, q_ms * 1000, options);
        controller.on_ack(&ack(1.0, (w * MSS as f64) as u64, u64::from(20 + q_ms) * 1000));
        in_packets(&controller)
    };
    assert!(close(round(&[("increase", Value::Choice("packet"))], 100.0, 10), 101.0));
    assert!(close(round(&[], 100.0, 72), 80.0 + 1.0 / 6.0));
    assert!(close(round(&[("decrease_with_gain", Value::Flag(false))], 100.0, 72), 80.0));
}

#[test]
fn the_rule_can_be_applied_once_a_window() {
    let mut controller = steady(100.0, 100_000, 0, &[("step", Value::Choice("round"))]);
    (0..99).for_each(|_| controller.on_ack(&ack(1.0, MSS, 100_000)));
    assert!(close(in_packets(&controller), 100.0));
    controller.on_ack(&ack(1.0, MSS, 100_000));
    assert!(close(in_packets(&controller), 100.5), "GAIN is a half at 100 ms");
}

#[test]
fn a_decrease_can_put_the_next_slowdown_off() {
    let mut controller = steady(80.0, 50_000, 100_000, &[("defer", Value::Time(Span::from_secs(30)))]);
    controller.state.due = Time::from_millis(1000).0;
    controller.on_ack(&ack(500.0, MSS, 150_000));
    assert_eq!(controller.directive().wake_at, Some(Time::from_millis(30_500)));
}

#[test]
fn a_ramp_that_meets_a_queue_can_end_there_and_then_counts_twice() {
    let mut controller = steady(80.0, 50_000, 0, &[("ramp_exit", Value::Flag(true))]);
    controller.state.ssthresh = packets(80.0);
    controller.state.cwnd = packets(10.0);
    (controller.state.phase, controller.state.began) = (Phase::Ramp, Time::from_millis(1000).0);
    (0..4).for_each(|_| controller.on_ack(&ack(1500.0, 0, 110_001)));
    assert!(!controller.directive().is_growing());
    assert_eq!(controller.directive().wake_at, Some(Time::from_millis(1500 + 2 * 9 * 500)));
}

#[test]
fn a_timeout_in_the_freeze_halves_what_the_ramp_would_have_come_back_to() {
    let mut controller = steady(80.0, 50_000, 0, &[]);
    controller.state.smoothed_rtt = Span::from_millis(50).0;
    controller.state.due = Time::from_millis(1000).0;
    controller.on_wake(Time::from_millis(1000));
    controller.on_timeout(&Timeout { now: Time::from_millis(1050), flightsize: 2 * MSS, consecutive: 1 });
    assert_eq!((controller.snapshot().ssthresh, controller.directive().cwnd), (Some(40 * MSS), MSS));
}

#[test]
fn a_route_that_is_believed_changes_gain_too() {
    let mut controller = steady(2.0, 10_000, 0, &[("route_change", Value::Flag(true))]);
    assert_eq!(gain_divisor(&controller), 12);
    for i in 0..200 {
        let round_start = i % 2 == 0;
        controller.on_ack(&Ack { round_start, ..ack(1000.0 + 100.0 * f64::from(i), MSS, 130_000) });
    }
    assert_eq!(gain_divisor(&controller), 1);
}

#[test]
fn a_restore_after_the_packet_has_grown_keeps_the_floor() {
    let mut controller = steady(2.0, 50_000, 0, &[("instant_restore", Value::Flag(true))]);
    controller.state.smoothed_rtt = Span::from_millis(50).0;
    controller.state.due = Time::from_millis(1000).0;
    controller.on_wake(Time::from_millis(1000));
    controller.on_mtu(4 * MSS as u32);
    controller.on_wake(Time::from_millis(1100));
    assert_eq!(controller.directive().cwnd, 8 * MSS);
}

/// Returns the event that everything lost or timed out since then was not.
fn undo_since(ms: u64) -> SpuriousLoss {
    let since = Time::from_millis(ms);
    SpuriousLoss { now: since + Span::from_millis(10), undo: true, since, ..SpuriousLoss::default() }
}

#[test]
fn a_loss_or_timeout_that_was_none_ends_no_slow_start_and_no_slowdown() {
    let timeout = |ms| Timeout { now: Time::from_millis(ms), flightsize: 20 * MSS, consecutive: 1 };
    for phase in [Phase::SlowStart, Phase::Climb, Phase::Avoidance, Phase::Freeze, Phase::Ramp] {
        for is_timeout in [false, true] {
            let mut controller = steady(20.0, 100_000, 0, &[]);
            controller.state.phase = phase;
            controller.state.ssthresh = packets(40.0);
            controller.state.due = if phase.is_slow_start() { NEVER } else { 9_000_000_000 };
            let before = controller.state.before();
            match is_timeout {
                false => controller.on_loss(&loss(50, 100)),
                true => controller.on_timeout(&timeout(100)),
            }
            assert_ne!(controller.state.before(), before);
            controller.on_spurious_loss(&undo_since(100));
            assert_eq!(controller.state.before(), before, "{phase:?}, timeout: {is_timeout}");
        }
    }
}

#[test]
fn a_slowdown_that_began_after_a_needless_cut_goes_on_and_returns_to_the_window_of_before() {
    let mut controller = steady(20.0, 100_000, 0, &[]);
    controller.state.due = 150_000_000;
    controller.on_loss(&loss(50, 100));
    controller.on_wake(Time::from_millis(150));
    assert_eq!((controller.state.phase, in_packets(&controller)), (Phase::Freeze, 2.0));
    let thaw = controller.state.due;
    controller.on_spurious_loss(&undo_since(100));
    assert_eq!((controller.state.phase, in_packets(&controller)), (Phase::Freeze, 2.0));
    assert_eq!((controller.state.ssthresh, controller.state.due), (packets(20.0), thaw));
}
