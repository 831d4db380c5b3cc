//! The built command: exit codes, messages, output.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Command, Output, Stdio};

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.args(words);
    command
}

fn run(words: &[&str]) -> Output {
    command(words).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("stdout is text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("stderr is text")
}

/// Asserts that the command refuses `words` with exit code 2, nothing on stdout and one line on stderr.
fn refusal(words: &[&str]) -> String {
    let output = run(words);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
    assert_eq!(stdout(&output), "", "{words:?}");
    assert_eq!(message.lines().count(), 1, "{words:?}: {message}");
    message.trim_end().to_owned()
}

#[test]
fn an_unknown_controller_is_answered_with_the_nearest() {
    let said = refusal(&["demo", "--controller", "cubik"]);
    let expected =
        "afteryou: --controller: there is no controller \"cubik\": did you mean \"cubic\"? use one of ";
    assert!(said.starts_with(expected), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_a_full_disk_does_not_take_is_exit_code_1_for_every_command_that_prints() {
    for words in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["help"],
        &["help", "send"],
        &["send", "--help"],
        &["ctl", "-h"],
        &["list"],
        &["completions", "bash"],
        &["man"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = command(words).stdout(full).output().expect("the command starts");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {message}");
        assert!(message.starts_with("afteryou: cannot write"), "{words:?}: {message}");
    }
}

#[test]
fn controllers_take_their_own_parameters_within_their_ranges() {
    let said = refusal(&["demo", "--controller", "ledbat++,tarjet=40ms"]);
    assert!(
        said.contains("there is no parameter of ledbat++ \"tarjet\": did you mean \"target\"?"),
        "{said}"
    );
    let said = refusal(&["demo", "--controller", "ledbat++,target=4s"]);
    assert!(said.contains("ledbat++: target = 4000 ms is outside its range: use 1 ms to 100 ms"), "{said}");
    let said = refusal(&["demo", "--controller", "ledbat++,target"]);
    assert!(said.contains("name=value"), "{said}");
}

#[test]
fn quantities_want_their_unit() {
    let said = refusal(&["demo", "--rate", "20"]);
    assert_eq!(said, "afteryou: --rate: \"20\" is not a rate: write a number and a unit, such as 20Mbit/s");
    let said = refusal(&["demo", "--rtt=40"]);
    assert_eq!(said, "afteryou: --rtt: \"40\" is not a time: write a number and a unit, such as 40ms or 30s");
    assert!(refusal(&["demo", "--loss", "0.05"]).starts_with("afteryou: --loss: "));
    assert!(refusal(&["demo", "--buffer", "100"]).contains("such as 500ms, 100packets or 64KiB"));
}

#[test]
fn values_that_show_nothing_are_refused() {
    assert_eq!(
        refusal(&["demo", "--seconds", "23"]),
        "afteryou: --seconds: 23 is too short to show anything: use 24 to 3600 seconds"
    );
    assert!(refusal(&["demo", "--rate", "0Mbit/s"]).contains("is too slow to show anything"));
    assert!(
        refusal(&["demo", "--buffer", "10B"]).starts_with("afteryou: --buffer: 10 B at 20 Mbit/s is less")
    );
}

#[test]
fn a_file_that_is_not_there_is_a_mistake_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let said = refusal(&["demo", "--file", missing.to_str().unwrap()]);
    assert!(said.ends_with("missing\": there is no such file"), "{said}");
    let said = refusal(&["demo", "--file", folder.path().to_str().unwrap()]);
    assert!(said.ends_with("is a directory: name a file"), "{said}");
}

#[test]
fn an_unknown_option_or_subcommand_is_a_usage_error() {
    for words in [&["demo", "--rat", "3"][..], &["dmo"], &[]] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_eq!(stdout(&output), "", "{words:?}");
    }
    assert!(stderr(&run(&["demo", "--rat", "3"])).contains("'--rate'"));
}

#[test]
fn lists_name_every_algorithm() {
    let controllers = run(&["list", "controllers"]);
    assert_eq!((controllers.status.code(), stderr(&controllers).as_str()), (Some(0), ""));
    for entry in afteryou_cc::list::CONTROLLERS {
        assert!(stdout(&controllers).contains(&format!("{} (", entry.name)), "{}", entry.name);
        assert!(stdout(&controllers).contains(entry.summary), "{}", entry.name);
    }
    let queues = stdout(&run(&["list", "queues"]));
    for entry in afteryou_aqm::list::QUEUES {
        assert!(queues.lines().any(|line| line == entry.name), "{}", entry.name);
        for preset in entry.presets {
            assert!(
                queues.contains(&format!("\n  preset={}: ", preset.name)),
                "{}, {}",
                entry.name,
                preset.name
            );
        }
    }
}

#[test]
fn lists_are_json_for_programs() {
    for (word, count) in
        [("controllers", afteryou_cc::list::CONTROLLERS.len()), ("queues", afteryou_aqm::list::QUEUES.len())]
    {
        let output = run(&["list", word, "--json"]);
        assert_eq!(output.status.code(), Some(0));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json.as_array().map(Vec::len), Some(count), "{word}");
    }
}

#[test]
fn json_of_queues_has_every_preset_with_all_its_values() {
    let output = run(&["list", "queues", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (entry, listed) in afteryou_aqm::list::QUEUES.iter().zip(json.as_array().unwrap()) {
        let presets = listed["presets"].as_array().unwrap_or_else(|| panic!("{}", entry.name));
        let presets = presets.iter().map(|preset| {
            let values = preset["values"].as_object().unwrap().keys().map(String::as_str);
            (preset["name"].as_str().unwrap(), preset["help"].as_str().unwrap(), values.collect())
        });
        let expected = entry.presets.iter().map(|preset| {
            let values = preset.rows.iter().map(|(name, _)| *name);
            (preset.name, preset.help, values.collect::<BTreeSet<_>>())
        });
        assert!(presets.eq(expected), "{}", entry.name);
    }
}

#[test]
fn without_a_list_all_names_are_printed_and_with_a_name_that_entry_alone() {
    let names = stdout(&run(&["list"]));
    for name in ["controllers", "ledbat++", "fq_codel", "utp", "afteryou list NAME"] {
        assert!(names.contains(name), "{name}: {names}");
    }
    let one = stdout(&run(&["list", "pie"]));
    assert!(one.starts_with("pie\n") && one.contains("parameter") && !one.contains("fq_pie\n"), "{one}");
}

#[test]
fn an_unknown_list_is_answered_with_the_nearest() {
    let message = refusal(&["list", "queus"]);
    let expected = "afteryou: there is no list or entry \"queus\": did you mean \"queues\"? use one of controllers, queues";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn help_and_version_go_to_stdout() {
    let version = run(&["--version"]);
    assert_eq!(stdout(&version).trim_end(), concat!("afteryou ", env!("CARGO_PKG_VERSION")));
    for words in [&["--help"][..], &["demo", "--help"]] {
        let help = run(words);
        assert_eq!(help.status.code(), Some(0));
        for said in ["Examples:", "Exit codes:"] {
            assert!(stdout(&help).contains(said), "{words:?}: {said}");
        }
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    for words in [&["list", "controllers"][..], &["list", "controllers", "--json"], &["demo", "--help"]] {
        let mut child =
            command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        // Gone before anything was written, or after a little of it: both are what `head` does.
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_study_on_real_packets_refuses_what_it_does_not_have() {
    let bed = ["study", "--engine", "bed"];
    let with = |words: &[&'static str]| refusal(&[&bed[..], words].concat());
    assert!(with(&["gong2012"]).contains("none of these is in the bed set"));
    assert!(with(&["--quick"]).contains("leave --quick"));
    assert!(refusal(&["study", "--all"]).contains("--all belongs to --engine bed"));
}

#[test]
fn a_study_without_a_name_does_not_start_hours_of_work() {
    let out = tempfile::tempdir().unwrap();
    let book = out.path().join("book").to_str().unwrap().to_owned();
    for words in [
        &["study"][..],
        &["study", "--check"],
        &["study", "--full-repeats"],
        &["study", "--second-seeds"],
        &["study", "--json", "--jobs", "1"],
        &["study", "--out", &book],
    ] {
        let refusal = refusal(words);
        assert!(refusal.contains("take hours") && refusal.contains("afteryou study all"), "{refusal}");
    }
    assert!(refusal(&["study", "--engine", "bed"]).contains("afteryou study --engine bed all"));
    assert!(!out.path().join("book").exists());
    assert!(stdout(&run(&["study", "all", "--list"])).contains("gong2012/fig2"));
}

#[test]
fn a_study_whose_book_cannot_be_written_ends_before_it_begins() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = run(&["study", "--quick", "--out", file.path().join("book").to_str().unwrap()]);
    assert_eq!(stdout(&output), "", "no finding");
    assert!(
        stderr(&output).contains("cannot") && stderr(&output).lines().count() == 1,
        "{}",
        stderr(&output)
    );
    assert!(!output.status.success());
}

#[test]
fn the_bed_set_and_the_days_of_everything_are_printed() {
    let list = stdout(&run(&["study", "--engine", "bed", "--list", "--json"]));
    let lines: Vec<serde_json::Value> =
        list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["entry"] == "alsaadi2017/fig2" && line["check"] == "pie-libutp"));
    assert!(lines.iter().all(|line| line["seconds"].as_f64() >= Some(30.0)));
    assert!(stdout(&run(&["study", "--engine", "bed", "--all"])).contains("days on real packets"));
}
