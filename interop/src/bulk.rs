//! libutp at full speed: one direction, as many bytes as asked, and no notes of single packets.
//!
//! The loop waits in `poll` instead of sleeping, and reads its socket empty before it lets libutp acknowledge, as libutp's
//! documentation asks. So a measurement finds libutp's own cost and not that of [`LibutpPeer`](crate::LibutpPeer).

use std::cell::{Cell, RefCell};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use std::os::fd::AsFd;

use crate::error::Error;
use crate::raw::{self, Callbacks, Conn, Context, Event, MAX_DATAGRAM};
use crate::turn::Turn;

/// How often libutp's timers are called.
const TIMER: Duration = Duration::from_millis(25);
/// The steps of an application that writes at a given rate, ms.
const STEP_MS: u128 = 10;
/// Datagrams read before libutp may acknowledge and write.
const BATCH: usize = 256;

/// Settings of an end.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Largest UDP payload, bytes.
    pub udp_mtu: u16,
    /// Both of libutp's buffers, bytes.
    pub window: u32,
}

/// Receives on `socket` until the peer ends its direction; returns the bytes and the time since the first of them.
pub fn receive(socket: UdpSocket, settings: Settings) -> Result<(u64, Duration), Error> {
    let mut end = End::start(socket, &settings)?;
    while !end.notes().eof.get() {
        end.round(|_| false);
    }
    let notes = end.notes();
    let result = (notes.bytes.get(), notes.began.get().map_or(Duration::ZERO, |at| at.elapsed()));
    // The peer waits for the acknowledgement of its end and for ours.
    if let Some(conn) = notes.conn.get() {
        end.context.close(conn);
    }
    let until = Instant::now() + TIMER * 4;
    while Instant::now() < until && !end.notes().over.get() {
        end.round(|_| false);
    }
    Ok(result)
}

/// Sends `bytes` zeros to `to`, at `pace` bytes a second if that is given, and waits until all have arrived.
pub fn send(
    socket: UdpSocket,
    settings: Settings,
    to: SocketAddr,
    bytes: u64,
    pace: Option<u64>,
) -> Result<(), Error> {
    let mut end = End::start(socket, &settings)?;
    let conn = end.context.connect(to)?;
    end.notes().conn.set(Some(conn));
    let chunk = vec![0; 1 << 18];
    let mut left = bytes;
    let began = Instant::now();
    while !end.notes().over.get() {
        end.round(|context| {
            let seconds = (began.elapsed().as_millis() / STEP_MS) as f64 * STEP_MS as f64 * 1e-3;
            let due = pace.map_or(bytes, |pace| (seconds * pace as f64) as u64);
            let now = left.min(due.saturating_sub(bytes - left)).min(chunk.len() as u64);
            let is_connected = context.callbacks().notes.connected.get();
            let written = if is_connected { context.write(conn, &chunk[..now as usize]) as u64 } else { 0 };
            left -= written;
            if left == 0 && !context.callbacks().notes.closing.replace(true) {
                context.close(conn);
            }
            written > 0
        });
    }
    Ok(())
}

#[derive(Default)]
struct Notes {
    conn: Cell<Option<Conn>>,
    connected: Cell<bool>,
    closing: Cell<bool>,
    bytes: Cell<u64>,
    began: Cell<Option<Instant>>,
    eof: Cell<bool>,
    over: Cell<bool>,
}

struct Program {
    socket: UdpSocket,
    notes: Notes,
}

impl Callbacks for Program {
    fn send(&self, datagram: &[u8], to: SocketAddr) {
        // What the system refuses is lost, as it might be anywhere.
        _ = self.socket.send_to(datagram, to);
    }

    fn may_accept(&self) -> bool {
        self.notes.conn.get().is_none()
    }

    fn unread(&self) -> usize {
        0
    }

    fn event(&self, conn: Conn, event: Event<'_>) {
        let notes = &self.notes;
        match event {
            Event::Accepted => notes.conn.set(Some(conn)),
            Event::Connected => notes.connected.set(true),
            Event::Read(bytes) => {
                notes.bytes.set(notes.bytes.get() + bytes.len() as u64);
                notes.began.set(notes.began.get().or_else(|| Some(Instant::now())));
            }
            Event::Eof => notes.eof.set(true),
            Event::Failed(_) | Event::Destroyed => {
                notes.eof.set(true);
                notes.over.set(true);
            }
        }
    }
}

struct End {
    context: Context<Program>,
    buffer: RefCell<Vec<u8>>,
    timers_at: Instant,
    // The last to be dropped: the context is libutp's.
    _turn: Turn,
}

impl End {
    fn start(socket: UdpSocket, settings: &Settings) -> Result<End, Error> {
        let turn = Turn::take()?;
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.set_nonblocking(true).map_err(|source| Error::Socket { addr, source })?;
        let buffer = i32::try_from(settings.window).unwrap_or(i32::MAX);
        let settings = raw::Settings {
            recv_buffer: Some(buffer),
            send_buffer: Some(buffer),
            udp_mtu: Some(settings.udp_mtu),
            ..raw::Settings::default()
        };
        let program = Program { socket, notes: Notes::default() };
        let context = Context::new(&turn, settings, program)?;
        let buffer = RefCell::new(vec![0; MAX_DATAGRAM]);
        Ok(End { context, buffer, timers_at: Instant::now(), _turn: turn })
    }

    fn notes(&self) -> &Notes {
        &self.context.callbacks().notes
    }

    /// Reads what is there, lets `write` write, and waits if neither found anything to do.
    fn round(&mut self, write: impl FnOnce(&mut Context<Program>) -> bool) {
        let got = self.read();
        if got {
            self.context.issue_deferred_acks();
        }
        let wrote = write(&mut self.context);
        if Instant::now() >= self.timers_at {
            self.timers_at = Instant::now() + TIMER;
            self.context.check_timeouts();
        }
        if !got && !wrote {
            let socket = &self.context.callbacks().socket;
            let mut waited = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
            // An interrupted wait is a short one.
            _ = poll(&mut waited, PollTimeout::from(STEP_MS as u8));
        }
    }

    fn read(&mut self) -> bool {
        let mut buffer = self.buffer.borrow_mut();
        for n in 0..BATCH {
            match self.context.callbacks().socket.recv_from(&mut buffer) {
                Ok((len, from)) => self.context.process(&buffer[..len], from),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return n > 0,
                Err(_) => {}
            }
        }
        true
    }
}
