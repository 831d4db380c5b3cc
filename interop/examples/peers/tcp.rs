//! The kernel's TCP with CUBIC.

use super::work::{self, Work};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub fn receive() -> anyhow::Result<(u64, Duration)> {
    let listener = TcpListener::bind(work::here())?;
    work::announce(listener.local_addr()?);
    let (mut stream, _) = listener.accept()?;
    let (mut chunk, mut bytes, began) = (vec![0; work::CHUNK], 0, Instant::now());
    loop {
        match stream.read(&mut chunk)? {
            0 => return Ok((bytes, began.elapsed())),
            n => bytes += n as u64,
        }
    }
}

pub fn send(work: &Work) -> anyhow::Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_tcp_congestion(b"cubic")?;
    socket.connect(&SockAddr::from(work.to))?;
    let mut stream = TcpStream::from(socket);
    work::write_blocking(&mut stream, work)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    // The receiver closes when it has everything.
    anyhow::ensure!(stream.read(&mut [0])? == 0, "the receiver sends nothing");
    Ok(())
}
