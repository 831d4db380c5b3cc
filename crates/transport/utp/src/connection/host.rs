//! The host that a connection runs on, where it is no real machine.

use super::{Connection, State};
use crate::config::Config;
use crate::numbers::{ConnectionId, Micros, SeqNr};
use crate::packet::Packet;
use afteryou_base::Time;
use afteryou_cc::Controller;

/// The host of a connection in a simulation or a test. The default is a real one, on which [`Connection::connect`] and
/// [`Connection::accept`] put connections.
#[must_use = "a host does nothing until it opens a connection"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Added to the clock that goes into timestamps.
    pub clock_offset: Micros,
    /// Parts in a million by which that clock runs fast.
    pub clock_skew_ppm: i16,
    /// Received payload is kept until it is read. If not, it is only counted, as if an application read everything at
    /// once: for packets without content.
    pub keeps_received: bool,
}

impl Host {
    /// A clock without error, and packets with content.
    pub const REAL: Host = Host { clock_offset: Micros(0), clock_skew_ppm: 0, keeps_received: true };

    /// Opens a connection, as [`Connection::connect`] does.
    pub fn connect(
        self,
        config: Config,
        controller: Box<dyn Controller>,
        now: Time,
        recv_id: ConnectionId,
        seq_nr: SeqNr,
    ) -> Connection {
        // The SYN takes `seq_nr`, and nothing of the peer's is known yet.
        let (ids, first, ack_nr) = ((recv_id, recv_id.next()), seq_nr.next(), SeqNr::default());
        let state = State::SynSent { resends: 0 };
        let mut connection = Connection::new(self, config, controller, state, ids, first, ack_nr);
        connection.begin_opening(now);
        connection
    }

    /// Answers a SYN, as [`Connection::accept`] does.
    pub fn accept(
        self,
        config: Config,
        controller: Box<dyn Controller>,
        now: Time,
        syn: &Packet<'_>,
        seq_nr: SeqNr,
    ) -> Connection {
        let id = syn.header.connection_id;
        let (ids, ack_nr) = ((id.next(), id), syn.header.seq_nr);
        let mut connection =
            Connection::new(self, config, controller, State::SynReceived, ids, seq_nr, ack_nr);
        connection.begin_answering(now, syn);
        connection
    }

    /// Returns the reading of the host's clock.
    pub(crate) fn timestamp(self, now: Time) -> Micros {
        Micros(now.as_micros_on_clock(self.clock_skew_ppm.into()) as u32).plus(self.clock_offset)
    }
}

impl Default for Host {
    fn default() -> Host {
        Host::REAL
    }
}
