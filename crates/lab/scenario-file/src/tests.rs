mod elements;
mod files;
mod paths;
mod ranges;
mod routes;

use crate::{Experiment, FileError, Planned};
use afteryou_base::Span;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::transport::{Protocol, UtpRecovery};
use afteryou_scenario::{Checked, Duration, Scenario, Traffic, TransportKind};
use std::collections::BTreeSet;

const LINK: &str = "[link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n";

fn parse(text: &str) -> std::result::Result<Experiment, FileError> {
    Experiment::parse(text, "test.toml", &[])
}

/// Returns the runs of a file with a link and these further lines.
fn runs(top: &str, rest: &str) -> Vec<Planned> {
    let text = format!("duration = \"60 s\"\n{top}\n{LINK}{rest}");
    let experiment = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap()
}

/// Returns the error of such a file.
fn error(top: &str, rest: &str) -> String {
    parse(&format!("duration = \"60 s\"\n{top}\n{LINK}{rest}")).unwrap_err().to_string()
}

fn flow(lines: &str) -> String {
    format!("[[flow]]\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n{lines}\n")
}

/// Returns a flow with this traffic in its last line, after an empty line.
fn traffic(written: &str) -> String {
    format!("\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"40 ms\"\ntraffic = {written}\n")
}

/// Returns three hosts, and a flow on them with these lines.
fn hosts(lines: &str) -> String {
    format!(
        "\n[[hosts]]\nname = \"peers\"\ncount = 3\nup = \"1 Mbit/s\"\ndown = \"1 Mbit/s\"\n\
         queue = \"9 packets\"\nrtt = \"50 ms\"\n[[flow]]\ncontroller = \"cubic\"\nhosts = \"peers\"\n{lines}\n"
    )
}

#[test]
fn hosts_need_no_link_and_what_runs_on_them_fits_them() {
    let parse = |lines: &str| parse(&format!("duration = \"9 s\"{}", hosts(lines)));
    let swarm = "traffic = { swarm = { chunk = \"1 MB\", persist = 0.5 } }";
    let scenario = parse(swarm).unwrap().runs(None, None).unwrap().remove(0).scenario;
    assert_eq!((scenario.links().count(), scenario.hosts[0].host.len()), (6, 3));
    assert_eq!(scenario.links().next().and_then(|link| link.name.as_deref()), Some("peers 1 up"));
    let route = &scenario.network().routes[0];
    assert_eq!((&route.forward[..], &route.reverse[..]), (&[0, 3][..], &[2, 1][..]));
    for (lines, words, line) in [
        ("", "path is missing", 9),
        ("traffic = { downloads = 4, size = \"1 kB\" }", "4 downloads on 3 hosts", 9),
        ("rtt = \"9 ms\"\ntraffic = { downloads = 3, size = \"1 kB\" }", "leave it out", 12),
    ] {
        let text = parse(lines).unwrap_err().to_string();
        assert!(text.contains(words), "{words}:\n{text}");
        assert!(text.contains(&format!("test.toml:{line}:")), "line {line}:\n{text}");
    }
}

/// Returns three senders and a flow from them over a path with these lines.
fn senders(hosts: &str, flow: &str) -> String {
    format!(
        "duration = \"9 s\"\n[[link]]\nname = \"there\"\nrate = \"9 Mbit/s\"\nbuffer = \"9 packets\"\n\
         [[link]]\nname = \"back\"\nrate = \"9 Mbit/s\"\nbuffer = \"9 packets\"\n\
         [[hosts]]\nname = \"senders\"\ncount = 3\ndown = \"1 Mbit/s\"\nqueue = \"9 packets\"\n{hosts}\n\
         [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nhosts = \"senders\"\n\
         path = {{ forward = [\"there\"], reverse = [\"back\"] }}\n{flow}\n"
    )
}

#[test]
fn a_flow_from_hosts_over_a_path_is_a_flow_from_each_over_its_own_links() {
    let drawn =
        "up = { uniform = [\"1 Mbit/s\", \"2 Mbit/s\"] }\ndelay = { uniform = [\"20 ms\", \"50 ms\"] }";
    let run = |flow: &str| {
        let experiment = parse(&senders(drawn, flow)).unwrap_or_else(|error| panic!("{error}"));
        experiment.runs(None, None).unwrap().remove(0).scenario
    };
    let scenario = run("rtt = \"500 ms\"");
    let names: Vec<_> = scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["a 1", "a 2", "a 3"]);
    for (flow, host) in scenario.flow.iter().zip(&scenario.hosts[0].host) {
        let path = flow.path.as_ref().unwrap();
        assert_eq!(path.forward, [host.up.as_str(), "there"]);
        assert_eq!(path.reverse, ["back", host.down.as_str()]);
        assert_eq!(flow.rtt.0, Span::from_millis(500) + host.rtt.0);
        assert!((540.0..=600.0).contains(&flow.rtt.0.as_millis_f64()), "{}", flow.rtt);
    }
    let is_up =
        |link: &&afteryou_scenario::Link| link.name.as_ref().is_some_and(|name| name.ends_with(" up"));
    let rates: BTreeSet<u64> =
        scenario.links().filter(is_up).map(|link| link.rate.bits_per_second()).collect();
    assert!(rates.len() == 3 && rates.iter().all(|rate| (1_000_000..=2_000_000).contains(rate)), "{rates:?}");
    // Without a time of its own the rest of the path takes none; fewer flows than hosts take the first of these.
    let alone = run("count = 1");
    assert_eq!((alone.flow.len(), alone.flow[0].rtt), (1, alone.hosts[0].host[0].rtt));
    assert_eq!(run("count = 0").flow.len(), 0);
}

#[test]
fn more_flows_than_hosts_and_rates_of_nothing_are_refused() {
    for (hosts, flow, words, line) in [
        ("up = \"1 Mbit/s\"\nrtt = \"9 ms\"", "count = 4", "from 0 to 3", 22),
        ("up = \"0 Mbit/s\"\nrtt = \"9 ms\"", "", "use at least 8 bit/s", 15),
        ("up = { uniform = [\"2 Mbit/s\", \"1 Mbit/s\"] }\nrtt = \"9 ms\"", "", "swap them", 15),
        ("up = { zipf = \"2 Mbit/s\" }\nrtt = \"9 ms\"", "", "{ exponential = mean }", 15),
    ] {
        let text = parse(&senders(hosts, flow)).unwrap_err().to_string();
        assert!(text.contains(words) && text.contains(&format!("test.toml:{line}:")), "{words}:\n{text}");
    }
}

#[test]
fn hosts_have_a_round_trip_time_or_half_of_it_as_a_delay() {
    let file = |time: &str| {
        let swarm = hosts("traffic = { swarm = { chunk = \"1 MB\", persist = 0.5 } }");
        parse(&format!("duration = \"9 s\"{}", swarm.replace("rtt = \"50 ms\"", time)))
    };
    let rtts = |time: &str| {
        let scenario = file(time).unwrap().runs(None, None).unwrap().remove(0).scenario;
        scenario.hosts[0].host.iter().map(|host| host.rtt.0 .0).collect::<Vec<_>>()
    };
    let law = "{ lognormal = { mean = \"38 ms\", sigma = 0.8, clip = [\"2 ms\", \"400 ms\"] } }";
    let (by_rtt, by_delay) = (rtts(&format!("rtt = {law}")), rtts(&format!("delay = {law}")));
    assert_eq!(by_delay, by_rtt.iter().map(|rtt| 2 * rtt).collect::<Vec<_>>());
    let text = file("rtt = \"50 ms\"\ndelay = \"25 ms\"").unwrap_err().to_string();
    assert!(text.contains("write one of them") && text.contains("test.toml:9:"), "{text}");
}

#[test]
fn a_wrong_word_is_shown_with_its_line_a_caret_and_the_nearest_one() {
    let text = error("", "\n[[flow]]\ncontroller = \"cubik\"\nrtt = \"40 ms\"\n");
    let names: Vec<_> = afteryou_cc::list::CONTROLLERS.iter().map(|entry| entry.name).collect();
    let expected = format!(
        "there is no controller \"cubik\": did you mean \"cubic\"? use one of {}
 --> test.toml:8:14
  |
8 | controller = \"cubik\"
  |              ^^^^^^^",
        names.join(", ")
    );
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn every_kind_of_mistake_is_answered_where_it_was_made() {
    for (top, rest, words, line) in [
        ("", "lost = \"1 %\"\n", "did you mean \"loss\"?", 6),
        ("seed = -1", "", "whole number from 0", 2),
        ("repeat = 0", "", "whole number from 1", 2),
        ("baseline = \"with\"", "", "\"without background\"", 2),
        ("measure = { from = \"70 s\" }", "", "empty or ends after the run", 2),
        ("", "\n[[flow]]\nrtt = \"40 ms\"\n", "needs a controller", 7),
        ("", "\n[[flow]]\ncontroller = \"cubic\"\nrtt = 40\n", "\"40\" is not a time", 9),
        ("", "\n[[flow]]\ncontroller = \"bbrv2\"\nrtt = \"40 ms\"\n", "not built yet", 8),
        ("", "\n[[flow]]\ncontroller = \"rledbat\"\nrtt = \"40 ms\"\n", "write receiver = \"rledbat\"", 8),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nreceiver = \"rledbatt\"\nrtt = \"1 ms\"\n",
            "did you mean \"rledbat\"?",
            9,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nreceiver = { controller = \"rledbat\", target = \"4 s\" }\nrtt = \"1 ms\"\n",
            "use 1 ms to 100 ms",
            9,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nreceiver = { kind = \"rledbat\" }\nrtt = \"1 ms\"\n",
            "say which receiver: controller = ",
            9,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\ntransport = \"utp\"\nreceiver = \"rledbat\"\nrtt = \"1 ms\"\n",
            "only the receiver of a tcp flow",
            10,
        ),
        ("", "\n[[flow]]\ncontroller = \"outside\"\nrtt = \"40 ms\"\n", "write receiver = \"outside\" or sender =", 8),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nsender = \"rledbat\"\nrtt = \"1 ms\"\n",
            "there is no sender \"rledbat\"",
            9,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nreceiver = \"rledbat\"\nsender = \"outside\"\nrtt = \"1 ms\"\n",
            "leave one of the two out",
            10,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\ntransport = \"utp\"\nsender = \"outside\"\nrtt = \"1 ms\"\n",
            "only the sender of a tcp flow",
            10,
        ),
        ("", "route = 3\n", "not built yet", 6),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\ntransport = \"quick\"\nrtt = \"1 ms\"\n",
            "did you mean \"quic\"?",
            9,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = { kind = \"ledbat++\", target = \"4 s\" }\nrtt = \"1 ms\"\n",
            "use 1 ms to 100 ms",
            8,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = { kind = \"ledbat++\", tarjet = \"4 ms\" }\nrtt = \"1 ms\"\n",
            "\"target\"?",
            8,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\ntraffic = \"swarm\"\n",
            "this is no traffic",
            10,
        ),
        (
            "",
            "\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\ncount = 1_000_000_000_000\n",
            "from 0 to 20000",
            10,
        ),
        ("", "\n[sweep]\n\"flow.x.rtt\" = [\"1 ms\"]\n", "there are no flows", 8),
        ("", "\n[sweep]\n\"link.rat\" = [\"1 Mbit/s\"]\n", "did you mean \"rate\"?", 8),
        ("", "\n[sweep]\n\"link.rate\" = [\"1 Mbit/s\", \"0 Mbit/s\"]\n", "carries nothing", 8),
        ("", &traffic("{ arrivals = { poisson = \"50\" }, size = \"20 kB\" }"), "\"50 per s\"", 10),
        ("", &traffic("{ arrivals = \"1 us\", size = \"20 kB\" }"), "more than 10000000 arrivals", 10),
        (
            "",
            &traffic("{ arrivals = \"1 s\", size = { uniform = [\"2 kB\", \"1 kB\"] } }"),
            "larger than the second",
            10,
        ),
        (
            "",
            &traffic("{ arrivals = \"1 s\", size = { lognormal = { sigma = 1.0 } } }"),
            "median or mean",
            10,
        ),
        (
            "",
            &traffic("{ arrivals = \"1 s\", size = { pareto = { shape = 0, min = \"1 kB\" } } }"),
            "from 0.1 to 100",
            10,
        ),
        ("", &traffic("{ arrivals = \"1 s\", size = { zipf = \"1 kB\" } }"), "{ exponential = mean }", 10),
        ("", &traffic("{ chunk = \"1 MB\", pause = \"1 rtt\", persist = 1.2 }"), "1.2 is no probability", 10),
        ("", &traffic("{ chunk = \"1 MB\", persist = 0.5 }"), "this is no traffic", 10),
        ("", &traffic("{ every = \"0 s\", size = \"1 MB\" }"), "use 1 ms or more", 10),
        ("", &traffic("{ web = { users = 0, think = \"1 s\", size = \"1 kB\" } }"), "from 1 to 10000", 10),
        ("", &traffic("{ web = { think = \"1 s\", size = \"1 kB\" } }"), "users is missing", 10),
        (
            "",
            &(traffic("{ every = \"1 s\", size = \"1 kB\" }") + "active = [[\"0 s\", \"1 s\"]]\n"),
            "leave active",
            11,
        ),
        (
            "",
            &(traffic("{ every = \"1 s\", size = \"1 kB\" }") + "[[drop]]\nflow = \"cubic\"\npacket = 3\n"),
            "have no numbers",
            11,
        ),
        ("", "\n[[hosts]]\ncount = 3\n", "name is missing", 7),
        ("", &hosts(""), "this one needs a name, too", 3),
        ("", &traffic("{ swarm = { chunk = \"1 MB\", persist = 0.5 } }"), "needs hosts", 10),
        (
            "",
            &traffic("{ swarm = { chunk = \"1 MB\", slots = 9, neighbours = 8, persist = 0 } }"),
            "more slots",
            10,
        ),
        ("", "\n[[flow]]\ncontroller = \"cubic\"\nhosts = \"peers\"\n", "there is no hosts", 9),
        ("x = [", "", "missing comma", 4),
    ] {
        let text = error(top, rest);
        assert!(text.contains(words), "{words}:\n{text}");
        assert!(text.contains(&format!("test.toml:{line}:")), "line {line}:\n{text}");
    }
    let text = parse(&format!("duration = \"0 s\"\n{LINK}[[drop]]\nat = \"1 s\"\n")).unwrap_err().to_string();
    assert!(text.contains("no time at all") && text.contains("test.toml:1:12"), "{text}");
    for (text, words) in [("", "duration is missing"), ("duration = \"60 s\"", "link is missing")] {
        assert!(parse(text).unwrap_err().to_string().contains(words));
    }
}

#[test]
fn defaults_are_those_of_the_manual() {
    let run =
        &runs("", &(flow("") + &flow("") + "[[flow]]\nrtt = \"1 ms\"\ntraffic = { cbr = \"64 kbit/s\" }\n"))
            [0];
    let scenario = &run.scenario;
    let names: Vec<_> = scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["cubic", "cubic 2", "cbr"]);
    let kinds: Vec<_> = scenario.flow.iter().map(|flow| flow.transport.kind).collect();
    assert_eq!(kinds, [TransportKind::Tcp, TransportKind::Tcp, TransportKind::Udp]);
    assert_eq!((scenario.seed, scenario.baseline, scenario.link.queue.kind.as_str()), (1, false, "droptail"));
    let window = &scenario.measure[0];
    assert_eq!(
        (window.name.as_str(), window.from, window.to),
        ("measured", "12 s".parse().unwrap(), "60 s".parse().unwrap())
    );
}

#[test]
fn numbers_and_flags_need_no_quotes_in_parameters() {
    let lines = "[[flow]]\ncontroller = { kind = \"ledbat++\", restart = true }\nrtt = \"1 ms\"
        transport = { kind = \"tcp\", preset = \"classic\", iw = 3, ack = \"every packet\" }\n";
    let flow = &runs("", lines)[0].scenario.flow[0];
    assert_eq!(flow.controller.as_ref().unwrap().to_string(), "ledbat++,restart=true");
    assert!(
        matches!(flow.transport.protocol(), Ok(Protocol::Tcp(options)) if options.iw == 3 && options.ack.every == 1)
    );
}

#[test]
fn a_utp_flow_names_its_way_of_recovery_and_its_receivers_clock() {
    let rest = flow("transport = { kind = \"utp\", recovery = \"libutp-mod\", skew = -200 }");
    let Ok(Protocol::Utp(options)) = runs("", &rest)[0].scenario.flow[0].transport.protocol() else {
        panic!("not a uTP flow")
    };
    assert_eq!((options.recovery, options.skew_ppm), (UtpRecovery::LibutpMod, -200));
}

#[test]
fn one_table_stands_for_many_flows_with_starts_and_paths_of_their_own() {
    let lines =
        flow("name = \"a\"\ncount = 3\nstart = { every = \"10 s\", first = \"2 s\" }\nstop = \"1000 rtt\"");
    let flows = &runs("", &lines)[0].scenario.flow;
    let starts: Vec<_> = flows.iter().map(|flow| (flow.name.as_str(), flow.start.as_secs_f64())).collect();
    assert_eq!(starts, [("a 1", 2.0), ("a 2", 12.0), ("a 3", 22.0)]);
    assert!(flows
        .iter()
        .all(|flow| flow.group.as_deref() == Some("a") && flow.stop == Some("40 s".parse().unwrap())));
}

#[test]
fn draws_belong_to_the_name_and_nobody_else_changes_them() {
    let drawn = |lines: &str, name: &str| {
        let run = runs("", lines).remove(0).scenario;
        run.flow.iter().find(|flow| flow.name == name).map(|flow| (flow.start, flow.rtt)).unwrap()
    };
    let one = |name: &str| {
        format!(
            "[[flow]]\ncontroller = \"cubic\"\nname = \"{name}\"\nstart = {{ uniform = [\"0 s\", \"10 s\"] }}
             rtt = {{ uniform = [\"10 ms\", \"90 ms\"] }}\n"
        )
    };
    let alone = drawn(&one("a"), "a");
    assert_eq!(drawn(&(one("b") + &one("a")), "a"), alone);
    assert_ne!(drawn(&one("b"), "b"), alone);
    let repeated = runs("repeat = 3", &one("a"));
    let starts: BTreeSet<_> = repeated.iter().map(|run| run.scenario.flow[0].start).collect();
    assert_eq!(starts.len(), 3);
    assert_eq!(repeated.iter().map(|run| run.scenario.seed).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn a_sweep_makes_every_combination_in_the_order_of_the_file() {
    let lines = flow("name = \"video call\"")
        + "[sweep]\n\"link.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n\"flow.video call.controller.beta\" = [0.5, 0.7]\n";
    let lines = lines.replace("controller.beta", "rtt").replace("[0.5, 0.7]", "[\"1 ms\", \"2 ms\"]");
    let points: Vec<(u64, f64)> = runs("", &lines)
        .iter()
        .map(|run| {
            (
                run.scenario.link.rate.bits_per_second() / 1_000_000,
                run.scenario.flow[0].rtt.as_secs_f64() * 1e3,
            )
        })
        .collect();
    assert_eq!(points, [(1, 1.0), (1, 2.0), (2, 1.0), (2, 2.0)]);
}

#[test]
fn a_sweep_reaches_parameters_takes_flows_away_and_varies_all_flows() {
    let lines = flow("name = \"a\"") + &flow("name = \"b\"") + "[sweep]\n";
    let with = |axis: &str| runs("", &(lines.clone() + axis));
    let parameters = with("\"flow.a.controller.fast_convergence\" = [true, false]\n");
    assert_eq!(
        parameters[1].scenario.flow[0].controller.as_ref().unwrap().to_string(),
        "cubic,fast_convergence=false"
    );
    let without =
        with("\"flow.a\" = [\"none\", { name = \"c\", controller = \"newreno\", rtt = \"1 ms\" }]\n");
    assert_eq!(without[0].scenario.flow.len(), 1);
    assert_eq!(without[1].scenario.flow[0].name, "c");
    let all = with("flow.\"*\".controller = [\"newreno\"]\n");
    assert!(all[0].scenario.flow.iter().all(|flow| flow.controller.as_ref().unwrap().kind == "newreno"));
    assert_eq!(all[0].point["flow.*.controller"], "newreno");
}

#[test]
fn assignments_replace_what_the_file_says_and_are_named_when_they_are_wrong() {
    let text = format!("duration = \"60 s\"\n{LINK}{}", flow("name = \"a\""));
    let with = |set: &str| Experiment::parse(&text, "test.toml", &[set.to_owned()]);
    let run = with("flow.a.rtt=7 ms").unwrap().runs(None, None).unwrap().remove(0);
    assert_eq!(run.scenario.flow[0].rtt, "7 ms".parse().unwrap());
    let run = with("flow.a.traffic={ size = \"1 MB\" }").unwrap().runs(Some(9), Some(2)).unwrap().remove(1);
    assert!(matches!(run.scenario.flow[0].traffic, Traffic::Size(_)));
    assert_eq!((run.scenario.seed, run.repetition), (10, 2));
    for (set, words) in [
        ("flow.b.rtt=1 ms", "there is no flow \"b\""),
        ("link.rate", "no assignment"),
        ("link.rate=5", "not a rate"),
    ] {
        let text = with(set).unwrap_err().to_string();
        assert!(text.contains(words) && text.contains(&format!("--set {set}")), "{text}");
    }
}

#[test]
fn moments_may_refer_to_starts_and_to_the_end() {
    let measure = "[[measure]]\nname = \"a\"\nfrom = \"last start + 10 s\"\nto = \"end - 5 s\"\n[[measure]]\nname = \"b\"\nfrom = \"first start\"\n";
    let lines = flow("start = \"4 s\"") + &flow("start = \"9 s\"") + measure;
    let times: Vec<_> = runs("", &lines)[0]
        .scenario
        .measure
        .iter()
        .map(|w| (w.from.as_secs_f64(), w.to.as_secs_f64()))
        .collect();
    assert_eq!(times, [(19.0, 55.0), (4.0, 60.0)]);
}

#[test]
fn a_moment_before_the_run_begins_is_refused() {
    for (from, words) in [
        ("end - 300 s", "300 s before end (60 s) is before the run begins"),
        ("first start - 5 s", "5 s before first start (4 s) is before the run begins"),
    ] {
        let text = error("", &(flow("start = \"4 s\"") + &format!("[[measure]]\nfrom = \"{from}\"\n")));
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn flows_without_a_name_have_names_and_luck_of_their_own() {
    let drawn = "[[flow]]\ncontroller = \"cubic\"\nrtt = { uniform = [\"10 ms\", \"90 ms\"] }\n";
    let flows = &runs("", &(drawn.repeat(2) + drawn + "name = \"cubic 2\"\n"))[0].scenario.flow;
    assert_eq!(
        flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        ["cubic", "cubic 3", "cubic 2"]
    );
    assert_eq!(flows.iter().map(|flow| flow.rtt).collect::<BTreeSet<_>>().len(), 3);
    // A sweep finds them under these names.
    let one = runs("", &(drawn.repeat(2) + "[sweep]\n\"flow.cubic.rtt\" = [\"1 ms\"]\n")).remove(0).scenario;
    assert_eq!(one.flow[0].rtt, "1 ms".parse().unwrap());
    let text = error("", &(flow("name = \"a\"\ncount = 2") + &flow("name = \"a\"")));
    assert!(text.contains("two flows are named \"a\"") && text.contains("test.toml:11:"), "{text}");
}

#[test]
fn what_holds_another_setting_is_put_first() {
    let lines = flow("name = \"a\"")
        + "[sweep]\n\"flow.a.controller.target\" = [\"20 ms\"]\n\"flow.a.controller\" = [\"ledbat++,restart=on\"]
        \"flow.a.rtt\" = [\"3 ms\"]\n\"flow.*.rtt\" = [\"4 ms\"]\n";
    let run = runs("", &lines).remove(0);
    let flow = &run.scenario.flow[0];
    assert_eq!(flow.controller.as_ref().unwrap().to_string(), "ledbat++,restart=on,target=20 ms");
    assert_eq!(flow.rtt, "3 ms".parse().unwrap());
    assert_eq!(run.point.len(), 4);
}

#[test]
fn a_sweep_that_would_say_nothing_or_the_same_twice_is_refused() {
    let sweep = |axes: &str| error("", &(flow("name = \"a\"") + &flow("name = \"b\"") + "[sweep]\n" + axes));
    for (axes, words) in [
        ("seed = [1, 2]\n", "each repetition has the next seed"),
        ("repeat = [1, 2]\n", "outside of [sweep]"),
        ("\"sweep.link.rate\" = [\"1 Mbit/s\"]\n", "write the setting alone"),
        ("\"link.rate\" = [\"1 Mbit/s\"]\nlink.rate = [\"2 Mbit/s\"]\n", "varies already"),
        ("\"link.rate\" = [\"1 Mbit/s\", \"1 Mbit/s\"]\n", "there twice"),
        ("\"link.rate.x\" = [\"1 Mbit/s\"]\n", "no settings of its own"),
        ("\"flow.a.rtt\" = [\"1 ms\"]\n\"flow.a\" = [\"none\"]\n", "\"none\" in some runs"),
    ] {
        let text = sweep(axes);
        assert!(text.contains(words) && text.contains("test.toml:1"), "{words}:\n{text}");
    }
}

#[test]
fn a_flow_that_is_taken_away_takes_its_script_along_and_variants_are_told_apart() {
    let variant = |rtt| format!("{{ controller = \"cubic\", rtt = \"{rtt} ms\" }}");
    let lines = flow("name = \"a\"")
        + &flow("name = \"b\"")
        + "[[drop]]\nflow = \"a\"\npacket = 3\n[sweep]\n\"flow.a\" = [";
    let runs = runs("", &format!("{lines}\"none\", {}, {}]\n", variant(1), variant(2)));
    let names = |run: &Planned| run.scenario.flow.iter().map(|flow| flow.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(&runs[0]), runs[0].scenario.drop.len()), (vec!["b".to_owned()], 0));
    assert_eq!((names(&runs[1]), runs[1].scenario.drop.len()), (vec!["a".to_owned(), "b".to_owned()], 1));
    assert_ne!(runs[1].point, runs[2].point);
}

#[test]
fn an_assignment_stands_against_the_sweep() {
    let text = format!(
        "duration = \"60 s\"\n{LINK}{}[sweep]\n\"link.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n",
        flow("")
    );
    let rates = |set: &str| -> Vec<u64> {
        let experiment = Experiment::parse(&text, "test.toml", &[set.to_owned()]).unwrap();
        experiment
            .runs(None, None)
            .unwrap()
            .iter()
            .map(|run| run.scenario.link.rate.bits_per_second() / 1_000_000)
            .collect()
    };
    assert_eq!(rates("link.rate=\"7 Mbit/s\""), [7]);
    assert_eq!(rates("sweep.link.rate=[\"3 Mbit/s\", \"4 Mbit/s\", \"5 Mbit/s\"]"), [3, 4, 5]);
    assert_eq!(rates("sweep.link.rate=none"), [10]);
    assert_eq!(rates("sweep=none"), [10]);
    assert_eq!(rates("link.buffer=50 packets"), [1, 2]);
}

#[test]
fn a_wrong_line_of_the_script_is_shown_at_that_line() {
    let good = flow("name = \"a\"") + "[[drop]]\nat = \"1 s\"\n";
    for (lines, words) in [
        ("[[drop]]\nflow = \"b\"\npacket = 1\n", "there is no flow \"b\""),
        ("[[drop]]\nat = \"2 s\"\nuntil = \"1 s\"\n", "ends before it begins"),
        ("[[delay]]\nflow = \"b\"\npacket = 1\nby = \"1 ms\"\n", "there is no flow \"b\""),
    ] {
        let text = error("", &(good.clone() + lines));
        assert!(text.contains(words) && text.contains("test.toml:12:1"), "{text}");
    }
}

#[test]
fn what_a_file_hides_from_the_eye_does_not_reach_the_terminal() {
    for rest in ["x = \u{1b}[31m\"\n", "\"\\u001b[31m\" = 1\n", "x = 1 \r\n"] {
        let text = error("", rest);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}

#[test]
fn what_an_engine_cannot_do_is_shown_where_the_file_asks_for_it() {
    let text = format!(
        "duration = \"9 s\"\n{LINK}queue = {{ kind = \"codel\", target = \"5 ms\" }}\n\
         [[flow]]\nname = \"a.b\"\nrtt = \"40 ms\"\ncontroller = \"cubic,beta=0.5\"\n\
         sweep.\"link.loss\" = [\"0 %\", \"1 %\"]\n"
    );
    let text = text.replace("sweep.", "[sweep]\n");
    let experiment = Experiment::parse(&text, "test.toml", &["flow.a.b.rtt=50 ms".to_owned()]).unwrap();
    let runs = experiment.runs(None, None).unwrap();
    let shown =
        |run: usize, key: &str| experiment.refused(&runs[run], &Unsupported::new(key, "no")).to_string();
    for (run, key, line) in [
        (0, "link.queue.target", "5 | queue = { kind = \"codel\", target = \"5 ms\" }"),
        (0, "link.queue", "5 | queue"),
        (0, "link.reverse", "2 | [link]"),
        (0, "flow.a.b.controller.beta", "9 | controller"),
        (0, "flow.a.b.transport", "6 | [[flow]]"),
        (0, "flow.nobody.rtt", "1 | duration"),
        (0, "link.loss", "11 | \"link.loss\" = [\"0 %\", \"1 %\"]\n   |                ^^^^^"),
        (1, "link.loss", "11 | \"link.loss\" = [\"0 %\", \"1 %\"]\n   |                       ^^^^^"),
        (0, "flow.a.b.rtt", "--> --set flow.a.b.rtt=50 ms"),
    ] {
        let shown = shown(run, key);
        assert!(shown.starts_with("no\n") && shown.contains(line), "{key}: {shown}");
    }
}
