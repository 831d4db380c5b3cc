//! Our CAKE beside Linux': one, two and eight CUBIC flows, with and without the mark of lower effort.
//!
//! `cargo run --release --example kernel_cake [--check]` prints the table; with `--check` it exits 1 if a figure is out of
//! bounds that is not known to be. `--kernel FOLDER` measures the kernel anew in the guest that `bench/kernel/build FOLDER` has made.
//!
//! The kernel's figures were taken with Debian's 6.1.192 in qemu whose clock counts instructions, so that the host's
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
//! there. Their CUBIC has Linux' HyStart and Reno-friendly region. Ours are means of sixteen seeds.

#[path = "support/kernel.rs"]
mod kernel;

use kernel::guest::{Lab, MEASURED_S};
use kernel::{Bounds, Figures, Method, Options};
use std::error::Error;
use std::process::ExitCode;

/// The link's rate by the shaper's.
const FASTER: f64 = 100.0;
/// The TOS byte with the mark of lower effort (RFC 8622).
const LE: u8 = 1 << 2;

const METHOD: Method = Method {
    seeds: 16,
    runs: 2,
    summary: Figures::mean,
    bounds: Bounds { share: 3.0, utilisation: 3.0, queue_ms: |kernel_ms| (0.15 * kernel_ms).max(1.0) },
};

/// A row of the kernel's table.
struct Row {
    name: &'static str,
    tins: &'static str,
    mbit: f64,
    flows: u32,
    /// How many of them are marked LE.
    marked: u32,
    /// The share is that of the flows without a mark, or of the first one if none has it.
    kernel: Figures,
}

const fn row(name: &'static str, mbit: f64, [flows, marked]: [u32; 2], kernel: [f64; 3]) -> Row {
    let [share, mean_ms, utilisation] = kernel;
    Row { name, tins: "diffserv3", mbit, flows, marked, kernel: Figures { share, mean_ms, utilisation } }
}

const ROWS: &[Row] = &[
    row("one", 10.0, [1, 0], [100.0, 2.0, 91.9]),
    Row { tins: "besteffort", ..row("two, besteffort", 10.0, [2, 0], [49.5, 3.1, 96.8]) },
    row("two, one marked", 10.0, [2, 1], [89.0, 6.8, 97.4]),
    Row { tins: "diffserv4", ..row("the same, diffserv4", 10.0, [2, 1], [88.7, 7.3, 97.7]) },
    row("two, one marked", 2.0, [2, 1], [92.3, 42.3, 100.0]),
    row("two, one marked", 50.0, [2, 1], [90.5, 2.1, 97.2]),
    row("eight", 4.0, [8, 0], [12.4, 19.8, 99.9]),
    row("eight", 6.0, [8, 0], [12.5, 12.6, 99.8]),
    row("eight", 8.0, [8, 0], [12.8, 9.9, 99.4]),
    row("eight", 10.0, [8, 0], [12.3, 7.7, 99.4]),
    row("eight, four marked", 10.0, [8, 4], [92.5, 11.3, 99.9]),
];

/// Returns moments within the first 100 ms, spread evenly.
fn starts_ms(seed: u64) -> Vec<f64> {
    (1..=8).map(|flow| (flow as f64 * 61.8 + seed as f64 * 38.2) % 100.0).collect()
}

impl Row {
    fn judged(&self) -> u32 {
        match self.marked {
            0 => 1,
            marked => self.flows - marked,
        }
    }

    fn file(&self, seed: u64) -> String {
        let flow = |name: &str, count: u32, role: &str, dscp: &str| {
            format!(
                "[[flow]]\nname = \"{name}\"\ncount = {count}\nrole = \"{role}\"\ncontroller = \"cubic,hystart=linux,friendly=linux\"\n\
                 transport = \"tcp,pacing=false\"\nrtt = \"60 ms\"\ndscp = \"{dscp}\"\nhost = \"sender\"\n\
                 start = {{ uniform = [\"0 s\", \"0.1 s\"] }}\n"
            )
        };
        let dscp = if self.marked > 0 { "le" } else { "default" };
        let others = self.flows - self.judged();
        let others = if others > 0 { flow("other", others, "background", dscp) } else { String::new() };
        let (from, to) = MEASURED_S;
        format!(
            "duration = \"{to} s\"\nseed = {seed}\nmeasure = {{ from = \"{from} s\" }}\n\
             [link]\nrate = \"{} Mbit/s\"\nbuffer = \"4 MB\"\nqueue = {{ kind = \"cake\", tins = \"{}\", bandwidth = {} }}\n{}{others}",
            FASTER * self.mbit,
            self.tins,
            self.mbit,
            flow("judged", self.judged(), "foreground", "default"),
        )
    }

    fn lab(&self) -> Lab {
        let tos = |flow| if flow < self.flows - self.marked { 0 } else { LE };
        let many_packets = self.mbit > 10.0 || (self.flows == 8 && self.marked == 0);
        Lab {
            queue: format!("cake bandwidth {}mbit {} overhead 0", self.mbit, self.tins),
            delay_ms: 30,
            flows: (0..self.flows).map(|flow| ("cubic", tos(flow))).collect(),
            starts_ms,
            shift: if many_packets { 0 } else { 1 },
            trace_s: None,
        }
    }

    fn compared(&'static self) -> kernel::Row {
        kernel::Row {
            name: self.name.to_owned(),
            mbit: self.mbit,
            faster: FASTER,
            file: Box::new(|seed| self.file(seed)),
            lab: self.lab(),
            judged: self.judged() as usize,
            is_alike: false,
            kernel: self.kernel,
            known: &[],
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    METHOD.compare(ROWS.iter().map(Row::compared), &Options::read()?)
}
