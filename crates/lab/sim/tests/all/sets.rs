//! Sets of flows measured together: figures that can be counted by hand, and agreement with what is measured anyway.

use afteryou_base::Span;
use afteryou_scenario::outcome::{Run, SetFigures, Starved};
use afteryou_scenario::passage::{Content, Passage};
use afteryou_scenario::Checked;
use afteryou_scenario_file::Experiment;
use afteryou_sim::Watchers;
use std::ops::ControlFlow;

fn scenario(text: &str) -> Checked {
    let experiment = Experiment::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

fn run(text: &str) -> Run {
    afteryou_sim::run(&scenario(text), &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}"))
        .run
}

fn set(text: &str) -> SetFigures {
    run(text).sets.remove(0)
}

const LINK: &str = "[link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n";

/// Constant rates of 0.8 and 0.2 Mbit/s: (1.0)² / (2 · (0.64 + 0.04)) = 0.7353. From 10 s on a third one with 0.2 Mbit/s:
/// (1.2)² / (3 · 0.72) = 2/3.
#[test]
fn the_index_over_steps_counts_the_flows_that_are_active() {
    let call = |name: &str, rate: &str, start: u32| {
        format!(
            "[[flow]]\nname = \"{name}\"\nrtt = \"20 ms\"\nstart = \"{start} s\"\n\
             traffic = {{ cbr = \"{rate}\", payload = \"1000 B\" }}\n"
        )
    };
    let figures = set(&format!(
        "duration = \"20 s\"\nmeasure = {{ from = \"0 s\", flows = \"all\" }}\n{LINK}{}{}{}",
        call("large", "0.8 Mbit/s", 0),
        call("small", "0.2 Mbit/s", 0),
        call("late", "0.2 Mbit/s", 10),
    ));
    let short = figures.short_term.unwrap();
    assert_eq!((short.steps, short.skipped, short.step_s), (20, 0, 1.0));
    let mean = (0.735294 + 2.0 / 3.0) / 2.0;
    assert!((short.mean - mean).abs() < 0.005, "{short:?} for {mean}");
    assert!((short.p5 - 2.0 / 3.0).abs() < 0.01, "{short:?}");
    // Long-term: 0.8, 0.2 and 0.1 on average.
    let long = 1.1 * 1.1 / (3.0 * (0.64 + 0.04 + 0.01));
    assert!((figures.fairness.unwrap() - long).abs() < 0.005, "{figures:?} for {long}");
    assert!((figures.goodput_bit_s / 1.1e6 - 1.0).abs() < 0.01, "{figures:?}");
}

/// A link that loses every tenth packet: after a loss, packets 10, 20, 30 and 40 are lost and no others.
#[test]
fn every_tenth_packet_is_lost_after_a_tenth_packet() {
    for transport in ["tcp", "utp"] {
        let figures = set(&format!(
            "duration = \"60 s\"\nrecord = [\"losses\"]\nmeasure = {{ from = \"10 s\", to = \"50 s\", flows = [\"one\"] }}\n\
             [link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\nloss = {{ every = 10 }}\n\
             [[flow]]\nname = \"one\"\ncontroller = \"newreno\"\ntransport = \"{transport}\"\nrtt = \"20 ms\"\n"
        ));
        let after = figures.after_loss.unwrap();
        assert!(after.lost > 100, "{transport}: {after:?}");
        for (i, part) in after.dropped.iter().enumerate() {
            let expected = if (i + 1) % 10 == 0 { 1.0 } else { 0.0 };
            assert_eq!(*part, expected, "{transport}: D_p({})", i + 1);
        }
        let sum: f64 = after.retransmitted.iter().sum();
        assert!(
            (0.9..=1.000_1).contains(&sum),
            "{transport}: {sum} of the lost packets were sent again soon"
        );
    }
}

/// Independent losses of 5 %: whichever packet comes after a lost one, it is lost with 5 %.
#[test]
fn after_an_independent_loss_packets_are_lost_as_often_as_at_any_time() {
    let figures = set(&format!(
        "duration = \"400 s\"\nrecord = [\"losses\"]\nmeasure = {{ from = \"0 s\", flows = [\"one\"] }}\n{LINK}\
         [[flow]]\nname = \"one\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\nloss = \"5 %\"\n"
    ));
    let after = figures.after_loss.unwrap();
    assert!(after.lost > 2000, "{}", after.lost);
    let deviation = (0.05 * 0.95 / after.lost as f64).sqrt();
    for (i, part) in after.dropped.iter().enumerate() {
        assert!((part - 0.05).abs() < 4.5 * deviation, "D_p({}) = {part}, {} lost", i + 1, after.lost);
    }
}

/// Packet 8 is dropped by the script. The capture at the link shows how many packets come between its place and its
/// retransmission.
#[test]
fn a_retransmission_comes_where_the_capture_shows_it() {
    for transport in ["tcp", "utp"] {
        let scenario = scenario(&format!(
            "duration = \"20 s\"\nrecord = [\"losses\"]\nmeasure = {{ from = \"0 s\", flows = [\"one\"] }}\n\
             [link]\nrate = \"10 Mbit/s\"\nbuffer = \"1000 packets\"\n\
             [[flow]]\nname = \"one\"\ncontroller = \"newreno\"\n\
             transport = \"{transport}\"\nrtt = \"20 ms\"\n[[drop]]\nflow = \"one\"\npacket = 8\n"
        ));
        let mut numbers: Vec<u64> = Vec::new();
        let mut tap = |passage: &Passage<'_>| match passage.content {
            Content::Segment { number, .. } => numbers.push(u64::from(number) + 1),
            Content::Utp { head, payload: 1.. } if !passage.is_reply => {
                numbers.push(u64::from(u16::from_be_bytes([head[16], head[17]]) - 1));
            }
            _ => {}
        };
        let watchers =
            Watchers { every: Span::ZERO, take: &mut |_| {}, tap: Some(&mut tap), observers: None };
        let mut figures = afteryou_sim::watched(&scenario, &mut |_| ControlFlow::Continue(()), watchers)
            .unwrap()
            .run
            .sets
            .remove(0);
        let after = figures.after_loss.take().unwrap();
        let lost = numbers.iter().position(|number| *number == 8).unwrap();
        let again = numbers[lost + 1..].iter().filter(|number| **number >= 8).position(|number| *number == 8);
        assert_eq!(after.lost, 1, "{transport}");
        let place = after.retransmitted.iter().position(|part| *part == 1.0);
        assert_eq!((place, again.is_some()), (again, true), "{transport}: {:?}", after.retransmitted);
        assert_eq!(after.dropped.iter().sum::<f64>(), 0.0, "{transport}");
    }
}

/// An outage from 10 to 12 s: nothing arrives in the steps from 10 s to 12 s.
#[test]
fn an_outage_is_a_stall_and_starves() {
    for transport in ["tcp", "utp"] {
        let figures = set(&format!(
            "duration = \"30 s\"\nrecord = [\"senders\"]\n\
             measure = {{ from = \"5 s\", flows = \"all\", stall = \"1 s\", step = \"0.5 s\" }}\n{LINK}\
             [[flow]]\nname = \"one\"\ncontroller = \"cubic\"\ntransport = \"{transport}\"\nrtt = \"40 ms\"\n\
             [[drop]]\nat = \"10 s\"\nuntil = \"12 s\"\n"
        ));
        let (stalls, starved) = (figures.stalls.unwrap(), figures.starved.unwrap());
        assert_eq!((stalls.count, stalls.above_s), (1, 1.0), "{transport}: {stalls:?}");
        assert!((2.0..6.0).contains(&stalls.longest_s), "{transport}: {stalls:?}");
        assert_eq!(stalls.total_s, stalls.longest_s, "{transport}");
        assert!((1.5..6.5).contains(&starved.longest_s), "{transport}: {starved:?}");
        assert!((starved.longest_s - stalls.longest_s).abs() <= 1.0, "{transport}: {starved:?}, {stalls:?}");
        assert_eq!(starved.flow.as_deref(), Some("one"), "{transport}");
    }
}

/// Transfers twice a second, each over a connection of its own: together they starve as long as the outage lasts.
#[test]
fn a_flow_with_many_connections_starves_by_their_total() {
    let starved = |outage: &str| {
        let figures = set(&format!(
            "duration = \"30 s\"\nmeasure = {{ from = \"5 s\", flows = [\"short\"], step = \"0.5 s\" }}\n{LINK}\
             [[flow]]\nname = \"short\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n\
             traffic = {{ arrivals = \"0.5 s\", size = \"200 kB\" }}\n\
             [[flow]]\nname = \"long\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n{outage}"
        ));
        figures.starved.unwrap()
    };
    assert_eq!(starved(""), Starved { below: 0.1, longest_s: 0.0, flow: None });
    let outage = starved("[[drop]]\nat = \"10 s\"\nuntil = \"12 s\"\n");
    assert!((1.5..6.5).contains(&outage.longest_s), "{outage:?}");
    assert_eq!(outage.flow.as_deref(), Some("short"));
}

/// A stall that the run's end cuts off counts until then.
#[test]
fn a_flow_that_never_gets_on_again_has_a_stall_until_the_end() {
    let figures = set(&format!(
        "duration = \"30 s\"\nrecord = [\"senders\"]\nmeasure = {{ from = \"5 s\", to = \"25 s\", flows = \"all\" }}\n{LINK}\
         [[flow]]\nname = \"one\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n[[drop]]\nat = \"10 s\"\nuntil = \"30 s\"\n"
    ));
    let stalls = figures.stalls.unwrap();
    assert!((stalls.longest_s - 15.0).abs() < 0.2 && stalls.count >= 1, "{stalls:?}");
    // In the step from 10 s to 11 s the queue empties.
    assert_eq!(figures.starved.unwrap().longest_s, 14.0);
}

/// 95 % of the link from 3 s on: the first whole step of 1 s in which 90 % arrive ends at 5 s at the latest.
#[test]
fn the_start_up_ends_when_the_capacity_is_reached() {
    let figures = set(&format!(
        "duration = \"10 s\"\nmeasure = {{ from = \"0 s\", flows = [\"call\"] }}\n{LINK}\
         [[flow]]\nname = \"call\"\nrtt = \"20 ms\"\nstart = \"3 s\"\ntraffic = {{ cbr = \"9 Mbit/s\", payload = \"1000 B\" }}\n"
    ));
    let start_up_s = figures.start_up_s.unwrap();
    assert!((1.0..=2.0).contains(&start_up_s), "{start_up_s}");
    assert_eq!(figures.short_term, None, "one flow has no index");
}

/// The flows of a set are those that fit each key, and a group stands for its flows.
#[test]
fn a_set_is_named_by_flows_groups_role_and_controller() {
    let text = |keys: &str| {
        format!(
            "duration = \"2 s\"\nmeasure = {{ from = \"0 s\", {keys} }}\n{LINK}\
             [[flow]]\nname = \"many\"\ncount = 2\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n\
             [[flow]]\nname = \"one\"\nrole = \"background\"\ncontroller = \"ledbat\"\nrtt = \"20 ms\"\n\
             [[flow]]\nname = \"two\"\nrole = \"background\"\ncontroller = \"ledbat++\"\nrtt = \"20 ms\"\n"
        )
    };
    for (keys, flows) in [
        ("flows = \"all\"", &["many 1", "many 2", "one", "two"][..]),
        ("flows = [\"many\", \"two\"]", &["many 1", "many 2", "two"]),
        ("role = \"background\"", &["one", "two"]),
        ("role = \"background\", controller = \"ledbat\"", &["one"]),
        ("flows = [\"many\"], controller = \"ledbat\"", &[]),
    ] {
        assert_eq!(set(&text(keys)).flows, flows, "{keys}");
    }
}

#[test]
fn a_wrong_set_is_refused_with_its_line() {
    for (keys, message) in [
        ("flows = [\"on\"]", "there is no flow or group \"on\": did you mean \"one\"?"),
        ("controller = \"ledbt\"", "did you mean \"ledbat\"?"),
        ("role = \"back\"", "did you mean \"background\"?"),
        ("flows = 3", "\"all\", or a list of names"),
        ("stall = \"1 s\"", "write flows = \"all\" beside it"),
        ("flows = \"all\", step = \"0 s\"", "step = 0 us is no step for a window of 2 s: use 1 ms to 2 s"),
        ("flows = \"all\", starved = \"300 %\"", "a probability of 0% to 100%"),
    ] {
        let text = format!(
            "duration = \"2 s\"\nmeasure = {{ from = \"0 s\", {keys} }}\n{LINK}[[flow]]\nname = \"one\"\ncontroller = \"cubic\"\n\
             rtt = \"20 ms\"\n"
        );
        let refused = Experiment::parse(&text, "test.toml", &[])
            .and_then(|experiment| experiment.runs(None, None).map(drop));
        let error = refused.expect_err(keys).to_string();
        assert!(error.contains(message) && error.contains("test.toml:2"), "{keys}: {error}");
    }
}

/// Transfers of 100 kB, one a second, are a class of their own, and those of one flow with a size count, too.
#[test]
fn transfers_count_in_the_window_in_which_they_end() {
    let run = run(&format!(
        "duration = \"20 s\"\nmeasure = [{{ name = \"early\", from = \"0 s\", to = \"10 s\", flows = \"all\" }}, \
         {{ name = \"late\", from = \"10 s\", flows = [\"short\"] }}]\n{LINK}\
         [[flow]]\nname = \"short\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n\
         traffic = {{ arrivals = \"1 s\", size = \"100 kB\" }}\n\
         [[flow]]\nname = \"once\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\ntraffic = {{ size = \"5 kB\" }}\n"
    ));
    let of = |i: usize| run.sets[i].transfers.as_ref().unwrap();
    // The first begins at 1 s, and each takes less than a second.
    assert_eq!((of(0).completed, of(1).completed), (9 + 1, 10));
    let classes: Vec<(u64, u64)> =
        of(0).classes.iter().map(|class| (class.from_bytes, class.time.samples)).collect();
    assert_eq!(classes, [(0, 1), (100_000, 9)]);
    // Each of the ten takes its own time: the mean goodput of those of 100 kB alone is bytes over time.
    let late = of(1);
    let (goodput, time) = (late.goodput_kbit_s.unwrap(), late.time.unwrap());
    assert!((goodput.max / (800.0 / time.p50_ms * 1e3) - 1.0).abs() < 0.2, "{goodput:?}, {time:?}");
    assert!(goodput.mean * time.mean_ms >= 0.999 * 800e3, "the mean of 1/x is at least 1 over the mean");
    let once = run.totals.iter().find(|totals| totals.flow == "once").unwrap();
    let smallest = of(0).classes[0].time.max_ms;
    assert!((smallest / 1e3 - once.completed_in_s.unwrap()).abs() < 1e-5, "the handshake is part of both");
}

const SWARM: &str = "duration = \"30 s\"\nrecord = [\"senders\", \"events\"]\nmeasure = { from = \"5 s\", flows = \"all\" }\n\
     [[hosts]]\nname = \"peers\"\ncount = 8\nup = \"1 Mbit/s\"\ndown = \"8 Mbit/s\"\nqueue = \"100 packets\"\nrtt = \"40 ms\"\n\
     [[flow]]\nname = \"swarm\"\ncontroller = \"ledbat\"\nhosts = \"peers\"\n\
     traffic = { swarm = { chunk = \"50 kB\", slots = 2, neighbours = 4, persist = 0.5 } }\n";

#[test]
fn the_only_uploader_of_a_swarm_fills_its_uplink_and_the_others_receive_alone() {
    let alone = SWARM
        .replace("slots = 2", "uploaders = 1, slots = 3")
        .replace("rtt = \"40 ms\"", "delay = \"20 ms\"");
    let run = run(&alone);
    let hosts = &run.windows[0].hosts;
    let payload = 1e6 * 1448.0 / 1500.0;
    assert!(hosts[0].sent_bit_s > 0.9 * payload && hosts[0].received_bit_s == 0.0, "{hosts:?}");
    assert!(hosts[1..].iter().all(|host| host.sent_bit_s == 0.0), "{hosts:?}");
    assert_eq!(hosts[1..].iter().filter(|host| host.received_bit_s > 0.0).count(), 4, "its neighbours");
}

/// The last four of 24 peers upload nothing. Their idle uplinks bring acknowledgements back sooner, so that each upload to them gets
/// more than its share; tit-for-tat leaves them fewer uploads.
#[test]
fn tit_for_tat_leaves_a_free_rider_less() {
    let part = |rule: &str, seed: u32| {
        let swarm = format!("seed = {seed}\n{SWARM}")
            .replace("30 s", "150 s")
            .replace("{ from = \"5 s\"", "{ from = \"30 s\"")
            .replace("count = 8", "count = 24")
            .replace("slots = 2, neighbours = 4, persist = 0.5", &format!("uploaders = 20, {rule}"));
        let hosts = run(&swarm).windows.remove(0).hosts;
        let mean = |hosts: &[afteryou_scenario::outcome::HostFigures]| {
            hosts.iter().map(|host| host.received_bit_s).sum::<f64>() / hosts.len() as f64
        };
        mean(&hosts[20..]) / mean(&hosts[..20])
    };
    // Of single runs the two differ by a factor between 0.5 and 1.
    let mean = |rule: &str| (1..=4).map(|seed| part(rule, seed)).sum::<f64>() / 4.0;
    let (with, without) = (mean("tit_for_tat = true"), mean("persist = 0.5"));
    assert!(with > 0.0 && with < 0.8 * without, "{with} for {without}");
}

#[test]
fn the_hosts_of_a_swarm_add_up_to_its_goodput() {
    let run = run(SWARM);
    let (window, set) = (&run.windows[0], &run.sets[0]);
    assert_eq!(window.hosts.len(), 8);
    let sum =
        |of: fn(&afteryou_scenario::outcome::HostFigures) -> f64| window.hosts.iter().map(of).sum::<f64>();
    let goodput = window.flows[0].goodput_bit_s;
    for part in [sum(|host| host.received_bit_s), sum(|host| host.sent_bit_s)] {
        assert!((part - goodput).abs() < 10.0, "{part} for {goodput}");
    }
    // A peer sends no more than its uplink carries.
    assert!(window.hosts.iter().all(|host| host.sent_bit_s <= 1e6), "{:?}", window.hosts);
    let rates: Vec<f64> = window.hosts.iter().map(|host| host.received_bit_s).collect();
    let (sum, squares) =
        rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    let fairness = sum * sum / (8.0 * squares);
    assert!((set.fairness.unwrap() - fairness).abs() < 1e-5, "{set:?} for {fairness}");
    let short = set.short_term.unwrap();
    assert!(short.steps == 25 && short.mean < 1.0 && short.p5 <= short.mean, "{short:?}");
}

/// The hosts have uplinks of 1 and 4 Mbit/s: slots of one host are alike, those of different hosts are not.
#[test]
fn an_index_among_host_slots_compares_no_hosts_and_counts_a_slot_once() {
    let faster = "[[hosts]]\nname = \"peers\"\ncount = 8\nup = { uniform = [\"1 Mbit/s\", \"4 Mbit/s\"] }";
    let connections = SWARM.replace("[[hosts]]\nname = \"peers\"\ncount = 8\nup = \"1 Mbit/s\"", faster);
    let slots = connections.replace("flows = \"all\"", "flows = \"all\", among = \"host-slots\"");
    let [connections, slots] = [connections, slots].map(|text| run(&text));
    let index = |run: &Run| run.sets[0].short_term.unwrap().mean;
    assert!(index(&slots) > index(&connections) + 0.1, "{} {}", index(&slots), index(&connections));
    assert_eq!(slots.windows, connections.windows, "a measure changes nothing else");
}

/// All senders of a flow with many connections are recorded: as many round-trip times as acknowledgements, and windows of
/// each sender alone.
#[test]
fn senders_of_many_connections_are_recorded() {
    for flow in [
        "traffic = { arrivals = { poisson = \"5 per s\" }, size = \"100 kB\" }\n",
        "traffic = { web = { users = 4, think = \"1 s\", size = \"50 kB\", objects = 4 } }\n",
    ] {
        let run = run(&format!(
            "duration = \"30 s\"\nrecord = [\"senders\", \"events\"]\nmeasure = {{ from = \"0 s\", flows = \"all\" }}\n{LINK}\
             [[flow]]\nname = \"short\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n{flow}"
        ));
        let sender = run.windows[0].flows[0].sender.unwrap();
        // The initial window is ten segments, and no transfer grows beyond its own bytes.
        assert!(sender.cwnd_kb.p5 >= 10.0 && sender.cwnd_kb.max < 250.0, "{flow}: {sender:?}");
        assert!(sender.in_flight_kb.max <= 100.0 && sender.in_flight_kb.max > 14.0, "{flow}: {sender:?}");
        let rtt = sender.rtt.unwrap();
        assert!(rtt.samples > 500 && rtt.p50_ms >= 40.0, "{flow}: {rtt:?}");
        assert!(run.phases.is_empty(), "{flow}: phases of connections side by side are no track");
    }
    assert!(run(SWARM).windows[0].flows[0].sender.is_some());
}

#[test]
fn a_set_changes_nothing_else() {
    let text = |set: &str| {
        format!(
            "duration = \"20 s\"\nmeasure = {{ from = \"3 s\"{set} }}\n{LINK}\
             [[flow]]\nname = \"web\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n\
             traffic = {{ arrivals = {{ poisson = \"20 per s\" }}, size = \"30 kB\" }}\n\
             [[flow]]\nname = \"backup\"\nrole = \"background\"\ncontroller = \"ledbat++\"\ntransport = \"utp\"\nrtt = \"40 ms\"\n"
        )
    };
    let (mut with, without) = (run(&text(", flows = \"all\", step = \"70 ms\"")), run(&text("")));
    assert_eq!(std::mem::take(&mut with.sets).len(), 1);
    assert!(with == without, "the rest differs");
}
