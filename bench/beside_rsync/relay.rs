//! Relays on the loopback that count what passes, both ways together.

use super::support::Result;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of IPv4's and UDP's headers: what rsync sends over TCP is counted without any.
const HEADERS: u64 = 28;

/// Bytes that passed.
#[derive(Clone, Default)]
pub struct Passed(Arc<AtomicU64>);

impl Passed {
    pub fn bytes(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Relaxed);
    }
}

/// Relays connections to a port of the loopback, to the end of the process. Returns its own port.
pub fn tcp(to: u16, passed: &Passed) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let passed = passed.clone();
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = TcpStream::connect(("127.0.0.1", to)) else { return };
            let ends = [(near.try_clone(), far.try_clone()), (Ok(far), Ok(near))];
            for (from, to) in ends {
                let (Ok(from), Ok(to), passed) = (from, to, passed.clone()) else { return };
                std::thread::spawn(move || pass(from, to, &passed));
            }
        }
    });
    Ok(port)
}

fn pass(mut from: TcpStream, mut to: TcpStream, passed: &Passed) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        passed.add(count);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    _ = to.shutdown(Shutdown::Write);
}

/// Relays datagrams between the first sender and a port of the loopback, to the end of the process. Returns its own port.
pub fn udp(to: SocketAddr, passed: &Passed) -> Result<SocketAddr> {
    let (near, far) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    let address = near.local_addr()?;
    far.connect(to)?;
    let (back, from_far) = (near.try_clone()?, far.try_clone()?);
    let (sender, source) = std::sync::mpsc::channel::<SocketAddr>();
    let counted = passed.clone();
    std::thread::spawn(move || {
        let Ok(client) = source.recv() else { return };
        forward(|buffer| from_far.recv(buffer), |datagram| back.send_to(datagram, client), &counted);
    });
    let counted = passed.clone();
    std::thread::spawn(move || {
        let receive = |buffer: &mut [u8]| {
            let (count, client) = near.recv_from(buffer)?;
            _ = sender.send(client);
            Ok(count)
        };
        forward(receive, |datagram| far.send(datagram), &counted);
    });
    Ok(address)
}

fn forward(
    mut receive: impl FnMut(&mut [u8]) -> std::io::Result<usize>,
    mut send: impl FnMut(&[u8]) -> std::io::Result<usize>,
    passed: &Passed,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let Ok(count) = receive(&mut buffer) else {
            // Nobody listens there yet, or any more.
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        passed.add(count + HEADERS as usize);
        _ = send(&buffer[..count]);
    }
}
