//! Changes of routes: which packets take which route, and that no byte is lost or invented on the way.

use crate::support::*;
use afteryou_scenario::law::Drawn;
use afteryou_scenario::outcome::Ledger;
use afteryou_scenario::traffic::Web;
use afteryou_scenario::{
    Duration, Flow, Gaps, Law, Link, Outcome, Path, Probability, Rate, Role, RouteChange, Scenario, Size,
    Traffic,
};
use proptest::prelude::*;

fn path(forward: &[&str], reverse: &[&str], delay_ms: u64) -> Path {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Path { forward: names(forward), reverse: names(reverse), delay: Some(ms(delay_ms)) }
}

/// Returns the bytes that reached a link, left it and were copied there.
fn ledger<'a>(outcome: &'a Outcome, link: &str) -> &'a Ledger {
    let totals = outcome.run.links.iter().find(|totals| totals.link == link).expect("a link");
    totals.ledger.as_ref().expect("books")
}

/// Returns a scenario of a call of 100 packets a second over a link of 10 Mbit/s, of 10 s; the route changes at 4 s.
fn call(changes: Vec<RouteChange>) -> Scenario {
    let call = Flow::cbr("call", Role::Foreground, Rate::from_bits(800_000), Size::from_bytes(1000), ms(200));
    let call = Flow { path: Some(path(&["slow"], &["back"], 100)), ..call };
    let further_links = ["quick", "back"].map(|name| link("10 Mbit/s", "100 packets").named(name));
    let first = link("1 Mbit/s", "100 packets").named("slow");
    let measure = vec![window("before", 0.0, 4.0), window("after", 4.2, 10.0)];
    Scenario {
        further_links: further_links.to_vec(),
        route_change: changes,
        measure,
        ..scenario(first, 10.0, 0.0, vec![call])
    }
}

#[test]
fn packets_sent_from_that_time_on_take_the_new_route_and_those_in_flight_stay_on_the_old_one() {
    let new = RouteChange {
        at: seconds(4.0),
        path: Some(path(&["quick"], &["back"], 20)),
        rtt: Some(ms(40)),
        ..RouteChange::default()
    };
    let outcome = run(&call(vec![new]));
    let packets = |link: &str| ledger(&outcome, link).delivered / 1028;
    // At 100 a second, the first at 0 s: 400 before 4 s, and from 4 s on those that arrive before 10 s: 21 ms before it at the latest.
    assert_eq!((packets("slow"), packets("quick")), (400, 598));
    assert_eq!(ledger(&outcome, "slow").arrived, 400 * 1028);
    assert_eq!(outcome.totals("call").received_bytes, 998 * 1000);
    // Each packet's delay is that beyond the empty route that it took: none on either.
    for name in ["before", "after"] {
        let delay = of(outcome.window(name), "call").queuing_delay.expect("packets");
        assert!(delay.p99_ms < 0.01, "{name}: {delay:?}");
    }
}

#[test]
fn a_route_that_never_comes_into_use_changes_nothing() {
    let last = RouteChange {
        at: Duration(afteryou_base::Span(9_999_999_999)),
        rtt: Some(ms(300)),
        ..RouteChange::default()
    };
    let run_of = |flow: Flow, changes: &[RouteChange]| {
        let scenario = scenario(link("10 Mbit/s", "100 ms"), 10.0, 1.0, vec![flow]);
        run(&Scenario { route_change: changes.to_vec(), ..scenario }).run
    };
    for flow in [flow("one", "cubic", 50), utp("one", "ledbat++", 50)] {
        assert_eq!(run_of(flow.clone(), &[]), run_of(flow, std::slice::from_ref(&last)));
    }
}

#[test]
fn a_transfer_fills_the_new_route_after_the_change_over_every_delay_and_loss() {
    for rtt_ms in [5, 50, 135, 250] {
        for (loss, least) in [(0.0, 0.85), (0.001, 0.4), (0.01, 0.05), (0.05, 0.01)] {
            for flow in [flow("one", "cubic", rtt_ms), utp("one", "cubic", rtt_ms)] {
                let first = path(&["old"], &["back"], rtt_ms / 2);
                let lossy = |name: &str| Link {
                    loss: Probability::from_ratio(loss).expect("a ratio"),
                    ..link("10 Mbit/s", "250 ms").named(name)
                };
                let change = RouteChange {
                    at: seconds(10.0),
                    path: Some(path(&["new"], &["back"], rtt_ms)),
                    rtt: Some(ms(2 * rtt_ms)),
                    ..RouteChange::default()
                };
                let further_links = vec![lossy("new"), link("10 Mbit/s", "250 ms").named("back")];
                let flow = Flow { path: Some(first), ..flow };
                let scenario = Scenario {
                    further_links,
                    route_change: vec![change],
                    ..scenario(lossy("old"), 40.0, 20.0, vec![flow])
                };
                let outcome = run(&scenario);
                let old = outcome.window("all").links[0].utilisation;
                let new = outcome.window("all").links[1].utilisation;
                assert!(old == 0.0 && new > least, "{rtt_ms} ms, {loss}: {old} and {new}");
            }
        }
    }
}

fn any_application() -> impl Strategy<Value = Traffic> {
    let size = || Law::Drawn(Drawn::Exponential(Size::from_bytes(30_000)));
    let persist = Probability::from_ratio(0.7).expect("a ratio");
    let web = Web {
        users: 5,
        think: Law::Drawn(Drawn::Exponential(ms(300))),
        objects: 4,
        size: size(),
        connections: 3,
    };
    prop::sample::select(vec![
        Traffic::Bulk,
        Traffic::Size(Size::from_bytes(400_000)),
        Traffic::Chunk(Size::from_bytes(50_000)),
        Traffic::OnOff { on: ms(300), off: ms(200) },
        Traffic::Arrivals { arrivals: Law::Drawn(Drawn::Exponential(ms(100))), size: size() },
        Traffic::Peers { chunk: Size::from_bytes(60_000), pause: ms(30), persist },
        Traffic::Web(web),
        Traffic::Bursts { every: ms(400), size: Size::from_bytes(60_000) },
        Traffic::Cbr {
            rate: Rate::from_bits(640_000),
            payload: Size::from_bytes(400),
            gaps: Gaps::Exponential,
        },
    ])
}

prop_compose! {
    fn any_flow(index: usize)(
        traffic in any_application(),
        controller in prop::sample::select(vec!["newreno", "cubic", "ledbat", "ledbat++"]),
        is_utp: bool,
        rtt_ms in 1u64..200,
    ) -> Flow {
        let name = format!("flow {index}");
        let base = match (&traffic, is_utp) {
            (Traffic::Cbr { rate, payload, .. }, _) => Flow::cbr(&name, Role::Foreground, *rate, *payload, ms(rtt_ms)),
            (_, true) => utp(&name, controller, rtt_ms),
            (_, false) => flow(&name, controller, rtt_ms),
        };
        let path = Path { delay: None, ..path(&["a", "b"], &["c"], 0) };
        Flow { traffic, path: Some(path), ..base }
    }
}

prop_compose! {
    fn any_change(flows: usize)(
        at_ms in 0u64..5000,
        flow in prop::option::of(0..flows),
        way in 0u8..4,
        rtt_ms in prop::option::of(1u64..300),
    ) -> RouteChange {
        let path = match way {
            0 => None,
            1 => Some(path(&["b"], &["a"], 0)),
            2 => Some(path(&["c"], &["c", "b"], 0)),
            _ => Some(path(&["a", "c", "b"], &["a"], 0)),
        };
        let path = path.map(|path| Path { delay: None, ..path });
        let rtt = rtt_ms.or(path.is_none().then_some(7)).map(ms);
        RouteChange { at: ms(at_ms), flow: flow.map(|flow| format!("flow {flow}")), path, rtt }
    }
}

prop_compose! {
    fn any_scenario()(
        flows in (1usize..4).prop_flat_map(|n| (0..n).map(any_flow).collect::<Vec<_>>()),
        changes in prop::collection::vec(any_change(1), 1..6),
        kbit in 200u64..20_000,
        duplicate in prop::sample::select(vec![0.0, 0.01, 0.3]),
        loss in prop::sample::select(vec![0.0, 0.01, 0.05]),
        seed: u64,
    ) -> Scenario {
        let one = |name: &str, kbit: u64| {
            let mut link = link("1 Mbit/s", "40 packets").named(name);
            link.rate = Rate::from_bits(kbit * 1000);
            link.loss = Probability::from_ratio(loss).expect("a ratio");
            link.elements.duplicate = Probability::from_ratio(duplicate).expect("a ratio");
            link
        };
        let further_links = vec![one("b", kbit / 2 + 10), one("c", kbit * 2)];
        Scenario { seed, further_links, route_change: changes, ..scenario(one("a", kbit), 5.0, 1.0, flows) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn bytes_in_are_those_out_dropped_and_queued_with_duplicates_and_changes_of_routes(scenario in any_scenario()) {
        // The run itself fails if a link's books or an application's do not balance.
        let first = run(&scenario);
        prop_assert_eq!(&first, &run(&scenario));
        let delivered: u64 = first.run.links.iter().map(|link| link.ledger.as_ref().map_or(0, |books| books.delivered)).sum();
        let received: u64 = first.run.totals.iter().map(|totals| totals.received_bytes).sum();
        prop_assert!(received <= delivered, "{} received of {} delivered", received, delivered);
        for link in &first.run.links {
            prop_assert!(link.ledger.as_ref().is_some_and(Ledger::balances), "{:?}", link);
        }
    }
}
