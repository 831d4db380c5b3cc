//! Whole scenarios with the kernel's TCP, where the user may make namespaces.

use super::common::{beside_others, judged, spoiled, within};
use afteryou_bed::run::Options;
use afteryou_bed::{testbed, Error};
use afteryou_scenario::outcome::{Outcome, Totals};
use afteryou_scenario::{Algorithm, Duration, Record, Scenario, Transport, TransportKind, Window};
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;
use std::thread;

pub fn scenario(flows: &str) -> Scenario {
    let text = format!(
        "duration = \"8 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n{flows}\
         [[measure]]\nname = \"all\"\nfrom = \"3 s\"\nto = \"8 s\"\n"
    );
    let experiment = Experiment::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario.into_scenario()
}

pub const CUBIC: &str =
    "[[flow]]\nname = \"cubic\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\ntransport = \"tcp\"\n";
pub const LEDBAT: &str = "[[flow]]\nname = \"ledbat\"\nrole = \"background\"\ncontroller = \"ledbat++\"\nrtt = \"40 ms\"\ntransport = \"utp\"\n";

/// Runs it beside others; none, with a word of why, where the user may not.
pub fn run(scenario: &Scenario) -> Option<Outcome> {
    let _beside_others = beside_others();
    started(scenario)
}

/// Runs it for [`judged`]: with the reason why the outcome may be spoiled.
fn measured(scenario: &Scenario) -> (Option<Outcome>, Option<String>) {
    let outcome = started(scenario);
    let trouble = outcome.as_ref().and_then(|outcome| spoiled(outcome.run.lateness));
    (outcome, trouble)
}

pub fn started(scenario: &Scenario) -> Option<Outcome> {
    match testbed::run(&scenario.clone().checked().unwrap(), &Options::default(), &mut |_| {
        ControlFlow::Continue(())
    }) {
        Ok(outcome) => Some(outcome),
        Err(error) => skipped(error),
    }
}

pub fn skipped<T>(error: Error) -> Option<T> {
    match error {
        Error::Namespace(_)
        | Error::Tun(_)
        | Error::Sysctl { .. }
        | Error::Interface { .. }
        | Error::Tc(_) => {
            println!("SKIPPED: {error}");
            None
        }
        error => panic!("{error}"),
    }
}

#[test]
fn cubic_of_the_kernel_alone_fills_a_link() {
    let Some(outcome) = run(&scenario(CUBIC)) else { return };
    let window = &outcome.run.windows[0];
    println!("{:?}", window.flows);
    assert!(window.links[0].utilisation >= 0.95, "{}", window.links[0].utilisation);
    let goodput = window.flows[0].goodput_bit_s;
    // Headers and timestamps take 52 of 1500 bytes; the receiver may read at an edge what came before it.
    assert!((9.0e6..10.0e6).contains(&goodput), "{goodput}");
    let cwnd = outcome.run.series.iter().find(|series| series.quantity == "cwnd").unwrap();
    assert!(cwnd.values.iter().flatten().any(|kilobytes| *kilobytes > 50.0), "a window larger than the path");
}

#[test]
fn ledbat_plus_plus_over_utp_keeps_a_small_share_beside_cubic_of_the_kernel() {
    let Some(outcome) = run(&scenario(&format!("{CUBIC}{LEDBAT}"))) else { return };
    let [cubic, ledbat] = &outcome.run.windows[0].flows[..] else { panic!("two flows") };
    println!("{} {}", cubic.goodput_bit_s, ledbat.goodput_bit_s);
    assert!(ledbat.goodput_bit_s > 0.0);
    assert!(ledbat.goodput_bit_s < 0.2 * cubic.goodput_bit_s, "{ledbat:?} beside {cubic:?}");
}

#[test]
fn a_congestion_control_that_the_kernel_does_not_have_is_one_sentence() {
    let mut scenario = scenario(CUBIC);
    scenario.flow[0].controller = Some(Algorithm::named("copa"));
    let error =
        testbed::run(&scenario.checked().unwrap(), &Options::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap_err();
    if !matches!(error, Error::Congestion { .. }) {
        return skipped(error).unwrap_or_default();
    }
    let text = error.to_string();
    assert!(text.starts_with("flow \"cubic\": the kernel gives no congestion control \"copa\""), "{text}");
    assert!(text.contains("reno") && text.lines().count() == 1, "{text}");
}

#[test]
fn an_interrupted_run_ends_as_interrupted() {
    let scenario = scenario(CUBIC).checked().unwrap();
    let error = testbed::run(&scenario, &Options::default(), &mut |at| match at.at_s < 0.5 {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    })
    .unwrap_err();
    if !matches!(error, Error::Interrupted) {
        skipped(error).unwrap_or_default()
    }
}

#[test]
fn a_flow_that_never_connects_ends_with_the_run() {
    let mut scenario = scenario(CUBIC);
    scenario.link.loss = "100 %".parse().unwrap();
    let Some(outcome) = run(&scenario) else { return };
    assert_eq!(outcome.run.windows[0].flows[0].goodput_bit_s, 0.0);
    assert_eq!(outcome.run.duration_s, 8.0, "it does not wait for the kernel to give up");
}

#[test]
fn bytes_over_quic_arrive_as_they_were_sent_on_short_long_and_lossy_paths() {
    let with = |loss: &str| {
        let flow = |rtt: &u32| {
            format!(
                "[[flow]]\nname = \"{rtt} ms\"\nrole = \"background\"\ncontroller = \"ledbat++\"\nrtt = \"{rtt} ms\"\n\
                 transport = \"quic\"\ntraffic = {{ size = \"200 kB\" }}\n"
            )
        };
        let mut scenario = scenario(&[20, 50, 135, 250].iter().map(flow).collect::<String>());
        scenario.link.loss = loss.parse().unwrap();
        scenario.duration = Duration::from_millis(60_000);
        let Some(outcome) = run(&scenario) else { return };
        assert_eq!(outcome.transfers.len(), 4);
        for transfer in &outcome.transfers {
            assert_eq!(
                (transfer.sent_bytes, transfer.received_bytes),
                (200_000, 200_000),
                "{}",
                transfer.flow
            );
            assert_eq!(transfer.sent_blake3, transfer.received_blake3, "{}", transfer.flow);
        }
        for quantity in ["cwnd", "srtt"] {
            let curves = outcome.run.series.iter().filter(|series| series.quantity == quantity);
            assert_eq!(
                curves.filter(|curve| curve.values.iter().any(Option::is_some)).count(),
                4,
                "{quantity}"
            );
        }
    };
    thread::scope(|scope| ["0 %", "1 %"].iter().for_each(|loss| _ = scope.spawn(|| with(loss))));
}

#[test]
fn ledbat_plus_plus_over_quic_fills_a_link_and_yields_to_cubic_of_the_kernel() {
    let ledbat = LEDBAT.replace("\"utp\"", "\"quic\"");
    // A sender that is kept waiting in slow start takes that for a queue, and ends it.
    let by_itself = scenario(&ledbat);
    judged(
        || measured(&by_itself),
        |alone| {
            let Some(alone) = alone else { return Ok(()) };
            let window = &alone.run.windows[0];
            println!("{:?}", window.flows);
            // Headers take 61 of 1480 bytes.
            assert!(window.flows[0].share_of_payload_capacity <= 1.01, "{:?}", window.flows);
            within("utilisation", window.links[0].utilisation, 1.0, 0.1)
        },
    );
    let Some(both) = run(&scenario(&format!("{CUBIC}{ledbat}"))) else { return };
    let [cubic, ledbat] = &both.run.windows[0].flows[..] else { panic!("two flows") };
    assert!(ledbat.goodput_bit_s < 0.2 * cubic.goodput_bit_s, "{ledbat:?} beside {cubic:?}");
}

#[test]
fn a_payload_that_quic_cannot_have_is_refused_with_the_range() {
    let flow =
        CUBIC.replace("\"tcp\"\n", "\"quic\"\npacket = { payload = \"500 B\", overhead = \"61 B\" }\n");
    let reasons = testbed::supports(&scenario(&flow).checked().unwrap()).unwrap_err();
    assert_eq!(reasons[0].key, "flow.cubic.packet");
    assert!(reasons[0].reason.contains("1167 to 1419 bytes"), "{}", reasons[0].reason);
}

/// Every form of traffic that leaves the link half empty, so that both engines carry all of it.
const FORMS: &[(&str, &str)] = &[
    ("arrivals", "traffic = { arrivals = { poisson = \"10 per s\" }, size = \"10 kB\" }"),
    (
        "web",
        "traffic = { web = { users = 3, think = \"1 s\", objects = 4, size = \"6 kB\", connections = 2 } }",
    ),
    ("video", "traffic = { every = \"1 s\", size = \"200 kB\" }"),
    // 36 segments: the simulator would delay the acknowledgement of an odd one, where Linux acknowledges a young connection at once.
    ("peers", "traffic = { chunk = \"52 kB\", pause = \"500 ms\", persist = 0.5 }"),
    ("probe", "traffic = { cbr = \"200 kbit/s\", gaps = \"exponential\" }\ntransport = \"udp\""),
];

#[test]
fn every_form_of_traffic_sends_what_it_sends_in_the_simulator() {
    for transport in ["tcp", "utp", "quic"] {
        let flow = |(name, rest): &(&str, &str)| {
            let transport = match rest.contains("udp") {
                true => "role = \"foreground\"\n".to_owned(),
                false => format!("controller = \"cubic\"\ntransport = \"{transport}\"\n"),
            };
            format!("[[flow]]\nname = \"{name}\"\nrtt = \"40 ms\"\n{transport}{rest}\n")
        };
        let mut scenario = scenario(&FORMS.iter().map(flow).collect::<String>());
        scenario.link.rate = "50 Mbit/s".parse().unwrap();
        // With the first seed three chunks of the peers begin one right after the other just before the end, and some milliseconds decide
        // how many do. With this one a chunk begins 0.3 s before the end, and the next one as long after it.
        scenario.seed = 4;
        // The simulator has no QUIC. Its handshake is as long as TCP's, its initial window is uTP's: it lies between the two.
        let stands_in = |transport: Transport| {
            let mut offered = scenario.clone();
            let quic = offered.flow.iter_mut().filter(|flow| flow.transport.kind == TransportKind::Quic);
            quic.for_each(|flow| flow.transport = transport.clone());
            afteryou_sim::run(&offered.checked().unwrap(), &mut |_| ControlFlow::Continue(()))
                .unwrap()
                .run
                .totals
        };
        let Some(outcome) = run(&scenario) else { return };
        for (utp, tcp) in stands_in(Transport::utp()).iter().zip(&stands_in(Transport::tcp())) {
            let real = outcome.run.totals.iter().find(|real| real.flow == utp.flow).unwrap();
            let begun = |totals: &Totals| totals.completions.as_ref().map_or(0, |all| all.begun);
            let [real, utp, tcp] = [real, utp, tcp].map(|one| (begun(one), one.received_bytes as f64));
            println!("{transport}: {real:?}, simulated {utp:?} {tcp:?}");
            let (least, most) = (utp.0.min(tcp.0).saturating_sub(1), utp.0.max(tcp.0) + 1);
            assert!((least..=most).contains(&real.0), "{transport}: {real:?} beside {utp:?} {tcp:?}");
            let (least, most) = (0.85 * utp.1.min(tcp.1), 1.15 * utp.1.max(tcp.1));
            assert!((least..most).contains(&real.1), "{transport}: {real:?} beside {utp:?} {tcp:?}");
        }
    }
}

/// Returns a scenario of four hosts with uplinks of 1 to 4 Mbit/s and buffers of a few packets.
fn between_hosts(transport: &str, traffic: &str) -> Scenario {
    let text = format!(
        "duration = \"8 s\"\n[[hosts]]\nname = \"homes\"\ncount = 4\nrtt = \"20 ms\"\n\
         up = {{ listed = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\", \"4 Mbit/s\"] }}\n\
         down = \"8 Mbit/s\"\nqueue = \"20 packets\"\n\
         [[flow]]\nname = \"swarm\"\nrole = \"background\"\nhosts = \"homes\"\ncontroller = \"cubic\"\n\
         transport = \"{transport}\"\ntraffic = {traffic}\n\
         [[measure]]\nname = \"full\"\nfrom = \"2 s\"\nto = \"8 s\"\n\
         [[measure]]\nname = \"run\"\nfrom = \"0 s\"\nto = \"8 s\"\n"
    );
    let experiment = Experiment::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario.into_scenario()
}

#[test]
fn hosts_upload_to_each_other_over_links_of_their_own() {
    let swarm = "{ swarm = { slots = 3, neighbours = 3, persist = 0.5, chunk = \"100 kB\" } }";
    for transport in ["tcp", "utp", "quic"] {
        let scenario = between_hosts(transport, swarm);
        judged(|| measured(&scenario), |outcome| outcome.as_ref().map_or(Ok(()), |o| uploads(transport, o)));
    }
}

/// Judges hosts that upload to each other.
fn uploads(transport: &str, outcome: &Outcome) -> Result<(), String> {
    let links: Vec<_> = outcome.run.windows[0].links.iter().collect();
    for link in links.iter().filter(|link| link.link.ends_with(" up")) {
        println!("{transport}: {} {} Mbit/s: {}", link.link, link.capacity_bit_s / 1e6, link.utilisation);
        // Acknowledgements wait in the slowest host's uplink, so the fastest is not full, in the simulator either.
        assert!(link.utilisation > 0.4, "{transport}: {link:?}");
    }
    // What leaves the uplinks comes through the downlinks.
    let carried = |way: &str| -> f64 {
        let links = links.iter().filter(|link| link.link.ends_with(way));
        links.map(|link| link.utilisation * link.capacity_bit_s).sum()
    };
    let ratio = carried(" down") / carried(" up");
    assert!((0.95..1.05).contains(&ratio), "{transport}: {ratio}");
    let done = outcome.run.totals[0].completions.as_ref().unwrap();
    assert!(done.completed > 20, "{transport}: {done:?}");
    let hosts = &outcome.run.windows[0].hosts;
    assert_eq!(hosts.len(), 4);
    assert!(hosts.iter().all(|host| host.sent_bit_s > 0.3e6), "{transport}: {hosts:?}");
    // In the whole run. What a flow receives after it has waited for a lost packet is spread evenly over the time of waiting, and what its
    // hosts do counts when it is read: with such a time at an edge of a window they differ.
    let sent: f64 = outcome.run.windows[1].hosts.iter().map(|host| host.sent_bit_s).sum();
    let goodput = outcome.run.windows[1].flows[0].goodput_bit_s;
    within("sent by hosts, bit/s", sent, goodput, 1e-3 * goodput)
}

#[test]
fn downloads_of_hosts_come_through_their_downlinks() {
    let scenario = between_hosts("tcp", "{ downloads = 4, size = \"500 kB\" }");
    let Some(outcome) = run(&scenario) else { return };
    for link in outcome.run.windows[0].links.iter().filter(|link| link.link.ends_with(" down")) {
        println!("{}: {}", link.link, link.utilisation);
        assert!(link.utilisation > 0.6, "{link:?}");
    }
}

#[test]
fn a_flow_that_is_off_sends_nothing() {
    let with = |when: &str, transport: &str| {
        let flow = CUBIC.replace("\"tcp\"\n", &format!("\"{transport}\"\n{when}\n"));
        let mut scenario = scenario(&flow);
        let window = |name: &str, from, to| Window {
            name: name.to_owned(),
            from: Duration::from_millis(from),
            to: Duration::from_millis(to),
        };
        scenario.measure =
            vec![window("on", 1000, 3000), window("off", 3500, 6000), window("again", 6500, 8000)];
        let Some(outcome) = run(&scenario) else { return };
        let shares: Vec<_> = outcome.run.windows.iter().map(|window| window.links[0].utilisation).collect();
        println!("{transport}, {when}: {shares:?}");
        assert!(shares[0] > 0.8 && shares[1] < 0.01 && shares[2] > 0.8, "{transport}, {when}: {shares:?}");
    };
    let by_list = "active = [[\"0 s\", \"3 s\"], [\"6 s\", \"8 s\"]]";
    let by_turns = "traffic = { on = \"3 s\", off = \"3 s\" }";
    thread::scope(|scope| {
        for transport in ["tcp", "utp", "quic"] {
            scope.spawn(move || [by_list, by_turns].map(|when| with(when, transport)));
        }
    });
}

/// Returns a flow of a shell command; `rest` has more keys of its traffic.
fn command(script: &str, rest: &str) -> String {
    format!("[[flow]]\nname = \"program\"\nrtt = \"20 ms\"\nstart = \"1 s\"\ntraffic = {{ command = [\"bash\", \"-c\", '{script}']{rest} }}\n")
}

/// Returns the error of a run; `None`, after a word about the reason, where the user may not run it.
fn error_of(scenario: &Scenario) -> Option<String> {
    match testbed::run(&scenario.clone().checked().unwrap(), &Options::default(), &mut |_| {
        ControlFlow::Continue(())
    }) {
        Err(error @ Error::Flow { .. }) => Some(error.to_string()),
        Err(error) => skipped(error),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn a_program_is_a_flow_that_the_bottleneck_measures() {
    // 100 datagrams of 1000 bytes and headers, to nobody.
    let script = "for i in {1..100}; do printf %01000d 0 > /dev/udp/{peer}/9; done";
    let Some(outcome) = run(&scenario(&command(script, ""))) else { return };
    let mut all = scenario(&command(script, ""));
    all.measure[0].from = Duration::from_millis(0);
    let Some(whole) = run(&all) else { return };
    let later = &outcome.run.windows[0].links[0];
    assert_eq!(later.utilisation, 0.0, "it was over before the window");
    let link = &whole.run.windows[0].links[0];
    let bytes = link.utilisation * 8.0 * 10e6 / 8.0;
    assert!((bytes / 102_800.0 - 1.0).abs() < 0.01, "{bytes}");
    assert!(whole.run.marks.iter().any(|mark| mark.what == "stop"), "{:?}", whole.run.marks);
    let curve = whole.run.series.iter().find(|series| series.quantity == "goodput").unwrap();
    let received = curve.values.iter().flatten().sum::<f64>() * 1e6 / 8.0 * curve.step_s;
    // The scenario's headers are TCP's of 52 bytes, the datagrams' have 28.
    assert!((received / 97_600.0 - 1.0).abs() < 0.01, "{received}");
}

#[test]
fn a_program_that_fails_or_does_not_end_or_is_not_there_is_one_sentence() {
    let cases = [
        (
            command("echo no such host >&2; exit 3", ""),
            "ended with exit status: 3 after it wrote \"no such host\"",
        ),
        (
            command("sleep 60", ""),
            "bash had not ended when the run did: give it less to do, or set the flow's stop",
        ),
        (
            command("sleep 60", ", server = [\"no-such-program\"]"),
            "there is no program no-such-program: install it, or write its path",
        ),
        (command("sleep 60", ", server = [\"false\"]"), "false ended with exit status: 1"),
    ];
    for (flow, expected) in cases {
        let mut scenario = scenario(&flow);
        scenario.duration = Duration::from_millis(2000);
        scenario.measure.clear();
        let Some(error) = error_of(&scenario) else { return };
        assert!(error.starts_with("flow \"program\" failed: ") && error.ends_with(expected), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_program_and_what_it_started_are_gone_after_its_stop() {
    let mark = "4242.25";
    let mut scenario =
        scenario(&command(&format!("sleep {mark} & sleep {mark}"), ", server = [\"sleep\", \"4242.25\"]"));
    scenario.duration = Duration::from_millis(3000);
    scenario.flow[0].stop = Some(Duration::from_millis(2000));
    scenario.measure.clear();
    let Some(outcome) = run(&scenario) else { return };
    assert!(outcome.run.marks.iter().any(|mark| mark.what == "stop" && (2.0..2.2).contains(&mark.at_s)));
    let left: Vec<_> = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| {
            line.starts_with(b"sleep\0") && line.windows(mark.len()).any(|part| part == mark.as_bytes())
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn handshakes_that_the_kernel_had_to_repeat_are_counted_apart_from_retransmissions() {
    let mut scenario = scenario(
        "[[flow]]\nname = \"front\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\ntransport = \"tcp\"\n\
         traffic = { arrivals = \"100 ms\", size = \"1 kB\" }\n",
    );
    scenario.link.loss = "30 %".parse().unwrap();
    let Some(outcome) = run(&scenario) else { return };
    let totals = &outcome.run.totals[0];
    println!("{totals:?}");
    // A SYN is lost in 30 % of 80 connections.
    assert!((5..80).contains(&totals.handshake_timeouts), "{totals:?}");
    // Of the 80 segments 30 % are lost, too; a SYN that was sent again is none of them.
    assert!(totals.retransmissions < totals.packets, "{totals:?}");
    scenario.link.loss = "0 %".parse().unwrap();
    let Some(outcome) = run(&scenario) else { return };
    assert_eq!(outcome.run.totals[0].handshake_timeouts, 0);
}

#[test]
fn queues_and_losses_are_recorded_as_in_the_simulator() {
    let flow = CUBIC.replace("\"cubic\"", "\"newreno\"").replace("\"tcp\"", "\"utp\"");
    let set = "[[measure]]\nname = \"set\"\nfrom = \"3 s\"\nto = \"8 s\"\nflows = [\"newreno\"]\n";
    let mut scenario = scenario(&format!("{flow}{set}"));
    scenario.record = vec![Record::Queues, Record::Losses];
    scenario.link.buffer = "20 packets".parse().unwrap();
    // A packet takes 5.6 ms. At 10 Mbit/s it takes 1.1 ms, and a sender that wakes up so late now and then sends a retransmission into a
    // full queue, which halves its window once more: see the book's page about the testbed.
    scenario.link.rate = "2 Mbit/s".parse().unwrap();
    let simulated =
        afteryou_sim::run(&scenario.clone().checked().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap();
    let of = |outcome: &Outcome| {
        let (link, set) = (outcome.run.windows[0].links[0].clone(), outcome.run.sets[0].clone());
        println!(
            "{:?} {:?} {:?}",
            link.queue_length,
            link.flows,
            set.after_loss.as_ref().map(|all| all.lost)
        );
        assert!(link.queue_length.is_some());
        // A lost packet is sent again, and that is known to be the same.
        let again: f64 = set.after_loss.iter().flat_map(|all| &all.retransmitted).sum();
        assert!(again >= 0.3, "{:?}", set.after_loss);
        (link.flows[0].queue_packets, link.flows[0].bytes as f64, set.after_loss.unwrap().lost as f64)
    };
    let should = of(&simulated);
    judged(
        || measured(&scenario),
        |real| {
            let Some(is) = real.as_ref().map(of) else { return Ok(()) };
            within("queue, packets", is.0, should.0, 0.1 * should.0)?;
            within("delivered, bytes", is.1, should.1, 0.01 * should.1)?;
            assert!(is.2 > 0.0 && should.2 > 0.0, "{is:?} beside {should:?}");
            within("lost packets", is.2, should.2, 1.0)
        },
    );
}

#[test]
fn what_the_testbed_does_not_do_is_listed_with_its_key() {
    let mut scenario = scenario(CUBIC);
    let cubic = scenario.flow[0].controller.take().unwrap();
    scenario.flow[0].controller = Some(cubic.with("beta", "0.5"));
    let reasons = testbed::supports(&scenario.checked().unwrap()).err().unwrap_or_default();
    let keys: Vec<_> = reasons.into_iter().map(|reason| reason.key).collect();
    assert_eq!(keys, ["flow.cubic.controller"]);
}
