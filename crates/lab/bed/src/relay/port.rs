//! The sockets of a relay: each flow has a front, which plays the server, and a back, which plays the client.

use crate::error::Error;
use crate::way::Way;
use afteryou_sockets::{bind, Control, Families, Incoming, Messages, Options, Outgoing};
use socket2::SockRef;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Larger than every UDP payload.
const LARGEST_DATAGRAM_BYTES: usize = 65536;

/// A socket with the control messages that the relay needs.
pub(super) struct Port {
    socket: UdpSocket,
    control: Control,
}

/// Room for one buffer of datagrams.
pub(super) struct Inbox {
    pub(super) payload: Vec<u8>,
    messages: Messages,
}

impl Inbox {
    pub(super) fn new() -> Inbox {
        Inbox { payload: vec![0; LARGEST_DATAGRAM_BYTES], messages: Messages::default() }
    }
}

impl Port {
    /// Reads the next buffer of datagrams; `WouldBlock` if there is none.
    pub(super) fn receive(&self, inbox: &mut Inbox) -> io::Result<Incoming> {
        self.control.receive(SockRef::from(&self.socket), &mut inbox.messages, &mut inbox.payload)
    }

    /// Sends one datagram with this TOS or traffic-class byte.
    pub(super) fn send(&self, payload: &[u8], to: SocketAddr, tos: u8) -> io::Result<()> {
        let outgoing = Outgoing { tos, ..Outgoing::new(to, payload) };
        self.control.send(SockRef::from(&self.socket), &outgoing)
    }

    fn address(&self) -> Result<SocketAddr, Error> {
        let unknown = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        self.socket.local_addr().map_err(|source| Error::Socket { address: unknown, source })
    }
}

/// The two sockets of every flow, flow after flow.
pub(super) struct Ports {
    ports: Vec<Port>,
}

impl Ports {
    /// Opens the ports of flows to these servers: a front has the address family of its server. With `hosts` each back has
    /// an address of its own.
    pub(super) fn open(servers: impl Iterator<Item = SocketAddr>, hosts: bool) -> Result<Ports, Error> {
        let mut ports = Vec::new();
        for (flow, server) in servers.enumerate() {
            let front = loopback_of(&server);
            let back = if hosts { host(flow as u32, front) } else { front };
            ports.extend([open(front)?, open(back)?]);
        }
        Ok(Ports { ports })
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = &UdpSocket> {
        self.ports.iter().map(|port| &port.socket)
    }

    pub(super) fn port(&self, port: usize) -> &Port {
        &self.ports[port]
    }

    /// Returns the address of every flow's front (forward) or back (reverse).
    pub(super) fn addresses(&self, way: Way) -> Result<Vec<SocketAddr>, Error> {
        let flows = 0..self.ports.len() / 2;
        flows.map(|flow| self.entry(flow, way).address()).collect()
    }

    /// Returns the socket that a flow's packets come in by.
    pub(super) fn entry(&self, flow: usize, way: Way) -> &Port {
        &self.ports[port_of(flow, way)]
    }

    /// Returns the socket that a flow's packets go out by: the other one.
    pub(super) fn exit(&self, flow: usize, way: Way) -> &Port {
        match way {
            Way::Forward => self.entry(flow, Way::Reverse),
            Way::Reverse => self.entry(flow, Way::Forward),
        }
    }
}

/// Returns the port that packets of this flow and direction come in by.
fn port_of(flow: usize, way: Way) -> usize {
    2 * flow + way as usize
}

/// Returns the flow and direction of what comes in by a port.
pub(super) fn entered_by(port: usize) -> (usize, Way) {
    (port / 2, Way::BOTH[port % 2])
}

fn loopback_of(server: &SocketAddr) -> IpAddr {
    match server {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    }
}

/// Returns the address of a flow's client where each is a host of its own. IPv6 has one loopback address only.
fn host(flow: u32, loopback: IpAddr) -> IpAddr {
    const FIRST: u32 = u32::from_be_bytes([127, 1, 0, 0]);
    match loopback {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(FIRST + flow % (1 << 20))),
        ip => ip,
    }
}

fn open(ip: IpAddr) -> Result<Port, Error> {
    let address = SocketAddr::new(ip, 0);
    open_at(address).map_err(|source| Error::Socket { address, source })
}

fn open_at(address: SocketAddr) -> io::Result<Port> {
    // Large buffers: what is lost before the emulated queue is counted where the system reports it.
    let socket = bind(address, Families::Own)?;
    let options = Options { tos: true, arrival: true, drops: true, ..Options::default() };
    let control = Control::new(SockRef::from(&socket), options)?;
    Ok(Port { socket, control })
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
        let ports = Ports::open([([127, 0, 0, 1], 9).into()].into_iter(), false).unwrap();
        let address = |port: &Port| port.address().unwrap();
        assert_eq!(address(ports.entry(0, Way::Forward)), address(ports.exit(0, Way::Reverse)));
        assert_ne!(address(ports.entry(0, Way::Forward)), address(ports.exit(0, Way::Forward)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn clients_are_hosts_of_their_own_if_asked_for() {
        let server: SocketAddr = ([127, 0, 0, 1], 9).into();
        let ports = Ports::open([server; 300].into_iter(), true).unwrap();
        let backs = ports.addresses(Way::Reverse).unwrap();
        assert_eq!(
            (backs[0].ip().to_string(), backs[299].ip().to_string()),
            ("127.1.0.0".into(), "127.1.1.43".into())
        );
        assert!(ports.addresses(Way::Forward).unwrap().iter().all(|front| front.ip() == server.ip()));
    }
}
