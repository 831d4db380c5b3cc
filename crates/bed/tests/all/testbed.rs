//! Whole scenarios with the kernel's TCP, where the user may make namespaces.

use afteryou_bed::run::Options;
use afteryou_bed::{testbed, Error};
use afteryou_scenario::outcome::{Outcome, Totals};
use afteryou_scenario::{Algorithm, Duration, Experiment, Record, Scenario, Window};

fn scenario(flows: &str) -> Scenario {
    let text = format!(
        "duration = \"8 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 packets\"\n{flows}\
         [[measure]]\nname = \"all\"\nfrom = \"3 s\"\nto = \"8 s\"\n"
    );
    let experiment = Experiment::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

const CUBIC: &str =
    "[[flow]]\nname = \"cubic\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\ntransport = \"tcp\"\n";
const LEDBAT: &str = "[[flow]]\nname = \"ledbat\"\nrole = \"background\"\ncontroller = \"ledbat++\"\nrtt = \"40 ms\"\ntransport = \"utp\"\n";

/// Runs it; none, with a word of why, where the user may not.
fn run(scenario: &Scenario) -> Option<Outcome> {
    match testbed::run(scenario, &Options::default(), &mut |_| true) {
        Ok(outcome) => Some(outcome),
        Err(error) => skipped(error),
    }
}

fn skipped<T>(error: Error) -> Option<T> {
    match error {
        Error::Namespace(_) | Error::Tun(_) | Error::Sysctl { .. } | Error::Interface { .. } => {
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
    scenario.flow[0].controller = Some(Algorithm::named("ledbat"));
    let error = testbed::run(&scenario, &Options::default(), &mut |_| true).unwrap_err();
    if !matches!(error, Error::Congestion { .. }) {
        return skipped(error).unwrap_or_default();
    }
    let text = error.to_string();
    assert!(text.starts_with("flow \"cubic\": the kernel gives no congestion control \"ledbat\""), "{text}");
    assert!(text.contains("reno") && text.lines().count() == 1, "{text}");
}

#[test]
fn an_interrupted_run_ends_as_interrupted() {
    let error = testbed::run(&scenario(CUBIC), &Options::default(), &mut |at| at.at_s < 0.5).unwrap_err();
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
    for transport in ["tcp", "utp"] {
        let flow = |(name, rest): &(&str, &str)| {
            let transport = match rest.contains("udp") {
                true => "role = \"foreground\"\n".to_owned(),
                false => format!("controller = \"cubic\"\ntransport = \"{transport}\"\n"),
            };
            format!("[[flow]]\nname = \"{name}\"\nrtt = \"40 ms\"\n{transport}{rest}\n")
        };
        let mut scenario = scenario(&FORMS.iter().map(flow).collect::<String>());
        scenario.link.rate = "50 Mbit/s".parse().unwrap();
        let simulated = afteryou_sim::run(&scenario, &mut |_| true).unwrap().run;
        let Some(outcome) = run(&scenario) else { return };
        for simulated in &simulated.totals {
            let real = outcome.run.totals.iter().find(|real| real.flow == simulated.flow).unwrap();
            let begun = |totals: &Totals| totals.completions.as_ref().map_or(0, |all| all.begun);
            let [real, simulated] = [real, simulated].map(|one| (begun(one), one.received_bytes as f64));
            println!("{transport}: {real:?}, simulated {simulated:?}");
            assert!(real.0.abs_diff(simulated.0) <= 1, "{transport}: {real:?} beside {simulated:?}");
            let of_bytes = real.1 / simulated.1;
            assert!((0.85..1.15).contains(&of_bytes), "{transport}: {real:?} beside {simulated:?}");
        }
    }
}

#[test]
fn a_flow_that_is_off_sends_nothing() {
    for (when, transport) in [
        ("active = [[\"0 s\", \"3 s\"], [\"6 s\", \"8 s\"]]", "tcp"),
        ("traffic = { on = \"3 s\", off = \"3 s\" }", "tcp"),
        ("active = [[\"0 s\", \"3 s\"], [\"6 s\", \"8 s\"]]", "utp"),
        ("traffic = { on = \"3 s\", off = \"3 s\" }", "utp"),
    ] {
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
    }
}

#[test]
fn what_the_testbed_does_not_do_is_listed_with_its_key() {
    let mut scenario = scenario(CUBIC);
    scenario.record = vec![Record::Losses];
    let cubic = scenario.flow[0].controller.take().unwrap();
    scenario.flow[0].controller = Some(cubic.with("beta", "0.5"));
    let reasons = testbed::supports(&scenario).err().unwrap_or_default();
    let keys: Vec<_> = reasons.into_iter().map(|reason| reason.key).collect();
    assert_eq!(keys, ["record", "flow.cubic.controller"]);
}
