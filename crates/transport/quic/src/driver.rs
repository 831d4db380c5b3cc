//! The task that drives a connection: it brings the connection's controllers and the socket together, and wakes for departures.
//!
//! quinn polls one task for each connection. A turn of it reads what has arrived, asks the controller for the window, builds
//! packets and passes them to the socket, all on one thread:
//!
//! ```text
//!   turn begins ─▶ acks ─▶ window? ─▶ packets built ─▶ on_sent ─▶ try_send ─▶ window? ─▶ turn ends ─▶ alarm is set
//!                          │                           │          │           │
//!                          open                        departure  at 3.1 ms   closed until 12 ms      for 12 ms
//!                                                      awaited
//! ```
//! quinn makes a poller for each connection and a controller for each path, and names neither to the other. The task is their
//! common ground: what is called within a turn belongs to its connection. This holds for any number of connections of an
//! endpoint, for clients and servers, for every path that a connection moves to, and until it ends.
//!
//! # Why the poller does not wait for the departure
//! quinn builds packets first and polls `poll_writable` then (`drive_transmit`, lines 1032–1051 of `quinn/src/connection.rs`). A
//! poller that pends would hold back packets that quinn has dated, counted as in flight and armed timers for. quinn keeps this
//! one batch, and everything waits behind it: acknowledgements, probes after a timeout, the close of the connection. At two
//! packets in a round trip of 250 ms an acknowledgement would be 100 ms late. So the controller's window is closed until the
//! departure instead, which holds back data alone, and the alarm here polls the task again.

use crate::clock::{instant_of, now};
use afteryou_base::Time;
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};
use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn::NONE) };
}

/// The turn that a thread is in.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Counts the turns of a task, and in each the transmissions; 0: the thread is in none.
    number: u64,
    /// The time of the task's next turn.
    due: Time,
    departure: Departure,
}

/// The departure of the batch that the controller was notified of last.
#[derive(Clone, Copy, Debug)]
enum Departure {
    /// There is none, or the controller has it.
    Known,
    /// quinn has built it.
    Awaited,
    /// The socket took it.
    At(Time),
}

impl Turn {
    const NONE: Turn = Turn { number: 0, due: Time::NEVER, departure: Departure::Known };
}

/// Returns the number of this turn, if the thread is in one.
pub(crate) fn turn() -> Option<u64> {
    let number = TURN.get().number;
    (number > 0).then_some(number)
}

/// Gives the task another turn at `at`, or earlier.
pub(crate) fn wake_at(at: Time) {
    let turn = TURN.get();
    TURN.set(Turn { due: turn.due.min(at), ..turn });
}

/// Notes that quinn has built packets, which leave next.
pub(crate) fn await_departure() {
    let turn = TURN.get();
    if turn.number > 0 {
        TURN.set(Turn { departure: Departure::Awaited, ..turn });
    }
}

/// Returns when the packets awaited last left, once.
pub(crate) fn take_departure() -> Option<Time> {
    let turn = TURN.get();
    let Departure::At(at) = turn.departure else { return None };
    TURN.set(Turn { departure: Departure::Known, ..turn });
    Some(at)
}

/// Sends by `send`, and notes when, if packets are awaited. The clock is read first: over loopback the answer may be there
/// before `send` returns. The next packets that quinn builds belong to another turn.
pub(crate) fn depart(send: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let turn = TURN.get();
    if turn.number == 0 {
        return send();
    }
    let departure = match turn.departure {
        Departure::Awaited => Departure::At(now()),
        known => known,
    };
    send()?;
    TURN.set(Turn { number: turn.number + 1, departure, ..turn });
    Ok(())
}

/// Returns `runtime` with tasks in which a controller paces its packets, for an endpoint that a program creates itself;
/// [`endpoint`](crate::endpoint) has one. Times of departure require a [`Socket`](crate::Socket).
///
/// ```
/// # async fn example(socket: std::sync::Arc<afteryou_quic::Socket>) -> std::io::Result<()> {
/// let runtime = afteryou_quic::pacing_runtime(std::sync::Arc::new(quinn::TokioRuntime));
/// let config = quinn::EndpointConfig::default();
/// let endpoint = quinn::Endpoint::new_with_abstract_socket(config, None, socket, runtime)?;
/// # Ok(())
/// # }
/// ```
pub fn pacing_runtime(runtime: Arc<dyn Runtime>) -> Arc<dyn Runtime> {
    Arc::new(PacingRuntime { runtime })
}

#[derive(Debug)]
struct PacingRuntime {
    runtime: Arc<dyn Runtime>,
}

impl Runtime for PacingRuntime {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        self.runtime.new_timer(at)
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let runtime = Arc::clone(&self.runtime);
        self.runtime.spawn(Box::pin(Driver { task, runtime, turn: Turn::NONE, alarm: None }));
    }

    fn wrap_udp_socket(&self, socket: std::net::UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        self.runtime.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        self.runtime.now()
    }
}

/// A task of quinn's, and its alarm.
struct Driver {
    task: Pin<Box<dyn Future<Output = ()> + Send>>,
    runtime: Arc<dyn Runtime>,
    /// The latest turn.
    turn: Turn,
    /// None until a packet waits. With the time that it is set for.
    alarm: Option<(Pin<Box<dyn AsyncTimer>>, Time)>,
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let driver = &mut *self;
        let next = Turn { number: driver.turn.number + 1, due: Time::NEVER, ..driver.turn };
        let running = Running::begin(next);
        let result = driver.task.as_mut().poll(cx);
        driver.turn = running.end();
        if result.is_pending() && driver.turn.due < Time::NEVER {
            driver.set_alarm(cx);
        }
        result
    }
}

impl Driver {
    fn set_alarm(&mut self, cx: &mut Context<'_>) {
        let due = self.turn.due;
        let (alarm, set_for) =
            self.alarm.get_or_insert_with(|| (self.runtime.new_timer(instant_of(due)), due));
        if *set_for != due {
            alarm.as_mut().reset(instant_of(due));
            *set_for = due;
        }
        if alarm.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}

/// Runs `work` within a turn of a task. Returns when the task is to have another one, too.
#[cfg(test)]
pub(crate) fn within_turn<T>(work: impl FnOnce() -> T) -> (T, Time) {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    let number = NUMBER.fetch_add(1000, std::sync::atomic::Ordering::Relaxed);
    let running = Running::begin(Turn { number, ..Turn::NONE });
    let result = work();
    (result, running.end().due)
}

/// Reports that the packets awaited left at `at`.
#[cfg(test)]
pub(crate) fn depart_at(at: Time) {
    let turn = TURN.get();
    if matches!(turn.departure, Departure::Awaited) {
        TURN.set(Turn { number: turn.number + 1, departure: Departure::At(at), ..turn });
    }
}

/// A turn that is under way. It ends even if the task panics.
struct Running;

impl Running {
    fn begin(turn: Turn) -> Running {
        TURN.set(turn);
        Running
    }

    fn end(self) -> Turn {
        TURN.get()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        TURN.set(Turn::NONE);
    }
}
