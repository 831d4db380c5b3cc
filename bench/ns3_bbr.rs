//! ns-3's BBR beside ours: both versions 1, alone, beside CUBIC and by two, over paths of 10 Mbit/s.
//!
//! `cargo run --release -p afteryou-engines --example ns3_bbr [-- --rows TEXT]` prints the table. ns-3's figures are those measured before;
//! `--ns3 FOLDER` measures them anew with the program that `bench/ns3/build FOLDER` has made, in five minutes of processor time.
//!
//! ns-3 is 3.44 with its defaults, except for the initial window (10 packets), packets of 1500 B, buffers of 16 MB at the endpoints, an RTO of
//! at least 200 ms and a timer of acks of 40 ms, as here. All flows leave one host over a fast link. The only queue is DropTail. Flows start
//! within the first 100 ms, at random. Measured are 40 s from 15 s. Figures are medians of five seeds, and of nine where BBR
//! meets CUBIC. The share is BBR's of the goodput, or the larger one of two that are alike. Queues are the packets' mean,
//! without the packet that is being sent.

use afteryou_engines::{find, Choices, Plan, Pool};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Begin of the measurement, and end of a run, s.
const FROM_S: u32 = 15;
const TO_S: u32 = 55;
/// A packet of 1500 B at 1 Mbit/s.
const PACKET_MS: f64 = 12.0;

/// Of the first flow, or the larger one of two that are alike, %; ms; %.
type Figures = [f64; 3];

#[derive(Clone, Copy)]
enum Buffer {
    Bdp(f64),
    Ms(f64),
}

use Buffer::{Bdp, Ms};

/// Flows, rate in Mbit/s, round trip in ms, buffer; ns-3's figures.
struct Row(&'static str, f64, f64, Buffer, Figures);

const ALONE: &str = "bbr";
const CUBIC: &str = "bbr, cubic";
const TWO: &str = "bbr, bbr";

const ROWS: &[Row] = &[
    Row(ALONE, 10.0, 5.0, Bdp(1.0), [100.0, 2.9, 94.2]),
    Row(ALONE, 10.0, 5.0, Ms(100.0), [100.0, 13.8, 99.1]),
    Row(CUBIC, 10.0, 5.0, Bdp(0.5), [70.9, 1.2, 88.3]),
    Row(CUBIC, 10.0, 5.0, Bdp(1.0), [82.2, 3.2, 98.9]),
    Row(CUBIC, 10.0, 5.0, Bdp(4.0), [78.9, 16.9, 99.9]),
    Row(TWO, 10.0, 5.0, Bdp(1.0), [53.8, 2.9, 93.1]),
    Row(ALONE, 10.0, 50.0, Bdp(1.0), [100.0, 33.4, 97.6]),
    Row(ALONE, 10.0, 50.0, Ms(100.0), [100.0, 47.8, 97.6]),
    Row(CUBIC, 10.0, 50.0, Bdp(0.5), [96.4, 17.7, 97.8]),
    Row(CUBIC, 10.0, 50.0, Bdp(1.0), [93.9, 38.4, 98.0]),
    Row(CUBIC, 10.0, 50.0, Bdp(4.0), [35.5, 133.9, 99.9]),
    Row(TWO, 10.0, 50.0, Bdp(1.0), [59.0, 44.8, 97.9]),
    Row(ALONE, 10.0, 135.0, Bdp(1.0), [100.0, 34.0, 93.5]),
    Row(ALONE, 10.0, 135.0, Ms(100.0), [100.0, 42.1, 96.0]),
    Row(CUBIC, 10.0, 135.0, Bdp(0.5), [95.6, 40.1, 96.3]),
    Row(CUBIC, 10.0, 135.0, Bdp(1.0), [89.1, 94.8, 96.7]),
];

impl Row {
    /// Returns the packets that the buffer holds.
    fn buffer(&self) -> f64 {
        let ms = match self.3 {
            Bdp(times) => times * self.2,
            Ms(ms) => ms,
        };
        (self.1 * ms / PACKET_MS).round().max(1.0)
    }

    fn name(&self) -> String {
        let buffer = match self.3 {
            Bdp(times) => format!("{times} BDP"),
            Ms(ms) => format!("{ms} ms"),
        };
        format!("{} | {} | {} | {buffer}", self.0, self.1, self.2)
    }

    fn seeds(&self) -> u64 {
        if self.0 == CUBIC {
            9
        } else {
            5
        }
    }

    /// Returns the median of all seeds' figures.
    fn median(&self, all: Vec<Figures>) -> Figures {
        let share = |share: f64| if self.0 == TWO { share.max(100.0 - share) } else { share };
        [0, 1, 2].map(|column| {
            let mut values: Vec<f64> = all.iter().map(|figures| figures[column]).collect();
            if column == 0 {
                values.iter_mut().for_each(|value| *value = share(*value));
            }
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
        })
    }

    /// Returns the figures of ours.
    fn simulated(&self) -> Result<Figures> {
        let flow = |(number, name): (usize, &str)| {
            let (controller, transport) = match name {
                "cubic" => ("cubic,hystart=linux,friendly=linux", "tcp,pacing=false"),
                bbr => (bbr, "tcp"),
            };
            format!(
                "[[flow]]\nname = \"{name}-{number}\"\ncontroller = \"{controller}\"\ntransport = \"{transport}\"\n\
                 rtt = \"{} ms\"\nstart = {{ uniform = [\"0 s\", \"0.1 s\"] }}\n",
                self.2
            )
        };
        let flows: String = self.0.split(", ").enumerate().map(flow).collect();
        let text = format!(
            "duration = \"{TO_S} s\"\nmeasure = {{ from = \"{FROM_S} s\" }}\n[link]\nrate = \"{} Mbit/s\"\nbuffer = \"{} packets\"\n{flows}",
            self.1,
            self.buffer()
        );
        let experiment = Experiment::parse(&text, "bbr", &[])?;
        let engine = find("sim")?;
        let choices = Choices { seed: Some(1), repeat: Some(u32::try_from(self.seeds())?) };
        let plan = Plan::new(engine, &experiment, choices)?;
        let outcomes = Pool::default().outcomes(engine, &plan.points, &AtomicBool::new(false))?;
        Ok(self.median(outcomes.iter().map(figures).collect()))
    }

    /// Returns the figures of ns-3's program in a folder.
    fn of_ns3(&self, folder: &Path) -> Result<Figures> {
        let flows = self.0.replace(", ", ",").replace("bbr", "TcpBbr").replace("cubic", "TcpCubic");
        let run = |seed: u64| -> Result<Figures> {
            let output = Command::new(folder.join("bottleneck"))
                .args([format!("--flows={flows}"), format!("--mbit={}", self.1), format!("--rtt={}", self.2)])
                .args([format!("--buffer={}", self.buffer()), format!("--seed={seed}")])
                .args([format!("--from={FROM_S}"), format!("--to={TO_S}")])
                .output()
                .map_err(|error| format!("{}: {error}; run bench/ns3/build first", folder.display()))?;
            let text = String::from_utf8(output.stdout)?;
            let numbers: std::result::Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
            match numbers?[..] {
                [share, mean_ms, utilisation, ..] => Ok([share, mean_ms, utilisation]),
                _ => Err(format!("ns-3 has failed: {}", String::from_utf8_lossy(&output.stderr)).into()),
            }
        };
        Ok(self.median((1..=self.seeds()).map(run).collect::<Result<_>>()?))
    }
}

fn figures(outcome: &Outcome) -> Figures {
    let window = &outcome.run.windows[0];
    let link = window.bottleneck().cloned().unwrap_or_default();
    let goodput: Vec<f64> = window.flows.iter().map(|flow| flow.goodput_bit_s).collect();
    [
        100.0 * goodput[0] / goodput.iter().sum::<f64>(),
        link.queuing_delay.unwrap_or_default().mean_ms,
        100.0 * link.utilisation,
    ]
}

fn main() -> Result<()> {
    let (mut folder, mut only) = (None, String::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} requires a value"))?;
        match word.as_str() {
            "--ns3" => folder = Some(PathBuf::from(value)),
            "--rows" => only = value,
            _ => return Err(format!("unknown option {word}: use --ns3 or --rows").into()),
        }
    }
    println!("| flows | Mbit/s | RTT, ms | buffer | share of ns-3 | ours | queue of ns-3, ms | ours | link used of ns-3, % | ours |");
    println!("|---|--:|--:|---|--:|--:|--:|--:|--:|--:|");
    for row in ROWS.iter().filter(|row| row.name().contains(&only)) {
        let theirs = folder.as_deref().map_or(Ok(row.4), |folder| row.of_ns3(folder))?;
        let ours = row.simulated()?;
        let cells = [0, 1, 2].map(|column| format!("{:.1} | {:.1}", theirs[column], ours[column]));
        println!("| {} | {} |", row.name(), cells.join(" | "));
    }
    Ok(())
}
