//! Bad input on every road into the program: the place, the value and the valid range in the message, exit code 2, nothing
//! on stdout and nothing on disk.

mod elements;
mod experiments;
mod flows;
mod options;

use std::path::Path;
use std::process::{Command, Output};

/// A file that is right. A case replaces one of its lines.
const RIGHT: &str = r#"name = "right"
duration = "5 s"
# top
[link]
rate = "5 Mbit/s"
buffer = "50 packets"
# link
[[flow]]
name = "a"
controller = "cubic"
rtt = "20 ms"
# flow
"#;

// Lines of the right file.
const RATE: &str = r#"rate = "5 Mbit/s""#;
const BUFFER: &str = r#"buffer = "50 packets""#;
const RTT: &str = r#"rtt = "20 ms""#;
const TOP: &str = "# top";
const LINK: &str = "# link";
const FLOW: &str = "# flow";
const DURATION: &str = r#"duration = "5 s""#;
const CONTROLLER: &str = r#"controller = "cubic""#;

// Ranges that many settings share.
const TIME: &str = "use a time of 0 s to 100000000 s";
const NO_TIME: &str = "a number and a unit, such as 40ms";
const NO_PROBABILITY: &str = "between 0% and 100%";
const PROBABILITY: &str = "a probability of 0% to 100%";
const NO_RATE: &str = "a number and a unit, such as 20Mbit/s";

/// A line of the right file, what takes its place, the text above the carets, and words of the message: the value's valid
/// range, or the valid words.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// Files that are beside each scenario: good ones would be read.
const BESIDE: [(&str, &str); 9] = [
    ("negative.csv", "0,1 Mbit/s\n-1,2 Mbit/s\n"),
    ("unordered.csv", "0,1 Mbit/s\n3,2 Mbit/s\n2,1 Mbit/s\n"),
    ("empty.csv", "# nothing\n"),
    ("nan.csv", "0,nan\n1,1 Mbit/s\n"),
    ("heading.csv", "time,rate\n"),
    ("backwards.trace", "5\n4\n"),
    ("minus.trace", "-5\n4\n"),
    ("minus.samples", "40 ms\n-3 ms\n"),
    ("weights.samples", "40 ms,-1\n"),
];

/// Runs an engine on a scenario of this text in a folder of its own, with `words` after it. Returns the output and whether
/// the run left anything beside its input.
fn run(engine: &str, text: &str, words: &[&str]) -> (Output, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in BESIDE {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    let file = folder.path().join("scenario.toml");
    std::fs::write(&file, text).expect("written");
    let before = entries(folder.path());
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.current_dir(folder.path()).arg(engine).arg(&file).args(["--out", "out"]).args(words);
    let output = command.output().expect("it runs");
    (output, entries(folder.path()) != before)
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Returns the message with which the program refuses a scenario; nothing else came of it.
fn refusal(engine: &str, text: &str, words: &[&str]) -> String {
    let (output, has_left_files) = run(engine, text, words);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}\n{words:?}\n{message}");
    assert!(output.stdout.is_empty(), "{text}\n{words:?}");
    assert!(!has_left_files, "{text}\n{words:?} left files");
    message
}

/// Returns the number of the line that a message shows, and the text above its carets.
fn pointed_at(message: &str) -> Option<(usize, &str)> {
    let lines: Vec<&str> = message.lines().collect();
    let carets = lines.iter().position(|line| line.trim_end().ends_with('^'))?;
    let (shown, marks) = (lines[carets - 1], lines[carets]);
    let (from, to) = (marks.find('^')?, marks.rfind('^')?);
    let number = shown.split('|').next()?.trim().parse().ok()?;
    Some((number, shown.get(from..=to)?))
}

/// Asserts that each case is refused with a pointer to its line.
fn refused(engine: &str, cases: &[Case]) {
    for (old, new, above_the_carets, range) in cases {
        assert!(RIGHT.contains(old), "{old}");
        let text = RIGHT.replace(old, new);
        let message = refusal(engine, &text, &[]);
        let (line, value) = pointed_at(&message).unwrap_or_else(|| panic!("{new}: {message}"));
        assert_eq!(value, *above_the_carets, "{message}");
        let meant = text.lines().nth(line - 1).expect("such a line");
        assert!(new.lines().any(|line| line == meant), "{message}");
        let said = message.lines().next().expect("a line");
        assert!(said.contains(range), "{range}: {message}");
    }
}

#[test]
fn the_file_of_these_cases_is_right_without_them() {
    let (output, has_left_files) = run("sim", RIGHT, &[]);
    assert!(output.status.success() && has_left_files, "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}
