use super::*;
use afteryou_base::units::Time;

fn ack(rtt: Option<Span>, round_start: bool) -> Ack {
    Ack {
        now: Time::ZERO,
        newly_acked: 1000,
        newly_sacked: 0,
        flightsize: 1000,
        in_flight: 1000,
        sent_at: Time::ZERO,
        packet_number: 1,
        rtt,
        smoothed_rtt: None,
        one_way_delay: None,
        reverse_delay: None,
        delivery: None,
        round_start,
        ..Ack::default()
    }
}

/// Acknowledges a round of `samples` packets that all measure `rtt_us`; returns the advice for its last ack.
fn round(hystart: &mut HyStart, samples: u32, rtt_us: u64) -> Advice {
    let mut advice = Advice::Grow { divisor: 1.0 };
    for sample in 0..samples {
        advice = hystart.on_ack(&ack(Some(Span::from_micros(rtt_us)), sample == 0));
        if advice == Advice::Leave {
            break;
        }
    }
    advice
}

/// Returns a detector in conservative slow start, entered with `entry_samples` acks in its first round, at 45 ms.
fn conservative(entry_samples: u32) -> HyStart {
    let mut hystart = HyStart::default();
    round(&mut hystart, 8, 40_000);
    round(&mut hystart, entry_samples, 45_000);
    assert!(hystart.is_conservative());
    hystart
}

#[test]
fn growth_slows_down_when_the_minimum_rises_by_an_eighth_within_bounds() {
    let rows = [(40, 5, 45), (200, 16, 216), (16, 4, 20)];
    for (last_ms, threshold_ms, entry_ms) in rows {
        assert_eq!(rtt_threshold(Span::from_millis(last_ms)), Span::from_millis(threshold_ms));
        for (rtt_us, expected) in [(entry_ms * 1000 - 1, false), (entry_ms * 1000, true)] {
            let mut hystart = HyStart::default();
            round(&mut hystart, 8, last_ms * 1000);
            round(&mut hystart, 8, rtt_us);
            assert_eq!(hystart.is_conservative(), expected, "{last_ms} ms, then {rtt_us} us");
        }
    }
}

#[test]
fn seven_samples_say_nothing() {
    let mut hystart = HyStart::default();
    round(&mut hystart, 8, 40_000);
    round(&mut hystart, 7, 100_000);
    assert!(!hystart.is_conservative());
    hystart.on_ack(&ack(None, false));
    assert!(!hystart.is_conservative(), "an ack without a sample is none");
    hystart.on_ack(&ack(Some(Span::from_millis(100)), false));
    assert!(hystart.is_conservative());
}

#[test]
fn the_first_round_has_nothing_to_compare_with() {
    let mut hystart = HyStart::default();
    assert_eq!(round(&mut hystart, 100, 900_000), Advice::Grow { divisor: 1.0 });
    assert!(!hystart.is_conservative());
}

#[test]
fn one_late_sample_is_ignored() {
    let mut hystart = HyStart::default();
    round(&mut hystart, 8, 40_000);
    round(&mut hystart, 1, 40_500);
    (0..20).for_each(|_| {
        hystart.on_ack(&ack(Some(Span::from_millis(90)), false));
    });
    assert!(!hystart.is_conservative());
}

#[test]
fn slow_start_ends_after_the_round_of_entry_and_four_more() {
    for entry_samples in [8, 50] {
        let mut hystart = conservative(entry_samples);
        for _ in 0..4 {
            assert_eq!(round(&mut hystart, 8, 46_000), Advice::Grow { divisor: CSS_GROWTH_DIVISOR });
        }
        assert_eq!(round(&mut hystart, 8, 46_000), Advice::Leave);
    }
}

#[test]
fn a_delay_that_falls_again_resumes_slow_start() {
    let mut hystart = conservative(8);
    round(&mut hystart, 8, 45_000);
    assert!(hystart.is_conservative(), "as high as at entry");
    round(&mut hystart, 8, 44_999);
    assert!(!hystart.is_conservative());
    assert_eq!(round(&mut hystart, 8, 44_999), Advice::Grow { divisor: 1.0 });
}
