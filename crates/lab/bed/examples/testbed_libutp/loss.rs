//! Goodput under random loss, alone on a link: the real libutp beside our uTP with libutp's controller and our own recovery.

use super::senders::{flow, scenario, Failure, Sender};
use afteryou_base::{Span, Time};
use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario::passage::{Content, Fate, Passage};
use afteryou_utp::packet::{Kind, Packet};
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Loss in the direction of the data, %.
const LOSSES: [u32; 2] = [1, 5];
/// Least goodput of ours, as a part of libutp's.
const LEAST: f64 = 0.97;
/// Headers of IPv4 and UDP, bytes.
const HEADERS: usize = 28;
/// Beds at once. A sender under loss leaves most of a core idle.
const AT_ONCE: usize = 3;

/// Acknowledged data of a flow.
#[derive(Default)]
struct Goodput {
    /// Highest packet number acknowledged in order, counted on beyond 16 bits from the first one seen.
    acknowledged: Option<u64>,
    payload: u64,
    data_packets: u64,
}

impl Goodput {
    fn see(&mut self, passage: &Passage<'_>) {
        let Content::Whole { packet } = passage.content else { return };
        let Some(Ok(packet)) = packet.get(HEADERS..).map(Packet::decode) else { return };
        match (passage.is_reply, packet.header.kind) {
            (false, Kind::Data) if passage.fate == Fate::Sent => {
                self.payload += packet.payload.len() as u64;
                self.data_packets += 1;
            }
            (true, Kind::State) => {
                let newest = *self.acknowledged.get_or_insert(1 << 32 | u64::from(packet.header.ack_nr.0));
                let step = packet.header.ack_nr.0.wrapping_sub(newest as u16) as i16;
                self.acknowledged = Some(newest + u64::from(step.max(0) as u16));
            }
            _ => {}
        }
    }

    /// Returns the packets acknowledged since the first acknowledgement, in bytes of mean payload.
    fn bytes(&self, first: u16) -> f64 {
        let packets = self.acknowledged.unwrap_or(0).saturating_sub(1 << 32 | u64::from(first));
        packets as f64 * self.payload as f64 / self.data_packets.max(1) as f64
    }
}

/// Makes one run: returns goodput, Mbit/s, and whether the host was fast enough.
fn measure(
    sender: Sender,
    peer: &str,
    percent: u32,
    seed: u64,
    seconds: u64,
) -> Result<(f64, bool), Failure> {
    let link = format!("rate = \"20 Mbit/s\"\nbuffer = \"200 ms\"\nloss = \"{percent} %\"\n");
    let mut scenario = scenario(&link, &flow(sender, peer, 50, seconds), seconds)?.into_scenario();
    scenario.seed = seed;
    let scenario = scenario.checked()?;
    let mut goodput = Goodput::default();
    let end = Time::ZERO + Span::from_secs(seconds);
    let mut first = None;
    let mut see = |passage: &Passage<'_>| {
        if passage.at < end {
            goodput.see(passage);
            first = first.or(goodput.acknowledged.map(|number| number as u16));
        }
    };
    let outcome =
        testbed::tapped(&scenario, &Options::default(), &mut |_| ControlFlow::Continue(()), Some(&mut see))?;
    let on_time = outcome.run.lateness.is_none_or(|late| !late.spoiled());
    Ok((goodput.bytes(first.unwrap_or(0)) * 8.0 / 1e6 / seconds as f64, on_time))
}

/// Prints a row for each rate of loss. Returns false if ours is below its bound.
pub(super) fn run(peer: &str, seconds: u64, seeds: u64) -> Result<bool, Failure> {
    println!("| loss | the real libutp, Mbit/s | ours, Mbit/s | ours / libutp |");
    println!("|--:|--:|--:|--:|");
    let mut all_met = true;
    for percent in LOSSES {
        let work = Mutex::new(
            (1..=seeds).flat_map(|seed| [Sender::Libutp, Sender::Ours].map(|sender| (sender, seed))),
        );
        let found = Mutex::new(Vec::new());
        let one = || -> Result<(), Failure> {
            loop {
                let next = work.lock().map_err(|_| "a run has panicked")?.next();
                let Some((sender, seed)) = next else { return Ok(()) };
                let (mbit, on_time) = measure(sender, peer, percent, seed, seconds)?;
                if !on_time {
                    eprintln!("{}, {percent} %, seed {seed}: the host was too slow", sender.name());
                }
                found.lock().map_err(|_| "a run has panicked")?.push((sender, mbit));
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(one)).collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a run has panicked".into())))
        })?;
        let found = found.into_inner().map_err(|_| "a run has panicked")?;
        let mean = |wanted| {
            let of = found.iter().filter(|(sender, _)| *sender == wanted).map(|(_, mbit)| mbit);
            of.sum::<f64>() / seeds as f64
        };
        let [libutp, ours] = [Sender::Libutp, Sender::Ours].map(mean);
        println!("| {percent} % | {libutp:.2} | {ours:.2} | {:.2} |", ours / libutp);
        all_met &= ours >= LEAST * libutp;
    }
    Ok(all_met)
}
