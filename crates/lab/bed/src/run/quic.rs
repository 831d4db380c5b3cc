//! QUIC over the sockets of a run: its settings from a scenario, and its two ends.
//!
//! # Model
//! Each connection has an endpoint of its own, so that its sender's port names it. Data go one way, over unidirectional streams
//! ([`Outgoing`]). Certificates are made for the run, and the client trusts its own server's alone.
//!
//! # Constants
//! All packets have the scenario's size, so there are no probes for the path's MTU. Silence ends no connection: an outage of
//! the scenario may last for minutes.
//!
//! # Not implemented
//! 0-RTT and migration. quinn sends the data of a lost packet again in others, so its losses count as retransmissions.
//! It does not report probe timeouts.

mod end;
mod outgoing;

pub(crate) use end::Incoming;
pub(crate) use outgoing::Outgoing;

use super::controllers::{Controllers, Make, Zero};
use super::ends::{Client, Server};
use super::watched::Watched;
use crate::error::Error;
use crate::quic_packet::{HEADERS, PAYLOADS};
use afteryou_base::{Dscp, Time};
use afteryou_cc::Observers;
use afteryou_quic::{clock, endpoint, Factory, Monitor, Socket};
use afteryou_scenario::transport::{Protocol, QuicOptions};
use afteryou_scenario::Flow;
use end::End;
use quinn::rustls::pki_types::PrivatePkcs8KeyDer;
use quinn::rustls::RootCertStore;
use quinn::{AckFrequencyConfig, ClientConfig, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// The name in the certificate.
const NAME: &str = "localhost";
/// Bytes that a connection holds beyond its window by default.
const UNSENT: u64 = 256 << 10;

/// Makes the endpoints of a flow of QUIC.
pub(crate) struct Quic {
    controllers: Controllers,
    options: QuicOptions,
    /// UDP payload of full packets, bytes.
    mtu: u16,
    dscp: Dscp,
    client: ClientConfig,
    server: ServerConfig,
}

impl Quic {
    /// Reads a flow's controller and its transport's settings. `observers` see its senders, with the index of the flow.
    pub(crate) fn new(flow: &Flow, observers: Option<(usize, &Observers)>) -> Result<Quic, Error> {
        let failed = |reason: String| Error::Flow { flow: flow.name.clone(), reason };
        let Protocol::Quic(options) = flow.transport.protocol()? else {
            return Err(failed("its transport is not QUIC".to_owned()));
        };
        let payload = flow.packet_format().payload.bytes().clamp(*PAYLOADS.start(), *PAYLOADS.end());
        let (client, server) = identity().map_err(|reason| failed(format!("no certificate: {reason}")))?;
        Ok(Quic {
            controllers: Controllers::new(flow, observers)?,
            options,
            mtu: (payload + HEADERS) as u16,
            dscp: flow.dscp().0,
            client,
            server,
        })
    }

    /// Opens a sender, whose connection holds up to `unsent` bytes beyond its window and whose observers look at `Zero`.
    pub(crate) fn sender(&self, at: SocketAddr, unsent: Option<u64>) -> io::Result<(Sender, Zero)> {
        let (make, zero) = self.controllers.of_sender();
        let mut config = self.client.clone();
        config.transport_config(Arc::new(self.transport(make)));
        let endpoint = endpoint(Socket::bind(at, self.dscp)?, EndpointConfig::default(), None)?;
        let address = endpoint.local_addr()?;
        Ok((Sender { endpoint, address, config, unsent: unsent.unwrap_or(UNSENT) }, zero))
    }

    /// Opens a receiver.
    pub(crate) fn receiver(&self, at: SocketAddr) -> io::Result<Receiver> {
        let mut config = self.server.clone();
        config.transport_config(Arc::new(self.transport(self.controllers.unobserved())));
        let endpoint = endpoint(Socket::bind(at, self.dscp)?, EndpointConfig::default(), Some(config))?;
        Ok(Receiver { address: endpoint.local_addr()?, endpoint })
    }

    fn transport(&self, make: Make) -> TransportConfig {
        let mut acks = AckFrequencyConfig::default();
        acks.max_ack_delay(Some(self.options.ack_delay.into()));
        let window = VarInt::from_u64(self.options.rwnd).unwrap_or(VarInt::MAX);
        let mut transport = afteryou_quic::transport(Factory::of(move |setup| make(setup)));
        transport
            .ack_frequency_config(Some(acks))
            .stream_receive_window(window)
            .receive_window(window)
            .initial_mtu(self.mtu)
            .min_mtu(self.mtu)
            .mtu_discovery_config(None)
            .max_idle_timeout(None);
        transport
    }
}

/// Makes a certificate, and the settings of a server that has it and of a client that trusts it.
fn identity() -> Result<(ClientConfig, ServerConfig), String> {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(|error| error.to_string())?;
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).map_err(|error| error.to_string())?;
    let client = ClientConfig::with_root_certificates(Arc::new(roots)).map_err(|error| error.to_string())?;
    let server = ServerConfig::with_single_cert(vec![certificate], key.into());
    Ok((client, server.map_err(|error| error.to_string())?))
}

/// The sending end before it connects.
pub(crate) struct Sender {
    endpoint: quinn::Endpoint,
    address: SocketAddr,
    config: ClientConfig,
    unsent: u64,
}

/// The receiving end.
pub(crate) struct Receiver {
    endpoint: quinn::Endpoint,
    address: SocketAddr,
}

impl Client for Sender {
    type Stream = Outgoing;

    fn address(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn now(&self) -> Time {
        clock::now()
    }

    async fn connect(&self, to: SocketAddr) -> io::Result<(Outgoing, Watched)> {
        let connecting = self.endpoint.connect_with(self.config.clone(), to, NAME);
        let connection = connecting.map_err(io::Error::other)?.await?;
        let monitor = Monitor::of(&connection).unwrap_or_default();
        let watched: Watched = Arc::new(End::new(connection.clone(), monitor.clone()));
        Ok((Outgoing::new(connection, monitor, self.unsent), watched))
    }

    fn has_acknowledged(stream: &Outgoing, written: u64) -> bool {
        stream.acknowledged() >= written
    }
}

impl Receiver {
    /// Accepts a connection whose handshake has not begun; none once the endpoint is closed.
    pub(crate) async fn incoming(&self) -> Option<quinn::Incoming> {
        self.endpoint.accept().await
    }
}

impl Server for Receiver {
    type Stream = Incoming;

    fn address(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    async fn accept(&self) -> io::Result<(Incoming, Watched)> {
        let closed = || io::Error::other("the endpoint is closed");
        let connection = self.incoming().await.ok_or_else(closed)?.await?;
        let end = End::new(connection.clone(), Monitor::default());
        let stream = Incoming::new(connection.accept_uni().await?, &end);
        Ok((stream, Arc::new(end)))
    }
}
