//! Our CAKE beside Linux': one, two and eight CUBIC flows, with and without the mark of lower effort.
//!
//! `cargo run --release --example kernel_cake [--check]` prints the table; with `--check` it exits 1 if a figure is out of
//! bounds that is not known to be.
//!
//! The kernel's figures were taken once, with Debian's 6.1.192 in qemu whose clock counts instructions, so that the host's
//! load is not part of them. Network namespaces with veth between them: a sender, netem for 30 ms each way, a router and a
//! receiver. On the router `cake bandwidth … overhead 0`, which counts a packet from its IP header on, as we do. No
//! offloads, ECN off, 1500 B packets, initial window 10, HyStart on, no pacing; 40 s measured from 14 s. The flows start
//! within the first 100 ms. The queue is the backlog over time, sampled every 5 ms, and the utilisation what CAKE has sent.
//!
//! The figures are means of two runs; the first row with a mark is of four (6.78 to 6.98 ms), those at 50 Mbit/s and with eight flows at 4
//! and 8 Mbit/s of one. The guest's boots are almost the same, so two runs do not show the spread. An instruction counts as 2 ns, and as
//! 1 ns at 50 Mbit/s and with eight flows without a mark. These took the place of runs at 2 ns, which missed samples and had 8.8 ms and
//! 97.2 % at 10 Mbit/s: within the bounds, too, from a guest that was probably too slow.
//!
//! In the simulator CAKE has the same shaper, before a link that is a hundred times as fast. All flows are of one host, as
//! there. Ours are means of sixteen seeds.

use afteryou_scenario_file::Experiment;
use std::error::Error;
use std::ops::ControlFlow;
use std::process::ExitCode;

const SEEDS: u64 = 16;
/// A packet of 1500 B at 1 Mbit/s.
const PACKET_MS: f64 = 12.0;
/// The link's rate by the shaper's.
const FASTER: f64 = 100.0;
/// Largest differences in points: of shares, and of the utilisation.
const POINTS: f64 = 3.0;
/// Largest difference of the mean queue, as a part of the kernel's and ms; the larger one counts.
const QUEUE: (f64, f64) = (0.15, 1.0);

/// Name of the mean queue among the figures.
const QUEUE_NAME: &str = "mean queue";

/// A row of the kernel's table.
struct Row {
    name: &'static str,
    tins: &'static str,
    mbit: f64,
    flows: u32,
    /// How many of them are marked LE.
    marked: u32,
    kernel: Figures,
    /// A mean queue that is out of bounds: from, to, and why.
    known: Option<(f64, f64, &'static str)>,
}

/// The share of the goodput, %, of the flows without a mark, or of the first one if none has it; the mean queue, ms; the utilisation, %.
#[derive(Clone, Copy, Default)]
struct Figures {
    share: f64,
    mean_ms: f64,
    utilisation: f64,
}

const fn row(name: &'static str, mbit: f64, [flows, marked]: [u32; 2], kernel: [f64; 3]) -> Row {
    let [share, mean_ms, utilisation] = kernel;
    Row {
        name,
        tins: "diffserv3",
        mbit,
        flows,
        marked,
        kernel: Figures { share, mean_ms, utilisation },
        known: None,
    }
}

/// Open. The difference is a packet's time, 1.2 ms; which tin holds it has not been looked at. The row with four tins, in which the same
/// two are used, is within the bounds.
const OPEN: Option<(f64, f64, &str)> = Some((7.5, 8.5, "an open difference, whose cause is not known"));

const ROWS: &[Row] = &[
    row("one", 10.0, [1, 0], [100.0, 2.0, 91.9]),
    Row { tins: "besteffort", ..row("two, besteffort", 10.0, [2, 0], [49.5, 3.1, 96.8]) },
    Row { known: OPEN, ..row("two, one marked", 10.0, [2, 1], [89.0, 6.8, 97.4]) },
    Row { tins: "diffserv4", ..row("the same, diffserv4", 10.0, [2, 1], [88.7, 7.3, 97.7]) },
    row("two, one marked", 2.0, [2, 1], [92.3, 42.3, 100.0]),
    row("two, one marked", 50.0, [2, 1], [90.5, 2.1, 97.2]),
    row("eight", 4.0, [8, 0], [12.4, 19.8, 99.9]),
    row("eight", 6.0, [8, 0], [12.5, 12.6, 99.8]),
    row("eight", 8.0, [8, 0], [12.8, 9.9, 99.4]),
    row("eight", 10.0, [8, 0], [12.3, 7.7, 99.4]),
    row("eight, four marked", 10.0, [8, 4], [92.5, 11.3, 99.9]),
];

fn file(row: &Row, seed: u64) -> String {
    let flow = |name: &str, count: u32, role: &str, dscp: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\ncount = {count}\nrole = \"{role}\"\ncontroller = \"cubic,hystart=true\"\n\
             transport = \"tcp,pacing=false\"\nrtt = \"60 ms\"\ndscp = \"{dscp}\"\nhost = \"sender\"\n\
             start = {{ uniform = [\"0 s\", \"0.1 s\"] }}\n"
        )
    };
    let judged = if row.marked > 0 { row.flows - row.marked } else { 1 };
    let dscp = if row.marked > 0 { "le" } else { "default" };
    let others = row.flows - judged;
    let others = if others > 0 { flow("other", others, "background", dscp) } else { String::new() };
    format!(
        "duration = \"54 s\"\nseed = {seed}\nmeasure = {{ from = \"14 s\" }}\n\
         [link]\nrate = \"{} Mbit/s\"\nbuffer = \"4 MB\"\nqueue = {{ kind = \"cake\", tins = \"{}\", bandwidth = {} }}\n{}{others}",
        FASTER * row.mbit,
        row.tins,
        row.mbit,
        flow("judged", judged, "foreground", "default"),
    )
}

/// Returns the means over the seeds.
fn simulated(row: &Row) -> Result<Figures, Box<dyn Error>> {
    let mut sum = Figures::default();
    for seed in 1..=SEEDS {
        let experiment = Experiment::parse(&file(row, seed), row.name, &[])?;
        for planned in experiment.runs(None, None)? {
            let run = afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()))?.run;
            let link = run.windows[0].bottleneck().cloned().unwrap_or_default();
            let part = 1.0 / SEEDS as f64;
            sum.share += part * 100.0 * link.foreground_share.unwrap_or_default();
            sum.mean_ms += part * link.queue_packets.unwrap_or_default() * PACKET_MS / row.mbit;
            sum.utilisation += part * 100.0 * FASTER * link.utilisation;
        }
    }
    Ok(sum)
}

/// Returns which figures are out of bounds.
fn misses(ours: Figures, kernel: Figures) -> impl Iterator<Item = &'static str> {
    let queue = (QUEUE.0 * kernel.mean_ms).max(QUEUE.1);
    [
        ("share", (ours.share - kernel.share).abs() > POINTS),
        (QUEUE_NAME, (ours.mean_ms - kernel.mean_ms).abs() > queue),
        ("utilisation", (ours.utilisation - kernel.utilisation).abs() > POINTS),
    ]
    .into_iter()
    .filter_map(|(what, is_out)| is_out.then_some(what))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let check = std::env::args().any(|word| word == "--check");
    println!(
        "{:<20} {:>6} {:>15} {:>17} {:>15}",
        "kernel / ours", "Mbit/s", "share %", "queue mean, ms", "utilisation %"
    );
    let mut fine = true;
    for row in ROWS {
        let (ours, kernel) = (simulated(row)?, row.kernel);
        println!(
            "{:<20} {:>6} {:>7.1} {:>7.1} {:>8.1} {:>8.1} {:>7.1} {:>7.1}",
            row.name,
            row.mbit,
            kernel.share,
            ours.share,
            kernel.mean_ms,
            ours.mean_ms,
            kernel.utilisation,
            ours.utilisation,
        );
        for what in misses(ours, kernel) {
            let known =
                row.known.filter(|(from, to, _)| what == QUEUE_NAME && (*from..=*to).contains(&ours.mean_ms));
            fine &= known.is_some();
            println!("    {what} is out of bounds: {}", known.map_or("not explained", |(.., reason)| reason));
        }
    }
    Ok(if fine || !check { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
