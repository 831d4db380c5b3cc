//! TCP connections of this network namespace, as the kernel lists them (`sock_diag`, linux/inet_diag.h).

use super::layout::{Layout, State};
use super::netlink::{attribute, attributes, list, text, u32_at};
use libbpf_rs::MapHandle;
use rustix::net::netlink;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const FAMILIES: [u8; 2] = [2, 10];
const IPPROTO_TCP: u8 = 6;
/// All states of TCP but LISTEN, TIME_WAIT and those before the three-way handshake's end.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// Lengths of `inet_diag_sockid` and `inet_diag_msg`.
const ID: usize = 48;
const ANSWER: usize = 72;

const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_SK_BPF_STORAGES: u16 = 20;
/// Of a question, and in it.
const INET_DIAG_REQ_SK_BPF_STORAGES: u16 = 2;
const SK_DIAG_BPF_STORAGE_REQ_MAP_FD: u16 = 1;
/// Of each storage in an answer.
const SK_DIAG_BPF_STORAGE_MAP_ID: u16 = 2;
const SK_DIAG_BPF_STORAGE_MAP_VALUE: u16 = 3;

/// A connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Its own address.
    pub local: SocketAddr,
    /// The peer's.
    pub peer: SocketAddr,
    /// Name of its congestion controller.
    pub controller: String,
    /// Congestion window, bytes.
    pub window: u64,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Duration,
    /// Reaction of the kernel to a loss, while it lasts.
    pub recovery: Option<&'static str>,
    /// The state of the rule, as far as it can be read.
    pub state: Option<State>,
}

/// A map of connections: its descriptor, its number in the kernel, and its layout.
#[derive(Debug)]
pub struct States {
    /// The map.
    pub map: MapHandle,
    /// The kernel's number of it.
    pub id: u32,
    /// Where its values have the state.
    pub layout: Layout,
}

/// Lists the connections, with the states of those that the maps have.
///
/// # Errors
/// The kernel's, such as a lack of CAP_BPF where there are maps.
pub fn connections(maps: &[States]) -> io::Result<Vec<Connection>> {
    let mut found = Vec::new();
    for family in FAMILIES {
        let question = question(family, maps);
        list(Some(netlink::SOCK_DIAG), SOCK_DIAG_BY_FAMILY, &question, |answer| {
            found.extend(read(answer, maps))
        })?;
    }
    Ok(found)
}

/// Returns an `inet_diag_req_v2` and its attributes.
fn question(family: u8, maps: &[States]) -> Vec<u8> {
    let extensions = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
    let mut bytes = vec![family, IPPROTO_TCP, extensions, 0];
    bytes.extend(STATES.to_ne_bytes());
    bytes.extend([0; ID]);
    if !maps.is_empty() {
        let descriptors = maps.iter().map(|states| states.map.as_fd().as_raw_fd());
        let each = descriptors.map(|fd| attribute(SK_DIAG_BPF_STORAGE_REQ_MAP_FD, &fd.to_ne_bytes()));
        bytes.extend(attribute(INET_DIAG_REQ_SK_BPF_STORAGES, &each.collect::<Vec<_>>().concat()));
    }
    bytes
}

/// Reads an `inet_diag_msg` and its attributes.
fn read(answer: &[u8], maps: &[States]) -> Option<Connection> {
    let (head, rest) = answer.split_at_checked(ANSWER)?;
    let has_v6 = head[0] == FAMILIES[1];
    let address = |port: usize, at: usize| {
        let ip: [u8; 16] = head[at..at + 16].try_into().expect("16 bytes");
        let ip: IpAddr = match has_v6 {
            true => Ipv6Addr::from(ip).to_canonical(),
            false => Ipv4Addr::new(ip[0], ip[1], ip[2], ip[3]).into(),
        };
        SocketAddr::new(ip, u16::from_be_bytes([head[port], head[port + 1]]))
    };
    let mut connection = Connection {
        local: address(4, 8),
        peer: address(6, 24),
        controller: String::new(),
        window: 0,
        rtt: Duration::ZERO,
        recovery: None,
        state: None,
    };
    for (kind, value) in attributes(rest) {
        match kind {
            INET_DIAG_CONG => connection.controller = text(value),
            INET_DIAG_INFO => connection.take_info(value),
            INET_DIAG_SK_BPF_STORAGES => {
                connection.state = attributes(value).find_map(|(_, one)| state(one, maps))
            }
            _ => {}
        }
    }
    Some(connection)
}

impl Connection {
    /// Takes figures of a `tcp_info` (linux/tcp.h).
    fn take_info(&mut self, info: &[u8]) {
        let (mss, rtt_us, cwnd) = (u32_at(info, 16), u32_at(info, 68), u32_at(info, 80));
        self.window = u64::from(cwnd) * u64::from(mss);
        self.rtt = Duration::from_micros(rtt_us.into());
        self.recovery = match info.get(1) {
            Some(2) => Some("reducing the window"),
            Some(3) => Some("recovery from a loss"),
            Some(4) => Some("recovery from a timeout"),
            _ => None,
        };
    }
}

/// Reads one storage of a socket.
fn state(storage: &[u8], maps: &[States]) -> Option<State> {
    let (mut id, mut value) = (0, None);
    for (kind, bytes) in attributes(storage) {
        match kind {
            SK_DIAG_BPF_STORAGE_MAP_ID => id = u32_at(bytes, 0),
            SK_DIAG_BPF_STORAGE_MAP_VALUE => value = Some(bytes),
            _ => {}
        }
    }
    Some(maps.iter().find(|states| states.id == id)?.layout.read(value?))
}
