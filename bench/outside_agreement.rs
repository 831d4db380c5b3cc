//! Holds three engines against each other: the rule of `afteryou run` in the simulator, on the testbed's own sockets, and the command itself
//! around a program.
//!
//! `cargo run --release --example outside_agreement [--check] [--runs N] [ROW…]`
//!
//! As root. A job with some connections moves data for 26 s, to or from a server of CUBIC or BBR; from 12 s on a bulk flow is beside it. Figures
//! are medians of three runs, of the simulator with three seeds: the job's share of the link alone (5 s to 12 s), the 95th percentile of
//! the queue then, and its share beside the flow (15 s to 25 s).
//!
//! `--check` exits 1 if a share differs from the simulator's by more than 6 points, or the queue by more than 15 % and 2 ms. The command `afteryou`
//! is taken from the folder above this program's.

use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario::outcome::{Outcome, WindowFigures};
use afteryou_scenario_file::Experiment;
use std::error::Error;
use std::ops::ControlFlow;
use std::process::ExitCode;
use streams::{go, serve, until};

#[path = "support/rows.rs"]
mod rows;
#[path = "support/runs.rs"]
mod runs;
#[path = "support/streams.rs"]
mod streams;

/// Largest difference of shares.
const SHARE: f64 = 0.06;
/// Largest difference of queues, as a part …
const QUEUE: f64 = 0.15;
/// … or, if that is more, ms.
const QUEUE_MS: f64 = 2.0;
/// Length of a run, s.
const END_S: f64 = 26.0;

/// A network, a job, and a flow beside it.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    is_upload: bool,
    connections: u32,
    sender: &'static str,
    beside: &'static str,
    mbit: f64,
    rtt_ms: u32,
    buffer_ms: u32,
    queue: &'static str,
    loss: &'static str,
}

const DOWN: Row = Row {
    name: "",
    is_upload: false,
    connections: 4,
    sender: "cubic",
    beside: "cubic",
    mbit: 20.0,
    rtt_ms: 40,
    buffer_ms: 300,
    queue: "droptail",
    loss: "0 %",
};
const UP: Row = Row { is_upload: true, ..DOWN };

const ROWS: &[Row] = &[
    Row { name: "down", ..DOWN },
    Row { name: "down-1", connections: 1, ..DOWN },
    Row { name: "down-16", connections: 16, ..DOWN },
    Row { name: "down-5ms", rtt_ms: 5, ..DOWN },
    Row { name: "down-100ms", rtt_ms: 100, ..DOWN },
    Row { name: "down-250ms", rtt_ms: 250, buffer_ms: 500, ..DOWN },
    Row { name: "down-5Mbit", mbit: 5.0, ..DOWN },
    Row { name: "down-100Mbit", mbit: 100.0, buffer_ms: 100, ..DOWN },
    Row { name: "down-buffer-30ms", buffer_ms: 30, ..DOWN },
    Row { name: "down-fq_codel", queue: "fq_codel", ..DOWN },
    Row { name: "down-codel", queue: "codel", ..DOWN },
    Row { name: "down-pie", queue: "pie", ..DOWN },
    Row { name: "down-loss-1%", loss: "1 %", ..DOWN },
    Row { name: "down-bbr", sender: "bbr", ..DOWN },
    Row { name: "down-beside-bbr", beside: "bbr", ..DOWN },
    Row { name: "up", ..UP },
    Row { name: "up-1", connections: 1, ..UP },
    Row { name: "up-5ms", rtt_ms: 5, ..UP },
    Row { name: "up-100ms", rtt_ms: 100, ..UP },
    Row { name: "up-buffer-30ms", buffer_ms: 30, ..UP },
    Row { name: "up-fq_codel", queue: "fq_codel", ..UP },
    Row { name: "up-loss-1%", loss: "1 %", ..UP },
    Row { name: "up-bbr", sender: "bbr", ..UP },
];

/// An engine that carries a job out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Engine {
    Simulator,
    Testbed,
    Command,
}

/// Figures of a run, or medians of several.
#[derive(Clone, Copy)]
struct Figures {
    alone: f64,
    queue_ms: f64,
    beside: f64,
}

/// Returns a controller as the kernel has it.
fn as_in_linux(name: &str) -> String {
    match name {
        "cubic" => "{ kind = \"cubic\", hystart = \"linux\", friendly = \"linux\" }".to_owned(),
        other => format!("{other:?}"),
    }
}

impl Row {
    /// Returns the traffic of a flow in which this very executable moves data under `afteryou run`.
    fn program(&self) -> Result<String, Box<dyn Error>> {
        let own = std::env::current_exe()?;
        let folder = own.parent().and_then(|folder| folder.parent()).ok_or("this program is in no folder")?;
        let (afteryou, own) = (folder.join("afteryou").display().to_string(), own.display().to_string());
        let (connections, end) = (self.connections.to_string(), END_S.to_string());
        let what = if self.is_upload { "send" } else { "fetch" };
        let served = format!("{:?}", [&own, "serve", self.sender, &end]);
        let steered =
            format!("{:?}", [&afteryou, "run", "--", &own, what, "{peer}", &connections, self.sender, &end]);
        // Data go from `command` to `server`.
        let (command, server) = if self.is_upload { (steered, served) } else { (served, steered) };
        Ok(format!("traffic = {{ command = {command}, server = {server} }}\n"))
    }

    fn job(&self, engine: Engine) -> Result<String, Box<dyn Error>> {
        if engine == Engine::Command {
            return self.program();
        }
        let end = if self.is_upload { "sender" } else { "receiver" };
        let controller = as_in_linux(self.sender);
        Ok(format!("controller = {controller}\n{end} = \"outside\"\ncount = {}\n", self.connections))
    }

    fn scenario(&self, engine: Engine) -> Result<String, Box<dyn Error>> {
        let Row { mbit, rtt_ms, buffer_ms, queue, loss, .. } = self;
        Ok(format!(
            "duration = \"{END_S} s\"\n[link]\nrate = \"{mbit} Mbit/s\"\nbuffer = \"{buffer_ms} ms\"\nqueue = \"{queue}\"\nloss = \"{loss}\"\n\
             [[flow]]\nname = \"visitor\"\nrole = \"foreground\"\ncontroller = {}\nrtt = \"{rtt_ms} ms\"\nstart = \"12 s\"\n\
             [[flow]]\nname = \"job\"\nrole = \"background\"\nrtt = \"{rtt_ms} ms\"\n{}\
             [[measure]]\nname = \"alone\"\nfrom = \"5 s\"\nto = \"12 s\"\n\
             [[measure]]\nname = \"beside\"\nfrom = \"15 s\"\nto = \"25 s\"\n",
            as_in_linux(self.beside),
            self.job(engine)?
        ))
    }

    fn run(&self, engine: Engine, seed: u64) -> Result<Figures, Box<dyn Error>> {
        let experiment = Experiment::parse(&self.scenario(engine)?, self.name, &[])?;
        let planned = experiment.runs(Some(seed), None)?.into_iter().next().ok_or("no run")?;
        let outcome = match engine {
            Engine::Simulator => afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()))?,
            Engine::Testbed | Engine::Command => {
                let outcome =
                    testbed::run(&planned.scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
                if outcome.run.lateness.is_some_and(|lateness| lateness.spoiled()) {
                    println!(
                        "{}, {engine:?}: the machine was too slow, so the figures are invalid",
                        self.name
                    );
                }
                outcome
            }
        };
        let link = window(&outcome, "alone").bottleneck().cloned().unwrap_or_default();
        Ok(Figures {
            alone: share(window(&outcome, "alone")),
            queue_ms: link.queuing_delay.unwrap_or_default().p95_ms,
            beside: share(window(&outcome, "beside")),
        })
    }

    fn median(&self, engine: Engine, runs: u64) -> Result<Figures, Box<dyn Error>> {
        let all = (1..=runs).map(|seed| self.run(engine, seed)).collect::<Result<Vec<_>, _>>()?;
        let of = |figure: fn(&Figures) -> f64| {
            let mut values: Vec<f64> = all.iter().map(figure).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Ok(Figures {
            alone: of(|run| run.alone),
            queue_ms: of(|run| run.queue_ms),
            beside: of(|run| run.beside),
        })
    }
}

impl Figures {
    /// Returns the figures that differ from those of `other` by more than the bounds.
    fn differ(&self, other: &Figures) -> Vec<&'static str> {
        let queue_ms = (self.queue_ms - other.queue_ms).abs();
        let all = [
            ("alone", (self.alone - other.alone).abs() > SHARE),
            ("queue", queue_ms > QUEUE_MS.max(QUEUE * other.queue_ms)),
            ("beside", (self.beside - other.beside).abs() > SHARE),
        ];
        all.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

fn window<'a>(outcome: &'a Outcome, name: &str) -> &'a WindowFigures {
    let found = outcome.run.windows.iter().find(|window| window.window == name);
    found.unwrap_or(&outcome.run.windows[0])
}

/// Returns the share of the job, whose flows are numbered if they are several.
fn share(window: &WindowFigures) -> f64 {
    let job = window.flows.iter().filter(|flow| flow.flow.starts_with("job"));
    job.map(|flow| flow.share_of_payload_capacity).sum()
}

fn judge(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let runs = runs::runs(words);
    let runs = runs.unwrap_or(3);
    let rows = rows::named(words, ROWS, |row| row.name)?;
    println!("| row | alone: sim, bed, run | queue p95, ms | beside | differ |");
    println!("|---|---|---|---|---|");
    let mut agree = true;
    for row in rows {
        let of = |engine| row.median(engine, runs);
        let (sim, bed, run) = (of(Engine::Simulator)?, of(Engine::Testbed)?, of(Engine::Command)?);
        let differ = [("bed", sim.differ(&bed)), ("run", sim.differ(&run))];
        let differ: Vec<String> = differ
            .into_iter()
            .filter(|(_, figures)| !figures.is_empty())
            .map(|(engine, figures)| format!("{engine}: {}", figures.join(", ")))
            .collect();
        agree &= differ.is_empty();
        println!(
            "| {} | {:.3}, {:.3}, {:.3} | {:.0}, {:.0}, {:.0} | {:.3}, {:.3}, {:.3} | {} |",
            row.name,
            sim.alone,
            bed.alone,
            run.alone,
            sim.queue_ms,
            bed.queue_ms,
            run.queue_ms,
            sim.beside,
            bed.beside,
            run.beside,
            differ.join("; ")
        );
    }
    Ok(if has("--check") && !agree { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", congestion_control, seconds] => serve(congestion_control, until(seconds)?)?,
        [what @ ("send" | "fetch"), peer, connections, congestion_control, seconds] => {
            go(peer, connections.parse()?, congestion_control, what == "send", until(seconds)?);
        }
        _ => return judge(&words),
    }
    Ok(ExitCode::SUCCESS)
}
