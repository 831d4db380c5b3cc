//! Network elements in whole runs: their ledgers, and that transports live with them.

use crate::support::*;
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::{
    Aggregate, Arq, GilbertElliott, Jitter, LossLaw, Propagation, RateLaw, Steps,
};
use afteryou_scenario::outcome::Ledger;
use afteryou_scenario::{
    Duration, Elements, Flow, Link, Outcome, Probability, Rate, Role, Scenario, Size, Traffic,
};
use afteryou_scenario_file::Experiment;

fn ratio(ratio: f64) -> Probability {
    Probability::from_ratio(ratio).unwrap()
}

fn ledger(outcome: &Outcome, link: usize) -> &Ledger {
    outcome.run.links[link].ledger.as_ref().expect("a ledger")
}

fn over(elements: Elements, flows: Vec<Flow>) -> Scenario {
    scenario(Link { elements, ..link("10 Mbit/s", "100 ms") }, 20.0, 2.0, flows)
}

/// Returns a transfer of each transport.
fn transfers() -> Vec<Flow> {
    let sized = |flow| Flow { traffic: Traffic::Size(Size::from_bytes(1_000_000)), ..flow };
    vec![
        sized(flow("tcp", "cubic", 30)),
        sized(utp("utp", "cubic", 30)),
        sized(classic("old", "newreno", 30)),
    ]
}

#[test]
fn a_full_bucket_is_part_of_what_its_link_could_have_sent() {
    // A second's worth of the link, as with tc: after a pause of two seconds the flow has it at once.
    let elements = Elements { burst: Some(Size::from_bytes(1_250_000)), ..Elements::default() };
    let link = Link { elements, ..link("10 Mbit/s", "500 ms") };
    let traffic = Traffic::OnOff { on: ms(1000), off: ms(2000) };
    let mut scenario = scenario(link, 20.0, 0.0, vec![Flow { traffic, ..flow("a", "cubic", 20) }]);
    scenario.measure = vec![window("after a pause", 3.05, 4.0), window("whole", 0.0, 20.0)];
    let outcome = run(&scenario);
    let figures = outcome.window("after a pause");
    let (link, share) = (&figures.links[0], figures.flows[0].share_of_payload_capacity);
    assert!((0.5..=1.0).contains(&link.utilisation) && (0.5..=1.001).contains(&share), "{link:?} {share}");
    assert!(figures.flows[0].goodput_bit_s > 12e6, "it did have more than the rate: {figures:?}");
    assert!(link.capacity_bit_s > 15e6, "{link:?}");
    let whole = &outcome.window("whole").links[0];
    assert_eq!(whole.capacity_bit_s, 10.5e6, "a full bucket of a second in 20 s");
}

#[test]
fn a_bursty_link_loses_its_mean_and_every_transfer_arrives_whole() {
    let chain = GilbertElliott::of_mean(ratio(0.02), 4.0).unwrap();
    let elements = Elements { loss: Some(LossLaw::GilbertElliott(chain)), ..Elements::default() };
    let outcome = run(&Scenario { duration: seconds(120.0), ..over(elements, transfers()) });
    for totals in &outcome.run.totals {
        assert_eq!(totals.received_bytes, 1_000_000, "{}", totals.flow);
    }
    let packets = outcome.run.links[0].packets.unwrap();
    let rate = packets.lost as f64 / packets.arrived as f64;
    // Bursts of four among some 2500 packets: a standard error of √(0.02·0.98·7/2500) = 0.7 %.
    assert!((rate - 0.02).abs() < 4.0 * 0.007, "{rate} of {packets:?}");
}

#[test]
fn every_tenth_packet_of_a_link_is_lost() {
    let elements = Elements { loss: Some(LossLaw::Every(10)), ..Elements::default() };
    let outcome = run(&over(elements, vec![flow("one", "cubic", 30)]));
    let packets = outcome.run.links[0].packets.unwrap();
    assert_eq!(packets.lost, packets.arrived / 10);
}

#[test]
fn a_token_bucket_keeps_the_links_rate_and_lets_packets_that_come_together_leave_together() {
    let bucket = |bytes| Elements { burst: Some(Size::from_bytes(bytes)), ..Elements::default() };
    let link = |elements: Elements| {
        let outcome = run(&over(elements, vec![flow("one", "cubic", 30)]));
        outcome.run.windows[0].links[0].clone()
    };
    let (plain, burst) = (link(Elements::default()), link(bucket(1600)));
    assert!((burst.utilisation - 1.0).abs() < 0.001, "{}", burst.utilisation);
    let mean = |link: &afteryou_scenario::outcome::LinkFigures| link.queuing_delay.unwrap().mean_ms;
    // With a standing queue the two differ by the packet in transmission at most.
    assert!((mean(&burst) - mean(&plain)).abs() < 1.5, "{} and {}", mean(&burst), mean(&plain));
    // Two flows whose packets of 1000 B come at the same instants: a bucket of both delays none, a plain link the second.
    let pairs = |elements| {
        let cbr = |name: &str| {
            Flow::cbr(
                name,
                Role::Foreground,
                Rate::from_mbit(2),
                Size::from_bytes(972),
                Duration::from_millis(30),
            )
        };
        mean(&run(&over(elements, vec![cbr("one"), cbr("two")])).run.windows[0].links[0])
    };
    let (plain_ms, burst_ms) = (pairs(Elements::default()), pairs(bucket(2000)));
    assert!(plain_ms > 0.39 && burst_ms < 1e-3, "{plain_ms} and {burst_ms}");
}

#[test]
fn duplicates_are_in_the_ledger_and_change_no_byte_of_what_arrives() {
    let elements = Elements { duplicate: ratio(0.1), ..Elements::default() };
    let outcome = run(&over(elements, transfers()));
    for totals in &outcome.run.totals {
        assert_eq!(totals.received_bytes, 1_000_000, "{}", totals.flow);
    }
    for link in 0..2 {
        let (packets, ledger) = (outcome.run.links[link].packets.unwrap(), ledger(&outcome, link));
        let (copies, arrived) = (packets.duplicated as f64, packets.arrived as f64);
        let error = (0.1 * 0.9 / arrived).sqrt();
        assert!((copies / arrived - 0.1).abs() < 4.0 * error, "{copies} of {arrived}");
        assert!(ledger.balances() && ledger.duplicated > 0, "{ledger:?}");
        assert_eq!(
            packets.arrived + packets.duplicated,
            packets.delivered + packets.dropped + packets.unfinished
        );
    }
}

#[test]
fn a_plain_link_says_nothing_of_elements() {
    let outcome = run(&over(Elements::default(), vec![flow("one", "cubic", 30)]));
    let json = serde_json::to_string(&outcome).unwrap();
    assert!(!json.contains("elements") && !json.contains("duplicated"), "{json}");
}

/// Returns a scenario of a call of 160 B every 10 ms, over a path of 10 Mbit/s without other traffic.
fn call(elements: Elements) -> Scenario {
    let call = Flow::cbr("call", Role::Foreground, Rate::from_bits(128_000), Size::from_bytes(160), ms(40));
    over(elements, vec![call])
}

fn up_to(most: Duration, reorder: bool) -> Jitter {
    Jitter { law: Distribution::Uniform(Duration::default(), most), reorder }
}

#[test]
fn a_call_feels_the_jitter_of_its_path_and_no_more() {
    // Every 10 ms a packet, and jitter below that: nothing overtakes, nothing waits.
    let of_link = call(Elements { jitter: Some(up_to(ms(8), false)), ..Elements::default() });
    let mut of_flow = call(Elements::default());
    of_flow.flow[0].elements.jitter = Some(up_to(ms(8), false));
    for scenario in [of_link, of_flow] {
        let delays = run(&scenario).window("all").flows[0].queuing_delay.expect("a call measures its delay");
        // 1800 packets: a standard error of 8 ms/√12/√1800 = 0.054 ms.
        assert!((delays.mean_ms - 4.0).abs() < 4.0 * 0.054, "{delays:?}");
        assert!(delays.max_ms <= 8.0, "{delays:?}");
    }
}

#[test]
fn a_change_of_the_route_changes_the_delay_by_its_steps() {
    let steps = Steps::new(vec![(ms(0), ms(5)), (ms(10_000), ms(25))]).unwrap();
    let delay = Some(Propagation { steps, reorder: true });
    let scenario = Scenario {
        measure: vec![window("before", 1.0, 9.0), window("after", 11.0, 20.0)],
        ..call(Elements { delay, ..Elements::default() })
    };
    let outcome = run(&scenario);
    let mean = |name: &str| outcome.window(name).flows[0].queuing_delay.expect("a call").mean_ms;
    // Beyond the shortest that the path ever is.
    assert_eq!((mean("before"), mean("after")), (0.0, 20.0));
}

#[test]
fn transfers_arrive_whole_over_links_that_reorder_change_their_delay_and_duplicate() {
    for reorder in [false, true] {
        let steps = Steps::new(vec![(ms(0), ms(5)), (ms(300), ms(60)), (ms(700), ms(1))]).unwrap();
        let elements = Elements {
            duplicate: ratio(0.01),
            delay: Some(Propagation { steps, reorder }),
            jitter: Some(up_to(ms(20), reorder)),
            loss: Some(LossLaw::Every(100)),
            ..Elements::default()
        };
        let mut scenario = over(elements.clone(), transfers());
        scenario
            .flow
            .iter_mut()
            .for_each(|flow| flow.elements = Elements { delay: None, ..elements.clone() });
        let outcome = run(&scenario);
        for totals in &outcome.run.totals {
            assert_eq!(totals.received_bytes, 1_000_000, "{}, reorder {reorder}", totals.flow);
        }
        assert!((0..2).all(|link| ledger(&outcome, link).balances()), "reorder {reorder}");
        assert_eq!(outcome, run(&scenario), "reorder {reorder}");
    }
}

#[test]
fn what_is_in_flight_when_a_run_ends_is_in_the_ledger_also_where_packets_overtake() {
    for reorder in [false, true] {
        let elements = Elements { jitter: Some(up_to(ms(200), reorder)), ..Elements::default() };
        let outcome = run(&over(elements, vec![flow("one", "cubic", 30)]));
        let ledger = ledger(&outcome, 0);
        assert!(ledger.balances() && ledger.in_flight > 0, "{ledger:?}");
    }
}

fn changing(rate: RateLaw, flows: Vec<Flow>) -> Scenario {
    let mean = rate.mean(ms(0), ms(20_000));
    let elements = Elements { rate: Some(rate), ..Elements::default() };
    let mut scenario = over(elements.clone(), flows);
    scenario.link.rate = Rate::from_bits(mean.round() as u64);
    scenario.link.reverse = Some(afteryou_scenario::scenario::Reverse {
        rate: Some(Rate::from_mbit(100)),
        elements: Some(Elements { rate: None, ..elements }),
        ..Default::default()
    });
    scenario
}

#[test]
fn utilisation_is_against_the_integral_of_the_rate() {
    let mbit = Rate::from_mbit;
    let steps = Steps::new(vec![(ms(0), mbit(20)), (ms(8000), mbit(2)), (ms(14_000), mbit(10))]).unwrap();
    let mut scenario = changing(RateLaw::Steps { steps, period: None }, vec![flow("one", "cubic", 20)]);
    scenario.measure = vec![window("fast", 4.0, 8.0), window("slow", 8.0, 14.0), window("both", 7.0, 12.0)];
    let outcome = run(&scenario);
    for (name, mbit) in [("fast", 20.0), ("slow", 2.0), ("both", (20.0 + 4.0 * 2.0) / 5.0)] {
        let figures = &outcome.window(name).links[0];
        assert_eq!(figures.capacity_bit_s, mbit * 1e6, "{name}");
        assert!((0.97..=1.0).contains(&figures.utilisation), "{name}: {}", figures.utilisation);
        let share = outcome.window(name).flows[0].share_of_payload_capacity;
        assert!((0.9..=1.03).contains(&share), "{name}: {share}");
    }
}

#[test]
fn a_trace_that_is_always_needed_delivers_each_of_its_bytes() {
    // Uneven: two opportunities together, then 3 ms of nothing, then one each ms.
    let at_ms: Vec<u32> = (0..4000).flat_map(|i| [5 * i + 1, 5 * i + 1, 5 * i + 4, 5 * i + 5]).collect();
    let opportunities = at_ms.len() as u64;
    let law = RateLaw::Opportunities { at_ms: at_ms.into(), repeat: false };
    // Bare datagrams of 1400 B at twice the rate, from the beginning: the queue is never empty.
    let source = Flow::cbr("source", Role::Foreground, Rate::from_mbit(19), Size::from_bytes(1372), ms(10));
    let mut scenario = changing(law, vec![source]);
    scenario.link.rate = Rate::from_bits(9_600_000);
    let outcome = run(&scenario);
    let ledger = ledger(&outcome, 0);
    let sent = ledger.delivered + ledger.in_flight;
    // All but what passed before the first packet came and the packet that is being sent when the run ends.
    // Of the 1504 bytes of an opportunity, each packet takes 4 for the header of a TUN device.
    let capacity = opportunities * 1504 / 1404 * 1400;
    assert!(ledger.balances() && capacity.abs_diff(sent) < 2 * 1400, "{sent} of {capacity}");
    assert!(outcome.window("all").links[0].utilisation > 0.999);
}

#[test]
fn transfers_survive_an_outage_and_nothing_is_lost_in_the_ledger() {
    let mbit = Rate::from_mbit;
    let steps = Steps::new(vec![(ms(0), mbit(10)), (ms(500), mbit(0)), (ms(4500), mbit(10))]).unwrap();
    let outcome = run(&changing(RateLaw::Steps { steps, period: None }, transfers()));
    for totals in &outcome.run.totals {
        assert_eq!(totals.received_bytes, 1_000_000, "{}", totals.flow);
        assert!(totals.completed_in_s.expect("complete") > 4.5, "{}", totals.flow);
    }
    // An outage that never ends, with a packet in the middle of it.
    let steps = Steps::new(vec![(ms(0), mbit(10)), (ms(5000), mbit(0))]).unwrap();
    let outcome = run(&changing(RateLaw::Steps { steps, period: None }, vec![flow("one", "cubic", 20)]));
    let ledger = ledger(&outcome, 0);
    assert!(ledger.balances() && ledger.delivered <= 6_250_000 && ledger.queued > 0, "{ledger:?}");
}

#[test]
fn a_window_within_an_outage_has_shares_of_zero_and_its_result_can_be_read_back() {
    let steps = Steps::new(vec![(ms(0), Rate::from_mbit(10)), (ms(1000), Rate::from_mbit(0))]).unwrap();
    let scenario = changing(RateLaw::Steps { steps, period: None }, vec![flow("one", "cubic", 20)]);
    let outcome = run(&Scenario { measure: vec![window("dark", 2.0, 4.0)], ..scenario });
    let dark = outcome.window("dark");
    assert_eq!((dark.links[0].capacity_bit_s, dark.links[0].utilisation), (0.0, 0.0));
    assert_eq!(of(dark, "one").share_of_payload_capacity, 0.0);
    let json = serde_json::to_string(&outcome).unwrap();
    assert_eq!(Outcome::from_json(&json).unwrap(), outcome);
}

/// Runs a file with the preset `satellite`.
fn satellite(flows: &str) -> Outcome {
    let text = format!(
        "duration = \"450 s\"\nmeasure = {{ from = \"60 s\" }}\n[link]\nrate = {{ markov = \"satellite\" }}\n\
         buffer = \"20000 packets\"\n{flows}"
    );
    let experiment =
        Experiment::parse(&text, "satellite.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&experiment.runs(None, None).unwrap()[0].scenario)
}

#[test]
fn a_satellite_delays_a_call_by_its_propagation_and_rounds_and_delivers_in_order() {
    let call = "traffic = { cbr = \"8 kbit/s\", payload = \"100 B\" }";
    let outcome = satellite(&format!("[[flow]]\nname = \"call\"\nrtt = \"10 ms\"\n{call}\n"));
    let delays = outcome.window("measured").flows[0].queuing_delay.expect("a call");
    // Beyond the empty path, which has 286 ms of the satellite: at most two rounds of 572 ms, the same of those before it, and the
    // time in which the channel is blocked.
    assert!(delays.p50_ms < 50.0 && delays.max_ms > 572.0, "{delays:?}");
    let packets = outcome.run.links[0].packets.unwrap();
    // In the shadow one in a thousand, if blocked all that ended there: nothing ends where the rate is 0.
    assert!(packets.lost * 1000 < packets.arrived && packets.delivered > 4000, "{packets:?}");
    assert!(ledger(&outcome, 0).balances());
}

#[test]
fn cubic_fills_the_satellite_and_uses_what_repeat_requests_leave() {
    let outcome = satellite("[[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\n");
    let figures = &outcome.window("measured").links[0];
    assert!((2.1e6..2.5e6).contains(&figures.capacity_bit_s), "{}", figures.capacity_bit_s);
    // In the shadow (a tenth of the capacity) each packet is sent 1.11 times.
    assert!((0.93..0.995).contains(&figures.utilisation), "{}", figures.utilisation);
}

#[test]
fn a_share_of_packets_is_lost_after_the_last_transmission() {
    let error = Steps::constant(ratio(0.3));
    let elements =
        Elements { arq: Some(Arq { error, transmissions: 2, round: ms(1) }), ..Elements::default() };
    let mut scenario = call(elements);
    scenario.link.reverse = Some(Default::default());
    let packets = run(&scenario).run.links[0].packets.unwrap();
    let (share, n) = (packets.lost as f64 / packets.arrived as f64, packets.arrived as f64);
    assert!((share - 0.09).abs() < 4.0 * (0.09 * 0.91 / n).sqrt(), "{share} of {packets:?}");
}

#[test]
fn acknowledgements_that_come_together_delay_round_trips_and_lose_nothing() {
    for aggregate in [Aggregate { acks: 8, time: ms(50) }, Aggregate { acks: 1000, time: ms(5) }] {
        let mut scenario = over(Elements::default(), transfers());
        let elements = Some(Elements { aggregate: Some(aggregate), ..Elements::default() });
        scenario.link.reverse = Some(afteryou_scenario::scenario::Reverse { elements, ..Default::default() });
        let outcome = run(&scenario);
        for totals in &outcome.run.totals {
            assert_eq!(totals.received_bytes, 1_000_000, "{}, {aggregate:?}", totals.flow);
        }
        let ledger = ledger(&outcome, 1);
        assert!(ledger.balances() && ledger.lost + ledger.dropped == 0, "{ledger:?}");
        assert_eq!(outcome, run(&scenario));
    }
}
