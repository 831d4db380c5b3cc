//! TCP against closed forms: what theory says that a window does, it does.

use crate::support::*;
use afteryou_scenario::outcome::jain;
use afteryou_scenario::scenario::Reverse;
use afteryou_scenario::{Flow, Probability, Transport};

/// Returns c in `rate = MSS/RTT · c/√p` of one flow under random loss of data on a link that is never full.
fn constant(flow: Flow, p: f64, duration_s: f64) -> f64 {
    let rtt_s = flow.rtt.as_secs_f64();
    let payload = flow.packet_format().payload.bytes() as f64;
    let mut link = link("10 Gbit/s", "100 MB");
    link.loss = Probability::from_ratio(p).unwrap();
    link.reverse = Some(Reverse { loss: Some(Probability::default()), ..Reverse::default() });
    let name = flow.name.clone();
    let outcome = run(&scenario(link, duration_s, duration_s / 10.0, vec![flow]));
    let goodput = of(outcome.window("all"), &name).goodput_bit_s;
    goodput / 8.0 / payload * rtt_s * p.sqrt()
}

#[test]
fn newreno_under_random_loss_sends_c_over_the_root_of_it() {
    // Mathis et al. 1997: √(3/2) = 1.22 for periodic losses, 1.31 for random ones, with an ack for each packet.
    let every_packet = |transport: Transport| Flow { transport, ..flow("reno", "newreno", 100) };
    let modern = Transport::tcp().with("ack", "every packet");
    let classic = Transport::tcp().with("preset", "classic");
    for (p, duration_s, least) in [(0.001, 20_000.0, 1.22), (0.005, 10_000.0, 1.22), (0.02, 5_000.0, 1.12)] {
        for transport in [&modern, &classic] {
            let c = constant(every_packet(transport.clone()), p, duration_s);
            println!("{transport}, p {p}: c {c:.4}");
            assert!((least..=1.31).contains(&c), "{transport}, p {p}: c {c:.4}");
        }
    }
}

#[test]
fn acks_of_every_second_packet_that_count_as_one_send_the_root_of_three_quarters() {
    let transport = Transport::tcp().with("counting", "acks");
    for (p, duration_s) in [(0.001, 20_000.0), (0.005, 10_000.0)] {
        let c =
            constant(Flow { transport: transport.clone(), ..flow("reno", "newreno", 100) }, p, duration_s);
        println!("p {p}: c {c:.4}");
        assert!((c / 0.866 - 1.0).abs() <= 0.1, "p {p}: c {c:.4}");
    }
}

#[test]
fn cubic_fills_a_link_whose_buffer_holds_one_bandwidth_delay_product() {
    for (rate, rtt_ms) in [("10 Mbit/s", 50), ("100 Mbit/s", 20), ("100 Mbit/s", 100)] {
        let buffer = format!("{rtt_ms} ms");
        let outcome = run(&scenario(link(rate, &buffer), 120.0, 30.0, vec![flow("cubic", "cubic", rtt_ms)]));
        let utilisation = outcome.window("all").bottleneck().unwrap().utilisation;
        println!("{rate}, {rtt_ms} ms: {utilisation}");
        assert!(utilisation >= 0.99, "{rate}, {rtt_ms} ms: {utilisation}");
    }
}

#[test]
fn two_equal_flows_share_equally() {
    for (controller, kind) in
        [("newreno", "modern"), ("newreno", "classic"), ("cubic", "modern"), ("cubic", "classic")]
    {
        let one = |name: &str, start_s| Flow {
            start: seconds(start_s),
            transport: Transport::tcp().with("preset", kind),
            ..flow(name, controller, 40)
        };
        let flows = vec![one("a", 0.0), one("b", 1.3)];
        let outcome = run(&scenario(link("20 Mbit/s", "80 ms"), 600.0, 60.0, flows));
        let rates: Vec<f64> = outcome.window("all").flows.iter().map(|flow| flow.goodput_bit_s).collect();
        println!("{controller} {kind}: {rates:?} {:.4}", jain(&rates));
        assert!(jain(&rates) >= 0.98, "{controller} {kind}: {rates:?}");
    }
}

/// Returns the window of a lone flow between losses, in packets: (time since the reduction, window) from the lowest point
/// on.
fn sawtooth(controller: &str, rtt_ms: u64) -> Vec<(f64, f64)> {
    // The queue is short against the path, so that the round-trip time hardly changes.
    let packets = 100 * rtt_ms / 200;
    let flow = classic("one", controller, rtt_ms);
    let outcome =
        run(&scenario(link("10 Mbit/s", &format!("{} packets", packets / 4)), 300.0, 60.0, vec![flow]));
    let curve: Vec<(f64, f64)> =
        outcome.curve("one", "cwnd").into_iter().filter(|(at, _)| *at > 100.0).collect();
    let falls = curve.windows(2).position(|pair| pair[1].1 < 0.8 * pair[0].1).expect("a loss") + 1;
    let (start, _) = curve[falls];
    let tooth = curve[falls + 1..].iter().take_while(|(at, kb)| {
        *at == start
            || *kb > 0.0
                && !curve
                    .windows(2)
                    .any(|pair| pair[1].0 <= *at && pair[1].0 > start && pair[1].1 < 0.8 * pair[0].1)
    });
    tooth.map(|(at, kb)| (at - start, kb * 1e3 / 1448.0)).collect()
}

#[test]
fn newreno_grows_by_a_packet_in_each_round_trip() {
    let tooth = sawtooth("newreno", 200);
    let (first, last) = (tooth[3], tooth[tooth.len() - 1]);
    let slope = (last.1 - first.1) / (last.0 - first.0);
    println!("{first:?} to {last:?}: {slope:.3} packets/s");
    // 5 round trips a second, less what the queue adds to each.
    assert!((4.0..=5.05).contains(&slope), "{slope}");
}

#[test]
fn cubic_comes_back_to_its_old_maximum_after_the_time_k() {
    // Steady state: the window reaches W_max = W, falls to 0.7 W, and is back after K = ∛(0.3 W / 0.4).
    let tooth = sawtooth("cubic,fast_convergence=false", 200);
    let (low, high) = (tooth[0].1, tooth[tooth.len() - 1].1);
    let k = libm::cbrt(0.3 * low / 0.7 / 0.4);
    let back = tooth.iter().find(|(_, window)| *window >= low / 0.7 * 0.99).expect("it comes back").0;
    println!("low {low:.1} high {high:.1}: back after {back:.2} s, K {k:.2} s");
    // At 0.99 W_max the cubic is ∛(0.01 W/0.4) before K.
    let early = libm::cbrt(0.01 * low / 0.7 / 0.4);
    assert!((back - (k - early)).abs() <= 0.5, "{back} for {k} - {early}");
}
