//! The reports of libutp during the loop, noted down for it.

use std::cell::{RefCell, RefMut};
use std::net::{SocketAddr, UdpSocket};

use crate::job::Options;
use crate::loss::Gate;
use crate::outcome::{Traffic, UtpFailure};
use crate::packet::Packet;
use crate::raw::{Callbacks, Conn, Event};

/// The notes of one libutp end.
pub(crate) struct Notes {
    /// The connection that counts.
    pub(crate) conn: Option<Conn>,
    /// Half-open connections given up for a newer one, still to be closed.
    pub(crate) replaced: Vec<Conn>,
    pub(crate) connected: bool,
    pub(crate) received: Vec<u8>,
    /// Bytes of `received` that still count against the window.
    pub(crate) unread: usize,
    pub(crate) got_eof: bool,
    pub(crate) destroyed: bool,
    pub(crate) error: Option<UtpFailure>,
    pub(crate) sent: Traffic,
    pub(crate) got: Traffic,
    /// The ack number in the last datagram that libutp made.
    acked: Option<u16>,
    send_gate: Gate,
    recv_gate: Gate,
}

/// The UDP socket and the notes.
pub(crate) struct Events {
    socket: UdpSocket,
    accepting: bool,
    notes: RefCell<Notes>,
}

impl Events {
    pub(crate) fn new(socket: UdpSocket, accepting: bool, options: &Options) -> Self {
        let loss = options.loss;
        let notes = Notes {
            conn: None,
            replaced: Vec::new(),
            connected: false,
            received: Vec::new(),
            unread: 0,
            got_eof: false,
            destroyed: false,
            error: None,
            sent: Traffic::default(),
            got: Traffic::default(),
            acked: None,
            send_gate: Gate::new(loss.sent_per_mille, loss.spare_first, loss.seed)
                .losing_first(loss.lose_first_sent),
            recv_gate: Gate::new(loss.received_per_mille, loss.spare_first, !loss.seed),
        };
        Events { socket, accepting, notes: RefCell::new(notes) }
    }

    /// Returns the notes; not to be held while libutp is called.
    pub(crate) fn notes(&self) -> RefMut<'_, Notes> {
        self.notes.borrow_mut()
    }

    /// Takes one waiting datagram; `None` when there is none. One that the
    /// simulated loss eats comes out empty.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        // An error other than "none waiting" can only be the echo of an earlier
        // datagram that nobody took; the next round reads on.
        let (len, from) = self.socket.recv_from(buffer).ok()?;
        let mut notes = self.notes();
        if notes.recv_gate.pass() {
            let acked = notes.acked;
            notes.got.count(&buffer[..len], acked);
            Some((len, from))
        } else {
            notes.got.dropped += 1;
            Some((0, from))
        }
    }
}

impl Callbacks for Events {
    fn send(&self, datagram: &[u8], to: SocketAddr) {
        let mut notes = self.notes();
        notes.acked = Packet::decode(datagram).map(|packet| packet.ack_nr);
        if !notes.send_gate.pass() {
            notes.sent.dropped += 1;
        } else if self.socket.send_to(datagram, to).is_ok() {
            notes.sent.count(datagram, None);
        } else {
            notes.sent.failed += 1;
        }
    }

    fn may_accept(&self) -> bool {
        let notes = self.notes();
        self.accepting && !notes.connected && notes.error.is_none()
    }

    fn unread(&self) -> usize {
        self.notes().unread
    }

    fn event(&self, conn: Conn, event: Event<'_>) {
        let mut notes = self.notes();
        if let Event::Accepted = event {
            // Until data arrives, a newer attempt takes the place: the other
            // end may have missed our answer to its first SYN.
            let before = notes.conn.replace(conn);
            notes.replaced.extend(before);
            return;
        }
        if notes.conn.is_some_and(|c| c != conn) {
            return;
        }
        match event {
            Event::Accepted => {}
            Event::Connected => notes.connected = true,
            Event::Read(bytes) => {
                notes.connected = true;
                notes.unread += bytes.len();
                notes.received.extend_from_slice(bytes);
            }
            Event::Eof => notes.got_eof = true,
            Event::Failed(failure) => notes.error = Some(failure),
            Event::Destroyed => notes.destroyed = true,
        }
    }
}
