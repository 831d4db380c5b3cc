//! Whole scenarios on real sockets, in short.

use crate::common::beside_others;
use afteryou_aqm::list::{Entry, QUEUES};
use afteryou_bed::run::{run, Baseline, End, Options, Source};
use afteryou_scenario::scenario::{Flow, Link, Reverse, Role, Scenario, Window};
use afteryou_scenario::{Algorithm, Buffer, Direction, Duration, FlowSet, Outcome, Rate, Size};
use afteryou_scenario::{Gaps, Traffic, Transport};
use std::io::Write;
use std::ops::ControlFlow;
use std::thread;

fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

fn flow(
    name: &str,
    role: Role,
    controller: Option<&str>,
    span: (f64, Option<f64>),
    traffic: Traffic,
) -> Flow {
    Flow {
        transport: if controller.is_some() { Transport::utp() } else { Transport::udp() },
        controller: controller.map(Algorithm::named),
        start: seconds(span.0),
        stop: span.1.map(seconds),
        traffic,
        ..Flow::new(name, role, "", Duration::from_millis(20))
    }
}

/// Returns a scenario of a background flow all the time, a foreground from 3 to 5 s, and a call.
fn short(background: Traffic) -> Scenario {
    let call =
        Traffic::Cbr { rate: Rate::from_bits(64_000), payload: Size::from_bytes(160), gaps: Gaps::Equal };
    let window =
        |name: &str, from, to| Window { name: name.to_owned(), from: seconds(from), to: seconds(to) };
    let link = Link::new(Rate::from_mbit(10), Buffer::Time(Duration::from_millis(200)));
    Scenario {
        measure: vec![window("alone", 1.0, 3.0), window("together", 3.0, 5.0)],
        baseline: true,
        flow: vec![
            flow("call", Role::Foreground, None, (0.0, None), call),
            flow("upload", Role::Foreground, Some("cubic"), (3.0, Some(5.0)), Traffic::Bulk),
            flow("backup", Role::Background, Some("ledbat++"), (0.0, None), background),
        ],
        ..Scenario::new("short", seconds(6.0), link)
    }
}

fn run_with(scenario: &Scenario, baseline: Baseline, sources: &[(&str, Source)]) -> Outcome {
    let _beside_others = beside_others();
    let sources = sources.iter().map(|(name, source)| ((*name).to_owned(), source.clone())).collect();
    let mut seen = 0;
    let mut observe = |_: &_| {
        seen += 1;
        ControlFlow::Continue(())
    };
    let options = Options { sources, baseline, end: End::Sizes, ..Options::default() };
    let outcome = run(&scenario.clone().checked().unwrap(), &options, &mut observe).unwrap();
    assert!(seen > 10, "the observer saw {seen} states");
    outcome
}

fn figures<'a>(
    outcome: &'a Outcome,
    window: &str,
    flow: &str,
) -> &'a afteryou_scenario::outcome::FlowFigures {
    let window = outcome.run.windows.iter().find(|other| other.window == window).unwrap();
    window.flows.iter().find(|other| other.flow == flow).unwrap()
}

#[test]
fn a_run_and_its_baseline_are_measured_one_after_the_other_and_side_by_side() {
    for mode in [Baseline::After, Baseline::Beside] {
        let outcome = run_with(&short(Traffic::Bulk), mode, &[]);
        assert!(figures(&outcome, "alone", "backup").share_of_payload_capacity > 0.6, "{mode:?}");
        let baseline = outcome.baseline.as_ref().unwrap();
        assert!(baseline.windows.iter().all(|window| window.flows.iter().all(|flow| flow.flow != "backup")));
        let kept =
            outcome.comparison.iter().find(|c| (&*c.window, &*c.flow) == ("together", "upload")).unwrap();
        assert!(kept.kept.unwrap() > 0.6, "{mode:?}: {kept:?}");
        let call = outcome.comparison.iter().find(|c| (&*c.window, &*c.flow) == ("alone", "call")).unwrap();
        assert!(call.added_delay_p95_ms.is_some(), "{mode:?}");
        assert!(outcome.transfers.len() == 1 && outcome.transfers[0].identical(), "{:?}", outcome.transfers);
        for run in [&outcome.run, baseline] {
            let p = run.bottleneck().unwrap().packets.unwrap();
            assert_eq!(p.arrived, p.delivered + p.dropped + p.lost + p.unfinished);
        }
    }
}

#[test]
fn a_file_is_sent_to_its_end_and_both_ends_agree() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let contents: Vec<u8> = (0..3_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    file.write_all(&contents).unwrap();
    let mut scenario = short(Traffic::Size(Size::from_bytes(3_000_000)));
    scenario.baseline = false;
    scenario.duration = seconds(30.0);
    let outcome = run_with(&scenario, Baseline::Auto, &[("backup", Source::File(file.path().to_owned()))]);
    let transfer = &outcome.transfers[0];
    assert_eq!(transfer.received_bytes, 3_000_000);
    assert_eq!(transfer.received_blake3, blake3::hash(&contents).to_hex().to_string());
    assert!(transfer.identical() && outcome.run.duration_s < 15.0, "{:?}", outcome.run.duration_s);
}

#[test]
fn a_small_file_ends_neither_a_run_nor_its_windows() {
    let scenario = short(Traffic::Size(Size::from_bytes(20_000)));
    let _beside_others = beside_others();
    let outcome = run(
        &scenario.checked().unwrap(),
        &Options { baseline: Baseline::After, ..Options::default() },
        &mut |_| ControlFlow::Continue(()),
    );
    let outcome = outcome.unwrap();
    for run in [&outcome.run, outcome.baseline.as_ref().unwrap()] {
        let windows: Vec<&str> = run.windows.iter().map(|window| window.window.as_str()).collect();
        assert_eq!(windows, ["alone", "together"]);
    }
    assert_eq!(outcome.run.duration_s, 6.0);
    assert!(outcome.transfers.iter().all(|transfer| transfer.identical()), "{:?}", outcome.transfers);
    assert!(!outcome.comparison.is_empty());
}

#[test]
fn with_five_per_cent_of_loss_the_bytes_are_the_same_and_nothing_hangs() {
    let with = |seed: u64| {
        // The upload is cut off at 2.2 s: its handshake, or the word that it is gone, may get lost.
        let mut scenario = short(Traffic::Size(Size::from_bytes(300_000)));
        (scenario.seed, scenario.duration) = (seed, seconds(60.0));
        (scenario.flow[1].start, scenario.flow[1].stop) = (seconds(1.2), Some(seconds(2.2)));
        scenario.link.loss = "5%".parse().unwrap();
        let begun = std::time::Instant::now();
        let outcome = run_with(&scenario, Baseline::After, &[]);
        assert!(outcome.transfers.len() == 1 && outcome.transfers[0].identical(), "{:?}", outcome.transfers);
        assert!(outcome.run.bottleneck().unwrap().packets.unwrap().lost > 0);
        assert!(begun.elapsed().as_secs_f64() < 30.0, "seed {seed}: {:?}", begun.elapsed());
    };
    thread::scope(|scope| (1..=4).for_each(|seed| _ = scope.spawn(move || with(seed))));
}

#[test]
fn an_upload_that_nobody_answers_is_no_reason_to_give_up_the_run() {
    let mut scenario = short(Traffic::Bulk);
    (scenario.baseline, scenario.seed) = (false, 1);
    // It comes late and is gone before the first resend of its SYN.
    (scenario.flow[1].start, scenario.flow[1].stop) = (seconds(5.0), Some(seconds(5.001)));
    let outcome = run_with(&scenario, Baseline::Auto, &[]);
    assert!(outcome.transfers.iter().all(|transfer| transfer.identical()));
}

#[test]
fn a_transfer_that_does_not_end_in_time_is_named() {
    let mut scenario = short(Traffic::Size(Size::from_bytes(100_000_000)));
    (scenario.baseline, scenario.duration) = (false, seconds(2.0));
    scenario.measure.clear();
    scenario.flow[1].stop = None;
    let _beside_others = beside_others();
    let error = run(&scenario.checked().unwrap(), &Options::default(), &mut |_| ControlFlow::Continue(()))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "flow \"backup\" was not finished after 2 s: give it more time or less to send");
}

#[test]
fn an_observer_ends_a_run_within_a_moment() {
    let scenario = Scenario { duration: seconds(600.0), ..short(Traffic::Bulk) };
    let _beside_others = beside_others();
    let begun = std::time::Instant::now();
    let error = run(&scenario.checked().unwrap(), &Options::default(), &mut |at| match at.at_s < 0.5 {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    })
    .unwrap_err();
    assert!(matches!(error, afteryou_bed::Error::Interrupted), "{error}");
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn background_packets_are_marked_lower_effort_and_foreground_packets_are_not() {
    use afteryou_bed::relay::{Config, Relay, Way, TOS_IS_KEPT};
    use afteryou_bed::Clock;
    use afteryou_utp::{Endpoint, EndpointConfig};
    use tokio::io::AsyncWriteExt;
    if !TOS_IS_KEPT {
        println!("SKIPPED: this platform hides the TOS byte");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (config, dscp) in [(EndpointConfig::background(), 1), (EndpointConfig::foreground(), 0)] {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let seen = runtime.block_on(async {
                let server = Endpoint::bind(address.parse().unwrap(), config.clone()).unwrap();
                let client = Endpoint::bind(address.parse().unwrap(), config.clone()).unwrap();
                let wide = Link::new(Rate::from_mbit(100), Buffer::Packets(1000));
                let mut relay = Config::new(1);
                let link = relay.add_link(afteryou_bed::relay::Link::of_scenario("l", &wide, 1).unwrap());
                let flow =
                    relay.add_flow(link, server.local_addr().unwrap(), afteryou_base::Span::from_millis(2));
                let relay = Relay::start(relay, Clock::start()).unwrap();
                let mut stream = client.connect(relay.front(flow)).await.unwrap();
                stream.write_all(&[1; 50_000]).await.unwrap();
                stream.shutdown().await.unwrap();
                relay.drain_records()
            });
            assert!(seen.iter().filter(|record| record.way == Way::Forward).count() > 30);
            assert!(seen.iter().all(|record| record.tos >> 2 == dscp), "{address}: {dscp:#x}");
            // Both ends count marks, so data is ECN-capable.
            assert!(seen.iter().all(|record| [0b00, 0b10].contains(&(record.tos & 0b11))), "{address}");
        }
    }
}

#[test]
fn every_queue_discipline_runs_on_real_sockets() {
    let in_place = |entry: &Entry| {
        let plain = short(Traffic::Bulk);
        let scenario = Scenario {
            measure: vec![Window { name: "all".to_owned(), from: seconds(0.5), to: seconds(1.5) }],
            baseline: false,
            flow: plain.flow.into_iter().filter(|flow| flow.name != "upload").collect(),
            duration: seconds(1.5),
            link: Link { queue: Algorithm::named(entry.name), ..plain.link },
            ..plain
        };
        let outcome = run_with(&scenario, Baseline::After, &[]);
        let queue = outcome.run.bottleneck().unwrap();
        assert_eq!(queue.discipline, entry.name);
        let classes: Vec<&str> = queue.classes.iter().map(|class| class.class.as_str()).collect();
        assert_eq!(classes, ["best effort", "lower effort"], "{}: the call and the backup", entry.name);
        for class in &queue.classes {
            let dropped = class.dropped_full + class.dropped_early + class.dropped_head;
            let waited: u64 = class.sojourns.iter().map(|(_, _, count)| count).sum();
            assert_eq!(class.arrived, class.dequeued + dropped + class.backlog_packets, "{}", entry.name);
            assert_eq!(waited, class.dequeued, "{}", entry.name);
        }
        let backup = &outcome.run.windows[0].flows[1];
        assert!(backup.share_of_payload_capacity > 0.2, "{}: {backup:?}", entry.name);
        assert!(outcome.transfers.iter().all(|transfer| transfer.identical()), "{}", entry.name);
    };
    thread::scope(|scope| {
        // Three at a time are no load that a machine would feel.
        for every_third in 0..3 {
            scope.spawn(move || QUEUES.iter().skip(every_third).step_by(3).for_each(in_place));
        }
    });
}

#[test]
fn a_download_crosses_the_reverse_direction_of_the_link_beside_an_upload() {
    let mut scenario = short(Traffic::Bulk);
    scenario.baseline = false;
    // Four seconds: a timeout after a pause of the machine is an eighth of them.
    scenario.measure = vec![Window { name: "together".to_owned(), from: seconds(1.0), to: seconds(5.0) }];
    scenario.link = Link {
        reverse: Some(Reverse { rate: Some(Rate::from_mbit(16)), ..Reverse::default() }),
        ..Link::new(Rate::from_mbit(8), Buffer::Time(Duration::from_millis(100)))
    };
    let bulk = |name: &str| flow(name, Role::Foreground, Some("cubic"), (0.0, None), Traffic::Bulk);
    scenario.flow = vec![bulk("upload"), Flow { direction: Direction::Down, ..bulk("download") }];
    scenario.sets = vec![FlowSet::new("together", vec!["upload".to_owned(), "download".to_owned()])];
    let outcome = run_with(&scenario, Baseline::Auto, &[]);
    // Of its own direction each has nearly all: 8 Mbit/s up, 16 Mbit/s down.
    for name in ["upload", "download"] {
        let share = figures(&outcome, "together", name).share_of_payload_capacity;
        assert!((0.6..=1.01).contains(&share), "{name}: {share}");
    }
    assert!(figures(&outcome, "together", "download").goodput_bit_s > 9e6, "more than the uplink carries");
    let window = outcome.run.windows.iter().find(|window| window.window == "together").unwrap();
    let set = &outcome.run.sets[0];
    let sum: f64 = window.flows.iter().map(|flow| flow.goodput_bit_s).sum();
    assert!((set.goodput_bit_s - sum).abs() <= 1.0, "{set:?}");
    let short = set.short_term.expect("each flow has a curve");
    // 16 to 8 Mbit/s: (24)² / (2 · (256 + 64)) = 0.9.
    assert!(short.steps + short.skipped == 4 && (0.7..=1.0).contains(&short.mean), "{short:?}");
    let links: Vec<(&str, f64)> =
        window.links.iter().map(|link| (link.link.as_str(), link.capacity_bit_s)).collect();
    assert_eq!(links, [("bottleneck", 8e6), ("reverse path", 16e6)]);
    for link in &window.links {
        assert!((0.6..=1.01).contains(&link.utilisation), "{}: {}", link.link, link.utilisation);
        assert_eq!(link.foreground_share, Some(1.0), "{}", link.link);
    }
}

/// A size ends the run long before its duration, which is a limit then; the baseline beside it must not wait for that.
#[test]
fn a_baseline_beside_a_run_that_a_size_ends_ends_with_the_foreground() {
    let mut scenario = short(Traffic::Size(Size::from_bytes(300_000)));
    scenario.duration = seconds(3600.0);
    let outcome = run_with(&scenario, Baseline::Beside, &[]);
    assert!(outcome.run.duration_s < 60.0, "{} s", outcome.run.duration_s);
    let baseline = outcome.baseline.expect("the scenario asks for one");
    assert!((5.0..60.0).contains(&baseline.duration_s), "{} s", baseline.duration_s);
    assert!(outcome.transfers.iter().all(|transfer| transfer.identical()));
}

#[test]
fn quic_needs_no_namespaces_for_a_transfer_of_a_given_size() {
    let mut scenario = short(Traffic::Size(Size::from_bytes(1_000_000)));
    scenario.baseline = false;
    scenario.flow[2].transport = Transport::quic();
    let outcome = run_with(&scenario, Baseline::After, &[]);
    let [transfer] = &outcome.transfers[..] else { panic!("{:?}", outcome.transfers) };
    assert_eq!((transfer.flow.as_str(), transfer.received_bytes), ("backup", 1_000_000));
    assert_eq!(transfer.sent_blake3, transfer.received_blake3);
}
