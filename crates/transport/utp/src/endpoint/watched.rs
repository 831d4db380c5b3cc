//! A UDP socket as the runtime watches it.
//!
//! On Linux only while somebody waits, and only for reading ([`Doorbell`](afteryou_sockets::Doorbell)). The kernel reports a UDP socket readable
//! with each packet that comes, and writable after each packet that has left. A worker that waits for events would wake up for every
//! one, beside the worker that reads: a quarter of a core where packets come as fast as they are read.

pub(super) use platform::Watched;

#[cfg(target_os = "linux")]
mod platform {
    use afteryou_sockets::Doorbell;
    use socket2::SockRef;
    use std::io;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use tokio::io::unix::AsyncFd;
    use tokio::io::Interest;

    /// A non-blocking socket that the current runtime watches.
    pub struct Watched {
        socket: UdpSocket,
        bell: AsyncFd<Doorbell>,
        is_armed: bool,
    }

    impl Watched {
        /// Watches a socket.
        ///
        /// # Errors
        /// The process has no descriptor left.
        pub fn new(socket: UdpSocket) -> io::Result<Watched> {
            let bell = register(Doorbell::new(&socket)?, Interest::READABLE)?;
            Ok(Watched { socket, bell, is_armed: false })
        }

        /// Returns the socket, for its options and its address.
        pub fn socket(&self) -> SockRef<'_> {
            SockRef::from(&self.socket)
        }

        /// Completes when there may be something to read.
        ///
        /// # Errors
        /// The runtime has ended.
        pub async fn readable(&mut self) -> io::Result<()> {
            loop {
                if !self.is_armed {
                    self.bell.get_ref().arm(&self.socket)?;
                    self.is_armed = true;
                }
                self.bell.readable().await?.clear_ready();
                // What rang may have been read since, by a driver that something else has woken.
                if self.bell.get_ref().answer()? {
                    self.is_armed = false;
                    return Ok(());
                }
            }
        }

        /// Completes when the system takes datagrams again. Only for so long is the socket watched for writing, under a second
        /// descriptor.
        ///
        /// # Errors
        /// The process has no descriptor left, or the runtime has ended.
        pub async fn writable(&self) -> io::Result<()> {
            let watched = register(self.socket.try_clone()?, Interest::WRITABLE)?;
            watched.writable().await?.retain_ready();
            Ok(())
        }

        /// Reads without waiting.
        ///
        /// # Errors
        /// Those of `read`.
        pub fn try_read<T>(&self, mut read: impl FnMut(SockRef<'_>) -> io::Result<T>) -> io::Result<T> {
            read(self.socket())
        }

        /// Sends without waiting.
        ///
        /// # Errors
        /// Those of `send`.
        pub fn try_send<T>(&self, send: impl FnOnce(SockRef<'_>) -> io::Result<T>) -> io::Result<T> {
            send(self.socket())
        }
    }

    #[allow(deprecated)] // Its replacement is unsafe; what it warns of, a type that changes its descriptor, is not given here.
    fn register<T: AsRawFd>(descriptor: T, interest: Interest) -> io::Result<AsyncFd<T>> {
        AsyncFd::with_interest(descriptor, interest)
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use socket2::SockRef;
    use std::io;
    use tokio::io::Interest;
    use tokio::net::UdpSocket;

    /// A non-blocking socket that the current runtime watches.
    pub struct Watched {
        socket: UdpSocket,
    }

    impl Watched {
        /// Watches a socket.
        ///
        /// # Errors
        /// The system cannot watch it.
        pub fn new(socket: std::net::UdpSocket) -> io::Result<Watched> {
            Ok(Watched { socket: UdpSocket::from_std(socket)? })
        }

        /// Returns the socket, for its options and its address.
        pub fn socket(&self) -> SockRef<'_> {
            SockRef::from(&self.socket)
        }

        /// Completes when there may be something to read.
        ///
        /// # Errors
        /// The runtime has ended.
        pub async fn readable(&mut self) -> io::Result<()> {
            self.socket.readable().await
        }

        /// Completes when the system takes datagrams again.
        ///
        /// # Errors
        /// The runtime has ended.
        pub async fn writable(&self) -> io::Result<()> {
            self.socket.writable().await
        }

        /// Reads without waiting.
        ///
        /// # Errors
        /// Those of `read`.
        pub fn try_read<T>(&self, mut read: impl FnMut(SockRef<'_>) -> io::Result<T>) -> io::Result<T> {
            let mut is_asked = false;
            let result = self.socket.try_io(Interest::READABLE, || {
                is_asked = true;
                read(self.socket())
            });
            match is_asked {
                true => result,
                // The runtime has not looked yet, but the driver needs to find out whether the buffer is empty.
                false => read(self.socket()),
            }
        }

        /// Sends without waiting.
        ///
        /// # Errors
        /// Those of `send`, and "would block" until the runtime has seen that the system takes datagrams.
        pub fn try_send<T>(&self, send: impl FnOnce(SockRef<'_>) -> io::Result<T>) -> io::Result<T> {
            self.socket.try_io(Interest::WRITABLE, || send(self.socket()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Duration;
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    fn pair() -> (UdpSocket, Watched) {
        let [from, to] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        to.set_nonblocking(true).unwrap();
        from.connect(to.local_addr().unwrap()).unwrap();
        (from, Watched::new(to).unwrap())
    }

    /// Reads whatever waits, and returns how many datagrams that were.
    fn read_all(watched: &Watched) -> usize {
        let read = || watched.try_read(|socket| socket.recv(&mut [std::mem::MaybeUninit::uninit(); 10]));
        std::iter::from_fn(|| read().ok()).count()
    }

    #[tokio::test]
    async fn it_is_readable_whenever_datagrams_wait_however_often_a_wait_was_given_up() {
        let (from, mut to) = pair();
        for round in 0..20 {
            if round % 3 == 0 {
                assert!(timeout(SHORT, to.readable()).await.is_err(), "nothing has come");
            }
            for _ in 0..=round {
                from.send(&[0]).unwrap();
            }
            if round % 4 != 0 {
                timeout(LONG, to.readable()).await.unwrap().unwrap();
            }
            assert_eq!(read_all(&to), round + 1);
        }
    }

    #[tokio::test]
    async fn what_is_left_unread_makes_it_readable_again() {
        let (from, mut to) = pair();
        for _ in 0..2 {
            from.send(&[0]).unwrap();
        }
        timeout(LONG, to.readable()).await.unwrap().unwrap();
        to.try_read(|socket| socket.recv(&mut [std::mem::MaybeUninit::uninit(); 10])).unwrap();
        timeout(LONG, to.readable()).await.unwrap().unwrap();
        assert_eq!(read_all(&to), 1);
        assert!(timeout(SHORT, to.readable()).await.is_err(), "nothing is left");
    }
}
