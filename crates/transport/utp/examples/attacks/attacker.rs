//! One socket that sends from any address of 127.0.0.0/8.

use crate::target::Failure;
use afteryou_sockets::{bind, Control, Families, Messages, Options, Outgoing};
use afteryou_utp::packet::{Header, Kind, Packet};
use afteryou_utp::{ConnectionId, Micros, SeqNr};
use nix::sys::resource::{getrusage, UsageWho};
use socket2::SockRef;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

pub struct Attacker {
    socket: UdpSocket,
    control: Control,
    target: SocketAddr,
    messages: Messages,
}

impl Attacker {
    pub fn new(target: SocketAddr) -> Result<Attacker, Failure> {
        let socket = bind((Ipv4Addr::UNSPECIFIED, 0).into(), Families::Own)?;
        let options = Options { destination: true, ..Options::default() };
        let control = Control::new(SockRef::from(&socket), options)?;
        Ok(Attacker { socket, control, target, messages: Messages::default() })
    }

    /// Sends datagrams of `segment` bytes each. Whatever the system refuses is lost.
    pub fn send(&self, from: Ipv4Addr, datagrams: &[u8], segment: usize) {
        let outgoing = Outgoing {
            from: Some(from.into()),
            segment: Some(segment),
            ..Outgoing::new(self.target, datagrams)
        };
        _ = self.control.send(SockRef::from(&self.socket), &outgoing);
    }

    /// Returns the next header that the target sends to one of the addresses, and to which; `None` if there is none now.
    pub fn receive(&mut self) -> Option<(Ipv4Addr, Header)> {
        let mut buffer = [0; 2048];
        let incoming =
            self.control.receive(SockRef::from(&self.socket), &mut self.messages, &mut buffer).ok()?;
        let Some(IpAddr::V4(to)) = incoming.to else { return None };
        Some((to, Packet::decode(&buffer[..incoming.bytes]).ok()?.header))
    }

    /// Completes a handshake from each address, with id 1; returns the addresses that got in with the number of the
    /// target's next packet.
    pub fn connect(&mut self, from: impl Iterator<Item = Ipv4Addr>) -> Vec<(Ipv4Addr, u16)> {
        let mut connected = Vec::new();
        for from in from {
            self.send(from, &encode(Kind::Syn, 1, 1, 0, &[]), usize::MAX);
            let answer = (0..200).find_map(|_| {
                let answer = self.receive().filter(|(to, header)| *to == from && header.kind == Kind::State);
                answer.is_none().then(|| std::thread::sleep(Duration::from_micros(50)));
                answer
            });
            if let Some((_, header)) = answer {
                self.send(from, &encode(Kind::State, 2, 2, header.seq_nr.prev().0, &[]), usize::MAX);
                connected.push((from, header.seq_nr.0));
            }
        }
        connected
    }
}

/// Encodes a packet of an initiator.
pub fn encode(kind: Kind, connection_id: u16, seq_nr: u16, ack_nr: u16, payload: &[u8]) -> Vec<u8> {
    let wnd_size = 1 << 20;
    let header = Header {
        kind,
        connection_id: ConnectionId(connection_id),
        timestamp: Micros(1),
        timestamp_difference: Micros(1),
        wnd_size,
        seq_nr: SeqNr(seq_nr),
        ack_nr: SeqNr(ack_nr),
    };
    let mut datagram = Vec::new();
    Packet { header, sack: None, marks: None, payload }.encode(&mut datagram);
    datagram
}

/// Returns the `i`-th of the attacker's addresses.
pub fn address(i: u32) -> Ipv4Addr {
    Ipv4Addr::from(0x7F10_0000 + i)
}

/// Returns the CPU time of this thread.
pub fn cpu_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return Duration::ZERO };
    [usage.user_time(), usage.system_time()]
        .map(|time| Duration::from_micros((time.tv_sec() * 1_000_000 + time.tv_usec()).unsigned_abs()))
        .iter()
        .sum()
}
