//! Everywhere else: quinn's code, which sends and reports the two ECN bits alone.

use crate::datagram::{Incoming, Options, Outgoing, TooBig};
use crate::open::set_own_tos;
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::SockRef;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;

/// Whether each datagram carries its own TOS or traffic-class byte, and the byte of received ones is reported.
pub const TOS_IS_CARRIED: bool = false;

/// Returns the longest IP packet on the route to an address, bytes.
///
/// # Errors
/// Always: only Linux is asked.
pub fn route_mtu(_: SocketAddr) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sends datagrams on one socket, within the options that the system grants.
#[derive(Debug)]
pub struct Control {
    state: UdpSocketState,
    own_tos: Option<u8>,
}

impl Control {
    /// Prepares a socket. Of the [`Options`] only the socket's own byte can be chosen: ECN, batches, destinations and whole
    /// datagrams are there where the system has them.
    ///
    /// # Errors
    /// The system's reason.
    pub fn new(socket: SockRef<'_>, options: Options) -> io::Result<Control> {
        let own_tos = options.own_tos.filter(|tos| set_own_tos(&socket, *tos).is_ok());
        Ok(Control { state: UdpSocketState::new(UdpSockRef::from(&*socket))?, own_tos })
    }

    /// Returns the byte of datagrams without ECN, if the system took the one that was asked for.
    pub fn own_tos(&self) -> Option<u8> {
        self.own_tos
    }

    /// Returns how many datagrams one call may send.
    pub fn send_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Returns how many datagrams a receive buffer should have room for.
    pub fn receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    /// Returns whether a large datagram may leave in fragments.
    pub fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }

    /// Returns whether datagrams leave with the byte that they name.
    pub fn sends_tos(&self) -> bool {
        false
    }

    /// Sends one datagram, or several of equal size.
    ///
    /// # Errors
    /// `WouldBlock` if the buffer is full; whatever else the system refuses a datagram for.
    pub fn send(&self, socket: SockRef<'_>, outgoing: &Outgoing<'_>) -> io::Result<()> {
        let ecn = EcnCodepoint::from_bits(outgoing.tos & 0b11);
        if ecn.is_none() && outgoing.parts().is_none() && outgoing.from.is_none() {
            // quinn's code would overwrite the socket's own byte.
            return socket.send_to(outgoing.payload, &outgoing.to.into()).map(drop);
        }
        let transmit = Transmit {
            destination: outgoing.to,
            ecn,
            contents: outgoing.payload,
            segment_size: outgoing.parts(),
            src_ip: outgoing.from,
        };
        self.state.try_send(UdpSockRef::from(&*socket), &transmit)
    }

    /// Sends as [`send`](Control::send) does: the socket's own rule about fragments applies.
    ///
    /// # Errors
    /// As [`send`](Control::send).
    pub fn send_fragmentable(&self, socket: SockRef<'_>, outgoing: &Outgoing<'_>) -> io::Result<()> {
        self.send(socket, outgoing)
    }

    /// Appends nothing: reports of routers are not read here.
    pub fn take_too_big(&self, _socket: SockRef<'_>, _found: &mut Vec<TooBig>) {}

    /// Returns `None`: the memory is not known here.
    pub fn waiting_memory(&self, _socket: SockRef<'_>) -> Option<u32> {
        None
    }

    /// Reads one datagram, or several of one size from the same peer.
    ///
    /// # Errors
    /// `WouldBlock` if there is none. News of a datagram sent before, such as `ConnectionReset`.
    pub fn receive(
        &self,
        socket: SockRef<'_>,
        _messages: &mut Messages,
        buffer: &mut [u8],
    ) -> io::Result<Incoming> {
        let mut meta = [RecvMeta::default()];
        let mut slices = [IoSliceMut::new(buffer)];
        self.state.recv(UdpSockRef::from(&*socket), &mut slices, &mut meta)?;
        let RecvMeta { addr, len, stride, ecn, dst_ip } = meta[0];
        let ecn = Some(ecn.map_or(0, |ecn| ecn as u8));
        Ok(Incoming { stride, ecn, to: dst_ip, ..Incoming::one(addr, len) })
    }
}

/// Room for the control messages of one receive call: quinn's code brings its own.
#[derive(Debug, Default)]
pub struct Messages;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bind, Families};
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    const _: () = assert!(!TOS_IS_CARRIED, "this module cannot see the byte");

    fn open(options: Options) -> (UdpSocket, Control) {
        let socket = bind("127.0.0.1:0".parse().unwrap(), Families::Own).unwrap();
        let control = Control::new(SockRef::from(&socket), options).unwrap();
        (socket, control)
    }

    fn receive((socket, control): &(UdpSocket, Control), buffer: &mut [u8]) -> Incoming {
        let began = Instant::now();
        loop {
            match control.receive(SockRef::from(socket), &mut Messages, buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result.unwrap(),
            }
            assert!(began.elapsed() < Duration::from_secs(10), "nothing came");
        }
    }

    #[test]
    fn ecn_goes_both_ways_and_an_unmarked_datagram_keeps_the_sockets_own_byte() {
        let (from, to) =
            (open(Options { own_tos: Some(0x04), ..Options::default() }), open(Options::default()));
        assert_eq!(from.1.own_tos(), Some(0x04));
        // The other module sees the whole byte.
        let seeing = Options { tos: true, ..Options::default() };
        let whole = crate::linux::Control::new(SockRef::from(&to.0), seeing).unwrap();
        let address = to.0.local_addr().unwrap();
        for (tos, seen) in [(0, 0x04), (0x02, 0x02), (0x07, 0x03)] {
            let outgoing = Outgoing { tos, ..Outgoing::new(address, b"hello") };
            for _ in 0..2 {
                from.1.send(SockRef::from(&from.0), &outgoing).unwrap();
            }
            let incoming = receive(&to, &mut [0; 100]);
            assert_eq!((incoming.tos, incoming.ecn, incoming.bytes), (None, Some(seen & 3), 5));
            let incoming =
                whole.receive(SockRef::from(&to.0), &mut Default::default(), &mut [0; 100]).unwrap();
            assert_eq!((incoming.tos, incoming.from), (Some(seen), from.0.local_addr().unwrap()));
        }
    }

    #[test]
    fn the_route_is_not_asked() {
        let error = route_mtu("127.0.0.1:9".parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn several_datagrams_leave_in_one_call_or_as_the_system_can() {
        let (from, to) = (open(Options::default()), open(Options::default()));
        let outgoing =
            Outgoing { segment: Some(1000), ..Outgoing::new(to.0.local_addr().unwrap(), &[7; 2500]) };
        from.1.send_fragmentable(SockRef::from(&from.0), &outgoing).unwrap();
        let mut found = Vec::new();
        from.1.take_too_big(SockRef::from(&from.0), &mut found);
        assert_eq!((found, from.1.waiting_memory(SockRef::from(&from.0))), (Vec::new(), None));
        assert!(from.1.send_segments() >= 1 && to.1.receive_segments() >= 1);
        assert!(!from.1.may_fragment() && !from.1.sends_tos());
        let (mut bytes, mut buffer) = (0, [0; 3000]);
        while bytes < 2500 {
            bytes += receive(&to, &mut buffer).bytes;
        }
        assert_eq!(bytes, 2500);
    }
}
