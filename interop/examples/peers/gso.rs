//! The ceiling: UDP datagrams in batches (GSO, GRO) without any protocol, so without repair. Its goodput is what arrives.

use super::work::{self, Work};
use afteryou_sockets::{Control, Families, Messages, Options, Outgoing, MOST_SEGMENTS};
use socket2::SockRef;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Silence after which the sender is taken to have ended.
const SILENCE: Duration = Duration::from_secs(1);

fn open() -> anyhow::Result<(UdpSocket, Control)> {
    let socket = afteryou_sockets::bind(work::here(), Families::Own)?;
    socket.set_nonblocking(false)?;
    let control = Control::new(SockRef::from(&socket), Options { batches: true, ..Options::default() })?;
    Ok((socket, control))
}

pub fn receive() -> anyhow::Result<(u64, Duration)> {
    let (socket, control) = open()?;
    work::announce(socket.local_addr()?);
    let (mut buffer, mut messages) = (vec![0; 1 << 16], Messages::default());
    let mut receive = || control.receive(SockRef::from(&socket), &mut messages, &mut buffer);
    let mut bytes = receive()?.bytes as u64;
    let (began, mut latest) = (Instant::now(), Instant::now());
    socket.set_read_timeout(Some(SILENCE))?;
    while let Ok(incoming) = receive() {
        bytes += incoming.bytes as u64;
        latest = Instant::now();
    }
    Ok((bytes, latest - began))
}

pub fn send(work: &Work) -> anyhow::Result<()> {
    anyhow::ensure!(work.pace.is_none(), "has no rate of its own");
    let (socket, control) = open()?;
    let size = usize::from(work::DATAGRAM);
    // A batch is one IP packet until it is cut.
    let buffer = vec![7; size * MOST_SEGMENTS.min(65_507 / size)];
    let outgoing = Outgoing { segment: Some(size), ..Outgoing::new(work.to, &buffer) };
    for _ in 0..work.bytes / buffer.len() as u64 {
        control.send(SockRef::from(&socket), &outgoing)?;
    }
    Ok(())
}
