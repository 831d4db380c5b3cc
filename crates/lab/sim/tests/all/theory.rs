//! Whole runs held against queueing theory and max-min fairness.

use crate::support::*;
use afteryou_scenario::scenario::Drop;
use afteryou_scenario::Gaps;
use afteryou_scenario::{Algorithm, Flow, Link, Path, Rate, Role, Scenario, Size, Traffic, Transport};

/// Windows whose means are compared, of this length.
const WINDOWS: u32 = 25;
const WINDOW_S: f64 = 80.0;

/// Returns a scenario of packets of 1 ms that arrive as a Poisson process of this load.
fn random_arrivals(load: f64) -> Scenario {
    let rate = Rate::from_bits((10_976_000.0 * load).round() as u64);
    let payload = Size::from_bytes(1372);
    let source = Flow {
        traffic: Traffic::Cbr { rate, payload, gaps: Gaps::Exponential },
        ..Flow::cbr("source", Role::Foreground, rate, payload, ms(10))
    };
    let begin = |i: u32| 20.0 + f64::from(i) * WINDOW_S;
    let measure = (0..WINDOWS).map(|i| window(&i.to_string(), begin(i), begin(i + 1))).collect();
    // 1372 B and 28 B of headers in 1 ms.
    let link = link("11.2 Mbit/s", "1000000 packets");
    Scenario { measure, ..scenario(link, begin(WINDOWS), 0.0, vec![source]) }
}

#[test]
fn random_arrivals_wait_as_long_as_in_the_queue_m_d_1() {
    for load in [0.5, 0.8, 0.95] {
        let outcome = run(&random_arrivals(load));
        let mean = |i: u32| outcome.window(&i.to_string()).links[0].queuing_delay.expect("packets").mean_ms;
        let means: Vec<f64> = (0..WINDOWS).map(mean).collect();
        let (n, sum) = (f64::from(WINDOWS), means.iter().sum::<f64>());
        let waited = sum / n;
        let variance: f64 = means.iter().map(|mean| (mean - waited) * (mean - waited)).sum();
        let error = (variance / (n * (n - 1.0))).sqrt();
        // Pollaczek and Khinchine for a service of 1 ms that does not vary.
        let expected = load / (2.0 * (1.0 - load));
        println!("load {load}: waited {waited:.4} ms ± {error:.4}, M/D/1 {expected:.4}");
        assert!((waited - expected).abs() < 4.0 * error, "{load}: {waited} of {expected} ± {error}");
    }
}

#[test]
fn newreno_in_a_parking_lot_with_fair_queues_has_its_max_min_shares() {
    let fair = |rate: &str, name: &str| {
        // A target above NewReno's sawtooth: CoDel drops late, and the link is never idle.
        let queue = Algorithm::named("fq_codel").with("target", "100 ms").with("interval", "1 s");
        Link { queue, ..link(rate, "1000 packets") }.named(name)
    };
    let one = |name: &str, links: &[&str]| {
        let forward = links.iter().map(|link| (*link).to_owned()).collect();
        let path = Path { forward, reverse: vec!["back".to_owned()], delay: None };
        Flow { path: Some(path), ..flow(name, "newreno", 40) }
    };
    let flows =
        vec![one("long", &["wide", "narrow"]), one("at wide", &["wide"]), one("at narrow", &["narrow"])];
    let further_links = vec![fair("4 Mbit/s", "narrow"), link("100 Mbit/s", "1000 packets").named("back")];
    let scenario = Scenario { further_links, ..scenario(fair("10 Mbit/s", "wide"), 120.0, 20.0, flows) };
    let outcome = run(&scenario);
    // The narrow link is shared by two, and what the long flow leaves of the wide one is the other's.
    for (name, mbit) in [("long", 2.0), ("at narrow", 2.0), ("at wide", 8.0)] {
        let payload = mbit * 1e6 * 1448.0 / 1500.0;
        let goodput = of(outcome.window("all"), name).goodput_bit_s;
        println!("{name}: {goodput} of {payload}");
        assert!((0.95..=1.02).contains(&(goodput / payload)), "{name}: {goodput} of {payload}");
    }
}

/// Returns how far CUBIC's window has come back K seconds after a loss at 20 s, and where theory puts it by then.
/// The flow is on for `on_ms` of each 250 ms.
fn way_back(transport: &Transport, rtt_ms: u64, on_ms: u64) -> (f64, f64) {
    let traffic = match on_ms {
        250 => Traffic::Bulk,
        on => Traffic::OnOff { on: ms(on), off: ms(250 - on) },
    };
    let one = Flow {
        traffic,
        transport: transport.clone(),
        ..flow("one", "cubic,fast_convergence=false,hystart=linux", rtt_ms)
    };
    let drop = Drop { flow: Some("one".to_owned()), at: Some(ms(20_000)), ..Drop::default() };
    let mut scenario = scenario(link("1 Gbit/s", "20000 packets"), 50.0, 0.0, vec![one]);
    (scenario.drop, scenario.sample) = (vec![drop], Some(ms(10)));
    let curve = run(&scenario).curve("one", "cwnd");
    let at = |s: f64| curve.iter().find(|(time, _)| *time >= s).expect("sampled").1 * 1000.0 / 1448.0;
    // The loss is found within a period and a round trip.
    let before = at(19.9);
    let (cut_s, after) = curve
        .iter()
        .filter(|(time, _)| *time >= 19.9)
        .map(|(time, kb)| (*time, kb * 1000.0 / 1448.0))
        .find(|(_, packets)| *packets < 0.8 * before)
        .expect("a cut");
    let k = libm::cbrt((before - after) / 0.4);
    let active = on_ms as f64 / 250.0;
    let idle = 1.0 - active;
    ((at(cut_s + k) - after) / (before - after), 1.0 - idle * idle * idle)
}

#[test]
fn cubic_comes_back_by_the_time_in_which_it_sends() {
    for transport in [Transport::tcp().with("rwnd", "100 MB"), Transport::utp().with("rwnd", "11 MB")] {
        for (rtt_ms, on_ms) in [(20, 60), (20, 130), (50, 100), (20, 250)] {
            let (way, theory) = way_back(&transport, rtt_ms, on_ms);
            println!(
                "{transport}, {rtt_ms} ms, on for {on_ms} of 250 ms: {way:.3} of the way, theory {theory:.3}"
            );
            assert!((way - theory).abs() < 0.1, "{transport}, {rtt_ms} ms, {on_ms} ms: {way} for {theory}");
        }
    }
}
