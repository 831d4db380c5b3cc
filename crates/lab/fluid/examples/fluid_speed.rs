//! How fast the answers are, on one core: closed forms per second, trajectories per second.
//!
//! `cargo run --release -p afteryou-fluid --example fluid_speed`

use afteryou_fluid::closed::{fledbat, Symmetric};
use afteryou_fluid::model::{Fledbat, Model};
use afteryou_fluid::{Network, Options, Sender, Trajectory};
use std::hint::black_box;
#[allow(clippy::disallowed_types, reason = "this measures the machine")]
use std::time::Instant;

/// Computes a point of a sweep: equilibrium, eigenvalues, rate of convergence, with and without delay.
fn point(i: u32) -> f64 {
    let at = Symmetric { flows: 1 + i % 10, capacity: 833.3, rtt_s: 0.01 + f64::from(i % 97) * 1e-3 };
    let closed = fledbat::Closed { at, target_s: 0.025, alpha: 1.0, zeta: 0.001 + f64::from(i % 89) * 0.01 };
    let delayed = closed.delayed_with_queue();
    closed.equilibrium().queue
        + closed.equilibrium_with_queue().queue
        + closed.pair().roots()[0].im
        + closed.rate()
        + delayed.phase_margin().unwrap_or(0.0)
}

/// Integrates 60 s of ten flows.
fn trajectory(options: Options, rtt_step_s: f64) -> f64 {
    let rule = Model::Fledbat(Fledbat::new(0.025, 1.0, 0.1));
    let senders: Vec<_> = (0..10).map(|i| Sender::new(rule, 0.050 + f64::from(i) * rtt_step_s)).collect();
    let network = Network::new(833.3, options, senders);
    let step_s = network.step_s();
    let mut trajectory = Trajectory::idle(network, step_s);
    (0..10).for_each(|flow| trajectory.start(flow));
    trajectory.run_to(60.0);
    trajectory.queue()
}

#[allow(clippy::disallowed_methods, reason = "this measures the machine")]
fn per_second(what: &str, times: u32, mut work: impl FnMut(u32) -> f64) {
    let from = Instant::now();
    for i in 0..times {
        black_box(work(black_box(i)));
    }
    println!("{what:<60} {:>12.0} per second", f64::from(times) / from.elapsed().as_secs_f64());
}

fn main() {
    per_second("points: equilibrium, eigenvalues, rate, margin", 1_000_000, point);
    per_second("60 s of 10 flows, the papers' assumptions", 50, |_| trajectory(Options::PAPERS, 0.0));
    per_second("60 s of 10 flows, delayed feedback, one round trip", 50, |_| {
        trajectory(Options::default(), 0.0)
    });
    per_second("60 s of 10 flows, delayed feedback, ten round trips", 50, |_| {
        trajectory(Options::default(), 0.010)
    });
}
