//! Programs under `afteryou run` beside the kernel's TCP: how much they leave, how long the queue is, and how soon they are back.
//!
//! `cargo run --release --example outside [--check] [--runs N] [--brief] [ROW…]`
//!
//! In the testbed, as root. A program with some connections moves data for 45 s, to or from a server of the kernel's CUBIC or BBR; from 15 s to
//! 30 s CUBIC has a bulk flow beside it. The program is this one, and does not know that `afteryou run` has started it. Figures are
//! medians of five runs: use of the link by the program alone, the 95th percentile of the queue then, the part of its own speed
//! alone that CUBIC keeps, and the use of the link from 2.5 to 6 s after CUBIC has left.
//!
//! `--check` exits 1 if a figure is out of its row's bounds. `--brief` takes a third of the time. The command `afteryou` is taken from the
//! folder above this program's.

use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario::outcome::{Outcome, WindowFigures};
use afteryou_scenario_file::Experiment;
use std::error::Error;
use std::ops::ControlFlow;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;
use streams::{go, serve, until};

#[path = "support/rows.rs"]
mod rows;
#[path = "support/runs.rs"]
mod runs;
#[path = "support/streams.rs"]
mod streams;

/// The host's own upload begins so late.
const ALONE: Duration = Duration::from_secs(5);

/// A network, a program, and bounds of its figures.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    is_upload: bool,
    connections: u32,
    congestion_control: &'static str,
    mbit: f64,
    rtt_ms: u32,
    buffer_ms: u32,
    queue: &'static str,
    /// From [`ALONE`] on the program's host has an upload of CUBIC over the other direction.
    has_own_upload: bool,
    /// Least use of the link alone.
    alone: f64,
    /// Largest 95th percentile of the queue alone, ms.
    queue_ms: f64,
    /// Least part that CUBIC keeps.
    kept: f64,
}

const DOWN: Row = Row {
    name: "",
    is_upload: false,
    connections: 1,
    congestion_control: "cubic",
    mbit: 20.0,
    rtt_ms: 40,
    buffer_ms: 500,
    queue: "droptail",
    has_own_upload: false,
    alone: 0.97,
    queue_ms: 30.0,
    kept: 0.97,
};
const BBR: Row = Row { congestion_control: "bbr", alone: 0.94, queue_ms: 50.0, kept: 0.95, ..DOWN };
const UP: Row = Row { is_upload: true, kept: 0.96, ..DOWN };
/// The other direction of a home link.
const REVERSE: &str = "[link.reverse]\nrate = \"5 Mbit/s\"\nbuffer = \"300 ms\"\n";
/// No bound.
const ANY: Row = Row { alone: 0.0, queue_ms: f64::INFINITY, kept: 0.0, ..DOWN };

const ROWS: &[Row] = &[
    Row { name: "down-1", ..DOWN },
    Row { name: "down-4", connections: 4, ..DOWN },
    Row { name: "down-16", connections: 16, ..DOWN },
    Row { name: "down-bbr-1", ..BBR },
    Row { name: "down-bbr-4", connections: 4, ..BBR },
    Row { name: "down-bbr-16", connections: 16, ..BBR },
    Row { name: "up-1", ..UP },
    Row { name: "up-4", connections: 4, ..UP },
    Row { name: "up-16", connections: 16, kept: 0.93, ..UP },
    Row { name: "up-bbr-4", connections: 4, kept: 0.95, congestion_control: "bbr", ..UP },
    Row { name: "down-5Mbit", connections: 4, mbit: 5.0, buffer_ms: 300, kept: 0.0, ..DOWN },
    Row { name: "down-100Mbit", connections: 4, mbit: 100.0, kept: 0.0, ..DOWN },
    Row { name: "down-30ms-buffer", connections: 4, buffer_ms: 30, kept: 0.85, ..ANY },
    Row { name: "down-fq_codel", connections: 16, queue: "fq_codel", kept: 0.75, ..ANY },
    Row { name: "down-rtt-100", connections: 4, rtt_ms: 100, alone: 0.9, ..ANY },
    Row { name: "down-rtt-250", rtt_ms: 250, alone: 0.9, ..ANY },
    Row { name: "down-own-upload", has_own_upload: true, alone: 0.33, kept: 0.9, ..ANY },
];

/// Figures of a run, or medians of several.
#[derive(Clone, Copy)]
struct Figures {
    alone: f64,
    queue_ms: f64,
    kept: f64,
    back: f64,
}

impl Row {
    fn scenario(&self, thirds_s: f64, has_program: bool) -> Result<String, Box<dyn Error>> {
        let end_s = 3.0 * thirds_s;
        let own = std::env::current_exe()?;
        let folder = own.parent().and_then(|folder| folder.parent()).ok_or("this program is in no folder")?;
        let afteryou = folder.join("afteryou");
        let own = own.display().to_string();
        let served = format!("[\"{own}\", \"serve\", \"{}\", \"{end_s}\"]", self.congestion_control);
        let afteryou = afteryou.display().to_string();
        let (connections, end) = (self.connections.to_string(), end_s.to_string());
        let peer = if self.is_upload { "send" } else { "fetch" };
        let steered =
            [&afteryou, "run", "--", &own, peer, "{peer}", &connections, self.congestion_control, &end];
        let beside = [&own, "beside", &afteryou, "{peer}", &connections, self.congestion_control, &end];
        let upload = [&own, "send", "{peer}", "1", "cubic", &end];
        let program = match (self.has_own_upload, has_program) {
            (true, true) => format!("{beside:?}"),
            (true, false) => format!("{upload:?}"),
            (false, _) => format!("{steered:?}"),
        };
        // Data go from `command` to `server`.
        let (command, server) = if self.is_upload { (program, served) } else { (served, program) };
        let program = format!("[[flow]]\nname = \"program\"\nrtt = \"{} ms\"\ntraffic = {{ command = {command}, server = {server} }}\n", self.rtt_ms);
        Ok(format!(
            "duration = \"{end_s} s\"\n[link]\nrate = \"{} Mbit/s\"\nbuffer = \"{} ms\"\nqueue = \"{}\"\n{}\
             [[flow]]\nname = \"cubic\"\nrole = \"foreground\"\ncontroller = \"cubic\"\ntransport = \"tcp\"\nrtt = \"{} ms\"\n\
             start = \"{thirds_s} s\"\nstop = \"{} s\"\n{}\
             [[measure]]\nname = \"alone\"\nfrom = \"{} s\"\nto = \"{thirds_s} s\"\n\
             [[measure]]\nname = \"together\"\nfrom = \"{thirds_s} s\"\nto = \"{} s\"\n\
             [[measure]]\nname = \"back\"\nfrom = \"{} s\"\nto = \"{} s\"\n",
            self.mbit,
            self.buffer_ms,
            self.queue,
            if self.has_own_upload { REVERSE } else { "" },
            self.rtt_ms,
            2.0 * thirds_s,
            if has_program || self.has_own_upload { program.as_str() } else { "" },
            thirds_s / 2.0,
            2.0 * thirds_s,
            2.0 * thirds_s + 2.5,
            (2.0 * thirds_s + 6.0).min(end_s - 0.5),
        ))
    }

    fn run(&self, thirds_s: f64, has_program: bool) -> Result<Outcome, Box<dyn Error>> {
        let experiment = Experiment::parse(&self.scenario(thirds_s, has_program)?, self.name, &[])?;
        let planned = experiment.runs(None, None)?.into_iter().next().ok_or("no run")?;
        Ok(testbed::run(&planned.scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?)
    }

    /// Returns the goodput of CUBIC without the program, bit/s.
    fn without(&self, thirds_s: f64) -> Result<f64, Box<dyn Error>> {
        Ok(goodput(window(&self.run(thirds_s, false)?, "together"), "cubic"))
    }

    fn figures(&self, thirds_s: f64, without: f64) -> Result<Figures, Box<dyn Error>> {
        let outcome = self.run(thirds_s, true)?;
        let link = |name| window(&outcome, name).bottleneck().cloned().unwrap_or_default();
        Ok(Figures {
            alone: link("alone").utilisation,
            queue_ms: link("alone").queuing_delay.unwrap_or_default().p95_ms,
            kept: goodput(window(&outcome, "together"), "cubic") / without,
            back: link("back").utilisation,
        })
    }

    fn is_within(&self, figures: &Figures) -> bool {
        figures.alone >= self.alone && figures.queue_ms <= self.queue_ms && figures.kept >= self.kept
    }
}

fn window<'a>(outcome: &'a Outcome, name: &str) -> &'a WindowFigures {
    let found = outcome.run.windows.iter().find(|window| window.window == name);
    found.unwrap_or(&outcome.run.windows[0])
}

fn goodput(window: &WindowFigures, flow: &str) -> f64 {
    window.flows.iter().find(|other| other.flow == flow).map_or(0.0, |flow| flow.goodput_bit_s)
}

fn median(runs: &[Figures], of: impl Fn(&Figures) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn judge(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let runs = runs::runs(words).unwrap_or(5);
    let thirds_s = if has("--brief") { 7.0 } else { 15.0 };
    let rows = rows::named(words, ROWS, |row| row.name)?;
    println!("{:<18} {:>8} {:>9} {:>7} {:>7}", "row", "alone", "p95, ms", "kept", "back");
    let mut is_good = true;
    for row in rows {
        // Trials take their time.
        let thirds_s = if row.has_own_upload { 3.0 * thirds_s } else { thirds_s };
        let without = row.without(thirds_s)?;
        let figures = (0..runs).map(|_| row.figures(thirds_s, without)).collect::<Result<Vec<_>, _>>()?;
        let medians = Figures {
            alone: median(&figures, |run| run.alone),
            queue_ms: median(&figures, |run| run.queue_ms),
            kept: median(&figures, |run| run.kept),
            back: median(&figures, |run| run.back),
        };
        let within = row.is_within(&medians);
        is_good &= within;
        let note = if within { "" } else { "  out of bounds" };
        println!(
            "{:<18} {:>8.3} {:>9.1} {:>7.3} {:>7.3}{note}",
            row.name, medians.alone, medians.queue_ms, medians.kept, medians.back
        );
    }
    Ok(if has("--check") && !is_good { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", congestion_control, seconds] => serve(congestion_control, until(seconds)?)?,
        [what @ ("send" | "fetch"), peer, connections, congestion_control, seconds] => {
            go(peer, connections.parse()?, congestion_control, what == "send", until(seconds)?);
        }
        ["beside", afteryou, peer, connections, congestion_control, seconds] => {
            let until = until(seconds)?;
            let own = std::env::current_exe()?;
            let mut steered = Command::new(afteryou)
                .args(["run", "--"])
                .arg(own)
                .args(["fetch", peer, connections, congestion_control, seconds])
                .spawn()?;
            thread::sleep(ALONE);
            go(peer, 1, "cubic", true, until);
            steered.wait()?;
        }
        _ => return judge(&words),
    }
    Ok(ExitCode::SUCCESS)
}
