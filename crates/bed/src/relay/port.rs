//! The sockets of a relay: each flow has a front, which plays the server, and a back, which plays the client.

use super::platform;
use super::record::Way;
use crate::error::Error;
use socket2::SockRef;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// What a burst may fill before the relay has read it.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

/// The two sockets of every flow, flow after flow.
pub(super) struct Ports {
    sockets: Vec<UdpSocket>,
}

impl Ports {
    /// Opens the ports of flows to these servers: a front speaks the address family of its server.
    pub(super) fn open(servers: impl Iterator<Item = SocketAddr>) -> Result<Ports, Error> {
        let mut sockets = Vec::new();
        for server in servers {
            for _ in Way::BOTH {
                sockets.push(open(&server)?);
            }
        }
        Ok(Ports { sockets })
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = &UdpSocket> {
        self.sockets.iter()
    }

    pub(super) fn socket(&self, port: usize) -> &UdpSocket {
        &self.sockets[port]
    }

    /// The address of every flow's front (forward) or back (reverse).
    pub(super) fn addresses(&self, way: Way) -> Result<Vec<SocketAddr>, Error> {
        let flows = 0..self.sockets.len() / 2;
        flows.map(|flow| local_address(self.entry(flow, way))).collect()
    }

    /// The socket that a flow's packets come in by.
    pub(super) fn entry(&self, flow: usize, way: Way) -> &UdpSocket {
        &self.sockets[port_of(flow, way)]
    }

    /// The socket that a flow's packets go out by: the other one.
    pub(super) fn exit(&self, flow: usize, way: Way) -> &UdpSocket {
        match way {
            Way::Forward => self.entry(flow, Way::Reverse),
            Way::Reverse => self.entry(flow, Way::Forward),
        }
    }
}

/// The port that packets of this flow and direction come in by.
fn port_of(flow: usize, way: Way) -> usize {
    2 * flow + way as usize
}

/// The flow and direction of what comes in by a port.
pub(super) fn entered_by(port: usize) -> (usize, Way) {
    (port / 2, Way::BOTH[port % 2])
}

fn local_address(socket: &UdpSocket) -> Result<SocketAddr, Error> {
    let unknown = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    socket.local_addr().map_err(|source| Error::Socket { address: unknown, source })
}

fn open(server: &SocketAddr) -> Result<UdpSocket, Error> {
    let ip = match server {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    let address = SocketAddr::new(ip, 0);
    open_at(address).map_err(|source| Error::Socket { address, source })
}

fn open_at(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    // Systems cap these as they like; what is lost before the emulated queue is counted where the system tells.
    let _ = SockRef::from(&socket).set_recv_buffer_size(SOCKET_BUFFER_BYTES);
    let _ = SockRef::from(&socket).set_send_buffer_size(SOCKET_BUFFER_BYTES);
    platform::prepare(&socket)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_enters_by_one_port_of_a_flow_leaves_by_the_other() {
        for port in 0..8 {
            let (flow, way) = entered_by(port);
            assert_eq!(port_of(flow, way), port);
        }
        let ports = Ports::open([([127, 0, 0, 1], 9).into()].into_iter()).unwrap();
        let address = |socket: &UdpSocket| socket.local_addr().unwrap();
        assert_eq!(address(ports.entry(0, Way::Forward)), address(ports.exit(0, Way::Reverse)));
        assert_ne!(address(ports.entry(0, Way::Forward)), address(ports.exit(0, Way::Forward)));
    }
}
