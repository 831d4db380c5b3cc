//! Sockets that mark their packets, controllers that yield, and what they see.

use super::args::Common;
use super::qlogs::Logs;
use afteryou_base::lock::EvenPoisoned;
use afteryou_cc::group::Shared;
use afteryou_cc::list::Tuned;
use afteryou_quic::{path_mtu, Factory, Monitor, Socket, MAX_ACK_DELAY};
use afteryou_terminal::Failure;
use afteryou_transfer::guard::ConfigFor;
use afteryou_transfer::job::{AdmittedTo, Arrival, ArrivalOf, StateOf};
use afteryou_transfer::wire::ControllerState;
use anyhow::Context;
use quinn::{AckFrequencyConfig, MtuDiscoveryConfig, ServerConfig, TransportConfig};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Hosts that are remembered. Strangers can fill this, and it costs them a handshake each.
const MOST_HOSTS: usize = 1_024;

/// The peer receives a close in a packet or two; a peer that misses it finds out by its timeout.
const FAREWELL: Duration = Duration::from_secs(1);

/// Binds a UDP socket with the class that was asked for. Where IPv6 is turned off, `[::]` is taken as all of IPv4.
pub fn socket(common: &Common, address: SocketAddr) -> Result<Arc<Socket>, Failure> {
    let bind = |address| Socket::bind(address, common.dscp.0);
    let bound = match bind(address) {
        Err(error) if address.is_ipv6() && address.ip().is_unspecified() && !is_taken(&error) => {
            bind((Ipv4Addr::UNSPECIFIED, address.port()).into())
        }
        bound => bound,
    };
    let socket =
        bound.with_context(|| format!("cannot listen at {address}: choose another with --listen"))?;
    tracing::debug!(%address, dscp = ?common.dscp.0, "opened a UDP socket");
    Ok(socket)
}

/// Returns whether somebody else has the port.
pub fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

/// Creates an endpoint on `socket`.
pub fn endpoint(
    socket: &Arc<Socket>,
    server: Option<quinn::ServerConfig>,
) -> Result<quinn::Endpoint, Failure> {
    let endpoint = afteryou_quic::endpoint(socket.clone(), path_mtu::endpoint_config(), server);
    Ok(endpoint.context("cannot use the network")?)
}

/// Closes `endpoint`, and waits until the peers have been informed.
pub async fn leave(endpoint: &quinn::Endpoint) {
    endpoint.close(0_u32.into(), b"");
    let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
}

/// Returns the parameters of a connection to any address: the requested controller, and the protocol's needs. It has a log
/// of its own in `logs`.
pub fn transport(common: &Common, logs: &Logs) -> Result<Arc<TransportConfig>, Failure> {
    Ok(parameters(factory(common, false, logs)?, MtuDiscoveryConfig::default()))
}

/// Returns the parameters by address: over loopback datagrams are longer. Connections that are `many` take no more than one
/// together.
pub fn transports(
    common: &Common,
    many: bool,
    logs: &Logs,
) -> Result<impl Fn(SocketAddr) -> Arc<TransportConfig>, Failure> {
    let (factory, known) = (factory(common, many, logs)?, common.route_mtu);
    Ok(move |remote| {
        let search = known.map_or_else(|| path_mtu::search(remote), path_mtu::search_on);
        parameters(factory.clone(), search)
    })
}

fn parameters(factory: Arc<Factory>, search: MtuDiscoveryConfig) -> Arc<TransportConfig> {
    let mut acks = AckFrequencyConfig::default();
    acks.max_ack_delay(Some(MAX_ACK_DELAY));
    let mut transport = afteryou_transfer::transport();
    transport
        .congestion_controller_factory(factory)
        .ack_frequency_config(Some(acks))
        .mtu_discovery_config(Some(search));
    Arc::new(transport)
}

fn factory(common: &Common, many: bool, logs: &Logs) -> Result<Arc<Factory>, Failure> {
    let (entry, overrides) = common.controller().controller()?;
    let tuned = entry.tuned(overrides).map_err(|error| Failure::usage(format!("--controller: {error}")))?;
    Ok(logs.of(if many { together(tuned) } else { Factory::of(move |setup| tuned.build(setup)) }))
}

/// Returns controllers that share one window for all connections. When the last is gone, its state of the path is forgotten.
fn together(tuned: Tuned) -> Arc<Factory> {
    let current: Mutex<Option<Shared>> = Mutex::new(None);
    Factory::of(move |setup| {
        let mut current = current.lock().even_poisoned();
        if let Some(group) = current.as_ref().filter(|group| group.members() > 0) {
            return group.member(setup.mss);
        }
        let group = Shared::new(tuned.build(setup), setup.mss);
        let member = group.member(setup.mss);
        *current = Some(group);
        member
    })
}

/// Returns the configuration of the side that listens: connections of one host take no more than one, whatever job they are
/// of.
pub fn by_host(common: &Common, server: ServerConfig, logs: &Logs) -> ConfigFor {
    let (common, logs) = (common.clone(), logs.clone());
    let usual = Arc::new(server);
    let mut hosts: HashMap<IpAddr, Arc<ServerConfig>> = HashMap::new();
    Box::new(move |client| {
        let host = client.ip().to_canonical();
        if let Some(config) = hosts.get(&host) {
            return config.clone();
        }
        if hosts.len() >= MOST_HOSTS {
            // Their connections keep what they have; new ones begin anew.
            hosts.clear();
        }
        tracing::debug!(%host, "a window for a new host");
        // It worked when the service began.
        let Ok(transports) = transports(&common, true, &logs) else { return usual.clone() };
        let mut config = ServerConfig::clone(&usual);
        config.transport_config(transports(client));
        let config = Arc::new(config);
        hosts.insert(host, config.clone());
        config
    })
}

/// Asks for the state of a connection's controller.
pub fn state_of() -> StateOf {
    Arc::new(|connection| {
        let snapshot = Monitor::of(connection)?.status().snapshot;
        let us = |span: afteryou_base::Span| span.as_micros();
        Some(ControllerState {
            base_us: snapshot.base_delay.map(us),
            queue_us: snapshot.queuing_delay.map(us),
            target_us: snapshot.target.map(us),
            cwnd: snapshot.cwnd,
            phase: snapshot.phase.to_owned(),
        })
    })
}

/// Notes that the peer of a connection is admitted, for its log.
pub fn admitted() -> AdmittedTo {
    Arc::new(|connection| {
        if let Some(monitor) = Monitor::of(connection) {
            monitor.admit();
        }
    })
}

/// Asks how the packets of a connection arrive at `socket`.
pub fn arrival_of(socket: Arc<Socket>) -> ArrivalOf {
    Arc::new(move |connection| Arrival {
        tos: socket.tos_from(connection.remote_address()),
        packets: connection.stats().udp_rx.datagrams,
        ..Arrival::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TransferCommand as Command;
    use afteryou_transfer::identity::Identity;
    use afteryou_transfer::tls;
    use quinn::congestion::ControllerFactory;
    use std::time::Instant;

    fn common(words: &[&str]) -> Common {
        let words = [&["afteryou", "receive"], words].concat();
        match crate::parsed(words).unwrap() {
            Command::Receive(args) => args.common,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn connections_of_a_job_have_one_window() {
        let (entry, overrides) = common(&["--controller", "cubic"]).controller().controller().unwrap();
        let alone = Factory::new(entry, &overrides).unwrap().build(Instant::now(), 1_200).window();
        let factory = together(entry.tuned(overrides).unwrap());
        let now = Instant::now();
        let mut members: Vec<_> = (0..8).map(|_| factory.clone().build(now, 1_200)).collect();
        assert!(
            members.iter().all(|member| member.window() == alone),
            "whoever comes first may have all of it"
        );
        for number in 0..alone / 1_200 {
            members[0].on_sent(now, 1_200, number);
        }
        let rest: Vec<u64> = members[1..].iter().map(|member| member.window()).collect();
        assert!(rest.iter().all(|window| *window <= 1_201), "a packet, to hear of room: {rest:?}");
        drop(members);
        assert_eq!(factory.build(Instant::now(), 1_200).window(), alone, "the next job begins anew");
    }

    #[test]
    fn who_listens_has_a_window_for_each_host() {
        let server = tls::server(&Identity::ephemeral().unwrap(), &[]).unwrap();
        let common = common(&[]);
        let logs = Logs::begin(&common, "receive", afteryou_trace::qlog::Vantage::Server).unwrap();
        let mut config_for = by_host(&common, server, &logs);
        let mut of = |client: &str| Arc::as_ptr(&config_for(client.parse().unwrap()));
        let first = of("192.0.2.7:1000");
        assert_eq!(first, of("192.0.2.7:2000"));
        assert_eq!(first, of("[::ffff:192.0.2.7]:3000"), "the same over a socket for both kinds");
        assert_ne!(first, of("192.0.2.8:1000"));
    }
}
