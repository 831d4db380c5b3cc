use super::*;
use crate::event::{Marks, Sent};
use afteryou_base::param::Value;
use afteryou_base::units::Span;

const MSS: u32 = 1000;

fn with(overrides: &[(&'static str, Value)], seed: u64) -> Cdg {
    Cdg::new(&Settings::new(PARAMS, overrides).unwrap(), &Setup { seed, ..Setup::of(MSS) })
}

/// Returns a controller in congestion avoidance with a window of this number of packets.
fn avoiding(packets: f64, overrides: &[(&'static str, Value)]) -> Cdg {
    let mut cdg = with(overrides, 7);
    cdg.window.cwnd = packets * f64::from(MSS);
    cdg.window.ssthresh = cdg.window.cwnd;
    cdg.shadow = cdg.window.cwnd;
    cdg.round_from = Time::from_millis(1000);
    cdg
}

fn packets(cdg: &Cdg) -> f64 {
    cdg.window.cwnd / f64::from(MSS)
}

fn ack(now_ms: u64, sent_ms: u64, rtt_us: u64, bytes: u64) -> Ack {
    Ack {
        now: Time::from_millis(now_ms),
        sent_at: Time::from_millis(sent_ms),
        newly_acked: bytes,
        flightsize: 20_000,
        in_flight: 20_000,
        rtt: Some(Span::from_micros(rtt_us)),
        smoothed_rtt: Some(Span::from_micros(rtt_us)),
        ..Ack::default()
    }
}

fn lost(now_ms: u64, sent_ms: u64) -> Loss {
    let sent = Sent { now: Time::from_millis(sent_ms), bytes: MSS.into(), ..Sent::default() };
    Loss { now: Time::from_millis(now_ms), sent, flightsize: 20_000, ..Loss::default() }
}

/// Runs a round of 100 ms, the `k`-th, of two acks for five packets each, with these round-trip times.
fn round(cdg: &mut Cdg, k: u64, rtts_us: [u64; 2]) -> f64 {
    let end_ms = 1000 + 100 * k;
    cdg.on_ack(&ack(end_ms - 50, end_ms - 140, rtts_us[0], 5000));
    cdg.on_ack(&ack(end_ms, end_ms - 90, rtts_us[1], 5000));
    packets(cdg)
}

#[test]
fn three_milliseconds_more_in_each_of_eight_rounds_lead_to_a_backoff_with_63_percent() {
    // 1 − e^(−g/G) of the paper, G = 3 ms, for means of 0.3, 1, 3 and 9 ms. The kernel's 42/s is 1000/24 rounded, so 0.8 % more.
    let cdg = avoiding(20.0, &[]);
    for (mean_ms, expected) in [(0.3, 0.095_163), (1.0, 0.283_469), (3.0, 0.632_121), (9.0, 0.950_213)] {
        let probability = cdg.probability(8.0 * mean_ms * 1e3);
        assert!((probability / expected - 1.0).abs() < 0.0085, "{mean_ms} ms: {probability}");
    }
    assert_eq!(cdg.probability(0.0), 0.0);
}

#[test]
fn backoffs_are_as_frequent_as_their_probability() {
    // 10 000 draws at 0.2853: a standard deviation of 0.0045. All seeds of a run differ.
    let mut cdg = avoiding(20.0, &[]);
    let probability = cdg.probability(8000.0);
    let frequency = (0..10_000).filter(|_| cdg.draw() < probability).count() as f64 / 1e4;
    assert!((frequency - 0.2853).abs() < 4.0 * 0.0045, "{frequency}");
}

/// Windows after each of 40 rounds, packets.
#[rustfmt::skip]
const EXPECTED: [f64; 40] = [
    20.4969, 14.6659, 15.0068, 10.8469, 11.3079, 12.1756, 8.8997, 9.4615, 7.0639, 7.7717,
    5.9503, 6.7906, 8.1912, 9.3697, 10.4082, 11.3478, 12.2126, 13.0181, 13.7753, 14.4919,
    15.1739, 15.8259, 16.4516, 17.0539, 17.6354, 18.1979, 18.7433, 19.2731, 19.7885, 20.2907,
    20.7806, 21.259, 21.7269, 22.1847, 22.6332, 23.0729, 23.5043, 23.9278, 24.3439, 24.753,
];

/// The numbers are from a calculation of forty lines in another language. It keeps all gradients in a list and sums the last eight anew
/// in each round, so it shares neither the ring nor the running sums. It draws by SplitMix64 from 7 as here.
#[test]
fn a_queue_that_rises_stays_and_falls_gives_the_windows_of_an_independent_calculation() {
    let queue_ms = |k: u64| match k {
        0..=10 => 4 * k,
        11..=18 => 40,
        _ => 40u64.saturating_sub(5 * (k - 18)),
    };
    let mut cdg = avoiding(20.0, &[]);
    for (k, expected) in (1..).zip(EXPECTED) {
        let smallest_us = 50_000 + 1000 * queue_ms(k);
        let window = round(&mut cdg, k, [smallest_us, smallest_us + 2000]);
        assert!((window - expected).abs() < 1e-3, "round {k}: {window} packets, not {expected}");
    }
}

#[test]
fn a_steady_or_falling_delay_never_leads_to_a_backoff() {
    for per_round_us in [0, 1000] {
        let mut cdg = avoiding(20.0, &[]);
        let windows: Vec<f64> = (1..40)
            .map(|k| round(&mut cdg, k, [90_000 - k * per_round_us, 95_000 - k * per_round_us]))
            .collect();
        assert!(windows.is_sorted(), "{windows:?}");
        assert_eq!(cdg.ineffectual, 0);
    }
}

/// Returns how often a controller backs off in 200 rounds of a delay that rises by 20 ms each: practically always if it may.
fn backoffs(overrides: &[(&'static str, Value)]) -> usize {
    let mut cdg = avoiding(100.0, overrides);
    let mut before = packets(&cdg);
    let shrinks = |k: &u64| {
        let after = round(&mut cdg, *k, [50_000 + 20_000 * k, 55_000 + 20_000 * k]);
        let shrinks = after < before || (after == 2.0 && cdg.recovering);
        before = after;
        shrinks
    };
    (1..=200).filter(shrinks).count()
}

#[test]
fn after_five_backoffs_without_effect_there_are_no_more_unless_it_is_switched_off() {
    assert_eq!(backoffs(&[]), 5);
    assert_eq!(backoffs(&[("ineffectual", Value::Count(3))]), 3);
    // Every other round is that of a recovery, whose gradient does not count.
    let all = backoffs(&[("ineffectual", Value::Count(0))]);
    assert!((98..=100).contains(&all), "{all}");
}

#[test]
fn a_fall_of_the_delay_allows_backoffs_again() {
    let mut cdg = avoiding(100.0, &[("rounds", Value::Count(1))]);
    (1..=20).for_each(|k| _ = round(&mut cdg, k, [50_000 + 20_000 * k; 2]));
    assert!(cdg.ineffectual > 5);
    round(&mut cdg, 21, [300_000; 2]);
    assert_eq!(cdg.ineffectual, 0);
}

#[test]
fn a_loss_leaves_half_of_the_shadow_window_but_not_less_than_half_of_the_window() {
    let after_loss = |shadow_packets: f64, overrides: &[(&'static str, Value)]| {
        let mut cdg = avoiding(20.0, overrides);
        cdg.shadow = shadow_packets * f64::from(MSS);
        cdg.on_loss(&lost(100, 50));
        (packets(&cdg), cdg.shadow / f64::from(MSS))
    };
    assert_eq!(after_loss(20.0, &[]), (10.0, 10.0));
    assert_eq!(after_loss(30.0, &[]), (15.0, 15.0));
    assert_eq!(after_loss(100.0, &[]), (20.0, 20.0), "at most the window");
    assert_eq!(after_loss(12.0, &[]), (10.0, 6.0));
    assert_eq!(after_loss(100.0, &[("shadow", Value::Flag(false))]).0, 10.0);
}

#[test]
fn a_backoff_takes_its_part_evenly_over_the_round_trip_and_a_loss_what_is_left_of_it_at_once() {
    let is_allowed = |cdg: &Cdg, packets: f64| (cdg.directive().cwnd as f64 - packets * 1e3).abs() < 1.5;
    let mut cdg = avoiding(20.0, &[]);
    cdg.back_off(Time::from_millis(1100));
    assert!(is_allowed(&cdg, 20.0), "{cdg:?}");
    cdg.on_ack(&ack(1110, 1060, 50_000, 10_000));
    assert!(is_allowed(&cdg, 17.071), "{cdg:?}");
    let mut lossy = cdg.clone();
    lossy.on_loss(&lost(1120, 1070));
    assert!(is_allowed(&lossy, 14.142), "{lossy:?}");
    cdg.on_ack(&ack(1150, 1099, 50_000, 10_000));
    assert!(is_allowed(&cdg, 14.142), "{cdg:?}");
    cdg.on_ack(&ack(1151, 1101, 50_000, 1000));
    assert!(is_allowed(&cdg, 14.213), "{cdg:?}");
}

#[test]
fn the_shadow_window_keeps_what_backoffs_take_and_grows_as_the_window_does() {
    let mut cdg = avoiding(20.0, &[]);
    cdg.back_off(Time::from_millis(100));
    assert!((packets(&cdg) - 14.142).abs() < 1e-9 && cdg.shadow == 20_000.0, "{cdg:?}");
    cdg.on_ack(&ack(200, 150, 50_000, 14_142));
    assert!((packets(&cdg) - 15.142).abs() < 1e-9 && (cdg.shadow - 21_000.0).abs() < 1e-6, "{cdg:?}");
    cdg.on_ack(&Ack { app_limited: true, ..ack(210, 160, 50_000, 1000) });
    assert_eq!(cdg.shadow, cdg.window.cwnd, "what the application does not use is nobody's");
}

#[test]
fn a_loss_while_the_queue_is_not_full_is_ignored_only_with_tolerance() {
    for (tolerance, queue, expected) in [
        (true, Queue::NotFull, 20.0),
        (true, Queue::Full, 10.0),
        (true, Queue::Unknown, 10.0),
        (false, Queue::NotFull, 10.0),
    ] {
        let mut cdg = avoiding(20.0, &[("tolerance", Value::Flag(tolerance))]);
        cdg.queue = queue;
        cdg.on_loss(&lost(100, 50));
        assert_eq!(packets(&cdg), expected, "{tolerance}, {queue:?}");
    }
}

#[test]
fn the_gradient_of_the_round_after_a_reduction_does_not_count() {
    let mut cdg = avoiding(20.0, &[]);
    (1..=2).for_each(|k| _ = round(&mut cdg, k, [50_000, 50_000]));
    cdg.on_loss(&lost(1200, 1150));
    round(&mut cdg, 3, [250_000, 250_000]);
    assert!(!cdg.recovering);
    round(&mut cdg, 4, [250_000, 250_000]);
    assert_eq!(cdg.gradients.summed_us(), 0.0, "neither the rise nor what follows");
}

#[test]
fn losses_and_marks_of_a_round_trip_count_once_and_a_loss_in_a_backoff_not_at_all() {
    let mut cdg = avoiding(40.0, &[]);
    cdg.on_loss(&lost(100, 50));
    cdg.on_ack(&Ack { marks: Marks::Echo, ..ack(110, 60, 50_000, 1000) });
    assert_eq!(packets(&cdg), 20.0);
    cdg.on_ack(&Ack { marks: Marks::Echo, ..ack(160, 110, 50_000, 1000) });
    assert_eq!(packets(&cdg), 10.0);
    let mut cdg = avoiding(40.0, &[]);
    cdg.back_off(Time::from_millis(100));
    cdg.on_loss(&lost(110, 60));
    assert!((packets(&cdg) - 28.284).abs() < 1e-9, "{cdg:?}");
}

#[test]
fn idle_time_forgets_the_gradients_and_leaves_the_initial_window() {
    let mut cdg = avoiding(40.0, &[]);
    (1..=5).for_each(|k| _ = round(&mut cdg, k, [50_000, 50_000 + 10 * k]));
    let now = Time::from_millis(10_000);
    cdg.on_idle(&Idle { now, idle_for: Span::from_secs(9), rto: Span::from_secs(1) });
    assert_eq!((packets(&cdg), cdg.gradients.summed_us()), (10.0, 0.0));
    assert!(cdg.shadow > 40_000.0);
}
