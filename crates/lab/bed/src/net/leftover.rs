//! Processes that a killed run may leave behind: programs that its own programs had started.

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that marks every program of a run: the run's process, when that began, and a number of the namespace.
pub const MARK: &str = "AFTERYOU_BED";

/// How far apart something that is about to change is looked at again.
const LOOK: Duration = Duration::from_millis(1);
/// How long a busy machine may take to start a program or to end one.
const PATIENCE: Duration = Duration::from_secs(2);

/// Marks of this process so far.
static MARKS: AtomicU64 = AtomicU64::new(0);

/// Marks programs of one namespace.
#[derive(Debug)]
pub(super) struct Mark {
    value: String,
    is_used: AtomicBool,
}

impl Mark {
    /// Creates a mark that no other programs have.
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

/// Kills the programs whose environment is `one_of` those, and returns how many these were once they are gone. A program may have started
/// another one while it was looked for, and a signal takes its time: it is looked again until there is none.
fn kill_all(one_of: impl Fn(&[u8]) -> bool) -> usize {
    let (until, mut killed) = (Instant::now() + PATIENCE, BTreeSet::<u32>::new());
    loop {
        let found = programs(&one_of);
        killed.extend(found.iter().filter(|pid| kill(Pid::from_raw(**pid as i32), Signal::SIGKILL).is_ok()));
        if found.is_empty() || Instant::now() > until {
            return killed.len();
        }
        thread::sleep(LOOK);
    }
}

/// Returns the programs that run now and whose environment is `one_of` those. A program that is ending has no environment.
fn programs(one_of: impl Fn(&[u8]) -> bool) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_one = |pid: &u32| *pid != process::id() && environment(*pid).is_some_and(|all| one_of(&all));
    pids.filter(is_one).collect()
}

/// Returns the environment of a process. That of a program which is being started is empty for a moment, although its parent
/// continues.
fn environment(pid: u32) -> Option<Vec<u8>> {
    let (process, until) = (Path::new("/proc").join(pid.to_string()), Instant::now() + PATIENCE);
    loop {
        let environment = fs::read(process.join("environ")).ok()?;
        if !environment.is_empty() || !is_being_started(pid) || Instant::now() > until {
            return Some(environment);
        }
        thread::sleep(LOOK);
    }
}

/// Returns whether the environment of the process's program is yet to be written. A kernel thread has no program.
fn is_being_started(pid: u32) -> bool {
    // proc(5), field 51 of stat: where the environment ends. It is 0 until then, and not 0 of a program that has an empty one.
    let has_none = stat(pid, 51).is_some_and(|end| end == 0);
    has_none && fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

fn variables(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    environment.split(|byte| *byte == 0)
}

/// Returns the run that a variable of an environment names.
fn marked(variable: &[u8]) -> Option<(u32, u64)> {
    let text = std::str::from_utf8(variable).ok()?;
    let mut numbers = text.strip_prefix(MARK)?.strip_prefix('=')?.split(':');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns when a process began, in clock ticks since boot (proc(5), field 22 of stat).
fn began(pid: u32) -> Option<u64> {
    stat(pid, 22)
}

/// Returns a field of a process's `stat`, counted from 1 as in proc(5), behind the name.
fn stat(pid: u32, field: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything. The third field follows it.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(field - 3)?.parse().ok()
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
    fn nothing_is_left_of_a_program_that_goes_on_starting_others_and_none_is_seen_afterwards() {
        let mark = Mark::new();
        let own = format!("{MARK}={}", mark.value);
        let left = || programs(|environment| variables(environment).any(|one| one == own.as_bytes()));
        for _ in 0..10 {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do sleep 600 & sleep 0.01; done"]);
            mark.put_on(&mut command);
            let mut shell = command.spawn().unwrap();
            while left().len() < 5 {
                thread::sleep(LOOK);
            }
            mark.end_all();
            assert_eq!(left(), Vec::<u32>::new());
            shell.wait().unwrap();
        }
    }

    #[test]
    fn a_program_with_an_empty_environment_is_not_waited_for() {
        let mut sleep = Command::new("sleep").arg("60").env_clear().spawn().unwrap();
        while is_being_started(sleep.id()) {
            thread::sleep(LOOK);
        }
        assert_eq!(environment(sleep.id()), Some(Vec::new()));
        sleep.kill().unwrap();
        sleep.wait().unwrap();
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
