//! The check vectors of the law, and what holds for every one.

use super::*;
use crate::pie::params::{PARAMS, PRESETS};
use proptest::prelude::*;
use rand_pcg::Pcg64;

impl PieState {
    /// Returns a state with a probability and two delays.
    fn at(law: &Law, probability: f64, delay: Span, old_delay: Span) -> PieState {
        let mut state = PieState { delay, old_delay, ..law.start() };
        state.set(probability);
        state
    }

    /// Returns a state in the middle of a congestion.
    fn dropping(law: &Law, probability: f64) -> PieState {
        let delay = Span::from_millis(100);
        PieState { burst: Span::ZERO, ..PieState::at(law, probability, delay, delay) }
    }
}

/// Returns the law of some rows, for a buffer of a thousand packets.
fn law(rows: &[(&'static str, Value)]) -> Law {
    let settings = Settings::new(PARAMS, rows).unwrap().with_preset(PRESETS);
    Law::new(&settings, Limit::Packets(1000)).unwrap()
}

const WAITING: Backlog = Backlog { packets: 20, bytes: 30_000 };

/// Returns the probability after an update, with delays in milliseconds.
fn updated(law: &Law, probability: f64, delay: u64, old: u64) -> f64 {
    let backlog = if delay == 0 { Backlog::default() } else { WAITING };
    let state = PieState::at(law, probability, Span::from_millis(delay), Span::from_millis(old));
    law.stepped(&state, backlog)
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-6 * expected, "{value} for {expected}");
}

#[test]
fn an_update_is_that_of_the_rfc() {
    let law = law(&[]);
    for (probability, delay, old, expected) in [
        (0.0, 30, 0, 1.922_607e-5),
        (0.05, 20, 18, 0.051_562_5),
        (0.15, 40, 20, 0.17),
        (0.05, 0, 0, 0.048_081_25),
        (0.0005, 20, 20, 5.195_312e-4),
        (0.02, 6, 7, 0.018_812_5),
    ] {
        close(updated(&law, probability, delay, old), expected);
    }
    let appendix_b = self::law(&[("decay_below", Value::Choice("half-target"))]);
    close(updated(&appendix_b, 0.02, 6, 7), 0.018_436_25);
}

#[test]
fn an_update_is_that_of_old_linux() {
    let law = law(&[("preset", Value::Choice("linux-3.17"))]);
    for (probability, delay, old, expected) in [
        (0.0, 30, 0, 0.004_843_75),
        (0.05, 30, 25, 0.053_75),
        (0.005, 30, 25, 0.005_937_5),
        (0.15, 60, 30, 0.17),
        (0.15, 260, 250, 0.19),
        (0.05, 0, 0, 0.047_775),
    ] {
        close(updated(&law, probability, delay, old), expected);
    }
    // No rate is known, but packets wait: no decay.
    let state = PieState::at(&law, 0.05, Span::ZERO, Span::ZERO);
    close(law.stepped(&state, WAITING), 0.048_75);
}

/// Returns the numbers of the packets that are dropped, of `n` that find `WAITING`.
fn drops(law: &Law, state: &mut PieState, n: usize, random: &mut Pcg64) -> Vec<usize> {
    (1..=n).filter(|_| law.signals(state, Time::ZERO, WAITING, random)).collect()
}

#[test]
fn no_two_drops_are_close_together_and_none_is_too_far_away() {
    let law = law(&[]);
    let (mut first, mut forced) = (usize::MAX, 0);
    for seed in 0..20_000 {
        let mut state = PieState::dropping(&law, 0.1);
        let mut random = Pcg64::new(seed, 1);
        let drop = drops(&law, &mut state, 100, &mut random)[0];
        first = first.min(drop);
        forced = forced.max(drop);
    }
    assert_eq!(first, 9, "packets 1 to 8 never");
    // (1 - p)^76 of them come so far.
    assert_eq!(forced, 85);
    let plain = self::law(&[("derandomise", Value::Flag(false))]);
    let mut state = PieState::dropping(&plain, 0.1);
    let drops = drops(&plain, &mut state, 100_000, &mut Pcg64::new(1, 1));
    assert!(drops.windows(2).any(|pair| pair[1] == pair[0] + 1));
    assert!((drops.len() as f64 / 1e5 - 0.1).abs() < 0.005, "{}", drops.len());
}

#[test]
fn the_burst_allowance_is_ten_updates() {
    let law = law(&[]);
    let mut state = PieState::at(&law, 0.5, Span::from_millis(100), Span::from_millis(100));
    let mut random = Pcg64::new(1, 1);
    for update in 1..=10 {
        assert!(drops(&law, &mut state, 100, &mut random).is_empty(), "before update {update}");
        law.update(&mut state, WAITING);
    }
    assert!(!drops(&law, &mut state, 100, &mut random).is_empty());
}

#[test]
fn short_queues_are_spared() {
    let law = law(&[]);
    let mut random = Pcg64::new(1, 1);
    let seven = Span::from_millis(7);
    for (probability, old, bytes, spared) in [
        (0.19, seven, 30_000, true),
        (0.2, seven, 30_000, false),
        (0.19, Span::from_micros(7500), 30_000, false),
        (0.5, Span::from_millis(100), 3000, true),
        (0.5, Span::from_millis(100), 3001, false),
    ] {
        let mut state = PieState { old_delay: old, ..PieState::dropping(&law, probability) };
        let backlog = Backlog { packets: 2, bytes };
        let spares = (0..100).all(|_| !law.signals(&mut state, Time::ZERO, backlog, &mut random));
        assert_eq!(spares, spared, "{probability} {old:?} {bytes}");
    }
}

#[test]
fn a_lazy_queue_has_done_what_a_timer_would_have() {
    for name in ["rfc8033", "linux", "linux-3.17", "freebsd"] {
        let law = law(&[("preset", Value::Choice(name))]);
        let backlog = Backlog::default();
        let start =
            PieState { burst: Span::ZERO, ..PieState::at(&law, 1.0, Span::ZERO, Span::from_millis(80)) };
        let mut timer = PieState { next_update: start.next_update, ..start };
        let mut lazy = start;
        let end = Time::from_millis(40_000);
        while timer.next_update <= end {
            let next = timer.next_update;
            law.update(&mut timer, backlog);
            timer.next_update = next + law.tupdate;
        }
        law.catch_up(&mut lazy, end, backlog);
        assert_eq!(lazy, timer, "{name}");
        assert_eq!(lazy.probability(), 0.0);
    }
}

#[test]
fn a_hundred_years_of_silence_take_no_time_and_end_on_the_grid() {
    let law = law(&[]);
    let mut state =
        PieState { burst: Span::ZERO, ..PieState::at(&law, 1.0, Span::ZERO, Span::from_millis(80)) };
    let later = Time::ZERO + Span::from_secs(100 * 365 * 24 * 3600);
    law.catch_up(&mut state, later, Backlog::default());
    let ahead = state.next_update.since(later);
    assert!(ahead > Span::ZERO && ahead <= law.tupdate, "{ahead:?}");
    assert_eq!(state.next_update.0 % law.tupdate.0, 0);
    law.catch_up(&mut state, Time::NEVER, Backlog::default());
}

#[test]
fn a_long_silence_is_a_bounded_number_of_updates_also_at_the_ends_of_the_ranges() {
    let ends = |name| {
        let param = PARAMS.iter().find(|param| param.name == name).unwrap();
        [(param.name, param.min), (param.name, param.max)]
    };
    let high_delay = ("high_delay", Value::Time(Span::ZERO));
    let a_century = Time::ZERO + Span::from_secs(100 * 365 * 24 * 3600);
    let mut longest = 0;
    for (target, tupdate) in ends("target").into_iter().flat_map(|t| ends("tupdate").map(|u| (t, u))) {
        for (alpha, decay) in ends("alpha").into_iter().flat_map(|a| ends("decay").map(|d| (a, d))) {
            for (preset, burst) in
                ["rfc8033", "linux", "freebsd"].into_iter().zip(ends("burst").iter().cycle())
            {
                let preset = ("preset", Value::Choice(preset));
                let law = law(&[preset, target, tupdate, alpha, decay, *burst, high_delay]);
                for (p, delay, backlog) in [
                    (1.0, Span::ZERO, Backlog::default()),
                    (0.0, law.target + Span(1), WAITING),
                    (1.0, law.target - Span(1), WAITING),
                    (0.5, Span::from_secs(10), WAITING),
                ] {
                    let mut state = PieState::at(&law, p, delay, law.target);
                    longest = longest.max(law.catch_up_late(&mut state, a_century, backlog));
                    assert!((0.0..=1.0).contains(&state.probability()));
                    assert!(backlog.packets > 0 || state.probability() == 0.0, "idle, it forgets");
                    assert!(state.next_update > a_century && state.next_update <= a_century + law.tupdate);
                    assert_eq!(state.next_update.0 % law.tupdate.0, 0);
                }
            }
        }
    }
    assert!((ONE_BY_ONE..ONE_BY_ONE + 64).contains(&longest), "{longest} updates");
}

#[test]
fn what_has_accumulated_is_forgotten_once_there_is_nothing_to_drop() {
    let law = law(&[]);
    for seed in 0..100 {
        let mut random = Pcg64::new(seed, 1);
        let mut state = PieState::dropping(&law, 0.8);
        for p in [0.8, 0.0, 0.8] {
            state.set(p);
            // Twice 0.8 would be enough for a drop.
            assert!(!law.signals(&mut state, Time::ZERO, WAITING, &mut random), "seed {seed}, p {p}");
        }
    }
}

proptest! {
    #[test]
    fn the_probability_is_one_and_goes_back_to_zero_when_idle(
        delays in prop::collection::vec(0..2000u64, 1..300),
        preset in prop::sample::select(vec!["rfc8033", "linux", "linux-3.17", "freebsd"]),
        alpha in 0.001..100.0f64,
        beta in 0.0..100.0f64,
    ) {
        let rows = [("preset", Value::Choice(preset)), ("alpha", Value::Number(alpha)), ("beta", Value::Number(beta))];
        let law = law(&rows);
        let mut state = law.start();
        for delay in delays {
            state.delay = Span::from_millis(delay);
            law.update(&mut state, WAITING);
            prop_assert!((0.0..=1.0).contains(&state.probability()));
        }
        state.delay = Span::ZERO;
        law.catch_up(&mut state, Time::ZERO + Span::from_secs(10_000), Backlog::default());
        prop_assert_eq!(state.probability(), 0.0);
    }
}
