//! Sweeps in folders as people run them: killed, restarted, split and joined.

#[path = "../../../../bench/support/sweep_folder.rs"]
mod sweep_folder;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Twelve runs of some milliseconds each.
const FILE: &str = r#"
name = "a small sweep"
duration = "20 s"
baseline = "without background"
repeat = 3
link = { rate = "5 Mbit/s", buffer = "50 packets" }

[[flow]]
name = "call"
controller = "cubic"
rtt = "20 ms"
start = { uniform = ["0 s", "1 s"] }

[[flow]]
name = "backup"
role = "background"
controller = "ledbat++"
rtt = "20 ms"

[sweep]
"link.rate" = ["2 Mbit/s", "5 Mbit/s"]
"flow.backup.controller" = ["ledbat", "ledbat++"]
"#;

struct Place {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sweep.toml");
        std::fs::write(&file, FILE).expect("written");
        Place { folder, file }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, out: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
        command.arg("sim").arg(&self.file).arg("--out").arg(self.path(out)).args(words);
        command
    }

    fn run(&self, out: &str, words: &[&str]) -> Output {
        self.command(out, words).output().expect("it runs")
    }

    fn start(&self, out: &str, words: &[&str]) -> Child {
        let mut command = self.command(out, words);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
    }

    fn merge(&self, parts: &[&str], out: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
        command.arg("merge").args(parts.iter().map(|part| self.path(part)));
        command.arg("--out").arg(self.path(out)).output().expect("it runs")
    }

    /// Returns every file below a folder with its content.
    fn tree(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        sweep_folder::files(&self.path(name)).expect("a folder")
    }
}

fn same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in one {
        assert!(other[name] == *bytes, "{name} differs");
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_sweep_that_is_killed_again_and_again_has_the_same_bytes_and_repeats_no_finished_run() {
    let place = Place::new();
    let whole = place.run("whole", &["--jobs", "2"]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    let (mut before, mut kills) = (0, 0);
    loop {
        let mut child = place.start("killed", &["--jobs", "1"]);
        // Killed when it has one more run than before, wherever it is in the next one.
        let ended = loop {
            if let Some(status) = child.try_wait().expect("a status") {
                break Some(status);
            }
            if sweep_folder::finished(&place.path("killed")) > before {
                child.kill().expect("killed");
                child.wait().expect("its end");
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let now = sweep_folder::finished(&place.path("killed"));
        assert!(now >= before, "no finished run is lost: {before}, then {now}");
        before = now;
        match ended {
            None => kills += 1,
            Some(status) => {
                assert!(status.success());
                break;
            }
        }
    }
    assert!(kills >= 2, "the sweep was killed {kills} times");
    same(&place.tree("whole"), &place.tree("killed"));
    let csv = std::fs::read_to_string(place.path("killed").join("runs.csv")).unwrap();
    assert_eq!(csv.lines().count(), 13, "each run once: {csv}");
}

#[test]
fn a_finished_sweep_is_not_run_again() {
    let place = Place::new();
    assert!(place.run("out", &[]).status.success());
    let (before, journal) = (place.tree("out"), place.path("out").join("journal"));
    let written = std::fs::metadata(&journal).unwrap().modified().unwrap();
    // The outcome of each run that is made would be printed.
    let again = place.run("out", &["--json"]);
    assert!(again.status.success() && again.stdout.is_empty(), "{}", stderr(&again));
    same(&before, &place.tree("out"));
    assert_eq!(std::fs::metadata(&journal).unwrap().modified().unwrap(), written);
}

#[test]
fn parts_that_are_joined_are_what_one_machine_writes() {
    let place = Place::new();
    assert!(place.run("whole", &[]).status.success());
    for (out, part) in [("one", "1/3"), ("two", "2/3"), ("three", "3/3")] {
        assert!(place.run(out, &["--shard", part]).status.success());
        let csv = std::fs::read_to_string(place.path(out).join("runs.csv")).unwrap();
        assert_eq!(csv.lines().count(), 5, "{csv}");
    }
    let part = place.merge(&["one", "three"], "joined");
    assert_eq!(part.status.code(), Some(3));
    assert!(stderr(&part).contains("4 of 12 runs are missing (2, 5, 8, 11)"), "{}", stderr(&part));
    let rest = place.merge(&["two", "one"], "joined");
    assert!(rest.status.success(), "{}", stderr(&rest));
    same(&place.tree("whole"), &place.tree("joined"));
    // The command itself completes what parts began, too.
    assert_eq!(place.merge(&["one"], "completed").status.code(), Some(3));
    assert!(place.run("completed", &[]).status.success());
    same(&place.tree("whole"), &place.tree("completed"));
}

#[test]
fn another_sweep_in_the_folder_is_refused_and_nothing_is_written() {
    let place = Place::new();
    assert!(place.run("out", &["--no-series"]).status.success());
    let before = place.tree("out");
    for (words, reason) in [
        (&["--no-series", "--seed", "9"][..], "another sweep: settings, seed"),
        (&["--no-series", "--set", "flow.call.rtt=30 ms"][..], "another sweep: settings, seed"),
        (&[][..], "without the files of each run"),
        (&["--no-series", "--shard", "1/2"][..], "all of it of this sweep"),
    ] {
        let refused = place.run("out", words);
        let text = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(reason) && text.contains("choose another folder"), "{text}");
    }
    let single = place.run("out", &["--set", "sweep=none", "--repeat", "1"]);
    assert!(stderr(&single).contains("holds a sweep"), "{}", stderr(&single));
    same(&before, &place.tree("out"));
    assert!(!before.keys().any(|name| name.contains('/')), "no folder for a run: {:?}", before.keys());
}

#[test]
fn parts_of_different_sweeps_and_runs_that_differ_are_not_joined() {
    let place = Place::new();
    assert!(place.run("one", &["--no-series", "--shard", "1/2"]).status.success());
    assert!(place.run("two", &["--no-series", "--shard", "2/2", "--seed", "5"]).status.success());
    let refused = place.merge(&["one", "two"], "out");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("cannot be joined"), "{}", stderr(&refused));
    // A line that was changed has a wrong checksum and counts as missing; here two journals are whole and differ.
    let (manifest, journal) = (place.path("one").join("sweep.json"), place.path("two").join("journal"));
    std::fs::create_dir(place.path("other")).unwrap();
    std::fs::copy(manifest, place.path("other").join("sweep.json")).unwrap();
    assert!(place.run("again", &["--no-series", "--shard", "1/2", "--seed", "5"]).status.success());
    std::fs::copy(place.path("again").join("journal"), place.path("other").join("journal")).unwrap();
    let refused = place.merge(&["one", "other"], "out");
    assert!(stderr(&refused).contains("run 1 differs between"), "{}", stderr(&refused));
    assert!(!place.path("out").exists() && journal.exists());
    let empty = place.merge(&["nothing"], "out");
    assert!(stderr(&empty).contains("holds no sweep"), "{}", stderr(&empty));
}

#[test]
fn parts_in_another_format_are_not_joined() {
    let place = Place::new();
    assert!(place.run("one", &["--no-series"]).status.success());
    let path = place.path("one").join("sweep.json");
    let mut manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    // The first format counts repetitions from 0.
    manifest["format"] = 1.into();
    std::fs::write(&path, manifest.to_string()).unwrap();
    let refused = place.merge(&["one"], "out");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("its tables (runs.csv, flows.csv) are good for plot and compare"),
        "{}",
        stderr(&refused)
    );
    assert!(!place.path("out").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_far_the_sweep_is() {
    let place = Place::new();
    let mut child = place.command("out", &["--jobs", "1", "--set", "duration=2000 s"]);
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs");
    while sweep_folder::finished(&place.path("out")) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("its end");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains(" of 12 runs are in ") && text.contains("the same command continues"), "{text}");
}

fn afteryou(words: &[&std::ffi::OsStr]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_afteryou")).args(words).output().expect("it runs")
}

#[test]
fn a_page_of_a_sweep_without_curves_is_drawn_again_with_the_same_bytes() {
    let place = Place::new();
    assert!(place.run("tables", &["--no-series"]).status.success());
    let before = place.tree("tables");
    for name in ["report.html", "runs.csv", "flows.csv"] {
        std::fs::remove_file(place.path("tables").join(name)).expect("removed");
    }
    let folder = place.path("tables");
    let report = afteryou(&["report".as_ref(), folder.as_os_str()]);
    assert!(report.status.success(), "{}", stderr(&report));
    same(&before, &place.tree("tables"));
    let refused = afteryou(&["report".as_ref(), folder.as_os_str(), "--png".as_ref()]);
    assert!(stderr(&refused).contains("--no-series"), "{}", stderr(&refused));
}

#[test]
fn the_page_of_a_sweep_leads_to_each_run_and_back() {
    let place = Place::new();
    assert!(place.run("linked", &[]).status.success());
    let folder = place.path("linked");
    for again in [false, true] {
        if again {
            let report = afteryou(&["report".as_ref(), folder.as_os_str()]);
            assert!(report.status.success(), "{}", stderr(&report));
        }
        let page = std::fs::read_to_string(folder.join("report.html")).expect("a page");
        let links: Vec<&str> =
            page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(links.len(), 12, "{links:?}");
        for link in links {
            let run = folder.join(link);
            let back = std::fs::read_to_string(&run).expect("the page of a run");
            assert!(back.contains("<a href=\"../report.html\">"), "{link}");
            let up = run.parent().expect("a folder").join("../report.html");
            assert_eq!(
                up.canonicalize().expect("a page"),
                folder.join("report.html").canonicalize().expect("it")
            );
        }
    }
}

#[test]
fn sweeps_are_compared_point_by_point() {
    let place = Place::new();
    assert!(place.run("one", &["--no-series"]).status.success());
    assert!(place.run("other", &["--no-series", "--seed", "50"]).status.success());
    let (one, other, page) = (place.path("one"), place.path("other"), place.path("both.html"));
    let words = ["compare".as_ref(), one.as_os_str(), other.as_os_str(), "--out".as_ref(), page.as_os_str()];
    let output = afteryou(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("background_goodput_bit_s") && text.contains(" ± "), "{text}");
    assert!(std::fs::read_to_string(page).expect("a page").contains("<svg"));
    // A sweep with itself differs nowhere.
    let same = afteryou(&["compare".as_ref(), one.as_os_str(), one.as_os_str()]);
    let text = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(text.contains("+0.0 %") && !text.contains('–'), "{text}");
    let relative = text.lines().filter(|line| line.ends_with(" %"));
    assert!(relative.into_iter().all(|line| line.ends_with(" +0.0 %")), "{text}");
    // One of its runs is no sweep.
    assert!(place.run("whole", &[]).status.success());
    let run = std::fs::read_dir(place.path("whole")).expect("a folder").flatten();
    let run = run.map(|entry| entry.path()).find(|path| path.is_dir()).expect("a run");
    let refused = afteryou(&["compare".as_ref(), run.as_os_str(), one.as_os_str()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("is one run and"), "{}", stderr(&refused));
    // Three runs have a column each, and so have three sweeps.
    let run = run.as_os_str();
    let page = place.path("three.html");
    let words = ["compare".as_ref(), run, run, run, "--figure".as_ref(), "goodput_bit_s".as_ref()];
    let three = afteryou(&[&words[..], &["--out".as_ref(), page.as_os_str()]].concat());
    assert!(three.status.success(), "{}", stderr(&three));
    let text = String::from_utf8_lossy(&three.stdout).into_owned();
    assert!(
        text.contains("(again, 2)") && text.contains("spread") && !text.contains("utilisation"),
        "{text}"
    );
    assert!(std::fs::read_to_string(page).expect("a page").contains("(again, 2)"));
    let words = ["compare".as_ref(), one.as_os_str(), other.as_os_str(), one.as_os_str()];
    let three = afteryou(&[&words[..], &["--figure".as_ref(), "utilisation".as_ref()]].concat());
    assert!(three.status.success(), "{}", stderr(&three));
    let text = String::from_utf8_lossy(&three.stdout).into_owned();
    assert!(text.contains("utilisation") && !text.contains("goodput_bit_s"), "{text}");
    let refusals: [(&[&std::ffi::OsStr], &str); 3] = [
        (&[one.as_os_str(); 7], "7 sweeps are too many: compare up to 6"),
        (&[run; 7], "7 results are too many: compare up to 6"),
        (
            &[run, run, "--figure".as_ref(), "goodput".as_ref()],
            "there is no figure \"goodput\": did you mean",
        ),
    ];
    for (words, expected) in refusals {
        let refused = afteryou(&[&["compare".as_ref()], words].concat());
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
    }
}
