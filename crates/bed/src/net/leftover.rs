//! What a killed run may leave behind: programs that its own programs had started.

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::process::{self, Command};

/// The environment variable that marks every program of a run: the run's process and when that began.
pub const MARK: &str = "AFTERYOU_BED";

/// Marks a program that is about to be started.
pub(super) fn mark(command: &mut Command) {
    let pid = process::id();
    command.env(MARK, format!("{pid}:{}", began(pid).unwrap_or_default()));
}

/// Kills the programs of runs that are no longer there; returns how many these were. Programs of runs that go on are left
/// alone, and so is everything without the mark.
pub fn clean() -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let orphans = pids.filter(|pid| *pid != process::id() && is_orphan(*pid));
    let killed = orphans.filter(|pid| kill(Pid::from_raw(*pid as i32), Signal::SIGKILL).is_ok());
    killed.count()
}

/// Is it marked by a run that is gone?
fn is_orphan(pid: u32) -> bool {
    let Ok(environment) = fs::read(Path::new("/proc").join(pid.to_string()).join("environ")) else {
        return false;
    };
    environment
        .split(|byte| *byte == 0)
        .filter_map(marked)
        .any(|(run, run_began)| began(run) != Some(run_began))
}

/// The run that a variable of an environment names.
fn marked(variable: &[u8]) -> Option<(u32, u64)> {
    let text = std::str::from_utf8(variable).ok()?;
    let (run, began) = text.strip_prefix(MARK)?.strip_prefix('=')?.split_once(':')?;
    Some((run.parse().ok()?, began.parse().ok()?))
}

/// When a process began, in clock ticks since boot (proc(5), field 22 of stat).
fn began(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_names_a_process_and_when_it_began() {
        assert_eq!(marked(b"AFTERYOU_BED=12:345"), Some((12, 345)));
        for other in ["AFTERYOU_BEDS=12:345", "PATH=/bin", "AFTERYOU_BED=12", "AFTERYOU_BED=x:1", ""] {
            assert_eq!(marked(other.as_bytes()), None, "{other}");
        }
        assert!(began(process::id()).is_some_and(|ticks| ticks > 0));
    }

    #[test]
    fn a_program_of_a_run_that_is_gone_is_killed_and_one_of_a_run_that_goes_on_is_not() {
        let sleep = |mark: &str| Command::new("sleep").arg("60").env(MARK, mark).spawn().unwrap();
        let own = format!("{}:{}", process::id(), began(process::id()).unwrap());
        // A process of this number is there, but it began at another time.
        let (mut orphan, mut ours) = (sleep(&format!("{}:1", process::id())), sleep(&own));
        clean();
        assert!(!orphan.wait().unwrap().success());
        assert_eq!(ours.try_wait().unwrap(), None);
        ours.kill().unwrap();
        ours.wait().unwrap();
    }
}
