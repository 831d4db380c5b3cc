//! Networks of several links: paths, directions, and what must not depend on how a network is written.

use crate::support::*;
use afteryou_scenario::outcome::{FlowFigures, Totals};
use afteryou_scenario::scenario::Reverse;
use afteryou_scenario::{
    Algorithm, Direction, Flow, Link, Outcome, Path, Probability, Rate, Role, Scenario, Size, Traffic,
    Transport,
};

fn down(flow: Flow) -> Flow {
    Flow { direction: Direction::Down, ..flow }
}

fn over(flow: Flow, forward: &[&str], reverse: &[&str]) -> Flow {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Flow { path: Some(Path { forward: names(forward), reverse: names(reverse), delay: None }), ..flow }
}

/// Returns a scenario with named links; the first is the one that figures of one link describe.
fn named(links: Vec<Link>, duration_s: f64, from_s: f64, flow: Vec<Flow>) -> Scenario {
    let mut links = links.into_iter();
    let first = links.next().expect("a link");
    Scenario { further_links: links.collect(), ..scenario(first, duration_s, from_s, flow) }
}

/// Returns the mean of a curve from a time on.
fn mean_from(outcome: &Outcome, of: &str, from_s: f64) -> f64 {
    let curve = outcome.curve(of, "queuing_delay");
    let values: Vec<f64> = curve.iter().filter(|(at, _)| *at > from_s).map(|(_, ms)| *ms).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns a scenario in which the upload begins at 10 s, while a download fills the reverse path until 40 s. At 250 ms its
/// window grows by one packet in each round trip of 300 ms, so it needs until about 150 s.
fn an_upload_that_begins_during_a_download(rtt_ms: u64, transport: Transport) -> Scenario {
    let link = Link {
        reverse: Some(Reverse { rate: Some(Rate::from_mbit(50)), ..Reverse::default() }),
        ..link("10 Mbit/s", "300 ms")
    };
    let download = Flow { stop: Some(seconds(40.0)), ..down(flow("download", "cubic", rtt_ms)) };
    let upload = Flow {
        start: seconds(10.0),
        transport,
        controller: Some("ledbat,target=60ms".parse().unwrap()),
        ..flow("upload", "ledbat", rtt_ms)
    };
    scenario(link, 200.0, 160.0, vec![download, upload])
}

#[test]
fn a_ledbat_upload_that_began_during_a_download_has_its_target_in_the_queue_after_it() {
    for rtt_ms in [5, 50, 135, 250] {
        for transport in [Transport::tcp(), Transport::utp()] {
            let outcome = run(&an_upload_that_begins_during_a_download(rtt_ms, transport.clone()));
            let reverse_ms: Vec<f64> = outcome
                .curve("reverse path", "queuing_delay")
                .iter()
                .filter(|(at, _)| (9.5..10.5).contains(at))
                .map(|(_, ms)| *ms)
                .collect();
            let reverse_ms = reverse_ms.iter().sum::<f64>() / reverse_ms.len() as f64;
            let queue_ms = mean_from(&outcome, "link", 160.0);
            println!("{rtt_ms} ms, {transport}: {reverse_ms:.1} ms in the download's queue as the upload begins, {queue_ms:.2} ms in the upload's afterwards");
            assert!(reverse_ms > 30.0, "{rtt_ms} ms: the download's queue holds {reverse_ms} ms only");
            assert!((queue_ms / 60.0 - 1.0).abs() < 0.05, "{rtt_ms} ms, {transport}: {queue_ms} ms");
        }
    }
}

/// Returns the flows' figures, whatever the names of the links.
fn flows(outcome: &Outcome) -> Vec<(String, f64, u64, u64)> {
    let figures = outcome.window("all").flows.iter().zip(&outcome.run.totals);
    let row = |(figures, totals): (&FlowFigures, &Totals)| {
        (figures.flow.clone(), figures.goodput_bit_s, totals.packets, totals.retransmissions)
    };
    figures.map(row).collect()
}

#[test]
fn named_links_that_say_the_same_as_the_short_form_are_the_same_network() {
    let up = || flow("up", "cubic", 40);
    let short = Link {
        reverse: Some(Reverse { rate: Some(Rate::from_mbit(3)), ..Reverse::default() }),
        ..link("8 Mbit/s", "100 ms")
    };
    let short = run(&scenario(
        short,
        30.0,
        5.0,
        vec![up(), down(flow("down", "newreno", 60)), utp("other", "ledbat++", 30)],
    ));
    let links = vec![link("8 Mbit/s", "100 ms").named("there"), link("3 Mbit/s", "100 ms").named("back")];
    let named = run(&named(
        links,
        30.0,
        5.0,
        vec![
            over(up(), &["there"], &["back"]),
            over(flow("down", "newreno", 60), &["back"], &["there"]),
            over(utp("other", "ledbat++", 30), &["there"], &["back"]),
        ],
    ));
    assert_eq!(flows(&short), flows(&named));
    for (of, also) in [("link", "there"), ("reverse path", "back")] {
        assert_eq!(short.curve(of, "queuing_delay"), named.curve(also, "queuing_delay"));
    }
    // Data of one and acknowledgements of the other meet in each queue: the narrow one is full of the download.
    assert!(mean_from(&short, "reverse path", 5.0) > 10.0);
}

#[test]
fn a_flow_over_several_links_gets_what_the_narrowest_of_them_carries() {
    for at in 0..3 {
        let rate = |i: usize| if i == at { "4 Mbit/s" } else { "10 Mbit/s" };
        let mut links: Vec<Link> = ["a", "b", "c"]
            .iter()
            .enumerate()
            .map(|(i, name)| link(rate(i), "200 ms").named(*name))
            .collect();
        links.push(link("10 Mbit/s", "200 ms").named("back"));
        let flow = over(flow("one", "cubic", 40), &["a", "b", "c"], &["back"]);
        let outcome = run(&named(links, 60.0, 20.0, vec![flow]));
        let share = of(outcome.window("all"), "one").share_of_payload_capacity;
        assert!((0.97..=1.0).contains(&share), "narrow link {at}: {share}");
        // The queue is where the path is narrow and nowhere else; a packet or two pass through the others.
        for (i, name) in ["a", "b", "c"].into_iter().enumerate() {
            let queue_ms = mean_from(&outcome, name, 20.0);
            assert_eq!(queue_ms > 50.0, i == at, "narrow link {at}: {queue_ms} ms at {name}");
            assert!(i == at || queue_ms < 5.0, "narrow link {at}: {queue_ms} ms at {name}");
        }
    }
}

#[test]
fn a_datagram_crosses_an_empty_path_in_the_time_of_its_links_and_its_delay() {
    let links = vec![link("1 Mbit/s", "50 ms").named("a"), link("2 Mbit/s", "50 ms").named("b")];
    let call = Flow::cbr("call", Role::Foreground, Rate::from_bits(64_000), Size::from_bytes(160), ms(100));
    let path = |delay| Some(Path { forward: vec!["a".into(), "b".into()], reverse: vec!["a".into()], delay });
    for delay in [None, Some(ms(0)), Some(ms(10)), Some(ms(100))] {
        let call = Flow { path: path(delay), ..call.clone() };
        let outcome = run(&named(links.clone(), 10.0, 1.0, vec![call]));
        let beyond = of(outcome.window("all"), "call").queuing_delay.expect("datagrams");
        assert_eq!((beyond.p50_ms, beyond.max_ms), (0.0, 0.0), "{delay:?}");
    }
}

/// The round trip of a flow whose window is one packet is the time that its path takes.
#[test]
fn the_forward_delay_moves_the_queue_of_no_one_and_the_round_trip_stays() {
    let rates = [None, Some(ms(5)), Some(ms(95))].map(|delay| {
        let links = vec![link("10 Mbit/s", "50 ms").named("up"), link("10 Mbit/s", "50 ms").named("down")];
        let transport = Transport::tcp().with("rwnd", "1448 B").with("ack", "every packet");
        let path = Path { forward: vec!["up".into()], reverse: vec!["down".into()], delay };
        let flow = Flow { transport, path: Some(path), ..flow("one", "newreno", 100) };
        of(run(&named(links, 60.0, 10.0, vec![flow])).window("all"), "one").goodput_bit_s
    });
    // 1500 B take 1.2 ms there, 52 B 0.0416 ms back, and propagation 100 ms.
    let expected = 1448.0 * 8.0 / 0.1012416;
    for rate in rates {
        assert!((rate / expected - 1.0).abs() < 0.01, "{rate} bit/s, {expected} expected");
    }
}

#[test]
fn data_and_acknowledgements_of_a_flow_may_share_one_link() {
    let half_duplex = vec![link("10 Mbit/s", "100 ms").named("air")];
    let flow = over(flow("one", "cubic", 20), &["air"], &["air"]);
    let outcome = run(&named(half_duplex, 30.0, 10.0, vec![flow]));
    let figures = of(outcome.window("all"), "one");
    // Two packets of 1500 B and an acknowledgement of 52 B: 2896 of 3052 B are payload.
    let expected = 10e6 * 2896.0 / 3052.0;
    assert!((figures.goodput_bit_s / expected - 1.0).abs() < 0.01, "{}", figures.goodput_bit_s);
}

#[test]
fn marks_work_in_both_directions() {
    for way in ["up", "down"] {
        let codel = Algorithm::named("codel").with("ecn", "true");
        let link = Link { queue: codel, ..link("10 Mbit/s", "300 ms") };
        let transport = Transport::tcp().with("ecn", "true");
        let flow = Flow { transport, ..flow("one", "cubic", 40) };
        let flow = if way == "down" { down(flow) } else { flow };
        let outcome = run(&scenario(link, 60.0, 10.0, vec![flow]));
        let totals = outcome.totals("one");
        let (data, acks) =
            if way == "down" { ("reverse path", "bottleneck") } else { ("bottleneck", "reverse path") };
        let marks = marks(&outcome, data);
        // Only marks can have reached the sender: nothing was lost after slow start, and the queue is short all the same.
        let curve = if way == "down" { "reverse path" } else { "link" };
        let queue_ms = mean_from(&outcome, curve, 10.0);
        println!("{way}: {marks} marks, {} losses, {queue_ms:.1} ms", totals.losses);
        assert!(marks > 20 && totals.losses == 0, "{way}: {marks} marks, {} losses", totals.losses);
        assert!(queue_ms < 25.0, "{way}: {queue_ms} ms");
        assert_eq!(
            self::marks(&outcome, acks),
            0,
            "{way}: acknowledgements are not ECN-capable (RFC 3168 §6.1.4)"
        );
        assert!(of(outcome.window("all"), "one").share_of_payload_capacity > 0.9);
    }
}

/// Returns the number of packets that a link's queue marked.
fn marks(outcome: &Outcome, link: &str) -> u64 {
    let link = outcome.run.links.iter().find(|totals| totals.link == link).expect("a link");
    link.classes.iter().map(|class| class.marked).sum()
}

#[test]
fn another_link_changes_no_luck() {
    let lossy = |name: &str| {
        Link { loss: Probability::from_ratio(0.01).unwrap(), ..link("10 Mbit/s", "100 ms") }.named(name)
    };
    let run = |links: Vec<Link>, forward: &[&str]| {
        let one = over(flow("one", "cubic", 40), forward, &["back"]);
        flows(&run(&named(links, 20.0, 1.0, vec![one])))
    };
    let alone = run(vec![lossy("up"), lossy("back")], &["up"]);
    assert_eq!(run(vec![lossy("other"), lossy("back"), lossy("up")], &["up"]), alone);
    assert_ne!(run(vec![lossy("other"), lossy("back")], &["other"]), alone, "a link's luck is its own");
}

#[test]
fn a_packet_that_the_script_drops_or_delays_is_that_of_its_own_first_link() {
    use afteryou_scenario::scenario::Drop;
    let sized =
        |name: &str| Flow { traffic: Traffic::Size(Size::from_bytes(1_000_000)), ..flow(name, "cubic", 40) };
    let drop =
        Drop { flow: Some("download".to_owned()), packet: Some(20), count: Some(3), ..Drop::default() };
    let flows = vec![sized("upload"), down(sized("download"))];
    let outcome = run(&Scenario { drop: vec![drop], ..scenario(link("10 Mbit/s", "1 s"), 20.0, 0.0, flows) });
    let ledgers = outcome.run.links.iter().filter_map(|link| link.ledger.as_ref());
    let lost: Vec<u64> = ledgers.map(|ledger| ledger.lost).collect();
    assert_eq!(lost, [0, 3 * 1500], "in the order of the links: bottleneck, reverse path");
    assert_eq!((outcome.totals("upload").losses, outcome.totals("download").losses), (0, 3));
}

#[test]
fn every_link_has_its_own_figures_and_the_background_is_compared_on_the_link_that_its_data_cross() {
    let link = Link {
        reverse: Some(Reverse { rate: Some(Rate::from_mbit(40)), ..Reverse::default() }),
        ..link("10 Mbit/s", "200 ms")
    };
    let foreground = |name: &str, rtt_ms| Flow { role: Role::Foreground, ..flow(name, "cubic", rtt_ms) };
    // LEDBAT, which measures one way: the video's queue is none of its business.
    let flows = vec![down(foreground("video", 30)), flow("backup", "ledbat", 30)];
    let scenario = Scenario { baseline: true, ..scenario(link, 60.0, 20.0, flows) };
    let outcome = run(&scenario);
    let window = outcome.window("all");
    let [up, back] = window.links.as_slice() else { panic!("two links, not {:?}", window.links) };
    assert_eq!((up.link.as_str(), back.link.as_str()), ("bottleneck", "reverse path"));
    assert_eq!((up.capacity_bit_s, back.capacity_bit_s), (10e6, 40e6));
    for link in [up, back] {
        assert!((0.9..=1.0).contains(&link.utilisation), "{}: {}", link.link, link.utilisation);
    }
    // The uplink has no foreground data: the backup harvests its share of the whole link, and the video keeps nothing from it.
    let backup = of(window, "backup").share_of_payload_capacity;
    assert_eq!((up.harvest, up.foreground_share), (Some(backup), Some(0.0)));
    assert_eq!((back.harvest, back.foreground_share), (None, Some(1.0)));
    assert!(of(window, "video").share_of_payload_capacity > 0.9, "of the downlink, not of the uplink");
    // Each link's bytes: data one way, acknowledgements the other.
    let delivered = |i: usize| outcome.run.links[i].ledger.as_ref().expect("a ledger").delivered;
    assert!(delivered(1) > 3 * delivered(0));
    let kept: Vec<(&str, Option<f64>)> =
        outcome.link_comparison.iter().map(|link| (link.link.as_str(), link.kept)).collect();
    assert!(kept.contains(&("bottleneck", None)), "no foreground data cross it: {kept:?}");
    let of_video = outcome.comparison[0].kept;
    assert!(of_video.is_some() && kept.contains(&("reverse path", of_video)), "{kept:?} {of_video:?}");
}

#[test]
fn flows_compete_where_their_data_meet() {
    // A long flow over two links meets another at each; all three share fairly by their own rules, but only two at a time.
    let links = vec![
        link("10 Mbit/s", "100 ms").named("first"),
        link("10 Mbit/s", "100 ms").named("second"),
        link("10 Mbit/s", "100 ms").named("back"),
    ];
    let one = |name: &str, forward: &[&str]| over(flow(name, "newreno", 40), forward, &["back"]);
    let flows =
        vec![one("long", &["first", "second"]), one("short one", &["first"]), one("short two", &["second"])];
    let outcome = run(&named(links, 120.0, 20.0, flows));
    let window = outcome.window("all");
    let share = |name: &str| of(window, name).share_of_payload_capacity;
    for (link, other) in [("first", "short one"), ("second", "short two")] {
        let figures = window.link(link).expect("measured");
        assert!(figures.utilisation > 0.95, "{link}: {}", figures.utilisation);
        let together = share("long") + share(other);
        assert!((0.95..=1.0).contains(&together), "{link}: {together}");
        let expected = {
            let (a, b) = (share("long"), share(other));
            (a + b) * (a + b) / (2.0 * (a * a + b * b))
        };
        let fairness = figures.foreground_fairness.expect("two flows");
        assert!((fairness - expected).abs() < 1e-3, "{link}: {fairness}, {expected} of its two flows");
    }
    assert!(share("long") < share("short one"), "the longer path has the shorter straw");
    let back = window.link("back").expect("measured");
    assert_eq!((back.foreground_fairness, back.foreground_share), (None, None), "no data cross it");
}
