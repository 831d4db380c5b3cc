//! The process that the shell sees: hands signals on, returns the program's exit code, and restores its sockets if the one that steers dies.

use super::message::{Ledger, Message};
use super::HANDED_ON;
use crate::args::RunArgs;
use crate::error::Error;
use afteryou_outside::linux::{lacks_pidfd_getfd, restore};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{kill, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::Pid;
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

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
    let (own, theirs) = UnixStream::pair().map_err(Error::system("no pair of sockets could be made"))?;
    // Before the signals are blocked, which the program would inherit.
    let steering = start(&args, theirs.into())?;
    let signals = HANDED_ON.into_iter().collect::<SigSet>();
    signals.thread_block().map_err(failed("signals cannot be blocked"))?;
    let caught =
        SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC).map_err(failed("signals cannot be read"))?;
    let mut front = Front {
        own,
        caught,
        ledger: Ledger::default(),
        program: args.pid,
        has_program: args.pid.is_none(),
        pending: Vec::new(),
    };
    match front.listen()? {
        Some(code) => Ok(code),
        None => front.go_on_alone(steering),
    }
}

/// Starts the second process, with the other end of the pair.
fn start(args: &RunArgs, theirs: OwnedFd) -> Result<Pid, Error> {
    let program = std::env::current_exe().map_err(Error::system("the path of afteryou is not known"))?;
    rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty()).map_err(|error| Error::System {
        attempt: "a descriptor cannot be inherited",
        source: error.into(),
    })?;
    let mut command = Command::new(program);
    command.arg("run").arg(format!("--steering={}", theirs.as_raw_fd()));
    if let Some(rate) = args.max_rate {
        command.arg(format!("--max-rate={}B/s", rate.bytes_per_second()));
    }
    if args.status {
        command.arg("--status");
    }
    if args.proxy {
        command.arg("--proxy");
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
    ledger: Ledger,
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
                Ok(message) => self.ledger.take(&message),
                Err(_) => {}
            }
        }
    }

    /// Hands a signal on, unless the terminal has sent it to the program, too.
    fn hand_on(&mut self) {
        let Ok(Some(caught)) = self.caught.read_signal() else { return };
        let is_of_terminal = caught.ssi_pid == 0;
        let signal = i32::try_from(caught.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
        let Some(signal) = signal else { return };
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
        let own = Pid::this().as_raw();
        let root = if self.has_program { own } else { self.program.unwrap_or(own) };
        restore(root, self.ledger.into_sockets());
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

fn failed(attempt: &'static str) -> impl FnOnce(Errno) -> Error {
    move |error| Error::System { attempt, source: io::Error::from(error) }
}
