//! ICMP echoes over a path, timed by the kernel.
//!
//! A round-trip time begins when the kernel gives the request to the device, and ends when the reply comes out of the device.
//! The system calls before and after belong to the host: on a busy machine, with nothing of them in its caches, they take some 50 µs.

use afteryou_bed::net::{Addresses, Family, Side, Topology};
use nix::sys::socket::{
    recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags, TimestampingFlag, Timestamps,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::error::Error;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

/// Echoes of one measurement.
pub const COUNT: usize = 21;
/// Pause between two echoes.
pub const BETWEEN: Duration = Duration::from_millis(5);
/// An echo: headers of IP and ICMP, and its data.
pub const BYTES: u64 = 20 + 8 + 56;

/// Returns the median time of echoes over the second flow's path.
///
/// # Errors
/// A reply that does not come within five seconds; a kernel that stamps no packets.
pub fn median(topology: &Topology) -> Result<Duration, Box<dyn Error>> {
    let Addresses { sender, receiver } = topology.addresses(Family::V4, 1);
    let socket = topology.namespace(Side::Senders).run(|| -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::ICMPV4))?;
        socket.bind(&SocketAddr::new(sender, 0).into())?;
        socket.connect(&SocketAddr::new(receiver, 0).into())?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(socket)
    })??;
    let stamps = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE;
    setsockopt(&socket, sockopt::Timestamping, &stamps)?;
    let mut request = vec![0; BYTES as usize - 20];
    request[0] = 8; // echo request; the kernel fills in identifier and checksum
    let mut trips = Vec::new();
    for _ in 0..COUNT {
        socket.send(&request)?;
        let arrived = stamp(&socket, MsgFlags::empty())?;
        let sent = stamp(&socket, MsgFlags::MSG_ERRQUEUE)?;
        trips.push(arrived.checked_sub(sent).ok_or("a reply arrived before its request was sent")?);
        thread::sleep(BETWEEN);
    }
    trips.sort();
    Ok(trips[COUNT / 2])
}

/// Returns the kernel's stamp of the next packet received; with `MSG_ERRQUEUE`, of the next one sent.
fn stamp(socket: &Socket, queue: MsgFlags) -> Result<Duration, Box<dyn Error>> {
    let mut packet = [0; 1500];
    let mut slices = [IoSliceMut::new(&mut packet)];
    // Beside the stamps, a queue of errors has a `sock_extended_err` with an address, 32 bytes and a header: see ip(7).
    let mut room = nix::cmsg_space!(Timestamps, [u8; 128]);
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut room), queue)?;
    let stamps = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampsns(stamps) => Some(stamps.system),
        _ => None,
    });
    Ok(Duration::from(stamps.ok_or("the kernel stamps no packets")?))
}
