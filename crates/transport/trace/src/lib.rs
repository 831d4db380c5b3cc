//! Packets in pcapng files and senders in qlog files, for Wireshark and qvis.
//!
//! ```
//! use afteryou_trace::pcapng::{Capture, Packet};
//! use afteryou_trace::udp::Datagram;
//! use std::time::Duration;
//!
//! let datagram = Datagram { from: "192.0.2.1:50000".parse()?, to: "192.0.2.2:6881".parse()?, tos: 0 };
//! let mut packet = Vec::new();
//! datagram.write_head(b"payload", &mut packet);
//! packet.extend_from_slice(b"payload");
//! let mut capture = Capture::begin(Vec::new(), None)?;
//! capture.interface("uplink", None)?;
//! let (at, length) = (Duration::from_millis(20), packet.len() as u32);
//! capture.packet(&Packet { interface: 0, at, data: &packet, length, comment: None })?;
//! assert!(capture.finish()?.len() > packet.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The uTP endpoint, `send` and `receive` write their files with this crate, and so do runs of the simulator and the testbed.
//!
//! | module | has |
//! |---|---|
//! | [`pcapng`] | the blocks of a capture |
//! | [`udp`] | headers of datagrams |
//! | [`qlog`] | the log of a sender or of a connection, and the files of a run or of a program |
//! | [`spool`] | files that a thread of its own writes |
//!
//! `afteryou_cc::observed` shows a controller's events to an observer in any transport, and [`qlog`] makes records of them. A uTP endpoint writes
//! its files with this crate itself, so `afteryou-utp` builds on it.

pub mod pcapng;
pub mod qlog;
pub mod spool;
pub mod udp;
