//! A test that has a part in a process of its own: it starts this program again, with its own name and a variable.
//!
//! The part is the beginning of the same test, so a test that runs without its caller is never a test of nothing.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

const PART: &str = "AFTERYOU_TEST_PART";

/// Returns the value that the caller gave, in the process of the part.
pub fn part() -> Option<OsString> {
    std::env::var_os(PART)
}

/// Starts this program again, for the part of `test`.
pub fn again(test: &str, value: impl AsRef<OsStr>) -> Command {
    through(Command::new(std::env::current_exe().expect("this program")), test, value)
}

/// Starts it by a shell that runs `script` first, which is to end with `exec "$0" "$@"`.
pub fn again_after(mut shell: Command, script: &str, test: &str, value: impl AsRef<OsStr>) -> Command {
    shell.args(["-c", script]).arg(std::env::current_exe().expect("this program"));
    through(shell, test, value)
}

/// Starts it by any command that ends with the name of this program.
pub fn through(mut command: Command, test: &str, value: impl AsRef<OsStr>) -> Command {
    command.args(["--exact", test, "--nocapture"]).env(PART, value);
    command
}

/// Runs `command` and requires that the part's one test passed.
pub fn assert_passes(mut command: Command) {
    let output = command.output().expect("it runs");
    let words = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && words.contains("1 passed"), "{words}{errors}");
}

/// Runs `script` and the part of `test` where `base` (`$BASE` of the script) may have mounts of its own. The part leaves a
/// file `done` there.
pub fn on_a_mount_of_its_own(script: &str, test: &str, base: &Path) {
    // As root, or as root of a user namespace.
    for private in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let mut shell = Command::new("unshare");
        shell.args(private).arg("sh").env("BASE", base);
        let Ok(output) = again_after(shell, script, test, base).output() else { continue };
        if output.status.success() && base.join("done").exists() {
            return;
        }
        let words = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let said = format!("{words}{errors}");
        assert!(!said.contains("panicked") && !said.contains("FAILED"), "{said}");
    }
    println!("SKIPPED: this user may not mount a small disk");
}
