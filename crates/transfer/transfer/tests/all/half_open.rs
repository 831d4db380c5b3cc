//! Strangers who begin handshakes by the ten thousand and end none of them.
//!
//! The listening side is a process of its own, so that its memory can be measured: the first part of a test here.
//! All 100 000: `cargo test --release -p afteryou-transfer --test all half_open -- --ignored --nocapture`.

use crate::alone;
use afteryou_transfer::dial::{udp_socket, Dialer};
use afteryou_transfer::guard::{Guard, Limits};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::ticket::{Role, Secret, Ticket};
use afteryou_transfer::tls::{self, Admission};
use quinn::{Endpoint, EndpointConfig, TokioRuntime};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SECRET: [u8; 16] = [9; 16];
const MAX_GROWTH_MB: f64 = 64.0;

/// One in this number sends garbage instead of a first packet.
const GARBAGE_EVERY: usize = 10;

/// One in this number has a real address: it answers the Retry and then falls silent.
const PERSISTENT_EVERY: usize = 20;

/// Addresses of those.
const ADDRESSES: u8 = 200;

/// Runs the listening side, until it is killed.
fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let identity = Identity::ephemeral().unwrap();
        let limits = Limits::default();
        let admission = Admission { role: Role::Receive, secret: Secret::new(SECRET) };
        let mut config = tls::server(&identity, &[admission]).unwrap();
        limits.apply(&mut config);
        let endpoint = Endpoint::server(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let ticket = Ticket {
            role: Role::Receive,
            fingerprint: identity.fingerprint(),
            secret: Secret::new(SECRET),
            addresses: vec![endpoint.local_addr().unwrap().into()],
        };
        println!("\n{}", ticket.to_line().unwrap());
        let mut guard =
            Guard::new(endpoint, limits).on_refusals(Box::new(|counters| println!("\n{counters}")));
        while let Some(connection) = guard.accept().await {
            tokio::spawn(async move {
                while let Ok((mut send, mut receive)) = connection.accept_bi().await {
                    let said = receive.read_to_end(1000).await.unwrap_or_default();
                    let _ = send.write_all(&said).await;
                    let _ = send.finish();
                }
            });
        }
    });
}

struct Server {
    child: Child,
    ticket: Ticket,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start() -> Server {
        let test = "half_open::five_thousand_half_open_attempts_cost_bounded_memory_and_keep_nobody_out";
        let mut child = alone::again(test, "").stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ticket = lines.by_ref().find_map(|line| line.unwrap().parse().ok()).unwrap();
        // What it prints of its guests appears in this test's output.
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .filter(|line| line.contains("handshakes"))
                .for_each(|line| println!("{line}"))
        });
        Server { child, ticket }
    }

    fn address(&self) -> SocketAddr {
        self.ticket.addresses[0].to_string().parse().unwrap()
    }

    /// Returns the memory that is in use. `None` where the system does not report it.
    fn resident_mb(&self) -> Option<f64> {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).ok()?;
        let pages: f64 = statm.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * 4096.0 / 1e6)
    }
}

/// Connects as a right client; returns how long until it is understood.
async fn visit(ticket: &Ticket) -> Result<Duration, Box<dyn std::error::Error>> {
    let began = Instant::now();
    let endpoint = Endpoint::new(EndpointConfig::default(), None, udp_socket(0)?, Arc::new(TokioRuntime))?;
    let connection = Dialer::new(endpoint, ticket, |_| Arc::default())?.dial().await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(b"it is me").await?;
    send.finish()?;
    assert_eq!(receive.read_to_end(1000).await?, b"it is me");
    Ok(began.elapsed())
}

/// Sends the first packets of `count` handshakes that never continue.
fn attack(server: SocketAddr, wrong: &Ticket, count: usize) {
    let config = tls::client(wrong).unwrap();
    let sockets: Vec<UdpSocket> = (0..ADDRESSES)
        .filter_map(|index| UdpSocket::bind((Ipv4Addr::new(127, 0, 1, index), 0)).ok())
        .collect();
    let fallback = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let socket_of = |index: usize| sockets.get(index % usize::from(ADDRESSES)).unwrap_or(&fallback);
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut strangers = new_strangers();
    for index in 0..count {
        if index % 1000 == 0 {
            // It remembers each handshake, which is not what is measured here.
            strangers = new_strangers();
        }
        if index % GARBAGE_EVERY == 0 {
            let mut garbage = vec![0; 1200];
            random.fill_bytes(&mut garbage);
            garbage[..5].copy_from_slice(&[0xc3, 0, 0, 0, 1]);
            let _ = fallback.send_to(&garbage, server);
            continue;
        }
        let (_, mut connection) =
            strangers.connect(Instant::now(), config.clone(), server, "afteryou").unwrap();
        let persistent = index % PERSISTENT_EVERY == 1;
        let socket = if persistent { socket_of(index / PERSISTENT_EVERY) } else { &fallback };
        send_what_it_has(&mut connection, socket, server);
        if persistent {
            answer_retry(&mut strangers, &mut connection, socket, server);
        }
    }
}

fn new_strangers() -> quinn_proto::Endpoint {
    quinn_proto::Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None)
}

fn send_what_it_has(connection: &mut quinn_proto::Connection, socket: &UdpSocket, server: SocketAddr) {
    let mut datagram = Vec::new();
    while connection.poll_transmit(Instant::now(), 1, &mut datagram).is_some() {
        let _ = socket.send_to(&datagram, server);
        datagram.clear();
    }
}

/// Takes the first answer, a Retry when there are many, and sends what follows: the first packet again with the token.
fn answer_retry(
    strangers: &mut quinn_proto::Endpoint,
    connection: &mut quinn_proto::Connection,
    socket: &UdpSocket,
    server: SocketAddr,
) {
    let mut answer = [0; 2000];
    socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    // Late packets of this address's earlier handshakes may come before it.
    for _ in 0..16 {
        let Ok((length, _)) = socket.recv_from(&mut answer) else { return };
        let event =
            strangers.handle(Instant::now(), server, None, None, answer[..length].into(), &mut Vec::new());
        if let Some(quinn_proto::DatagramEvent::ConnectionEvent(_, event)) = event {
            connection.handle_event(event);
            return send_what_it_has(connection, socket, server);
        }
    }
}

fn survives(count: usize) {
    let server = Server::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(visit(&server.ticket)).expect("before");
    let before = server.resident_mb();
    let wrong = Ticket { secret: Secret::new([1; 16]), ..server.ticket.clone() };
    let address = server.address();
    let began = Instant::now();
    let attacker = std::thread::spawn(move || attack(address, &wrong, count));
    let (mut peak, mut visits, mut slowest) = (before, 0, Duration::ZERO);
    while !attacker.is_finished() {
        slowest = slowest.max(runtime.block_on(visit(&server.ticket)).expect("during"));
        visits += 1;
        if let (Some(highest), Some(now)) = (peak, server.resident_mb()) {
            peak = Some(f64::max(highest, now));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    attacker.join().unwrap();
    let took = began.elapsed();
    let after = runtime.block_on(visit(&server.ticket)).expect("afterwards");
    println!(
        "{count} attempts in {took:.1?}: memory {before:.1?} MB before, {peak:.1?} MB at most; \
         {visits} right clients got in during it, the slowest after {slowest:.2?}; afterwards in {after:.2?}"
    );
    assert!(visits > 0);
    if let (Some(before), Some(peak)) = (before, peak) {
        assert!(peak - before < MAX_GROWTH_MB, "grew from {before} MB to {peak} MB");
    }
}

#[test]
fn five_thousand_half_open_attempts_cost_bounded_memory_and_keep_nobody_out() {
    if alone::part().is_some() {
        return serve();
    }
    survives(5_000);
}

#[test]
#[ignore = "takes a quarter of a minute: the command is at the top of this file"]
fn a_hundred_thousand_half_open_attempts_cost_bounded_memory_and_keep_nobody_out() {
    survives(100_000);
}
