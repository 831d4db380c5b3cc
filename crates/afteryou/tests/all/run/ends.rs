//! The program's streams, signals and end are those that it has without `run`.

use super::{run, script};
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn the_exit_code_is_the_programs_own() {
    for (words, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -TERM $$", 128 + 15),
        ("kill -KILL $$", 128 + 9),
    ] {
        assert_eq!(script(words).status.code(), Some(code), "{words}");
    }
}

#[test]
fn a_program_that_does_not_start_is_126_or_127_and_no_program_is_2() {
    for (words, code, said) in [
        (&["--", "/there/is/none"][..], 127, "there is no program /there/is/none"),
        (&["--", "there-is-none"][..], 127, "there is no program there-is-none"),
        (&["--", "/"][..], 126, "/ cannot be started"),
        (&[][..], 2, "COMMAND"),
        (&["--pid", "5", "--", "true"][..], 2, "--pid"),
        (&["--pid", "2147483646"][..], 125, "process 2147483646 cannot be steered"),
    ] {
        let output = run(words).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {errors}");
        assert!(errors.contains(said), "{words:?}: {errors}");
    }
}

#[test]
fn a_script_without_a_first_line_for_its_interpreter_is_the_shells_as_under_env() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script");
    std::fs::write(&path, "echo $1; exit 3\n").expect("a file");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a mode");
    let searched = format!("{}:/usr/bin:/bin", folder.path().display());
    for name in [path.as_os_str(), "script".as_ref()] {
        let output = run(&["--"]).arg(name).arg("said").env("PATH", &searched).output().expect("it runs");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(3), &b"said\n"[..]), "{name:?}");
    }
}

#[test]
fn a_program_has_no_other_descriptors_than_without_run() {
    let words = ["sh", "-c", "ls /proc/$$/fd"];
    let plain = Command::new(words[0]).args(&words[1..]).output().expect("it runs");
    let under = run(&["--"]).args(words).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&under.stdout), String::from_utf8_lossy(&plain.stdout));
}

#[test]
fn a_stop_reaches_the_program_and_run_stops_and_continues_with_it() {
    let (mut child, line) = begun("echo $$; while :; do sleep 0.05; done");
    let (front, program) = (child.id() as i32, line.trim().parse().expect("a number"));
    for _ in 0..3 {
        kill(Pid::from_raw(front), Signal::SIGTSTP).expect("it runs");
        wait_for_state(program, 'T');
        wait_for_state(front, 'T');
        kill(Pid::from_raw(front), Signal::SIGCONT).expect("it is there");
        wait_for_state(program, 'S');
        wait_for_state(front, 'S');
    }
    // The program stops by itself.
    kill(Pid::from_raw(program), Signal::SIGSTOP).expect("it runs");
    wait_for_state(front, 'T');
    kill(Pid::from_raw(front), Signal::SIGCONT).expect("it is there");
    wait_for_state(program, 'S');
    kill(Pid::from_raw(front), Signal::SIGTERM).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(128 + 15));
}

/// Waits until a process is in a state, which may be a passing one.
fn wait_for_state(pid: i32, state: char) {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is there");
        if stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(state)) {
            return;
        }
        assert!(Instant::now() < until, "{state}: {stat}");
    }
}

#[test]
fn a_signal_from_outside_the_pid_namespace_reaches_the_program() {
    let script = "trap 'exit 5' TERM; echo begun; while :; do sleep 0.05; done";
    let made = Command::new("unshare")
        .args([
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            env!("CARGO_BIN_EXE_afteryou"),
            "run",
            "--",
        ])
        .args(["sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = made else { return println!("SKIPPED: no unshare") };
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    if line.is_empty() {
        child.wait().expect("it ends");
        return println!("SKIPPED: this user may not make a PID namespace");
    }
    // As a container's manager does to its first process.
    kill(Pid::from_raw(child_of(child.id() as i32)), Signal::SIGTERM).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
}

#[test]
fn input_and_output_are_the_programs_own() {
    let mut child = run(&["--", "sh", "-c", "cat; echo said >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("piped").write_all(b"some words\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"some words\n"[..], &b"said\n"[..]));
}

#[test]
fn a_program_has_no_signal_blocked_or_ignored_for_run() {
    // No shell between, which might change them; and once with a signal that is ignored, as by nohup.
    for before in ["", "trap '' HUP; "] {
        let program = env!("CARGO_BIN_EXE_afteryou");
        let output =
            |words: String| Command::new("sh").args(["-c", &words]).output().expect("it runs").stdout;
        let [plain, under] = ["", "run -- "].map(|run| {
            let run = if run.is_empty() { String::new() } else { format!("'{program}' {run}") };
            output(format!("{before}exec {run}grep -E '^Sig(Blk|Ign)' /proc/self/status"))
        });
        assert_eq!(String::from_utf8_lossy(&under), String::from_utf8_lossy(&plain), "{before}");
    }
}

#[test]
fn signals_reach_the_program() {
    // Not those that a shell ignores for what runs in the background: a program may not catch them then.
    for signal in [Signal::SIGTERM, Signal::SIGUSR1, Signal::SIGUSR2] {
        let (mut child, _) = begun(&format!(
            "trap 'exit 5' {}; echo begun; while :; do sleep 0.05; done",
            &signal.as_str()[3..]
        ));
        kill(Pid::from_raw(child.id() as i32), signal).expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(5), "{signal}");
    }
}

#[test]
fn a_process_in_the_background_does_not_hold_the_end_up() {
    let began = Instant::now();
    let output = script("sleep 20 >/dev/null 2>&1 </dev/null & echo done");
    assert_eq!(output.stdout, b"done\n");
    assert!(began.elapsed() < Duration::from_secs(10), "the end waited for sleep");
}

#[test]
fn if_the_steering_process_is_killed_the_program_goes_on_and_its_code_is_returned() {
    let (mut child, _) = begun("echo begun; sleep 1; exit 9");
    let front = child.id() as i32;
    let steering = child_of(front);
    kill(Pid::from_raw(steering), Signal::SIGKILL).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(9));
    let mut errors = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut errors).expect("text");
    assert!(errors.contains("the program continues at its own rate"), "{errors}");
}

#[test]
fn ctl_shows_slows_pauses_and_ends_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let ctl = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
        let output = command
            .arg("ctl")
            .args(words)
            .env("AFTERYOU_CONTROL_DIR", folder.path())
            .output()
            .expect("it runs");
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let mut child = run(&["--", "sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.05; done"])
        .env("AFTERYOU_CONTROL_DIR", folder.path())
        .spawn()
        .expect("it starts");
    let until = Instant::now() + Duration::from_secs(10);
    while !ctl(&["--json"]).contains("no transfer at present") {
        assert!(Instant::now() < until, "{}", ctl(&["--json"]));
    }
    assert!(ctl(&["status"]).contains(&format!("{} run sh -c", child.id())), "{}", ctl(&["status"]));
    ctl(&["rate", "8Mbit/s"]);
    ctl(&["pause"]);
    let shown = ctl(&["--json"]);
    assert!(shown.contains(r#""max_rate":1000000"#) && shown.contains(r#""paused":true"#), "{shown}");
    ctl(&["stop"]);
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
    // The second process ends a moment later.
    let until = Instant::now() + Duration::from_secs(10);
    while std::fs::read_dir(folder.path()).expect("a folder").count() > 0 {
        assert!(Instant::now() < until, "the socket is left");
    }
}

/// Starts a script, and waits until it has written a line, which is returned.
pub fn begun(script: &str) -> (Child, String) {
    let mut child = run(&["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group whose parent is in the same session: the kernel discards SIGTSTP for others.
        .process_group(0)
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut line).expect("a line");
    (child, line)
}

/// Returns the one child of a process.
pub fn child_of(pid: i32) -> i32 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it runs");
    children.split_whitespace().next().expect("a child").parse().expect("a number")
}

/// Sets a filter that hides a system call, 438 on every architecture, as Linux before 5.6 and some containers do, and starts a program.
const HIDING: &str = "
import ctypes, os, struct, sys
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, 438), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *rule) for rule in rules))
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('filter', ctypes.c_void_p)]
program = Program(len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
";

#[test]
fn without_pidfd_getfd_a_process_that_runs_already_is_not_steered_and_other_commands_are_named() {
    let program = run(&[]).get_program().to_owned();
    let mut hidden = std::process::Command::new("python3");
    hidden.args(["-c", HIDING]).arg(program).args(["run", "--pid", "1"]);
    let output = match hidden.output() {
        Ok(output) if output.status.code() != Some(77) => output,
        _ => return println!("SKIPPED: python3 is not here, or no filter of system calls can be set"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(
        said.contains("5.6") && said.contains("afteryou get") && said.contains("afteryou proxy"),
        "{said}"
    );
}
