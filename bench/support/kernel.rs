//! A table of a Linux kernel beside the simulator: its rows, options and bounds, for the examples that compare the two.

#![allow(dead_code, reason = "each example uses its part")]

#[path = "guest.rs"]
pub mod guest;

use afteryou_scenario_file::Experiment;
use guest::{Lab, Measured};
use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

/// A packet of 1500 B at 1 Mbit/s.
const PACKET_MS: f64 = 12.0;

const SHARE: &str = "share";
const QUEUE: &str = "mean queue";
const UTILISATION: &str = "utilisation";

/// A share of the goodput, %; the mean queue, ms; the utilisation, %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    pub share: f64,
    pub mean_ms: f64,
    pub utilisation: f64,
}

impl Figures {
    fn each(all: &[Figures], of: impl Fn(&mut [f64]) -> f64) -> Figures {
        let column = |value: fn(&Figures) -> f64| of(&mut all.iter().map(value).collect::<Vec<_>>());
        Figures {
            share: column(|figures| figures.share),
            mean_ms: column(|figures| figures.mean_ms),
            utilisation: column(|figures| figures.utilisation),
        }
    }

    /// Returns the means.
    pub fn mean(all: &[Figures]) -> Figures {
        Figures::each(all, |values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Returns the medians.
    pub fn median(all: &[Figures]) -> Figures {
        Figures::each(all, |values| {
            values.sort_by(f64::total_cmp);
            let half = values.len() / 2;
            match values.len() % 2 {
                1 => values[half],
                _ => (values[half.saturating_sub(1)] + values[half]) / 2.0,
            }
        })
    }
}

/// The largest differences.
pub struct Bounds {
    /// Of shares, points.
    pub share: f64,
    /// Of the utilisation, points.
    pub utilisation: f64,
    /// Of the mean queue, ms, if the kernel's is this long.
    pub queue_ms: fn(f64) -> f64,
}

impl Bounds {
    /// Returns the figures that differ too much, and ours of each.
    fn misses(&self, ours: Figures, kernel: Figures) -> impl Iterator<Item = (&'static str, f64)> {
        [
            (SHARE, ours.share, kernel.share, self.share),
            (QUEUE, ours.mean_ms, kernel.mean_ms, (self.queue_ms)(kernel.mean_ms)),
            (UTILISATION, ours.utilisation, kernel.utilisation, self.utilisation),
        ]
        .into_iter()
        .filter_map(|(what, ours, kernel, most)| ((ours - kernel).abs() > most).then_some((what, ours)))
    }
}

/// A figure of ours that is out of bounds, and why.
#[derive(Clone, Copy)]
pub struct Known {
    what: &'static str,
    from: f64,
    to: f64,
    why: &'static str,
}

impl Known {
    /// Returns a known difference of the share, which is between the two, %.
    pub const fn share(from: f64, to: f64, why: &'static str) -> Known {
        Known { what: SHARE, from, to, why }
    }

    /// Returns a known difference of the mean queue, which is between the two, ms.
    pub const fn queue(from: f64, to: f64, why: &'static str) -> Known {
        Known { what: QUEUE, from, to, why }
    }

    fn explains(&self, (what, ours): (&str, f64)) -> bool {
        self.what == what && (self.from..=self.to).contains(&ours)
    }
}

/// The words of the command line.
pub struct Options {
    check: bool,
    /// The guest's folder.
    kernel: Option<PathBuf>,
    /// Only rows whose names have this.
    rows: String,
    runs: Option<u64>,
    /// Interval of the windows that the guest prints, seconds.
    pub trace_s: Option<f64>,
}

impl Options {
    /// Reads `[--check] [--kernel FOLDER [--runs N] [--trace SECONDS]] [--rows TEXT]`.
    ///
    /// # Errors
    /// If there are other words.
    pub fn read() -> Result<Options, Box<dyn Error>> {
        let mut options =
            Options { check: false, kernel: None, rows: String::new(), runs: None, trace_s: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            if word == "--check" {
                options.check = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} requires a value"))?;
            match word.as_str() {
                "--kernel" => options.kernel = Some(value.into()),
                "--rows" => options.rows = value,
                "--runs" => options.runs = Some(value.parse()?),
                "--trace" => options.trace_s = Some(value.parse()?),
                _ => {
                    return Err(format!(
                        "unknown option {word}: use --check, --kernel, --rows, --runs or --trace"
                    )
                    .into())
                }
            }
        }
        Ok(options)
    }
}

/// A row of the table.
pub struct Row {
    pub name: String,
    /// Rate of the bottleneck, and of the simulated link by it, which is faster if the queue itself shapes.
    pub mbit: f64,
    pub faster: f64,
    /// Returns the scenario file of a seed. Flows whose share counts are foreground.
    pub file: Box<dyn Fn(u64) -> String>,
    /// The same in the kernel, where the share of the first `judged` flows counts.
    pub lab: Lab,
    pub judged: usize,
    /// The flows do not differ: the larger share counts.
    pub is_alike: bool,
    /// The kernel's figures, measured before.
    pub kernel: Figures,
    pub known: &'static [Known],
}

impl Row {
    fn simulated(&self, seed: u64) -> Result<Figures, Box<dyn Error>> {
        let planned = Experiment::parse(&(self.file)(seed), &self.name, &[])?.runs(None, None)?;
        let scenario = &planned.first().ok_or("no runs")?.scenario;
        let run = afteryou_sim::run(scenario, &mut |_| ControlFlow::Continue(()))?.run;
        let link = run.windows[0].bottleneck().cloned().unwrap_or_default();
        Ok(self.judged(Figures {
            share: 100.0 * link.foreground_share.unwrap_or_default(),
            mean_ms: link.queue_packets.unwrap_or_default() * PACKET_MS / self.mbit,
            utilisation: 100.0 * self.faster * link.utilisation,
        }))
    }

    fn of_guest(&self, measured: &Measured) -> Figures {
        let goodput = &measured.goodput_mbit_s;
        let (ours, all) = (goodput.iter().take(self.judged).sum::<f64>(), goodput.iter().sum::<f64>());
        self.judged(Figures {
            share: 100.0 * ours / all,
            mean_ms: measured.waiting_packets * PACKET_MS / self.mbit,
            utilisation: 100.0 * measured.sent_mbit_s / self.mbit,
        })
    }

    fn judged(&self, figures: Figures) -> Figures {
        match self.is_alike {
            true => Figures { share: figures.share.max(100.0 - figures.share), ..figures },
            false => figures,
        }
    }
}

/// How rows are compared.
pub struct Method {
    /// Seeds of the simulator.
    pub seeds: u64,
    /// Runs of the kernel.
    pub runs: u64,
    /// Makes one of several runs' figures.
    pub summary: fn(&[Figures]) -> Figures,
    pub bounds: Bounds,
}

impl Method {
    /// Prints the rows, each with the differences that are out of bounds. With `--kernel` the kernel is measured anew.
    ///
    /// # Errors
    /// If a row does not run.
    pub fn compare(
        &self,
        rows: impl Iterator<Item = Row>,
        options: &Options,
    ) -> Result<ExitCode, Box<dyn Error>> {
        match options.kernel.as_deref().map(guest::version) {
            None => println!(
                "The kernel's figures are those measured before; --kernel FOLDER measures them anew."
            ),
            Some(Ok(version)) => println!("The kernel is {version}."),
            Some(Err(why)) => {
                println!("SKIPPED: {why}");
                return Ok(ExitCode::SUCCESS);
            }
        }
        println!(
            "{:<24} {:>6} {:>15} {:>17} {:>15}",
            "kernel / ours", "Mbit/s", "share %", "queue mean, ms", "utilisation %"
        );
        let mut fine = true;
        for row in rows.filter(|row| row.name.contains(&options.rows)) {
            let kernel = self.kernel(&row, options)?;
            let ours: Result<Vec<_>, _> = (1..=self.seeds).map(|seed| row.simulated(seed)).collect();
            fine &= self.print(&row, (self.summary)(&ours?), kernel);
        }
        Ok(if fine || !options.check { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn kernel(&self, row: &Row, options: &Options) -> Result<Figures, Box<dyn Error>> {
        let Some(folder) = &options.kernel else { return Ok(row.kernel) };
        let lab = Lab { trace_s: options.trace_s, ..row.lab.clone() };
        let runs = lab.runs(folder, options.runs.unwrap_or(self.runs));
        if runs.is_empty() {
            return Err(format!("no run of the kernel was valid: {}", row.name).into());
        }
        Ok((self.summary)(&runs.iter().map(|measured| row.of_guest(measured)).collect::<Vec<_>>()))
    }

    /// Prints a row. Returns whether every difference that is out of bounds is known.
    fn print(&self, row: &Row, ours: Figures, kernel: Figures) -> bool {
        println!(
            "{:<24} {:>6} {:>7.1} {:>7.1} {:>8.1} {:>8.1} {:>7.1} {:>7.1}",
            row.name,
            row.mbit,
            kernel.share,
            ours.share,
            kernel.mean_ms,
            ours.mean_ms,
            kernel.utilisation,
            ours.utilisation,
        );
        let mut fine = true;
        for miss in self.bounds.misses(ours, kernel) {
            let known = row.known.iter().find(|known| known.explains(miss));
            fine &= known.is_some();
            println!("    {} is out of bounds: {}", miss.0, known.map_or("not explained", |known| known.why));
        }
        fine
    }
}
