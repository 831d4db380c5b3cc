//! `afteryou fluid` as people run it.

use afteryou_fluid::{explain, Analysis, Options};
use afteryou_scenario::Outcome;
use std::process::{Command, Output};

const TWO: &str = "name = \"two\"\nduration = \"60 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"500 packets\"\n
    [[flow]]\nname = \"a\"\nrole = \"background\"\nrtt = \"50 ms\"\ncount = 2\n
    controller = { kind = \"fledbat\", target = \"25 ms\", zeta = 0.1 }\n
    [fluid]\nrtt = \"constant\"\nfeedback = \"at-once\"\nbase = \"known\"\nqueue = \"10 packets\"\ntrials = 3\n
    window = { uniform = [\"1 packet\", \"60 packets\"] }\n";

fn fluid(text: &str, words: &[&str]) -> Output {
    run("fluid", text, words)
}

fn run(engine: &str, text: &str, words: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.toml");
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    Command::new(env!("CARGO_BIN_EXE_afteryou")).arg(engine).args(words).arg(path).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn every_trial_starts_elsewhere_and_all_come_to_the_same_rest() {
    let output = fluid(TWO, &["--json", "--set", "measure={ from = \"50 s\" }"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let outcomes: Vec<Outcome> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("an outcome")).collect();
    assert_eq!(outcomes.len(), 3);
    let windows: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome.scenario.fluid.clone().expect("start values").windows)
        .collect();
    assert!(windows[0] != windows[1] && windows[1] != windows[2], "{windows:?}");
    for outcome in outcomes {
        assert_eq!(outcome.engine, "fluid");
        let queue = outcome.run.windows[0].bottleneck().unwrap().queue_packets.expect("a queue");
        assert!((queue - 30.8333).abs() < 0.01, "C·τ + N·α·τ/(ζ·R) = 30.83 packets, not {queue}");
    }
}

#[test]
fn explain_says_what_to_expect_without_running_anything() {
    let output = fluid(TWO, &["--explain"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in ["30.83 packets", "0.7035 s", "0.4800 1/s", "416.7 packets/s", "fledbat × 2, 50 ms"] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
}

#[test]
fn what_has_no_equations_is_refused_by_name_with_what_has() {
    let refused = |text_of: &str, parts: &[&str]| {
        let output = fluid(text_of, &[]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    };
    refused(
        &TWO.replace("{ kind = \"fledbat\", target = \"25 ms\", zeta = 0.1 }", "\"nice\""),
        &["nice", "ledbat++", "cubic"],
    );
    refused(&TWO.replace("\"500 packets\"", "\"500 packets\"\nqueue = \"codel\""), &["codel", "droptail"]);
    refused(&TWO.replace("at-once", "at once"), &["did you mean \"at-once\""]);
    refused(&TWO.replace("\"10 packets\"", "\"10\""), &["packets, such as \"10 packets\""]);
    let with = |line: &str| TWO.replace("[fluid]", &format!("[fluid]\n{line}"));
    refused(&with("pacing = \"by-transprot\""), &["^", "did you mean \"by-transport\""]);
    for floor in ["0 packets", "0.0001 packets", "1001 packets", "-1 packets", "0.1"] {
        refused(
            &with(&format!("floor = \"{floor}\"")),
            &["^", &format!("\"{floor}\""), "0.001 to 1000 packets, such as \"0.1 packets\""],
        );
    }
}

#[test]
fn explain_says_who_steps_aside_and_who_cannot() {
    let mixed = |buffer: &str| {
        let cubic = "[[flow]]\nname = \"upload\"\ncontroller = \"cubic\"\nrtt = \"50 ms\"\n[fluid]";
        let file = TWO.replace("[fluid]", cubic).replace("\"500 packets\"", buffer);
        text(&fluid(&file, &["--explain"]).stdout)
    };
    let (roomy, tight) = (mixed("\"500 packets\""), mixed("\"20 packets\""));
    assert!(roomy.contains("expect it to step aside") && !roomy.contains("as TCP does"), "{roomy}");
    assert!(tight.contains("as TCP does") && !tight.contains("step aside"), "{tight}");
}

/// Simulates flows on 10 Mbit/s in packets of 1500 bytes, on paths of 50 ms, the first of them `count` times. Returns rates
/// in packets per second, the mean delay in ms of the last ten seconds of a minute and a half, and the analysis.
fn simulated(count: u32, flows: [&str; 2]) -> (Vec<f64>, f64, Analysis) {
    let one = |name: &str, words: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nrole = \"background\"\nrtt = \"50 ms\"\n\
             packet = {{ payload = \"1400 B\", overhead = \"100 B\" }}\n{words}\n"
        )
    };
    let first = format!("count = {count}\n{}", flows[0]);
    let file = format!(
        "name = \"together\"\nduration = \"90 s\"\nmeasure = {{ from = \"80 s\" }}\n[link]\nrate = \"10 Mbit/s\"\n\
         buffer = \"400 ms\"\n{}{}",
        one("a", &first),
        one("b", flows[1])
    );
    let output = run("sim", &file, &["--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let outcome: Outcome = serde_json::from_str(&text(&output.stdout)).expect("an outcome");
    let window = &outcome.run.windows[0];
    let rates = window.flows.iter().map(|flow| flow.goodput_bit_s / 8.0 / 1400.0).collect();
    let scenario = outcome.scenario.checked().expect("a scenario");
    let analysis = explain(&scenario, &Options::default()).expect("closed forms");
    (rates, window.bottleneck().unwrap().queuing_delay.expect("a delay").mean_ms, analysis)
}

fn controlled(controller: &str) -> String {
    format!("controller = \"{controller}\"\ntransport = {{ kind = \"utp\", ack = \"every packet\" }}")
}

/// Returns the rate that the analysis has for a flow of the group whose name begins so.
fn said_of(analysis: &Analysis, group: &str) -> f64 {
    let of = analysis
        .quantities
        .iter()
        .find(|quantity| quantity.what == "rate of a flow, together" && quantity.of.starts_with(group));
    of.unwrap_or_else(|| panic!("{group} in {analysis:?}")).value
}

#[test]
fn what_is_said_of_two_delay_based_flows_is_what_the_simulator_shows() {
    for (first, second) in [
        ("ledbat,target=100ms", "ledbat++"),
        ("ledbat,target=25ms", "ledbat++,slowdowns=false"),
        ("ledbat,target=25ms", "fledbat,target=100ms,zeta=0.1"),
        ("ledbat,target=25ms", "fledbat,target=25ms,zeta=0.1"),
        ("ledbat,target=100ms", "fledbat,target=25ms,zeta=0.01"),
        ("fledbat,target=60ms,zeta=0.1", "ledbat++"),
    ] {
        let (rates, delay_ms, analysis) = simulated(1, [&controlled(first), &controlled(second)]);
        let said_ms = analysis.value("together", "delay at rest").expect("a delay");
        assert!((said_ms / delay_ms - 1.0).abs() < 0.02, "{first}, {second}: {said_ms}, {delay_ms} ms");
        for (controller, rate) in [first, second].iter().zip(&rates) {
            let said = said_of(&analysis, controller.split(',').next().unwrap_or_default());
            // Within a twentieth, or half a packet in a round trip.
            let packets = (said - rate) * (0.050 + delay_ms / 1e3);
            assert!((said / rate - 1.0).abs() < 0.05 || packets.abs() < 0.5, "{controller}: {said}, {rate}");
        }
    }
}

#[test]
fn what_is_said_beside_constant_rates_is_what_the_simulator_shows() {
    let stream = |kbit: u32| {
        format!("traffic = {{ cbr = \"{kbit} kbit/s\", payload = \"1400 B\" }}\ntransport = \"udp\"")
    };
    // 4 Mbit/s with headers.
    let (rates, delay_ms, analysis) =
        simulated(2, [&controlled("fledbat,target=25ms,zeta=0.1"), &stream(3_733)]);
    let said_ms = analysis.value("together", "delay at rest").expect("a delay");
    assert!((said_ms / delay_ms - 1.0).abs() < 0.05, "{said_ms}, {delay_ms} ms");
    let said = said_of(&analysis, "fledbat");
    for rate in &rates[..2] {
        assert!((said / rate - 1.0).abs() < 0.05, "{said}, {rates:?}");
    }
    // 12 Mbit/s: nothing is left, and the buffer is full.
    let (rates, delay_ms, analysis) = simulated(1, [&controlled("ledbat++"), &stream(11_200)]);
    assert!(analysis.notes.iter().any(|note| note.contains("nothing is left over")), "{:?}", analysis.notes);
    assert!(rates[0] < 0.01 * 833.0 && delay_ms > 0.99 * 400.0, "{rates:?}, {delay_ms} ms");
}
