//! Bad words of the command line, networks that do not hang together, and files that contradict no rule and themselves.

use super::*;

const NETWORK: &str = r#"duration = "5 s"
[[link]]
name = "there"
rate = "5 Mbit/s"
buffer = "50 packets"
[[link]]
name = "back"
rate = "5 Mbit/s"
buffer = "50 packets"
[[flow]]
name = "a"
controller = "cubic"
rtt = "20 ms"
path = { forward = ["there"], reverse = ["back"] }
"#;

#[test]
fn a_path_names_links_that_are_there_each_once() {
    let right = r#"path = { forward = ["there"], reverse = ["back"] }"#;
    for (path, value, words) in [
        (r#"path = { forward = ["their"], reverse = ["back"] }"#, r#""their""#, "did you mean \"there\"?"),
        (r#"path = { forward = ["there"], reverse = ["x"] }"#, r#""x""#, "use one of there, back"),
        (r#"path = { forward = [], reverse = ["back"] }"#, "[]", "name one at least"),
        (
            r#"path = { forward = ["there", "back", "there"], reverse = ["back"] }"#,
            r#""there""#,
            "there twice",
        ),
        (r#"path = { forward = ["there"], reverse = ["back"], delay = "-1 ms" }"#, r#""-1 ms""#, TIME),
        (r#"path = { forward = ["there"] }"#, r#"{ forward = ["there"] }"#, "reverse is missing"),
        (r#"path = {}"#, "{}", "forward is missing"),
        (r#"direction = "down""#, r#""down""#, "path says which links data cross"),
    ] {
        let message = refusal("sim", &NETWORK.replace(right, path), &[]);
        assert_eq!(pointed_at(&message), Some((14, value)), "{message}");
        assert!(message.contains(words), "{message}");
    }
    let message = refusal("sim", &NETWORK.replace("name = \"back\"", "name = \"there\""), &[]);
    assert_eq!(pointed_at(&message), Some((7, "\"there\"")), "{message}");
    assert!(message.contains("rename one"), "{message}");
}

#[test]
fn an_option_that_is_wrong_is_named_with_its_valid_range() {
    for (words, range) in [
        (&["--shard", "3/2"][..], "with I from 1 to N"),
        (&["--shard", "0/2"], "with I from 1 to N"),
        (&["--repeat", "0"], "from 1 to 100000"),
        (&["--repeat", "1000000000"], "from 1 to 100000"),
        (&["--jobs", "0"], "from 1 to 1024"),
        (&["--seed=-1"], "\"-1\" is not a whole number"),
        (&["--set", "link.rate=0"], "such as 20Mbit/s"),
        (&["--set", "link.loss=120 %"], PROBABILITY),
        (&["--set", "link.lost=1"], "did you mean \"loss\"?"),
        (&["--set", "flow.b.rtt=1 ms"], "use one of a"),
        (&["--set", "link.rate"], "write key=value"),
        (&["--set", "link.rate=none"], "rate is missing"),
        (&["--set", "flow.a.rtt=none"], "\"none\" takes a whole flow away"),
        (&["--trace", "t.pcapng", "--repeat", "2"], "this command line has 2"),
        (&["--qlog", "q", "--set", "sweep.link.loss=[\"0 %\", \"1 %\"]"], "this command line has 2"),
    ] {
        let message = refusal("sim", RIGHT, words);
        assert!(message.contains(range), "{words:?}: {message}");
    }
}

#[test]
fn a_second_file_that_is_wrong_keeps_the_first_from_running() {
    let message = refusal("sim", RIGHT, &["missing.toml"]);
    assert!(message.contains("missing.toml: "), "{message}");
}

/// Returns the warnings of a run that succeeds.
fn warnings(text: &str, words: &[&str]) -> String {
    let (output, _) = run("sim", text, words);
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

#[test]
fn what_is_valid_and_seldom_meant_is_warned_about() {
    let ecn = RIGHT.replace("# flow", "transport = { kind = \"tcp\", ecn = true }");
    assert!(warnings(&ecn, &[]).contains("ECN changes nothing for flow \"a\""));
    assert!(warnings(RIGHT, &["--repeat", "2"]).contains("nothing in this file is random"));
    let endless = RIGHT.replace(BUFFER, "buffer = \"5 s\"");
    assert!(warnings(&endless, &[]).contains("no loss ever stops flow \"a\""));
    let sweep = format!("{ecn}[sweep]\n\"link.queue\" = [\"fq_codel\", \"droptail\"]\n");
    assert!(warnings(&sweep, &[]).contains("(at 1 of 2 points of the sweep, such as link.queue = droptail)"));
    let late = RIGHT.replace("# flow", "start = \"5 s\"");
    assert!(warnings(&late, &[]).contains("no data arrived in the whole run of flow \"a\""));
}

#[test]
fn a_window_that_ran_away_is_in_the_result_and_on_the_page() {
    // 9 s of buffer in a run of 10 s, of which slow start fills less than half.
    let endless = RIGHT.replace(DURATION, "duration = \"10 s\"").replace(BUFFER, "buffer = \"9 s\"");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scenario.toml");
    std::fs::write(&file, endless).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    let output = command.current_dir(folder.path()).args(["sim", "scenario.toml", "--out", "out"]).output();
    let output = output.expect("it runs");
    let warning = "the window of flow \"a\" grew to ";
    assert!(stderr(&output).contains(warning), "{}", stderr(&output));
    let result = std::fs::read_to_string(folder.path().join("out/result.json")).expect("a result");
    let outcome = afteryou_scenario::Outcome::from_json(&result).expect("an outcome");
    assert!(outcome.warnings[0].contains("no packet was lost"), "{:?}", outcome.warnings);
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).expect("a page");
    assert!(
        page.contains("<p class=\"warning\">the window of flow &quot;a&quot; grew to "),
        "{}",
        page.len()
    );
}
