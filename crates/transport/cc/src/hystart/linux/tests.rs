use super::*;

const MSS: u32 = 1000;
const GROW: Advice = Advice::Grow { divisor: 1.0 };

/// Returns an ack at `now_us` for a packet that left `rtt_us` before.
fn ack(now_us: u64, rtt_us: u64) -> Ack {
    let now = Time::from_micros(now_us);
    Ack {
        now,
        newly_acked: 1000,
        sent_at: Time::from_micros(now_us.saturating_sub(rtt_us)),
        rtt: Some(Span::from_micros(rtt_us)),
        smoothed_rtt: Some(Span::from_micros(rtt_us)),
        ..Ack::default()
    }
}

/// Feeds acks of 40 ms, `apart_us` apart, at a window of `packets`; returns how long after the first one slow start ends, µs.
fn end_of_train(hystart: &mut LinuxHyStart, from_us: u64, apart_us: u64, packets: f64) -> Option<u64> {
    // A round lasts a round-trip time: within 40 ms no packet comes back that left in it.
    let acks = (0..40_000 / apart_us).map(|i| i * apart_us);
    acks.into_iter().find(|after_us| {
        let cwnd = packets * f64::from(MSS);
        hystart.on_ack(&ack(from_us + after_us, 40_000), cwnd, MSS) == Advice::Leave
    })
}

#[test]
fn a_train_of_acks_longer_than_half_the_path_and_half_the_cushion_ends_slow_start() {
    let mut hystart = LinuxHyStart::new(false);
    assert_eq!(
        end_of_train(&mut hystart, 40_000, 100, 20.0),
        Some(20_600),
        "(40 ms + 1 ms) / 2, and no equal"
    );
    assert_eq!(hystart.on_ack(&ack(70_000, 40_000), 20_000.0, MSS), GROW, "it is found once");
}

#[test]
fn a_sender_that_paces_is_allowed_the_whole_path() {
    // A path of 40 ms with a queue of 4 ms, too short for the delay to decide: a round lasts 44 ms.
    for (is_paced, expected_ms) in [(false, 21), (true, 42)] {
        let mut hystart = LinuxHyStart::new(is_paced);
        hystart.on_ack(&ack(40_000, 40_000), 1000.0, MSS);
        let ended_ms = (0..44)
            .find(|ms| hystart.on_ack(&ack(100_000 + ms * 1000, 44_000), 20_000.0, MSS) == Advice::Leave);
        assert_eq!(ended_ms, Some(expected_ms), "41 ms, halved without pacing");
    }
}

#[test]
fn a_gap_of_more_than_two_milliseconds_ends_the_train_of_its_round_alone() {
    let mut hystart = LinuxHyStart::new(false);
    assert_eq!(end_of_train(&mut hystart, 40_000, 2_001, 20.0), None);
    assert_eq!(end_of_train(&mut hystart, 90_000, 2_000, 20.0), Some(22_000), "the next round has its own");
}

#[test]
fn below_sixteen_packets_nothing_is_looked_for_but_the_smallest_round_trip_is_kept() {
    let mut hystart = LinuxHyStart::new(false);
    assert_eq!(end_of_train(&mut hystart, 40_000, 100, 15.99), None);
    assert_eq!(hystart.min_rtt, Some(Span::from_millis(40)));
    assert_eq!(end_of_train(&mut hystart, 90_000, 100, 16.0), Some(20_600));
}

/// Returns the first of `acks` acks of `rtt_us`, 3 ms apart so that there is no train, that ends slow start; the path has
/// `min_us`.
fn end_by_delay(min_us: u64, rtt_us: u64, acks: u64) -> Option<u64> {
    let mut hystart = LinuxHyStart::new(false);
    hystart.on_ack(&ack(min_us, min_us), 1000.0, MSS);
    (1..=acks).find(|i| {
        // All in one round: they left before its first ack.
        let ack = Ack { sent_at: Time::ZERO, ..ack(1_000_000 + 3_000 * i, rtt_us) };
        hystart.on_ack(&ack, 20_000.0, MSS) == Advice::Leave
    })
}

#[test]
fn the_ninth_sample_above_an_eighth_of_the_path_ends_slow_start() {
    for (min_us, threshold_us) in
        [(5_000, 4_000), (32_000, 4_000), (40_000, 5_000), (128_000, 16_000), (250_000, 16_000)]
    {
        assert_eq!(end_by_delay(min_us, min_us + threshold_us, 30), None, "{min_us}");
        assert_eq!(end_by_delay(min_us, min_us + threshold_us + 1, 30), Some(9), "{min_us}");
        assert_eq!(end_by_delay(min_us, min_us + threshold_us + 1, 8), None, "{min_us}");
    }
}

#[test]
fn one_sample_without_a_queue_clears_its_round() {
    let mut hystart = LinuxHyStart::new(false);
    let mut feed = |i: u64, rtt_us: u64| {
        let ack = Ack { sent_at: Time::ZERO, ..ack(1_000_000 + 3_000 * i, rtt_us) };
        hystart.on_ack(&ack, 20_000.0, MSS)
    };
    assert_eq!(feed(0, 40_000), GROW);
    assert!((1..60).all(|i| feed(i, 90_000) == GROW));
}

#[test]
fn the_cushion_shrinks_with_the_rate() {
    let at = |cwnd: f64| cushion(&ack(100_000, 100_000), cwnd);
    assert_eq!(at(1e6), MOST_CUSHION);
    // 256 KiB at 2 · 10^9 B in 0.1 s.
    assert_eq!(at(1e9), Span(13_107));
    assert_eq!(cushion(&Ack::default(), 1e6), Span::ZERO);
}

#[test]
fn after_a_timeout_it_measures_anew() {
    let mut hystart = LinuxHyStart::new(true);
    hystart.on_ack(&ack(40_000, 40_000), 20_000.0, MSS);
    assert_eq!(hystart.anew(), LinuxHyStart::new(true));
}
