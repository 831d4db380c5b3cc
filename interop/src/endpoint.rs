//! One libutp end at work on its job.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::events::Events;
use crate::job::{Finish, Job};
use crate::outcome::{Ended, Outcome};
use crate::raw::{Context, Settings, MAX_DATAGRAM};
use crate::turn::Turn;

/// How often libutp's timers are looked at.
const TIMER: Duration = Duration::from_millis(25);
/// Datagrams handled in one round at most, so that the other end of a pair gets
/// its share.
const BATCH: usize = 256;
/// A slow reader takes at least this many bytes at once, if there are.
const READ_CHUNK: usize = 1400;

/// A socket, a libutp context and how far the job has come.
pub(crate) struct Endpoint {
    context: Context<Events>,
    job: Job,
    started: Instant,
    timers_at: Instant,
    read_total: u64,
    written: usize,
    shut: bool,
    closing: bool,
    over_since: Option<Instant>,
    buffer: Vec<u8>,
}

impl Endpoint {
    /// Sets up the end; with `to` it connects there, else it accepts.
    pub(crate) fn start(
        turn: &Turn,
        socket: UdpSocket,
        to: Option<SocketAddr>,
        job: Job,
    ) -> Result<Self, Error> {
        let options = &job.options;
        let int = |v: u32| i32::try_from(v).unwrap_or(i32::MAX);
        let micros = |d: Duration| i32::try_from(d.as_micros()).unwrap_or(i32::MAX);
        let settings = Settings {
            recv_buffer: options.recv_buffer.map(int),
            send_buffer: options.send_buffer.map(int),
            target_delay: options.target_delay.map(micros),
            udp_mtu: options.udp_mtu,
            random: options.first_seq.map(u32::from),
        };
        let events = Events::new(socket, to.is_none(), options);
        let mut context = Context::new(turn, settings, events)?;
        if let Some(to) = to {
            let conn = context.connect(to)?;
            context.callbacks().notes().conn = Some(conn);
        }
        let now = Instant::now();
        Ok(Endpoint {
            context,
            job,
            started: now,
            timers_at: now,
            read_total: 0,
            written: 0,
            shut: false,
            closing: false,
            over_since: None,
            buffer: vec![0; MAX_DATAGRAM],
        })
    }

    /// Runs one round; returns whether there was anything to do.
    pub(crate) fn round(&mut self, now: Instant) -> bool {
        let got = self.receive();
        let read = self.read(now);
        let wrote = self.write();
        self.finish();
        if got || read {
            self.context.issue_deferred_acks();
        }
        if now >= self.timers_at {
            self.timers_at = now + TIMER;
            self.context.check_timeouts();
        }
        let notes = self.context.callbacks().notes();
        if self.over_since.is_none() && (notes.destroyed || notes.error.is_some()) {
            self.over_since = Some(now);
        }
        got || wrote
    }

    /// Returns whether the connection is over and the linger time has passed.
    pub(crate) fn is_done(&self, now: Instant) -> bool {
        let linger = self.job.options.linger;
        self.over_since.is_some_and(|since| now >= since + linger)
    }

    /// Returns whether the connection is over.
    pub(crate) fn is_over(&self) -> bool {
        self.over_since.is_some()
    }

    /// Returns whether the job has taken too long.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        now >= self.started + self.job.deadline
    }

    /// Returns the outcome; the connection is freed, without a FIN if still open.
    pub(crate) fn into_outcome(self, otherwise: Ended) -> Outcome {
        let mut notes = self.context.callbacks().notes();
        Outcome {
            received: std::mem::take(&mut notes.received),
            written: self.written,
            connected: notes.connected,
            got_eof: notes.got_eof,
            closed: notes.destroyed && notes.error.is_none(),
            error: notes.error,
            ended: if self.over_since.is_some() { Ended::Done } else { otherwise },
            sent: notes.sent.clone(),
            got: notes.got.clone(),
        }
    }

    fn receive(&mut self) -> bool {
        for n in 0..BATCH {
            match self.context.callbacks().receive(&mut self.buffer) {
                Some((0, _)) => {}
                Some((len, from)) => self.context.process(&self.buffer[..len], from),
                None => return n > 0,
            }
        }
        true
    }

    /// Reads as the application does, at once or at the asked rate; returns whether anything was read.
    fn read(&mut self, now: Instant) -> bool {
        let mut notes = self.context.callbacks().notes();
        let allowed = match self.job.options.read_rate {
            None => usize::MAX,
            Some(rate) => {
                let passed = now.duration_since(self.started).as_millis() as u64;
                let total = passed * u64::from(rate) / 1000;
                usize::try_from(total.saturating_sub(self.read_total)).unwrap_or(usize::MAX)
            }
        };
        // Byte by byte there would be an ack for each.
        if allowed < notes.unread.min(READ_CHUNK) {
            return false;
        }
        let taken = notes.unread.min(allowed);
        notes.unread -= taken;
        self.read_total += taken as u64;
        let conn = notes.conn;
        drop(notes);
        if let Some(conn) = conn.filter(|_| taken > 0) {
            self.context.read_drained(conn);
        }
        taken > 0
    }

    fn write(&mut self) -> bool {
        let notes = self.context.callbacks().notes();
        let conn = notes.conn.filter(|_| notes.error.is_none() && !self.shut);
        drop(notes);
        let rest = self.job.send.get(self.written..).unwrap_or_default();
        let Some(conn) = conn.filter(|_| !rest.is_empty()) else {
            return false;
        };
        let written = self.context.write(conn, rest);
        self.written += written;
        written > 0
    }

    /// Closes what is to be closed.
    fn finish(&mut self) {
        let mut notes = self.context.callbacks().notes();
        let replaced = std::mem::take(&mut notes.replaced);
        // A failed connection is left to the context's end: libutp asserts that
        // it is not closed in some of those states.
        let ready = notes.connected && notes.error.is_none() && !self.closing;
        let conn = notes.conn.filter(|_| ready);
        let (got_eof, received) = (notes.got_eof, notes.received.len());
        drop(notes);
        for old in replaced {
            self.context.close(old);
        }
        let all_written = self.written == self.job.send.len();
        let Some(conn) = conn.filter(|_| all_written) else {
            return;
        };
        let close = match self.job.finish {
            Finish::Close => true,
            Finish::CloseAfterEof => got_eof,
            Finish::CloseAfterReceiving(bytes) => received >= bytes,
            Finish::KeepOpen => false,
            Finish::HalfClose => {
                if !self.shut {
                    self.shut = true;
                    self.context.shutdown_write(conn);
                }
                got_eof
            }
        };
        if close {
            self.closing = true;
            self.context.close(conn);
        }
    }
}
