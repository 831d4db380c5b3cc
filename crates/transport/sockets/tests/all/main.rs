//! Real sockets on loopback: the fields that the kernel writes into the IP header, and those that it reports.
#![cfg(target_os = "linux")]

mod batches;
mod marks;
mod reports;

use afteryou_sockets::{bind, Control, Families, Incoming, Messages, Options, Outgoing};
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// A socket and its control.
struct End {
    socket: UdpSocket,
    control: Control,
}

impl End {
    fn open(address: &str, families: Families, options: Options) -> End {
        let socket = bind(address.parse().unwrap(), families).unwrap();
        let control = Control::new(SockRef::from(&socket), options).unwrap();
        End { socket, control }
    }

    /// Opens an end on loopback of IPv4, with these options.
    fn v4(options: Options) -> End {
        End::open("127.0.0.1:0", Families::Own, options)
    }

    fn address(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    fn send(&self, outgoing: &Outgoing<'_>) {
        self.control.send(SockRef::from(&self.socket), outgoing).unwrap();
    }

    fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Incoming> {
        self.control.receive(SockRef::from(&self.socket), &mut Messages::default(), buffer)
    }

    /// Receives the next datagram. On loopback it is there when `send` has returned, but nothing promises that.
    fn receive(&self) -> Incoming {
        let began = Instant::now();
        let mut buffer = vec![0; 65_536];
        loop {
            match self.try_receive(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result.unwrap(),
            }
            assert!(began.elapsed() < Duration::from_secs(10), "nothing came");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
