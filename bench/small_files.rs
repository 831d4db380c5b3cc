//! Many small files through `send` and `receive`: what of the link's payload capacity they reach.
//!
//! `cargo run --release --example small_files [FILES] [--check]`
//!
//! FILES (10 000) files of 1–100 kB over an emulated link of 20 Mbit/s, 40 ms and 500 ms of buffer. The time counts from the
//! first packet of data-carrying size until the receiver's report that everything is stored reaches `send`. `--check` fails below 0.85.

mod support;

use afteryou_aqm::droptail::DropTail;
use afteryou_base::Span;
use afteryou_bed::relay::{Config, Direction, Link, Relay, Way};
use afteryou_bed::Clock;
use afteryou_scenario::{Buffer, Probability, Rate};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::path::Path;
use std::time::Duration;
use support::{free_address, noise, Result, Running, ETHERNET};

const LEAST: f64 = 0.85;
/// IPv4 and UDP; short header, stream frame header, tag: as in `send_beside`.
const OVERHEAD: f64 = 28.0 + 35.0;

fn make_files(folder: &Path, files: usize) -> Result<u64> {
    let mut random = Pcg64::seed_from_u64(1);
    let content = noise(2, 200_000);
    let mut all = 0;
    for i in 0..files {
        let directory = folder.join(format!("{:03}", i / 100));
        if i % 100 == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        let bytes = 1_000 + random.next_u32() as usize % 99_000;
        let from = random.next_u32() as usize % 100_000;
        std::fs::write(directory.join(format!("{i:05}.bin")), &content[from..from + bytes])?;
        all += bytes as u64;
    }
    Ok(all)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let check = words.iter().any(|word| word == "--check");
    let files = words.iter().find_map(|word| word.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir()?;
    let (source, far) = (folder.path().join("files"), folder.path().join("far"));
    std::fs::create_dir_all(&far)?;
    let content = make_files(&source, files)?;

    let server = free_address()?;
    let rate = Rate::from_mbit(20);
    let limit = "500 ms".parse::<Buffer>()?.limit(rate);
    let direction =
        || Direction { rate, loss: Probability::default(), queue: Box::new(DropTail::new(limit)) };
    let mut config = Config::new(1);
    config.records = true;
    let link = config.add_link(Link { name: "uplink".into(), forward: direction(), reverse: direction() });
    let flow = config.add_flow(link, server, Span::from_millis(40));
    let clock = Clock::start();
    let relay = Relay::start(config, clock)?;

    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a name that is not UTF-8");
    let (far_text, source_text) = (text(&far)?, text(&source)?);
    let (listen, front) = (server.to_string(), relay.front(flow).to_string());
    let words = ["receive", &far_text, "--listen", &listen, "--address", &front];
    let receive = Running::start(folder.path(), &[&words[..], &ETHERNET].concat())?;
    let ticket = receive.ticket()?;
    let words = ["send", &source_text, &ticket];
    let mut send = Running::start(folder.path(), &[&words[..], &ETHERNET].concat())?;
    let (mut first, mut largest) = (None, 0);
    let well = loop {
        for record in relay.drain_records().iter().filter(|record| record.way == Way::Forward) {
            largest = largest.max(record.size_bytes);
            first = first.or((record.size_bytes > 1000).then_some(record.arrived_at));
        }
        receive.drain();
        if let Some(well) = send.ended()? {
            break well;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let took_s = clock.now().since(first.ok_or("nothing was sent")?).as_secs_f64();
    if !well {
        return Err("send failed".into());
    }
    drop(receive);
    let statistics = relay.stop()?;
    let capacity = 20e6 / 8.0 * (f64::from(largest) - OVERHEAD) / f64::from(largest);
    let share = content as f64 / took_s / capacity;
    let arrived = walk(&far)?;
    println!("{files} files, {content} B in {took_s:.1} s: {:.2} Mbit/s", content as f64 * 8e-6 / took_s);
    println!("datagrams of {} B; share of payload capacity {share:.3} (asked: >= {LEAST})", largest - 28);
    println!(
        "emulation late, p99: {:.2} ms",
        statistics.lateness.map_or(0.0, |lateness| lateness.departures.p99_ms)
    );
    if arrived != (files as u64, content) {
        return Err(format!("{arrived:?} arrived instead of {:?}", (files, content)).into());
    }
    if check && share < LEAST {
        return Err("too slow".into());
    }
    Ok(())
}

/// Returns the number of files below a folder and their bytes.
fn walk(folder: &Path) -> Result<(u64, u64)> {
    let mut all = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let (files, bytes) = if metadata.is_dir() { walk(&entry.path())? } else { (1, metadata.len()) };
        all = (all.0 + files, all.1 + bytes);
    }
    Ok(all)
}
