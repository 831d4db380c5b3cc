//! Medians and ratios.

use super::measure::Usage;
use std::fmt::Write;

/// One transfer.
pub struct Sample {
    pub bytes: u64,
    /// Seconds from the first byte to the last, at the receiver.
    pub took: f64,
    pub sending: Usage,
    pub receiving: Usage,
}

/// A transport's transfers.
pub struct Row {
    pub peer: &'static str,
    pub samples: Vec<Sample>,
    /// Why the latest failure failed.
    pub fault: Option<String>,
}

impl Row {
    pub fn new(peer: &'static str) -> Row {
        Row { peer, samples: Vec::new(), fault: None }
    }

    fn median(&self, of: impl Fn(&Sample) -> f64) -> f64 {
        let mut values: Vec<f64> = self.samples.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    fn mbit(&self) -> f64 {
        self.median(|sample| sample.bytes as f64 * 8e-6 / sample.took)
    }

    fn cost(&self) -> f64 {
        self.median(|sample| (sample.sending.cpu_s + sample.receiving.cpu_s) / (sample.bytes as f64 / 1e9))
    }
}

/// Writes one line for each transport over that path, and the ratios of ours to the others.
pub fn of(path: &str, rows: &[Row]) -> String {
    let mut out =
        format!("| over {path} | Mbit/s | CPU s/GB | sender MB | receiver MB |\n|---|--:|--:|--:|--:|\n");
    let done = |row: &&Row| !row.samples.is_empty();
    for row in rows {
        _ = match (done(&row), &row.fault) {
            (true, None) => writeln!(
                out,
                "| {} | {:.0} | {:.2} | {:.1} | {:.1} |",
                row.peer,
                row.mbit(),
                row.cost(),
                row.median(|sample| sample.sending.rss_mb),
                row.median(|sample| sample.receiving.rss_mb)
            ),
            (_, fault) => {
                let why = fault.as_deref().unwrap_or("no run was asked for");
                writeln!(
                    out,
                    "| {} | SKIPPED: {} of the runs ended: {why} | | | |",
                    row.peer,
                    row.samples.len()
                )
            }
        };
    }
    for ours in rows.iter().filter(|row| row.peer.starts_with("ours")).filter(done) {
        for other in rows.iter().filter(|row| !row.peer.starts_with("ours")).filter(done) {
            let (rate, cost) = (ours.mbit() / other.mbit(), ours.cost() / other.cost());
            _ = writeln!(out, "{} / {}: goodput {rate:.2}, CPU per GB {cost:.2}", ours.peer, other.peer);
        }
    }
    for small in rows.iter().filter(done) {
        let of_same =
            |row: &&Row| small.peer.strip_prefix(row.peer).is_some_and(|rest| rest.starts_with(" ("));
        for large in rows.iter().filter(of_same).filter(done) {
            let rate = small.mbit() / large.mbit();
            _ = writeln!(out, "{} / {}: goodput {rate:.2}", small.peer, large.peer);
        }
    }
    out
}
