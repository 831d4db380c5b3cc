//! Trajectories against closed forms.

use afteryou_fluid::closed::lyapunov::Lyapunov;
use afteryou_fluid::closed::{fledbat, ledbat, Symmetric};
use afteryou_fluid::model::{Fledbat, Ledbat, Model};
use afteryou_fluid::{Base, Feedback, Network, Options, RoundTrip, Sender, Trajectory};
use std::rc::Rc;

const RTT_S: f64 = 0.050;
const CAPACITY: f64 = 1e7 / 12_000.0;
const WITH_QUEUE: Options = Options { round_trip: RoundTrip::WithQueue, ..Options::PAPERS };
const DELAYED: Options = Options { feedback: Feedback::Delayed, ..Options::PAPERS };
const REAL: Options = Options { feedback: Feedback::Delayed, ..WITH_QUEUE };

fn symmetric(flows: u32) -> Symmetric {
    Symmetric { flows, capacity: CAPACITY, rtt_s: RTT_S }
}

fn fledbats(flows: u32, zeta: f64, options: Options) -> (Network, fledbat::Closed) {
    let rule = Fledbat { floor: 1e-3, ..Fledbat::new(0.025, 1.0, zeta) };
    let senders = (0..flows).map(|_| Sender::new(Model::Fledbat(rule), RTT_S)).collect();
    (Network::new(CAPACITY, options, senders), fledbat::Closed::of(symmetric(flows), &rule))
}

fn ledbats(flows: u32, options: Options) -> (Network, ledbat::Closed) {
    let rule = Ledbat { floor: 1e-3, ..Ledbat::new(0.025, 1.0) };
    let senders = (0..flows).map(|_| Sender::new(Model::Ledbat(rule), RTT_S)).collect();
    let closed = ledbat::Closed { at: symmetric(flows), target_s: 0.025, gain: 1.0 };
    (Network::new(CAPACITY, options, senders), closed)
}

/// A stream of numbers between 0 and 1.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        // Knuth's MMIX generator; the high bits are good enough to scatter starts.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns the times at which `of` passes upwards through `level`, s, by straight lines between edges.
fn upward_crossings(
    trajectory: &mut Trajectory,
    to_s: f64,
    level: f64,
    of: impl Fn(&Trajectory) -> f64,
) -> Vec<f64> {
    let (mut before, mut before_s) = (of(trajectory), trajectory.t_s());
    let mut times = Vec::new();
    while trajectory.t_s() < to_s {
        trajectory.step();
        let (now, now_s) = (of(trajectory), trajectory.t_s());
        if before < level && now >= level {
            times.push(before_s + (level - before) / (now - before) * (now_s - before_s));
        }
        (before, before_s) = (now, now_s);
    }
    times
}

/// Returns the highest values between upward crossings of `level`: when and how far above it.
fn peaks(
    trajectory: &mut Trajectory,
    to_s: f64,
    level: f64,
    of: impl Fn(&Trajectory) -> f64,
) -> Vec<(f64, f64)> {
    let mut peaks = Vec::new();
    let mut highest: Option<(f64, f64)> = None;
    while trajectory.t_s() < to_s {
        trajectory.step();
        let above = of(trajectory) - level;
        if above > highest.map_or(0.0, |(_, most)| most) {
            highest = Some((trajectory.t_s(), above));
        } else if above < 0.0 {
            peaks.extend(highest.take());
        }
    }
    peaks
}

#[test]
fn fledbat_stays_in_its_equilibrium_and_comes_to_it() {
    for (flows, zeta) in [(2, 0.1), (2, 0.01), (5, 0.1), (10, 0.5)] {
        for (options, tolerance) in [(Options::PAPERS, 1e-6), (WITH_QUEUE, 1e-4), (REAL, 1e-4)] {
            let (network, closed) = fledbats(flows, zeta, options);
            if options == REAL && !closed.delayed_with_queue().is_stable() {
                continue; // a limit cycle, see below
            }
            let settled = match options.round_trip {
                RoundTrip::Constant => closed.equilibrium(),
                RoundTrip::WithQueue => closed.equilibrium_with_queue(),
            };
            let windows = vec![settled.window; flows as usize];
            let mut still = Trajectory::running(network.clone(), settled.queue, &windows, 0.005);
            still.run_to(10.0);
            assert!((still.queue() / settled.queue - 1.0).abs() < 1e-10, "{} stays", still.queue());
            let apart: Vec<f64> = (0..flows).map(|i| settled.window * (0.5 + 0.3 * f64::from(i))).collect();
            let mut moved = Trajectory::running(network, 0.0, &apart, 0.005);
            moved.run_to(60.0);
            let off = (moved.queue() / settled.queue - 1.0).abs();
            assert!(off < tolerance, "N = {flows}, ζ = {zeta}, {options:?}: {off}");
            for flow in 0..flows as usize {
                let off = (moved.window(flow) / settled.window - 1.0).abs();
                assert!(off < tolerance, "N = {flows}, ζ = {zeta}, {options:?}, flow {flow}: {off}");
            }
        }
    }
}

#[test]
fn fledbat_oscillates_and_dies_away_as_the_eigenvalues_say() {
    let (network, closed) = fledbats(2, 0.1, Options::PAPERS);
    let settled = closed.equilibrium();
    let start = || {
        let windows = [settled.window * 1.0001, settled.window * 1.0001];
        Trajectory::running(network.clone(), settled.queue, &windows, 0.001)
    };
    let times = upward_crossings(&mut start(), 8.0, settled.queue, Trajectory::queue);
    let period_s = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    assert!((period_s / 0.7035 - 1.0).abs() < 1e-3, "{period_s}");
    let peaks = peaks(&mut start(), 8.0, settled.queue, Trajectory::queue);
    let ((from_s, first), (to_s, last)) = (peaks[2], peaks[peaks.len() - 1]);
    let rate = libm::log(first / last) / (to_s - from_s);
    assert!((rate / 0.48 - 1.0).abs() < 1e-3, "{rate}");
}

#[test]
fn differences_between_fledbats_die_away_by_a() {
    let (network, closed) = fledbats(2, 0.1, Options::PAPERS);
    let settled = closed.equilibrium();
    let windows = [settled.window * 1.01, settled.window * 0.99];
    let mut trajectory = Trajectory::running(network, settled.queue, &windows, 0.001);
    let difference = |trajectory: &Trajectory| trajectory.window(0) - trajectory.window(1);
    let first = difference(&trajectory);
    trajectory.run_to(4.0);
    let rate = libm::log(first / difference(&trajectory)) / 4.0;
    assert!((rate / 0.96 - 1.0).abs() < 1e-3, "{rate}");
}

#[test]
fn ledbat_is_undamped_and_its_windows_keep_their_difference() {
    let (network, closed) = ledbats(2, Options::PAPERS);
    let settled = closed.equilibrium();
    let windows = [settled.window * 1.05, settled.window * 0.8];
    let mut trajectory = Trajectory::running(network.clone(), settled.queue * 1.05, &windows, 0.005);
    trajectory.run_to(60.0);
    let difference = trajectory.window(0) - trajectory.window(1);
    assert!((difference / (windows[0] - windows[1]) - 1.0).abs() < 1e-9, "{difference}");

    let start = || {
        let windows = [settled.window * 1.05, settled.window * 1.05];
        Trajectory::running(network.clone(), settled.queue, &windows, 0.001)
    };
    let times = upward_crossings(&mut start(), 22.0, settled.queue, Trajectory::queue);
    let period_s = (times[20] - times[0]) / 20.0;
    assert!((period_s / 1.0139 - 1.0).abs() < 1e-3, "{period_s}");
    let peaks = peaks(&mut start(), 22.0, settled.queue, Trajectory::queue);
    assert!((peaks[20].1 / peaks[0].1 - 1.0).abs() < 1e-3, "{} and {}", peaks[0].1, peaks[20].1);
}

#[test]
fn with_the_queue_in_the_round_trip_both_settle_as_their_pairs_say() {
    let (network, closed) = fledbats(2, 0.1, WITH_QUEUE);
    check_pair(network, closed.equilibrium_with_queue(), closed.pair_with_queue());
    let (network, closed) = ledbats(2, WITH_QUEUE);
    check_pair(network, closed.equilibrium_with_queue(), closed.pair_with_queue());
}

fn check_pair(
    network: Network,
    settled: afteryou_fluid::closed::Equilibrium,
    pair: afteryou_fluid::closed::Pair,
) {
    let windows = [settled.window * 1.001, settled.window * 1.001];
    let mut trajectory = Trajectory::running(network, settled.queue, &windows, 0.001);
    if let Some(expected_s) = pair.period_s() {
        let times = upward_crossings(&mut trajectory, 4.0, settled.queue, Trajectory::queue);
        let period_s = times[1] - times[0];
        return assert!((period_s / expected_s - 1.0).abs() < 1e-3, "{period_s}, {pair:?}");
    }
    let mut off_at = |at_s: f64| {
        trajectory.run_to(at_s);
        trajectory.queue() - settled.queue
    };
    let rate = libm::log(off_at(2.0) / off_at(4.0)) / 2.0;
    assert!((rate / pair.rate() - 1.0).abs() < 1e-3, "{rate}, {pair:?}");
}

#[test]
fn a_delayed_loop_grows_or_dies_away_as_its_dominant_root_says() {
    // A tenth of the reference's ζ: the delayed loop turns slowly enough to be watched.
    for (options, zeta) in [(DELAYED, 0.1), (DELAYED, 0.01), (REAL, 0.1), (REAL, 0.5)] {
        let (network, closed) = fledbats(2, zeta, options);
        let (settled, root) = match options.round_trip {
            RoundTrip::Constant => (closed.equilibrium(), closed.delayed().dominant().unwrap()),
            RoundTrip::WithQueue => {
                (closed.equilibrium_with_queue(), closed.delayed_with_queue().dominant().unwrap())
            }
        };
        let windows = [settled.window * (1.0 + 1e-7), settled.window * (1.0 + 1e-7)];
        let mut trajectory = Trajectory::running(network, settled.queue, &windows, 0.001);
        let periods = 4.0 * std::f64::consts::PI / root.im;
        trajectory.run_to(periods);
        let peaks = peaks(&mut trajectory, 4.0 * periods, settled.queue, Trajectory::queue);
        let ((from_s, first), (to_s, last)) = (peaks[0], peaks[peaks.len() - 1]);
        let rate = libm::log(last / first) / (to_s - from_s);
        let turns = (peaks.len() - 1) as f64 * 2.0 * std::f64::consts::PI / (to_s - from_s);
        assert!((rate - root.re).abs() < 0.01 * root.abs(), "{options:?}, ζ = {zeta}: {rate}, {root:?}");
        assert!((turns / root.im - 1.0).abs() < 0.01, "{options:?}, ζ = {zeta}: {turns}, {root:?}");
    }
}

#[test]
fn the_paper_s_loop_with_delay_ends_in_a_limit_cycle() {
    let (network, closed) = fledbats(2, 0.1, DELAYED);
    let settled = closed.equilibrium();
    let windows = [settled.window * 1.01, settled.window * 1.01];
    let mut trajectory = Trajectory::running(network, settled.queue, &windows, 0.005);
    trajectory.run_to(60.0);
    let late = peaks(&mut trajectory, 90.0, settled.queue, Trajectory::queue);
    let (first, last) = (late[0].1, late[late.len() - 1].1);
    assert!(first > 0.1 * settled.queue && (last / first - 1.0).abs() < 0.02, "{first} and {last} packets");
}

#[test]
fn every_start_comes_to_the_equilibrium() {
    let mut draws = Draws(1);
    for _ in 0..1000 {
        let flows = 1 + (draws.next() * 10.0) as u32;
        let zeta = libm::pow(10.0, -2.0 + 2.0 * draws.next());
        let (network, closed) = fledbats(flows, zeta, Options::PAPERS);
        let settled = closed.equilibrium();
        let windows: Vec<f64> =
            (0..flows).map(|_| settled.window * libm::pow(10.0, 2.0 * draws.next() - 1.0)).collect();
        let queue = settled.queue * 3.0 * draws.next();
        let mut trajectory = Trajectory::running(network, queue, &windows, 0.005);
        trajectory.run_to(120.0);
        let off = (trajectory.queue() / settled.queue - 1.0).abs();
        assert!(off < 1e-6, "N = {flows}, ζ = {zeta}, queue from {queue}: {off}");
        for flow in 0..flows as usize {
            let off = (trajectory.window(flow) / settled.window - 1.0).abs();
            assert!(off < 1e-6, "N = {flows}, ζ = {zeta}, flow {flow}: {off}");
        }
    }
}

/// A trajectory's edge as V sees it.
struct Edge {
    value: f64,
    queue: f64,
    rates: Vec<f64>,
}

/// Returns the derivative in the middle of five edges, to the fourth order: rates change by thousands of packets/s² and what
/// is left of them in V is small.
fn central(edges: &[Edge; 5], step_s: f64) -> f64 {
    let [a, b, _, d, e] = edges.each_ref().map(|edge| edge.value);
    (8.0 * (d - b) - (e - a)) / (12.0 * step_s)
}

#[test]
fn above_the_target_v_never_rises_and_falls_as_the_formula_says() {
    const STEP_S: f64 = 1e-4;
    let mut draws = Draws(7);
    let (mut above, mut below) = (0, 0);
    for _ in 0..1000 {
        let flows = 1 + (draws.next() * 5.0) as u32;
        let zeta = libm::pow(10.0, -2.0 + 2.0 * draws.next());
        let (network, closed) = fledbats(flows, zeta, Options::PAPERS);
        let (settled, lyapunov) = (closed.equilibrium(), Lyapunov { of: closed });
        let windows: Vec<f64> =
            (0..flows).map(|_| settled.window * libm::pow(10.0, 2.0 * draws.next() - 1.0)).collect();
        let queue = settled.queue * 2.0 * draws.next();
        let mut trajectory = Trajectory::running(network, queue, &windows, STEP_S);
        let edge = |trajectory: &Trajectory| -> Edge {
            let rates: Vec<f64> = (0..flows as usize).map(|flow| trajectory.rate(flow)).collect();
            let queue = trajectory.queue();
            Edge { value: lyapunov.value(&rates, queue), queue, rates }
        };
        let mut next = || {
            let now = edge(&trajectory);
            trajectory.step();
            now
        };
        let target = CAPACITY * closed.target_s;
        let mut edges = [next(), next(), next(), next(), next()];
        for _ in 0..2000 {
            edges.rotate_left(1);
            edges[4] = next();
            let now = &edges[2];
            if now.queue >= target && edges[3].queue >= target {
                let rounding = 1e-12 * (1.0 + now.value);
                assert!(edges[3].value <= now.value + rounding, "V rises from {}", now.value);
            }
            let formula = if edges.iter().all(|edge| edge.queue >= target) {
                above += 1;
                lyapunov.slope(&now.rates)
            } else if edges.iter().all(|edge| edge.queue > 1.0 && edge.queue < target) {
                below += 1;
                lyapunov.slope_below(&now.rates, now.queue)
            } else {
                continue; // a kink or an empty queue among the five
            };
            let numeric = central(&edges, STEP_S);
            // V has thirteen digits: what a difference of two of them can say is bounded.
            let rounding = 1e-13 * (1.0 + now.value) / STEP_S;
            let off = (numeric - formula).abs();
            assert!(off <= 1e-4 * formula.abs() + rounding, "{numeric} is not {formula}, V = {}", now.value);
        }
    }
    assert!(above > 100_000 && below > 10_000, "{above} edges above and {below} below the target");
}

#[test]
fn below_the_target_v_can_rise() {
    let (network, closed) = fledbats(2, 0.1, Options::PAPERS);
    let lyapunov = Lyapunov { of: closed };
    // Equal rates a little below their share: nothing falls, the queue drains.
    let windows = [closed.equilibrium().window * 0.9, closed.equilibrium().window * 0.9];
    let mut trajectory = Trajectory::running(network, 15.0, &windows, 1e-3);
    let value = |trajectory: &Trajectory| {
        lyapunov.value(&[trajectory.rate(0), trajectory.rate(1)], trajectory.queue())
    };
    let before = value(&trajectory);
    trajectory.run_to(0.05);
    assert!(value(&trajectory) > before * 1.01, "{before} to {}", value(&trajectory));
}

/// Returns how the error of queue and first window falls when the step is halved, as a power of two.
fn order(start: impl Fn(f64) -> Trajectory, h: f64, to_s: f64) -> f64 {
    let end = |h: f64| {
        let mut trajectory = start(h);
        trajectory.run_to(to_s);
        (trajectory.queue(), trajectory.window(0))
    };
    let exact = end(h / 64.0);
    let error = |h: f64| {
        let (queue, window) = end(h);
        (queue / exact.0 - 1.0).abs() + (window / exact.1 - 1.0).abs()
    };
    libm::log2(error(h) / error(h / 2.0))
}

#[test]
fn above_the_target_halving_the_step_gains_four_bits() {
    let (network, closed) = fledbats(2, 0.1, Options::PAPERS);
    let settled = closed.equilibrium();
    let start = |h: f64| {
        let windows = [settled.window * 1.02, settled.window * 0.98];
        Trajectory::running(network.clone(), settled.queue, &windows, h)
    };
    let order = order(start, 0.02, 2.0);
    assert!((3.7..4.3).contains(&order), "{order}");
}

#[test]
fn with_a_delay_of_whole_steps_it_gains_four_bits_too() {
    // A constant past is not a solution: its kink comes back with every round trip, on edges here.
    let (network, closed) = fledbats(2, 0.1, DELAYED);
    let settled = closed.equilibrium();
    let start = |h: f64| {
        let windows = [settled.window * 1.02, settled.window * 0.98];
        Trajectory::running(network.clone(), settled.queue, &windows, h)
    };
    let order = order(start, 0.0125, 0.4);
    assert!((3.7..4.3).contains(&order), "{order}");
}

#[test]
fn with_a_delay_that_the_queue_changes_it_gains_four_bits_where_the_past_is_smooth() {
    // The kink of a constant past falls between edges here. It is smoother by an order with each round trip: after ten of
    // them nothing of it is left, and what was until then is the past of the runs that are compared.
    let (network, closed) = fledbats(2, 0.1, REAL);
    let settled = closed.equilibrium_with_queue();
    let windows = [settled.window * 1.15, settled.window * 1.05];
    let mut before = Trajectory::running(network.clone(), settled.queue, &windows, FINE_S);
    let mut edges = Vec::new();
    for _ in 0..FINE_STEPS {
        before.step();
        edges.push([before.queue(), before.window(0), before.window(1)]);
    }
    let edges = Rc::new(edges);
    let start = |h: f64| {
        let (queue, window) = (edges.clone(), edges.clone());
        Trajectory::continuing(
            network.clone(),
            h,
            move |t_s| between(&queue, t_s, 0),
            move |t_s, flow| between(&window, t_s, 1 + flow),
        )
    };
    for h in [0.05, 0.04, 0.025, 0.02] {
        let order = order(start, h, 1.0);
        println!("{h} s: order {order:.2}");
        assert!((3.8..4.5).contains(&order), "{h} s: {order}");
    }
}

const FINE_S: f64 = 1e-4;
const FINE_STEPS: usize = 10_000;

/// Returns the value at a time up to zero between edges of which the last is at zero: a cubic through the nearest four.
fn between(edges: &[[f64; 3]], t_s: f64, component: usize) -> f64 {
    let position = (edges.len() - 1) as f64 + t_s / FINE_S;
    let first = (position.max(1.0) as usize - 1).min(edges.len() - 4);
    let x = position - first as f64;
    let at = |i: usize| edges[first + i][component];
    let weight = |i: usize| {
        let others = (0..4).filter(|other| *other != i);
        others.map(|other| (x - other as f64) / (i as f64 - other as f64)).product::<f64>()
    };
    (0..4).map(|i| weight(i) * at(i)).sum()
}

#[test]
fn across_the_target_halving_the_step_gains_two_bits() {
    // Where in a step the crossing falls is chance: the mean over many starts.
    let (network, closed) = fledbats(2, 0.1, Options::PAPERS);
    let settled = closed.equilibrium();
    let orders = (0..60).map(|i| {
        let start = |h: f64| {
            let windows = [settled.window * 1.3, settled.window * 1.1];
            Trajectory::running(network.clone(), 12.0 + 0.1 * f64::from(i), &windows, h)
        };
        order(start, 0.004, 0.2)
    });
    let mean = orders.sum::<f64>() / 60.0;
    assert!((1.7..2.4).contains(&mean), "{mean}");
}

#[test]
fn latecomers_take_the_standing_queue_for_the_path_unless_they_know_better() {
    for (base, alone) in [(Base::Measured, true), (Base::Known, false)] {
        let (network, _) = ledbats(2, Options { base, ..REAL });
        let mut trajectory = Trajectory::idle(network, 0.005);
        trajectory.start(0);
        trajectory.run_to(20.0);
        trajectory.start(1);
        trajectory.run_to(120.0);
        let share = trajectory.rate(0) / (trajectory.rate(0) + trajectory.rate(1));
        assert_eq!(share < 0.10, alone, "{base:?}: the first has {share}");
    }
}

#[test]
fn windows_below_one_packet_come_to_the_equilibrium_if_the_floor_lets_them() {
    // 400 flows: a tenth of a packet each in flight, and 0.6 with the queue in the round trip.
    for (options, tolerance) in [(Options::PAPERS, 1e-6), (WITH_QUEUE, 1e-4), (REAL, 1e-4)] {
        let (network, closed) = fledbats(400, 0.2, options);
        let settled = match options.round_trip {
            RoundTrip::Constant => closed.equilibrium(),
            RoundTrip::WithQueue => closed.equilibrium_with_queue(),
        };
        assert!(settled.window < 0.7 && closed.delayed_with_queue().is_stable(), "{settled:?}");
        let run = |least: f64, to_s: f64| {
            let mut network = network.clone();
            network.senders.iter_mut().for_each(|sender| sender.least = least);
            let windows: Vec<f64> = (0..400).map(|i| 0.02 + 0.005 * f64::from(i)).collect();
            let mut trajectory = Trajectory::running(network, 0.0, &windows, 0.005);
            trajectory.run_to(to_s);
            trajectory
        };
        let free = run(0.01, 60.0);
        assert!((free.queue() / settled.queue - 1.0).abs() < tolerance, "{options:?}: {}", free.queue());
        let off = |flow: usize| (free.window(flow) / settled.window - 1.0).abs();
        assert!((0..400).all(|flow| off(flow) < tolerance), "{options:?}: {}", free.window(0));
        // With a packet each more is in flight than the equilibrium has.
        let held = run(1.0, 10.0);
        assert!(
            held.queue() > 1.05 * settled.queue && held.window(0) == 1.0,
            "{options:?}: {}",
            held.queue()
        );
    }
}

#[test]
fn a_tiny_floor_keeps_every_trajectory_finite() {
    // The most abrupt rule, with feedback that is a round trip late and windows that collapse in far less.
    for (zeta, rtt_s) in [(5.0, 0.005), (5.0, 0.250), (50.0, 0.050), (0.1, 0.135)] {
        let rule = Fledbat::new(0.025, 1.0, zeta);
        let sender = Sender { least: 0.001, ..Sender::new(Model::Fledbat(rule), rtt_s) };
        let network = Network::new(CAPACITY, REAL, vec![sender.clone(), sender]).with_buffer(400.0);
        let step_s = network.step_s();
        let mut trajectory = Trajectory::running(network, 300.0, &[200.0, 100.0], step_s);
        let (mut lowest, mut most) = (f64::INFINITY, 0.0f64);
        while trajectory.t_s() < 60.0 {
            trajectory.step();
            lowest = lowest.min(trajectory.window(0));
            most = most.max(trajectory.window(0));
        }
        assert!(lowest >= 0.001 && most < 1000.0, "ζ = {zeta}, {rtt_s} s: {lowest} to {most}");
        assert!(trajectory.queue().is_finite() && trajectory.rate(0) > 0.0, "ζ = {zeta}, {rtt_s} s");
    }
}
