//! The TOS and traffic-class byte through the relay, on real sockets.
#![cfg(target_os = "linux")]

use crate::common::{direction, link, socket_at};
use afteryou_aqm::{Dropped, Ecn, Packet, Queue, Statistics};
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Datagram, Direction, Link, Record, Relay, TOS_IS_KEPT};
use afteryou_bed::Clock;
use afteryou_scenario::Probability;
use nix::sys::socket::{recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags, SockaddrStorage};
use socket2::SockRef;
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

const _: () = assert!(TOS_IS_KEPT);

/// Opens a socket that reads the byte of what it receives; `None` if this machine has no such loopback address.
fn socket(address: &str) -> Option<UdpSocket> {
    let socket = socket_at(address)?;
    match socket.local_addr().unwrap() {
        SocketAddr::V4(_) => setsockopt(&socket, sockopt::IpRecvTos, &true).unwrap(),
        SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvTClass, &true).unwrap(),
    }
    Some(socket)
}

fn send(socket: &UdpSocket, to: SocketAddr, tos: u8) {
    match to {
        SocketAddr::V4(_) => SockRef::from(socket).set_tos_v4(tos.into()).unwrap(),
        SocketAddr::V6(_) => SockRef::from(socket).set_tclass_v6(tos.into()).unwrap(),
    }
    socket.send_to(&[tos], to).unwrap();
}

/// Returns the payload and the TOS byte of the next datagram.
fn receive(socket: &UdpSocket) -> (u8, u8) {
    let (mut payload, mut control) = ([0; 10], nix::cmsg_space!(i32));
    let mut slices = [IoSliceMut::new(&mut payload)];
    let message =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty());
    let byte = message.unwrap().cmsgs().unwrap().find_map(|control| match control {
        ControlMessageOwned::Ipv4Tos(byte) => Some(byte),
        ControlMessageOwned::Ipv6TClass(class) => Some(class as u8),
        _ => None,
    });
    (payload[0], byte.expect("no byte came with it"))
}

/// Sends all 256 values to a server and back; returns the sizes seen on the link.
fn all_values_both_ways(address: &str) -> Option<Vec<Record>> {
    let (client, server) = (socket(address)?, socket(address)?);
    let mut config = Config::new(1);
    let link = config.add_link(link("uplink", "1 Gbit/s", "100 ms", "0 %"));
    let flow = config.add_flow(link, server.local_addr().unwrap(), Span::ZERO);
    let relay = Relay::start(config, Clock::start()).unwrap();
    for tos in 0..=255 {
        send(&client, relay.front(flow), tos);
        assert_eq!(receive(&server), (tos, tos), "forward");
        send(&server, relay.back(flow), tos);
        assert_eq!(receive(&client), (tos, tos), "reverse");
    }
    Some(relay.stop_with_records().unwrap().1)
}

#[test]
fn all_256_values_arrive_unchanged_over_ipv4() {
    let records = all_values_both_ways("127.0.0.1:0").unwrap();
    assert_eq!(records.len(), 512);
    assert!(records.iter().all(|record| record.size_bytes == 29));
}

#[test]
fn all_256_values_arrive_unchanged_over_ipv6() {
    let Some(records) = all_values_both_ways("[::1]:0") else {
        println!("not tested: this machine has no [::1]");
        return;
    };
    assert!(records.len() == 512 && records.iter().all(|record| record.size_bytes == 49));
}

/// Marks whatever can be marked.
struct MarkEverything(Box<dyn Queue<Datagram>>);

impl Queue<Datagram> for MarkEverything {
    fn enqueue(&mut self, now: Time, mut packet: Packet<Datagram>, dropped: &mut Vec<Dropped<Datagram>>) {
        if packet.ecn != Ecn::NotEct {
            packet.ecn = Ecn::Ce;
        }
        self.0.enqueue(now, packet, dropped);
    }

    fn dequeue(
        &mut self,
        now: Time,
        dropped: &mut Vec<Dropped<Datagram>>,
    ) -> Option<(Packet<Datagram>, Span)> {
        self.0.dequeue(now, dropped)
    }

    fn statistics(&self) -> &Statistics {
        self.0.statistics()
    }
}

#[test]
fn a_mark_that_the_queue_sets_arrives_and_the_class_stays() {
    let (client, server) = (socket("127.0.0.1:0").unwrap(), socket("127.0.0.1:0").unwrap());
    let plain = || direction("1 Gbit/s", "100 ms", "0 %");
    let marking =
        Direction { loss: Probability::default(), queue: Box::new(MarkEverything(plain().queue)), ..plain() };
    let mut config = Config::new(1);
    let link = config.add_link(Link { name: "uplink".to_owned(), forward: marking, reverse: plain() });
    let flow = config.add_flow(link, server.local_addr().unwrap(), Span::ZERO);
    let relay = Relay::start(config, Clock::start()).unwrap();
    // The lower-effort class with each ECN codepoint: not capable, ECT(1), ECT(0), marked already.
    for (sent, arrives) in [(0x04, 0x04), (0x05, 0x07), (0x06, 0x07), (0x07, 0x07)] {
        send(&client, relay.front(flow), sent);
        assert_eq!(receive(&server), (sent, arrives));
    }
    let seen: Vec<u8> = relay.stop_with_records().unwrap().1.iter().map(|record| record.tos).collect();
    assert_eq!(seen, [0x04, 0x07, 0x07, 0x07]);
}

#[test]
fn datagrams_that_left_as_one_buffer_stay_in_order() {
    use nix::sys::socket::{sendmsg, ControlMessage};
    use std::io::IoSlice;
    let (client, server) = (socket("127.0.0.1:0").unwrap(), socket("127.0.0.1:0").unwrap());
    let mut config = Config::new(1);
    let link = config.add_link(link("uplink", "1 Gbit/s", "100 ms", "0 %"));
    let flow = config.add_flow(link, server.local_addr().unwrap(), Span::from_millis(1));
    let relay = Relay::start(config, Clock::start()).unwrap();
    for _ in 0..20 {
        let (payload, to) = (Vec::from_iter(0..40), SockaddrStorage::from(relay.front(flow)));
        let controls = [ControlMessage::UdpGsoSegments(&1)];
        sendmsg(client.as_raw_fd(), &[IoSlice::new(&payload)], &controls, MsgFlags::empty(), Some(&to))
            .unwrap();
        let received: Vec<u8> = (0..40).map(|_| receive(&server).0).collect();
        assert_eq!(received, payload);
    }
}
