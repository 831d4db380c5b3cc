//! Bytes that lie unread in the kernel because their reader is slow.

use super::roster::lift;
use super::system;
use std::io;
use std::os::fd::BorrowedFd;

/// Bounds what the kernel keeps for a reader, bytes: about `bytes` of payload. Bytes that were announced to the sender
/// and have no room are dropped, and sent again.
///
/// # Errors
/// As setsockopt.
pub fn bound_unread(socket: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    // The kernel doubles it: packets take more room than their payload.
    Ok(rustix::net::sockopt::set_socket_recv_buffer_size(socket, bytes)?)
}

/// Lets the kernel size the buffer again.
///
/// # Errors
/// The kernel is older than 5.15: then the bound stays.
pub fn unbound_unread(socket: BorrowedFd<'_>) -> io::Result<()> {
    system::unlock_receive_buffer(socket)?;
    lift(socket);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    /// Returns how many bytes a sender can send before it would wait.
    fn sent_in_vain(sender: &mut TcpStream) -> usize {
        sender.set_nonblocking(true).unwrap();
        let mut sent = 0;
        let mut waits = 0;
        while waits < 20 {
            match sender.write(&[7; 64 << 10]) {
                Ok(bytes) => (sent, waits) = (sent + bytes, 0),
                Err(_) => {
                    waits += 1;
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
            }
        }
        sent
    }

    #[test]
    fn a_bound_holds_what_is_unread_down_and_is_lifted_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // Of what is sent, the sender's own buffer has a constant part.
        rustix::net::sockopt::set_socket_send_buffer_size(&sender, 64 << 10).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        lift(receiver.as_fd());
        bound_unread(receiver.as_fd(), 128 << 10).unwrap();
        assert!(system::has_own_receive_buffer(receiver.as_fd()));
        let bounded = sent_in_vain(&mut sender);
        assert!(bounded < 600 << 10, "{bounded} bytes lie unread");
        unbound_unread(receiver.as_fd()).unwrap();
        let mut buffer = vec![0; bounded];
        receiver.read_exact(&mut buffer).unwrap();
        let free = sent_in_vain(&mut sender);
        assert!(free > 2 << 20, "{free} bytes only");
    }
}
