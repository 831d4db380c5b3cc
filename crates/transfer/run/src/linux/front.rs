//! The process that the shell sees: hands signals on, stops and continues with the program, returns its exit code, and restores its sockets
//! if the one that steers dies.

use super::control;
use super::job;
use super::message::Message;
use super::HANDED_ON;
use crate::args::RunArgs;
use crate::error::Error;
use afteryou_outside::linux::{lacks_pidfd_getfd, record, restore};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

/// Signals that a terminal sends to the program, too.
const OF_TERMINAL: [Signal; 5] =
    [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTSTP, Signal::SIGWINCH];
/// Code of a signal that the kernel sends of its own accord, for a terminal for instance.
const SI_KERNEL: i32 = 0x80;

/// Runs the program by a second process; returns its exit code.
pub fn run(args: RunArgs) -> Result<u8, Error> {
    if args.pid.is_some() && lacks_pidfd_getfd() {
        return Err(Error::OldKernel);
    }
    // Descendants whose parent dies become children of this process, which then may touch their sockets.
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1)).map_err(|error| {
        Error::System {
            attempt: "processes that lose their parent cannot be taken over",
            source: error.into(),
        }
    })?;
    let directory = control::directory();
    if let Some(directory) = &directory {
        record::repair(directory);
    }
    let record = record::create(directory.as_deref(), std::process::id())
        .map_err(Error::system("no list of sockets can be kept"))?;
    let (own, theirs) = UnixStream::pair().map_err(Error::system("no pair of sockets could be made"))?;
    // Before the signals are blocked, which the program would inherit.
    let steering = start(&args, &theirs.into(), &record)?;
    let mut signals = HANDED_ON.into_iter().collect::<SigSet>();
    if args.pid.is_none() {
        // The program decides whether it stops, and this process does as it does.
        signals.add(Signal::SIGTSTP);
        signals.add(Signal::SIGCONT);
    }
    signals.thread_block().map_err(failed("signals cannot be blocked"))?;
    let caught =
        SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC).map_err(failed("signals cannot be read"))?;
    let mut front = Front {
        own,
        caught,
        record,
        program: args.pid,
        has_program: args.pid.is_none(),
        pending: Vec::new(),
    };
    match front.listen()? {
        Some(code) => Ok(code),
        None => front.go_on_alone(steering),
    }
}

/// Starts the second process, with the other end of the pair and the list of sockets.
fn start(args: &RunArgs, theirs: &OwnedFd, record: &File) -> Result<Pid, Error> {
    let program = std::env::current_exe().map_err(Error::system("the path of afteryou is not known"))?;
    for inherited in [theirs.as_fd(), record.as_fd()] {
        rustix::io::fcntl_setfd(inherited, rustix::io::FdFlags::empty()).map_err(|error| Error::System {
            attempt: "a descriptor cannot be inherited",
            source: error.into(),
        })?;
    }
    let mut command = Command::new(program);
    command.arg("run").arg(format!("--steering={}", theirs.as_raw_fd()));
    command.arg(format!("--record={}", record.as_raw_fd()));
    if let Some(rate) = args.max_rate {
        command.arg(format!("--max-rate={}B/s", rate.bytes_per_second()));
    }
    if args.status {
        command.arg("--status");
    }
    for (is_given, option) in
        [(args.proxy, "--proxy"), (args.as_root, "--as-root"), (args.verbose, "--verbose")]
    {
        if is_given {
            command.arg(option);
        }
    }
    match args.pid {
        Some(pid) => command.arg(format!("--pid={pid}")),
        None => command.arg("--").args(&args.command),
    };
    let child = command.spawn().map_err(Error::system("the second process cannot be started"))?;
    Ok(Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()))
}

/// The first process, while it runs.
struct Front {
    own: UnixStream,
    caught: SignalFd,
    /// List of the sockets that are steered.
    record: File,
    program: Option<i32>,
    /// The program is a descendant.
    has_program: bool,
    /// Signals that came before the program was known.
    pending: Vec<Signal>,
}

impl Front {
    /// Hands signals on and notes what is steered, until the program has ended; `None` if the other process has.
    fn listen(&mut self) -> Result<Option<u8>, Error> {
        let mut lines =
            BufReader::new(self.own.try_clone().map_err(Error::system("a socket cannot be shared"))?);
        loop {
            if lines.buffer().is_empty() {
                let mut waited = [
                    PollFd::new(self.own.as_fd(), PollFlags::POLLIN),
                    PollFd::new(self.caught.as_fd(), PollFlags::POLLIN),
                ];
                match poll(&mut waited, PollTimeout::NONE) {
                    Err(Errno::EINTR) => continue,
                    Err(error) => return Err(failed("signals and lines cannot be waited for")(error)),
                    Ok(_) => {}
                }
                let has = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
                let (has_lines, has_signals) = (has(&waited[0]), has(&waited[1]));
                if has_signals {
                    self.hand_on();
                }
                if !has_lines {
                    continue;
                }
            }
            let mut line = String::new();
            if lines.read_line(&mut line).map_or(true, |length| length == 0) {
                return Ok(None);
            }
            match serde_json::from_str(&line) {
                Ok(Message::Started { pid }) => {
                    self.program = Some(pid);
                    self.deliver();
                }
                Ok(Message::Ended { code } | Message::Failed { code }) => return Ok(Some(code)),
                // It may run again by now, and a SIGCONT has just been handed on.
                Ok(Message::Stopped) if self.program.is_some_and(is_stopped) => stop(),
                Ok(Message::Stopped) => {}
                Err(_) => {}
            }
        }
    }

    /// Hands a signal on, unless the terminal has sent it to the program, too.
    fn hand_on(&mut self) {
        let Ok(Some(caught)) = self.caught.read_signal() else { return };
        let signal = i32::try_from(caught.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
        let Some(signal) = signal else { return };
        let is_of_terminal = caught.ssi_code == SI_KERNEL && OF_TERMINAL.contains(&signal);
        if !self.has_program {
            // With --pid, these end the steering and not the process.
            std::process::exit(128 + signal as i32);
        }
        if !is_of_terminal {
            self.pending.push(signal);
        }
        self.deliver();
    }

    /// Sends the program the signals that are for it, once it has started.
    fn deliver(&mut self) {
        let Some(pid) = self.program else { return };
        for signal in self.pending.drain(..) {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    /// Restores the sockets after the death of the other process, and waits for the program, which continues.
    fn go_on_alone(self, steering: Pid) -> Result<u8, Error> {
        let _ = waitpid(steering, None);
        restore(record::sockets(&self.record).unwrap_or_default());
        record::remove(&self.record);
        job::repair();
        afteryou_terminal::output::complain(
            "afteryou: the steering process was killed; the program continues at its own rate\n",
        );
        if !self.has_program {
            return Ok(125);
        }
        // If it was killed before it could say which one the program is, that is the first child that ends.
        let is_program = |pid: Pid| self.program.is_none_or(|program| pid.as_raw() == program);
        loop {
            match waitpid(None, None) {
                Ok(WaitStatus::Exited(pid, code)) if is_program(pid) => return Ok(code as u8),
                Ok(WaitStatus::Signaled(pid, signal, _)) if is_program(pid) => return Ok(128 + signal as u8),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => return Ok(125),
            }
        }
    }
}

/// Returns whether a process is stopped.
fn is_stopped(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the program's name, which may have anything in it.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" T"))
}

/// Stops this process, as the program is stopped, until the shell continues it.
fn stop() {
    let _ = kill(Pid::this(), Signal::SIGSTOP);
}

fn failed(attempt: &'static str) -> impl FnOnce(Errno) -> Error {
    move |error| Error::System { attempt, source: io::Error::from(error) }
}
