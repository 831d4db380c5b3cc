//! Measures the cost of a packet in each queue discipline: enqueued and dequeued, statistics on, in millions a second of one core.
//!
//! `cargo run --release --example queue_cost [RUNS] [--check] [QUEUE...]`
//!
//! Packets of 1500 B at 1 Gbit/s over a standing backlog of 100 packets, from 10 flows; the fair queues once more with 1000
//! flows. Some disciplines drop now and then, as they should: a drop counts as what it costs. RED's thresholds lie around
//! the backlog, so that it decides. Each figure is the best of RUNS (5). `--check` fails if one is below its bound, unless
//! the machine is slow. Then the bound is a multiple of the cost of a ring of the standard library. Both are measured in
//! turns, and the median of the ratios counts. A slow discipline is measured again before it is reported: a neighbour on the
//! same core may have been at work. Without the name of a QUEUE all are measured.

use afteryou_aqm::list::{find, QUEUES};
use afteryou_aqm::{Dropped, Limit, Packet, Queue, Site};
use afteryou_base::param::Value;
use afteryou_base::Time;
use rand_core::SeedableRng;
use rand_pcg::Pcg64;
use std::collections::VecDeque;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const PACKETS: u64 = 4_000_000;
const SIZE: u32 = 1500;
const BACKLOG: u64 = 100;
/// A packet at 1 Gbit/s, ns.
const STEP_NS: u64 = 12_000;
/// Discipline, number of flows, least million pairs a second.
const BOUNDS: [(&str, u32, f64); 5] = [
    ("droptail", 10, 50.0),
    ("codel", 10, 30.0),
    ("pie", 10, 30.0),
    ("red", 10, 30.0),
    ("fq_codel", 1000, 15.0),
];
/// How many times as much as the [`ring`] a packet may cost, for each ns of its bound: 2.3 times for DropTail.
const RINGS_PER_NS: f64 = 0.116;
/// How often what is too slow is measured again.
const TRIES: u32 = 4;

/// Returns the parameters that differ from the defaults.
fn overrides(name: &str) -> Vec<(&'static str, Value)> {
    match name {
        "red" | "le_red" | "choke" => vec![
            ("preset", Value::Choice("classic")),
            ("min_th", Value::Number(50.0)),
            ("max_th", Value::Number(150.0)),
        ],
        _ => Vec::new(),
    }
}

fn queue(name: &str) -> Result<Box<dyn Queue<u32>>, Box<dyn Error>> {
    let entry = find(name).ok_or("no such discipline")?;
    let site =
        Site { limit: Limit::Packets(1000), bits_per_second: 1_000_000_000, random: Pcg64::seed_from_u64(1) };
    Ok(entry.build(&overrides(name), site)?)
}

/// Returns the time of a packet, ns.
fn cost(name: &str, flows: u32) -> Result<f64, Box<dyn Error>> {
    let mut queue = queue(name)?;
    let mut dropped: Vec<Dropped<u32>> = Vec::with_capacity(64);
    let (mut flow, mut now) = (0, Time::ZERO);
    let mut pass = |packets: u64| {
        for _ in 0..packets {
            now.0 += STEP_NS;
            flow = if flow + 1 == flows { 0 } else { flow + 1 };
            queue.enqueue(now, Packet::from_tos(SIZE, flow, 0, flow), &mut dropped);
            if queue.backlog().packets > BACKLOG {
                black_box(queue.dequeue(now, &mut dropped));
            }
            dropped.clear();
        }
    };
    pass(10 * BACKLOG);
    let started = Instant::now();
    pass(PACKETS);
    Ok(started.elapsed().as_nanos() as f64 / PACKETS as f64)
}

/// Returns the time of a packet in a ring of the standard library, over the same backlog, ns.
fn ring() -> f64 {
    let mut ring = VecDeque::with_capacity(2 * BACKLOG as usize);
    let (mut flow, mut now) = (0, Time::ZERO);
    let started = Instant::now();
    for _ in 0..PACKETS {
        now.0 += STEP_NS;
        flow = if flow + 1 == 10 { 0 } else { flow + 1 };
        ring.push_back(black_box((now, Packet::from_tos(SIZE, flow, 0, flow))));
        if ring.len() as u64 > BACKLOG {
            black_box(ring.pop_front());
        }
    }
    started.elapsed().as_nanos() as f64 / PACKETS as f64
}

/// The costs that were measured in turns.
struct Measured {
    /// The best of all runs, ns.
    best: f64,
    /// The median of how many times as much as the ring.
    rings: f64,
}

fn measured(runs: u32, name: &str, flows: u32) -> Result<Measured, Box<dyn Error>> {
    let (mut best, mut ratios) = (f64::INFINITY, Vec::new());
    for _ in 0..runs.max(1) {
        let (reference, ns) = (ring(), cost(name, flows)?);
        best = best.min(ns);
        ratios.push(ns / reference);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(Measured { best, rings: ratios[ratios.len() / 2] })
}

/// Returns whether it is slower than `least` million packets a second.
fn is_too_slow(measured: &Measured, least: f64) -> bool {
    let most_ns = 1e3 / least;
    measured.best > most_ns && measured.rings > most_ns * RINGS_PER_NS
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let check = words.iter().any(|word| word == "--check");
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(5);
    let is_known = |word: &str| word == "--check" || word.parse::<u32>().is_ok() || find(word).is_some();
    if let Some(unknown) = words.iter().find(|word| !is_known(word)) {
        return Err(format!("{unknown} is no queue discipline; `afteryou list queues` names them").into());
    }
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let is_one_named = QUEUES.iter().any(|entry| is_named(entry.name));
    println!("{:<14} {:>5} {:>10} {:>10} {:>10}", "queue", "flows", "M pairs/s", "ns", "rings");
    let mut too_slow = Vec::new();
    for entry in QUEUES.iter().filter(|entry| !is_one_named || is_named(entry.name)) {
        for flows in [10, 1000] {
            if flows == 1000 && !(entry.name.contains("fq") || matches!(entry.name, "sfq" | "drr")) {
                continue;
            }
            cost(entry.name, flows)?;
            let first = measured(runs, entry.name, flows)?;
            println!(
                "{:<14} {flows:>5} {:>10.1} {:>10.1} {:>10.2}",
                entry.name,
                1e3 / first.best,
                first.best,
                first.rings
            );
            let bound = BOUNDS.iter().find(|(name, of, _)| (*name, *of) == (entry.name, flows));
            let Some((_, _, least)) = bound else { continue };
            let again = || measured(runs, entry.name, flows).is_ok_and(|again| is_too_slow(&again, *least));
            if is_too_slow(&first, *least) && (0..TRIES).all(|_| again()) {
                too_slow.push(entry.name);
            }
        }
    }
    if check && !too_slow.is_empty() {
        return Err(format!("slower than they should be: {}", too_slow.join(", ")).into());
    }
    Ok(())
}
