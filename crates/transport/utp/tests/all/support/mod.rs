//! Connections over a bottleneck in virtual time: the real connection, the real queue, no sockets and no clock.

pub mod fixed;
mod plan;
pub mod recorder;
pub mod relay;
mod socket;

pub use plan::{Path, Plan};
pub use socket::Socket;

use afteryou_aqm::droptail::DropTail;
use afteryou_aqm::{Dropped, Ecn, Limit, Packet as Queued, Queue, Site};
use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::list;
use afteryou_utp::packet::Packet;
use afteryou_utp::{Arrival, Connection, ConnectionId, SeqNr, SocketShare};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// IP and UDP headers, bytes.
pub const OVERHEAD: u32 = 28;

/// A flow as it runs.
pub struct Flow {
    plan: Plan,
    pub client: Option<Connection>,
    pub server: Option<Connection>,
    written: u64,
    pub received: u64,
    /// When the receiver had everything, the end included.
    pub finished_at: Option<Time>,
    /// When the sender's end was acknowledged.
    pub acknowledged_at: Option<Time>,
    /// When payload last reached the receiver for the first time, in order or not, and how much has by then.
    arrived: (Time, u64),
    /// (end, length, smoothed round-trip time at its end) of each pause between two of those.
    pub pauses: Vec<(Time, Span, Option<Span>)>,
    /// (time, bytes received in order since the previous entry).
    deliveries: Vec<(Time, u64)>,
    deadlines: [Option<Time>; 2],
    /// Datagrams in the sender's socket that its host has not read.
    unread: Vec<Vec<u8>>,
    pub corrupt: bool,
}

impl Flow {
    /// Returns the bytes received in order between two instants, in ms.
    pub fn received_between(&self, from_ms: u64, to_ms: u64) -> u64 {
        let window = Time::from_millis(from_ms)..Time::from_millis(to_ms);
        self.deliveries.iter().filter(|(at, _)| window.contains(at)).map(|(_, bytes)| bytes).sum()
    }

    /// Returns the bytes that the sender took and the receiver has not acknowledged.
    pub fn held(&self) -> u64 {
        self.written - self.client().statistics().bytes_delivered
    }

    pub fn client(&self) -> &Connection {
        self.client.as_ref().expect("started")
    }

    pub fn server(&self) -> &Connection {
        self.server.as_ref().expect("answered")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Client,
    Server,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Start(usize),
    Stop(usize),
    LinkFree,
    Arrive(usize, Side, Vec<u8>),
    /// The queue has marked the datagram on its way to the server.
    ArriveMarked(usize, Vec<u8>),
    Deadline(usize, Side),
    Read(usize),
    Look(usize),
    ReadSocket,
}

/// Decides about each datagram before it enters the network: true lets it through.
pub type Filter = Box<dyn FnMut(Time, usize, Side, &Packet<'_>) -> bool>;

/// Everything.
pub struct World {
    pub now: Time,
    path: Path,
    queue: Box<dyn Queue<(usize, Vec<u8>)>>,
    busy: bool,
    pub flows: Vec<Flow>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
    rng: Pcg64,
    pub filter: Option<Filter>,
    pub socket: Option<Socket>,
    /// Longest UDP payload that the path takes in one piece, bytes. A longer one is lost without a word, unless it may be
    /// fragmented.
    pub path_mtu: usize,
    /// Datagrams lost to that.
    pub too_long: u64,
    /// Marked datagrams that arrived.
    pub marks: u64,
    /// (time, sojourn) of every packet through the bottleneck.
    pub sojourns: Vec<(Time, Span)>,
    pub drops: u64,
    /// What a read fills: zeros once, or they would take most of a test's time.
    buffer: Vec<u8>,
}

/// Most that one read takes, bytes.
const LONGEST_READ: usize = 1 << 20;

/// Returns the byte at `offset` of every stream.
fn pattern(offset: u64) -> u8 {
    (offset.wrapping_mul(2_654_435_761) >> 24) as u8
}

impl World {
    pub fn new(path: Path, plans: Vec<Plan>) -> World {
        let mut world = World {
            now: Time::ZERO,
            queue: Box::new(DropTail::new(path.buffer)),
            busy: false,
            flows: Vec::new(),
            events: BinaryHeap::new(),
            order: 0,
            rng: Pcg64::seed_from_u64(path.seed),
            filter: None,
            socket: None,
            path_mtu: usize::MAX,
            too_long: 0,
            sojourns: Vec::new(),
            drops: 0,
            marks: 0,
            buffer: vec![0; LONGEST_READ],
            path,
        };
        for (i, plan) in plans.into_iter().enumerate() {
            world.schedule(Time::from_millis(plan.start_ms), Event::Start(i));
            if let Some(stop_ms) = plan.stop_ms {
                world.schedule(Time::from_millis(stop_ms), Event::Stop(i));
            }
            world.flows.push(Flow {
                plan,
                client: None,
                server: None,
                written: 0,
                received: 0,
                finished_at: None,
                acknowledged_at: None,
                arrived: (Time::ZERO, 0),
                pauses: Vec::new(),
                deliveries: Vec::new(),
                deadlines: [None; 2],
                unread: Vec::new(),
                corrupt: false,
            });
        }
        world
    }

    /// Returns the same world with a queue of the list, by its defaults.
    pub fn queued_by(self, name: &str) -> World {
        self.queued_with(name, &[])
    }

    /// Returns the same world with a queue of the list.
    pub fn queued_with(mut self, name: &str, overrides: &[(&'static str, Value)]) -> World {
        let Path { bits_per_second, seed, .. } = self.path;
        let site = Site { limit: Limit::Packets(1000), bits_per_second, random: Pcg64::seed_from_u64(seed) };
        self.queue = afteryou_aqm::list::find(name).unwrap().build(overrides, site).unwrap();
        self
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    /// Runs until `ms`, or until nothing is left to do.
    pub fn run_until(&mut self, ms: u64) {
        let end = Time::from_millis(ms);
        while let Some(Reverse((at, _, _))) = self.events.peek() {
            if *at > end {
                break;
            }
            let Some(Reverse((at, _, event))) = self.events.pop() else { break };
            self.now = at;
            self.dispatch(event);
        }
        self.now = end;
    }

    /// Runs until every flow with an end has finished, at most until `ms`; true if they have.
    pub fn run_to_completion(&mut self, ms: u64) -> bool {
        for at in (0..=ms).step_by(50) {
            self.run_until(at);
            let done = |flow: &Flow| {
                flow.plan.bytes.is_none() || (flow.finished_at.is_some() && flow.acknowledged_at.is_some())
            };
            if self.flows.iter().all(done) {
                return true;
            }
        }
        false
    }

    fn dispatch(&mut self, event: Event) {
        match event {
            Event::Start(i) => {
                let plan = &self.flows[i].plan;
                let own = || {
                    list::find(plan.controller)
                        .unwrap()
                        .build(&plan.overrides, afteryou_cc::Setup::of(plan.config.payload))
                        .unwrap()
                };
                let controller =
                    plan.group.as_ref().map_or_else(own, |group| group.member(plan.config.payload));
                let (recv_id, seq_nr) = (self.rng.next_u32() as u16 & 0x7FFF, self.rng.next_u32() as u16);
                let client = plan.host.connect(
                    plan.config.clone(),
                    controller,
                    self.now,
                    ConnectionId(recv_id),
                    SeqNr(seq_nr),
                );
                self.flows[i].client = Some(client);
                self.service(i, Side::Client);
            }
            Event::Stop(i) => {
                if let Some(client) = &mut self.flows[i].client {
                    client.abort();
                }
                self.service(i, Side::Client);
            }
            Event::LinkFree => {
                self.busy = false;
                self.start_link();
            }
            Event::Arrive(i, Side::Client, datagram) if self.flows[i].plan.look_us > 0 => {
                self.wait_in_socket(i, datagram);
            }
            Event::Arrive(i, Side::Server, datagram) if self.socket.is_some() => {
                self.enter_socket(i, datagram);
            }
            Event::ReadSocket => self.read_socket(),
            Event::ArriveMarked(i, datagram) => {
                self.marks += 1;
                self.handle(i, Side::Server, &datagram, true);
                self.service(i, Side::Server);
            }
            Event::Arrive(i, side, datagram) => {
                self.handle(i, side, &datagram, false);
                self.service(i, side);
            }
            Event::Look(i) => {
                for datagram in std::mem::take(&mut self.flows[i].unread) {
                    self.handle(i, Side::Client, &datagram, false);
                }
                self.service(i, Side::Client);
            }
            Event::Deadline(i, side) => {
                let slot = &mut self.flows[i].deadlines[side as usize];
                if *slot != Some(self.now) {
                    return; // replaced since
                }
                *slot = None;
                let now = self.now;
                if let Some(connection) = self.flows[i].side(side) {
                    connection.handle_deadline(now);
                }
                self.service(i, side);
            }
            Event::Read(i) => {
                self.read(i);
                self.service(i, Side::Server);
            }
        }
    }

    /// Lets a datagram wait until the sender's host looks at its socket.
    fn wait_in_socket(&mut self, i: usize, datagram: Vec<u8>) {
        let flow = &mut self.flows[i];
        flow.unread.push(datagram);
        if flow.unread.len() == 1 {
            let at = flow.plan.wakes_at(Side::Client, self.now);
            self.schedule(at, Event::Look(i));
        }
    }

    fn enter_socket(&mut self, i: usize, datagram: Vec<u8>) {
        let Some(socket) = &mut self.socket else { return };
        // As Linux does: one packet may exceed the limit.
        if socket.held > socket.capacity {
            socket.drops += 1;
            return;
        }
        socket.held += Socket::memory(datagram.len() as u64);
        socket.waiting.push_back((i, datagram));
        if socket.waiting.len() == 1 {
            let at = self.now + socket.sleep;
            self.schedule(at, Event::ReadSocket);
        }
    }

    fn read_socket(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let (waiting, empty_at) = (std::mem::take(&mut socket.waiting), socket.empty_at);
        (socket.held, socket.empty_at) = (0, self.now);
        let memory = socket.is_known.then(|| socket.capacity * 3 / 4 / self.flows.len() as u64);
        for (i, datagram) in waiting {
            if let (Some(memory), Some(server)) = (memory, &mut self.flows[i].server) {
                server.set_socket_share(SocketShare { memory, empty_at });
            }
            self.handle(i, Side::Server, &datagram, false);
        }
        (0..self.flows.len()).for_each(|i| self.service(i, Side::Server));
    }

    fn handle(&mut self, i: usize, side: Side, datagram: &[u8], is_marked: bool) {
        let packet = Packet::decode(datagram).expect("our own packets are well-formed");
        let now = self.now;
        let flow = &mut self.flows[i];
        match (side, &mut flow.server) {
            (Side::Client, _) => {
                if let Some(client) = &mut flow.client {
                    client.handle(now, &packet);
                }
            }
            (Side::Server, Some(server)) => {
                server.handle(Arrival { is_marked, ..now.into() }, &packet);
                let (before, bytes) = flow.arrived;
                if server.bytes_arrived() > bytes {
                    let rtt = flow.client.as_ref().and_then(|client| client.statistics().smoothed_rtt);
                    flow.pauses.push((now, now.since(before), rtt));
                    flow.arrived = (now, server.bytes_arrived());
                }
            }
            (Side::Server, None) => {
                let config = flow.plan.server.clone().unwrap_or_else(|| flow.plan.config.clone());
                let controller = list::find("newreno")
                    .unwrap()
                    .build(&[], afteryou_cc::Setup::of(config.payload))
                    .unwrap();
                let seq_nr = self.rng.next_u32() as u16;
                flow.server = Some(flow.plan.host.accept(config, controller, now, &packet, SeqNr(seq_nr)));
                if flow.plan.read_rate.is_some() {
                    self.schedule(now, Event::Read(i));
                }
            }
        }
        if side == Side::Server && self.flows[i].plan.read_rate.is_none() {
            self.read(i);
        }
    }

    fn read(&mut self, i: usize) {
        let now = self.now;
        let flow = &mut self.flows[i];
        let Some(server) = &mut flow.server else { return };
        let chunk = flow.plan.read_rate.map_or(usize::MAX, |rate| (rate / 100) as usize);
        let buf = &mut self.buffer[..chunk.min(LONGEST_READ)];
        let mut total = 0;
        while total < chunk {
            let Ok(n) = server.read(now, buf) else { break };
            if n == 0 {
                break;
            }
            flow.corrupt |=
                buf[..n].iter().zip(flow.received..).any(|(byte, offset)| *byte != pattern(offset));
            flow.received += n as u64;
            total += n;
            flow.deliveries.push((now, n as u64));
        }
        if server.is_at_end() && flow.finished_at.is_none() {
            flow.finished_at = Some(now);
            server.finish();
        }
        if flow.plan.read_rate.is_some() && flow.finished_at.is_none() {
            self.schedule(now + Span::from_millis(10), Event::Read(i));
        }
    }

    /// Feeds the sender, drains what a connection has to send, and notes its deadline.
    fn service(&mut self, i: usize, side: Side) {
        let now = self.now;
        // An application writes again as soon as there is room.
        while self.feed(i, side) | self.drain(i, side) {}
        let deadline = self.flows[i].side(side).and_then(|connection| connection.deadline());
        let wakes_at = deadline.map(|at| self.flows[i].plan.wakes_at(side, at.max(now)));
        if wakes_at != self.flows[i].deadlines[side as usize] {
            self.flows[i].deadlines[side as usize] = wakes_at;
            if let Some(at) = wakes_at {
                self.schedule(at, Event::Deadline(i, side));
            }
        }
        let flow = &mut self.flows[i];
        if flow.acknowledged_at.is_none()
            && flow.client.as_ref().is_some_and(Connection::is_finish_acknowledged)
        {
            flow.acknowledged_at = Some(now);
        }
    }

    /// Writes for the sender's application; returns whether it has written something.
    fn feed(&mut self, i: usize, side: Side) -> bool {
        let flow = &mut self.flows[i];
        let (Side::Client, Some(client)) = (side, &mut flow.client) else { return false };
        let left = flow.plan.bytes.unwrap_or(u64::MAX) - flow.written;
        let n = (client.writable() as u64).min(left);
        let taken = match flow.plan.content {
            true => {
                let data: Vec<u8> = (flow.written..flow.written + n).map(pattern).collect();
                client.write(&data).unwrap_or(0) as u64
            }
            false => client.write_zeros(n).unwrap_or(0),
        };
        flow.written += taken;
        if flow.plan.bytes == Some(flow.written) {
            client.finish();
        }
        taken > 0
    }

    /// Sends what the connection has to send; returns whether it has sent something.
    fn drain(&mut self, i: usize, side: Side) -> bool {
        let mut has_sent = false;
        while let Some(datagram) = self.flows[i].transmit(self.now, side) {
            self.send(i, side, datagram);
            has_sent = true;
        }
        has_sent
    }

    fn send(&mut self, i: usize, from: Side, datagram: Vec<u8>) {
        let now = self.now;
        if let Some(filter) = &mut self.filter {
            if !filter(now, i, from, &Packet::decode(&datagram).expect("well-formed")) {
                return;
            }
        }
        let fragments = self.flows[i].side(from).is_some_and(|connection| connection.may_fragment());
        if datagram.len() > self.path_mtu && !fragments {
            self.too_long += 1;
            return;
        }
        if self.path.loss > 0.0 && self.rng.next_u32() as f64 / 4_294_967_296.0 < self.path.loss {
            return;
        }
        if from == Side::Server {
            let at = now + self.one_way(i);
            return self.schedule(at, Event::Arrive(i, Side::Client, datagram));
        }
        let mut dropped: Vec<Dropped<(usize, Vec<u8>)>> = Vec::new();
        let size = datagram.len() as u32 + OVERHEAD;
        let sends_ecn = self.flows[i].client.as_ref().is_some_and(|client| client.sends_ecn());
        let tos = if sends_ecn { 0b10 } else { 0 };
        self.queue.enqueue(now, Queued::from_tos(size, i as u32, tos, (i, datagram)), &mut dropped);
        self.drops += dropped.len() as u64;
        self.start_link();
    }

    fn start_link(&mut self) {
        if self.busy {
            return;
        }
        let Some((packet, sojourn)) = self.queue.dequeue(self.now, &mut Vec::new()) else { return };
        self.busy = true;
        self.sojourns.push((self.now, sojourn));
        let sent = self.now + Span::of_bytes(u64::from(packet.size), self.path.bits_per_second / 8);
        self.schedule(sent, Event::LinkFree);
        let is_marked = packet.ecn == Ecn::Ce;
        let (i, datagram) = packet.body;
        let at = sent + self.one_way(i);
        let event = match is_marked {
            true => Event::ArriveMarked(i, datagram),
            false => Event::Arrive(i, Side::Server, datagram),
        };
        self.schedule(at, event);
    }

    fn one_way(&self, i: usize) -> Span {
        Span::from_millis(self.flows[i].plan.rtt_ms) / 2
    }

    /// Returns the payload that the link carries between two instants in ms, bytes.
    pub fn payload_capacity(&self, from_ms: u64, to_ms: u64) -> f64 {
        let payload = f64::from(self.flows[0].plan.config.payload);
        let share = payload / (payload + 20.0 + f64::from(OVERHEAD));
        self.path.bits_per_second as f64 / 8.0 * (to_ms - from_ms) as f64 / 1000.0 * share
    }

    /// Returns the `p`-th percentile of the time in the queue between two instants, ms.
    pub fn sojourn_percentile(&self, p: usize, from_ms: u64, to_ms: u64) -> f64 {
        let window = Time::from_millis(from_ms)..Time::from_millis(to_ms);
        let mut sojourns: Vec<Span> =
            self.sojourns.iter().filter(|(at, _)| window.contains(at)).map(|(_, sojourn)| *sojourn).collect();
        sojourns.sort();
        sojourns.get((p * sojourns.len()).div_ceil(100).saturating_sub(1)).map_or(0.0, |s| s.as_millis_f64())
    }
}

impl Flow {
    fn side(&mut self, side: Side) -> Option<&mut Connection> {
        match side {
            Side::Client => self.client.as_mut(),
            Side::Server => self.server.as_mut(),
        }
    }

    /// Returns the next datagram that an end has to send.
    fn transmit(&mut self, now: Time, side: Side) -> Option<Vec<u8>> {
        let content = self.plan.content;
        let connection = self.side(side)?;
        let mut datagram = Vec::new();
        if content {
            return connection.poll_transmit(now, &mut datagram).then_some(datagram);
        }
        let outgoing = connection.poll_transmit_head(now, &mut datagram)?;
        assert_eq!(Packet::decode(&datagram).expect("well-formed").header, outgoing.header);
        datagram.resize(datagram.len() + outgoing.payload as usize, 0);
        Some(datagram)
    }
}
