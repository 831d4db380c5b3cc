//! The resources that a process has used.

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use std::fmt;
use std::str::FromStr;

/// CPU time and memory of a process.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// User and system, seconds.
    pub cpu_s: f64,
    /// Peak resident memory, MB.
    pub rss_mb: f64,
}

impl Usage {
    /// Returns the usage of this process so far.
    pub fn now() -> anyhow::Result<Usage> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        // `getrusage` counts the memory of the process that forked this one, too.
        let status = std::fs::read_to_string("/proc/self/status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb: f64 = peak.and_then(|line| line.split_whitespace().next()).unwrap_or("0").parse()?;
        Ok(Usage { cpu_s: micros as f64 / 1e6, rss_mb: kb * 1024.0 / 1e6 })
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cpu_s, self.rss_mb)
    }
}

impl FromStr for Usage {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Usage> {
        let (cpu, rss) = text.split_once(' ').ok_or_else(|| anyhow::anyhow!("no usage in {text:?}"))?;
        Ok(Usage { cpu_s: cpu.parse()?, rss_mb: rss.trim().parse()? })
    }
}
