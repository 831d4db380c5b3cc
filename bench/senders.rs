//! How often `afteryou doctor URL` finds the sender of a server.
//!
//! `cargo run --release --example senders [--check] [--runs N] [--brief] [ROW…]`
//!
//! In the testbed, as root. This program serves a file with the kernel's CUBIC, reno or BBR, and the command looks at it. A row is a network;
//! its figures are the runs whose answer was right, unknown and wrong, for the three together, and the bytes of the largest run.
//!
//! `--check` exits 1 if an answer is wrong, if one of a row without losses is not right, if a window was not obeyed, or if a run took more than
//! 40 MB. `--brief` takes four rows. The command `afteryou` is taken from the folder above this program's.

#[path = "support/congestion.rs"]
mod congestion;
#[path = "support/rows.rs"]
mod rows;
#[path = "support/runs.rs"]
mod runs;

use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario_file::Experiment;
use congestion::set_congestion_control;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

const PORT: u16 = 7000;
const CONTROLS: [&str; 3] = ["cubic", "reno", "bbr"];
/// Most bytes of a run, MB: 32 MiB, and what arrives in a tick.
const MOST_MB: f64 = 40.0;
/// Time of the checks of the machine, s …
const MACHINE_S: f64 = 3.0;
/// … of the steered download and what begins slowly, s …
const LOADED_S: f64 = 3.5;
/// … of the test of the sender, round trips …
const TRIPS: f64 = 36.0;
/// … and of the test with losses, which is longer, s.
const LOSSES_S: f64 = 4.5;

/// A network.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    mbit: f64,
    rtt_ms: u32,
    buffer_ms: u32,
    loss: &'static str,
    is_brief: bool,
}

const FAST: Row = Row { name: "", mbit: 20.0, rtt_ms: 40, buffer_ms: 100, loss: "0 %", is_brief: false };

const ROWS: &[Row] = &[
    Row { name: "5ms", rtt_ms: 5, is_brief: true, ..FAST },
    Row { name: "40ms", is_brief: true, ..FAST },
    Row { name: "135ms", rtt_ms: 135, ..FAST },
    Row { name: "250ms", rtt_ms: 250, is_brief: true, ..FAST },
    Row { name: "5ms-loss", rtt_ms: 5, loss: "1 %", ..FAST },
    Row { name: "40ms-loss", loss: "1 %", is_brief: true, ..FAST },
    Row { name: "135ms-loss", rtt_ms: 135, loss: "1 %", ..FAST },
    Row { name: "250ms-loss", rtt_ms: 250, loss: "1 %", ..FAST },
    Row { name: "40ms-100Mbit", mbit: 100.0, buffer_ms: 50, ..FAST },
    Row { name: "5ms-100Mbit", mbit: 100.0, rtt_ms: 5, buffer_ms: 50, ..FAST },
    Row { name: "40ms-1Mbit", mbit: 1.0, buffer_ms: 300, ..FAST },
];

/// Answers of a row's runs.
#[derive(Default)]
struct Answers {
    right: u32,
    unknown: u32,
    wrong: u32,
    disobeyed: u32,
    most_mb: f64,
}

impl Row {
    fn has_losses(&self) -> bool {
        self.loss != "0 %"
    }

    /// Returns the checks that the command printed.
    fn run(&self, control: &str, seed: u32) -> Result<Vec<serde_json::Value>, Box<dyn Error>> {
        let own = std::env::current_exe()?;
        let folder = own.parent().and_then(|folder| folder.parent()).ok_or("this program is in no folder")?;
        let output = tempfile::NamedTempFile::new()?;
        // A slow path loses packets in its queue.
        let losses_s = if self.has_losses() || self.mbit < 5.0 { LOSSES_S } else { 0.0 };
        let seconds =
            (MACHINE_S + LOADED_S + TRIPS * f64::from(self.rtt_ms) * 1e-3 + losses_s).min(MACHINE_S + 10.5);
        let look = format!(
            "sleep 0.5; exec '{}' doctor --json http://$0:{PORT}/file >'{}'",
            folder.join("afteryou").display(),
            output.path().display()
        );
        let text = format!(
            "duration = \"{seconds} s\"\n[link]\nrate = \"{} Mbit/s\"\nbuffer = \"{} ms\"\n[[flow]]\nname = \"file\"\nrtt = \"{} ms\"\nloss = \"{}\"\n\
             traffic = {{ command = [\"{}\", \"serve\", \"{control}\", \"{}\"], server = [\"sh\", \"-c\", \"{look}\", \"{{peer}}\"] }}\n",
            self.mbit, self.buffer_ms, self.rtt_ms, self.loss, own.display(), seconds - 0.4
        );
        let experiment = Experiment::parse(&text, self.name, &[])?;
        let planned = experiment.runs(Some(u64::from(seed)), None)?.into_iter().next().ok_or("no run")?;
        testbed::run(&planned.scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
        Ok(serde_json::from_slice(&std::fs::read(output.path())?)?)
    }

    fn answers(&self, runs: u32) -> Result<Answers, Box<dyn Error>> {
        let mut answers = Answers::default();
        for seed in 1..=runs {
            for control in CONTROLS {
                answers.add(control, &self.run(control, seed)?);
            }
        }
        Ok(answers)
    }

    fn is_within(&self, answers: &Answers) -> bool {
        let is_sure = self.has_losses() || answers.unknown == 0;
        is_sure && answers.wrong == 0 && answers.disobeyed == 0 && answers.most_mb <= MOST_MB
    }
}

impl Answers {
    fn add(&mut self, control: &str, checks: &[serde_json::Value]) {
        let seen = |name: &str| {
            let check = checks.iter().find(|check| check["name"] == name);
            check.and_then(|check| check["seen"].as_str()).unwrap_or_default()
        };
        let sender = seen("sender of the server");
        let expected = if control == "bbr" { "model-based" } else { "loss-based" };
        match sender.starts_with("unknown") {
            true => self.unknown += 1,
            false if sender.starts_with(expected) => self.right += 1,
            false => self.wrong += 1,
        }
        self.disobeyed += u32::from(!seen("steering of downloads").starts_with("works"));
        let mb = seen("data of this check").split(' ').next().and_then(|mb| mb.parse().ok());
        self.most_mb = self.most_mb.max(mb.unwrap_or(f64::INFINITY));
    }
}

/// Serves every client for some seconds.
fn serve(control: &str, seconds: f64) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    let control = control.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            set_congestion_control(&stream, &control);
            thread::spawn(move || serve_one(stream));
        }
    });
    thread::sleep(Duration::from_secs_f64(seconds));
    Ok(())
}

fn serve_one(mut stream: TcpStream) -> std::io::Result<()> {
    const LENGTH: u64 = 1 << 40;
    // A request is one packet.
    if stream.read(&mut [0; 4096])? == 0 {
        return Ok(());
    }
    write!(
        stream,
        "HTTP/1.1 206 Partial\r\nContent-Length: {LENGTH}\r\nContent-Range: bytes 0-{}/{LENGTH}\r\n\r\n",
        LENGTH - 1
    )?;
    let buffer = vec![0; 1 << 16];
    loop {
        stream.write_all(&buffer)?;
    }
}

fn judge(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let has = |word: &str| words.iter().any(|other| other == word);
    let runs = runs::runs(words).unwrap_or(if has("--brief") { 1 } else { 5 });
    let mut rows = rows::named(words, ROWS, |row| row.name)?;
    rows.retain(|row| !has("--brief") || row.is_brief || has(row.name));
    println!(
        "{:<14} {:>6} {:>12} {:>6} {:>10} {:>8}",
        "row", "right", "unknown", "wrong", "disobeyed", "most MB"
    );
    let mut is_good = true;
    for row in rows {
        let answers = row.answers(runs)?;
        let within = row.is_within(&answers);
        is_good &= within;
        let Answers { right, unknown, wrong, disobeyed, most_mb } = answers;
        let note = if within { "" } else { "  out of bounds" };
        println!("{:<14} {right:>6} {unknown:>12} {wrong:>6} {disobeyed:>10} {most_mb:>8.1}{note}", row.name);
    }
    Ok(if has("--check") && !is_good { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", control, seconds] => serve(control, seconds.parse()?)?,
        _ => return judge(&words),
    }
    Ok(ExitCode::SUCCESS)
}
