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
        (&["--repeat", "0"], "1..=100000"),
        (&["--repeat", "1000000000"], "1..=100000"),
        (&["--jobs", "0"], "1..=1024"),
        (&["--seed=-1"], "--seed"),
        (&["--set", "link.rate=0"], "such as 20Mbit/s"),
        (&["--set", "link.loss=120 %"], PROBABILITY),
        (&["--set", "link.lost=1"], "did you mean \"loss\"?"),
        (&["--set", "flow.b.rtt=1 ms"], "use one of a"),
        (&["--set", "link.rate"], "write key=value"),
        (&["--set", "link.rate=none"], "rate is missing"),
        (&["--set", "flow.a.rtt=none"], "\"none\" takes a whole flow away"),
        (&["--trace", "t.pcapng", "--repeat", "2"], "stands for 2"),
        (&["--qlog", "q", "--set", "sweep.link.loss=[\"0 %\", \"1 %\"]"], "stands for 2"),
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

/// The warnings of a run that succeeds.
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
    let late = RIGHT.replace("# flow", "start = \"5 s\"");
    assert!(warnings(&late, &[]).contains("no data arrived in the whole run of flow \"a\""));
}
