//! Sends 10 MB both ways between our uTP and other implementations. Each goes over a network without losses, one that loses
//! 1 % in each direction, and one that reorders. Every byte is compared.
//!
//! ```sh
//! foreign/build                                                    # utp-native, anacrolix/utp, go-libutp
//! cargo run --release -p afteryou-interop --features librqbit --example foreign -- --check [--mb 10] [--only NAME]
//! ```
//! `--check` exits with 1 if a transfer fails. A peer that was not built is SKIPPED. Ours has LEDBAT++ without losses and libutp's controller
//! with them, where LEDBAT++ takes minutes. Peers: libutp, librqbit, utp-native, anacrolix, go-libutp.

mod network;
mod peers;

use afteryou_base::Dscp;
use afteryou_cc::list;
use afteryou_utp::{Endpoint, EndpointConfig};
use anyhow::{ensure, Context};
use network::{Manner, Network};
use peers::{Peer, PEERS};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A transfer that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(120);

const MANNERS: [(&str, Manner); 3] = [
    ("no loss", Manner { lost_per_mille: 0, late_per_mille: 0 }),
    ("1 % lost", Manner { lost_per_mille: 10, late_per_mille: 0 }),
    ("2 % late", Manner { lost_per_mille: 0, late_per_mille: 20 }),
];

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "--as") {
        return peers::run(&words[1..]).await.map(|()| ExitCode::SUCCESS);
    }
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let mb: usize = after("--mb").map_or(Ok(10), |mb| mb.parse())?;
    let data = Arc::new(peers::pattern(mb * 1_000_000));
    let mut is_met = true;
    for peer in PEERS.iter().filter(|peer| after("--only").is_none_or(|only| *only == peer.name)) {
        if let Some(reason) = peer.missing() {
            println!("SKIPPED: {}: {reason}", peer.name);
            continue;
        }
        for (name, manner) in MANNERS {
            for (way, is_there) in [("ours to it", true), ("it to ours", false)] {
                let began = Instant::now();
                let transfer = transfer(peer, manner, is_there, &data);
                let result =
                    tokio::time::timeout(PATIENCE, transfer).await.context("it takes too long").flatten();
                let took = began.elapsed().as_secs_f64();
                is_met &= result.is_ok();
                match result {
                    Ok(payload) => {
                        println!(
                            "{:12} {name:9} {way}: {took:6.2} s, all equal, payload {payload}",
                            peer.name
                        );
                    }
                    Err(error) => {
                        println!("{:12} {name:9} {way}: {took:6.2} s, FAILED: {error:#}", peer.name)
                    }
                }
            }
        }
    }
    let checks = words.iter().any(|word| word == "--check");
    Ok(if checks && !is_met { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn config(manner: Manner) -> EndpointConfig {
    match (manner.lost_per_mille, list::find("libutp")) {
        (1.., Some(libutp)) => {
            let make = move |setup| libutp.build(&[], setup).expect("its defaults are valid");
            EndpointConfig::new(Arc::new(make), Dscp::DEFAULT)
        }
        _ => EndpointConfig::background(),
    }
}

/// Returns the payload of our full packets in the end: 1452 bytes if the peer takes probes of the path MTU.
async fn transfer(peer: &Peer, manner: Manner, is_there: bool, data: &Arc<Vec<u8>>) -> anyhow::Result<u32> {
    let endpoint = Endpoint::bind(SocketAddr::from(([127, 0, 0, 1], 0)), config(manner))?;
    if is_there {
        let mut receiving = peer.receive()?;
        let network = Network::start(receiving.address()?, manner).await?;
        let mut stream = endpoint.connect(network.address).await?;
        stream.write_all(data).await?;
        stream.shutdown().await?;
        let got = tokio::task::spawn_blocking(move || receiving.finish()).await??;
        ensure!(got == peers::digest(data), "it has {got}");
        return Ok(stream.statistics().payload);
    }
    let network = Network::start(endpoint.local_addr()?, manner).await?;
    let _sending = peer.send(network.address, data.len())?;
    let mut stream = endpoint.accept().await?;
    let mut received = Vec::new();
    let read = stream.read_to_end(&mut received).await;
    ensure!(received == **data, "{} bytes have arrived: {read:?}", received.len());
    Ok(stream.statistics().payload) // not all of them acknowledge an end of ours that comes after theirs
}
