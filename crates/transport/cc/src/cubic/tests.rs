use super::*;
use crate::event::{Marks, Sent, SpuriousLoss};
use afteryou_base::param::Value;

/// 2^20 B packets make whole bytes a fine unit for windows given in packets.
const MSS: u64 = 1 << 20;

fn with(overrides: &[(&'static str, Value)]) -> Cubic {
    Cubic::new(&Settings::new(PARAMS, overrides).unwrap(), MSS as u32)
}

fn in_packets(bytes: f64) -> f64 {
    bytes / MSS as f64
}

/// Returns a controller in congestion avoidance with a window of `w` packets, before any loss.
fn avoiding(w: f64, overrides: &[(&'static str, Value)]) -> Cubic {
    let mut controller = with(overrides);
    controller.window.cwnd = controller.packets(w);
    controller.window.ssthresh = controller.window.cwnd;
    controller
}

/// Returns a controller that has lost a packet at a window of 100 packets, at 100 ms; the next ack begins the epoch.
fn after_loss_at_100() -> Cubic {
    let mut controller = avoiding(100.0, &[]);
    controller.on_loss(&loss(50, 100, 100));
    controller
}

/// Returns an ack at `now_ms` for packets sent 50 ms before, with a smoothed round-trip time of 100 ms.
fn ack(now_ms: u64, packets: u64) -> Ack {
    Ack {
        now: Time::from_millis(now_ms),
        newly_acked: packets * MSS,
        newly_sacked: 0,
        flightsize: 1000 * MSS,
        in_flight: 1000 * MSS,
        sent_at: Time::from_millis(now_ms.saturating_sub(50)),
        packet_number: 1,
        rtt: Some(Span::from_millis(100)),
        smoothed_rtt: Some(Span::from_millis(100)),
        one_way_delay: None,
        reverse_delay: None,
        delivery: None,
        round_start: false,
        ..Ack::default()
    }
}

fn loss(sent_ms: u64, now_ms: u64, flight_packets: u64) -> Loss {
    Loss {
        now: Time::from_millis(now_ms),
        sent: Sent { now: Time::from_millis(sent_ms), bytes: MSS, packet_number: 1, ..Sent::default() },
        flightsize: flight_packets * MSS,
        ..Loss::default()
    }
}

fn timeout(now_ms: u64, flight_packets: u64, consecutive: u32) -> Timeout {
    Timeout { now: Time::from_millis(now_ms), flightsize: flight_packets * MSS, consecutive }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

fn extra(controller: &Cubic, name: &str) -> Option<f64> {
    controller.snapshot().extra.into_iter().flatten().find(|(n, _)| *n == name).map(|(_, value)| value)
}

/// Returns the event that the last loss of a recovery has turned out to be none.
fn undo_at(now: Time) -> SpuriousLoss {
    SpuriousLoss { now, undo: true, ..SpuriousLoss::default() }
}

/// Returns the event that everything lost since then has arrived.
fn undo_since(ms: u64) -> SpuriousLoss {
    SpuriousLoss { since: Time::from_millis(ms), ..undo_at(Time::from_millis(ms + 10)) }
}

#[test]
fn after_a_loss_at_100_packets_the_window_follows_the_cubic_function() {
    let mut controller = after_loss_at_100();
    assert_eq!(controller.directive().cwnd, 70 * MSS);
    assert_eq!(extra(&controller, "k_s"), None, "the epoch begins with congestion avoidance");
    controller.on_ack(&ack(200, 0));
    let k = extra(&controller, "k_s").unwrap();
    assert!(close(k, 4.217_163));
    assert_eq!(extra(&controller, "w_max"), Some(100.0));
    let w_max = controller.packets(100.0);
    let rows = [(0.0, 70.0), (1.0, 86.6808), (2.0, 95.6403), (k, 100.0), (5.0, 100.1919), (6.0, 102.2667)];
    for (t, expected) in rows {
        let w = in_packets(controller.w_cubic(w_max, k, t));
        assert!((w - expected).abs() < 5e-5, "W({t}) = {w} for {expected}");
    }
    assert!((controller.alpha - 0.529_412).abs() < 5e-7);
}

#[test]
fn above_the_last_window_the_friendly_region_grows_like_reno_or_as_slowly_as_below_as_in_linux() {
    let grown = |friendly: &'static str| {
        let mut controller = avoiding(100.0, &[("friendly", Value::Choice(friendly))]);
        controller.curve.cwnd_prior = controller.packets(90.0);
        controller.on_ack(&ack(100, 0));
        let before = controller.curve.epoch.unwrap().w_est;
        controller.on_ack(&ack(101, 10));
        in_packets(controller.curve.epoch.unwrap().w_est - before)
    };
    // Ten packets of a window of 100.
    assert!((grown("rfc9438") - 0.1).abs() < 1e-6, "{}", grown("rfc9438"));
    assert!((grown("linux") - 0.052_941).abs() < 1e-5, "{}", grown("linux"));
}

#[test]
fn linux_grows_by_five_percent_a_round_trip_until_a_loss_and_again_after_a_timeout() {
    let grown = |friendly: &'static str, prepare: fn(&mut Cubic)| {
        let mut controller = avoiding(100.0, &[("friendly", Value::Choice(friendly))]);
        prepare(&mut controller);
        controller.on_ack(&ack(200, 0));
        let before = controller.window.cwnd;
        controller.on_ack(&ack(201, 10));
        in_packets(controller.window.cwnd - before)
    };
    let lose: fn(&mut Cubic) = |controller| controller.on_loss(&loss(50, 100, 100));
    assert!(close(grown("linux", |_| ()), 0.5), "{}", grown("linux", |_| ()));
    assert!(grown("rfc9438", |_| ()) < 0.2);
    assert!(grown("linux", lose) < 0.2, "{}", grown("linux", lose));
    let forget: fn(&mut Cubic) = |controller| {
        controller.on_loss(&loss(50, 100, 100));
        controller.forget();
    };
    assert!(close(grown("linux", forget), 0.5), "{}", grown("linux", forget));
}

#[test]
fn one_ack_closes_its_share_of_the_gap_to_the_window_a_round_trip_ahead() {
    let mut controller = after_loss_at_100();
    controller.on_ack(&ack(200, 0));
    controller.window.cwnd = controller.packets(80.0);
    let epoch = controller.curve.epoch.unwrap();
    let w_max = controller.packets(100.0);
    assert!(close(in_packets(controller.w_cubic(w_max, epoch.k, 1.1)), 87.884_575));
    controller.on_ack(&ack(1200, 1));
    assert!(close(in_packets(controller.window.cwnd), 80.098_557), "{}", in_packets(controller.window.cwnd));
}

#[test]
fn a_window_that_did_not_come_back_gives_up_more_with_fast_convergence() {
    for (fast_convergence, expected) in [(true, 68.0), (false, 80.0)] {
        let mut controller = avoiding(100.0, &[("fast_convergence", Value::Flag(fast_convergence))]);
        controller.on_loss(&loss(50, 100, 100));
        controller.window.cwnd = controller.packets(80.0);
        controller.on_loss(&loss(150, 200, 80));
        assert_eq!(extra(&controller, "w_max"), Some(expected));
        assert_eq!(controller.directive().cwnd, 56 * MSS);
    }
}

#[test]
fn a_window_above_its_last_maximum_starts_convex() {
    let mut controller = avoiding(2.5, &[]);
    controller.on_loss(&loss(50, 100, 3));
    controller.on_loss(&loss(101, 200, 2));
    assert!(close(extra(&controller, "w_max").unwrap(), 1.7));
    controller.on_ack(&ack(300, 0));
    assert_eq!((controller.directive().cwnd, extra(&controller, "k_s")), (2 * MSS, Some(0.0)));
}

#[test]
fn a_new_packet_size_begins_a_new_epoch() {
    let mut controller = after_loss_at_100();
    controller.on_ack(&ack(200, 1));
    controller.on_mtu(2 * MSS as u32);
    let k = libm::cbrt((50.0 - in_packets(controller.window.cwnd) / 2.0) / 0.4);
    controller.on_ack(&ack(300, 0));
    assert!(close(extra(&controller, "k_s").unwrap(), k));
    assert_eq!(extra(&controller, "w_max"), Some(50.0));
}

#[test]
fn the_window_grows_by_at_most_half_in_a_round_trip() {
    let mut controller = avoiding(10.0, &[]);
    controller.on_ack(&ack(0, 0));
    controller.on_ack(&ack(60_000, 10));
    assert!(close(in_packets(controller.window.cwnd), 15.0));
    controller.on_ack(&ack(120_000, 1_000_000));
    assert!(close(in_packets(controller.window.cwnd), 22.5), "also by one huge ack");
}

#[test]
fn on_a_short_path_it_grows_like_reno_and_at_full_speed_past_the_old_window() {
    let mut controller = avoiding(10.0, &[]);
    controller.on_loss(&loss(50, 100, 10));
    let mut now_us = 200_000;
    let mut round = |controller: &mut Cubic| {
        let before = controller.window.cwnd;
        for _ in 0..1000 {
            now_us += 1;
            let acked = (before / 1000.0) as u64;
            let now = Time::from_micros(now_us);
            let smoothed_rtt = Some(Span::from_millis(1));
            controller.on_ack(&Ack { now, sent_at: now, newly_acked: acked, smoothed_rtt, ..ack(0, 0) });
        }
        in_packets(controller.window.cwnd - before)
    };
    // Just under α and 1: the window that divides grows within the round.
    let slow = round(&mut controller);
    assert!(slow > 0.49 && slow < 0.5295, "{slow}");
    while in_packets(controller.window.cwnd) < 10.0 {
        round(&mut controller);
    }
    let fast = round(&mut controller);
    assert!(fast > 0.94 && fast < 1.0, "{fast}");
}

#[test]
fn application_limited_time_does_not_count() {
    let mut busy = after_loss_at_100();
    let mut paused = busy.clone();
    for controller in [&mut busy, &mut paused] {
        controller.on_ack(&ack(200, 1));
    }
    (1..100).for_each(|i| paused.on_ack(&Ack { app_limited: true, ..ack(200 + 100 * i, 1) }));
    assert_eq!(paused.directive().cwnd, busy.directive().cwnd);
    let now = Time::from_millis(10_600);
    paused.on_idle(&Idle { now, idle_for: Span::from_millis(500), rto: Span::from_secs(1) });
    busy.on_ack(&ack(400, 1));
    paused.on_ack(&ack(10_800, 1));
    assert_eq!(paused.directive().cwnd, busy.directive().cwnd);
    assert_eq!(paused.curve.epoch.unwrap().t, busy.curve.epoch.unwrap().t);
}

#[test]
fn a_pause_begins_with_the_last_packet_and_not_with_its_ack() {
    let mut controller = after_loss_at_100();
    (2..=10).for_each(|i| controller.on_ack(&ack(100 * i, 10)));
    let t = controller.curve.epoch.unwrap().t;
    assert_eq!(t, Span::from_millis(800));
    let idle = |idle_ms| Idle {
        now: Time::from_millis(1200),
        idle_for: Span::from_millis(idle_ms),
        rto: Span::from_secs(1),
    };
    for (idle_ms, counted_ms) in [(200, 800), (300, 700), (250, 750)] {
        let mut paused = controller.clone();
        paused.on_idle(&idle(idle_ms));
        assert_eq!(paused.curve.epoch.unwrap().t, Span::from_millis(counted_ms));
    }
    // An ack of an application-limited packet was not counted.
    controller.on_ack(&Ack { app_limited: true, ..ack(1100, 1) });
    controller.on_idle(&idle(150));
    assert_eq!(controller.curve.epoch.unwrap().t, t);
}

#[test]
fn pauses_of_any_length_do_not_count() {
    let mut busy = after_loss_at_100();
    busy.on_ack(&ack(200, 1));
    let mut paused = busy.clone();
    for round in 1..=40 {
        busy.on_ack(&ack(200 + 50 * round, 10));
        // Fifty milliseconds of sending in each quarter of a second.
        let start = 200 + 250 * round;
        let now = Time::from_millis(start - 50);
        paused.on_idle(&Idle { now, idle_for: Span::from_millis(200), rto: Span::from_millis(300) });
        paused.on_ack(&ack(start, 10));
    }
    assert_eq!(paused.curve.epoch.unwrap().t, busy.curve.epoch.unwrap().t);
    assert_eq!(paused.directive().cwnd, busy.directive().cwnd);
}

#[test]
fn a_loss_leaves_seven_tenths_once_per_round_trip() {
    let mut controller = after_loss_at_100();
    controller.on_loss(&loss(90, 120, 100));
    controller.on_ack(&Ack { marks: Marks::Count(1), ..ack(130, 1) });
    assert_eq!(controller.directive().cwnd, 70 * MSS);
    controller.on_ack(&ack(150, 10));
    assert_eq!(controller.directive().cwnd, 70 * MSS, "no growth on acks of packets sent before the loss");
    controller.on_loss(&loss(140, 190, 100));
    assert_eq!(controller.directive().cwnd, 49 * MSS);
}

#[test]
fn a_loss_leaves_two_packets_and_marks_lead_down_to_one() {
    let mut controller = avoiding(2.5, &[]);
    controller.on_loss(&loss(50, 100, 3));
    assert_eq!(controller.directive().cwnd, 2 * MSS);
    controller.on_ack(&Ack { marks: Marks::Count(1), ..ack(200, 1) });
    assert!(close(in_packets(controller.window.cwnd), 1.4));
    assert_eq!(controller.snapshot().ssthresh, Some(2 * MSS));
    controller.on_ack(&Ack { marks: Marks::Count(1), ..ack(300, 1) });
    assert_eq!(controller.directive().cwnd, MSS);
}

#[test]
fn after_a_timeout_the_first_epoch_is_convex_from_its_start() {
    let mut controller = avoiding(100.0, &[]);
    controller.on_loss(&loss(50, 100, 100));
    controller.on_ack(&ack(200, 0));
    controller.on_timeout(&timeout(1000, 70, 1));
    assert_eq!(controller.directive().cwnd, MSS);
    assert_eq!(controller.snapshot().ssthresh, Some(49 * MSS));
    controller.on_timeout(&timeout(2000, 1, 2));
    assert_eq!(controller.snapshot().ssthresh, Some(49 * MSS), "an outage keeps it");
    assert_eq!(controller.snapshot().phase, "slow start");
    controller.on_ack(&ack(2100, 48));
    assert_eq!(controller.snapshot().phase, "congestion avoidance");
    assert_eq!((extra(&controller, "w_max"), extra(&controller, "k_s")), (Some(49.0), Some(0.0)));
    assert_eq!(controller.curve.epoch.unwrap().w_est, controller.packets(49.0));
}

#[test]
fn a_timeout_in_recovery_does_not_shrink_the_threshold_again() {
    let mut controller = after_loss_at_100();
    controller.on_timeout(&timeout(400, 70, 1));
    assert_eq!(controller.snapshot().ssthresh, Some(70 * MSS));

    let mut controller = after_loss_at_100();
    let now = Time::from_millis(200);
    controller.on_idle(&Idle { now, idle_for: Span::from_millis(20), rto: Span::from_secs(1) });
    controller.on_timeout(&timeout(400, 70, 1));
    assert_eq!(controller.snapshot().ssthresh, Some(49 * MSS), "recovery was over");
}

#[test]
fn a_slow_start_that_hystart_ended_goes_on_convex() {
    let mut controller = with(&[("hystart", Value::Choice("hystart++"))]);
    for rtt_ms in [40, 45, 46, 46, 46, 46, 46] {
        for sample in 0..8 {
            let rtt = Some(Span::from_millis(rtt_ms));
            controller.on_ack(&Ack { rtt, round_start: sample == 0, ..ack(100, 1) });
        }
    }
    let window = controller.snapshot().ssthresh.unwrap() as f64;
    assert_eq!(controller.snapshot().phase, "congestion avoidance");
    assert_eq!(
        (extra(&controller, "w_max"), extra(&controller, "k_s")),
        (Some(in_packets(window)), Some(0.0))
    );
}

#[test]
fn a_spurious_loss_restores_the_whole_state() {
    let mut controller = after_loss_at_100();
    controller.on_ack(&ack(200, 1));
    controller.on_ack(&ack(700, 1));
    let before = controller.clone();
    controller.on_loss(&loss(660, 710, 70));
    assert!(controller.directive().cwnd < before.directive().cwnd);
    controller.on_spurious_loss(&undo_since(710));
    assert_eq!(controller.snapshot(), before.snapshot());
    assert_eq!(controller.curve.epoch, before.curve.epoch);
    controller.on_loss(&loss(670, 730, 70));
    assert!(
        controller.directive().cwnd < before.directive().cwnd,
        "another loss of that flight still counts"
    );
}

#[test]
fn a_needless_timeout_restores_the_state_before_the_first_expiry() {
    for expiries in [1, 3] {
        let mut controller = after_loss_at_100();
        controller.on_ack(&ack(200, 1));
        let before = controller.clone();
        (1..=expiries).for_each(|consecutive| controller.on_timeout(&timeout(400, 70, consecutive)));
        assert_eq!(controller.directive().cwnd, MSS);
        controller.on_spurious_loss(&undo_since(400));
        assert_eq!(controller.snapshot(), before.snapshot());
        assert_eq!(controller.curve.epoch, before.curve.epoch);
    }
}

#[test]
fn a_larger_window_ends_the_chance_of_undo() {
    let mut controller = after_loss_at_100();
    controller.window.cwnd = controller.packets(101.0);
    controller.on_spurious_loss(&undo_at(Time::from_millis(9000)));
    assert_eq!(controller.directive().cwnd, 101 * MSS);
}

#[test]
fn idle_longer_than_the_timeout_begins_a_new_epoch_from_the_initial_window() {
    let mut controller = after_loss_at_100();
    controller.on_ack(&ack(200, 1));
    let now = Time::from_millis(2000);
    controller.on_idle(&Idle { now, idle_for: Span::from_secs(1), rto: Span::from_millis(300) });
    assert_eq!(controller.directive().cwnd, 10 * MSS);
    assert_eq!(controller.snapshot().phase, "slow start");
    controller.on_ack(&ack(2100, 60));
    assert!(close(extra(&controller, "k_s").unwrap(), 4.217_163));
    assert_eq!(controller.curve.epoch.unwrap().t, Span::ZERO);
}

#[test]
fn regrowth_takes_the_same_time_on_paths_of_any_length() {
    for rtt_ms in [20, 50, 200] {
        let mut controller = avoiding(1000.0, &[]);
        controller.on_loss(&loss(50, 100, 1000));
        let mut now_ms = 200;
        while in_packets(controller.window.cwnd) < 999.0 {
            now_ms += rtt_ms;
            let acked = in_packets(controller.window.cwnd) as u64;
            controller.on_ack(&Ack { smoothed_rtt: Some(Span::from_millis(rtt_ms)), ..ack(now_ms, acked) });
        }
        // K is 9.09 s here; the last packet takes ∛(1/C) = 1.36 s of it.
        let seconds = (now_ms - 200) as f64 / 1000.0;
        assert!((7.3..8.1).contains(&seconds), "{rtt_ms} ms: {seconds} s");
    }
}
