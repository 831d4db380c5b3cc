//! Traffic at a constant rate: a call, or any probe. Each packet carries the time it was sent, so the receiver knows how
//! long it took. Two plain threads with blocking sockets: what they add to the delay is a wake-up, not a scheduler's
//! queue.

use super::log::{Log, Timing};
use crate::error::Error;
use afteryou_base::{Span, Time};
use afteryou_scenario::{Flow, Rate, Size};
use socket2::SockRef;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// IPv4 and UDP headers, bytes.
const OVERHEAD: u64 = 28;
/// How often a thread looks whether the run is over.
const LOOK: Duration = Duration::from_millis(50);

/// Both ends before they start.
pub(crate) struct Ends {
    flow: Flow,
    client: UdpSocket,
    server: UdpSocket,
    rate: Rate,
    payload: Size,
}

/// The two threads of a call. Dropping it does not stop them: `over` does.
pub(crate) struct Call {
    threads: [JoinHandle<()>; 2],
}

impl Ends {
    pub(crate) fn open(flow: &Flow, rate: Rate, payload: Size) -> Result<Ends, Error> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let socket = || UdpSocket::bind(address).map_err(|source| Error::Socket { address, source });
        Ends::with_sockets(flow, [socket()?, socket()?], rate, payload)
    }

    /// Creates ends with the sender's and the receiver's socket.
    pub(crate) fn with_sockets(
        flow: &Flow,
        [client, server]: [UdpSocket; 2],
        rate: Rate,
        payload: Size,
    ) -> Result<Ends, Error> {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let refused = |source| Error::Socket { address, source };
        SockRef::from(&client).set_tos_v4(u32::from(flow.dscp().0.tos(0))).map_err(refused)?;
        Ok(Ends { flow: flow.clone(), client, server, rate, payload })
    }

    pub(crate) fn server_addr(&self) -> Result<SocketAddr, Error> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.server.local_addr().map_err(|source| Error::Socket { address, source })
    }

    /// Starts both threads; they end once `over` is set.
    pub(crate) fn start(
        self,
        front: SocketAddr,
        link_rate: Rate,
        timing: Timing,
        log: Arc<Log>,
        over: Arc<AtomicBool>,
    ) -> Result<Call, Error> {
        let Ends { flow, client, server, rate, payload } = self;
        let on_the_wire = Span::of_bytes(payload.bytes() + OVERHEAD, link_rate.bytes_per_second());
        let empty_path = flow.rtt.0 / 2 + on_the_wire;
        let interval = Span::of_bytes(payload.bytes(), rate.bytes_per_second());
        let (for_sender, for_receiver) = (Arc::clone(&over), over);
        let send =
            move || send(&client, front, &flow, payload.bytes() as usize, interval, timing, &for_sender);
        let receive = move || receive(&server, timing, empty_path, &log, &for_receiver);
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::Thread)
        };
        Ok(Call {
            threads: [spawn("cbr sender", Box::new(send))?, spawn("cbr receiver", Box::new(receive))?],
        })
    }
}

impl Call {
    pub(crate) fn join(self) {
        self.threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

fn send(
    socket: &UdpSocket,
    front: SocketAddr,
    flow: &Flow,
    payload: usize,
    interval: Span,
    timing: Timing,
    over: &AtomicBool,
) {
    let mut packet = vec![0; payload];
    let mut at = flow.start.0.max(timing.from);
    while !over.load(Ordering::Relaxed) && flow.stop.is_none_or(|stop| at < stop.0) {
        let wait = Duration::from(timing.time_of(at).since(timing.clock.now()));
        if wait > LOOK {
            thread::sleep(LOOK);
            continue;
        }
        thread::sleep(wait);
        packet[..8].copy_from_slice(&timing.clock.now().as_nanos().to_be_bytes());
        // A packet that the system refuses is a packet lost: the receiver counts none.
        let _ = socket.send_to(&packet, front);
        at = at + interval;
    }
}

fn receive(socket: &UdpSocket, timing: Timing, empty_path: Span, log: &Log, over: &AtomicBool) {
    if socket.set_read_timeout(Some(LOOK)).is_err() {
        return; // a zero timeout is the only reason, and LOOK is none
    }
    let mut buf = [0; 2048];
    loop {
        match socket.recv(&mut buf) {
            Ok(n) => {
                let arrived = timing.clock.now();
                if let Some(stamp) = buf[..n].first_chunk::<8>() {
                    let took = arrived.since(Time(u64::from_be_bytes(*stamp)));
                    log.received(timing.now(), n as u64);
                    log.delayed(timing.now(), took.saturating_sub(empty_path));
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if over.load(Ordering::Relaxed) {
                    return;
                }
            }
            Err(_) => {} // an ICMP answer to something else
        }
    }
}
