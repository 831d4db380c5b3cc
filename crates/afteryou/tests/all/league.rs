//! `afteryou league` as people run it: what goes wrong is said and loses nothing.

use afteryou_files::lock;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Returns the command of the quick league of one controller, with its runs in `cache`.
fn league(cache: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.args(["league", "vegas", "--quick", "--cache"]).arg(cache).args(words);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn run(cache: &Path, words: &[&str]) -> Output {
    league(cache, words).output().expect("it runs")
}

/// Returns the runs that a cache holds.
fn kept(cache: &Path) -> usize {
    let file = fs::read_dir(cache).ok().and_then(|mut files| files.next()?.ok());
    file.map_or(0, |file| fs::read(file.path()).unwrap().iter().filter(|byte| **byte == b'\n').count())
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest_and_three_draws_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |words: &[&str]| {
        let output = run(dir.path(), words);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert!(refused(&["vegass"]).contains("did you mean"));
    assert!(refused(&["vegas"]).contains("twice"));
    let three = ["--grid-seed", "1", "--grid-seed", "2", "--grid-seed", "3"];
    assert!(refused(&three).contains("two seeds"));
    assert!(refused(&["--grid-seed-of", "HEAD"]).contains("git rev-parse HEAD"));
    let three_of = ["1", "2", "3"].map(|k| format!("59efc998a1b2c3d4,{k}"));
    let three_of: Vec<&str> = three_of.iter().flat_map(|of| ["--grid-seed-of", of.as_str()]).collect();
    assert!(refused(&three_of).contains("two seeds"));
    assert_eq!(kept(dir.path()), 0);
}

#[test]
fn single_cells_are_run_by_name_and_an_unknown_one_is_answered_with_the_range() {
    let dir = tempfile::tempdir().unwrap();
    let two = run(dir.path(), &["--cell", "train-081", "--cell", "train-028"]);
    assert!(two.status.success(), "{}", text(&two.stderr));
    // Each with the background and without.
    assert_eq!(kept(dir.path()), 4);
    let unknown = run(dir.path(), &["--cell", "train-81"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("from train-001 to train-200"), "{}", text(&unknown.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupted_league_continues_writes_everything_and_is_there_at_once_the_next_time() {
    let dir = tempfile::tempdir().unwrap();
    let (cache, out) = (dir.path().join("cache"), dir.path().join("out"));
    let out_words = ["--slices", "--out", out.to_str().unwrap()];
    let child = league(&cache, &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while kept(&cache) < 5 {
        std::thread::sleep(Duration::from_millis(20));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    let interrupted = child.wait_with_output().unwrap();
    assert_eq!(interrupted.status.code(), Some(130));
    assert!(text(&interrupted.stderr).contains("the same command continues from there"));
    let before = kept(&cache);
    assert!(before >= 5);

    let whole = run(&cache, &out_words);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    assert!(text(&whole.stdout).contains("vegas"), "{}", text(&whole.stdout));
    let all = kept(&cache);
    let again = run(&cache, &["--slices"]);
    assert_eq!((text(&again.stdout), kept(&cache)), (text(&whole.stdout), all), "nothing is made twice");

    // A worst cell is a file that runs by itself.
    let scenario = fs::read_dir(out.join("scenarios")).unwrap().next().unwrap().unwrap().path();
    let alone = Command::new(env!("CARGO_BIN_EXE_afteryou")).arg("sim").arg(&scenario).output().unwrap();
    assert!(alone.status.success(), "{}", text(&alone.stderr));
    assert!(text(&whole.stdout).contains("Slices: train, seed 1"), "{}", text(&whole.stdout));
    for name in ["index.html", "summary.md", "slices.csv", "cells.csv", "cells.parquet", "answers/call.md"] {
        assert!(fs::metadata(out.join(name)).unwrap().len() > 100, "{name}");
    }

    let held = File::create(out.join(".league.lock")).unwrap();
    assert!(lock::take(&held));
    let second = run(&cache, &out_words);
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("another league is writing"), "{}", text(&second.stderr));
}

#[cfg(unix)]
#[test]
fn a_cache_without_room_is_said_and_the_table_is_there_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_afteryou");
    // A file may hold 8 blocks of 512 bytes.
    let shell = format!("trap '' XFSZ; ulimit -f 8; exec {program} league vegas --quick --cache \"$1\"");
    let output = Command::new("sh").args(["-c", &shell, "sh"]).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("vegas"));
    assert!(text(&output.stderr).contains("are not all kept"), "{}", text(&output.stderr));
}
