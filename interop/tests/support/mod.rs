//! A uTP end played by hand over a plain UDP socket.
#![allow(dead_code)] // each test file uses its own part

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use afteryou_interop::packet::{Kind, Packet};

/// Long enough for a loaded machine; only failing tests wait this long.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// Long enough to be sure that libutp does not answer.
pub const SILENCE: Duration = Duration::from_millis(700);

/// Returns bytes that differ from place to place.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

pub struct Hand {
    pub socket: UdpSocket,
    pub to: Option<SocketAddr>,
    /// The UDP payload size of the packet received last, in bytes.
    pub last_size: usize,
}

impl Hand {
    pub fn new() -> Self {
        Hand { socket: UdpSocket::bind("127.0.0.1:0").unwrap(), to: None, last_size: 0 }
    }

    pub fn talking_to(to: SocketAddr) -> Self {
        Hand { to: Some(to), ..Hand::new() }
    }

    pub fn addr(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    pub fn send(&self, packet: &Packet) {
        self.socket.send_to(&packet.encode(), self.to.unwrap()).unwrap();
    }

    /// Returns the next packet within `wait`; answers go to its sender from now on.
    pub fn try_recv(&mut self, wait: Duration) -> Option<Packet> {
        let mut buffer = [0; 2048];
        self.socket.set_read_timeout(Some(wait)).unwrap();
        let (len, from) = self.socket.recv_from(&mut buffer).ok()?;
        self.to = Some(from);
        self.last_size = len;
        Some(Packet::decode(&buffer[..len]).expect("libutp sent something that is not uTP"))
    }

    /// Returns the next packet, which must be of this kind.
    #[track_caller]
    pub fn expect(&mut self, kind: Kind) -> Packet {
        let packet = self.try_recv(PATIENCE).expect("libutp sent nothing");
        assert_eq!(packet.kind, kind, "{packet:?}");
        packet
    }

    #[track_caller]
    pub fn expect_silence(&mut self) {
        assert_eq!(self.try_recv(SILENCE), None);
    }

    /// Returns all packets that arrive until nothing has come for `quiet`.
    pub fn recv_until_quiet(&mut self, quiet: Duration) -> Vec<Packet> {
        let end = Instant::now() + PATIENCE;
        let mut packets = Vec::new();
        while let Some(packet) = self.try_recv(quiet) {
            packets.push(packet);
            assert!(Instant::now() < end, "libutp does not stop sending");
        }
        packets
    }
}
