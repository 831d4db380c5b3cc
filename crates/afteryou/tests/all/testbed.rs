//! What runs of the testbed leave behind, whatever ends them: nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// An argument by which a test finds the programs of its runs.
const MARK: &str = "86399.75";

/// Writes a scenario of a second with the kernel's TCP and a program whose child leaves its process group.
fn scenario(folder: &Path) -> String {
    let path = folder.join("short.toml");
    let text = format!(
        "duration = \"1 s\"\n[link]\nrate = \"5 Mbit/s\"\nbuffer = \"50 packets\"\n[[flow]]\nname = \"tcp\"\ncontroller = \"cubic\"\n\
         rtt = \"20 ms\"\n[[flow]]\nname = \"program\"\nrtt = \"20 ms\"\nstop = \"900 ms\"\n\
         traffic = {{ command = [\"sh\", \"-c\", \"setsid sleep {MARK} & sleep {MARK}\"] }}\n"
    );
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn bed(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.arg("bed").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns everything that could be left beside programs: named namespaces, interfaces, files of the folder for temporary
/// ones.
fn state(folder: &Path) -> [BTreeSet<String>; 3] {
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    // A namespace without a name lasts as long as a program in it, and programs are looked for by their mark.
    [names(Path::new("/run/netns")), names(Path::new("/sys/class/net")), names(folder)]
}

/// Returns the programs that have the mark.
fn programs() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\0") && line.windows(MARK.len()).any(|part| part == MARK.as_bytes())
    })
    .collect()
}

/// Waits until the run's programs are there, beside those that a killed one has left.
fn until_programs_run(child: &mut Child, earlier: &[u32]) {
    let begun = Instant::now();
    while programs().iter().all(|program| earlier.contains(program)) && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30), "no program was started");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Runs `runs` beds, kills every tenth, interrupts the one after each of those, and looks what is left.
fn run_and_kill(runs: u32) {
    let folder = tempfile::tempdir().unwrap();
    let file = scenario(folder.path());
    let first = bed(&[&file]).output().unwrap();
    if !first.status.success() {
        assert!(text(&first).contains("run as root"), "{}", text(&first));
        return println!("SKIPPED: {}", text(&first));
    }
    bed(&["--clean"]).output().unwrap();
    let before = state(folder.path());
    let mut killed = 0;
    for run in 1..=runs {
        let earlier = programs();
        let mut child = bed(&[&file]).env("TMPDIR", folder.path()).spawn().unwrap();
        match run % 10 {
            5 => {
                until_programs_run(&mut child, &earlier);
                signal(&child, "-KILL");
                killed += 1;
            }
            6 => {
                until_programs_run(&mut child, &earlier);
                signal(&child, "-INT");
            }
            _ => {}
        }
        let output = child.wait_with_output().unwrap();
        let expected = match run % 10 {
            5 => None,
            6 => Some(130),
            _ => Some(0),
        };
        assert_eq!(output.status.code(), expected, "run {run}: {}", text(&output));
    }
    println!("{killed} of {runs} runs killed");
    assert_eq!(programs(), Vec::<u32>::new(), "programs");
    assert_eq!(state(folder.path()), before, "namespaces, interfaces, files");
}

#[test]
fn runs_that_end_or_are_killed_or_interrupted_leave_nothing_behind() {
    run_and_kill(7);
}

#[test]
#[ignore = "three minutes: cargo test -p afteryou --test all -- --ignored a_hundred_runs"]
fn a_hundred_runs_of_which_ten_are_killed_leave_nothing_behind() {
    run_and_kill(100);
}
