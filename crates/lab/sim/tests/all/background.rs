//! Background controllers behave as theory says, over both transports.

use crate::support::*;
use afteryou_scenario::{Algorithm, Flow, Gaps, Link, Scenario, Size, Traffic, Transport};
use afteryou_scenario_file::Experiment;

/// Returns both transports with this controller.
fn both(name: &str, controller: &str, rtt_ms: u64) -> [Flow; 2] {
    [flow(name, controller, rtt_ms), utp(name, controller, rtt_ms)]
}

#[test]
fn ledbat_alone_holds_its_target_within_a_tenth() {
    for target_ms in [25.0, 60.0, 100.0] {
        for flow in both("alone", &format!("ledbat,target={target_ms}ms"), 50) {
            let transport = flow.transport.clone();
            let outcome = run(&scenario(link("10 Mbit/s", "500 ms"), 300.0, 60.0, vec![flow]));
            let delay = outcome.window("all").bottleneck().unwrap().queuing_delay.expect("packets").mean_ms;
            println!("{transport}, target {target_ms} ms: {delay} ms");
            assert!((delay / target_ms - 1.0).abs() <= 0.1, "{transport}, target {target_ms} ms: {delay} ms");
        }
    }
}

#[test]
fn ledbat_keeps_its_window_from_chunk_to_chunk() {
    // A chunk takes the link several times its round-trip time, and between two of them one passes in silence.
    for (chunk_bytes, rtt_ms) in [(250_000, 50), (1_000_000, 50), (1_000_000, 135)] {
        for flow in both("alone", "ledbat", rtt_ms) {
            let payload = flow.packet_format().payload.bytes() as f64;
            let transport = flow.transport.clone();
            let traffic = Traffic::Chunk(Size::from_bytes(chunk_bytes));
            let outcome =
                run(&scenario(link("10 Mbit/s", "500 ms"), 120.0, 60.0, vec![Flow { traffic, ..flow }]));
            let share = outcome.window("all").flows[0].goodput_bit_s / 10e6;
            let busy_s = chunk_bytes as f64 * (payload + 52.0) / payload * 8.0 / 10e6;
            let possible = chunk_bytes as f64 * 8.0 / 10e6 / (busy_s + rtt_ms as f64 / 1e3);
            println!("{transport}, {chunk_bytes} B, {rtt_ms} ms: {share:.3} of {possible:.3}");
            assert!(share >= 0.85 * possible, "{transport}, {rtt_ms} ms: {share:.3} of {possible:.3}");
        }
    }
}

#[test]
fn a_latecomer_starves_the_first_ledbat_flow() {
    // RFC 6817 §A.1 and fLEDBAT §3: the second flow takes the first one's queue for the path. It comes when the first one
    // has had the time to build that queue, a packet in each round trip.
    for rtt_ms in [20, 50, 100] {
        for (first, second) in both("first", "ledbat", rtt_ms).into_iter().zip(both("late", "ledbat", rtt_ms))
        {
            let transport = first.transport.clone();
            let late = Flow { start: seconds(60.0), ..second };
            let outcome = run(&scenario(link("10 Mbit/s", "500 ms"), 300.0, 200.0, vec![first, late]));
            let window = outcome.window("all");
            let (early, late) = (of(window, "first").goodput_bit_s, of(window, "late").goodput_bit_s);
            let delay = window.bottleneck().unwrap().queuing_delay.expect("packets").mean_ms;
            println!("{transport}, {rtt_ms} ms: first {early:.0}, late {late:.0} bit/s, queue {delay} ms");
            assert!(late > 10.0 * early, "{transport}, {rtt_ms} ms: {early} against {late}");
            // Its target is on top of the first one's.
            assert!((190.0..=210.0).contains(&delay), "{delay}");
        }
    }
}

#[test]
fn two_ledbatpp_flows_share_whoever_came_first() {
    for rtt_ms in [20, 50, 100] {
        for (one, two) in both("first", "ledbat++", rtt_ms).into_iter().zip(both("late", "ledbat++", rtt_ms))
        {
            let late = Flow { start: seconds(10.0), ..two };
            let transport = one.transport.clone();
            let outcome = run(&scenario(link("10 Mbit/s", "500 ms"), 300.0, 60.0, vec![one, late]));
            let fairness = outcome.window("all").bottleneck().unwrap().fairness.expect("two flows");
            println!("{transport}, {rtt_ms} ms: {fairness}");
            assert!(fairness >= 0.95, "{transport}, {rtt_ms} ms: {fairness}");
        }
    }
}

/// Returns the mean queuing delay in ms of a lone flow in each tenth minute of two hours at 5 Mbit/s with 3 s of buffer.
fn two_hours(flow: Flow) -> Vec<f64> {
    let windows =
        (0..12).map(|i| window(&i.to_string(), f64::from(i) * 600.0 + 400.0, f64::from(i) * 600.0 + 600.0));
    let scenario =
        Scenario { measure: windows.collect(), ..scenario(link("5 Mbit/s", "3 s"), 7200.0, 0.0, vec![flow]) };
    let outcome = run(&scenario);
    outcome
        .run
        .windows
        .iter()
        .map(|window| window.bottleneck().unwrap().queuing_delay.expect("packets").mean_ms)
        .collect()
}

#[test]
fn ledbat_drifts_by_a_target_every_ten_minutes_and_ledbatpp_does_not() {
    // LEDBAT's base history forgets the empty path after ten minutes and takes its own queue for the path.
    for flow in both("alone", "ledbat", 50) {
        let delays = two_hours(flow);
        println!("ledbat: {delays:?}");
        for (i, pair) in delays.windows(2).enumerate() {
            let drift = pair[1] - pair[0];
            assert!(
                (drift / 100.0 - 1.0).abs() <= 0.25,
                "after {} min it drifts by {drift} ms",
                (i + 1) * 10
            );
        }
    }
    for flow in both("alone", "ledbat++", 50) {
        let delays = two_hours(flow);
        println!("ledbat++: {delays:?}");
        assert!(delays.iter().all(|delay| *delay <= 66.0), "{delays:?}");
        assert!((delays[11] - delays[0]).abs() <= 3.0, "{delays:?}");
    }
}

#[test]
fn ledbatpp_alone_uses_the_link_and_less_of_it_on_very_long_paths() {
    let share = |flow: Flow| {
        let outcome = run(&scenario(link("20 Mbit/s", "500 ms"), 600.0, 60.0, vec![flow]));
        outcome.window("all").flows[0].share_of_payload_capacity
    };
    for kind in [0, 1] {
        let shares: Vec<(u64, f64)> = [20, 50, 100, 150, 200, 250, 300, 400]
            .into_iter()
            .map(|rtt_ms| (rtt_ms, share(both("alone", "ledbat++", rtt_ms)[kind].clone())))
            .collect();
        println!("{shares:?}");
        for (rtt_ms, share) in &shares {
            if *rtt_ms <= 200 {
                assert!((0.88..=0.98).contains(share), "{rtt_ms} ms: {share}");
            }
        }
        let beyond: Vec<f64> =
            shares.iter().filter(|(rtt_ms, _)| *rtt_ms >= 250).map(|(_, share)| *share).collect();
        assert!(beyond.windows(2).all(|pair| pair[1] < pair[0]), "{beyond:?}");
    }
}

#[test]
fn background_gives_way_to_loss_based_foreground_on_every_path() {
    for rtt_ms in [5, 50, 135, 250] {
        for (controller, most) in [("ledbat", 0.25), ("ledbat++", 0.15)] {
            for background in both("background", controller, rtt_ms) {
                let transport = background.transport.clone();
                let flows = vec![flow("foreground", "cubic", rtt_ms), background];
                let scenario =
                    Scenario { baseline: true, ..scenario(link("20 Mbit/s", "500 ms"), 180.0, 60.0, flows) };
                let outcome = run(&scenario);
                let kept = outcome.comparison[0].kept.expect("a baseline");
                println!("{controller} over {transport}, {rtt_ms} ms: kept {kept:.3}");
                assert!(kept >= 1.0 - most, "{controller} over {transport}, {rtt_ms} ms: kept {kept:.3}");
            }
        }
    }
}

/// Returns the shares of a foreground flow and of TCP-LP on 20 Mbit/s, 50 ms, from 40 s to 120 s; they start at `starts_s`.
fn beside_tcp_lp(link: Link, foreground: Flow, tcp_lp: Flow, starts_s: [f64; 2]) -> [f64; 2] {
    let [start, lp_start] = starts_s.map(seconds);
    let flows = vec![Flow { start, ..foreground }, Flow { start: lp_start, ..tcp_lp }];
    let outcome = run(&scenario(link, 120.0, 40.0, flows));
    ["foreground", "lp"].map(|name| of(outcome.window("all"), name).share_of_payload_capacity)
}

#[test]
fn tcp_lp_yields_to_a_window_limited_foreground_though_neither_ever_sees_a_loss() {
    for (rwnd, starts_s) in
        [("125 kB", [0.0, 10.0]), ("125 kB", [20.0, 0.0]), ("250 kB", [0.0, 10.0]), ("250 kB", [20.0, 0.0])]
    {
        let limited = |flow: Flow| Flow { transport: Transport::tcp().with("rwnd", rwnd), ..flow };
        let (foreground, lp) = (limited(flow("foreground", "cubic", 50)), limited(flow("lp", "tcp-lp", 50)));
        let [kept, taken] = beside_tcp_lp(link("20 Mbit/s", "500 ms"), foreground, lp, starts_s);
        println!("windows of {rwnd}, starts at {starts_s:?} s: {kept:.3}, TCP-LP {taken:.3}");
        assert!(kept > 0.85 && taken < 0.15, "{rwnd}, {starts_s:?}: {kept}, {taken}");
    }
}

#[test]
fn an_aqm_below_the_lifetimes_range_keeps_tcp_lp_from_yielding_and_linuxs_memory_does_yield() {
    for queue in ["codel", "pie"] {
        let kept = ["lifetime", "linux"].map(|memory| {
            let link = Link { queue: Algorithm::named(queue), ..link("20 Mbit/s", "300 ms") };
            // Of one round-trip time the two would take their turns in step with the link: see `calls`.
            let lp = flow("lp", &format!("tcp-lp,memory={memory}"), 53);
            let [kept, taken] = beside_tcp_lp(link, flow("foreground", "newreno", 50), lp, [20.0, 0.0]);
            println!("{queue}, memory = {memory}: {kept:.3}, TCP-LP {taken:.3}");
            kept / (kept + taken)
        });
        assert!(kept[0] < 0.6 && kept[1] > 0.7, "{queue}: {kept:?}");
    }
}

#[test]
fn tcp_lp_with_linuxs_memory_fills_most_of_an_empty_link_whether_acks_are_delayed_or_not() {
    for ack in ["delayed", "every packet"] {
        let lp =
            Flow { transport: Transport::tcp().with("ack", ack), ..flow("lp", "tcp-lp,memory=linux", 50) };
        let outcome = run(&scenario(link("20 Mbit/s", "100 ms"), 120.0, 40.0, vec![lp]));
        let share = of(outcome.window("all"), "lp").share_of_payload_capacity;
        assert!(share > 0.75, "{ack}: {share}");
    }
}

/// Returns six calls of different sizes and rates, 1 Mbit/s in all. Without them two flows of one packet size take their
/// turns in step with the link. Who is dropped then depends on the last 0.6 ms of a round-trip time (Floyd and Jacobson's
/// phase effects).
fn calls() -> Vec<Flow> {
    let sizes_and_rates =
        [(61, 97_000), (137, 151_000), (293, 211_000), (409, 173_000), (523, 307_000), (227, 61_000)];
    let call = |(i, (payload, bits)): (usize, (u64, u64))| {
        let rate = format!("{bits} bit/s").parse().unwrap();
        let traffic = Traffic::Cbr { rate, payload: Size::from_bytes(payload), gaps: Gaps::Equal };
        let any = flow(&format!("call {i}"), "cubic", 20 + 7 * i as u64);
        Flow { transport: Transport::udp(), controller: None, traffic, ..any }
    };
    sizes_and_rates.into_iter().enumerate().map(call).collect()
}

/// Returns the goodput of a flow beside CUBIC, Mbit/s, and the losses of both in a thousand packets, with these habits of
/// the receivers.
fn beside_cubic(controller: &str, buffer: &str, acks: [&str; 2]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for start_ms in [0, 137, 274, 411] {
        let with = |flow: Flow, ack: &str| Flow { transport: Transport::tcp().with("ack", ack), ..flow };
        let ours = Flow { start: ms(start_ms), ..with(flow("ours", controller, 50), acks[0]) };
        let mut flows = vec![with(flow("cubic", "cubic", 50), acks[1]), ours];
        flows.extend(calls());
        let outcome = run(&scenario(link("20 Mbit/s", buffer), 200.0, 30.0, flows));
        let losses = |name: &str| {
            let totals = outcome.totals(name);
            1000.0 * totals.losses as f64 / totals.packets as f64
        };
        let goodput = 20.0 * of(outcome.window("all"), "ours").share_of_payload_capacity;
        for (sum, value) in sums.iter_mut().zip([goodput, losses("ours"), losses("cubic")]) {
            *sum += value / 4.0;
        }
    }
    sums
}

#[test]
fn a_flow_that_is_acknowledged_by_pairs_loses_more_in_a_short_full_queue_whatever_its_rule() {
    for controller in ["ledbat++", "newreno"] {
        for buffer in ["20 ms", "50 ms"] {
            let [pairs, singles] = ["delayed", "every packet"].map(|ack| {
                let figures = beside_cubic(controller, buffer, [ack, "every packet"]);
                println!("{controller}, {buffer}, acks of {ack}: {figures:.2?}");
                figures
            });
            assert!(pairs[0] < 0.95 * singles[0] && pairs[1] > 1.2 * singles[1], "{controller}, {buffer}");
            // Where both are acknowledged by pairs, most of the difference is gone.
            let alike = beside_cubic(controller, buffer, ["delayed", "delayed"]);
            println!("{controller}, {buffer}, both delayed: {alike:.2?}");
            assert!(alike[0] > pairs[0], "{controller}, {buffer}");
        }
    }
}

#[test]
fn a_rule_about_single_delays_does_not_yield_to_its_own_packets_on_a_slow_link() {
    let every_packet = |flow: Flow| Flow { transport: Transport::tcp().with("ack", "every packet"), ..flow };
    for controller in ["nice", "tcp-lp"] {
        for (rate, rtt_ms) in
            ["0.25", "0.5", "1", "2", "5"].into_iter().flat_map(|rate| [10, 40, 200].map(|rtt| (rate, rtt)))
        {
            let alone = both("alone", controller, rtt_ms);
            for flow in [every_packet(alone[0].clone())].into_iter().chain(alone) {
                let transport = flow.transport.clone();
                let outcome = run(&scenario(link(&format!("{rate} Mbit/s"), "1 s"), 200.0, 60.0, vec![flow]));
                let used = outcome.window("all").bottleneck().unwrap().utilisation;
                assert!(used >= 0.6, "{controller} over {transport}, {rate} Mbit/s, {rtt_ms} ms: {used}");
            }
        }
    }
}

#[test]
fn nice_still_yields_on_slow_links_in_buffers_of_a_few_of_its_own_packets() {
    for foreground in ["cubic", "newreno"] {
        for (rate, rtt_ms) in
            ["0.5", "1", "2", "5"].into_iter().flat_map(|rate| [20, 100].map(|rtt| (rate, rtt)))
        {
            for buffer in ["10 packets", "16 packets", "40 packets"] {
                let late = Flow { start: seconds(5.0), ..flow("late", foreground, rtt_ms) };
                let flows = vec![late, flow("nice", "nice", rtt_ms)];
                let outcome = run(&scenario(link(&format!("{rate} Mbit/s"), buffer), 300.0, 60.0, flows));
                let share = of(outcome.window("all"), "nice").share_of_payload_capacity;
                println!("{foreground}, {rate} Mbit/s, {rtt_ms} ms, {buffer}: {share:.3}");
                assert!(share < 0.12, "{foreground}, {rate} Mbit/s, {rtt_ms} ms, {buffer}: {share:.3}");
            }
        }
    }
}

/// Returns LEDBAT with RFC 5681's slow start and a target of 25 ms, over TCP of the ns-2 era with delayed acks.
fn by_rfc_5681(name: &str, start_s: f64) -> Flow {
    let transport = Transport::tcp()
        .with("preset", "classic")
        .with("ack", "delayed")
        .with("counting", "bytes")
        .with("ack_delay", "200ms");
    let flow = flow(name, "ledbat,target=25ms,slow_start=rfc5681", 50);
    Flow { transport: transport.with("iw", "10"), start: seconds(start_s), ..flow }
}

#[test]
fn a_slow_start_by_rfc_5681_adds_a_packet_an_ack_and_overshoots_by_half_a_window() {
    // Delayed acks: one and a half times the window in a round trip, so half of buffer and path is lost. Twice the window would
    // lose all of it.
    let path_packets = 10e6 * 0.05 / 8.0 / 1500.0;
    for buffer_packets in [40.0, 100.0, 300.0] {
        let outcome = run(&scenario(
            link("10 Mbit/s", &format!("{buffer_packets} packets")),
            8.0,
            0.0,
            vec![by_rfc_5681("alone", 0.0)],
        ));
        let lost = outcome.totals("alone").losses as f64 / (buffer_packets + path_packets);
        println!("{buffer_packets} packets: {lost:.2} of buffer and path are lost");
        assert!((0.4..=0.65).contains(&lost), "{buffer_packets} packets: {lost:.2}");
    }
}

#[test]
fn a_latecomer_takes_the_rest_of_the_first_ones_slow_start_for_the_path() {
    // The first one's queue sinks to its target of 25 ms by a packet for each 25 ms of excess in a round trip.
    for (buffer, packets) in [("100 packets", 38.0..46.0), ("300 packets", 48.0..57.0)] {
        let flows = vec![by_rfc_5681("first", 0.0), by_rfc_5681("late", 10.0)];
        let outcome = run(&scenario(link("10 Mbit/s", buffer), 200.0, 100.0, flows));
        let window = outcome.window("all");
        let standing = window.bottleneck().unwrap().queue_packets.expect("a queue");
        println!("{buffer}: {standing} packets");
        assert!(packets.contains(&standing), "{buffer}: {standing} packets");
        assert!(of(window, "first").goodput_bit_s < 0.05 * of(window, "late").goodput_bit_s, "{buffer}");
    }
}

#[test]
fn jitter_of_both_directions_beyond_its_target_is_a_queue_to_ledbatpp_and_that_of_one_is_none() {
    let share = |controller: &str, jitter_ms: u64, both: bool| {
        let jitter = format!("{{ uniform = \"{jitter_ms} ms\" }}");
        let of_link = if both { format!("jitter = {jitter}") } else { String::new() };
        let of_flow = if both { String::new() } else { format!("jitter = {jitter}") };
        let file = format!(
            "duration = \"200 s\"\nmeasure = {{ from = \"60 s\" }}\n[link]\nrate = \"20 Mbit/s\"\nbuffer = \"500 ms\"\n{of_link}\n\
             [[flow]]\nname = \"a\"\nrole = \"background\"\ncontroller = \"{controller}\"\nrtt = \"50 ms\"\n{of_flow}\n"
        );
        let experiment =
            Experiment::parse(&file, "jitter.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&experiment.runs(None, None).expect("one run")[0].scenario);
        let used = outcome.run.windows[0].bottleneck().unwrap().utilisation;
        println!("{controller}, {jitter_ms} ms, both directions: {both}: {used:.3}");
        used
    };
    assert!(share("ledbat++", 50, true) < 0.25, "two times 50 ms are more than its target of 60 ms");
    assert!(share("ledbat++", 25, true) > 0.85, "two times 25 ms are less");
    assert!(share("ledbat++", 50, false) > 0.85);
    assert!(share("ledbat++,signal=one-way", 50, true) > 0.85);
}
