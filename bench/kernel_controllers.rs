//! Our Vegas, CDG and TCP-LP beside Linux': each beside CUBIC and NewReno, Vegas and CDG alone and by two, at 10 Mbit/s and 40 ms.
//!
//! `cargo run --release --example kernel_controllers [-- --check]` prints the table; with `--check` it exits 1 if a figure is out of
//! bounds that is not known to be. `--kernel FOLDER` measures the kernel anew in the guest that `bench/kernel/build FOLDER` has made.
//!
//! The kernel is Debian's 6.1.192 in qemu, whose clock counts instructions (2 ns each), so that the host's load is not part of the
//! figures. Network namespaces with veth between them: a sender, netem for 20 ms each way, a router and a receiver. On the router
//! netem sends 10 Mbit/s, counted from the IP header on, from a queue of one or four times what the path holds: 33 or 133 packets, besides
//! the one that is being sent. No offloads, ECN off, 1500 B packets, initial window 10, no pacing; 40 s measured from 14 s. The queue is
//! sampled every 5 ms.
//!
//! Both sides are medians of five runs. The share is the first flow's, or the larger one's of two that are alike. The flows of a run start
//! at the same moments in both: Vegas remembers for long what it meets first. The kernel's runs of this table began with the
//! resolution of addresses, which lets flows leave together; [`STARTS_MS`] are the moments that follow from it. Those of NewReno and CDG
//! over 33 packets began within the first 100 ms, after it. Left out are three runs of the first row (82.6 to 86.0 %) and four of that one
//! (76.8 to 81.4 %) with the other kind of start. From NewReno and CDG over 133 packets on, the guest resolved addresses before.
//!
//! Linux' TCP-LP does not yield, see the book. Its rows stand twice: beside our TCP-LP, which does, and with our NewReno in its place
//! (`lp=newreno`).

#[path = "support/kernel.rs"]
mod kernel;

use kernel::guest::{Lab, MEASURED_S};
use kernel::{Bounds, Figures, Known, Method, Options, Row};
use std::error::Error;
use std::process::ExitCode;

const MBIT: f64 = 10.0;
const RTT_MS: u32 = 40;
/// Packets that the path holds, and four times that.
const BUFFERS: [u32; 2] = [33, 133];

/// When the flows of each run start, ms. Vegas remembers for long what it meets first, so both sides have the same.
const STARTS_MS: [[f64; 2]; 5] = [[45.0, 50.0], [95.0, 60.0], [120.0, 120.0], [100.0, 100.0], [70.0, 70.0]];

/// Shares are to agree as those of the testbed's BBR do, the rest as the testbed's.
const METHOD: Method = Method {
    seeds: STARTS_MS.len() as u64,
    runs: STARTS_MS.len() as u64,
    summary: Figures::median,
    bounds: Bounds {
        share: 8.0,
        utilisation: 3.0,
        queue_ms: |kernel_ms| (0.15 * kernel_ms).max(if kernel_ms < 10.0 { 1.0 } else { 3.0 }),
    },
};

/// The kernel's names of the controllers, with ours behind `=` where it is another one; the packets of the buffer; the kernel's share, mean queue and utilisation.
type Measured = (&'static [&'static str], u32, [f64; 3], &'static [Known]);

/// Linux' TCP-LP beside another flow, for each buffer.
const BESIDE_CUBIC: [[f64; 3]; 2] = [[58.0, 26.7, 100.0], [59.0, 131.4, 100.0]];
const BESIDE_RENO: [[f64; 3]; 2] = [[50.7, 24.1, 99.9], [48.9, 118.1, 100.0]];
const YIELDS: &[Known] = &[Known::share(
    90.0,
    100.0,
    "ours yields, Linux' TCP-LP takes a NewReno's share: see the rows with lp=newreno",
)];

const ROWS: &[Measured] = &[
    (&["cubic", "vegas"], BUFFERS[0], [82.9, 32.6, 100.0], &[]),
    (&["cubic", "vegas"], BUFFERS[1], [90.5, 139.1, 100.0], &[]),
    (&["reno", "vegas"], BUFFERS[0], [87.8, 24.6, 99.9], &[]),
    (&["reno", "vegas"], BUFFERS[1], [93.0, 117.2, 100.0], &[]),
    (&["vegas", "vegas"], BUFFERS[0], [78.5, 16.0, 100.0], &[]),
    (&["vegas"], BUFFERS[0], [100.0, 3.7, 100.0], &[]),
    (&["cubic", "cdg"], BUFFERS[0], [73.0, 28.8, 100.0], &[]),
    (&["cubic", "cdg"], BUFFERS[1], [94.7, 139.5, 100.0], &[]),
    (&["reno", "cdg"], BUFFERS[0], [79.7, 24.0, 100.0], &[]),
    (&["reno", "cdg"], BUFFERS[1], [88.3, 111.8, 100.0], &[]),
    (&["cdg", "cdg"], BUFFERS[0], [58.0, 10.8, 98.6], &[]),
    (&["cdg"], BUFFERS[0], [100.0, 3.8, 93.4], &[]),
    (&["cubic", "lp"], BUFFERS[0], BESIDE_CUBIC[0], YIELDS),
    (&["cubic", "lp"], BUFFERS[1], BESIDE_CUBIC[1], YIELDS),
    (&["reno", "lp"], BUFFERS[0], BESIDE_RENO[0], YIELDS),
    (&["reno", "lp"], BUFFERS[1], BESIDE_RENO[1], YIELDS),
    (&["cubic", "lp=newreno"], BUFFERS[0], BESIDE_CUBIC[0], &[]),
    (&["cubic", "lp=newreno"], BUFFERS[1], BESIDE_CUBIC[1], &[]),
    (&["reno", "lp=newreno"], BUFFERS[0], BESIDE_RENO[0], &[]),
    (&["reno", "lp=newreno"], BUFFERS[1], BESIDE_RENO[1], &[]),
];

/// Returns the kernel's name of a flow's controller, and ours.
fn controllers(flow: &'static str) -> (&'static str, &'static str) {
    flow.split_once('=').unwrap_or_else(|| (flow, ours(flow)))
}

/// Returns ours for the kernel's name of a controller.
fn ours(kernel: &str) -> &str {
    match kernel {
        "cubic" => "cubic,hystart=linux,friendly=linux",
        "reno" => "newreno",
        "vegas" => "vegas,form=linux",
        "lp" => "tcp-lp,memory=linux",
        other => other,
    }
}

fn starts_ms(seed: u64) -> Vec<f64> {
    STARTS_MS[(seed as usize - 1) % STARTS_MS.len()].to_vec()
}

fn file(flows: &[&'static str], buffer: u32, seed: u64) -> String {
    let flow = |((name, role), start): ((&&'static str, &str), f64)| {
        format!(
            "[[flow]]\nname = \"{role}\"\nrole = \"{role}\"\ncontroller = \"{}\"\ntransport = \"tcp,pacing=false\"\n\
             rtt = \"{RTT_MS} ms\"\nstart = \"{start} ms\"\n",
            controllers(name).1
        )
    };
    let flows: String =
        flows.iter().zip(["foreground", "background"]).zip(starts_ms(seed)).map(flow).collect();
    let (from, to) = MEASURED_S;
    format!(
        "duration = \"{to} s\"\nseed = {seed}\nmeasure = {{ from = \"{from} s\" }}\n\
         [link]\nrate = \"{MBIT} Mbit/s\"\nbuffer = \"{buffer} packets\"\nqueue = \"droptail\"\n{flows}"
    )
}

fn row(&(flows, buffer, [share, mean_ms, utilisation], known): &Measured) -> Row {
    Row {
        name: format!("{}, {buffer} packets", flows.join(" : ")),
        mbit: MBIT,
        faster: 1.0,
        file: Box::new(move |seed| file(flows, buffer, seed)),
        lab: Lab {
            // Its limit counts the packet that is being sent.
            queue: format!("netem rate {MBIT}mbit -14 limit {}", buffer + 1),
            delay_ms: RTT_MS / 2,
            flows: flows.iter().map(|name| (controllers(name).0, 0)).collect(),
            starts_ms,
            shift: 1,
            trace_s: None,
        },
        judged: 1,
        is_alike: flows.len() == 2 && flows[0] == flows[1],
        kernel: Figures { share, mean_ms, utilisation },
        known,
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    METHOD.compare(ROWS.iter().map(row), &Options::read()?)
}
