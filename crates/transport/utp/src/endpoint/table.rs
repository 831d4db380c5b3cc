//! All connections of an endpoint: their identities, deadlines and waiting tasks.

mod entry;

use super::batch::{Batch, Limits};
use super::budget::{Budget, STALE};
use super::cookies::Cookies;
use super::farewells::Farewells;
use super::handle::{Handle, Key};
use super::places::{Places, Prefix};
use super::resets::Resets;
use super::socket::Manner;
use super::socket_buffer::{Activity, SocketBuffer};
use super::{EndpointConfig, EndpointStatistics};
use crate::connection::{Arrival, Connection};
use crate::error::Error;
use crate::numbers::{ConnectionId, Micros, SeqNr};
use crate::packet::{Header, Kind, Packet};
use afteryou_base::Time;
use afteryou_cc::Setup;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::task::Waker;

pub(super) use entry::Entry;
use entry::CONNECTION;

/// Below this many places the table does not shrink.
const MIN_CAPACITY: usize = 256;
/// A connection id that libutp resets: its partner id would not fit in 16 bits.
const UNUSABLE_ID: ConnectionId = ConnectionId(u16::MAX);

/// Window of a connection that has no place yet, bytes.
const FIRST_WINDOW: u64 = 64 << 10;

/// A newcomer's place.
enum Place {
    Free,
    /// That of a connection which is half open or silent.
    Of(Handle),
    /// None until another one has been silent for long enough: the newcomer asks again.
    Later,
    /// The newcomer's prefix has enough places.
    Nowhere,
}

/// The table.
#[derive(Default)]
pub(super) struct Table {
    entries: HashMap<Key, Box<Entry>>,
    deadlines: BTreeSet<(Time, Key)>,
    /// Connections that may have something to send.
    busy: VecDeque<Key>,
    /// Answers to packets without a connection.
    stray: VecDeque<(SocketAddr, Vec<u8>)>,
    accepted: VecDeque<Handle>,
    /// Connections so far.
    generations: u64,
    places: Places,
    farewells: Farewells,
    budget: Budget,
    resets: Resets,
    /// Tasks of connections that have just begun were woken.
    beginnings: bool,
    cookies: Cookies,
    /// Silent connections that newcomers took the places of.
    displaced: u64,
    pub socket_buffer: SocketBuffer,
    pub acceptor: Option<Waker>,
    pub driver: Option<Waker>,
    pub closer: Option<Waker>,
    /// Nothing new comes in or goes out.
    pub closing: bool,
    /// The driver has ended: nothing moves any more.
    pub dead: bool,
}

/// Returns the inputs of a controller, with a seed from `random`.
fn setup(config: &EndpointConfig, random: &mut impl FnMut() -> u16) -> Setup {
    let seed = (0..4).fold(0, |seed, _| seed << 16 | u64::from(random()));
    Setup { seed, ..Setup::of(config.connection.payload) }
}

impl Table {
    /// Creates an empty table for connections that take `memory` bytes at most.
    pub(super) fn new(memory: u64) -> Table {
        Table { budget: Budget::new(memory), ..Table::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.stray.is_empty() && self.farewells.is_empty()
    }

    /// Returns the counters of this table, with their limits.
    pub(super) fn statistics(&self, config: &EndpointConfig) -> EndpointStatistics {
        EndpointStatistics {
            connections: self.entries.len(),
            lingering: self.farewells.len(),
            half_open: self.places.half_open(),
            answered_without_place: self.cookies.sent(),
            displaced: self.displaced,
            memory: self.budget.taken(),
            memory_limit: self.budget.limit(),
            share: self.budget.share(),
            waiting: self.accepted.len(),
            places_per_address: config.max_connections.saturating_sub(self.entries.len()),
            max_connections: config.max_connections,
            max_half_open: config.max_half_open,
            backlog: config.backlog,
            #[cfg(feature = "dump")]
            dump: config.dump.statistics(),
        }
    }

    /// Returns whether there is something to send at once.
    pub(super) fn has_work(&self) -> bool {
        !self.busy.is_empty() || !self.stray.is_empty()
    }

    pub(super) fn entry(&mut self, handle: Handle) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(&handle.key)?;
        entry.connection.set_share(self.budget.share());
        (entry.generation == handle.generation).then_some(entry)
    }

    /// Adds a connection of ours under a free id.
    pub(super) fn open(
        &mut self,
        config: &EndpointConfig,
        now: Time,
        peer: SocketAddr,
        mut random: impl FnMut() -> u16,
    ) -> Result<Handle, Error> {
        if self.closing || self.dead {
            return Err(Error::EndpointClosed);
        }
        if self.entries.len() >= config.max_connections || !self.budget.admits_connection(CONNECTION) {
            return Err(Error::TooMany);
        }
        let is_free = |key: &Key| !self.entries.contains_key(key) && self.farewells.get(key).is_none();
        let free = |id: &ConnectionId| *id != UNUSABLE_ID && is_free(&Key::new(peer, *id));
        let recv_id =
            std::iter::repeat_with(|| ConnectionId(random())).take(64).find(free).ok_or(Error::TooMany)?;
        let seq_nr = SeqNr(random());
        let setup = setup(config, &mut random);
        let connection = config.connect(now, setup, peer, recv_id, seq_nr);
        Ok(self.insert(Key::new(peer, recv_id), connection, false))
    }

    fn insert(&mut self, key: Key, mut connection: Connection, incoming: bool) -> Handle {
        self.generations += 1;
        let generation = self.generations;
        let (reader, writer, deadline, queued, detached) = (None, None, None, false, None);
        let (half_open, memory) = (incoming, CONNECTION);
        self.socket_buffer.newcomers_share().into_iter().for_each(|share| connection.set_socket_share(share));
        self.entries.insert(
            key,
            Box::new(Entry {
                connection,
                reader,
                writer,
                generation,
                memory,
                activity: Activity::default(),
                deadline,
                queued,
                incoming,
                half_open,
                detached,
            }),
        );
        self.budget.change(0, memory);
        let handle = Handle { key, generation };
        if incoming {
            self.places.enter(handle);
        }
        self.touch(key);
        handle
    }

    /// Notes that the connection has changed and may have something to send: the driver shall look.
    pub(super) fn touch(&mut self, key: Key) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.touch(key, &mut self.budget, &mut self.busy);
        }
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    /// Handles a datagram that came in.
    pub(super) fn receive(
        &mut self,
        config: &EndpointConfig,
        at: Arrival,
        peer: SocketAddr,
        datagram: &[u8],
        random: impl FnMut() -> u16,
    ) {
        let Ok(packet) = Packet::decode(datagram) else {
            return;
        };
        match packet.header.kind {
            Kind::Syn => self.receive_syn(config, at, peer, &packet, random),
            Kind::Reset => self.receive_reset(at, peer, &packet),
            _ => self.receive_other(config, at, peer, &packet, random),
        }
        if self.budget.searches(at.now) {
            self.drop_stale(at.now);
        }
    }

    fn receive_syn(
        &mut self,
        config: &EndpointConfig,
        at: Arrival,
        peer: SocketAddr,
        packet: &Packet<'_>,
        random: impl FnMut() -> u16,
    ) {
        let key = Key::new(peer, packet.header.connection_id.next());
        if self.deliver(at, key, packet) {
            return;
        }
        // Silence, not a reset: the peer asks again, and by then there may be room.
        if !self.accepts(config) || packet.header.connection_id == UNUSABLE_ID {
            return;
        }
        match self.place_for(config, at.now, peer.into()) {
            Place::Free => {
                let seq_nr = self.cookies.seq_nr(at.now, peer, packet, &config.connection);
                self.accept(config, at, key, packet, seq_nr, random);
            }
            // The address may be forged. It gets the place when it has answered.
            Place::Of(_) | Place::Later => {
                let window = config.connection.recv_buffer.min(self.budget.share()).min(FIRST_WINDOW);
                let answer = self.cookies.answer(at.now, peer, packet, &config.connection, window);
                self.stray.push_back((peer, answer));
            }
            Place::Nowhere => {}
        }
    }

    /// Returns whether incoming connections are taken at all.
    fn accepts(&self, config: &EndpointConfig) -> bool {
        config.accepts && !self.closing && self.accepted.len() < config.backlog
    }

    fn accept(
        &mut self,
        config: &EndpointConfig,
        at: Arrival,
        key: Key,
        syn: &Packet<'_>,
        seq_nr: SeqNr,
        mut random: impl FnMut() -> u16,
    ) {
        let setup = setup(config, &mut random);
        let connection = config.accept(at.now, setup, key.peer, syn, seq_nr);
        self.farewells.remove(&key);
        self.insert(key, connection, true);
    }

    /// Handles the first packet of a peer whose SYN was answered without a place. Returns false if it is none.
    fn receive_first(
        &mut self,
        config: &EndpointConfig,
        at: Arrival,
        key: Key,
        packet: &Packet<'_>,
        random: impl FnMut() -> u16,
    ) -> bool {
        let Some(syn) = self.cookies.syn_before(at.now, key.peer, packet) else { return false };
        let place = if self.accepts(config) {
            self.place_for(config, at.now, key.peer.into())
        } else {
            Place::Nowhere
        };
        match place {
            Place::Free => {}
            Place::Of(handle) => self.displace(at.now, handle),
            Place::Later | Place::Nowhere => return true, // the peer sends it again
        }
        self.accept(config, at, key, &syn, packet.header.ack_nr.next(), random);
        self.deliver(at, key, packet);
        true
    }

    /// Removes a connection for a newcomer. The peer of a half-open one may return with its first packet. Otherwise the peer receives a
    /// reset, and the stream fails.
    fn displace(&mut self, now: Time, handle: Handle) {
        let Some(entry) = self.entries.get_mut(&handle.key) else { return };
        if entry.half_open {
            self.cookies.note_displaced(now);
        } else {
            self.displaced += 1;
            self.accepted.retain(|waiting| *waiting != handle);
            entry.connection.abort();
            let mut datagram = Vec::new();
            if entry.connection.poll_transmit(Time::ZERO, &mut datagram) {
                self.stray.push_back((handle.key.peer, datagram));
            }
            entry.wake();
        }
        self.remove(handle.key);
    }

    /// Returns where a newcomer finds a place.
    fn place_for(&mut self, config: &EndpointConfig, now: Time, prefix: Prefix) -> Place {
        let is_crowded = self.entries.len() >= config.max_connections
            || self.places.half_open() >= config.max_half_open
            || !self.budget.admits_connection(CONNECTION);
        let (places, entries) = (&mut self.places, &self.entries);
        let activity = |handle: Handle| entries.get(&handle.key).map(|entry| entry.activity());
        let place = match is_crowded {
            false => Place::Free,
            true => match places.displaced_by(prefix).or_else(|| places.silent_longest(now, activity)) {
                Some(handle) => Place::Of(handle),
                None if places.any_established() => Place::Later,
                None => return Place::Nowhere,
            },
        };
        let taken = self.entries.len() - usize::from(is_crowded);
        match self.places.admits(prefix, config.max_connections.saturating_sub(taken)) {
            true => place,
            false => Place::Nowhere,
        }
    }

    /// Handles a reset, which may carry either of the two ids, and up to three connections to that peer use it. Which one is
    /// meant, follows from the number that it answers.
    fn receive_reset(&mut self, at: Arrival, peer: SocketAddr, packet: &Packet<'_>) {
        let id = packet.header.connection_id;
        for id_there in [id, id.next(), id.prev()] {
            let key = Key::new(peer, id_there);
            if !self.entries.get(&key).is_some_and(|entry| entry.connection.may_be_reset_by(id)) {
                continue;
            }
            self.deliver(at, key, packet);
            if self.entries.get(&key).is_none_or(|entry| entry.connection.is_closed()) {
                return;
            }
        }
    }

    fn receive_other(
        &mut self,
        config: &EndpointConfig,
        at: Arrival,
        peer: SocketAddr,
        packet: &Packet<'_>,
        random: impl FnMut() -> u16,
    ) {
        let key = Key::new(peer, packet.header.connection_id);
        if self.deliver(at, key, packet) {
            return;
        }
        if let Some(farewell) = self.farewells.get(&key) {
            self.stray.extend(farewell.answer(at.now, packet).map(|datagram| (peer, datagram)));
            return;
        }
        if self.receive_first(config, at, key, packet, random) {
            return;
        }
        if self.cookies.is_ahead(at.now, peer, packet) {
            return; // the first one comes again
        }
        if self.resets.admit(at.now, peer, packet.header.connection_id) {
            self.stray.push_back((peer, reset_for(&packet.header)));
        }
    }

    /// Hands a packet to a connection; false if there is none with this key.
    fn deliver(&mut self, at: Arrival, key: Key, packet: &Packet<'_>) -> bool {
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        entry.connection.set_share(self.budget.share());
        if packet.header.kind == Kind::Data {
            let share = self.socket_buffer.share(at.now, &mut entry.activity);
            share.into_iter().for_each(|share| entry.connection.set_socket_share(share));
        }
        entry.connection.handle(at, packet);
        if entry.connection.is_beginning() {
            self.beginnings |= entry.wake();
        }
        // Not by `touch(key)`: to find the entry is a good part of what a packet costs.
        entry.touch(key, &mut self.budget, &mut self.busy);
        let is_established = entry.is_established();
        self.driver.take().into_iter().for_each(Waker::wake);
        if is_established {
            self.establish(at.now, key);
        }
        true
    }

    /// Returns whether tasks were woken since the last call whose connections have just begun.
    pub(super) fn take_beginnings(&mut self) -> bool {
        std::mem::take(&mut self.beginnings)
    }

    /// Hands out a connection that came in, if its handshake is over now.
    fn establish(&mut self, now: Time, key: Key) {
        let Some(entry) = self.entries.get_mut(&key).filter(|entry| entry.is_established()) else { return };
        entry.half_open = false;
        let handle = Handle { key, generation: entry.generation };
        self.places.establish(handle);
        if entry.connection.is_closed() {
            entry.detached = Some(now);
        } else if self.closing {
            self.detach(now, handle); // nobody accepts it any more
        } else {
            self.accepted.push_back(handle);
            self.beginnings |= self.acceptor.is_some();
            self.acceptor.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Drops connections that linger or hold out-of-order data of long ago, until others have enough memory.
    fn drop_stale(&mut self, now: Time) {
        while self.budget.is_used_up() && !self.farewells.is_empty() {
            self.with_farewells(|farewells| farewells.remove_oldest());
        }
        let stale = self.entries.iter().filter_map(|(key, entry)| {
            let memory = entry.connection.stale_memory(now, STALE)?;
            Some((memory, *key))
        });
        let mut stale: Vec<_> = stale.collect();
        stale.sort_unstable();
        while self.budget.is_used_up() {
            let Some((_, key)) = stale.pop() else { return };
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.connection.give_up_memory();
                self.touch(key);
            }
        }
    }

    /// Notes that the path to a peer takes no IP packets of more than `mtu` bytes.
    pub(super) fn note_too_big(&mut self, now: Time, peer: SocketAddr, mtu: u32) {
        let headers = if peer.ip().to_canonical().is_ipv4() { 20 + 8 } else { 40 + 8 };
        let datagram = (mtu as usize).saturating_sub(headers);
        let connections = self.entries.iter_mut().filter(|(key, _)| key.peer == peer);
        connections.for_each(|(_, entry)| entry.connection.datagram_too_big(now, datagram));
    }

    /// Hands out a connection that came in, if there is one.
    pub(super) fn take_accepted(&mut self) -> Option<Handle> {
        self.accepted.pop_front()
    }

    /// Ends a stream that nobody holds any more, in good order.
    pub(super) fn detach(&mut self, now: Time, handle: Handle) {
        if let Some(entry) = self.entry(handle) {
            entry.detached = Some(now);
            (entry.reader, entry.writer) = (None, None);
            entry.connection.finish();
            self.touch(handle.key);
        }
    }

    /// Runs the deadlines that have passed.
    pub(super) fn run_deadlines(&mut self, now: Time) {
        if self.farewells.next_deadline().is_some_and(|at| at <= now) {
            self.with_farewells(|farewells| farewells.end(now));
        }
        while let Some((at, key)) = self.deadlines.first().copied() {
            if at > now {
                return;
            }
            self.deadlines.pop_first();
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.deadline = None;
                entry.connection.handle_deadline(now);
                self.touch(key);
            }
        }
    }

    /// Returns when [`run_deadlines`](Table::run_deadlines) has something to do.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        let first = self.deadlines.first().map(|(at, _)| *at);
        first.into_iter().chain(self.farewells.next_deadline()).min()
    }

    /// Fills `out` with datagrams to send; what is left over is found the next time.
    pub(super) fn transmit(&mut self, config: &EndpointConfig, now: Time, out: &mut Batch) {
        for (peer, datagram) in self.stray.drain(..) {
            out.push(peer, &datagram);
        }
        while !out.is_full() {
            let Some(key) = self.busy.pop_front() else { return };
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            let connection = &mut entry.connection;
            connection.set_share(self.budget.share());
            let limits = Limits {
                train: usize::try_from(connection.burst()).unwrap_or(usize::MAX),
                datagram: connection.max_datagram(),
                manner: Manner { fragments: connection.may_fragment(), ecn: connection.sends_ecn() },
            };
            connection.begin_train(limits.packets());
            if out.fill(key.peer, limits, |out| connection.poll_transmit(now, out)) {
                self.busy.push_back(key); // others first, then this one again
                continue;
            }
            entry.queued = false;
            self.settle(config, now, key);
        }
    }

    /// Settles a connection that is drained: notes its deadline, wakes who waits, removes it if it is over.
    fn settle(&mut self, config: &EndpointConfig, now: Time, key: Key) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        if entry.detached.is_some() {
            entry.end_detached(config, now);
            if entry.connection.is_closed() && !entry.queued {
                // The reset that an abort owes is still to be sent.
                let mut datagram = Vec::new();
                if entry.connection.poll_transmit(now, &mut datagram) {
                    self.stray.push_back((key.peer, datagram));
                }
            }
        }
        self.establish(now, key);
        let Some(entry) = self.entries.get_mut(&key) else { return };
        if let Some(farewell) = entry.detached.and_then(|_| entry.connection.farewell(now)) {
            self.remove(key);
            return self.with_farewells(|farewells| farewells.insert(key, farewell));
        }
        entry.charge(&mut self.budget);
        entry.wake();
        let closed = entry.connection.is_closed();
        let deadlines = [entry.connection.deadline(), entry.given_up_at(config)];
        let deadline = if closed { None } else { deadlines.into_iter().flatten().min() };
        if deadline != entry.deadline {
            entry.deadline.into_iter().for_each(|at| {
                self.deadlines.remove(&(at, key));
            });
            entry.deadline = deadline;
            deadline.into_iter().for_each(|at| {
                self.deadlines.insert((at, key));
            });
        }
        if closed && entry.detached.is_some() {
            self.remove(key);
            self.closer.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Changes who lingers, and what that costs.
    fn with_farewells(&mut self, change: impl FnOnce(&mut Farewells)) {
        let before = self.farewells.memory();
        change(&mut self.farewells);
        self.budget.change(before, self.farewells.memory());
        if self.farewells.is_empty() {
            self.closer.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Forgets a connection. After a crowd has left, the table shrinks, too.
    fn remove(&mut self, key: Key) {
        let Some(entry) = self.entries.remove(&key) else { return };
        self.budget.change(entry.memory, 0);
        if entry.incoming {
            self.places.leave(Handle { key, generation: entry.generation });
        }
        if let Some(at) = entry.deadline {
            self.deadlines.remove(&(at, key));
        }
        if self.entries.capacity() > MIN_CAPACITY.max(4 * self.entries.len()) {
            self.entries.shrink_to(2 * self.entries.len());
        }
    }

    /// Ends the table with the driver: tasks that still wait get an error.
    pub(super) fn die(&mut self) {
        self.dead = true;
        for entry in self.entries.values_mut() {
            entry.reader.take().into_iter().chain(entry.writer.take()).for_each(Waker::wake);
        }
        self.acceptor.take().into_iter().chain(self.closer.take()).for_each(Waker::wake);
    }
}

/// Returns the reset that answers a packet without a connection: its id back, and its number as the ack.
fn reset_for(header: &Header) -> Vec<u8> {
    let header = Header {
        kind: Kind::Reset,
        timestamp_difference: Micros::default(),
        wnd_size: 0,
        seq_nr: SeqNr::default(),
        ack_nr: header.seq_nr,
        ..*header
    };
    let mut datagram = Vec::new();
    Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut datagram);
    datagram
}

#[cfg(test)]
mod tests;
