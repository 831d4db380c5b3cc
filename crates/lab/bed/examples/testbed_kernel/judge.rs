//! The bounds.

use super::figures::{median, Figures};
use super::rows::Row;

/// Largest difference of shares.
const SHARE: f64 = 0.06;
/// Largest difference of queues, as a part.
const QUEUE: f64 = 0.15;
/// Least part of its goodput that CUBIC keeps over its stay, and from 2 s on.
const KEPT: [f64; 2] = [0.92, 0.98];
/// Least share alone.
const ALONE: f64 = 0.93;
/// Rules that have to be polite, and the longest queue alone in 95 % of the packets, ms.
const POLITE: [(&str, f64); 2] = [("ebb", 25.0), ("ledbat++", 75.0)];
/// Longest silence, s.
const SILENCE_S: f64 = 3.0;

/// The runs of a row.
#[derive(Default)]
pub struct Runs {
    pub simulator: Vec<Figures>,
    pub kernel: Vec<Figures>,
    pub utp: Vec<Figures>,
    /// CUBIC's shares without the background.
    pub without: Vec<[f64; 2]>,
}

impl Runs {
    /// Returns the part of its goodput that CUBIC keeps beside the rule in the kernel, over its stay and from 2 s on; median of the seeds.
    pub fn kept(&self) -> [f64; 2] {
        let pairs = || self.kernel.iter().zip(&self.without);
        [0, 1].map(|part| {
            median(pairs().map(|(with, without)| with.cubic[part] / without[part].max(f64::MIN_POSITIVE)))
        })
    }

    /// Returns the bounds that a row misses.
    pub fn misses(&self, row: &Row) -> Vec<String> {
        let kernel = Figures::middle(&self.kernel);
        let mut misses = Vec::new();
        if kernel.silence_s > SILENCE_S {
            misses.push("silence".to_owned());
        }
        let simulator = Figures::middle(&self.simulator);
        misses.extend(of_home("sim", shares(&kernel, &simulator)));
        if !row.has_utp {
            return misses;
        }
        let utp = Figures::middle(&self.utp);
        misses.extend(of_home("sim", queues(&kernel, &simulator)));
        misses.extend(of_home("uTP", shares(&kernel, &utp)));
        misses.extend(of_home("uTP", queues(&kernel, &utp)));
        let polite = POLITE.iter().filter(|(rule, _)| *rule == row.rule);
        misses.extend(
            polite.flat_map(|(_, most_ms)| impolite(&kernel, self.kept(), *most_ms)).map(str::to_owned),
        );
        misses
    }
}

fn of_home(home: &str, figures: Vec<&str>) -> impl Iterator<Item = String> {
    let named: Vec<_> = figures.into_iter().map(|figure| format!("{home}: {figure}")).collect();
    named.into_iter()
}

/// Returns the shares that differ too much.
fn shares(kernel: &Figures, other: &Figures) -> Vec<&'static str> {
    let differs = |a: f64, b: f64| (a - b).abs() > SHARE;
    missed(&[("alone", differs(kernel.alone, other.alone)), ("beside", differs(kernel.beside, other.beside))])
}

/// Returns the mean queues that differ too much.
fn queues(kernel: &Figures, other: &Figures) -> Vec<&'static str> {
    let differs = |a: f64, b: f64| (a - b).abs() > QUEUE * b;
    missed(&[
        ("queue alone", differs(kernel.queue_ms, other.queue_ms)),
        ("queue beside", differs(kernel.queue_beside_ms, other.queue_beside_ms)),
    ])
}

/// Returns what is not polite of a rule whose queue alone is to be `most_ms` at most.
fn impolite(kernel: &Figures, kept: [f64; 2], most_ms: f64) -> Vec<&'static str> {
    missed(&[
        ("kept over the stay", kept[0] < KEPT[0]),
        ("kept from 2 s on", kept[1] < KEPT[1]),
        ("share alone", kernel.alone < ALONE),
        ("p95 of the queue alone", kernel.p95_ms > most_ms),
    ])
}

fn missed(figures: &[(&'static str, bool)]) -> Vec<&'static str> {
    figures.iter().filter(|(_, is_missed)| *is_missed).map(|(figure, _)| *figure).collect()
}
