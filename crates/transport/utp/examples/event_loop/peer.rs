//! One end of the transfer, without I/O: a connection and the application that follows its events.

use afteryou_base::Time;
use afteryou_cc::cubic::{Cubic, PARAMS};
use afteryou_cc::Controller;
use afteryou_utp::config::DEFAULT_PAYLOAD;
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{Config, Connection, ConnectionId, Event, SeqNr};
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

/// Bytes written or read in one piece.
const PIECE: usize = 64 << 10;

/// A sender of zeros or a receiver that counts.
pub struct Peer {
    epoch: Instant,
    /// With whom it is connected. A receiver has none until a SYN comes.
    connection: Option<(SocketAddr, Connection)>,
    to_send: u64,
    received: u64,
    result: Option<io::Result<()>>,
}

impl Peer {
    /// Sends `bytes` to `to`.
    pub fn sender(to: SocketAddr, bytes: u64) -> io::Result<Peer> {
        let (id, seq_nr) = (random()? & 0x7FFF, random()?);
        let connection =
            Connection::connect(config(), controller(), Time::ZERO, ConnectionId(id), SeqNr(seq_nr));
        Ok(Peer { connection: Some((to, connection)), to_send: bytes, ..Peer::receiver() })
    }

    /// Takes one connection and counts what comes.
    pub fn receiver() -> Peer {
        Peer { epoch: Instant::now(), connection: None, to_send: 0, received: 0, result: None }
    }

    pub fn received(&self) -> u64 {
        self.received
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Handles a datagram that came in. Whatever is no uTP, or of somebody else, is left alone.
    pub fn receive(&mut self, from: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        let Ok(packet) = Packet::decode(datagram) else { return Ok(()) };
        let now = self.now();
        if self.connection.is_none() && packet.header.kind == Kind::Syn {
            let accepted = Connection::accept(config(), controller(), now, &packet, SeqNr(random()?));
            self.connection = Some((from, accepted));
            return Ok(());
        }
        let Some((peer, connection)) = &mut self.connection else { return Ok(()) };
        // A reset may have the other direction's id, and the connection checks its numbers.
        let is_ours = packet.header.connection_id == connection.recv_id();
        if *peer == from && (is_ours || matches!(packet.header.kind, Kind::Syn | Kind::Reset)) {
            connection.handle(now, &packet);
        }
        Ok(())
    }

    /// Handles whatever is due and writes the next datagram to `out`; returns where it goes. None: nothing before
    /// [`wait`](Peer::wait) or the next datagram that comes in.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Option<SocketAddr> {
        let now = self.now();
        out.clear();
        let (peer, connection) = self.connection.as_mut()?;
        connection.handle_deadline(now);
        if connection.poll_transmit(now, out) {
            return Some(*peer);
        }
        let peer = *peer;
        // The application has its turn when the connection has nothing left; then the connection may have something again.
        let mut changed = false;
        while let Some(event) = self.connection.as_mut().and_then(|(_, connection)| connection.poll_event()) {
            changed = true;
            self.follow(now, event);
        }
        let (_, connection) = self.connection.as_mut()?;
        (changed && connection.poll_transmit(now, out)).then_some(peer)
    }

    fn follow(&mut self, now: Time, event: Event) {
        let Some((_, connection)) = &mut self.connection else { return };
        let result = match event {
            Event::Connected | Event::Writable => write(connection, &mut self.to_send),
            Event::Readable => read(connection, now, &mut self.received),
            Event::Closed(error) => {
                self.result = Some(error.map_or(Ok(()), |error| Err(error.into())));
                return;
            }
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.result = Some(Err(error.into()));
        }
    }

    /// Returns how long the loop may wait for datagrams; `None`: as long as it takes.
    pub fn wait(&self) -> Option<std::time::Duration> {
        let (_, connection) = self.connection.as_ref()?;
        let span = connection.deadline()?.since(self.now());
        Some(std::time::Duration::from_micros(span.as_micros().max(1)))
    }

    /// Returns how it ended, once it has.
    pub fn take_result(&mut self) -> Option<io::Result<()>> {
        self.result.take()
    }
}

fn write(connection: &mut Connection, left: &mut u64) -> Result<(), afteryou_utp::Error> {
    let piece = [0; PIECE];
    while *left > 0 {
        let wanted = PIECE.min(usize::try_from(*left).unwrap_or(PIECE));
        let taken = connection.write(&piece[..wanted])?;
        *left -= taken as u64;
        if taken < wanted {
            return Ok(()); // an event comes when there is room
        }
    }
    // A receiver has nothing to send and ends its direction at once.
    connection.finish();
    Ok(())
}

fn read(connection: &mut Connection, now: Time, received: &mut u64) -> Result<(), afteryou_utp::Error> {
    let mut buf = [0; PIECE];
    loop {
        match connection.read(now, &mut buf)? {
            0 => return Ok(()),
            n => *received += n as u64,
        }
    }
}

fn config() -> Config {
    // The end of the program need not wait for a peer that is known to be there.
    Config { linger: afteryou_base::Span::from_millis(300), ..Config::default() }
}

fn controller() -> Box<dyn Controller> {
    Box::new(Cubic::new(&afteryou_base::param::Settings::defaults(PARAMS), DEFAULT_PAYLOAD))
}

/// Returns a number that a stranger cannot guess.
fn random() -> io::Result<u16> {
    let mut bytes = [0; 2];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(u16::from_ne_bytes(bytes))
}
