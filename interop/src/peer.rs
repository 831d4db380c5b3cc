//! The thread around libutp and the handle on it.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::job::{Job, Options};
use crate::outcome::{Ended, Outcome};
use crate::turn::Turn;

/// How long the thread rests when no datagram is waiting.
const REST: Duration = Duration::from_micros(200);

/// Starts peers that run the real libutp.
#[derive(Clone, Copy, Debug)]
pub struct LibutpPeer;

impl LibutpPeer {
    /// Waits for one connection on a new loopback socket, see
    /// [`Handle::local_addr`]. Further SYNs are ignored once it is up.
    pub fn accept_one(job: Job) -> Result<Handle, Error> {
        let end = Plan::new(None, job)?;
        Running::start(vec![end]).map(Handle)
    }

    /// Connects to `to` from a new socket on [`Options::bind`], which must be
    /// of the same address family.
    pub fn connect(to: SocketAddr, job: Job) -> Result<Handle, Error> {
        let end = Plan::new(Some(to), job)?;
        Running::start(vec![end]).map(Handle)
    }

    /// Starts two libutp ends over loopback in one thread: the first connects to the second.
    pub fn pair(connecting: Job, accepting: Job) -> Result<PairHandle, Error> {
        let accepting = Plan::new(None, accepting)?;
        let connecting = Plan::new(Some(accepting.addr), connecting)?;
        Running::start(vec![connecting, accepting]).map(PairHandle)
    }
}

/// A running peer. Dropping it stops the peer and waits for its thread.
#[derive(Debug)]
pub struct Handle(Running);

impl Handle {
    /// Returns the peer's UDP address.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.addr
    }

    /// Ends the peer now; an open connection vanishes without a FIN. `join`
    /// then gives what happened.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end of the job. After `timeout` the peer is stopped and
    /// the result is [`Error::NotDone`] with what it got so far.
    pub fn join(self, timeout: Duration) -> Result<Outcome, Error> {
        self.0.join(timeout)?.pop().ok_or(Error::Died)
    }
}

/// Two running libutp ends, in one thread.
#[derive(Debug)]
pub struct PairHandle(Running);

impl PairHandle {
    /// Joins both as [`Handle::join`] does: the connecting end first.
    pub fn join(self, timeout: Duration) -> Result<(Outcome, Outcome), Error> {
        let mut both = self.0.join(timeout)?;
        let accepting = both.pop().ok_or(Error::Died)?;
        let connecting = both.pop().ok_or(Error::Died)?;
        Ok((connecting, accepting))
    }
}

/// An end to be, with its bound socket.
struct Plan {
    socket: UdpSocket,
    addr: SocketAddr,
    to: Option<SocketAddr>,
    job: Job,
}

impl Plan {
    fn new(to: Option<SocketAddr>, job: Job) -> Result<Plan, Error> {
        job.options.check()?;
        let bind_ip = job.options.bind;
        let to_ip = to.map_or(bind_ip, |to| to.ip());
        if !bind_ip.is_loopback() || !to_ip.is_loopback() || bind_ip.is_ipv4() != to_ip.is_ipv4() {
            return Err(Error::Address { bind: bind_ip, to: to_ip });
        }
        let (socket, addr) = bind(&job.options)?;
        Ok(Plan { socket, addr, to, job })
    }
}

fn bind(options: &Options) -> Result<(UdpSocket, SocketAddr), Error> {
    let addr = SocketAddr::new(options.bind, 0);
    let open = || {
        let socket = UdpSocket::bind(addr)?;
        socket.set_nonblocking(true)?;
        let local = socket.local_addr()?;
        Ok((socket, local))
    };
    open().map_err(|source| Error::Socket { addr, source })
}

#[derive(Debug)]
struct Running {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    result: Receiver<Result<Vec<Outcome>, Error>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(plans: Vec<Plan>) -> Result<Running, Error> {
        let addr = plans.first().map(|p| p.addr).ok_or(Error::Died)?;
        let turn = Turn::take()?;
        let stop = Arc::new(AtomicBool::new(false));
        let (send, result) = mpsc::channel();
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("libutp".into())
            .spawn(move || {
                let outcome = run(&turn, plans, &stopped);
                drop(turn);
                // Nobody listens any more if the handle was dropped.
                let _ = send.send(outcome);
            })
            .map_err(Error::Spawn)?;
        Ok(Running { addr, stop, result, thread: Some(thread) })
    }

    fn join(mut self, timeout: Duration) -> Result<Vec<Outcome>, Error> {
        let waited = self.result.recv_timeout(timeout);
        self.end();
        match waited {
            Ok(result) => result,
            Err(RecvTimeoutError::Disconnected) => Err(Error::Died),
            Err(RecvTimeoutError::Timeout) => {
                // It may have become ready just now; it was late all the same.
                let partial = self.result.recv().map_err(|_| Error::Died)??;
                Err(Error::NotDone { after: timeout, partial })
            }
        }
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic in there shows as a missing result.
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs the loop of the libutp thread.
fn run(turn: &Turn, plans: Vec<Plan>, stop: &AtomicBool) -> Result<Vec<Outcome>, Error> {
    let mut ends = Vec::with_capacity(plans.len());
    for plan in plans {
        ends.push(Endpoint::start(turn, plan.socket, plan.to, plan.job)?);
    }
    let ended = loop {
        let now = Instant::now();
        let mut busy = false;
        for end in &mut ends {
            busy |= end.round(now);
        }
        if ends.iter().all(|end| end.is_done(now)) {
            break Ended::Done;
        }
        if ends.iter().any(|end| !end.is_over() && end.is_late(now)) {
            break Ended::Deadline;
        }
        if stop.load(Ordering::Relaxed) {
            break Ended::Stopped;
        }
        if !busy {
            thread::sleep(REST);
        }
    };
    Ok(ends.into_iter().map(|e| e.into_outcome(ended)).collect())
}
