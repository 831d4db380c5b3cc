//! Watches a download for some seconds: first its window is held and released, then it is steered as `afteryou get` does.
//!
//! # Model
//! A thread reads and sets the connection each millisecond, from the moment it is connected. Each socket of a redirect takes the place of
//! the one before. The body is read as fast as it comes and thrown away.

use super::judge::{self, Measured};
use crate::doctor::Check;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Time;
use afteryou_http::Look;
use afteryou_outside::linux::{Own, Tried};
use afteryou_outside::probe::{Probe, Reading};
use afteryou_outside::rule::Params;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// Time between two readings: the kernel's own clock of round trips.
const TICK: Duration = Duration::from_millis(1);
/// Most bytes.
const MOST: u64 = 32 << 20;
/// Longest time with the steering of `afteryou get`, after the test of the sender …
const LOADED: Duration = Duration::from_secs(2);
/// … for which at least this is left.
const LOADED_LEAST: Duration = Duration::from_millis(600);
/// The steering needs this long to find the connection.
const FOUND: Duration = Duration::from_millis(200);

/// Takes sockets from the client.
#[derive(Default)]
pub struct Sockets {
    tried: Mutex<Option<Arc<Tried>>>,
    failed: Mutex<Option<String>>,
    is_answered: AtomicBool,
    has_ended: AtomicBool,
}

impl Sockets {
    /// Takes the socket of a new connection.
    pub fn take(&self, stream: &TcpStream) {
        match Tried::new(stream.as_fd()) {
            Ok(tried) => *self.tried.lock().even_poisoned() = Some(Arc::new(tried)),
            Err(error) => *self.failed.lock().even_poisoned() = Some(error.to_string()),
        }
    }

    fn latest(&self) -> Option<Arc<Tried>> {
        self.tried.lock().even_poisoned().clone()
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }
}

/// A download that is watched.
pub struct Watch {
    sockets: Arc<Sockets>,
    thread: Option<JoinHandle<Measured>>,
    done: oneshot::Receiver<()>,
}

impl Watch {
    /// Begins. It ends at `end` at the latest.
    pub fn begin(end: Instant) -> Watch {
        let sockets = Arc::new(Sockets::default());
        let (is_done, done) = oneshot::channel();
        let theirs = Arc::clone(&sockets);
        let thread = thread::spawn(move || {
            let measured = watch(&theirs, end);
            // The reader may have ended before.
            let _ = is_done.send(());
            measured
        });
        Watch { sockets, thread: Some(thread), done }
    }

    /// Returns what takes the client's sockets.
    pub fn sockets(&self) -> Arc<Sockets> {
        Arc::clone(&self.sockets)
    }

    /// Reads the body until enough was seen, or the file is over, and judges it.
    pub async fn finish(self, mut look: Look) -> Vec<Check> {
        if look.peer().ip().to_canonical().is_loopback() {
            return vec![Check::ok(
                "download",
                "not measured: a connection within this machine meets no queue",
            )];
        }
        let measured = self.measure(&mut look).await;
        judge::checks(&measured, look.is_proxied())
    }

    async fn measure(mut self, look: &mut Look) -> Measured {
        self.sockets.is_answered.store(true, Ordering::Relaxed);
        tokio::select! {
            () = async { while let Ok(Some(_)) = look.next().await {} } => {}
            _ = &mut self.done => {}
        }
        self.sockets.has_ended.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_else(|| nothing(&self.sockets))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.sockets.has_ended.store(true, Ordering::Relaxed);
    }
}

fn nothing(sockets: &Sockets) -> Measured {
    Measured {
        held: None,
        sender: Probe::new(0).sender(),
        least: None,
        loaded: Vec::new(),
        rate: 0.0,
        bytes: 0,
        took: Duration::ZERO,
        failed: sockets.failed.lock().even_poisoned().clone(),
    }
}

fn watch(sockets: &Sockets, end: Instant) -> Measured {
    let is_over = || sockets.has_ended() || Instant::now() >= end;
    let mut measured = nothing(sockets);
    let tried = loop {
        match sockets.latest() {
            Some(tried) => {
                let window = tried.mss().map_or(0, |mss| Probe::new(mss).window());
                let set = tried.set_window(window);
                if sockets.is_answered.load(Ordering::Relaxed) {
                    break tried;
                }
                measured.failed = set.err().map(|error| error.to_string());
            }
            None if is_over() => return nothing(sockets),
            None => {}
        }
        if is_over() {
            return measured;
        }
        thread::sleep(TICK);
    };
    let began = Instant::now();
    test(&tried, &mut measured, &|| is_over() || Instant::now() + LOADED_LEAST >= end);
    let until = end.min(Instant::now() + LOADED);
    load(&tried, &mut measured, &|| is_over() || Instant::now() >= until);
    if let Ok(last) = tried.read() {
        (measured.bytes, measured.least) = (last.bytes, last.least_rtt);
    }
    measured.took = began.elapsed();
    measured
}

/// Finds how the window is obeyed, and the kind of the sender.
fn test(tried: &Tried, measured: &mut Measured, is_over: &dyn Fn() -> bool) {
    let mut probe = Probe::new(tried.mss().unwrap_or_default());
    let began = Instant::now();
    while !probe.is_over() && !is_over() {
        if let Err(error) = tried.set_window(probe.window()) {
            measured.failed = Some(error.to_string());
            break;
        }
        let Ok(reading) = tried.read() else { break };
        probe.see(time(began), reading);
        if reading.bytes >= MOST {
            break;
        }
        thread::sleep(TICK);
    }
    (measured.held, measured.sender) = (probe.held(), probe.sender());
}

/// Notes round trips and rate while the download is steered as `afteryou get` does.
fn load(tried: &Tried, measured: &mut Measured, is_over: &dyn Fn() -> bool) {
    let Ok(_own) = Own::begin(Params::default(), None) else { return };
    let began = Instant::now();
    let mut first: Option<(Instant, Reading)> = None;
    while !is_over() {
        let Ok(reading) = tried.read() else { break };
        if began.elapsed() >= FOUND {
            let (since, first) = *first.get_or_insert((Instant::now(), reading));
            measured.loaded.extend(reading.rtt);
            let time = since.elapsed().as_secs_f64();
            if time > 0.0 {
                measured.rate = (reading.bytes - first.bytes) as f64 / time;
            }
        }
        if reading.bytes >= MOST {
            break;
        }
        thread::sleep(TICK);
    }
    measured.loaded.sort_unstable();
}

fn time(began: Instant) -> Time {
    Time(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
