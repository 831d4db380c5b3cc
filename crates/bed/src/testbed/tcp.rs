//! A flow of the kernel's TCP: a thread that sends and one that receives, with blocking sockets.

use crate::error::Error;
use crate::net::{Family, Side, Topology};
use crate::run::log::{Log, Timing};
use crate::system;
use afteryou_base::Span;
use afteryou_scenario::{Flow, Traffic};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often a blocked thread looks whether the run is over.
const LOOK: Duration = Duration::from_millis(50);
/// Read and written at a time, bytes.
const CHUNK: usize = 64 << 10;
/// The congestion controls of this kernel.
const PRESENT: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Both ends before they start.
pub(super) struct Ends {
    flow: Flow,
    sender: Socket,
    listener: Socket,
    to: SocketAddr,
}

/// Both ends at work.
pub(super) struct Running {
    stream: Arc<OnceLock<TcpStream>>,
    samples: Mutex<Vec<Sample>>,
    threads: [JoinHandle<io::Result<()>>; 2],
}

/// The kernel's view of the connection at a moment.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) at: Span,
    pub(super) cwnd_bytes: u64,
    pub(super) srtt: Duration,
    pub(super) retransmissions: u32,
}

/// The kernel's name of a congestion control.
fn kernel_name(controller: &str) -> &str {
    match controller {
        "newreno" => "reno",
        other => other,
    }
}

impl Ends {
    /// Opens the sockets of the flow with this index.
    pub(super) fn open(topology: &Topology, index: usize, flow: &Flow) -> Result<Ends, Error> {
        let addresses = topology.addresses(Family::V4, index);
        let socket = |side, address| {
            let address = SocketAddr::new(address, 0);
            let open = move || -> io::Result<Socket> {
                let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
                socket.bind(&address.into())?;
                Ok(socket)
            };
            topology.namespace(side).run(open)?.map_err(|source| Error::Socket { address, source })
        };
        let sender = socket(Side::Senders, addresses.sender)?;
        let listener = socket(Side::Receivers, addresses.receiver)?;
        let name = kernel_name(flow.controller.as_ref().map_or("cubic", |controller| &controller.kind));
        sender.set_tcp_congestion(name.as_bytes()).map_err(|reason| Error::Congestion {
            flow: flow.name.clone(),
            name: name.to_owned(),
            present: std::fs::read_to_string(PRESENT).unwrap_or_default().trim().to_owned(),
            reason,
        })?;
        let prepare = || -> io::Result<SocketAddr> {
            sender.set_tos_v4(u32::from(flow.dscp().bits()) << 2)?;
            // Nobody waits for what is still on its way when a flow is cut off.
            sender.set_linger(Some(Duration::ZERO))?;
            sender.set_write_timeout(Some(LOOK))?;
            sender.set_read_timeout(Some(LOOK))?;
            listener.listen(1)?;
            listener.set_read_timeout(Some(LOOK))?;
            listener.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::InvalidInput.into())
        };
        let to = prepare().map_err(|error| failed(flow, &error))?;
        Ok(Ends { flow: flow.clone(), sender, listener, to })
    }

    /// Starts both threads; they end once `over` is set.
    pub(super) fn start(
        self,
        timing: Timing,
        log: Arc<Log>,
        over: Arc<AtomicBool>,
    ) -> Result<Running, Error> {
        let Ends { flow, sender, listener, to } = self;
        let stream = Arc::new(OnceLock::new());
        let (for_sender, over_for_sender, sender_log) =
            (Arc::clone(&stream), Arc::clone(&over), Arc::clone(&log));
        let send = move || {
            let end = End { timing, log: &sender_log, over: &over_for_sender };
            end.send(&flow, sender, to, &for_sender)
        };
        let receive = move || End { timing, log: &log, over: &over }.receive(&listener);
        let sending = thread::Builder::new().name("tcp sender".to_owned()).spawn(send);
        let receiving = thread::Builder::new().name("tcp receiver".to_owned()).spawn(receive);
        Ok(Running {
            stream,
            samples: Mutex::default(),
            threads: [sending.map_err(Error::Thread)?, receiving.map_err(Error::Thread)?],
        })
    }
}

impl Running {
    /// Takes a sample of the connection, if there is one.
    pub(super) fn sample(&self, at: Span) {
        let Some(info) = self.stream.get().and_then(|stream| system::tcp_info(stream).ok()) else { return };
        let sample = Sample {
            at,
            cwnd_bytes: u64::from(info.tcpi_snd_cwnd) * u64::from(info.tcpi_snd_mss),
            srtt: Duration::from_micros(info.tcpi_rtt.into()),
            retransmissions: info.tcpi_total_retrans,
        };
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
    }

    /// Have both ends come to their end?
    pub(super) fn is_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Waits for both threads and returns the samples.
    pub(super) fn join(self, flow: &Flow) -> Result<Vec<Sample>, Error> {
        for thread in self.threads {
            thread.join().map_err(|_| Error::Crashed)?.map_err(|error| failed(flow, &error))?;
        }
        Ok(self.samples.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What both threads have.
struct End<'a> {
    timing: Timing,
    log: &'a Log,
    over: &'a AtomicBool,
}

impl End<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn send(
        &self,
        flow: &Flow,
        socket: Socket,
        to: SocketAddr,
        place: &OnceLock<TcpStream>,
    ) -> io::Result<()> {
        while let Some(wait) = flow.start.0 .0.checked_sub(self.timing.now().0).filter(|wait| *wait > 0) {
            if self.is_over() {
                return Ok(());
            }
            thread::sleep(Duration::from(Span(wait)).min(LOOK));
        }
        // A blocking connect would not see the end of the run.
        while let Err(error) = socket.connect_timeout(&to.into(), Duration::from_secs(10)) {
            if self.is_over() || !is_timeout(&error) {
                return if self.is_over() { Ok(()) } else { Err(error) };
            }
        }
        self.log.began(self.timing.now());
        let mut stream = place.get_or_init(|| socket.into());
        let is_cut_off = || self.is_over() || flow.stop.is_some_and(|stop| self.timing.now() >= stop.0);
        let mut left = match flow.traffic {
            Traffic::Size(size) => size.bytes(),
            _ => u64::MAX,
        };
        let data = vec![0x5a; CHUNK];
        while left > 0 && !is_cut_off() {
            let want = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
            match stream.write(&data[..want]) {
                Ok(written) => left -= written as u64,
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if left == 0 {
            stream.shutdown(Shutdown::Write)?;
            // The receiver closes once it has everything.
            while !is_cut_off() && stream.read(&mut [0; 1]).is_err_and(|error| is_timeout(&error)) {}
        }
        self.log.stopped(self.timing.now());
        stream.shutdown(Shutdown::Both).or_else(|error| match error.kind() {
            io::ErrorKind::NotConnected => Ok(()),
            _ => Err(error),
        })
    }

    fn receive(&self, listener: &Socket) -> io::Result<()> {
        let mut stream: TcpStream = loop {
            match listener.accept() {
                Ok((socket, _)) => break socket.into(),
                Err(error) if is_timeout(&error) && !self.is_over() => {}
                Err(error) if is_timeout(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        };
        SockRef::from(&stream).set_read_timeout(Some(LOOK))?;
        let mut buffer = vec![0; CHUNK];
        while !self.is_over() {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(bytes) => self.log.received(self.timing.now(), bytes as u64),
                Err(error) if is_timeout(&error) => {}
                // The sender was cut off.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn failed(flow: &Flow, error: &io::Error) -> Error {
    Error::Flow { flow: flow.name.clone(), reason: error.to_string() }
}
