//! UDP sockets with control messages: the fields of IP beside the payload.
//!
//! # Model
//! [`bind`] opens a non-blocking socket. [`Control`] prepares it with a program's [`Options`], sends
//! ([`Outgoing`]) and receives ([`Incoming`]). The socket itself stays the caller's, so that it can be registered
//! with any runtime or waited for by `poll`. Nothing here waits, and nothing reads a clock.
//!
//! ```
//! use afteryou_sockets::{bind, Control, Families, Messages, Options, Outgoing};
//! use socket2::SockRef;
//!
//! let here = "127.0.0.1:0".parse().unwrap();
//! let [a, b] = [(); 2].map(|()| bind(here, Families::Own).unwrap());
//! let sending = Control::new(SockRef::from(&a), Options::default())?;
//! let receiving = Control::new(SockRef::from(&b), Options { tos: true, ..Options::default() })?;
//!
//! // Lower effort (RFC 8622) in the upper six bits, ECT(0) (RFC 3168) in the lower two.
//! let outgoing = Outgoing { tos: 0b000001_10, ..Outgoing::new(b.local_addr()?, b"after you") };
//! sending.send(SockRef::from(&a), &outgoing)?;
//! let mut buffer = [0; 100];
//! let incoming = receiving.receive(SockRef::from(&b), &mut Messages::default(), &mut buffer)?;
//! assert_eq!(&buffer[..incoming.bytes], b"after you");
//! # #[cfg(target_os = "linux")]
//! assert_eq!(incoming.tos, Some(0b000001_10));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Why not quinn-udp alone
//! quinn-udp 0.5 writes the TOS byte of each datagram with nothing but ECN in it, which overrides the socket's DSCP. Of
//! a received byte it reports the two ECN bits only. It reports no arrival times. On Linux this crate therefore uses
//! `sendmsg` and `recvmsg` by way of nix, without unsafe code of its own. Elsewhere quinn-udp serves: batches and ECN
//! work where it can, a datagram's own DSCP does not ([`TOS_IS_CARRIED`]).
//!
//! # Fallback
//! Every option but the address's own is a request: the kernel may refuse one, which [`Control`] reports. Where
//! segmentation offload fails (EIO, EINVAL), it is turned off for this socket and the segments leave one by one. Where the
//! kernel takes no TOS byte with a datagram (EINVAL), datagrams leave with the socket's own byte.
//!
//! # Waiting
//! uTP, QUIC and the testbed's relay use this crate, and each waits in its own way. The relay uses `ppoll`, quinn uses tokio, uTP uses a
//! `Doorbell` (Linux). The kernel reports each datagram to a runtime that watches a socket. That wakes another worker beside the one that
//! reads: a quarter of a core where uTP reads at full speed. quinn spreads its work over both workers and gains nothing from a bell: with
//! datagrams of 1452 bytes a transfer took 6 % more processor time.
//!
//! A datagram that names the socket's own byte takes no control message.
//!
//! # Tests
//! `linux/tests.rs` plays kernels that refuse options. `tests/` reads the bytes on loopback.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use portable as platform;

mod datagram;
mod open;

pub use datagram::{Incoming, Options, Outgoing, TooBig};
#[cfg(target_os = "linux")]
pub use linux::Doorbell;
pub use open::{bind, set_buffers, Families};
pub use platform::{route_mtu, Control, Messages, TOS_IS_CARRIED};

/// Most datagrams in one call of [`Control::send`]: `UDP_MAX_SEGMENTS` of Linux before 6.9.
pub const MOST_SEGMENTS: usize = 64;
