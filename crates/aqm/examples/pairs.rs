//! How many packets each discipline takes and gives back per second, with its statistics.
//!
//! ```text
//! cargo run --release -p afteryou-aqm --example pairs [FLOWS] [PACKETS] [QUEUE]
//! ```
//! Packets of 1000 flows (or FLOWS) arrive in turn, each as another leaves; 100, 1000 and 10000 (or PACKETS) wait.
//! On a busy machine name one QUEUE and compare the user time of several runs instead: wall time says little there.
#![allow(clippy::disallowed_methods)] // it measures real time

use afteryou_aqm::list::QUEUES;
use afteryou_aqm::{Limit, Packet, Site};
use afteryou_cc::Time;
use rand_pcg::Pcg64;
use std::time::Instant;

const PAIRS: u64 = 20_000_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = words.iter().filter_map(|word| word.parse::<u64>().ok());
    let named = words.iter().find(|word| word.parse::<u64>().is_err());
    let flows = numbers.next().unwrap_or(1000).max(1);
    let backlogs: Vec<u64> = numbers.next().map_or(vec![100, 1000, 10_000], |packets| vec![packets]);
    for entry in QUEUES.iter().filter(|entry| named.is_none_or(|name| name == entry.name)) {
        for packets in &backlogs {
            let site = Site {
                limit: Limit::Packets(2 * packets),
                bits_per_second: 1 << 40,
                random: Pcg64::new(7, 9),
            };
            let mut queue = entry.build(&[], site).expect("its own defaults");
            let mut dropped = Vec::new();
            let mut arrive = |queue: &mut dyn afteryou_aqm::Queue<u64>, i: u64| {
                let packet = Packet::from_tos(1000, (i % flows) as u32, 0, i);
                // A packet each 10 ns: no delay that a discipline would act upon.
                queue.enqueue(Time(10 * i), packet, &mut dropped);
            };
            (0..*packets).for_each(|i| arrive(&mut *queue, i));
            let (start, mut left) = (Instant::now(), 0u64);
            for i in *packets..packets + PAIRS {
                arrive(&mut *queue, i);
                left += u64::from(queue.dequeue(Time(10 * i), &mut Vec::new()).is_some());
            }
            let rate = left as f64 / start.elapsed().as_secs_f64() / 1e6;
            println!("{:14} {packets:6} packets of {flows} flows: {rate:6.1} M pairs/s", entry.name);
        }
    }
}
