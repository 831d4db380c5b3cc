//! uTP over the sockets of a run: its settings from a scenario, and its two ends.

use super::controllers::{Controllers, Make, Zero};
use super::ends::{Client, Server};
use super::watched::{EndState, Watch, Watched};
use crate::error::Error;
use afteryou_base::{Dscp, Time};
use afteryou_cc::Observers;
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::Flow;
use afteryou_sim::director::utp_config;
use afteryou_utp::{Config, Endpoint, EndpointConfig, Monitor, Stream};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Makes the endpoints' settings of a flow of uTP.
pub(crate) struct Utp {
    controllers: Controllers,
    connection: Config,
    dscp: Dscp,
}

impl Utp {
    /// Reads a flow's controller and its transport's settings. `observers` see its senders, with the index of the flow.
    pub(crate) fn new(flow: &Flow, observers: Option<(usize, &Observers)>) -> Result<Utp, Error> {
        Ok(Utp {
            controllers: Controllers::new(flow, observers)?,
            connection: connection(flow)?,
            dscp: flow.dscp().0,
        })
    }

    /// Returns the settings of a sender, whose observers look at `Zero`.
    pub(crate) fn sender(&self) -> (EndpointConfig, Zero) {
        let (make, zero) = self.controllers.of_sender();
        (self.config(make), zero)
    }

    /// Returns the settings of a receiver.
    pub(crate) fn receiver(&self) -> EndpointConfig {
        self.config(self.controllers.unobserved())
    }

    fn config(&self, make: Make) -> EndpointConfig {
        EndpointConfig { connection: self.connection.clone(), ..EndpointConfig::new(make, self.dscp) }
    }
}

/// Returns the settings of a flow's connections: those of its transport, and its payload where the scenario sets one.
fn connection(flow: &Flow) -> Result<Config, Error> {
    let Protocol::Utp(options) = flow.transport.protocol()? else { return Ok(Config::default()) };
    let config = utp_config(&options);
    let payload = flow.packet.map_or(config.payload, |packet| packet.payload.bytes() as u32);
    Ok(Config { payload, ..config })
}

impl Client for Endpoint {
    type Stream = Stream;

    fn address(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }

    fn now(&self) -> Time {
        Endpoint::now(self)
    }

    async fn connect(&self, to: SocketAddr) -> io::Result<(Stream, Watched)> {
        let stream = Endpoint::connect(self, to).await?;
        let watched: Watched = Arc::new(stream.monitor());
        Ok((stream, watched))
    }

    fn has_acknowledged(stream: &Stream, written: u64) -> bool {
        stream.statistics().bytes_delivered >= written
    }
}

impl Server for Endpoint {
    type Stream = Stream;

    fn address(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }

    async fn accept(&self) -> io::Result<(Stream, Watched)> {
        let stream = Endpoint::accept(self).await?;
        let watched: Watched = Arc::new(stream.monitor());
        Ok((stream, watched))
    }
}

impl Watch for Monitor {
    fn state(&self) -> Option<EndState> {
        let statistics = self.statistics()?;
        Some(EndState {
            controller: statistics.controller,
            smoothed_rtt: statistics.smoothed_rtt,
            totals: Totals {
                packets: statistics.data_packets_sent,
                retransmissions: statistics.retransmissions,
                losses: statistics.losses,
                spurious: statistics.spurious_losses,
                timeouts: statistics.timeouts,
                ..Totals::default()
            },
            arrived: statistics.bytes_arrived,
        })
    }

    fn abort(&self) {
        Monitor::abort(self);
    }
}
