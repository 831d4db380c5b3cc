//! Processes that a killed run may leave behind: programs that its own programs had started.

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The environment variable that marks every program of a run: the run's process, when that began, and a number of the namespace.
pub const MARK: &str = "AFTERYOU_BED";

/// How often, and how far apart, an empty environment is read again.
const LOOKS: u32 = 5;
const LOOK: Duration = Duration::from_millis(1);

/// Marks of this process so far.
static MARKS: AtomicU64 = AtomicU64::new(0);

/// Marks programs of one namespace.
#[derive(Debug)]
pub(super) struct Mark {
    value: String,
    is_used: AtomicBool,
}

impl Mark {
    /// One that no other programs have.
    pub(super) fn new() -> Mark {
        let (pid, number) = (process::id(), MARKS.fetch_add(1, Ordering::Relaxed));
        let value = format!("{pid}:{}:{number}", began(pid).unwrap_or_default());
        Mark { value, is_used: AtomicBool::new(false) }
    }

    /// Marks a program that is about to be started.
    pub(super) fn put_on(&self, command: &mut Command) {
        self.is_used.store(true, Ordering::Relaxed);
        command.env(MARK, &self.value);
    }

    /// Kills the programs with this mark, those that have left their process group among them.
    pub(super) fn end_all(&self) {
        if self.is_used.load(Ordering::Relaxed) {
            let own = format!("{MARK}={}", self.value);
            kill_all(|environment| variables(environment).any(|variable| variable == own.as_bytes()));
        }
    }
}

/// Kills the programs of runs that are no longer there; returns how many these were. Programs of runs that still run are left
/// alone, and so is everything without the mark.
pub fn clean() -> usize {
    kill_all(|environment| {
        variables(environment).filter_map(marked).any(|(run, run_began)| began(run) != Some(run_began))
    })
}

/// Kills the programs whose environment is `one_of` those; returns how many these were.
fn kill_all(one_of: impl Fn(&[u8]) -> bool) -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_one = |pid: &u32| *pid != process::id() && environment(*pid).is_some_and(|all| one_of(&all));
    let killed = pids.filter(is_one).filter(|pid| kill(Pid::from_raw(*pid as i32), Signal::SIGKILL).is_ok());
    killed.count()
}

/// The environment of a process. That of a program which has just been started is empty for a moment, although its parent continues.
fn environment(pid: u32) -> Option<Vec<u8>> {
    let process = Path::new("/proc").join(pid.to_string());
    for _ in 0..LOOKS {
        let environment = fs::read(process.join("environ")).ok()?;
        // A thread of the kernel has no program, and never an environment.
        if !environment.is_empty() || fs::read_link(process.join("exe")).is_err() {
            return Some(environment);
        }
        thread::sleep(LOOK);
    }
    None
}

fn variables(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    environment.split(|byte| *byte == 0)
}

/// The run that a variable of an environment names.
fn marked(variable: &[u8]) -> Option<(u32, u64)> {
    let text = std::str::from_utf8(variable).ok()?;
    let mut numbers = text.strip_prefix(MARK)?.strip_prefix('=')?.split(':');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
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
        assert_eq!(marked(b"AFTERYOU_BED=12:345:6"), Some((12, 345)));
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
