//! What holds for every run: no byte is lost or invented, the same seed gives the same bits, and the order of flows in
//! the file does not matter beyond chance.

use crate::support::*;
use afteryou_scenario::outcome::{Ledger, WindowFigures};
use afteryou_scenario::scenario::{Delay, Drop, PacketFormat, Reverse};
use afteryou_scenario::{
    Direction, Duration, Flow, Link, Outcome, Path, Probability, Rate, Role, Scenario, Size, Traffic,
    Transport, Window,
};
use proptest::prelude::*;
use std::ops::ControlFlow;

fn any_transport() -> impl Strategy<Value = Transport> {
    prop_oneof![
        Just(Transport::tcp()),
        Just(Transport::tcp().with("preset", "classic")),
        Just(Transport::tcp().with("ecn", "true").with("ack", "every packet")),
        Just(Transport::tcp().with("recovery", "sack").with("rwnd", "64 kB")),
        Just(Transport::utp()),
        Just(Transport::utp().with("ack", "every packet").with("rwnd", "100 kB")),
    ]
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    prop_oneof![
        3 => Just(Traffic::Bulk),
        1 => (0u64..3_000_000).prop_map(|bytes| Traffic::Size(Size::from_bytes(bytes))),
        1 => (1u64..500_000).prop_map(|bytes| Traffic::Chunk(Size::from_bytes(bytes))),
        1 => (1u64..2000, 1u64..2000).prop_map(|(on, off)| Traffic::OnOff { on: ms(on), off: ms(off) }),
    ]
}

prop_compose! {
    fn any_flow(index: usize)(
        controller in prop::sample::select(vec!["newreno", "cubic", "ledbat", "ledbat++"]),
        transport in any_transport(),
        traffic in any_traffic(),
        rtt_us in 1u64..400_000,
        start_ms in 0u64..4000,
        stay_ms in prop::option::of(1u64..6000),
        reconnect: bool,
        payload in prop::option::of(1u64..4000),
        cbr in 0u8..6,
    ) -> Flow {
        let name = format!("flow {index}");
        let rtt = Duration(afteryou_base::Span::from_micros(rtt_us));
        let role = if index.is_multiple_of(2) { Role::Foreground } else { Role::Background };
        let base = if cbr == 0 {
            Flow::cbr(name, role, Rate::from_bits(64_000), Size::from_bytes(160), rtt)
        } else {
            let sizes = |payload| PacketFormat { payload: Size::from_bytes(payload), overhead: Size::from_bytes(48) };
            Flow { transport, traffic, reconnect, packet: payload.map(sizes), ..Flow::new(name, role, controller, rtt) }
        };
        Flow { start: ms(start_ms), stop: stay_ms.map(|stay| ms(start_ms + stay)), ..base }
    }
}

/// Returns the same flows over one link, with every second one downwards, or over several links that some of them share.
fn over_links(shape: u8, mut scenario: Scenario) -> Scenario {
    let Link { rate, .. } = scenario.link;
    let back = scenario.link.back();
    for (i, flow) in scenario.flow.iter_mut().enumerate() {
        let path = |forward: &[&str], reverse: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Some(Path { forward: names(forward), reverse: names(reverse), delay: None })
        };
        match (shape, i % 3) {
            (0, _) => {}
            (1, odd) => flow.direction = if odd == 1 { Direction::Down } else { Direction::Up },
            (_, 0) => flow.path = path(&["up", "core"], &["down"]),
            (_, 1) => flow.path = path(&["down"], &["core", "up"]),
            (_, _) => flow.path = path(&["core"], &["core"]),
        }
    }
    if shape > 1 {
        let core =
            Link { rate: Rate::from_bits(rate.bits_per_second() / 2 + 10_000), ..scenario.link.clone() };
        scenario.further_links =
            vec![Link { reverse: None, ..core }.named("core"), Link { reverse: None, ..back }.named("down")];
        scenario.link = Link { reverse: None, ..scenario.link }.named("up");
    }
    scenario
}

prop_compose! {
    fn any_scenario()(
        flows in (1usize..5).prop_flat_map(|n| (0..n).map(any_flow).collect::<Vec<_>>()),
        kbit in 100u64..50_000,
        back_kbit in prop::option::of(20u64..50_000),
        buffer in prop::sample::select(vec!["1 packets", "20 packets", "5000 B", "100 kB", "400 ms", "1 s"]),
        loss in prop::sample::select(vec![0.0, 0.001, 0.01, 0.05]),
        seed: u64,
        drop_at in 1u64..200,
        delay_at in 1u64..200,
        shape in 0u8..3,
    ) -> Scenario {
        let mut link = link("1 Mbit/s", buffer);
        link.rate = Rate::from_bits(kbit * 1000);
        link.loss = Probability::from_ratio(loss).unwrap();
        link.reverse = back_kbit.map(|kbit| Reverse { rate: Some(Rate::from_bits(kbit * 1000)), ..Reverse::default() });
        let name = flows[0].name.clone();
        let drop = Drop { flow: Some(name.clone()), packet: Some(drop_at), count: Some(5), ..Drop::default() };
        let delay = Delay::of_packet(name, delay_at, ms(30));
        over_links(shape, Scenario { seed, drop: vec![drop], delay: vec![delay], ..scenario(link, 5.0, 1.0, flows) })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_accounted_for_and_every_run_repeats_to_the_bit(scenario in any_scenario()) {
        // The run itself fails if its books do not balance.
        let first = run(&scenario);
        prop_assert_eq!(&first, &run(&scenario));
        for link in &first.run.links {
            prop_assert!(link.ledger.as_ref().is_some_and(Ledger::balances), "{:?}", link);
        }
        for totals in &first.run.totals {
            prop_assert!(totals.retransmissions <= totals.packets);
        }
        // What a flow received has come out of the last link of its path.
        let network = scenario.network().unwrap();
        for (link, totals) in first.run.links.iter().enumerate() {
            let ledger = totals.ledger.as_ref().unwrap();
            let ends_here = |flow: &usize| network.routes[*flow].forward.last() == Some(&link);
            let flows = (0..scenario.flow.len()).filter(ends_here);
            let received: u64 = flows.map(|flow| first.run.totals[flow].received_bytes).sum();
            prop_assert!(received <= ledger.delivered, "{} received of {} delivered", received, ledger.delivered);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_share_is_above_one_however_short_the_window_but_a_buckets_by_a_packet(
        scenario in any_scenario(),
        burst in prop::option::of(prop::sample::select(vec![1600u64, 20_000, 1_250_000])),
        windows in prop::collection::vec((0u64..4_900_000, 1u64..100_000), 1..5),
    ) {
        let mut scenario = scenario;
        // A delay of single packets moves them into a later window.
        scenario.delay.clear();
        scenario.link.elements.burst = burst.map(Size::from_bytes);
        let micros = |us: u64| Duration::from_secs_f64(us as f64 / 1e6);
        for (i, (from, length)) in windows.into_iter().enumerate() {
            let (from, to) = (micros(from), micros(from + length));
            scenario.measure.push(Window { name: format!("short {i}"), from, to });
        }
        let (outcome, network) = (run(&scenario), scenario.network().unwrap());
        for window in &outcome.run.windows {
            let seconds = window.to_s - window.from_s;
            for link in &window.links {
                prop_assert!(link.utilisation <= 1.0001, "{:?} in {} s", link, seconds);
            }
            for ((flow, spec), route) in window.flows.iter().zip(&scenario.flow).zip(&network.routes) {
                let rate = |link: &usize| network.links[*link].link.rate.bits_per_second();
                let slowest = route.forward.iter().map(rate).min().unwrap_or(1) as f64;
                let format = spec.packet_format();
                let packet_s = (format.payload.bytes() + format.overhead.bytes()) as f64 * 8.0 / slowest;
                // Out of a bucket a packet comes as its time on the link begins.
                let most = 1.0001 + if burst.is_some() { packet_s / seconds } else { 0.0 };
                let share = flow.share_of_payload_capacity;
                prop_assert!(share <= most, "{:?} in {} s, {} at most", flow, seconds, most);
            }
        }
    }
}

#[test]
fn in_windows_of_a_tenth_of_a_packets_time_the_flows_shares_are_those_of_the_time() {
    // A packet of 1500 B takes 12 ms. The windows follow one another.
    let kinds = [flow("tcp", "cubic", 40), utp("utp", "ledbat", 40), flow("small", "newreno", 40)];
    for flows in [&kinds[..1], &kinds[1..2], &kinds[..]] {
        let mut scenario = scenario(link("1 Mbit/s", "20 packets"), 12.0, 5.0, flows.to_vec());
        let micros = |us: u64| Duration::from_secs_f64(us as f64 / 1e6);
        scenario.measure.extend((0..500).map(|i| Window {
            name: format!("short {i}"),
            from: micros(8_000_000 + 1200 * i),
            to: micros(8_001_200 + 1200 * i),
        }));
        scenario.measure.push(Window {
            name: "long".to_owned(),
            from: micros(8_000_000),
            to: micros(8_600_000),
        });
        let outcome = run(&scenario);
        let share = |window: &WindowFigures| -> f64 {
            window.flows.iter().map(|flow| flow.share_of_payload_capacity).sum()
        };
        let short: Vec<&WindowFigures> =
            outcome.run.windows.iter().filter(|window| window.window.starts_with("short")).collect();
        assert!(short.iter().all(|window| share(window) <= 1.001), "{:?}", short[0].flows);
        let full = short.iter().filter(|window| share(window) > 0.9).count();
        assert!(full > 400, "the link is busy in {full} of 500 windows");
        // The parts are all there is.
        let mean = short.iter().map(|window| share(window)).sum::<f64>() / short.len() as f64;
        let long = share(outcome.window("long"));
        assert!((mean - long).abs() < 0.001, "{mean} in parts, {long} together");
    }
}

/// Returns the mean goodput and its spread over seeds, by controller.
fn goodput_by_kind(outcomes: &[Outcome]) -> Vec<(String, f64, f64)> {
    ["newreno", "ledbat"]
        .map(|kind| {
            let rates: Vec<f64> = outcomes
                .iter()
                .map(|outcome| {
                    let flows = outcome.window("all").flows.iter().filter(|flow| flow.flow.starts_with(kind));
                    flows.map(|flow| flow.goodput_bit_s).sum::<f64>()
                })
                .collect();
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>()
                / (rates.len() - 1) as f64;
            (kind.to_owned(), mean, variance.sqrt())
        })
        .to_vec()
}

#[test]
fn the_order_of_flows_moves_no_mean_by_more_than_a_standard_deviation() {
    let runs = |reversed: bool| -> Vec<Outcome> {
        let one = |seed: u64| {
            let mut flows: Vec<Flow> = (0..10)
                .map(|i| {
                    let kind = if i < 5 { "newreno" } else { "ledbat" };
                    // Starts spread over a second, as the file's random starts would do it.
                    let start = ms((seed * 7919 + i * 104_729) % 1000);
                    Flow { start, ..flow(&format!("{kind} {i}"), kind, 50) }
                })
                .collect();
            if reversed {
                flows.reverse();
            }
            run(&Scenario { seed, ..scenario(link("10 Mbit/s", "500 packets"), 120.0, 20.0, flows) })
        };
        (1..=10).map(one).collect()
    };
    for (forward, backward) in goodput_by_kind(&runs(false)).into_iter().zip(goodput_by_kind(&runs(true))) {
        println!("{forward:?} {backward:?}");
        assert!((forward.1 - backward.1).abs() <= forward.2.max(backward.2), "{forward:?} {backward:?}");
    }
}

#[test]
fn a_transfer_that_pauses_goes_on_where_it_was() {
    for flow in [flow("one", "cubic", 20), utp("one", "cubic", 20)] {
        let active = vec![[seconds(0.0), seconds(1.0)], [seconds(3.0), seconds(9.0)]];
        let flow = Flow { active, traffic: Traffic::Size(Size::from_bytes(3_000_000)), ..flow };
        let outcome = run(&scenario(link("10 Mbit/s", "100 ms"), 9.0, 0.0, vec![flow]));
        let totals = outcome.totals("one");
        assert_eq!(totals.received_bytes, 3_000_000);
        let seconds = totals.completed_in_s.expect("complete");
        assert!((4.3..5.0).contains(&seconds), "2.5 s of sending and 2 s of pause, not {seconds}");
    }
}

#[test]
fn a_run_that_would_fill_the_memory_is_ended_with_a_sentence() {
    let flows = (0..100).map(|i| Flow {
        transport: Transport::tcp().with("rwnd", "4 GB"),
        ..flow(&i.to_string(), "cubic", 900)
    });
    let scenario = scenario(link("1 Gbit/s", "1000000000 packets"), 600.0, 0.0, flows.collect());
    let scenario = scenario.checked().unwrap();
    let error = afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(error.contains("5000000 packets"), "{error}");
}

#[test]
fn a_receive_window_below_one_packet_is_filled_each_time_that_a_timeout_has_passed() {
    let small = Transport::tcp().with("rwnd", "1 kB").with("ack", "every packet");
    let flow = Flow { transport: small, ..flow("one", "cubic", 20) };
    let outcome = run(&scenario(link("10 Mbit/s", "100 ms"), 60.0, 1.0, vec![flow]));
    // 1000 B in a round trip of 20.9 ms and a timeout of 200 ms more than that, as of Linux's persist timer.
    let goodput = outcome.window("all").flows[0].goodput_bit_s;
    assert!((goodput / (1000.0 * 8.0 / 0.2418) - 1.0).abs() < 0.02, "{goodput}");
}
