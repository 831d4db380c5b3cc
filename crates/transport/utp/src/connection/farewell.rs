//! The remains of a connection after both directions have ended.
//!
//! The last acknowledgement may get lost. Until the connection has lingered for long enough, whatever the peer repeats is
//! answered with it again, which takes one header and no connection.

use super::{Connection, Host, State};
use crate::packet::{Header, Kind, Packet};
use afteryou_base::Time;

/// The last acknowledgement of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Farewell {
    /// Until then it is repeated.
    pub(crate) until: Time,
    last: Header,
    host: Host,
}

impl Farewell {
    /// Returns the answer to a packet that the peer has repeated; an acknowledgement needs none.
    pub(crate) fn answer(&self, now: Time, packet: &Packet<'_>) -> Option<Vec<u8>> {
        if !matches!(packet.header.kind, Kind::Data | Kind::Fin) {
            return None;
        }
        let timestamp = self.host.timestamp(now);
        let timestamp_difference = timestamp.minus(packet.header.timestamp);
        let header = Header { timestamp, timestamp_difference, ..self.last };
        let mut datagram = Vec::new();
        Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut datagram);
        Some(datagram)
    }
}

impl Connection {
    /// Returns all that is still needed of a connection that lingers and has nothing to send.
    pub(crate) fn farewell(&self, now: Time) -> Option<Farewell> {
        let State::Lingering { until } = self.state else { return None };
        let is_silent = self.receiver.ack_at().is_none() && !self.reset_due;
        is_silent.then(|| Farewell {
            until,
            last: self.header(now, Kind::State, self.board.next_seq()),
            host: self.host,
        })
    }
}
