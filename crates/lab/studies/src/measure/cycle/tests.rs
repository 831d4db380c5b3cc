use super::*;
use afteryou_scenario::outcome::{Exact, Run, Series};
use afteryou_scenario::{Flow, Link, Role, Scenario};

/// Returns an outcome with slow-downs at 10, 20 and 30 s: a freeze of 0.2 s and a ramp of 0.8 s. The window climbs to 100
/// kB, falls to 80 kB in the next second, and grows to 100 kB again. The queue is 100 ms in that second and 40 ms after it;
/// the path takes 50 ms.
fn outcome() -> Outcome {
    let mut run = Run { duration_s: 40.0, ..Run::default() };
    let flow = || "a".to_owned();
    for began in [10.0, 20.0, 30.0] {
        let phases = [("slowdown freeze", 0.0, 0.2), ("slowdown ramp", 0.2, 1.0)];
        run.phases.extend(phases.map(|(phase, from, to)| PhaseSpan {
            flow: flow(),
            phase: phase.to_owned(),
            from_s: began + from,
            to_s: began + to,
        }));
    }
    let event = |at_s| Exact { at_s, flow: flow(), what: "drop".to_owned(), cwnd_bytes: 0, seconds: None };
    run.events = vec![event(10.5), event(25.0)];
    let steps = || (0..400).map(|step| f64::from(step) / 10.0);
    let of = |of: &str, quantity: &str, value: fn(f64) -> f64| Series {
        of: of.to_owned(),
        quantity: quantity.to_owned(),
        unit: String::new(),
        start_s: 0.0,
        step_s: 0.1,
        values: steps().map(|at| Some(value(at % 10.0))).collect(),
    };
    run.series = vec![
        of("a", "cwnd", |at| match at {
            at if at < 0.95 => 2.0,
            at if at < 1.95 => 100.0 - 20.0 * (at - 0.95),
            at => 80.0 + 20.0 * (at - 2.0) / 8.0,
        }),
        of("link", "queuing_delay", |at| if (0.95..1.95).contains(&at) { 100.0 } else { 40.0 }),
        of("a", "base_delay", |_| 50.0),
        of("a", "goodput", |at| if at < 0.35 { 0.3 } else { 10.0 }),
    ];
    let link = Link::new("20 Mbit/s".parse().unwrap(), "100 ms".parse().unwrap());
    let mut scenario = Scenario::new("made up", "40 s".parse().unwrap(), link);
    scenario.flow = vec![Flow::new("a", Role::Background, "ledbat++", "50 ms".parse().unwrap())];
    Outcome::new("sim", "0", scenario, run, None)
}

fn read(take: fn(&Outcome, &Args) -> Result<Reading>, with: &str) -> f64 {
    let args = toml::from_str(&format!("flow = \"a\"\n{with}")).unwrap();
    take(&outcome(), &args).unwrap().number().unwrap()
}

fn close(value: f64, expected: f64, within: f64) {
    assert!((value - expected).abs() <= within, "{value} for {expected}");
}

#[test]
fn a_cycle_is_from_a_slow_down_to_the_next_one() {
    close(read(period, ""), 10.0, 1e-9);
    close(read(variation, ""), 0.0, 1e-9);
    close(read(ramps_cut, ""), 0.5, 1e-9);
    close(read(ramps_cut, "last = 1"), 0.0, 1e-9);
    assert!(cycles(&outcome(), &toml::from_str("flow = \"a\"\nfrom = 30").unwrap()).is_err());
}

#[test]
fn the_window_drops_by_a_fifth_and_grows_back() {
    close(read(peaks, ""), 0.0, 1e-9);
    close(read(drop, ""), 0.2, 0.011);
    close(read(gain, ""), 1.0, 0.05);
}

#[test]
fn round_trips_are_long_after_the_ramp_and_short_while_the_window_grows() {
    close(read(ramp_rtt, ""), 150.0, 1e-9);
    close(read(linear_rtt, "part = 0.95"), 90.0, 1e-9);
}

#[test]
fn what_arrives_in_a_round_trip_is_in_flight() {
    // 0.3 Mbit/s for 0.1 s, the least step that covers a round trip, in packets of 1448 B.
    close(read(least_in_slowdown, ""), 0.3e6 * 0.1 / 8.0 / 1448.0, 1e-6);
}
