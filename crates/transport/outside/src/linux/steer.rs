//! Steers the connections of a process tree: reads them, asks the rule, and sets windows and rates.

use super::original::{Original, Place};
use super::roster::{lift, Roster, Socket};
use super::scan::{Found, Scan};
use super::socket;
use super::system::{self, TcpInfo};
use super::traffic::Traffic;
use crate::rule::group::{FIRST_WINDOW, WAITING_DOWNLOAD, WAITING_UPLOAD_PER_S};
use crate::rule::rate::{rate, UPLOAD_FROM};
use crate::rule::{law, Direction, Granted, Group, Id, Params, Part, Reading};
use afteryou_base::{Span, Time};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Time between two ticks: the lag of the rule, and what the kernel's own measures resolve.
pub const TICK: Duration = Duration::from_millis(10);
/// States of TCP.
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const CLOSE_WAIT: u8 = 8;
/// Rates are set anew if they change by more than a part in this many.
const RATE_STEP: u64 = 32;
/// TCP_INFO's least round-trip time before there is one.
const NO_RTT: u32 = u32::MAX;
/// A smoothed round-trip time keeps this part of the old one with each packet.
const SMOOTHING: f64 = 7.0 / 8.0;

/// A change of a socket, which somebody else may have to undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It is steered now, or another of its settings is.
    Steered(Place, Original),
    /// It is gone.
    Gone(u64),
}

/// State of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Connections with a place.
    pub active: usize,
    /// Connections with more data than a trickle.
    pub wanting: usize,
    /// Queuing delay, once it was seen.
    pub queue: Option<Span>,
    /// Round-trip time without a queue.
    pub base: Option<Span>,
    /// Payload, bytes a second.
    pub rate: f64,
    /// Others have the link.
    pub is_yielding: bool,
}

/// A connection that is steered.
struct Connection {
    place: Place,
    /// The socket itself, if it is on the roster.
    own: Option<Weak<dyn Socket>>,
    peer: Option<IpAddr>,
    original: Original,
    /// Smoothed round-trip time, µs, and packets received, of the last tick.
    smoothed: (u32, u32),
    /// Round-trip time of the newest acknowledgements.
    rtt: Option<Span>,
    /// Largest rate that is set, bytes a second.
    rate: u64,
}

/// Steers a process tree, and the sockets of a roster.
pub struct Steer {
    root: i32,
    roster: Roster,
    /// Time of the first tick.
    began: Option<Instant>,
    scan: Scan,
    traffic: Traffic,
    connections: Vec<Connection>,
    down: Group,
    up: Group,
    /// Bytes a second that each direction may use, if there is a bound.
    max_rate: Option<f64>,
}

impl Steer {
    /// Creates the steering of this process's own connections, and its descendants', from now on.
    pub fn of_this_process(params: Params, max_rate: Option<f64>) -> Steer {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        Steer { scan: Scan::with_own(), ..Steer::new(own, params, max_rate) }
    }

    /// Creates the steering of the sockets of a roster and of no others.
    pub fn of_roster(roster: Roster, params: Params, max_rate: Option<f64>) -> Steer {
        Steer { scan: Scan::off(), roster, ..Steer::new(0, params, max_rate) }
    }

    /// Adds the sockets of a roster.
    pub fn with_roster(self, roster: Roster) -> Steer {
        Steer { roster, ..self }
    }

    /// Creates the steering of `root` and its descendants but for this process, from now on. `max_rate` is a bound of each direction, bytes
    /// a second.
    pub fn new(root: i32, params: Params, max_rate: Option<f64>) -> Steer {
        Steer {
            root,
            roster: Roster::default(),
            began: None,
            scan: Scan::without_own(),
            traffic: Traffic::default(),
            connections: Vec::new(),
            down: Group::new(Direction::Down, params),
            up: Group::new(Direction::Up, params),
            max_rate,
        }
    }

    /// Returns whether a connection was seen that does not use TCP.
    pub fn has_udp(&self) -> bool {
        self.scan.has_udp
    }

    /// Returns a process whose sockets may not be touched, if there was one.
    pub fn refused(&self) -> Option<i32> {
        self.scan.refused
    }

    /// Sets the bound of each direction, bytes a second. At 0 all connections trickle.
    pub fn set_max_rate(&mut self, max_rate: Option<f64>) {
        self.max_rate = max_rate;
    }

    /// Returns the state of a direction.
    pub fn status(&self, direction: Direction) -> Status {
        let group = match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        };
        let (active, wanting) = group.places();
        let (moved, round) = group.moved();
        Status {
            active,
            wanting,
            queue: group.law().queue().map(Span::from_secs_f64),
            base: group.base(),
            rate: moved / round.as_secs_f64().max(1e-3),
            is_yielding: group.law().is_crowded(),
        }
    }

    /// Gives every socket its settings back.
    pub fn give_back(&mut self) {
        for connection in std::mem::take(&mut self.connections) {
            if let Ok(socket) = connection.socket(&self.scan) {
                connection.original.give_back(socket.as_fd());
            }
        }
    }

    /// Finds connections, reads them, and sets their windows and rates.
    pub fn tick(&mut self, now: Instant, note: &mut dyn FnMut(Note)) {
        let began = *self.began.get_or_insert(now);
        let connections = &self.connections;
        let found = self
            .scan
            .look(now, self.root, |cookie| connections.iter().any(|known| known.place.cookie == cookie));
        for found in found {
            self.take_found(found, note);
        }
        for own in self.roster.take() {
            self.take_own(own, note);
        }
        // Duplicates live until the end of this function, and no longer.
        let held = self.hold(note);
        let time = Time(u64::try_from(now.duration_since(began).as_nanos()).unwrap_or(u64::MAX));
        let (downs, ups): (Vec<Reading>, Vec<Reading>) = held
            .iter()
            .filter_map(|held| {
                let connection = &self.connections[held.index];
                let peer = connection.peer?;
                Some((down(connection, peer, &held.info), up(connection, peer, &held.info)))
            })
            .unzip();
        self.traffic.read(now, self.root);
        self.down.note_opposite_rate(time, self.traffic.sent_per_s());
        self.up.note_opposite_rate(time, self.traffic.received_per_s());
        let windows = self.down.tick(time, &downs);
        let uploads: Vec<Reading> = ups.into_iter().filter(|reading| reading.bytes >= UPLOAD_FROM).collect();
        let shares = self.up.tick(time, &uploads);
        for held in &held {
            self.set_window(held, &windows);
            self.set_rate(held, &shares, note);
        }
    }

    /// Begins to steer a connection of another program, before its first data if it is found in time.
    fn take_found(&mut self, found: Found, note: &mut dyn FnMut(Note)) {
        let Ok(socket) = self.scan.duplicate(&found.place) else { return };
        // A program that waits for a certain number of bytes could wait for ever for a smaller window.
        if system::receive_low_water(socket.as_fd()).map_or(true, |bytes| bytes > 1) {
            return;
        }
        self.take_over(socket.as_fd(), found.place, found.peer, None, note);
    }

    /// Begins to steer a connection of the roster.
    fn take_own(&mut self, own: Weak<dyn Socket>, note: &mut dyn FnMut(Note)) {
        let Some(socket) = own.upgrade() else { return };
        let fd = (*socket).as_fd();
        let Ok(cookie) = socket::cookie(fd) else { return };
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        let place = Place { pid, fd: fd.as_raw_fd(), cookie };
        self.take_over(fd, place, socket::peer(fd), Some(own), note);
    }

    fn take_over(
        &mut self,
        socket: BorrowedFd<'_>,
        place: Place,
        peer: Option<IpAddr>,
        own: Option<Weak<dyn Socket>>,
        note: &mut dyn FnMut(Note),
    ) {
        let Ok(info) = system::tcp_info(socket) else { return };
        if !matches!(info.state, ESTABLISHED | SYN_SENT | CLOSE_WAIT) {
            return;
        }
        let Ok(original) = Original::of(socket) else { return };
        note(Note::Steered(place, original.clone()));
        if original.window_clamp.is_none() {
            lift(socket);
        }
        let _ = system::set_window_clamp(socket, FIRST_WINDOW as u32);
        let smoothed = (info.rtt, info.segs_in);
        self.connections.push(Connection {
            place,
            own,
            peer,
            rate: original.pacing_rate,
            original,
            smoothed,
            rtt: None,
        });
    }

    /// Returns duplicates and readings of the sockets that are there still.
    fn hold(&mut self, note: &mut dyn FnMut(Note)) -> Vec<Held> {
        let scan = &self.scan;
        let mut held = Vec::with_capacity(self.connections.len());
        self.connections.retain_mut(|connection| match read(scan, connection) {
            Ok((socket, info)) => {
                held.push(Held { index: held.len(), socket, info });
                true
            }
            Err(_) => {
                note(Note::Gone(connection.place.cookie));
                false
            }
        });
        held
    }

    fn set_window(&mut self, held: &Held, windows: &[Granted]) {
        let connection = &self.connections[held.index];
        let Some(granted) = of(windows, connection) else { return };
        let mut window = granted.window;
        if let (Some(max_rate), true) = (self.max_rate, granted.part == Part::Active) {
            let active = self.down.places().0.max(1) as f64;
            let rtt = f64::from(held.info.rcv_rtt.max(1)) * 1e-6;
            let least = if max_rate > 0.0 { 2.0 * f64::from(held.info.advmss) } else { WAITING_DOWNLOAD };
            window = window.min((max_rate * rtt / active).max(least));
        }
        if let Some(own) = connection.original.window_clamp {
            window = window.min(f64::from(own));
        }
        // Set in each tick: with the first data the kernel sets it itself.
        let _ = system::set_window_clamp(held.socket.as_fd(), window as u32);
    }

    fn set_rate(&mut self, held: &Held, shares: &[Granted], note: &mut dyn FnMut(Note)) {
        let starting = self.up.law().phase() == law::Phase::SlowStart;
        let connection = &mut self.connections[held.index];
        let Some(granted) = of(shares, connection) else { return };
        let Some(member) = self.up.member(granted.id) else { return };
        let Some(base) = self.up.base_of(member) else { return };
        let mut wanted = rate(member, granted, base, starting);
        if let Some(max_rate) = self.max_rate {
            wanted = wanted.min((max_rate / self.up.places().0.max(1) as f64).max(WAITING_UPLOAD_PER_S));
        }
        let wanted = (wanted as u64).min(connection.original.pacing_rate);
        replace_bbr(connection, held.socket.as_fd(), note);
        if wanted.abs_diff(connection.rate) > connection.rate / RATE_STEP
            && system::set_max_pacing_rate(held.socket.as_fd(), wanted).is_ok()
        {
            connection.rate = wanted;
        }
    }
}

/// A socket during a tick.
struct Held {
    /// Of the connection.
    index: usize,
    socket: Handle,
    info: TcpInfo,
}

/// Access to a socket.
enum Handle {
    /// Of another process, or found by a search.
    Duplicate(OwnedFd),
    /// Of the roster.
    Own(Arc<dyn Socket>),
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Handle::Duplicate(socket) => socket.as_fd(),
            Handle::Own(socket) => (**socket).as_fd(),
        }
    }
}

impl Connection {
    /// Returns access to the socket if it is there still.
    fn socket(&self, scan: &Scan) -> io::Result<Handle> {
        match &self.own {
            Some(own) => own.upgrade().map(Handle::Own).ok_or(io::ErrorKind::NotFound.into()),
            None => scan.duplicate(&self.place).map(Handle::Duplicate),
        }
    }
}

fn of<'a>(granted: &'a [Granted], connection: &Connection) -> Option<&'a Granted> {
    granted.iter().find(|granted| granted.id.0 == connection.place.cookie)
}

/// Reads a connection, and its round-trip time from the smoothed one.
fn read(scan: &Scan, connection: &mut Connection) -> io::Result<(Handle, TcpInfo)> {
    let socket = connection.socket(scan)?;
    let info = system::tcp_info(socket.as_fd())?;
    if connection.peer.is_none() {
        connection.peer = socket::peer(socket.as_fd());
    }
    let (before, packets) = connection.smoothed;
    let came = info.segs_in.wrapping_sub(packets);
    if came > 0 {
        // Each packet moved the smoothed value by an eighth: what one value instead of `came` would have been.
        let weight = 1.0 - SMOOTHING.powi(i32::try_from(came).unwrap_or(i32::MAX));
        let (before, after) = (f64::from(before), f64::from(info.rtt));
        let us = if before > 0.0 { before + (after - before) / weight } else { after };
        connection.rtt = (us > 0.0).then(|| Span::from_micros(us as u64));
        connection.smoothed = (info.rtt, info.segs_in);
    }
    Ok((socket, info))
}

fn down(connection: &Connection, peer: IpAddr, info: &TcpInfo) -> Reading {
    Reading {
        id: Id(connection.place.cookie),
        peer,
        least_rtt: least_rtt(info),
        rtt: span(info.rcv_rtt),
        bytes: info.bytes_received,
        lost: u64::from(info.rcv_ooopack),
        mss: info.advmss.max(info.rcv_mss),
        in_flight: 0,
    }
}

fn up(connection: &Connection, peer: IpAddr, info: &TcpInfo) -> Reading {
    let mss = u64::from(info.snd_mss);
    Reading {
        id: Id(connection.place.cookie),
        peer,
        least_rtt: least_rtt(info),
        rtt: connection.rtt,
        bytes: u64::from(info.delivered) * mss,
        lost: u64::from(info.total_retrans),
        mss: info.snd_mss,
        in_flight: u64::from(info.unacked.saturating_sub(info.lost)) * mss,
    }
}

fn least_rtt(info: &TcpInfo) -> Option<Span> {
    if info.min_rtt == NO_RTT {
        return None;
    }
    span(info.min_rtt)
}

fn span(us: u32) -> Option<Span> {
    (us > 0).then(|| Span::from_micros(u64::from(us)))
}

/// Gives an upload of BBR to reno: for BBR a limited rate is what the path has, and it takes seconds to find more. reno is always allowed.
fn replace_bbr(connection: &mut Connection, socket: BorrowedFd<'_>, note: &mut dyn FnMut(Note)) {
    if connection.original.congestion_control.is_some() {
        return;
    }
    let Ok(name) = tcp_congestion(socket) else { return };
    if !name.starts_with("bbr") || set_tcp_congestion(socket, "reno").is_err() {
        return;
    }
    connection.original.congestion_control = Some(name);
    note(Note::Steered(connection.place, connection.original.clone()));
}
