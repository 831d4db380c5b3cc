//! libutp, as BitTorrent clients drive it: one thread, one loop.

use super::work::{self, Work};
use afteryou_interop::bulk;
use std::net::UdpSocket;
use std::time::Duration;

fn settings() -> bulk::Settings {
    bulk::Settings { udp_mtu: work::DATAGRAM, window: work::window().map_or(4 << 20, |bytes| bytes as u32) }
}

fn open() -> anyhow::Result<UdpSocket> {
    let socket = UdpSocket::bind(work::here())?;
    // The same as ours: with the system's default its bursts overflow the receiver.
    afteryou_sockets::set_buffers(socket2::SockRef::from(&socket));
    Ok(socket)
}

pub fn receive() -> anyhow::Result<(u64, Duration)> {
    let socket = open()?;
    work::announce(socket.local_addr()?);
    Ok(bulk::receive(socket, settings())?)
}

pub fn send(work: &Work) -> anyhow::Result<()> {
    Ok(bulk::send(open()?, settings(), work.to, work.bytes, work.pace)?)
}
