#!/bin/sh
# quinn-proto 0.11.19 paces what a congestion controller allows, at a rate that follows from the window and the round-trip time. A window of
# 2^32 bytes and more is not paced at all: one byte above u32::MAX, and all that flow control allows leaves at one instant.
#
# A controller with a fixed window, two endpoints in memory, a handshake over 100 ms, and 8 MB to send. Counted are the datagrams that the
# connection hands out at one instant, before it waits for a timer:
#
#   window 4294967295: 509 datagrams at once
#   window 4294967296: 6856 datagrams at once, which is everything
#
# A controller that answers u64::MAX for "no limit" turns pacing off with it.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src"
cat >"$dir/Cargo.toml" <<'T'
[package]
name = "pacing"
version = "0.0.0"
edition = "2021"

[dependencies]
quinn-proto = { version = "=0.11.19", default-features = false, features = ["rustls-ring"] }
rcgen = { version = "=0.14.8", default-features = false, features = ["ring"] }
rustls = { version = "=0.23.46", default-features = false, features = ["ring", "std"] }
T
cat >"$dir/src/main.rs" <<'R'
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::*;
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
struct Fixed(u64);

impl ControllerFactory for Fixed {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

impl Controller for Fixed {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}
    fn on_mtu_update(&mut self, _: u16) {}
    fn window(&self) -> u64 {
        self.0
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
    fn initial_window(&self) -> u64 {
        self.0
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Takes what a connection has to send at this instant.
fn drain(now: Instant, connection: &mut Connection) -> Vec<Vec<u8>> {
    let mut datagrams = Vec::new();
    loop {
        let mut buffer = Vec::new();
        match connection.poll_transmit(now, 1, &mut buffer) {
            Some(transmit) => datagrams.push(buffer[..transmit.size].to_vec()),
            None => return datagrams,
        }
    }
}

fn at_once(window: u64) -> usize {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(Fixed(window))).send_window(8_000_000).mtu_discovery_config(None);
    transport.stream_receive_window(8_000_000u32.into()).receive_window(8_000_000u32.into());
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_single_cert(vec![certified.cert.der().clone()], key).unwrap();
    server.transport_config(transport.clone());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certified.cert.der().clone()).unwrap();
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    client.transport_config(transport);
    let (here, there): (SocketAddr, SocketAddr) = ("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
    let config = Arc::new(EndpointConfig::default());
    let mut clients = Endpoint::new(config.clone(), None, true, None);
    let mut servers = Endpoint::new(config, Some(Arc::new(server)), true, None);
    let mut now = Instant::now();
    let (of_client, mut client) = clients.connect(now, client, there, "localhost").unwrap();
    let mut server: Option<(ConnectionHandle, Connection)> = None;
    while client.is_handshaking() || server.as_ref().is_none_or(|(_, server)| server.is_handshaking()) {
        let outgoing = drain(now, &mut client);
        now += Duration::from_millis(50);
        let mut buffer = Vec::new();
        for datagram in outgoing {
            match servers.handle(now, here, None, None, datagram[..].into(), &mut buffer) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    server = servers.accept(incoming, now, &mut buffer, None).ok();
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => server.as_mut().unwrap().1.handle_event(event),
                _ => {}
            }
        }
        let (of_server, connection) = server.as_mut().unwrap();
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = servers.handle_event(*of_server, event) {
                connection.handle_event(event);
            }
        }
        let answers = drain(now, connection);
        now += Duration::from_millis(50);
        for datagram in answers {
            if let Some(DatagramEvent::ConnectionEvent(_, event)) =
                clients.handle(now, there, None, None, datagram[..].into(), &mut buffer)
            {
                client.handle_event(event);
            }
        }
        while let Some(event) = client.poll_endpoint_events() {
            if let Some(event) = clients.handle_event(of_client, event) {
                client.handle_event(event);
            }
        }
    }
    drain(now, &mut client);
    let stream = client.streams().open(Dir::Uni).unwrap();
    client.send_stream(stream).write(&vec![0; 8_000_000]).unwrap();
    drain(now, &mut client).len()
}

fn main() {
    for window in [u64::from(u32::MAX), u64::from(u32::MAX) + 1] {
        println!("window {window}: {} datagrams at once", at_once(window));
    }
}
R
cd "$dir"
CARGO_TARGET_DIR="$dir/target" cargo run --quiet >out
cat out
paced=$(sed -n 's/^window 4294967295: \([0-9]*\) .*/\1/p' out)
unpaced=$(sed -n 's/^window 4294967296: \([0-9]*\) .*/\1/p' out)
[ "$paced" -le 512 ] && [ "$unpaced" -gt 6000 ]
