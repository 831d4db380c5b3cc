//! The task that moves datagrams between the socket and the connections.

use super::batch::Batch;
use super::socket::Socket;
use super::socket_buffer::Turn;
use super::Inner;
use crate::connection::Arrival;
use afteryou_base::Time;
use afteryou_sockets::{Incoming, Messages};
use std::future::poll_fn;
use std::io;
use std::pin::{pin, Pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};
use tokio::time::Sleep;

/// The two low bits of a mark of Congestion Experienced (RFC 3168 §5).
const CE: u8 = 0b11;
/// Largest UDP datagram.
const MAX_DATAGRAM: usize = 65_536;

/// Linux's number of the error that a datagram is too long, for which the standard library has no kind.
const EMSGSIZE: i32 = 90;

/// How long a socket that fails is left alone.
const AFTER_ERROR: Duration = Duration::from_millis(10);

/// The outcome of a turn of reading.
#[derive(Debug, PartialEq, Eq)]
enum Reading {
    /// Nothing is left.
    Drained,
    /// The batch is full.
    More,
    /// The socket fails, and may at the next try, too.
    Failed,
}

/// Runs until the endpoint is dropped and its last connection has ended.
pub(super) async fn drive(inner: Arc<Inner>, socket: Socket) {
    let mut alarm = pin!(tokio::time::sleep(Duration::ZERO));
    let mut driver = Driver::new(inner, socket);
    loop {
        driver.begin_turn();
        let reading = driver.read();
        driver.let_applications_begin().await;
        let deadline = driver.transmit().await;
        driver.note_errors();
        if driver.inner.is_done() {
            break;
        }
        if !driver.goes_on(reading).await && !driver.wait(alarm.as_mut(), deadline).await {
            break;
        }
    }
    driver.inner.table().die();
}

/// The driver of an endpoint, and what it keeps from turn to turn.
struct Driver {
    inner: Arc<Inner>,
    socket: Socket,
    buf: Vec<u8>,
    messages: Messages,
    out: Batch,
    turn: Turn,
    /// The latest reading left nothing in the socket.
    was_empty: bool,
    /// The socket has reported an error in this turn.
    any_error: bool,
    /// Polls of an idle socket after a busy turn, and how many of them are left.
    busy_polls: u32,
    polls_left: u32,
}

impl Driver {
    fn new(inner: Arc<Inner>, socket: Socket) -> Driver {
        let (turn, busy_polls) = {
            let table = inner.table();
            (table.socket_buffer.turn(), table.socket_buffer.busy_polls())
        };
        Driver {
            inner,
            socket,
            buf: vec![0; MAX_DATAGRAM],
            messages: Messages::default(),
            out: Batch::default(),
            turn,
            was_empty: true,
            any_error: false,
            busy_polls,
            polls_left: 0,
        }
    }

    /// Begins a turn awake: a task that wakes itself up makes the runtime rouse another worker, for nothing.
    fn begin_turn(&mut self) {
        let mut table = self.inner.table();
        table.driver = None;
        if self.was_empty {
            table.socket_buffer.about_to_read(|| self.socket.waiting_memory());
        }
        self.any_error = false;
    }

    /// Gives what has come to the connections.
    fn read(&mut self) -> Reading {
        let Driver { inner, socket, buf, messages, any_error, turn, .. } = self;
        let read = |buf: &mut [u8]| {
            let result = socket.try_recv_from(messages, buf);
            *any_error |= result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock);
            result
        };
        let reading = receive(inner, *turn, read, buf);
        if reading == Reading::More {
            self.polls_left = self.busy_polls;
        }
        self.was_empty = reading == Reading::Drained;
        reading
    }

    /// Lets applications write on connections that have just begun. Their first packets are acknowledged at once, and what is
    /// written now carries that along.
    async fn let_applications_begin(&self) {
        if self.inner.table().take_beginnings() {
            tokio::task::yield_now().await;
        }
    }

    /// Sends what is due, and returns when more will be.
    async fn transmit(&mut self) -> Option<Time> {
        loop {
            let now = self.inner.now();
            let deadline = {
                let mut table = self.inner.table();
                table.run_deadlines(now);
                table.transmit(&self.inner.config, now, &mut self.out);
                table.next_deadline()
            };
            if self.out.is_empty() {
                return deadline;
            }
            #[cfg(feature = "dump")]
            dump_sent(&self.inner, now, &self.out);
            if self.out.has_full_train() {
                self.polls_left = self.busy_polls;
            }
            self.any_error |= send(&self.socket, &self.out).await;
            self.out.clear();
        }
    }

    /// Takes in routers' reports about datagrams that were too long, after an error.
    fn note_errors(&mut self) {
        if self.any_error {
            let mut table = self.inner.table();
            let now = self.inner.now();
            let reports = self.socket.take_too_big();
            reports.iter().for_each(|report| table.note_too_big(now, report.to, report.mtu));
        }
    }

    /// Returns whether the next turn begins without waiting for an event.
    async fn goes_on(&mut self, reading: Reading) -> bool {
        match reading {
            Reading::Drained if self.polls_left == 0 => return false,
            Reading::Drained => {
                self.polls_left -= 1;
                tokio::task::yield_now().await;
            }
            Reading::More => tokio::task::yield_now().await,
            // It may count as readable all the while: waiting for that would be no waiting.
            Reading::Failed => tokio::time::sleep(AFTER_ERROR).await,
        }
        true
    }

    /// Waits for datagrams, the deadline or an application. Returns false if the socket is gone.
    async fn wait(&mut self, alarm: Pin<&mut Sleep>, deadline: Option<Time>) -> bool {
        tokio::select! {
            result = self.socket.readable() => result.is_ok(),
            () = until(&self.inner, alarm, deadline) => true,
            () = touched(&self.inner) => true,
        }
    }
}

/// Returns whether a datagram has been too long for the path.
fn is_too_long(error: &io::Error) -> bool {
    cfg!(target_os = "linux") && error.raw_os_error() == Some(EMSGSIZE)
}

/// Reads one turn, and the rest of its last batch. Those that came as one batch have one lock, one reading of
/// the clock and one time of arrival.
fn receive(
    inner: &Inner,
    turn: Turn,
    mut read: impl FnMut(&mut [u8]) -> io::Result<Incoming>,
    buf: &mut [u8],
) -> Reading {
    let (mut datagrams, mut bytes) = (0, 0);
    while datagrams < turn.datagrams && bytes < turn.bytes {
        match read(buf) {
            Ok(incoming) => {
                // Taken right after the read: a delay measured later would count our own work as queue.
                let now = inner.now();
                let age = incoming.arrived.and_then(|_| incoming.age(SystemTime::now())).unwrap_or_default();
                let mut table = inner.table();
                // The wall clock may have been set. Nothing has waited for longer than since the buffer was empty.
                let arrived = Time(now.0.saturating_sub(u64::try_from(age.as_nanos()).unwrap_or(u64::MAX)));
                let stamp = arrived.max(table.socket_buffer.empty_at()).min(now);
                let at = Arrival { now, stamp: Some(stamp), is_marked: incoming.ecn == Some(CE) };
                #[cfg(feature = "dump")]
                dump_received(inner, stamp, &incoming, buf);
                bytes += incoming.bytes;
                table.socket_buffer.read(incoming.datagrams(buf).map(<[u8]>::len));
                for datagram in incoming.datagrams(buf) {
                    table.receive(&inner.config, at, incoming.from, datagram, super::random::random_u16);
                    datagrams += 1;
                }
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => {
                    inner.table().socket_buffer.emptied(inner.now());
                    return Reading::Drained;
                }
                // An earlier datagram's ICMP is reported here; it does not concern this socket.
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::Interrupted => datagrams += 1,
                _ if is_too_long(&error) => datagrams += 1,
                _ => return Reading::Failed,
            },
        }
    }
    Reading::More
}

/// Sends everything in `out`, and returns true if the system reports an error. It may be an earlier packet's: ICMP comes this way, and
/// nothing has left then. A packet that the system refuses twice is lost, as it might be anywhere on the path.
async fn send(socket: &Socket, out: &Batch) -> bool {
    let mut any_error = false;
    for (train, bytes) in out.trains() {
        let send = || socket.send_to(bytes, train.segment, train.peer, train.manner);
        if send().await.is_err() {
            any_error = true;
            _ = send().await;
        }
    }
    any_error
}

/// Writes datagrams that leave to the capture, if there is one.
#[cfg(feature = "dump")]
fn dump_sent(inner: &Inner, now: Time, out: &Batch) {
    let dump = &inner.config.dump;
    if dump.captures() {
        for (train, bytes) in out.trains() {
            let tos = train.manner.tos(inner.config.dscp);
            bytes.chunks(train.segment.max(1)).for_each(|datagram| dump.sent(now, train.peer, tos, datagram));
        }
    }
}

/// Writes datagrams that have come to the capture, if there is one.
#[cfg(feature = "dump")]
fn dump_received(inner: &Inner, stamp: Time, incoming: &Incoming, buf: &[u8]) {
    let dump = &inner.config.dump;
    if dump.captures() {
        let tos = incoming.tos.or(incoming.ecn).unwrap_or_default();
        incoming.datagrams(buf).for_each(|datagram| dump.received(stamp, incoming.from, tos, datagram));
    }
}

/// Completes at the deadline. One alarm serves for all: to put it off costs next to nothing, to set up another one rouses
/// whoever waits for events.
async fn until(inner: &Inner, mut alarm: Pin<&mut Sleep>, deadline: Option<Time>) {
    let Some(at) = deadline.map(|at| inner.instant(at)) else { return std::future::pending().await };
    if alarm.deadline() != at {
        alarm.as_mut().reset(at);
    }
    alarm.await;
}

/// Completes when somebody has touched a connection since the driver last looked.
async fn touched(inner: &Inner) {
    let mut registered = false;
    poll_fn(|cx| {
        let mut table = inner.table();
        if registered && table.driver.is_none() {
            return Poll::Ready(());
        }
        if table.has_work() {
            return Poll::Ready(());
        }
        table.driver = Some(cx.waker().clone());
        registered = true;
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::super::EndpointConfig;
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::Mutex;

    #[test]
    fn a_socket_that_fails_is_left_alone_after_the_first_error_and_passing_ones_are_skipped() {
        let inner = Inner {
            config: EndpointConfig::foreground(),
            epoch: std::time::Instant::now(),
            table: Mutex::default(),
            endpoints: AtomicUsize::new(1),
        };
        let turn = Turn { datagrams: 64, bytes: usize::MAX };
        for (kind, expected, reads) in [
            (io::ErrorKind::NetworkDown, Reading::Failed, 1),
            (io::ErrorKind::WouldBlock, Reading::Drained, 1),
            (io::ErrorKind::ConnectionReset, Reading::More, turn.datagrams),
            (io::ErrorKind::Interrupted, Reading::More, turn.datagrams),
        ] {
            let mut count = 0;
            let read = |_: &mut [u8]| {
                count += 1;
                Err(kind.into())
            };
            assert_eq!((receive(&inner, turn, read, &mut [0; 10]), count), (expected, reads), "{kind:?}");
        }
    }
}
