//! Closed forms against the numbers of the papers and of their corrected forms.

use afteryou_fluid::closed::ledbatpp::{share_at_equal_loss, share_of_two, Alone, LongPath, Ramp, Wait};
use afteryou_fluid::closed::linear::characteristic;
use afteryou_fluid::closed::{fledbat, ledbat, Link, Symmetric};
use afteryou_fluid::model::{Fledbat, Ledbat, LedbatPp, Signal};

/// Returns a link of 10 Mbit/s in packets of 1500 B, 50 ms.
fn reference(flows: u32) -> Symmetric {
    Symmetric { flows, capacity: 1e7 / 12_000.0, rtt_s: 0.050 }
}

fn fledbat_of(flows: u32, target_ms: f64, zeta: f64) -> fledbat::Closed {
    fledbat::Closed { at: reference(flows), target_s: target_ms / 1e3, alpha: 1.0, zeta }
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

#[test]
fn fledbat_settles_where_eq_10_says() {
    let rows = [
        (2, 0.01, 120.8333333),
        (2, 0.1, 30.8333333),
        (2, 0.2, 25.8333333),
        (2, 0.5, 22.8333333),
        (2, 5.0, 21.0333333),
        (5, 0.01, 270.8333333),
        (5, 0.1, 45.8333333),
        (10, 0.01, 520.8333333),
        (10, 0.1, 70.8333333),
        (10, 0.2, 45.8333333),
        (10, 0.5, 30.8333333),
    ];
    for (flows, zeta, queue) in rows {
        let equilibrium = fledbat_of(flows, 25.0, zeta).equilibrium();
        near(equilibrium.queue / queue, 1.0, 1e-6);
        near(equilibrium.queuing_s * 1e3, 1.2 * queue, 1e-4);
        near(equilibrium.rate * f64::from(flows), 833.333333, 1e-6);
    }
    near(fledbat_of(5, 100.0, 0.1).equilibrium().queue, 183.3333333, 1e-6);
    near(fledbat_of(10, 100.0, 0.01).equilibrium().queue, 2083.333333, 1e-6);
}

#[test]
fn with_the_queue_in_the_round_trip_fledbat_settles_lower() {
    let rows = [
        (2, 0.01, 61.3, 73.6),
        (2, 0.1, 26.9, 32.3),
        (2, 0.2, 24.0, 28.8),
        (2, 0.5, 22.1, 26.6),
        (2, 5.0, 21.0, 25.2),
        (5, 0.01, 96.3, 115.6),
        (5, 0.1, 34.5, 41.4),
        (10, 0.01, 137.3, 164.7),
        (10, 0.1, 44.9, 53.9),
    ];
    for (flows, zeta, packets, ms) in rows {
        let closed = fledbat_of(flows, 25.0, zeta);
        let equilibrium = closed.equilibrium_with_queue();
        near(equilibrium.queue, packets, 0.05001);
        near(equilibrium.queuing_s * 1e3, ms, 0.05001);
        let q = equilibrium.queuing_s;
        let excess = f64::from(flows) * 0.025 / (closed.at.capacity * zeta);
        near((q - 0.025) * (0.050 + q) / excess, 1.0, 1e-12);
    }
}

#[test]
fn fledbats_eigenvalues_are_those_of_the_corrected_table() {
    // N, τ ms, ζ, a, ζ*, Θ, ω, damping
    let rows = [
        (2, 25.0, 0.1, 0.96, 2.880e-4, 0.48, 8.931383, 0.0537),
        (2, 25.0, 1e-4, 0.96, 2.880e-4, 0.092186, 0.0, 1.70),
        (5, 100.0, 0.1, 2.4, 7.200e-3, 1.2, 4.308, 0.268),
        (10, 100.0, 0.01, 4.8, 2.880e-2, 0.461, 0.0, 1.70),
    ];
    for (flows, tau, zeta, a, critical, rate, omega, damping) in rows {
        let closed = fledbat_of(flows, tau, zeta);
        near(closed.a(), a, 1e-9);
        near(closed.critical_zeta() / critical, 1.0, 1e-9);
        near(closed.rate(), rate, 5e-4 * rate);
        near(closed.pair().omega(), omega, 2e-4 * omega);
        near(closed.pair().damping(), damping, 0.005);
    }
    let reference = fledbat_of(2, 25.0, 0.1);
    near(reference.pair().omega(), 8.931383, 1e-6);
    near(reference.pair().period_s().unwrap(), 0.7035, 5e-5);
    near(fledbat_of(2, 25.0, 1e-4).rate(), 0.092186, 1e-6);
    let critical = fledbat_of(2, 25.0, reference.critical_zeta());
    near(critical.pair().damping(), 1.0, 1e-9);
}

#[test]
fn the_polynomial_is_that_of_the_jacobian() {
    for (flows, tau, zeta) in [(1, 25.0, 0.1), (2, 25.0, 0.1), (5, 100.0, 0.1), (10, 100.0, 0.01)] {
        let closed = fledbat_of(flows, tau, zeta);
        let expanded = characteristic(&closed.jacobian());
        for (power, (a, b)) in expanded.iter().zip(closed.polynomial()).enumerate() {
            assert!((a - b).abs() <= 1e-9 * b.abs(), "N = {flows}, coefficient {power}: {a} and {b}");
        }
    }
}

#[test]
fn the_jacobian_is_that_of_the_equations() {
    let closed = fledbat_of(3, 25.0, 0.1);
    let (at, equilibrium) = (closed.at, closed.equilibrium());
    let slope = |y: &[f64]| -> Vec<f64> {
        let rule = Fledbat::new(closed.target_s, 1.0, closed.zeta);
        let of = |x: &f64| {
            let window = x * at.rtt_s;
            let signal = Signal { window, ack_rate: *x, queuing_s: y[3] / at.capacity, ..Signal::default() };
            rule.drift(&signal) / at.rtt_s
        };
        let mut slope: Vec<f64> = y[..3].iter().map(of).collect();
        slope.push(y[..3].iter().sum::<f64>() - at.capacity);
        slope
    };
    let y = [equilibrium.rate, equilibrium.rate, equilibrium.rate, equilibrium.queue];
    assert!(slope(&y).iter().all(|slope| slope.abs() < 1e-9), "nothing moves at the equilibrium");
    for (column, row_of) in (0..4).map(|column| (column, closed.jacobian())) {
        let (mut up, mut down) = (y, y);
        let by = 1e-5 * y[column];
        (up[column], down[column]) = (y[column] + by, y[column] - by);
        for (row, (up, down)) in slope(&up).iter().zip(slope(&down)).enumerate() {
            near((up - down) / (2.0 * by), row_of[row][column], 1e-6);
        }
    }
}

#[test]
fn ledbat_is_undamped_and_keeps_differences() {
    let closed = ledbat::Closed { at: reference(2), target_s: 0.025, gain: 1.0 };
    let [root, other] = closed.pair().roots();
    near(root.im, 6.196773, 1e-6);
    assert_eq!((root.re, other.re, other.im), (0.0, 0.0, -root.im));
    near(closed.pair().period_s().unwrap(), 1.0139, 5e-5);
    assert_eq!(closed.polynomial()[3], 0.0, "a root at zero: what windows differ by stays");
    near(closed.equilibrium().queue, 20.833333, 1e-6);
}

#[test]
fn a_round_trip_of_delay_makes_the_paper_s_loop_unstable() {
    let constant = fledbat_of(2, 25.0, 0.1).delayed();
    near(constant.margin_at_once().unwrap(), 0.107, 5e-4);
    near(constant.crossover() * 0.050, 0.447, 2e-3);
    assert!(!constant.is_stable());
    let root = constant.dominant().unwrap();
    assert!(root.re > 0.0, "it grows: {root:?}");
    // With the queue inside the round trip the loop has a damping of its own, and is stable.
    let real = fledbat_of(2, 25.0, 0.1).delayed_with_queue();
    assert!(real.is_stable() && real.dominant().unwrap().re < 0.0);
    assert!(real.delay_margin_s().unwrap() > real.delay_s);
    // LEDBAT: no margin at all to lose.
    let ledbat = ledbat::Closed { at: reference(2), target_s: 0.025, gain: 1.0 };
    near(ledbat.delayed().margin_at_once().unwrap(), 0.0, 1e-15);
    assert!(!ledbat.delayed().is_stable());
}

#[test]
fn the_dominant_root_crosses_to_growth_at_the_delay_margin() {
    for zeta in [0.01, 0.1, 0.5] {
        let mut delayed = fledbat_of(4, 25.0, zeta).delayed_with_queue();
        let Some(margin_s) = delayed.delay_margin_s() else { continue };
        delayed.delay_s = margin_s;
        let root = delayed.dominant().unwrap();
        near(root.re, 0.0, 1e-9);
        near(root.im / delayed.crossover(), 1.0, 1e-9);
        delayed.delay_s = 1.01 * margin_s;
        assert!(delayed.dominant().unwrap().re > 0.0);
    }
}

#[test]
fn the_windows_steps_are_those_of_the_check_vectors() {
    let fledbat = Fledbat::new(0.025, 1.0, 0.1);
    let ledbat = Ledbat::new(0.100, 1.0);
    let per_ack =
        |window: f64, q_ms: f64| Signal { window, ack_rate: 1.0, queuing_s: q_ms / 1e3, ..Signal::default() };
    for (window, q_ms, next) in [
        (50.0, 20.0, 50.02),
        (50.0, 25.0, 50.02),
        (50.0, 25.5, 50.018),
        (50.0, 35.0, 49.98),
        (20.0, 125.0, 19.65),
    ] {
        near(window + fledbat.drift(&per_ack(window, q_ms)), next, 1e-9);
    }
    for (q_ms, step) in [(10.0, 0.025), (25.0, 0.025), (50.0, -0.075)] {
        near(fledbat.drift(&per_ack(40.0, q_ms)), step, 1e-12);
    }
    let short = Ledbat::new(0.025, 1.0);
    for (q_ms, step) in [(0.0, 0.025), (25.0, 0.0), (50.0, -0.025)] {
        near(short.drift(&per_ack(40.0, q_ms)), step, 1e-12);
    }
    // cwnd 15000 B of 1500 B packets.
    for (q_ms, bytes) in [(0.0, 15150.0), (50.0, 15075.0), (100.0, 15000.0), (150.0, 14925.0)] {
        near(1500.0 * (10.0 + ledbat.drift(&per_ack(10.0, q_ms))), bytes, 1e-6);
    }
}

/// Returns a flow alone on a link in payloads of 1390 B, as the paper's appendix counts.
fn alone(mbit: f64, rtt_ms: f64, queuing_ms: f64) -> Alone {
    Alone { capacity: mbit * 1e6 / 8.0 / 1390.0, rtt_s: rtt_ms / 1e3, queuing_s: queuing_ms / 1e3 }
}

#[test]
fn the_nine_tenths_model_has_the_recomputed_values() {
    let rtts = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0, 200.0, 300.0, 400.0];
    let sixty = [0.9347, 0.9341, 0.9322, 0.9296, 0.9254, 0.9198, 0.9163, 0.9122, 0.9078, 0.9060, 0.9050];
    let thirty = [0.9419, 0.9403, 0.9361, 0.9308, 0.9238, 0.9165, 0.9127, 0.9090, 0.9057, 0.9044, 0.9038];
    for ((rtt, sixty), thirty) in rtts.into_iter().zip(sixty).zip(thirty) {
        near(alone(20.0, rtt, 60.0).nine_tenths(Wait::Ramp), sixty, 5.1e-5);
        near(alone(20.0, rtt, 30.0).nine_tenths(Wait::Ramp), thirty, 5.1e-5);
    }
    let others =
        [(5.0, [0.9394, 0.9176, 0.9066]), (10.0, [0.9308, 0.9143, 0.9057]), (40.0, [0.9217, 0.9106, 0.9044])];
    for (mbit, ratios) in others {
        for (rtt, ratio) in [20.0, 100.0, 400.0].into_iter().zip(ratios) {
            near(alone(mbit, rtt, 60.0).nine_tenths(Wait::Ramp), ratio, 5.1e-5);
        }
    }
    for (rtt, ratio) in [(20.0, 0.942), (100.0, 0.930), (300.0, 0.922)] {
        near(alone(20.0, rtt, 60.0).nine_tenths(Wait::Slowdown), ratio, 5.1e-4);
    }
    near(alone(1.0, 20.0, 60.0).nine_tenths(Wait::Ramp), 1.011, 5e-4);
}

#[test]
fn what_the_queue_covers_lifts_the_utilisation_of_short_paths() {
    // Between a round model and a packet model of the same rule, 500 ms of buffer; ± 0.01 of their mean.
    let rows =
        [(10.0, 0.982), (20.0, 0.9645), (40.0, 0.9465), (60.0, 0.9365), (100.0, 0.929), (200.0, 0.915)];
    for (rtt, used) in rows {
        let link = Alone { capacity: 20e6 / 8.0 / 1456.0, ..alone(20.0, rtt, 60.0) };
        near(link.utilisation(&LedbatPp::new(0.060)), used, 0.01);
    }
}

fn long_path(mbit: f64, packet: f64, ramp: Ramp) -> LongPath {
    LongPath { capacity: mbit * 1e6 / 8.0 / packet, target_s: 0.060, ramp }
}

#[test]
fn on_long_paths_there_is_a_root_in_every_octave() {
    let path = long_path(20.0, 1456.0, Ramp::FromOne);
    let octaves: Vec<f64> = path.roots().iter().map(|root| root.window).collect();
    near(octaves[0], 380.0, 0.5);
    near(octaves[1], 628.7, 0.05);
    near(octaves[2], 1135.0, 0.5);
    let root = path.root(9).unwrap();
    near(root.beta, 0.867, 5e-4);
    near(root.threshold_s, 0.317, 5e-4);
    assert!(root.is_bounded());
    let s = root.window;
    near(s * (1.0 - root.beta) - 9.0 * libm::log2(s), 0.0, 1e-9);

    let forty = long_path(40.0, 1456.0, Ramp::FromOne).root(10).unwrap();
    near(forty.window, 1245.4, 0.05);
    near(forty.threshold_s, 0.336, 5e-4);
    let from_two = long_path(20.0, 1456.0, Ramp::FromTwo).root(9).unwrap();
    near(from_two.window, 627.3, 0.05);
    near(from_two.threshold_s, 0.322, 5e-4);
    let payload = long_path(20.0, 1390.0, Ramp::FromOne).root(9).unwrap();
    near(payload.window, 634.2, 0.05);
    near(payload.threshold_s, 0.306, 5e-4);
    let payload = long_path(40.0, 1390.0, Ramp::FromOne).root(10).unwrap();
    near(payload.window, 1255.8, 0.05);
    near(payload.threshold_s, 0.323, 5e-4);
}

#[test]
fn the_long_path_s_threshold_follows_the_octave_of_its_root() {
    let thresholds = |mbit: f64, packet: f64| -> Vec<f64> {
        long_path(mbit, packet, Ramp::FromOne).roots().iter().map(|root| root.threshold_s * 1e3).collect()
    };
    let has = |mbit: f64, ms: f64| {
        assert!(thresholds(mbit, 1456.0).iter().any(|t| (t - ms).abs() < 1.0), "{mbit} Mbit/s: {ms} ms");
    };
    for (mbit, ms) in [(15.0, 401.0), (30.0, 233.0), (30.0, 427.0), (60.0, 149.0), (60.0, 245.0)] {
        has(mbit, ms);
    }
    for (mbit, from, to) in
        [(10.0, 275.0, 285.0), (10.0, 546.0, 569.0), (5.0, 221.0, 228.0), (2.0, 139.0, 142.0)]
    {
        let within = |t: &f64| (from - 1.0..=to + 1.0).contains(t);
        assert!([1456.0, 1390.0].iter().all(|packet| thresholds(mbit, *packet).iter().any(within)), "{mbit}");
    }
    let low = &long_path(1.0, 1456.0, Ramp::FromOne).roots()[0];
    assert!(!low.is_bounded(), "β = {} breaks the bound of half a window", low.beta);
}

#[test]
fn shares_of_gains() {
    let rule = LedbatPp::new(0.060);
    for (base_ms, share) in [(120.0, 1.0), (60.0, 0.5f64.sqrt()), (20.0, 0.408248290), (7.5, 0.25)] {
        near(share_at_equal_loss(rule.gain(base_ms / 1e3)), share, 1e-6);
    }
    let others = [20.0, 50.0, 100.0, 120.0, 150.0, 200.0, 300.0, 400.0];
    let shares = [0.40, 0.49, 0.50, 0.64, 0.60, 0.55, 0.47, 0.41];
    for (other, share) in others.into_iter().zip(shares) {
        near(share_of_two(&rule, other / 1e3, 0.100), share, 5.1e-3);
    }
}

#[test]
fn arithmetic_of_links_and_buffers() {
    let link = Link { bits_per_second: 1e7, packet_bytes: 1500.0, buffer: 100.0, rtt_s: 0.050 };
    near(link.capacity(), 833.333333, 1e-6);
    near(link.bdp(), 41.6666667, 1e-6);
    near(link.buffer_s(), 0.120, 1e-12);
    near(link.targets_in_buffer(0.025), 4.8, 1e-12);
    near(link.targets_in_buffer(0.100), 1.2, 1e-12);
    near(link.packets_in(0.025), 20.833333, 1e-6);
    let at = |bits_per_second: f64| Link { bits_per_second, ..link };
    near(at(1e6).bytes_in(0.100), 12_500.0, 1e-9);
    near(at(1e9).bytes_in(0.100), 12_500_000.0, 1e-6);
    let deep = |bits_per_second: f64, rtt_s: f64| Link { buffer: 500.0, rtt_s, ..at(bits_per_second) };
    near(deep(1e6, 0.05).buffer_s(), 6.0, 1e-12);
    near(deep(1e7, 0.05).buffer_s(), 0.6, 1e-12);
    for (rtt_ms, queue) in [(20.0, 371.0), (50.0, 365.0), (100.0, 354.0)] {
        near(deep(1e7, rtt_ms / 1e3).sawtooth_queue(0.5), queue, 0.5);
    }
    // Two packets of 1456 B fill 20 Mbit/s up to a round trip of 1.165 ms.
    let short = Link { bits_per_second: 20e6, packet_bytes: 1456.0, buffer: 1.0, rtt_s: 0.001 };
    near(short.filled_by_s(2.0) * 1e3, 1.1648, 1e-9);
    let satellite = Link { bits_per_second: 5e6, packet_bytes: 1500.0, buffer: 50.0, rtt_s: 0.6 };
    near(satellite.buffer_s(), 0.120, 1e-12);
    near(satellite.bdp(), 250.0, 1e-9);
}
