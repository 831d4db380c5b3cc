//! The capture file of an endpoint's datagrams.

use afteryou_base::lock::EvenPoisoned;
use afteryou_trace::pcapng::{self, Packet};
use afteryou_trace::spool::File;
use afteryou_trace::udp::Datagram;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Memory of the buffers at the beginning, bytes: a datagram fits.
const BUFFER: usize = 2048;

/// A capture that grows.
pub(super) struct Capture(Mutex<Growing>);

struct Growing {
    file: File,
    /// Writes into memory, which takes everything: its results are always good.
    blocks: Option<pcapng::Capture<Vec<u8>>>,
    interfaces: u32,
    packet: Vec<u8>,
}

impl Capture {
    pub(super) fn begin(file: File) -> Capture {
        let blocks = pcapng::Capture::begin(Vec::with_capacity(BUFFER), None).ok();
        let mut growing = Growing { file, blocks, interfaces: 0, packet: Vec::with_capacity(BUFFER) };
        growing.write();
        Capture(Mutex::new(growing))
    }

    /// Adds a socket's interface, and returns its number.
    pub(super) fn interface(&self, local: SocketAddr) -> u32 {
        let mut growing = self.growing();
        if let Some(blocks) = &mut growing.blocks {
            _ = blocks.interface(&format!("utp {local}"), None);
        }
        growing.write();
        growing.interfaces += 1;
        growing.interfaces - 1
    }

    /// Writes a datagram, of which `snap` bytes are kept.
    pub(super) fn packet(&self, interface: u32, at: Duration, ends: &Datagram, payload: &[u8], snap: usize) {
        let mut growing = self.growing();
        let Growing { blocks: Some(blocks), packet, .. } = &mut *growing else { return };
        packet.clear();
        ends.write_head(payload, packet);
        let length = (packet.len() + payload.len()) as u32; // a datagram is shorter than 64 KiB
        packet.extend_from_slice(&payload[..payload.len().min(snap)]);
        _ = blocks.packet(&Packet { interface, at, data: packet, length, comment: None });
        growing.write();
    }

    fn growing(&self) -> MutexGuard<'_, Growing> {
        self.0.lock().even_poisoned()
    }
}

impl Growing {
    /// Hands over the blocks made so far.
    fn write(&mut self) {
        if let Some(blocks) = &mut self.blocks {
            self.file.write(blocks.writer());
            blocks.writer().clear();
        }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").finish_non_exhaustive()
    }
}
