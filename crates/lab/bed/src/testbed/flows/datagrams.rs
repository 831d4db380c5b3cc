//! Datagrams at a constant mean rate, sent by the director's own thread.

use super::Directable;
use crate::error::Error;
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::Traffic;
use afteryou_sim::director::Remote;
use socket2::SockRef;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The director's hold on a flow of datagrams.
struct Line {
    socket: UdpSocket,
    packet: Vec<u8>,
    sent: u64,
    received: Arc<AtomicU64>,
}

/// Opens the sender's socket.
pub(super) fn dial(flow: &Directable) -> Result<Box<dyn Remote>, Error> {
    let address = SocketAddr::new(flow.from, 0);
    let payload = match flow.spec.traffic {
        Traffic::Cbr { payload, .. } => payload.bytes(),
        _ => 0,
    };
    let open = || {
        let socket = UdpSocket::bind(address)?;
        SockRef::from(&socket).set_tos_v4(u32::from(flow.spec.dscp().0.tos(0)))?;
        socket.connect(flow.receiver.address)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let socket = open().map_err(|source| Error::Socket { address, source })?;
    let received = Arc::clone(&flow.receiver.datagram_bytes);
    Ok(Box::new(Line { socket, packet: vec![0; payload as usize], sent: 0, received }))
}

impl Remote for Line {
    fn connect(&mut self) {}

    fn give(&mut self, _: u64) {}

    fn take_back(&mut self) -> u64 {
        0
    }

    fn send_datagram(&mut self) {
        self.sent += 1;
        // A packet that the system refuses is a packet lost.
        let _ = self.socket.send(&self.packet);
    }

    fn stop(&mut self) {}

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn is_flushed(&self) -> bool {
        true
    }

    fn totals(&self) -> Totals {
        Totals { packets: self.sent, ..Totals::default() }
    }
}
