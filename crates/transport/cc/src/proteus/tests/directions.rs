//! Where the rate goes, from utilities that the test decides.

use super::super::rate_control::{Direction, Limits, Mode, RateControl, Trial};

const PRIMARY: Limits = Limits { pairs: 3, favours: Direction::Up, least: 0.5 };
const SCAVENGER: Limits = Limits { pairs: 2, favours: Direction::Down, least: 0.5 };

/// Returns the trials of the plan with the utility of each rate.
fn trials(rates: &RateControl, utility: impl Fn(f64) -> f64) -> Vec<Trial> {
    let trial = |mbit_s: &f64| Trial { mbit_s: *mbit_s, utility: utility(*mbit_s), app_limited: false };
    rates.plan().iter().map(trial).collect()
}

/// Returns a control that compares pairs around a rate.
fn probing(limits: Limits, around: f64) -> RateControl {
    let mut rates = RateControl::new(limits, 7);
    rates.start(2.0 * around);
    rates.decide(&[Trial::default()]);
    assert_eq!((rates.mode(), rates.rate()), (Mode::Probing { undecided: 0 }, around));
    rates
}

/// Decides with as many pairs upwards as `up`, the others downwards, each with this difference of utilities.
fn compare(rates: &mut RateControl, up: usize, difference: f64) {
    let pairs = rates.plan().len() / 2;
    let around = rates.rate();
    let trials: Vec<Trial> = rates
        .plan()
        .iter()
        .enumerate()
        .map(|(i, mbit_s)| {
            let is_better = (i / 2 < up) == (*mbit_s > around);
            Trial { mbit_s: *mbit_s, utility: if is_better { difference } else { 0.0 }, app_limited: false }
        })
        .collect();
    assert!(up <= pairs);
    rates.decide(&trials);
}

fn direction(rates: &RateControl) -> Option<Direction> {
    match rates.mode() {
        Mode::Moving { to, .. } => Some(to),
        _ => None,
    }
}

#[test]
fn starting_doubles_until_the_utility_falls_and_goes_back_by_half() {
    let mut rates = RateControl::new(PRIMARY, 7);
    rates.start(1.0);
    let mut tried = Vec::new();
    while rates.mode() == Mode::Starting {
        tried.push(rates.rate());
        let trials = trials(&rates, |rate| if rate > 20.0 { -1.0 } else { rate });
        rates.decide(&trials);
    }
    assert_eq!((tried, rates.rate()), (vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 16.0));
}

#[test]
fn pairs_are_five_percent_apart_on_either_side_in_random_order() {
    let mut firsts = [0, 0];
    for seed in 0..500 {
        let mut rates = RateControl::new(PRIMARY, seed);
        rates.start(20.0);
        rates.decide(&[Trial::default()]);
        assert_eq!(rates.plan().len(), 6);
        for pair in rates.plan().chunks(2) {
            assert!(
                (pair[0] + pair[1] - 20.0).abs() < 1e-9 && ((pair[0] - pair[1]).abs() - 1.0).abs() < 1e-9
            );
            firsts[usize::from(pair[0] > pair[1])] += 1;
        }
    }
    assert!(firsts.iter().all(|count| (650..850).contains(count)), "{firsts:?}");
}

#[test]
fn a_majority_leads_the_primary_upwards_and_only_all_pairs_lead_it_downwards() {
    let after = |limits, up| {
        let mut rates = probing(limits, 10.0);
        compare(&mut rates, up, 1.0);
        direction(&rates)
    };
    let (up, down) = (Some(Direction::Up), Some(Direction::Down));
    assert_eq!([0, 1, 2, 3].map(|count| after(PRIMARY, count)), [down, None, up, up]);
    assert_eq!([0, 1, 2].map(|count| after(SCAVENGER, count)), [down, None, up]);
    let three = Limits { pairs: 3, ..SCAVENGER };
    assert_eq!([0, 1, 2, 3].map(|count| after(three, count)), [down, down, None, up]);
}

#[test]
fn the_first_change_is_the_mean_slope_in_mbit_s() {
    // Two of three pairs with 0.3 per pair, 1 Mbit/s apart: a slope of 0.2; 10 · 1.05 + 0.2625 at least.
    let mut rates = probing(PRIMARY, 10.0);
    compare(&mut rates, 2, 0.3);
    assert!((rates.rate() - (10.5 + 0.2625)).abs() < 1e-9, "{}", rates.rate());
    // 0.4 is more than the least change and less than the bound of 5 %.
    let mut rates = probing(PRIMARY, 10.0);
    compare(&mut rates, 3, 0.4);
    assert!((rates.rate() - 10.9).abs() < 1e-9, "{}", rates.rate());
    let mut rates = probing(PRIMARY, 10.0);
    compare(&mut rates, 3, 50.0);
    assert!((rates.rate() - 10.5 * 1.05).abs() < 1e-9, "{}", rates.rate());
}

#[test]
fn a_direction_that_stays_good_is_followed_in_growing_steps() {
    let mut rates = probing(PRIMARY, 10.0);
    compare(&mut rates, 3, 50.0);
    let mut steps = Vec::new();
    for _ in 0..5 {
        let before = rates.rate();
        let trials = trials(&rates, |rate| 50.0 * rate);
        rates.decide(&trials);
        steps.push(rates.rate() / before - 1.0);
    }
    // Each exceeds the bound, which is wider by 5 % then; the first one was that of the comparison.
    let expected = [0.10, 0.15, 0.20, 0.25, 0.30];
    assert!(steps.iter().zip(expected).all(|(step, expected)| (step - expected).abs() < 1e-9), "{steps:?}");
}

#[test]
fn steps_grow_with_their_number_to_the_power_of_1_2() {
    let mut rates = probing(PRIMARY, 1000.0);
    let first = trials(&rates, |rate| 3.0 * rate);
    rates.decide(&first);
    let mut steps = Vec::new();
    for _ in 0..5 {
        let before = rates.rate();
        let trials = trials(&rates, |rate| 3.0 * rate);
        rates.decide(&trials);
        steps.push(rates.rate() - before);
    }
    let amplified = |n: f64| 3.0 * libm::pow(n, 1.2);
    let expected = [1.0, 2.0, 2.0, 3.0, 3.0].map(amplified);
    assert!(steps.iter().zip(&expected).all(|(step, expected)| (step - expected).abs() < 1e-6), "{steps:?}");
}

#[test]
fn a_step_that_fails_is_taken_back_and_rates_are_compared_anew() {
    let mut rates = probing(PRIMARY, 10.0);
    compare(&mut rates, 3, 0.4);
    let trials = trials(&rates, |_| -100.0);
    rates.decide(&trials);
    assert_eq!(
        (rates.mode(), rates.rate()),
        (Mode::Probing { undecided: 0 }, 10.5),
        "the better one of the pair"
    );
}

#[test]
fn downwards_is_followed_just_as_well() {
    let mut rates = probing(SCAVENGER, 40.0);
    let mut count = 0;
    while rates.rate() > 0.5 && count < 100 {
        let trials = trials(&rates, |rate| -10.0 * rate);
        rates.decide(&trials);
        count += 1;
    }
    assert!(count < 16, "{} Mbit/s after {count} steps", rates.rate());
}

#[test]
fn at_the_least_rate_two_comparisons_without_a_result_lead_back_to_starting() {
    let mut rates = probing(SCAVENGER, 0.5);
    compare(&mut rates, 1, 1.0);
    assert_eq!(rates.mode(), Mode::Probing { undecided: 1 });
    compare(&mut rates, 1, 1.0);
    assert_eq!((rates.mode(), rates.rate()), (Mode::Starting, 0.5));
}

#[test]
fn what_the_application_limits_leads_downwards_only() {
    let limited = |rates: &RateControl, slope: f64| -> Vec<Trial> {
        let trials = trials(rates, |rate| slope * rate);
        trials.into_iter().map(|trial| Trial { app_limited: true, ..trial }).collect()
    };
    for (slope, expected) in [(1.0, None), (-1.0, Some(Direction::Down))] {
        let mut rates = probing(PRIMARY, 10.0);
        let trials = limited(&rates, slope);
        rates.decide(&trials);
        assert_eq!(direction(&rates), expected, "a slope of {slope}");
    }
    let mut rates = RateControl::new(PRIMARY, 7);
    rates.start(4.0);
    let trials = limited(&rates, 1.0);
    rates.decide(&trials);
    assert_eq!((rates.mode(), rates.rate()), (Mode::Starting, 4.0));
}
