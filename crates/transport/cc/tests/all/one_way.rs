//! One-way delays are blind to the reverse path and to the receiver's clock: 20 Mbit/s, 50 ms.
#![cfg(feature = "std")]

use crate::closed_loop::{Loop, Path, ReverseMs};
use afteryou_base::param::Value;
use afteryou_base::Span;

const TARGET_MS: f64 = 100.0;
const ONE_WAY_RULES: [&str; 3] = ["ledbat", "fledbat", "tcp-lp"];

fn on(rule: &str, path: Path) -> Loop {
    match rule {
        "fledbat" => Loop::new(rule, &[("target", Value::Time(Span::from_millis(100)))], path),
        _ => Loop::new(rule, &[], path),
    }
}

/// Returns the mean queue from 180 s to 300 s, ms.
fn settled_ms(rule: &str, path: Path) -> f64 {
    let mut flow = on(rule, path);
    flow.mean_queue_ms(180);
    flow.mean_queue_ms(300)
}

/// Returns the mean queues of the minutes up to the fifteenth, ms.
fn by_minute(rule: &str, skew_ppm: i32) -> Vec<f64> {
    let mut flow = on(rule, Path { skew_ppm, ..Path::PLAIN });
    (1..=15).map(|minute| flow.mean_queue_ms(60 * minute)).collect()
}

fn within(actual: f64, expected: f64, part: f64) -> bool {
    (actual - expected).abs() <= part * expected
}

#[test]
fn a_reverse_queue_under_which_the_base_was_measured_moves_no_forward_queue() {
    for rule in ONE_WAY_RULES {
        let without = settled_ms(rule, Path::PLAIN);
        let gone =
            settled_ms(rule, Path { reverse_ms: |s| if s < 60.0 { 100.0 } else { 0.0 }, ..Path::PLAIN });
        println!(
            "{rule}: {without:.1} ms without a reverse queue, {gone:.1} ms after one of 100 ms has gone"
        );
        assert!(within(gone, without, 0.05), "{rule}: {gone} for {without} ms");
        assert!(rule != "ledbat" || within(gone, TARGET_MS, 0.05), "{gone} ms");
    }
}

#[test]
fn a_reverse_queue_that_comes_later_moves_no_forward_queue() {
    let mut flow = on("ledbat", Path { reverse_ms: |s| if s > 60.0 { 100.0 } else { 0.0 }, ..Path::PLAIN });
    flow.mean_queue_ms(240);
    let queue_ms = flow.mean_queue_ms(540);
    assert!(within(queue_ms, TARGET_MS, 0.05), "{queue_ms} ms");
}

#[test]
fn a_reverse_queue_that_moves_is_taken_for_no_clock() {
    let moves: [(&str, ReverseMs); 3] = [
        ("comes and goes", |s| if s % 90.0 > 45.0 { 100.0 } else { 0.0 }),
        ("saw-tooth of 8 s", |s| 30.0 + 10.0 * (s % 8.0)),
        ("saw-tooth of 50 s", |s| 30.0 + 1.5 * (s % 50.0)),
    ];
    for (name, reverse_ms) in moves {
        let [corrected, plain] = ["estimated", "none"].map(|clock_skew| {
            let overrides = [("clock_skew", Value::Choice(clock_skew))];
            let mut flow = Loop::new("ledbat", &overrides, Path { reverse_ms, ..Path::PLAIN });
            flow.mean_queue_ms(120);
            flow.mean_queue_ms(540)
        });
        println!("{name}: {corrected:.1} ms, {plain:.1} ms without a correction");
        assert!(within(corrected, plain, 0.02), "{name}: {corrected} ms for {plain}");
    }
}

#[test]
fn a_clock_that_runs_fast_or_slow_changes_no_growth_of_the_queue() {
    for rule in ONE_WAY_RULES {
        let without = by_minute(rule, 0);
        println!("{rule} {:4} ppm: {without:.1?}", 0);
        for skew_ppm in [-200, -100, 100, 200] {
            let skewed = by_minute(rule, skew_ppm);
            println!("{rule} {skew_ppm:4} ppm: {skewed:.1?}");
            for (minute, (skewed, without)) in skewed.iter().zip(&without).enumerate() {
                assert!(
                    within(*skewed, *without, 0.02),
                    "{rule}, {skew_ppm} ppm, minute {minute}: {skewed} ms"
                );
            }
            // In the eleventh minute the history forgets the empty path: LEDBAT's own drift, by TARGET.
            let growth_ms = |queues: &[f64]| queues[14] - queues[3];
            let [skewed, without] = [&skewed, &without].map(|queues| growth_ms(queues));
            let allowed_ms = 0.1 * without.max(10.0);
            assert!(
                (skewed - without).abs() < allowed_ms,
                "{rule}, {skew_ppm} ppm: {skewed} for {without} ms"
            );
        }
    }
}
