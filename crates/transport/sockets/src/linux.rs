//! Linux: control messages in both directions.

mod doorbell;

pub use doorbell::Doorbell;

use crate::datagram::{Incoming, Options, Outgoing, TooBig};
use crate::open::set_own_tos;
use crate::MOST_SEGMENTS;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{getsockopt, recvmsg, sendmsg, setsockopt, sockopt};
use nix::sys::socket::{ControlMessage, ControlMessageOwned};
use nix::sys::socket::{MsgFlags, SockaddrStorage};
use nix::sys::time::TimeSpec;
use nix::{getsockopt_impl, sockopt_impl};
use rustix::net::sockopt::{
    ip_mtu, ipv6_mtu, set_ip_mtu_discover, set_ipv6_mtu_discover, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery,
};
use socket2::SockRef;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

sockopt_impl!(
    /// The first number of `SO_MEMINFO`: memory of the datagrams that wait to be read, bytes as the kernel counts them.
    WaitingMemory,
    GetOnly,
    libc::SOL_SOCKET,
    libc::SO_MEMINFO,
    u32
);

/// Whether each datagram carries its own TOS or traffic-class byte, and the byte of received ones is reported.
pub const TOS_IS_CARRIED: bool = true;

/// Sends datagrams on one socket, within the options that the kernel grants.
#[derive(Debug)]
pub struct Control {
    /// The socket's own byte, if the kernel took it.
    own_tos: Option<u8>,
    receives_batches: bool,
    is_v4: bool,
    may_fragment: bool,
    /// Segmentation offload has failed.
    offload_failed: AtomicBool,
    /// The kernel took a datagram only without its byte.
    tos_refused: AtomicBool,
}

impl Control {
    /// Prepares a socket.
    ///
    /// # Errors
    /// The socket has no address.
    pub fn new(socket: SockRef<'_>, options: Options) -> io::Result<Control> {
        let is_v4 = socket.local_addr()?.is_ipv4();
        let takes_v4 = is_v4 || !socket.only_v6()?;
        if options.tos {
            // Errors are left to the receiver, which reports no byte then.
            _ = takes_v4.then(|| setsockopt(&*socket, sockopt::IpRecvTos, &true));
            _ = (!is_v4).then(|| setsockopt(&*socket, sockopt::Ipv6RecvTClass, &true));
        }
        if options.destination {
            _ = match is_v4 {
                true => setsockopt(&*socket, sockopt::Ipv4PacketInfo, &true),
                false => setsockopt(&*socket, sockopt::Ipv6RecvPacketInfo, &true),
            };
        }
        if options.arrival {
            _ = setsockopt(&*socket, sockopt::ReceiveTimestampns, &true);
        }
        if options.reports {
            _ = setsockopt(&*socket, sockopt::Ipv4RecvErr, &true); // of IPv6 sockets, too, for IPv4 peers
            _ = (!is_v4).then(|| setsockopt(&*socket, sockopt::Ipv6RecvErr, &true));
        }
        if options.drops {
            _ = setsockopt(&*socket, sockopt::RxqOvfl, &1);
        }
        let receives_batches = options.batches && setsockopt(&*socket, sockopt::UdpGroSegment, &true).is_ok();
        let is_whole = options.whole && forbid_fragments(socket.as_fd(), is_v4).is_ok();
        Ok(Control {
            own_tos: options.own_tos.filter(|tos| set_own_tos(&socket, *tos).is_ok()),
            receives_batches,
            is_v4,
            may_fragment: !is_whole,
            offload_failed: AtomicBool::new(!has_offload(socket.as_fd())),
            tos_refused: AtomicBool::new(false),
        })
    }

    /// Returns the byte of datagrams without a control message, if the kernel took the one that was asked for.
    pub fn own_tos(&self) -> Option<u8> {
        self.own_tos
    }

    /// Returns how many datagrams one call may send. Falls to 1 for good once the kernel has failed to cut a buffer.
    pub fn send_segments(&self) -> usize {
        match self.offload_failed.load(Ordering::Relaxed) {
            true => 1,
            false => MOST_SEGMENTS,
        }
    }

    /// Returns how many datagrams a receive buffer should have room for.
    pub fn receive_segments(&self) -> usize {
        match self.receives_batches {
            true => MOST_SEGMENTS,
            false => 1,
        }
    }

    /// Returns whether a large datagram may leave in fragments.
    pub fn may_fragment(&self) -> bool {
        self.may_fragment
    }

    /// Returns whether datagrams leave with the byte that they name.
    pub fn sends_tos(&self) -> bool {
        !self.tos_refused.load(Ordering::Relaxed)
    }

    /// Sends one datagram, or several of equal size. Without segmentation offload they leave one by one.
    ///
    /// # Errors
    /// `WouldBlock` if the buffer is full and nothing has left. Whatever else the kernel refuses a datagram for.
    pub fn send(&self, socket: SockRef<'_>, outgoing: &Outgoing<'_>) -> io::Result<()> {
        let to = SockaddrStorage::from(outgoing.to);
        self.send_by(outgoing, |payload, controls| loop {
            let slices = [IoSlice::new(payload)];
            match sendmsg(socket.as_raw_fd(), &slices, controls, MsgFlags::empty(), Some(&to)) {
                Err(Errno::EINTR) => {}
                result => return result.map(drop),
            }
        })
    }

    /// Sends as [`send`](Control::send) does, one by one and in fragments where a datagram is too long. No other thread may
    /// send on this socket meanwhile: its datagrams would have the same permission.
    ///
    /// # Errors
    /// As [`send`](Control::send).
    pub fn send_fragmentable(&self, socket: SockRef<'_>, outgoing: &Outgoing<'_>) -> io::Result<()> {
        if self.may_fragment {
            return self.send(socket, outgoing);
        }
        allow_fragments(socket.as_fd(), self.is_v4)?;
        let size = outgoing.parts().unwrap_or(outgoing.payload.len()).max(1);
        let parts = outgoing.payload.chunks(size);
        let to = SockaddrStorage::from(outgoing.to);
        let result = parts.into_iter().try_for_each(|part| {
            self.send_part(outgoing, part, None, &mut |payload, controls| {
                let slices = [IoSlice::new(payload)];
                sendmsg(socket.as_raw_fd(), &slices, controls, MsgFlags::empty(), Some(&to)).map(drop)
            })
        });
        forbid_fragments(socket.as_fd(), self.is_v4)?;
        Ok(result?)
    }

    /// Appends the reports that have come since the last call. After a report the next call on the socket fails once: it has
    /// neither sent nor received anything.
    pub fn take_too_big(&self, socket: SockRef<'_>, found: &mut Vec<TooBig>) {
        let mut room = [0; ERROR_ROOM];
        loop {
            let mut slices = [];
            let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
            let fd = socket.as_raw_fd();
            let Ok(message) = recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut room), flags) else {
                return;
            };
            let Some(to) = message.address.as_ref().and_then(address) else { continue };
            let Ok(controls) = message.cmsgs() else { continue };
            for control in controls {
                let report = match control {
                    ControlMessageOwned::Ipv4RecvErr(report, _)
                    | ControlMessageOwned::Ipv6RecvErr(report, _) => report,
                    _ => continue,
                };
                if report.ee_errno == Errno::EMSGSIZE as u32 && report.ee_info > 0 {
                    found.push(TooBig { to, mtu: report.ee_info });
                }
            }
        }
    }

    /// Returns the memory of the datagrams that wait to be read, bytes as the kernel counts them against the receive buffer.
    /// `None` if it does not report it.
    pub fn waiting_memory(&self, socket: SockRef<'_>) -> Option<u32> {
        getsockopt(&*socket, WaitingMemory).ok()
    }

    /// Reads one datagram, or several of one size from the same peer if the socket was prepared for
    /// [batches](Options::batches).
    ///
    /// # Errors
    /// `WouldBlock` if there is none. News of a datagram sent before, such as `ConnectionRefused`.
    pub fn receive(
        &self,
        socket: SockRef<'_>,
        messages: &mut Messages,
        buffer: &mut [u8],
    ) -> io::Result<Incoming> {
        let mut slices = [IoSliceMut::new(buffer)];
        let room = Some(&mut messages.0[..]);
        let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, room, MsgFlags::empty())?;
        let from = message.address.as_ref().and_then(address).ok_or(io::ErrorKind::Interrupted)?;
        let (mut tos, mut stride, mut to) = (None, message.bytes, None);
        let (mut arrived, mut dropped) = (None, None);
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::Ipv4Tos(byte) => tos = Some(byte),
                ControlMessageOwned::Ipv6TClass(class) => tos = Some(class as u8),
                ControlMessageOwned::UdpGroSegments(size) => stride = size as usize,
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    to = Some(IpAddr::from(info.ipi_addr.s_addr.to_ne_bytes()));
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => to = Some(IpAddr::from(info.ipi6_addr.s6_addr)),
                ControlMessageOwned::ScmTimestampns(at) => {
                    arrived = Some(SystemTime::UNIX_EPOCH + Duration::from(at));
                }
                ControlMessageOwned::RxqOvfl(count) => dropped = Some(count),
                _ => {}
            }
        }
        let (bytes, ecn) = (message.bytes, tos.map(|tos| tos & 0b11));
        Ok(Incoming { from, bytes, stride, tos, ecn, to, arrived, dropped })
    }

    /// Sends as [`send`](Control::send) does; `call` is the kernel.
    fn send_by(
        &self,
        outgoing: &Outgoing<'_>,
        mut call: impl FnMut(&[u8], &[ControlMessage<'_>]) -> nix::Result<()>,
    ) -> io::Result<()> {
        let Some(size) = outgoing.parts() else {
            return Ok(self.send_part(outgoing, outgoing.payload, None, &mut call)?);
        };
        if !self.offload_failed.load(Ordering::Relaxed) {
            match self.send_part(outgoing, outgoing.payload, Some(size as u16), &mut call) {
                Err(Errno::EIO | Errno::EINVAL) => self.offload_failed.store(true, Ordering::Relaxed),
                result => return Ok(result?),
            }
        }
        for (index, part) in outgoing.payload.chunks(size).enumerate() {
            match self.send_part(outgoing, part, None, &mut call) {
                // Once a part has left, a full buffer loses the rest: sent twice would be worse.
                Err(Errno::EAGAIN) if index > 0 => return Ok(()),
                result => result?,
            }
        }
        Ok(())
    }

    /// Sends one buffer, without its byte if the kernel takes it only so.
    fn send_part(
        &self,
        outgoing: &Outgoing<'_>,
        payload: &[u8],
        segment: Option<u16>,
        call: &mut impl FnMut(&[u8], &[ControlMessage<'_>]) -> nix::Result<()>,
    ) -> nix::Result<()> {
        let class = i32::from(outgoing.tos);
        // To an IPv4 peer of a socket for both families the kernel sends with IPv4's byte.
        let tos = match outgoing.to.ip().to_canonical() {
            IpAddr::V4(_) => ControlMessage::Ipv4Tos(&outgoing.tos),
            IpAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
        };
        let segments = segment.as_ref().map(ControlMessage::UdpGsoSegments);
        let (mut from_v4, mut from_v6) = (None, None);
        let from = outgoing.from.map(|from| match from {
            IpAddr::V4(ip) => ControlMessage::Ipv4PacketInfo(from_v4.insert(packet_info_v4(ip))),
            IpAddr::V6(ip) => ControlMessage::Ipv6PacketInfo(from_v6.insert(packet_info_v6(ip))),
        });
        let mut controls = [tos; 3];
        let mut count = 1;
        for control in [segments, from].into_iter().flatten() {
            controls[count] = control;
            count += 1;
        }
        let controls = &controls[..count];
        if self.own_tos == Some(outgoing.tos) || !self.sends_tos() {
            return call(payload, &controls[1..]);
        }
        match call(payload, controls) {
            // Kernels before 3.13 and some sandboxes. Segments are tried alone first: they may be the reason.
            Err(Errno::EINVAL) if segment.is_none() => {
                call(payload, &controls[1..])?;
                self.tos_refused.store(true, Ordering::Relaxed);
                Ok(())
            }
            result => result,
        }
    }
}

/// Returns the longest IP packet on the route to `to`, bytes: the interface's MTU, or the path's where the kernel has found
/// a smaller one. Sends nothing.
///
/// # Errors
/// The system's reason: there is no route.
pub fn route_mtu(to: SocketAddr) -> io::Result<u32> {
    let to = SocketAddr::new(to.ip().to_canonical(), to.port());
    let any =
        if to.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    let mtu = if to.is_ipv4() { ip_mtu(&socket) } else { ipv6_mtu(&socket) };
    Ok(mtu?)
}

/// Returns whether the kernel can cut buffers into datagrams (since Linux 4.18).
fn has_offload(socket: BorrowedFd<'_>) -> bool {
    // Zero is the default: no datagram is cut unless its own control message asks for it.
    setsockopt(&socket, sockopt::UdpGsoSegment, &0).is_ok()
}

/// Makes the kernel refuse datagrams larger than the interface, whatever path MTU it has cached (IP_PMTUDISC_PROBE).
fn forbid_fragments(socket: BorrowedFd<'_>, is_v4: bool) -> io::Result<()> {
    // Also of IPv6 sockets, for IPv4 peers.
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE)?;
    if !is_v4 {
        set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE)?;
        setsockopt(&socket, sockopt::Ipv6DontFrag, &true)?;
    }
    Ok(())
}

/// Allows fragments where the path is known to take no more, and by routers of IPv4.
fn allow_fragments(socket: BorrowedFd<'_>, is_v4: bool) -> io::Result<()> {
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::DONT)?;
    if !is_v4 {
        set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::DONT)?;
        setsockopt(&socket, sockopt::Ipv6DontFrag, &false)?;
    }
    Ok(())
}

fn packet_info_v4(ip: Ipv4Addr) -> libc::in_pktinfo {
    let any = libc::in_addr { s_addr: 0 };
    let ip = libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) };
    libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: ip, ipi_addr: any }
}

fn packet_info_v6(ip: Ipv6Addr) -> libc::in6_pktinfo {
    libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: ip.octets() }, ipi6_ifindex: 0 }
}

/// Room for the control messages of a report, with those of a datagram received, bytes.
const ERROR_ROOM: usize = 512;

/// Room for the control messages of one receive call. Serves any number of sockets, one after the other.
#[derive(Debug)]
pub struct Messages(Vec<u8>);

impl Default for Messages {
    fn default() -> Messages {
        Messages(nix::cmsg_space!(libc::in6_pktinfo, libc::in_pktinfo, i32, i32, i32, u32, TimeSpec))
    }
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::from(*address));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::from(*address)))
}

#[cfg(test)]
mod tests;
