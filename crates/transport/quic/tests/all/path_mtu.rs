//! Datagrams as long as the path takes.

use crate::common::{client, connect, link, receive_pattern, runtime, send_pattern, server, Failure};
use afteryou_base::Span;
use afteryou_bed::relay::{Config, Relay};
use afteryou_bed::Clock;
use afteryou_quic::{background_transport, path_mtu};
use quinn::{ConnectionStats, TransportConfig};
use std::net::SocketAddr;

fn searching(remote: SocketAddr) -> TransportConfig {
    let mut transport = background_transport();
    transport.mtu_discovery_config(Some(path_mtu::search(remote)));
    transport
}

/// Runs a transfer to a server at `address`, over a link of 1500-byte packets if there is a round-trip time in ms.
fn sent(address: &str, bytes: usize, rtt: Option<u64>) -> Result<ConnectionStats, Failure> {
    runtime().block_on(async {
        let (server, _) = server(address, background_transport());
        let at = server.local_addr()?;
        let mut config = Config::new(1);
        let link = config.add_link(link("uplink", "50 Mbit/s", "400 ms", "0 %"));
        let flow = config.add_flow(link, at, Span::from_millis(rtt.unwrap_or_default()));
        let relay = Relay::start(config, Clock::start())?;
        let receiver = tokio::spawn(receive_pattern(server, bytes));
        let to = if rtt.is_some() { relay.front(flow) } else { at };
        let connection = connect(&client(address).0, to, searching(to)).await?;
        send_pattern(&connection, bytes).await?;
        receiver.await??;
        Ok(connection.stats())
    })
}

#[test]
#[cfg(target_os = "linux")]
fn over_loopback_they_have_6550_bytes() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let stats = sent(address, 3_000_000, None).unwrap();
        assert_eq!(stats.path.current_mtu, path_mtu::LONGEST, "{address}: {stats:?}");
        assert_eq!(stats.path.lost_plpmtud_probes, 0, "{address}: {stats:?}");
        let datagrams = stats.udp_tx.datagrams;
        assert!(datagrams < 3_000_000 / 5_000, "{address}: {datagrams} datagrams");
    }
}

#[test]
fn behind_loopback_the_search_finds_what_the_path_takes() {
    for rtt in [5, 50] {
        let stats = sent("127.0.0.1:0", 6_000_000, Some(rtt)).unwrap();
        let mtu = stats.path.current_mtu;
        // 1472 bytes fit. A search ends when 20 bytes are left to find.
        assert!((1452..=1472).contains(&mtu), "{rtt} ms: {mtu} bytes, {stats:?}");
        assert!(stats.path.lost_plpmtud_probes > 0, "{rtt} ms: {stats:?}");
        assert_eq!(stats.path.congestion_events, 0, "{rtt} ms: lost probes are no congestion: {stats:?}");
    }
}
