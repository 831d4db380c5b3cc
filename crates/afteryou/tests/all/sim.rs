//! `afteryou sim` as people run it.

use afteryou_scenario::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn example(name: &str) -> String {
    format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn sim(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_afteryou")).arg("sim").args(words).output().expect("it runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Writes a small experiment in a folder of its own.
fn small(extra: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.toml");
    let text = format!(
        "name = \"small\"\nduration = \"5 s\"\n{extra}\n[link]\nrate = \"5 Mbit/s\"\nbuffer = \"50 packets\"\n
         [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\nstart = {{ uniform = [\"0 s\", \"1 s\"] }}\n"
    );
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    (folder, path)
}

/// Returns the files without the list of them.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|file| file.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.retain(|name| name != ".afteryou.files");
    names.sort();
    names
}

#[test]
fn one_run_gives_words_and_four_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = sim(&[&example("home-uplink"), "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("packet simulation") && text.contains("Report: "), "{text}");
    assert_eq!(stderr(&output), "", "nothing on stderr unless somebody watches");
    assert_eq!(files(&out), ["figure.svg", "report.html", "result.json", "series.csv"]);
    let csv = std::fs::read_to_string(out.join("series.csv")).unwrap();
    assert!(
        csv.starts_with("run,time_s,of,quantity,unit,value\n") && csv.contains("\nbaseline,"),
        "{}",
        &csv[..200]
    );
}

#[test]
fn the_same_file_and_seed_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let result = |name: &str, jobs: &str| -> Vec<u8> {
        let out = folder.path().join(name);
        let output = sim(&[&example("latecomer"), "--out", out.to_str().unwrap(), "--jobs", jobs]);
        assert!(output.status.success(), "{}", stderr(&output));
        let run = files(&out).into_iter().find(|name| name.starts_with("10-")).expect("the last run");
        std::fs::read(out.join(run).join("result.json")).unwrap()
    };
    let first = result("first", "1");
    assert_eq!(first, result("second", "2"));
    let text = String::from_utf8(first).unwrap();
    let outcome: Outcome = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome.point["flow.*.controller"], "ledbat++");
}

#[test]
fn results_for_programs_come_one_in_a_line_in_the_order_of_the_runs() {
    let (_folder, path) = small("");
    let lines =
        |jobs: &str| stdout(&sim(&[&path, "--json", "--repeat", "4", "--seed", "10", "--jobs", jobs]));
    let text = lines("3");
    assert_eq!(text, lines("1"));
    let outcomes: Vec<Outcome> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seeds: Vec<(u64, u32)> =
        outcomes.iter().map(|outcome| (outcome.scenario.seed, outcome.repetition)).collect();
    assert_eq!(seeds, [(10, 1), (11, 2), (12, 3), (13, 4)]);
    assert_ne!(outcomes[0].scenario.flow[0].start, outcomes[1].scenario.flow[0].start);
}

#[test]
fn settings_are_replaced_and_many_files_get_a_folder_each() {
    let (folder, path) = small("");
    let output = sim(&[&path, "--json", "--set", "link.rate=2 Mbit/s", "--set", "flow.a.rtt=\"30 ms\""]);
    let outcome: Outcome = serde_json::from_str(stdout(&output).trim()).unwrap();
    assert_eq!(outcome.scenario.link.rate.bits_per_second(), 2_000_000);
    assert_eq!(outcome.scenario.flow[0].rtt, "30 ms".parse().unwrap());
    let out: PathBuf = folder.path().join("out");
    let output = sim(&[&path, &example("scripted-loss"), "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(files(&out), ["scripted-loss", "small"]);
    // Once more into the same place.
    assert!(sim(&[&path, &example("scripted-loss"), "--out", out.to_str().unwrap()]).status.success());
}

#[test]
fn a_sweep_gives_a_page_a_table_and_a_folder_for_each_run() {
    let (folder, path) = small("sweep.\"link.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]");
    let out = folder.path().join("out");
    let output = sim(&[&path, "--repeat", "3", "--out", out.to_str().unwrap()]);
    let text = stdout(&output);
    assert!(
        text.contains("6 runs")
            && text.contains("\n  rate ")
            && text.contains("\n  1 Mbit/s ")
            && text.contains('±'),
        "{text}"
    );
    let names = files(&out);
    assert_eq!(names[6..], ["flows.csv", "journal", "report.html", "runs.csv", "sweep.json"], "{names:?}");
    assert_eq!(names[0], "1-link.rate-1-mbit-s-seed-1");
    for (table, start) in [
        ("runs.csv", "link.rate_bit_s,run,repetition,seed,key,engine,controller,"),
        (
            "flows.csv",
            "link.rate_bit_s,run,repetition,seed,key,engine,window,from_s,to_s,flow,group,role,controller,controller_parameters,link,",
        ),
    ] {
        let csv = std::fs::read_to_string(out.join(table)).unwrap();
        assert_eq!(csv.lines().count(), 7, "{csv}");
        assert!(csv.starts_with(start) && csv.contains("\n1000000,2,2,2,"), "{csv}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("href=\"1-link.rate-1-mbit-s-seed-1/report.html\""));
    let of_run = std::fs::read_to_string(out.join(&names[0]).join("report.html")).unwrap();
    assert!(of_run.contains("href=\"../report.html\""));
}

#[test]
fn mistakes_are_shown_at_their_line_and_nothing_is_written() {
    let (folder, path) = small("seeed = 3");
    let out = folder.path().join("out");
    let output = sim(&[&path, "--out", out.to_str().unwrap()]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("did you mean \"seed\"?") && text.contains("small.toml:3:1"), "{text}");
    assert!(text.contains("3 | seeed = 3\n  | ^^^^^"), "{text}");
    assert!(!out.exists() && stdout(&output).is_empty());
    for (words, code) in [(&["none.toml"][..], 2), (&[][..], 2), (&[&path as &str, "--jobs", "0"][..], 2)] {
        assert_eq!(sim(words).status.code(), Some(code), "{words:?}");
    }
}

#[test]
fn a_folder_that_takes_no_files_is_found_out_before_anything_runs() {
    let (folder, path) = small("");
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "a file").unwrap();
    let output = sim(&[&path, "--out", blocked.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write into the folder"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_within_a_moment_and_leaves_nothing_half_written() {
    let (folder, path) = small("");
    let out = folder.path().join("out");
    let mut child = Command::new(env!("CARGO_BIN_EXE_afteryou"))
        .args(["sim", &path, "--set", "duration=100000 s", "--set", "link.rate=1 Gbit/s"])
        .args(["--out", out.to_str().unwrap()])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    // The handler is set before the folder is known to take files.
    while !out.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert_eq!(files(&out), Vec::<String>::new());
}

/// An upload in the background beside a download, seven seconds of it.
const BOTH_DIRECTIONS: &str = r#"
name = "both directions"
duration = "7 s"
baseline = "without background"
measure = { from = "2 s" }
link = { rate = "5 Mbit/s", buffer = "100 ms", reverse = { rate = "20 Mbit/s" } }

[[flow]]
name = "download"
controller = "cubic"
rtt = "30 ms"
direction = "down"

[[flow]]
name = "backup"
role = "background"
controller = "ledbat++"
rtt = "30 ms"
"#;

#[test]
fn where_data_cross_several_links_a_file_has_the_figures_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("both.toml"), folder.path().join("out"));
    std::fs::write(&file, BOTH_DIRECTIONS).unwrap();
    let output = sim(&[file.to_str().unwrap(), "--repeat", "2", "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let names = files(&out);
    let tables = ["flows.csv", "journal", "links.csv", "report.html", "runs.csv", "sweep.json"];
    assert_eq!(names[2..], tables, "{names:?}");
    let links = std::fs::read_to_string(out.join("links.csv")).unwrap();
    assert!(
        links.starts_with("run,repetition,seed,key,engine,window,from_s,to_s,link,")
            && links.contains(",capacity_bit_s,"),
        "{links}"
    );
    let of_links: Vec<&str> = links.lines().skip(1).map(|line| line.split(',').nth(8).unwrap()).collect();
    assert_eq!(of_links, ["bottleneck", "reverse path", "bottleneck", "reverse path"]);
    let curves = std::fs::read_to_string(out.join(&names[0]).join("series.csv")).unwrap();
    assert!(curves.contains(",link,queuing_delay,ms,") && curves.contains(",reverse path,queuing_delay,ms,"));
}

#[test]
fn a_result_that_is_read_draws_what_the_run_drew() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("both.toml"), folder.path().join("out"));
    std::fs::write(&file, BOTH_DIRECTIONS).unwrap();
    let words = sim(&[file.to_str().unwrap(), "--verbose", "--out", out.to_str().unwrap()]);
    let outcome = afteryou_plot::read(&out.join("result.json")).unwrap();
    let again = folder.path().join("again");
    afteryou_report::write_folder(&outcome, &again).unwrap();
    std::fs::write(again.join("series.csv"), afteryou_report::series_csv(&outcome)).unwrap();
    for name in files(&out) {
        let same = std::fs::read(out.join(&name)).unwrap() == std::fs::read(again.join(&name)).unwrap();
        assert!(same, "{name}");
    }
    let text = afteryou_report::text(&outcome, usize::MAX, false);
    assert!(stdout(&words).starts_with(&text), "{text}");
    assert_eq!(
        outcome.content_hash,
        afteryou_scenario::outcome::content_hash("sim", env!("CARGO_PKG_VERSION"), &outcome.scenario)
    );
}

#[test]
fn every_engine_is_a_subcommand_and_only_closed_forms_explain() {
    for engine in afteryou_engines::ENGINES {
        let help = |words: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
            let output = command.args(words).output().expect("it runs");
            assert!(output.status.success(), "{words:?}: {}", stderr(&output));
            stdout(&output)
        };
        // Lines are wrapped between words.
        let overview = help(&["--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(overview.contains(&format!("{} {}", engine.name(), engine.summary())), "{overview}");
        let page = help(&[engine.name(), "--help"]);
        assert!(
            page.contains("--set <KEY=VALUE>") && page.contains(&format!("afteryou {} FILE", engine.name())),
            "{page}"
        );
        assert_eq!(page.contains("--explain"), engine.name() == "fluid", "{page}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_real_packets_do_not_do_is_shown_at_its_line_before_anything_runs() {
    let (_folder, path) = small("[sweep]\n\"flow.a.controller\" = [\"cubic\", \"cubic,beta=0.5\"]");
    let output = Command::new(env!("CARGO_BIN_EXE_afteryou")).args(["bed", &path]).output().expect("it runs");
    let text = stderr(&output);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{text}");
    assert!(
        text.starts_with(
            "afteryou: parameters of the kernel's congestion control (flow \"a\") is not done with real packets yet"
        ),
        "{text}"
    );
    assert!(text.contains("small.toml:4:33\n"), "at the value: {text}");
}

#[test]
fn tables_and_curves_are_written_as_parquet_if_asked() {
    let (_kept, file) = small("repeat = 3");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = sim(&[&file, "--out", out.to_str().unwrap(), "--parquet"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let is_parquet = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")
    };
    for name in ["runs.parquet", "flows.parquet"] {
        assert!(is_parquet(&out.join(name)), "{name}");
    }
    let runs = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let curves: Vec<PathBuf> =
        runs.map(|path| path.join("series.parquet")).filter(|path| path.is_file()).collect();
    assert!(curves.len() == 3 && curves.iter().all(|path| is_parquet(path)), "{curves:?}");
}
