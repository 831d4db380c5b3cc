//! A loop around mio: many sockets, timers and other things can wait in the same place.

use super::Peer;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind};

/// Datagrams read before sending has its turn.
const READ_BATCH: usize = 64;

pub fn run(socket: std::net::UdpSocket, mut peer: Peer) -> io::Result<Peer> {
    socket.set_nonblocking(true)?;
    let mut socket = UdpSocket::from_std(socket);
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(8));
    // Readiness is reported when it changes, so a socket that can always be written to wakes nobody.
    poll.registry().register(&mut socket, Token(0), Interest::READABLE | Interest::WRITABLE)?;
    let (mut incoming, mut outgoing) = (vec![0; 65_536], Vec::new());
    let mut waiting = None;
    loop {
        let drained = receive(&socket, &mut peer, &mut incoming)?;
        // A datagram that found no room goes first.
        while let Some(to) = waiting.take().or_else(|| peer.next(&mut outgoing)) {
            match socket.send_to(&outgoing, to) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    waiting = Some(to);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(result) = peer.take_result() {
            return result.map(|()| peer);
        }
        if drained {
            poll.poll(&mut events, peer.wait())?;
        }
    }
}

/// Reads what has come; false if there may be more.
fn receive(socket: &UdpSocket, peer: &mut Peer, buf: &mut [u8]) -> io::Result<bool> {
    for _ in 0..READ_BATCH {
        match socket.recv_from(buf) {
            Ok((bytes, from)) => peer.receive(from, &buf[..bytes])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            // An earlier datagram's ICMP does not concern this socket.
            Err(error)
                if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
