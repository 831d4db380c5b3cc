//! `afteryou` in the kernel of this machine: a short queue of its own, a link left to CUBIC, and a return.

use crate::network::{send, Network, Report, RATE};
use std::time::{Duration, Instant};

const NAME: &str = "afteryou";
const SECOND: Duration = Duration::from_secs(1);
/// When CUBIC comes, when it leaves, and the end.
const ARRIVAL: u32 = 8;
const STAY: u32 = 10;
const END: u32 = 23;
/// Payload of the link's packets with TCP's timestamps and Ethernet, as a part.
const PAYLOAD: f64 = 1448.0 / 1514.0;

/// Returns the part of the link's payload that a connection had from one time to another.
fn share(reports: &[Report], from: Instant, to: Instant) -> f64 {
    let within: Vec<&Report> = reports.iter().filter(|report| (from..to).contains(&report.at)).collect();
    let [first, .., last] = within[..] else { panic!("two reports") };
    let bytes = (last.acked - first.acked) as f64;
    bytes * 8.0 / (last.at - first.at).as_secs_f64() / RATE / PAYLOAD
}

/// A run beside CUBIC, and another without.
struct Course {
    /// The share alone, and the round-trip time that 95 % of the reports alone do not exceed, ms.
    alone: f64,
    rtt_ms: f64,
    /// The part of its goodput that CUBIC keeps over its stay, and from 2 s on.
    kept: [f64; 2],
    /// The share after CUBIC has gone.
    after: f64,
}

impl Course {
    /// Runs. `other` is a network without `afteryou`.
    fn run(network: &Network, other: &Network) -> Course {
        let began = Instant::now();
        let at = |s: u32| began + s * SECOND;
        std::thread::scope(|threads| {
            let polite = threads.spawn(|| network.measure(NAME, Duration::ZERO, END * SECOND).unwrap());
            std::thread::sleep(ARRIVAL * SECOND);
            let cubic = || {
                let stay = Instant::now();
                let reports = |network: &Network| {
                    network.measure("cubic", Duration::ZERO, STAY * SECOND).unwrap().reports
                };
                (stay, reports)
            };
            let without = threads.spawn(move || {
                let (stay, reports) = cubic();
                (stay, reports(other))
            });
            let (stay, reports) = cubic();
            let beside = reports(network);
            let (other_stay, without) = without.join().unwrap();
            let kept = [0, 2].map(|from| {
                let part =
                    |reports: &[Report], stay| share(reports, stay + from * SECOND, stay + STAY * SECOND);
                part(&beside, stay) / part(&without, other_stay)
            });
            let mut polite = polite.join().unwrap();
            let after = share(&polite.reports, at(END - 3), at(END));
            polite.reports.retain(|report| (at(3)..at(ARRIVAL)).contains(&report.at));
            Course {
                alone: share(&polite.reports, at(3), at(ARRIVAL)),
                rtt_ms: polite.rtt_ms(0.95),
                kept,
                after,
            }
        })
    }

    /// Prints the figures and returns those that miss their bounds.
    fn misses(&self) -> Vec<&'static str> {
        let Course { alone, rtt_ms, kept: [stay, late], after } = self;
        println!("afteryou: {alone:.3} of the link and {rtt_ms:.1} ms alone; CUBIC keeps {stay:.3}, {late:.3} from 2 s on; {after:.3} after it");
        let bounds = [
            ("share alone", *alone >= 0.93),
            ("queue alone", *rtt_ms <= 25.0),
            ("kept over the stay", *stay >= 0.92),
            ("kept from 2 s on", *late >= 0.98),
            ("share after CUBIC", *after >= 0.93),
        ];
        bounds.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
    }
}

// A host without a processor to spare leaves the link idle, so that is measured up to three times.
pub fn it_yields_to_cubic_and_comes_back(network: &Network) {
    let other = Network::new().unwrap();
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    if !available.split_whitespace().any(|name| name == "cubic") {
        return eprintln!("SKIPPED: afteryou beside CUBIC: this kernel has no CUBIC");
    }
    let missed: Vec<_> = (0..3)
        .map(|_| Course::run(network, &other).misses())
        .take_while(|misses| !misses.is_empty())
        .collect();
    assert!(missed.len() < 3, "{missed:?}");
}

// Six packets a second are the least at the floor: there the pauses are longer than a retransmission timeout, and are no idle time.
pub fn it_comes_back_on_a_slow_link() {
    const SLOW: f64 = 4e6;
    let network = Network::new().unwrap();
    // A short queue: the timeout is short, too.
    network.change(SLOW, 24_000).unwrap();
    let came_back = || {
        let began = Instant::now();
        let reports = std::thread::scope(|threads| {
            let polite = threads.spawn(|| network.measure(NAME, Duration::ZERO, 16 * SECOND).unwrap());
            std::thread::sleep(4 * SECOND);
            network.measure("reno", Duration::ZERO, 5 * SECOND).unwrap();
            polite.join().unwrap().reports
        });
        let part = |from, to| share(&reports, began + from * SECOND, began + to * SECOND) * RATE / SLOW;
        let (beside, after) = (part(7, 9), part(12, 16));
        println!("afteryou at 4 Mbit/s: {beside:.3} of the link beside Reno, {after:.3} after it");
        beside <= 0.1 && after >= 0.8
    };
    assert!((0..3).any(|_| came_back()));
}

// Five seconds of the link, one of the interruption, and a timeout that has doubled.
pub fn an_interruption_is_survived(network: &Network) {
    let (mut socket, mut peer) = network.connect(NAME).unwrap();
    let began = Instant::now();
    std::thread::scope(|threads| {
        threads.spawn(|| send(&mut socket, &mut peer, 12_000_000).unwrap());
        std::thread::sleep(2 * SECOND);
        network.interrupt(SECOND);
    });
    let took = began.elapsed();
    assert!(took < 9 * SECOND, "stuck after an interruption: {took:?}");
}
