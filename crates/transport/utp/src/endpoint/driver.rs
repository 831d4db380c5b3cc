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
pub(super) async fn drive(inner: Arc<Inner>, mut socket: Socket) {
    let (mut buf, mut messages) = (vec![0; MAX_DATAGRAM], Messages::default());
    let mut out = Batch::default();
    let mut alarm = pin!(tokio::time::sleep(Duration::ZERO));
    let mut was_empty = true;
    let (turn, busy_polls) = {
        let table = inner.table();
        (table.socket_buffer.turn(), table.socket_buffer.busy_polls())
    };
    let mut polls_left = 0;
    loop {
        // Awake already: a task that wakes itself up makes the runtime rouse another worker, for nothing.
        {
            let mut table = inner.table();
            table.driver = None;
            if was_empty {
                table.socket_buffer.about_to_read(|| socket.waiting_memory());
            }
        }
        let mut any_error = false;
        let read = |buf: &mut [u8]| {
            let result = socket.try_recv_from(&mut messages, buf);
            any_error |= result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock);
            result
        };
        let reading = receive(&inner, turn, read, &mut buf);
        if reading == Reading::More {
            polls_left = busy_polls;
        }
        was_empty = reading == Reading::Drained;
        if inner.table().take_beginnings() {
            // The first packets are acknowledged at once. What the application writes now carries that along.
            tokio::task::yield_now().await;
        }
        let deadline = loop {
            let now = inner.now();
            let deadline = {
                let mut table = inner.table();
                table.run_deadlines(now);
                table.transmit(&inner.config, now, &mut out);
                table.next_deadline()
            };
            if out.is_empty() {
                break deadline;
            }
            #[cfg(feature = "dump")]
            dump_sent(&inner, now, &out);
            if out.has_full_train() {
                polls_left = busy_polls;
            }
            any_error |= send(&socket, &out).await;
            out.clear();
        };
        if any_error {
            let mut table = inner.table();
            let now = inner.now();
            socket.take_too_big().iter().for_each(|report| table.note_too_big(now, report.to, report.mtu));
        }
        if inner.is_done() {
            inner.table().die();
            return;
        }
        match reading {
            Reading::Drained if polls_left > 0 => {
                polls_left -= 1;
                tokio::task::yield_now().await;
                continue;
            }
            Reading::Drained => {}
            Reading::More => {
                tokio::task::yield_now().await;
                continue;
            }
            Reading::Failed => {
                // It may count as readable all the while: waiting for that would be no waiting.
                tokio::time::sleep(AFTER_ERROR).await;
                continue;
            }
        }
        tokio::select! {
            result = socket.readable() => {
                if result.is_err() {
                    inner.table().die();
                    return;
                }
            }
            () = until(&inner, alarm.as_mut(), deadline) => {}
            () = touched(&inner) => {}
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
                let at = Arrival { now, stamp, is_marked: incoming.ecn == Some(CE) };
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
