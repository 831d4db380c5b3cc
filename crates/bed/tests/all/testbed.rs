//! Whole scenarios with the kernel's TCP, where the user may make namespaces.

use afteryou_bed::run::Options;
use afteryou_bed::{testbed, Error};
use afteryou_scenario::outcome::Outcome;
use afteryou_scenario::{Algorithm, Experiment, Scenario};

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
fn what_the_testbed_does_not_do_is_listed_with_its_key() {
    let flow = CUBIC.replace("\"tcp\"\n", "\"tcp\"\ntraffic = { on = \"1 s\", off = \"1 s\" }\n");
    let reasons = testbed::supports(&scenario(&flow)).err().unwrap_or_default();
    let keys: Vec<_> = reasons.into_iter().map(|reason| reason.key).collect();
    assert_eq!(keys, ["flow.cubic.traffic"]);
    assert_eq!(testbed::supports(&scenario(&format!("{CUBIC}{LEDBAT}"))), Ok(()));
}
