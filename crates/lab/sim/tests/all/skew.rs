//! A receiver's clock that runs fast or slow shows as a queue that grows or shrinks.

use crate::support::*;
use afteryou_scenario::{Flow, Transport};

/// Returns by how much the queue of a lone LEDBAT flow with a target of 60 ms grows in its second minute, ms.
fn growth_ms(transport: &Transport, skew_ppm: i32, correction: &str) -> f64 {
    let controller = Some(format!("ledbat,target=60ms,clock_skew={correction}").parse().unwrap());
    let transport = transport.clone().with("skew", &skew_ppm.to_string());
    let flow = Flow { controller, transport, ..flow("one", "ledbat", 50) };
    // A packet more or less in the window is 0.6 ms in the queue.
    let outcome = run(&scenario(link("20 Mbit/s", "1 s"), 120.0, 0.0, vec![flow]));
    let queue = outcome.curve("link", "queuing_delay");
    let mean_ms = |from: f64, to: f64| {
        let values: Vec<f64> =
            queue.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, ms)| *ms).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    mean_ms(110.0, 120.0) - mean_ms(50.0, 60.0)
}

#[test]
fn the_one_way_delay_that_ledbat_measures_drifts_by_12_ms_a_minute_at_200_ppm() {
    for transport in [Transport::utp(), Transport::tcp()] {
        // To a fast clock the path seems longer and longer, so LEDBAT leaves less and less in the queue.
        for (skew_ppm, expected_ms) in [(0, 0.0), (200, -12.0), (-200, 12.0)] {
            let growth_ms = growth_ms(&transport, skew_ppm, "none");
            println!("{transport}, {skew_ppm} ppm: {growth_ms:.1} ms, {expected_ms} expected");
            assert!((growth_ms - expected_ms).abs() < 1.0, "{transport}, {skew_ppm} ppm: {growth_ms} ms");
        }
    }
}

#[test]
fn the_reverse_path_shows_a_clock_that_runs_fast_or_slow_and_to_libutp_one_that_runs_fast() {
    for transport in [Transport::utp(), Transport::tcp()] {
        for (correction, skew_ppm) in [("estimated", 200), ("estimated", -200), ("libutp", 200)] {
            let growth_ms = growth_ms(&transport, skew_ppm, correction);
            println!("{transport}, {correction}, {skew_ppm} ppm: {growth_ms:.1} ms");
            assert!(growth_ms.abs() < 1.5, "{transport}, {correction}, {skew_ppm} ppm: {growth_ms} ms");
        }
    }
}

/// Returns the share of the link in the last five of twenty minutes.
fn share(controller: &str, transport: &Transport, skew: &str) -> f64 {
    let flow = Flow { transport: transport.clone().with("skew", skew), ..flow("one", controller, 50) };
    let outcome = run(&scenario(link("5 Mbit/s", "500 ms"), 1200.0, 900.0, vec![flow]));
    of(outcome.window("all"), "one").share_of_payload_capacity
}

#[test]
fn twenty_minutes_beside_a_skewed_clock_cost_no_controller_its_share() {
    for entry in afteryou_cc::list::CONTROLLERS {
        for transport in [Transport::utp(), Transport::tcp()] {
            let [without, fast, slow] = ["0", "200", "-200"].map(|skew| share(entry.name, &transport, skew));
            println!(
                "{} over {transport}: {without:.3}, {fast:.3} at 200 ppm, {slow:.3} at -200",
                entry.name
            );
            assert!(fast.min(slow) > 0.98 * without, "{}: {without}, {fast}, {slow}", entry.name);
        }
    }
}
