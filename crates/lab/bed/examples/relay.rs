//! An emulated link before a UDP server on this machine.
//!
//! ```text
//! cargo run --release --example relay -- RATE RTT BUFFER SERVER
//! cargo run --release --example relay -- 20Mbit/s 40ms 500ms 127.0.0.1:5000
//! ```
//!
//! Prints the address to use instead of the server's, then a line a second. Ends with Ctrl-C.

use afteryou_aqm::droptail::DropTail;
use afteryou_bed::relay::{Config, Direction, Fate, Link, Relay, Way};
use afteryou_bed::Clock;
use afteryou_scenario::{Buffer, Duration, Probability, Rate};
use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;

const USAGE: &str = "usage: relay RATE RTT BUFFER SERVER, such as: relay 20Mbit/s 40ms 500ms 127.0.0.1:5000";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("relay: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let [rate, rtt, buffer, server] = args else { return Err(USAGE.into()) };
    let (rate, rtt, buffer): (Rate, Duration, Buffer) = (rate.parse()?, rtt.parse()?, buffer.parse()?);
    let server: SocketAddr = server
        .parse()
        .map_err(|_| format!("{server:?} is not an address: write 127.0.0.1:5000 or [::1]:5000"))?;
    let direction = || Direction {
        rate,
        loss: Probability::default(),
        queue: Box::new(DropTail::new(buffer.limit(rate))),
    };

    let mut config = Config::new(1);
    let link = config.add_link(Link { name: "link".to_owned(), forward: direction(), reverse: direction() });
    let flow = config.add_flow(link, server, rtt.0);
    let relay = Relay::start(config, Clock::start())?;
    println!("{rate}, {rtt}, {buffer}: use {} instead of {server}", relay.front(flow));
    loop {
        thread::sleep(std::time::Duration::from_secs(1));
        report(&relay);
    }
}

/// Reports the bytes that passed each way since the last report.
fn report(relay: &Relay) {
    let records = relay.drain_records();
    for way in Way::BOTH {
        let (mut bytes, mut packets, mut dropped, mut waited_ms) = (0, 0, 0, 0.0);
        for record in records.iter().filter(|record| record.way == way) {
            let Fate::Sent { sojourn, .. } = record.fate else {
                dropped += 1;
                continue;
            };
            bytes += u64::from(record.size_bytes);
            packets += 1;
            waited_ms += sojourn.as_millis_f64();
        }
        let mean_ms = waited_ms / f64::from(packets.max(1));
        let mbit = bytes as f64 * 8e-6;
        print!(
            "{way} {mbit:7.3} Mbit/s, {packets:6} packets waited {mean_ms:6.1} ms, {dropped:4} dropped   "
        );
    }
    match relay.take_lateness() {
        Some(lateness) if lateness.spoiled() => {
            println!("machine too busy: {:.1} ms late", lateness.departures.p99_ms)
        }
        _ => println!(),
    }
}
