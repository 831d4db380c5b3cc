//! Connections of the kernel's TCP.

use super::super::ready::present;
use super::super::rules::kernel_name;
use super::course::Course;
use super::sampled::Sampled;
use super::Directable;
use crate::error::Error;
use crate::run::log::Timing;
use crate::system::{self, TcpInfo};
use crate::testbed::recorded::FlowLog;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Span;
use afteryou_outside::rule::Direction;
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::{Flow, Traffic};
use afteryou_sim::director::{Id, Remote};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// The TCP of a flow.
pub(super) struct Tcp {
    flow: String,
    congestion: String,
    tos: u32,
    /// Small segments leave at once: a transfer's last one waits for nothing.
    no_delay: bool,
    probes: Arc<Mutex<Probes>>,
    /// Where the scenario records senders or events.
    recorded: Option<FlowLog>,
}

/// The flow's connections, and their samples.
#[derive(Default)]
struct Probes {
    open: BTreeMap<Id, Probe>,
    samples: Vec<Sample>,
    /// Retransmissions of connections that are closed.
    earlier: u32,
}

/// An open connection.
struct Probe {
    socket: Arc<Socket>,
    syns_again: SynsAgain,
    recorded: Option<Sampled>,
}

/// SYNs of a connection that were sent again: the kernel counts them with its data.
#[derive(Clone, Default)]
struct SynsAgain(Arc<AtomicU32>);

impl SynsAgain {
    /// Notes the counters when the handshake is complete, and no data have been sent.
    fn note(&self, info: &TcpInfo) {
        self.0.store(info.retransmissions, Ordering::Relaxed);
    }

    /// Returns the number of retransmissions that are SYNs.
    fn of(&self, info: &TcpInfo) -> u32 {
        match info.data_segments {
            0 => info.retransmissions,
            _ => self.0.load(Ordering::Relaxed).min(info.retransmissions),
        }
    }
}

/// The kernel's view of a connection at a moment.
#[derive(Clone, Copy)]
pub(in crate::testbed) struct Sample {
    pub(in crate::testbed) at: Span,
    pub(in crate::testbed) cwnd_bytes: u64,
    pub(in crate::testbed) srtt: Duration,
    /// Of all connections of the flow so far.
    pub(in crate::testbed) retransmissions: u32,
    /// The kernel's estimate.
    pub(in crate::testbed) delivery_bit_s: f64,
}

impl Tcp {
    pub(super) fn new(spec: &Flow, recorded: Option<FlowLog>) -> Result<Tcp, Error> {
        Ok(Tcp {
            flow: spec.name.clone(),
            congestion: kernel_name(spec).to_owned(),
            tos: u32::from(spec.dscp().0.tos(0)),
            no_delay: !matches!(spec.traffic, Traffic::Bulk | Traffic::OnOff { .. }),
            probes: Arc::default(),
            recorded,
        })
    }

    fn probes(&self) -> MutexGuard<'_, Probes> {
        lock(&self.probes)
    }

    /// Returns whether the kernel has what the flow asks for.
    pub(super) fn try_socket(&self, from: IpAddr) -> Result<(), Error> {
        self.socket(from).map(drop)
    }

    fn socket(&self, from: IpAddr) -> Result<Socket, Error> {
        let address = SocketAddr::new(from, 0);
        let open = || -> io::Result<Socket> {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            socket.bind(&address.into())?;
            socket.set_tos_v4(self.tos)?;
            socket.set_tcp_nodelay(self.no_delay)?;
            // A connection that is cut off sends nothing more.
            socket.set_linger(Some(Duration::ZERO))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|source| Error::Socket { address, source })?;
        socket.set_tcp_congestion(self.congestion.as_bytes()).map_err(|reason| Error::Congestion {
            flow: self.flow.clone(),
            name: self.congestion.clone(),
            present: present(),
            reason,
        })?;
        Ok(socket)
    }

    pub(super) fn sample(&self, at: Span) {
        let mut probes = self.probes();
        let mut newest = None;
        for Probe { socket, syns_again, recorded } in probes.open.values_mut() {
            newest = system::tcp_info(&**socket).ok().map(|info| (info, syns_again.of(&info)));
            if let (Some((info, _)), Some(recorded)) = (newest, recorded) {
                recorded.sample(at, info);
            }
        }
        let Some((info, syns_again)) = newest.filter(|_| probes.open.len() == 1) else { return };
        let sample = Sample {
            at,
            cwnd_bytes: u64::from(info.cwnd) * u64::from(info.mss),
            srtt: Duration::from_micros(info.srtt_us.into()),
            retransmissions: probes.earlier + info.retransmissions - syns_again,
            delivery_bit_s: info.delivery_rate as f64 * 8.0,
        };
        probes.samples.push(sample);
    }

    pub(super) fn samples(&self) -> Vec<Sample> {
        self.probes().samples.clone()
    }

    /// Opens a connection, which does not connect yet.
    pub(super) fn dial(&self, flow: &Directable, course: &Arc<Course>) -> Result<Box<dyn Remote>, Error> {
        let socket = self.socket(flow.from)?;
        let from = SocketAddr::new(flow.from, 0);
        let prepare = || -> io::Result<(u16, Socket)> {
            // A flow that is never turned off keeps the kernel's buffer, which outlasts a busy moment of the machine.
            if matches!(flow.spec.traffic, Traffic::OnOff { .. }) || !flow.spec.active.is_empty() {
                socket.set_tcp_notsent_lowat(flow.shared.unsent_bytes)?;
            }
            let port = socket.local_addr()?.as_socket().map_or(0, |address| address.port());
            Ok((port, socket.try_clone()?))
        };
        let (port, probe) = prepare().map_err(|source| Error::Socket { address: from, source })?;
        flow.expect(port, course);
        let syns_again = SynsAgain::default();
        let begin = {
            let (course, shared, syns_again) = (Arc::clone(course), flow.shared.clone(), syns_again.clone());
            let (name, to, probe) = (flow.spec.name.clone(), flow.receiver.address, probe.try_clone());
            let index = flow.index;
            move || {
                let runtime = shared.runtime.clone();
                runtime.spawn(async move {
                    let connected = |probe: &Arc<Socket>| {
                        shared.steered.take(index, Direction::Up, probe);
                    };
                    if let Err(error) = run(socket, (probe, to), &course, &syns_again, connected).await {
                        shared.broken.set(&name, error);
                    }
                })
            }
        };
        Ok(Box::new(Line {
            course: Arc::clone(course),
            begin: Some(Box::new(begin)),
            task: None,
            probe: Some(Arc::new(probe)),
            syns_again,
            probes: Arc::clone(&self.probes),
            recorded: self.recorded.clone(),
            timing: flow.shared.timing,
            totals: Totals::default(),
        }))
    }
}

fn lock(probes: &Mutex<Probes>) -> MutexGuard<'_, Probes> {
    probes.lock().even_poisoned()
}

async fn run(
    socket: Socket,
    (probe, to): (io::Result<Socket>, SocketAddr),
    course: &Course,
    syns_again: &SynsAgain,
    connected: impl FnOnce(&Arc<Socket>),
) -> io::Result<()> {
    let probe = Arc::new(probe?);
    let mut stream = TcpSocket::from_std_stream(socket.into()).connect(to).await?;
    syns_again.note(&system::tcp_info(&*probe)?);
    connected(&probe);
    course.send(&mut stream, |_: &TcpStream, _| Ok(system::unacknowledged(&*probe)? == 0)).await
}

/// The director's hold on a connection.
struct Line {
    course: Arc<Course>,
    begin: Option<Box<dyn FnOnce() -> JoinHandle<()>>>,
    task: Option<JoinHandle<()>>,
    /// None once it is closed.
    probe: Option<Arc<Socket>>,
    syns_again: SynsAgain,
    probes: Arc<Mutex<Probes>>,
    recorded: Option<FlowLog>,
    timing: Timing,
    /// When it was closed.
    totals: Totals,
}

impl Line {
    /// Closes it: in good order if everything is acknowledged, else at once.
    fn close(&mut self) {
        self.totals = self.totals();
        let Some(probe) = self.probe.take() else { return };
        if self.course.is_flushed() {
            // If this fails, the connection ends with a reset after its last byte.
            let _ = probe.set_linger(None);
        }
        let mut probes = lock(&self.probes);
        if let Some(Probe { recorded, .. }) = probes.open.remove(&self.course.id()) {
            probes.earlier += self.totals.retransmissions as u32;
            recorded.into_iter().for_each(|recorded| recorded.close(self.timing.now()));
        }
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Remote for Line {
    fn connect(&mut self) {
        let Some(begin) = self.begin.take() else { return };
        if let Some(probe) = &self.probe {
            let recorded = self.recorded.clone().map(Sampled::new);
            let probe = Probe { socket: Arc::clone(probe), syns_again: self.syns_again.clone(), recorded };
            lock(&self.probes).open.insert(self.course.id(), probe);
        }
        self.task = Some(begin());
    }

    fn give(&mut self, bytes: u64) {
        self.course.give(bytes);
    }

    fn take_back(&mut self) -> u64 {
        self.course.take_back()
    }

    fn send_datagram(&mut self) {}

    fn stop(&mut self) {
        self.close();
    }

    fn received(&self) -> u64 {
        self.course.received()
    }

    fn is_flushed(&self) -> bool {
        self.course.is_flushed()
    }

    fn totals(&self) -> Totals {
        let info = self.probe.as_ref().and_then(|probe| system::tcp_info(&**probe).ok());
        let of_info = |info: TcpInfo| {
            let syns_again = self.syns_again.of(&info);
            Totals {
                packets: info.data_segments.into(),
                retransmissions: (info.retransmissions - syns_again).into(),
                handshake_timeouts: syns_again.into(),
                ..Totals::default()
            }
        };
        info.map_or_else(|| self.totals.clone(), of_info)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.close();
    }
}
