//! A connection that is steered: what it says, and what is set.

use super::in_kernel::InKernel;
use super::original::{Original, Place, REPLACEMENT};
use super::roster::{lift, Added, Socket};
use super::scan::{Found, Scan};
use super::socket;
use super::system::{self, TcpInfo, NO_RTT};
use crate::rule::{Id, Reading};
use afteryou_base::Span;
use rustix::fs::{fcntl_getfl, OFlags};
use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// A socket whose program may wait in `recv` is lifted after this many bytes: see [`lift`].
const LIFT_FROM: u64 = 64 << 10;
/// The smallest bound of a window that Linux has, bytes.
const LEAST_CLAMP: u32 = 1152;
/// A connection without a byte for this long is idle …
const IDLE: Duration = Duration::from_secs(10);
/// … and after this a new one that has not had any.
const IDLE_NEW: Duration = Duration::from_secs(1);
/// Rates are set anew if they change by more than a part in this many.
const RATE_STEP: u64 = 32;
/// A smoothed round-trip time keeps this part of the old one with each packet.
const SMOOTHING: f64 = 7.0 / 8.0;

/// A connection.
#[derive(Debug)]
pub struct Connection {
    /// Its process and descriptor.
    pub place: Place,
    /// Inode of its socket, if it was found by a search.
    pub inode: u64,
    /// The socket itself, if it is on the roster.
    own: Option<Weak<dyn Socket>>,
    /// The other end, once there is one.
    pub peer: Option<IpAddr>,
    /// Its settings before.
    pub original: Original,
    /// The newest state.
    pub info: TcpInfo,
    /// Smoothed round-trip time, µs, and packets received, when a packet last came.
    smoothed: (u32, u32),
    /// Round-trip time of the newest acknowledgements.
    rtt: Option<Span>,
    /// Bound of its window, as the kernel has it, bytes.
    clamp: u32,
    /// Largest rate that is set, bytes a second.
    rate: u64,
    is_lifted: bool,
    /// It sends by a background rule in the kernel.
    is_in_kernel: bool,
    began: Instant,
    last_moved: Option<Instant>,
}

/// Access to a socket.
pub enum Handle {
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

/// Settings for a connection; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Bound of its window, bytes.
    pub window: Option<f64>,
    /// Largest rate, bytes a second.
    pub rate: Option<f64>,
}

impl Connection {
    /// Creates it; nothing is set yet.
    pub fn new(now: Instant, found: Found, original: Original, info: TcpInfo) -> Connection {
        Connection {
            place: found.place,
            inode: found.inode,
            own: None,
            peer: found.peer,
            rate: original.pacing_rate,
            original,
            info,
            smoothed: (info.rtt, info.segs_in),
            rtt: None,
            clamp: u32::MAX,
            is_lifted: false,
            is_in_kernel: false,
            began: now,
            last_moved: None,
        }
    }

    /// Creates it for a socket of the roster, which is lifted.
    ///
    /// # Errors
    /// As getsockopt.
    pub(super) fn own(now: Instant, added: Added, socket: BorrowedFd<'_>) -> io::Result<Connection> {
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        let place = Place { pid, fd: socket.as_raw_fd(), cookie: socket::cookie(socket)? };
        let found = Found { place, inode: 0, peer: socket::peer(socket) };
        let connection = Connection::new(now, found, added.original, added.info);
        Ok(Connection { own: Some(added.socket), is_lifted: true, ..connection })
    }

    /// Returns whether a rule in the kernel decides what it sends.
    pub fn is_in_kernel(&self) -> bool {
        self.is_in_kernel
    }

    /// Returns whether the socket is on the roster.
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Returns access to the socket, if it is there still.
    ///
    /// # Errors
    /// As [`Scan::duplicate`].
    pub fn socket(&self, scan: &Scan) -> io::Result<Handle> {
        match &self.own {
            Some(own) => own.upgrade().map(Handle::Own).ok_or(io::ErrorKind::NotFound.into()),
            None => scan.duplicate(&self.place).map(Handle::Duplicate),
        }
    }

    /// Returns whether nothing has moved for long.
    pub fn is_idle(&self, now: Instant) -> bool {
        match self.last_moved {
            Some(at) => now.duration_since(at) >= IDLE,
            None => now.duration_since(self.began) >= IDLE_NEW,
        }
    }

    /// Returns the other end if it is this machine, which was not known while the connection was being made.
    pub fn is_local(&self) -> bool {
        self.peer.is_some_and(|peer| peer.is_loopback())
    }

    /// Reads it. Returns whether the program has changed a setting that will have to be restored.
    ///
    /// # Errors
    /// As getsockopt.
    pub fn read(&mut self, now: Instant, socket: BorrowedFd<'_>) -> io::Result<bool> {
        let info = system::tcp_info(socket)?;
        self.clamp = system::window_clamp(socket)?;
        if self.peer.is_none() {
            self.peer = socket::peer(socket);
        }
        if (info.bytes_received, info.delivered) != (self.info.bytes_received, self.info.delivered) {
            self.last_moved = Some(now);
        }
        self.note_rtt(&info);
        self.info = info;
        let is_changed = info.max_pacing_rate != self.rate;
        if is_changed {
            (self.original.pacing_rate, self.rate) = (info.max_pacing_rate, info.max_pacing_rate);
        }
        Ok(is_changed)
    }

    fn note_rtt(&mut self, info: &TcpInfo) {
        let (before, packets) = self.smoothed;
        let came = info.segs_in.wrapping_sub(packets);
        if came == 0 {
            return;
        }
        // Each packet moved the smoothed value by an eighth: what one value instead of `came` would have been.
        let weight = 1.0 - SMOOTHING.powi(i32::try_from(came).unwrap_or(i32::MAX));
        let (before, after) = (f64::from(before), f64::from(info.rtt));
        let us = if before > 0.0 { before + (after - before) / weight } else { after };
        self.rtt = (us > 0.0).then(|| Span::from_micros(us as u64));
        self.smoothed = (info.rtt, info.segs_in);
    }

    /// Returns what it says about its download.
    pub fn down(&self) -> Option<Reading> {
        let info = &self.info;
        Some(Reading {
            id: Id(self.place.cookie),
            peer: self.peer?,
            least_rtt: least_rtt(info),
            rtt: span(info.rcv_rtt),
            bytes: info.bytes_received,
            lost: u64::from(info.rcv_ooopack),
            mss: info.advmss.max(info.rcv_mss),
            in_flight: 0,
        })
    }

    /// Returns what it says about its upload.
    pub fn up(&self) -> Option<Reading> {
        let info = &self.info;
        let mss = u64::from(info.snd_mss);
        Some(Reading {
            id: Id(self.place.cookie),
            peer: self.peer?,
            least_rtt: least_rtt(info),
            rtt: self.rtt,
            bytes: u64::from(info.delivered) * mss,
            lost: u64::from(info.total_retrans),
            mss: info.snd_mss,
            in_flight: u64::from(info.unacked.saturating_sub(info.lost)) * mss,
        })
    }

    /// Returns whether these settings are others than those that the socket has.
    pub fn differs(&self, settings: &Settings) -> bool {
        settings.window.is_some_and(|window| self.clamp_for(window) != self.clamp)
            || settings.rate.is_some_and(|rate| self.is_other_rate(rate))
            || self.is_to_be_lifted(false)
    }

    /// Sets a socket.
    pub fn set(&mut self, socket: BorrowedFd<'_>, settings: &Settings) {
        if self.is_to_be_lifted(never_blocks(socket)) {
            self.is_lifted = true;
            lift(socket);
        }
        if let Some(window) = settings.window {
            // With the first data the kernel sets it itself.
            let _ = system::set_window_clamp(socket, self.clamp_for(window));
        }
        let Some(rate) = settings.rate else { return };
        let wanted = (rate as u64).min(self.original.pacing_rate);
        if self.is_other_rate(rate) && system::set_max_pacing_rate(socket, wanted).is_ok() {
            self.rate = wanted;
        }
    }

    fn is_other_rate(&self, rate: f64) -> bool {
        (rate as u64).min(self.original.pacing_rate).abs_diff(self.rate) > self.rate / RATE_STEP
    }

    fn clamp_for(&self, window: f64) -> u32 {
        (window as u32).min(self.original.window_clamp.unwrap_or(u32::MAX)).max(LEAST_CLAMP)
    }

    fn is_to_be_lifted(&self, never_blocks: bool) -> bool {
        let is_safe = never_blocks || self.info.is_connecting() || self.info.bytes_received >= LIFT_FROM;
        is_safe && !self.is_lifted && self.original.window_clamp.is_none()
    }

    /// Gives its upload to the background rule in the kernel if there is one for this process, or from BBR to reno: for BBR a limited rate is
    /// what the path has, and it takes seconds to find more. reno is always allowed.
    pub fn choose_controller(&mut self, socket: BorrowedFd<'_>, in_kernel: &InKernel) {
        let Ok(name) = tcp_congestion(socket) else { return };
        if let Some(default) = in_kernel.instead_of(&name) {
            self.original.congestion_control = Some(default.to_owned());
        }
        self.is_in_kernel = in_kernel.has(&name) || self.original.congestion_control.is_some();
        if self.is_in_kernel {
            return;
        }
        let rule = in_kernel.offered();
        self.is_in_kernel = rule.is_some_and(|rule| set_tcp_congestion(socket, rule).is_ok());
        if self.is_in_kernel || name.starts_with("bbr") && set_tcp_congestion(socket, REPLACEMENT).is_ok() {
            self.original.congestion_control = Some(name);
        }
    }
}

fn never_blocks(socket: BorrowedFd<'_>) -> bool {
    fcntl_getfl(socket).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK))
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

#[cfg(test)]
mod tests {
    use super::super::fitness::{fitness, Fitness};
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_rate_that_the_program_sets_while_it_is_steered_is_its_own() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, now) = (stream.as_fd(), Instant::now());
        let info = system::tcp_info(socket).unwrap();
        let Fitness::Fit(original) = fitness(socket, &info).unwrap() else { panic!("it is open") };
        let found = Found { place: Place { pid: 1, fd: 1, cookie: 1 }, inode: 1, peer: None };
        let mut connection = Connection::new(now, found, original, info);
        connection.set(socket, &Settings { window: None, rate: Some(1e6) });
        assert!(!connection.read(now, socket).unwrap(), "that was this process");
        assert_eq!((connection.info.max_pacing_rate, connection.original.pacing_rate), (1_000_000, u64::MAX));
        system::set_max_pacing_rate(socket, 50_000).unwrap();
        assert!(connection.read(now, socket).unwrap());
        assert_eq!(connection.original.pacing_rate, 50_000);
        connection.set(socket, &Settings { window: None, rate: Some(1e6) });
        assert_eq!(system::tcp_info(socket).unwrap().max_pacing_rate, 50_000);
    }

    #[test]
    fn sockets_that_linger_that_wait_for_more_and_that_listen_are_left_alone() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connect = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (lingering, waiting) = (connect(), connect());
        rustix::net::sockopt::set_socket_linger(&lingering, Some(Duration::from_secs(5))).unwrap();
        system::set_receive_low_water(waiting.as_fd(), 100).unwrap();
        for socket in [lingering.as_fd(), waiting.as_fd(), listener.as_fd()] {
            let info = system::tcp_info(socket).unwrap();
            assert!(matches!(fitness(socket, &info).unwrap(), Fitness::Never));
        }
    }
}
