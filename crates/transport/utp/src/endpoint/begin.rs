//! Connections as an endpoint's settings make them.

use super::EndpointConfig;
use crate::connection::Connection;
use crate::numbers::{ConnectionId, SeqNr};
use crate::packet::Packet;
use afteryou_base::Time;
use afteryou_cc::Setup;
use std::net::SocketAddr;

impl EndpointConfig {
    /// Opens a connection.
    pub(super) fn connect(
        &self,
        now: Time,
        setup: Setup,
        peer: SocketAddr,
        recv_id: ConnectionId,
        seq_nr: SeqNr,
    ) -> Connection {
        let (config, controller) = (self.connection.clone(), (self.controller)(setup));
        #[cfg(feature = "dump")]
        return self.dump.connect(peer, config, controller, now, recv_id, seq_nr);
        #[cfg(not(feature = "dump"))]
        {
            _ = peer;
            Connection::connect(config, controller, now, recv_id, seq_nr)
        }
    }

    /// Answers a SYN.
    pub(super) fn accept(
        &self,
        now: Time,
        setup: Setup,
        peer: SocketAddr,
        syn: &Packet<'_>,
        seq_nr: SeqNr,
    ) -> Connection {
        let (config, controller) = (self.connection.clone(), (self.controller)(setup));
        #[cfg(feature = "dump")]
        return self.dump.accept(peer, config, controller, now, syn, seq_nr);
        #[cfg(not(feature = "dump"))]
        {
            _ = peer;
            Connection::accept(config, controller, now, syn, seq_nr)
        }
    }
}
