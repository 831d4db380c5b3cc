//! A sender and a receiver of either transport.

use super::auditor::{Auditor, Books, Rule};
use super::PACKET;
use crate::packet::NO_WINDOW;
use crate::tcp::{Acknowledgement, Arrival, Incoming, Receiver, Sender, Transmit};
use afteryou_cc::Time;
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::Transport;
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{Config, Connection, ConnectionId, Host, SeqNr};

/// A datagram of either transport.
pub enum Datagram {
    /// With the sender's clock, µs.
    Syn(u32),
    SynAck,
    Data(Arrival),
    Ack(Acknowledgement, u32),
    Utp(Vec<u8>),
}

impl Datagram {
    /// Returns whether it is a data packet.
    pub fn is_data(&self) -> bool {
        match self {
            Datagram::Data(_) => true,
            Datagram::Utp(bytes) => {
                Packet::decode(bytes).is_ok_and(|packet| packet.header.kind == Kind::Data)
            }
            _ => false,
        }
    }
}

/// Both ends of a connection.
pub trait Ends {
    fn open(&mut self, now: Time);
    fn is_open(&self) -> bool;
    fn give(&mut self, bytes: u64);
    fn is_flushed(&self) -> bool;
    fn deadline(&self) -> Time;
    fn on_time(&mut self, now: Time);
    fn poll_sender(&mut self, now: Time) -> Option<Datagram>;
    fn poll_receiver(&mut self, now: Time) -> Option<Datagram>;
    fn reach_receiver(&mut self, now: Time, datagram: Datagram);
    fn reach_sender(&mut self, now: Time, datagram: Datagram);
}

fn auditor(rule: Rule) -> (Box<Auditor>, Books) {
    let books = Books::default();
    (Box::new(Auditor { rule, books: books.clone() }), books)
}

pub struct Tcp {
    sender: Sender,
    receiver: Receiver,
    answer_due: bool,
    is_open: bool,
}

impl Tcp {
    pub fn begin(rule: Rule) -> (Box<dyn Ends>, Books) {
        let (controller, books) = auditor(rule);
        let Ok(Protocol::Tcp(options)) = Transport::tcp().protocol() else { unreachable!("it is TCP") };
        let sender = Sender::new(options, controller, PACKET as u16);
        let receiver = Receiver::new(options.ack);
        (Box::new(Tcp { sender, receiver, answer_due: false, is_open: false }), books)
    }
}

impl Ends for Tcp {
    fn open(&mut self, now: Time) {
        self.sender.open(now);
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn give(&mut self, bytes: u64) {
        self.sender.give(bytes);
    }

    fn is_flushed(&self) -> bool {
        self.sender.is_flushed()
    }

    fn deadline(&self) -> Time {
        self.sender.deadline().min(self.sender.pacing_deadline()).min(self.receiver.ack_at())
    }

    fn on_time(&mut self, now: Time) {
        if self.sender.deadline() <= now {
            self.sender.on_timer(now);
        }
    }

    fn poll_sender(&mut self, now: Time) -> Option<Datagram> {
        let Transmit::Data(outgoing, _) = self.sender.poll(now)? else {
            return Some(Datagram::Syn(now.as_micros() as u32));
        };
        Some(Datagram::Data(Arrival {
            seq: outgoing.seq,
            len: outgoing.len,
            tsval: now.as_micros() as u32,
            transmission: outgoing.transmission,
            marked: false,
        }))
    }

    fn poll_receiver(&mut self, now: Time) -> Option<Datagram> {
        if std::mem::take(&mut self.answer_due) {
            return Some(Datagram::SynAck);
        }
        (self.receiver.ack_at() <= now).then(|| {
            let acknowledgement = self.receiver.acknowledge();
            let delay = (now.as_micros() as u32).wrapping_sub(acknowledgement.tsecr);
            Datagram::Ack(acknowledgement, delay)
        })
    }

    fn reach_receiver(&mut self, now: Time, datagram: Datagram) {
        match datagram {
            Datagram::Data(arrival) => self.receiver.on_data(now, arrival),
            Datagram::Syn(tsval) => {
                self.receiver.on_syn(tsval);
                self.answer_due = true;
            }
            _ => {}
        }
    }

    fn reach_sender(&mut self, now: Time, datagram: Datagram) {
        let Datagram::Ack(acknowledgement, one_way_delay) = datagram else {
            self.sender.on_syn_ack(now, NO_WINDOW);
            self.is_open = true;
            return;
        };
        let incoming = Incoming {
            cumulative: acknowledgement.cumulative as u32,
            tsecr: acknowledgement.tsecr,
            one_way_delay,
            sack: acknowledgement.sack.as_ref(),
            flags: acknowledgement.flags,
        };
        self.sender.on_ack(now, &incoming);
    }
}

pub struct Utp {
    client: Connection,
    server: Option<Connection>,
    /// Bytes that the connection's send buffer had no room for.
    unwritten: u64,
}

impl Utp {
    pub fn begin(rule: Rule) -> (Box<dyn Ends>, Books) {
        let (controller, books) = auditor(rule);
        let client = HOST.connect(config(), controller, Time::ZERO, ConnectionId(1), SeqNr(1));
        (Box::new(Utp { client, server: None, unwritten: 0 }), books)
    }
}

/// Packets have no content.
const HOST: Host = Host { keeps_received: false, ..Host::REAL };

fn config() -> Config {
    Config { payload: PACKET as u32, ..Config::default() }
}

impl Ends for Utp {
    fn open(&mut self, _: Time) {}

    fn is_open(&self) -> bool {
        self.client.is_connected()
    }

    fn give(&mut self, bytes: u64) {
        self.unwritten += bytes;
    }

    fn is_flushed(&self) -> bool {
        self.unwritten == 0 && self.client.is_flushed()
    }

    fn deadline(&self) -> Time {
        let deadlines = [self.client.deadline(), self.server.as_ref().and_then(Connection::deadline)];
        deadlines.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    fn on_time(&mut self, now: Time) {
        for end in std::iter::once(&mut self.client).chain(&mut self.server) {
            if end.deadline().is_some_and(|at| at <= now) {
                end.handle_deadline(now);
            }
        }
    }

    fn poll_sender(&mut self, now: Time) -> Option<Datagram> {
        self.unwritten -= self.client.write_zeros(self.unwritten).unwrap_or(0);
        self.client.flush();
        let mut bytes = Vec::new();
        self.client.poll_transmit(now, &mut bytes).then_some(Datagram::Utp(bytes))
    }

    fn poll_receiver(&mut self, now: Time) -> Option<Datagram> {
        let mut bytes = Vec::new();
        self.server.as_mut()?.poll_transmit(now, &mut bytes).then_some(Datagram::Utp(bytes))
    }

    fn reach_receiver(&mut self, now: Time, datagram: Datagram) {
        let Datagram::Utp(bytes) = datagram else { return };
        let packet = Packet::decode(&bytes).expect("our own packets are well-formed");
        match &mut self.server {
            Some(server) => server.handle(now, &packet),
            None => {
                let (controller, _) = auditor(Rule::window(PACKET));
                self.server = Some(HOST.accept(config(), controller, now, &packet, SeqNr(1)));
            }
        }
    }

    fn reach_sender(&mut self, now: Time, datagram: Datagram) {
        let Datagram::Utp(bytes) = datagram else { return };
        self.client.handle(now, &Packet::decode(&bytes).expect("our own packets are well-formed"));
    }
}
