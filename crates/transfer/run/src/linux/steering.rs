//! The process between: starts the program and steers its sockets, until its last descendant has ended.

use super::control::Control;
use super::enter::caller;
use super::job::{self, Job};
use super::message::Message;
use super::private::{decide, Decision, Private};
use super::program::found;
use super::shown::{in_words, Shown};
use super::HANDED_ON;
use crate::args::RunArgs;
use crate::error::Error;
use afteryou_outside::linux::{take_inherited, InKernel, Record, Steer};
use afteryou_outside::rule::Params;
use afteryou_terminal::output;
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Time between two notes of the state for `afteryou ctl`.
const NOTES_APART: Duration = Duration::from_millis(200);

/// Runs the second process. The first one receives the program's exit code as a message.
///
/// # Errors
/// The descriptor is none of ours, or the program cannot be started.
pub fn run(args: RunArgs, descriptor: i32) -> Result<u8, Error> {
    let inherited =
        |descriptor| take_inherited(descriptor).map_err(Error::system("--steering is for afteryou itself"));
    let mut front = Front(UnixStream::from(inherited(descriptor)?));
    let record = Record::new(File::from(inherited(args.record.unwrap_or_default())?));
    match begin(&args) {
        Ok(program) => {
            front.tell(&Message::Started { pid: program.pid });
            go_on_while_stopped();
            raise_limit();
            Steering {
                steer: program.steer(&args).recorded(record),
                control: control(&args),
                shown: Shown::new(args.status, program.private.is_some()),
                program,
                front,
                is_verbose: args.verbose,
                has_told_end: false,
                next_note: Instant::now(),
            }
            .go_on();
        }
        Err(error) => {
            output::complain(&format!("afteryou: {error}\n"));
            front.tell(&Message::Failed { code: error.code() });
        }
    }
    Ok(0)
}

/// Returns the socket for `afteryou ctl`, under the number of the first process, which is the one that its user knows.
fn control(args: &RunArgs) -> Control {
    let front = u32::try_from(Pid::parent().as_raw()).unwrap_or_default();
    let program = match args.pid {
        Some(pid) => format!("--pid {pid}"),
        None => args.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "),
    };
    let max_rate = args.max_rate.map(|rate| rate.bytes_per_second());
    Control::new(front, "run", output::printable(&program), max_rate)
}

/// Starts the program, or finds the one that runs.
fn begin(args: &RunArgs) -> Result<Program, Error> {
    outlive_signals()?;
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1)).map_err(|error| {
        Error::System {
            attempt: "processes that lose their parent cannot be taken over",
            source: error.into(),
        }
    })?;
    if let Some(pid) = args.pid {
        // Signal 0 asks whether the process is there and ours.
        kill(Pid::from_raw(pid), None).map_err(|error| Error::Process { pid, source: error.into() })?;
        return Ok(Program { pid, child: None, private: None, job: None });
    }
    let Some((name, rest)) = args.command.split_first() else {
        return Err(Error::NotFound { name: String::new() });
    };
    let private = private_proxy(args)?;
    let variables = private.iter().flat_map(|private| private.variables.clone()).collect::<Vec<_>>();
    let job = job::begin();
    let child = match (&job, caller()) {
        (None, None) => spawn(name, rest, &variables).map_err(|error| Error::of_start(name, &error))?,
        _ => enter(args, job.as_ref(), &variables)?,
    };
    Ok(Program { pid: i32::try_from(child.id()).unwrap_or_default(), child: Some(child), private, job })
}

/// Starts a private proxy if it is needed, and prints what is steered with it and what is not.
fn private_proxy(args: &RunArgs) -> Result<Option<Private>, Error> {
    match decide(args) {
        Decision::Unneeded => Ok(None),
        Decision::HasOther(why) => {
            output::complain(&format!(
                "afteryou: the program is not steered ({why}), and http_proxy or https_proxy names a proxy already; with --proxy a private one replaces it\n"
            ));
            Ok(None)
        }
        Decision::Needed(why) => {
            let private = Private::begin()?;
            output::complain(&format!(
                "afteryou: a private proxy steers what honours http_proxy and https_proxy ({why}); other programs, other users' and UDP (QUIC) are not steered by it\n"
            ));
            Ok(Some(private))
        }
    }
}

/// Starts a program as execvp(3) does: a file without a format is a script of the shell.
fn spawn(name: &OsStr, arguments: &[OsString], variables: &[(&str, String)]) -> io::Result<Child> {
    let variables = || variables.iter().map(|(name, value)| (name, value));
    match Command::new(name).args(arguments).envs(variables()).spawn() {
        Err(error) if error.raw_os_error() == Some(Errno::ENOEXEC as i32) => {
            let file = found(Path::new(name)).unwrap_or_else(|| name.into());
            Command::new("/bin/sh").arg(file).args(arguments).envs(variables()).spawn()
        }
        started => started,
    }
}

/// Starts the process that enters the job and becomes the program.
fn enter(args: &RunArgs, job: Option<&Job>, variables: &[(&str, String)]) -> Result<Child, Error> {
    let own = std::env::current_exe().map_err(Error::system("the path of afteryou is not known"))?;
    let mut members = OsString::from("--enter=");
    members.push(job.map(Job::members).unwrap_or_default());
    let mut command = Command::new(own);
    command.arg("run").arg(members);
    if args.as_root {
        command.arg("--as-root");
    }
    let variables = variables.iter().map(|(name, value)| (name, value));
    command
        .arg("--")
        .args(&args.command)
        .envs(variables)
        .spawn()
        .map_err(Error::system("the program's process"))
}

/// Catches the signals that are for the program. One that is caught is as usual in a program that is started; one that was ignored, as by
/// nohup, stays so.
fn outlive_signals() -> Result<(), Error> {
    let caught = Arc::new(AtomicBool::new(false));
    let ignored = ignored_signals();
    for signal in HANDED_ON.into_iter().filter(|signal| ignored & (1 << (*signal as i32 - 1)) == 0) {
        signal_hook::flag::register(signal as i32, Arc::clone(&caught))
            .map_err(Error::system("signals cannot be caught"))?;
    }
    Ok(())
}

/// Keeps this process running while the program is stopped: other process groups of it may continue. Called after its start, since it
/// would inherit the blocked signals.
fn go_on_while_stopped() {
    let stopping: SigSet = [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU].into_iter().collect();
    let _ = stopping.thread_block();
}

/// Lets this process have as many open files as it may: one for each process of the program that has a socket.
fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    // At the old limit some are not steered.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Returns the signals that this process ignores, a bit each from the lowest on.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// The first process.
struct Front(UnixStream);

impl Front {
    /// Writes a line; that the other one is gone shows later.
    fn tell(&mut self, message: &Message) {
        if let Ok(mut line) = serde_json::to_string(message) {
            line.push('\n');
            let _ = self.0.write_all(line.as_bytes());
        }
    }

    fn is_gone(&self) -> bool {
        let mut waited = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        let ended = PollFlags::POLLHUP | PollFlags::POLLIN | PollFlags::POLLERR;
        poll(&mut waited, PollTimeout::ZERO).is_ok()
            && waited[0].revents().is_some_and(|events| events.intersects(ended))
    }
}

/// The program.
struct Program {
    pid: i32,
    /// If this process has started it.
    child: Option<Child>,
    private: Option<Private>,
    job: Option<Job>,
}

impl Program {
    fn steer(&self, args: &RunArgs) -> Steer {
        let root = match self.child {
            // Descendants that lost their parent are this process's children.
            Some(_) => Pid::this().as_raw(),
            None => self.pid,
        };
        let max_rate = args.max_rate.map(|rate| rate.bytes_per_second() as f64);
        let in_kernel = InKernel::of_this_process().with_job(self.job.as_ref().map(Job::name));
        let steer = Steer::new(root, Params::default(), max_rate).with_in_kernel(in_kernel);
        match &self.private {
            Some(private) => steer.with_roster(private.roster.clone()),
            None => steer,
        }
    }
}

/// State of the children.
enum Family {
    /// The program runs.
    Runs,
    /// It has ended with this code; others may be left.
    Ended(u8),
    /// Nobody is left.
    Gone,
}

struct Steering {
    program: Program,
    control: Control,
    steer: Steer,
    shown: Shown,
    front: Front,
    is_verbose: bool,
    /// The program was asked to end.
    has_told_end: bool,
    next_note: Instant,
}

impl Steering {
    /// Runs the steering until nobody is left, or the first process is gone.
    fn go_on(mut self) {
        let mut has_ended = false;
        loop {
            let began = Instant::now();
            match self.family() {
                Family::Runs => {}
                Family::Ended(code) => {
                    has_ended = true;
                    self.shown.last(&self.steer);
                    if let Some(job) = self.program.job.as_ref().filter(|_| self.is_verbose) {
                        self.shown.covered(&job.covered(), &self.steer);
                    }
                    self.front.tell(&Message::Ended { code });
                    let_go_of_terminal();
                }
                Family::Gone => break,
            }
            self.obey();
            self.steer.tick(began);
            if !has_ended {
                self.shown.tick(&self.steer);
            }
            if !has_ended && self.front.is_gone() {
                break;
            }
            thread::sleep(self.steer.pause().saturating_sub(began.elapsed()));
        }
        // While it is there, it keeps its controller.
        drop(self.program.job.take());
        self.steer.give_back();
        if self.program.child.is_none() && !has_ended {
            self.front.tell(&Message::Ended { code: 0 });
        }
    }

    /// Follows the requests of `afteryou ctl`, and notes the state for it.
    fn obey(&mut self) {
        if Instant::now() >= self.next_note {
            self.next_note = Instant::now() + NOTES_APART;
            let (words, rate) = in_words(&self.steer);
            self.control
                .note(if words.is_empty() { "no transfer at present".to_owned() } else { words }, rate);
        }
        let requests = self.control.requests();
        self.steer.set_max_rate(requests.bound());
        if requests.is_to_end && !std::mem::replace(&mut self.has_told_end, true) {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(self.program.pid), Signal::SIGTERM);
        }
    }

    /// Takes note of children that have ended, and of the program's stop.
    fn family(&mut self) -> Family {
        if self.program.child.is_none() {
            return match kill(Pid::from_raw(self.program.pid), None) {
                Ok(()) => Family::Runs,
                Err(_) => Family::Gone,
            };
        }
        loop {
            let (pid, code) = match waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, code as u8),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as u8),
                Ok(WaitStatus::Stopped(pid, _)) => {
                    if pid.as_raw() == self.program.pid {
                        self.front.tell(&Message::Stopped);
                    }
                    continue;
                }
                Err(Errno::EINTR) => continue,
                Err(_) => return Family::Gone,
                Ok(_) => return Family::Runs,
            };
            if pid.as_raw() == self.program.pid {
                return Family::Ended(code);
            }
        }
    }
}

/// Replaces the standard streams, whose end the caller of the run may wait for: only background processes are left.
fn let_go_of_terminal() {
    let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") else { return };
    let replaced: [fn(File) -> io::Result<()>; 3] = [
        |file| Ok(rustix::stdio::dup2_stdin(file)?),
        |file| Ok(rustix::stdio::dup2_stdout(file)?),
        |file| Ok(rustix::stdio::dup2_stderr(file)?),
    ];
    for replace in replaced {
        if let Ok(nothing) = nothing.try_clone() {
            let _ = replace(nothing);
        }
    }
}
