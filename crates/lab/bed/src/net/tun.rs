//! A TUN device: what the kernel sends to it is read from it, what is written to it the kernel receives.

use crate::system;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The device's name in its namespace.
pub const NAME: &str = "ay0";

/// A device, which is gone when this is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Makes one in the calling thread's namespace. It blocks nobody.
    ///
    /// # Errors
    /// A kernel without `/dev/net/tun`, a user who may not make a device, and a namespace that has this one.
    pub fn open() -> io::Result<Tun> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC);
        let file = options.open("/dev/net/tun")?;
        system::make_tun(&file, NAME)?;
        Ok(Tun { file })
    }

    /// Reads the next packet; none if there is none.
    ///
    /// # Errors
    /// The device is down, or its namespace is gone.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet, which the kernel receives.
    ///
    /// # Errors
    /// The device is down, what is written is no IP packet, and [`io::ErrorKind::WouldBlock`] if the kernel has no room.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
