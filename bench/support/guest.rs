//! A Linux kernel in qemu, with a sender, a router and a receiver in it. The guest's clock counts instructions, so the host's load is no
//! part of what it measures. `bench/kernel/build` makes the guest.

use serde_json::Value;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// The figures are those from here to there, seconds.
pub const MEASURED_S: (u32, u32) = (14, 54);
/// The guest samples its queue this often in a second.
const SAMPLES_PER_S: f64 = 200.0;
/// A guest that has missed more samples than this part was too slow for its packets.
const MISSED: f64 = 0.005;

/// The work of a guest.
#[derive(Clone, Debug)]
pub struct Lab {
    /// The router's queue, in the words of tc.
    pub queue: String,
    /// Delay of the path in each direction.
    pub delay_ms: u32,
    /// Name of the kernel's controller and value of the TOS byte.
    pub flows: Vec<(&'static str, u8)>,
    /// Returns when the flows of the run with this seed start, ms.
    pub starts_ms: fn(u64) -> Vec<f64>,
    /// An instruction takes 2 to the power of this, ns.
    pub shift: u8,
    /// The windows are printed at this interval, seconds.
    pub trace_s: Option<f64>,
}

/// The figures of a guest.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub goodput_mbit_s: Vec<f64>,
    /// The output of the queue, counted from the IP header on.
    pub sent_mbit_s: f64,
    /// Mean queue over time, without the packet that is being sent.
    pub waiting_packets: f64,
}

impl Measured {
    /// Reads the guest's line. `counts_sent`: the queue holds the packet that is being sent.
    fn read(line: &str, counts_sent: bool) -> Result<Measured, Box<dyn Error>> {
        let value: Value = serde_json::from_str(line)?;
        let number =
            |name: &str| value[name].as_f64().ok_or(format!("the guest has not printed {name}: {line}"));
        let (seconds, samples) = (number("seconds")?, number("samples")?);
        let expected = SAMPLES_PER_S * f64::from(MEASURED_S.1 - MEASURED_S.0);
        if samples < (1.0 - MISSED) * expected {
            return Err(format!("invalid: the guest was too slow: {samples} samples in {seconds} s").into());
        }
        let goodput = value["goodput_mbit_s"].as_array().into_iter().flatten();
        Ok(Measured {
            goodput_mbit_s: goodput.filter_map(Value::as_f64).collect(),
            sent_mbit_s: number("sent_mbit_s")?,
            waiting_packets: number("queue_packets")? - if counts_sent { number("busy")? } else { 0.0 },
        })
    }
}

impl Lab {
    fn command_line(&self, seed: u64) -> String {
        let flows = self.flows.iter().zip((self.starts_ms)(seed));
        let flows: Vec<String> =
            flows.map(|((name, tos), ms)| format!("{name}:{tos}:{:.6}", ms / 1e3)).collect();
        format!(
            "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check lpj=4000000 tsc=reliable lab.queue={} lab.delay={}ms \
             lab.run={seed},{},{},{},{}",
            self.queue.replace(' ', ","),
            self.delay_ms,
            MEASURED_S.0,
            MEASURED_S.1,
            self.trace_s.unwrap_or_default(),
            flows.join(","),
        )
    }

    /// Runs the guest of `folder` once. Returns what it has measured and all that it has printed.
    ///
    /// # Errors
    /// If the guest does not start, or was too slow to measure.
    pub fn run(&self, folder: &Path, seed: u64) -> Result<(Measured, String), Box<dyn Error>> {
        let clock = format!("shift={},sleep=off", self.shift);
        let output = Command::new("qemu-system-x86_64")
            .args(["-M", "pc,hpet=off", "-cpu", "qemu64", "-accel", "tcg,thread=single", "-icount", &clock])
            .args([
                "-smp",
                "1",
                "-m",
                "768",
                "-display",
                "none",
                "-nodefaults",
                "-serial",
                "stdio",
                "-no-reboot",
            ])
            .arg("-kernel")
            .arg(folder.join("vmlinuz"))
            .arg("-initrd")
            .arg(folder.join("initrd"))
            .args(["-append", &self.command_line(seed)])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("qemu-system-x86_64: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let figures = printed.lines().find_map(|line| line.strip_prefix("FIGURES "));
        let Some(figures) = figures else {
            return Err(format!(
                "the guest has failed: {printed}{}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        };
        Ok((Measured::read(figures, self.queue.starts_with("netem"))?, printed))
    }

    /// Runs the guest with each of the first `runs` seeds, as many at a time as there are cores. Prints what each has measured, and those
    /// that have failed.
    pub fn runs(&self, folder: &Path, runs: u64) -> Vec<Measured> {
        let (next, measured) = (Mutex::new(1..=runs), Mutex::new(Vec::new()));
        let work = || {
            while let Some(seed) = next.lock().ok().and_then(|mut seeds| seeds.next()) {
                match self.run(folder, seed) {
                    Ok((one, printed)) => {
                        let lines = printed
                            .lines()
                            .filter(|line| line.starts_with("TRACE") || line.starts_with("FIGURES"));
                        lines.for_each(|line| eprintln!("seed {seed}: {line}"));
                        measured.lock().expect("no thread panics with it").push(one);
                    }
                    Err(error) => eprintln!("seed {seed}: {error}"),
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
        measured.into_inner().unwrap_or_default()
    }
}

/// Returns the release of the kernel in `folder`, or why there is none to run.
///
/// # Errors
/// If the guest has not been built.
pub fn version(folder: &Path) -> Result<String, String> {
    let version = std::fs::read_to_string(folder.join("version"));
    version.map(|text| text.trim().to_owned()).map_err(|_| {
        format!("{} has no kernel: run `bench/kernel/build {}` first", folder.display(), folder.display())
    })
}
