//! `afteryou fluid` as people run it.

use afteryou_scenario::Outcome;
use std::process::{Command, Output};

const TWO: &str = "name = \"two\"\nduration = \"60 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"500 packets\"\n
    [[flow]]\nname = \"a\"\nrole = \"background\"\nrtt = \"50 ms\"\ncount = 2\n
    controller = { kind = \"fledbat\", target = \"25 ms\", zeta = 0.1 }\n
    [fluid]\nrtt = \"constant\"\nfeedback = \"at-once\"\nbase = \"known\"\nqueue = \"10 packets\"\ntrials = 3\n
    window = { uniform = [\"1 packet\", \"60 packets\"] }\n";

fn fluid(text: &str, words: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.toml");
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    Command::new(env!("CARGO_BIN_EXE_afteryou")).arg("fluid").args(words).arg(path).output().expect("it runs")
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
        let queue = outcome.run.windows[0].queue_packets.expect("a queue");
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
