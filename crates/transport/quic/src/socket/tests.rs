//! Requirements of quinn beyond `afteryou-sockets`.

use super::*;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

async fn sockets(from: &str) -> (Arc<Socket>, UdpSocket) {
    let socket = Socket::bind(from.parse().unwrap(), afteryou_base::Dscp::LE).unwrap();
    socket.io.writable().await.unwrap();
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    (socket, receiver)
}

fn transmit<'a>(to: &UdpSocket, contents: &'a [u8], segment_size: Option<usize>) -> Transmit<'a> {
    let destination = to.local_addr().unwrap();
    Transmit { destination, ecn: None, contents, segment_size, src_ip: None }
}

#[tokio::test]
async fn a_buffer_that_the_kernel_will_not_segment_turns_offload_off_and_still_arrives() {
    let (socket, receiver) = sockets("127.0.0.1:0").await;
    assert!(socket.max_transmit_segments() > 1);
    // More segments than the kernel takes at once.
    socket.try_send(&transmit(&receiver, &[7; 150], Some(1))).unwrap();
    assert_eq!(socket.max_transmit_segments(), 1);
    assert!((0..150).all(|_| receiver.recv(&mut [0; 10]).unwrap() == 1));
}

#[tokio::test]
async fn a_datagram_too_large_for_the_path_is_lost_quietly() {
    let (socket, receiver) = sockets("127.0.0.1:0").await;
    socket.try_send(&transmit(&receiver, &[7; 65_530], None)).unwrap();
    socket.try_send(&transmit(&receiver, b"after you", None)).unwrap();
    assert_eq!(receiver.recv(&mut [0; 100]).unwrap(), 9);
}

#[tokio::test]
async fn datagrams_leave_from_the_address_that_quinn_names_and_are_never_fragmented() {
    let (socket, receiver) = sockets("0.0.0.0:0").await;
    let from = Ipv4Addr::new(127, 0, 0, 9);
    socket.try_send(&Transmit { src_ip: Some(from.into()), ..transmit(&receiver, b"hello", None) }).unwrap();
    assert_eq!(receiver.recv_from(&mut [0; 9]).unwrap().1.ip(), from);
    assert!(!socket.may_fragment());
}
