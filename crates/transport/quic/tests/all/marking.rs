//! The TOS or traffic-class byte, on real sockets.
#![cfg(target_os = "linux")]

use crate::common::{client, connect, direction, receive_pattern, runtime, send_pattern, server, Failure};
use afteryou_aqm::{Dropped, Ecn, Packet, Queue, Statistics};
use afteryou_base::Dscp;
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Datagram, Direction, Link, Relay};
use afteryou_bed::Clock;
use afteryou_quic::{background_transport, Monitor, Socket, DSCP_IS_SENT};
use nix::sys::socket::{recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags, SockaddrStorage};
use quinn::udp::{EcnCodepoint, Transmit};
use quinn::AsyncUdpSocket;
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

const _: () = assert!(DSCP_IS_SENT);

/// Opens a plain socket that reads the byte of what it receives; `None` if this machine has no such address.
fn plain(address: &str) -> Option<UdpSocket> {
    let socket = UdpSocket::bind(address).ok()?;
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    match socket.local_addr().unwrap() {
        SocketAddr::V4(_) => setsockopt(&socket, sockopt::IpRecvTos, &true).unwrap(),
        SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvTClass, &true).unwrap(),
    }
    Some(socket)
}

/// Returns length and TOS byte of the next datagram.
fn receive(socket: &UdpSocket) -> (usize, u8) {
    let (mut payload, mut control) = ([0; 2000], nix::cmsg_space!(i32));
    let mut slices = [IoSliceMut::new(&mut payload)];
    let message =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty());
    let message = message.unwrap();
    let byte = message.cmsgs().unwrap().find_map(|control| match control {
        ControlMessageOwned::Ipv4Tos(byte) => Some(byte),
        ControlMessageOwned::Ipv6TClass(class) => Some(class as u8),
        _ => None,
    });
    (message.bytes, byte.expect("no byte came with it"))
}

async fn send(
    socket: &Arc<Socket>,
    to: SocketAddr,
    ecn: Option<EcnCodepoint>,
    contents: &[u8],
    segment: Option<usize>,
) {
    let transmit = Transmit { destination: to, ecn, contents, segment_size: segment, src_ip: None };
    let mut poller = Arc::clone(socket).create_io_poller();
    std::future::poll_fn(|cx| poller.as_mut().poll_writable(cx)).await.unwrap();
    socket.try_send(&transmit).unwrap();
}

/// Sends each ECN codepoint from a socket of ours at `from` to a plain one at `to`; false if there are no such addresses.
fn marks(from: &str, to: &str) -> bool {
    let Some(receiver) = plain(to) else { return false };
    runtime().block_on(async {
        let Ok(socket) = Socket::bind(from.parse().unwrap(), Dscp::LE) else { return false };
        let mut to = receiver.local_addr().unwrap();
        if socket.local_addr().unwrap().is_ipv6() {
            if let SocketAddr::V4(v4) = to {
                to = (v4.ip().to_ipv6_mapped(), v4.port()).into();
            }
        }
        let codepoints = [None, Some(EcnCodepoint::Ect1), Some(EcnCodepoint::Ect0), Some(EcnCodepoint::Ce)];
        for (bits, ecn) in (0..).zip(codepoints) {
            send(&socket, to, ecn, b"after you", None).await;
            assert_eq!(receive(&receiver), (9, 0x04 | bits));
        }
        // With segmentation offload, too, and each segment carries the byte.
        send(&socket, to, Some(EcnCodepoint::Ect0), &[7; 2500], Some(1000)).await;
        assert_eq!([1000, 1000, 500].map(|_| receive(&receiver)), [(1000, 6), (1000, 6), (500, 6)]);
        socket.set_dscp(Dscp::MAX);
        send(&socket, to, None, b"after you", None).await;
        assert_eq!((receive(&receiver), socket.dscp()), ((9, 0xFC), Dscp::MAX));
        true
    })
}

#[test]
fn an_ipv4_receiver_sees_the_lower_effort_class_beside_every_ecn_codepoint() {
    assert!(marks("127.0.0.1:0", "127.0.0.1:0"));
}

#[test]
fn an_ipv6_receiver_sees_it_too() {
    if !marks("[::1]:0", "[::1]:0") {
        println!("not tested: this machine has no [::1]");
    }
}

#[test]
fn a_socket_for_both_families_marks_what_goes_to_ipv4() {
    if !marks("[::]:0", "127.0.0.1:0") {
        println!("not tested: this machine has no IPv6");
    }
}

/// Runs a transfer without a relay; returns the byte that each end saw of the other.
async fn bytes_seen(server_at: &str, client_at: &str, connect_to: &str) -> Result<(u8, u8), Failure> {
    let (server, server_socket) = server(server_at, background_transport());
    let (client, client_socket) = client(client_at);
    let to = SocketAddr::new(connect_to.parse()?, server.local_addr()?.port());
    let receiver = tokio::spawn(receive_pattern(server, 300_000));
    let connection = connect(&client, to, background_transport()).await?;
    send_pattern(&connection, 300_000).await?;
    let accepted = receiver.await??;
    let at_server = server_socket.tos_from(accepted.remote_address()).ok_or("server saw nothing")?;
    assert!(server_socket.tos_seen().iter().any(|(_, tos)| *tos == at_server));
    Ok((at_server, client_socket.tos_from(to).ok_or("client saw nothing")?))
}

#[test]
fn both_ends_of_a_quic_connection_see_the_whole_byte_of_the_other() {
    let expected = (Dscp::LE.tos(0b10), Dscp::LE.tos(0b10));
    let seen = runtime().block_on(bytes_seen("127.0.0.1:0", "127.0.0.1:0", "127.0.0.1"));
    assert_eq!(seen.unwrap(), expected);
    if UdpSocket::bind("[::1]:0").is_err() {
        println!("not tested: this machine has no [::1]");
        return;
    }
    assert_eq!(runtime().block_on(bytes_seen("[::1]:0", "[::1]:0", "::1")).unwrap(), expected);
    let seen = runtime().block_on(bytes_seen("[::]:0", "[::]:0", "::ffff:127.0.0.1"));
    assert_eq!(seen.unwrap(), expected, "both families on one socket");
}

/// Marks one packet in `every` of those that can be marked.
struct MarkSome {
    queue: Box<dyn Queue<Datagram>>,
    every: u64,
    count: u64,
}

impl Queue<Datagram> for MarkSome {
    fn enqueue(&mut self, now: Time, mut packet: Packet<Datagram>, dropped: &mut Vec<Dropped<Datagram>>) {
        self.count += 1;
        if packet.ecn == Ecn::Ect0 && self.count.is_multiple_of(self.every) {
            packet.ecn = Ecn::Ce;
        }
        self.queue.enqueue(now, packet, dropped);
    }

    fn dequeue(
        &mut self,
        now: Time,
        dropped: &mut Vec<Dropped<Datagram>>,
    ) -> Option<(Packet<Datagram>, Span)> {
        self.queue.dequeue(now, dropped)
    }

    fn statistics(&self) -> &Statistics {
        self.queue.statistics()
    }
}

/// Runs a transfer over a link that marks one packet in `every`. Returns the ACK frames with marks as the controller saw
/// them, and quinn's count of congestion events and lost packets.
fn marked_frames(every: u64) -> (u64, u64, u64) {
    let plain = || direction("50 Mbit/s", "500 ms", "0 %");
    let queue = MarkSome { queue: plain().queue, every, count: 0 };
    let marking = Direction { queue: Box::new(queue), ..plain() };
    runtime().block_on(async {
        let (server, _) = server("127.0.0.1:0", background_transport());
        let mut config = Config::new(1);
        let link = config.add_link(Link { name: "uplink".to_owned(), forward: marking, reverse: plain() });
        let flow = config.add_flow(link, server.local_addr().unwrap(), Span::from_millis(5));
        let relay = Relay::start(config, Clock::start()).unwrap();
        let receiver = tokio::spawn(receive_pattern(server, 400_000));
        let connection =
            connect(&client("127.0.0.1:0").0, relay.front(flow), background_transport()).await.unwrap();
        send_pattern(&connection, 400_000).await.unwrap();
        receiver.await.unwrap().unwrap();
        let status = Monitor::of(&connection).unwrap().status();
        let path = connection.stats().path;
        (status.marked_frames, path.congestion_events, path.lost_packets)
    })
}

#[test]
fn a_mark_of_the_queue_reaches_the_controller() {
    let (marked, events, lost) = marked_frames(40);
    assert!(marked >= 5 && marked + lost >= events, "{marked} frames, {events} events, {lost} lost");
    assert_eq!(marked_frames(u64::MAX).0, 0);
}
