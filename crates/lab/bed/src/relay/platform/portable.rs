//! Everywhere else: waiting is a series of naps.

use afteryou_base::Span;
use std::marker::PhantomData;
use std::net::UdpSocket;

/// No nap is longer: a datagram may arrive meanwhile and nobody wakes us.
const NAP: Span = Span::from_micros(250);

/// Waits for datagrams.
pub struct Poller<'a> {
    sockets: usize,
    lifetime: PhantomData<&'a UdpSocket>,
}

impl<'a> Poller<'a> {
    pub fn new(sockets: impl Iterator<Item = &'a UdpSocket>) -> Poller<'a> {
        Poller { sockets: sockets.count(), lifetime: PhantomData }
    }

    /// Returns after `timeout` or a nap, whichever is shorter.
    pub fn wait(&mut self, timeout: Span) {
        std::thread::sleep(timeout.min(NAP).into());
    }

    /// Lists the sockets, by position, that may have datagrams: all of them.
    pub fn readable(&mut self, into: &mut Vec<usize>) {
        into.clear();
        into.extend(0..self.sockets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_nap_after_which_every_socket_may_have_something() {
        let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        let (mut poller, mut readable) = (Poller::new(sockets.iter()), vec![7]);
        let began = std::time::Instant::now();
        poller.wait(Span::from_millis(1000));
        assert!(began.elapsed() < std::time::Duration::from_millis(900));
        poller.readable(&mut readable);
        assert_eq!(readable, [0, 1]);
    }
}
