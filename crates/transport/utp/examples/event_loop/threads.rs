//! A thread that blocks in `recv_from` until a datagram comes or the connection's deadline has come.

use super::Peer;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

pub fn run(socket: UdpSocket, mut peer: Peer) -> io::Result<Peer> {
    let (mut incoming, mut outgoing) = (vec![0; 65_536], Vec::new());
    loop {
        while let Some(to) = peer.next(&mut outgoing) {
            socket.send_to(&outgoing, to)?;
        }
        if let Some(result) = peer.take_result() {
            return result.map(|()| peer);
        }
        socket.set_read_timeout(peer.wait())?;
        match socket.recv_from(&mut incoming) {
            Ok((bytes, from)) => peer.receive(from, &incoming[..bytes])?,
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns whether the time is up, or an earlier datagram's ICMP is reported, which means nothing for this socket.
fn is_passing(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted | ConnectionReset | ConnectionRefused)
}
