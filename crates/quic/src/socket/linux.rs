//! Linux: the byte goes out and comes in as a control message, many datagrams at a time as one buffer.

use super::{Inbox, Socket};
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{recvmsg, sendmsg, ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

/// Do packets carry the service class on this platform?
pub const DSCP_IS_SENT: bool = true;

/// Where the kernel writes what it tells with a datagram.
pub(super) struct Receiver {
    control: Vec<u8>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver { control: nix::cmsg_space!(libc::in6_pktinfo, libc::in_pktinfo, i32, i32, i32) }
    }
}

/// Sends one datagram or several of equal size.
pub(super) fn send(socket: &Socket, transmit: &Transmit<'_>) -> io::Result<()> {
    let segment = transmit.segment_size.filter(|size| (1..transmit.contents.len()).contains(size));
    let Some(segment) = segment else {
        return forgive(send_message(socket, transmit, transmit.contents, None));
    };
    if !socket.offload_failed.load(Ordering::Relaxed) {
        match send_message(socket, transmit, transmit.contents, Some(segment as u16)) {
            Err(Errno::EIO | Errno::EINVAL) => socket.offload_failed.store(true, Ordering::Relaxed),
            result => return forgive(result),
        }
    }
    // Once a part has left, a full buffer loses the rest: sent twice would be worse.
    for (index, part) in transmit.contents.chunks(segment).enumerate() {
        match send_message(socket, transmit, part, None) {
            Err(Errno::EAGAIN) if index > 0 => return Ok(()),
            result => forgive(result)?,
        }
    }
    Ok(())
}

/// A datagram that could not be sent counts as lost.
fn forgive(result: nix::Result<()>) -> io::Result<()> {
    match result {
        Err(Errno::EAGAIN) => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}

fn send_message(
    socket: &Socket,
    transmit: &Transmit<'_>,
    payload: &[u8],
    segment: Option<u16>,
) -> nix::Result<()> {
    let tos = socket.tos(transmit.ecn);
    let class = i32::from(tos);
    // To an IPv4 peer of a socket for both families the kernel sends with IPv4's byte.
    let to_v4 = transmit.destination.ip().to_canonical().is_ipv4();
    let byte = if to_v4 { ControlMessage::Ipv4Tos(&tos) } else { ControlMessage::Ipv6TClass(&class) };
    let segments = segment.as_ref().map(ControlMessage::UdpGsoSegments);
    let (mut from_v4, mut from_v6) = (None, None);
    let from = match transmit.src_ip {
        None => None,
        Some(IpAddr::V4(ip)) => Some(ControlMessage::Ipv4PacketInfo(from_v4.insert(packet_info_v4(ip)))),
        Some(IpAddr::V6(ip)) => Some(ControlMessage::Ipv6PacketInfo(from_v6.insert(packet_info_v6(ip)))),
    };
    let controls: Vec<_> = [Some(byte), segments, from].into_iter().flatten().collect();
    let (slices, to) = ([IoSlice::new(payload)], SockaddrStorage::from(transmit.destination));
    loop {
        match sendmsg(socket.io.as_raw_fd(), &slices, &controls, MsgFlags::empty(), Some(&to)) {
            Err(Errno::EINTR) => {}
            result => return result.map(drop),
        }
    }
}

fn packet_info_v4(ip: Ipv4Addr) -> libc::in_pktinfo {
    let any = libc::in_addr { s_addr: 0 };
    let ip = libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) };
    libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: ip, ipi_addr: any }
}

fn packet_info_v6(ip: Ipv6Addr) -> libc::in6_pktinfo {
    libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: ip.octets() }, ipi6_ifindex: 0 }
}

/// Reads the next buffer of datagrams; `WouldBlock` if there is none.
pub(super) fn receive(
    socket: &Socket,
    inbox: &mut Inbox,
    bufs: &mut [IoSliceMut<'_>],
    meta: &mut [RecvMeta],
) -> io::Result<usize> {
    let (Some(buf), Some(meta)) = (bufs.first_mut(), meta.first_mut()) else { return Ok(0) };
    let control = Some(&mut inbox.receiver.control[..]);
    let mut slices = [IoSliceMut::new(buf)];
    let message = recvmsg::<SockaddrStorage>(socket.io.as_raw_fd(), &mut slices, control, MsgFlags::empty())?;
    let from = message.address.as_ref().and_then(address).ok_or(io::ErrorKind::Interrupted)?;
    let (mut tos, mut stride, mut to) = (None, message.bytes, None);
    for control in message.cmsgs()? {
        match control {
            ControlMessageOwned::Ipv4Tos(byte) => tos = Some(byte),
            ControlMessageOwned::Ipv6TClass(class) => tos = Some(class as u8),
            ControlMessageOwned::UdpGroSegments(size) => stride = size as usize,
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                to = Some(IpAddr::from(info.ipi_addr.s_addr.to_ne_bytes()));
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => to = Some(IpAddr::from(info.ipi6_addr.s6_addr)),
            _ => {}
        }
    }
    if let Some(tos) = tos {
        inbox.seen.note(from, tos);
    }
    let ecn = EcnCodepoint::from_bits(tos.unwrap_or(0));
    *meta = RecvMeta { addr: from, len: message.bytes, stride, ecn, dst_ip: to };
    Ok(1)
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::from(*address));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::from(*address)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quinn::AsyncUdpSocket;
    use std::net::UdpSocket;
    use std::sync::Arc;
    use std::time::Duration;

    async fn sockets() -> (Arc<Socket>, UdpSocket) {
        let socket = Socket::bind("127.0.0.1:0".parse().unwrap(), super::super::DSCP_LE).unwrap();
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
    async fn without_offload_the_segments_go_out_one_by_one() {
        let (socket, receiver) = sockets().await;
        socket.offload_failed.store(true, Ordering::Relaxed);
        assert_eq!(socket.max_transmit_segments(), 1);
        socket.try_send(&transmit(&receiver, &[7; 2500], Some(1000))).unwrap();
        assert_eq!([1000, 1000, 500].map(|_| receiver.recv(&mut [0; 3000]).unwrap()), [1000, 1000, 500]);
    }

    #[tokio::test]
    async fn a_buffer_that_the_kernel_will_not_segment_turns_offload_off_and_still_arrives() {
        let (socket, receiver) = sockets().await;
        // More segments than the kernel takes at once.
        socket.try_send(&transmit(&receiver, &[7; 150], Some(1))).unwrap();
        assert_eq!(socket.max_transmit_segments(), 1);
        assert!((0..150).all(|_| receiver.recv(&mut [0; 10]).unwrap() == 1));
    }

    #[tokio::test]
    async fn a_datagram_too_large_for_the_path_is_lost_quietly() {
        let (socket, receiver) = sockets().await;
        socket.try_send(&transmit(&receiver, &[7; 65_530], None)).unwrap();
        socket.try_send(&transmit(&receiver, b"after you", None)).unwrap();
        assert_eq!(receiver.recv(&mut [0; 100]).unwrap(), 9);
    }

    #[tokio::test]
    async fn datagrams_leave_from_the_address_that_quinn_names_and_are_never_fragmented() {
        let (_, receiver) = sockets().await;
        let socket = Socket::bind("0.0.0.0:0".parse().unwrap(), 0).unwrap();
        socket.io.writable().await.unwrap();
        let from = Ipv4Addr::new(127, 0, 0, 9);
        socket
            .try_send(&Transmit { src_ip: Some(from.into()), ..transmit(&receiver, b"hello", None) })
            .unwrap();
        assert_eq!(receiver.recv_from(&mut [0; 9]).unwrap().1.ip(), from);
        assert!(!socket.may_fragment());
    }
}
