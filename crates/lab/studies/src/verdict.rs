//! Verdicts: each value held against its band, and what follows for a check, an entry and a paper.

use crate::entry::{Band, Entry};
use crate::error::Result;
use crate::judge::Value;
use serde::{Deserialize, Serialize};

/// A value beside its band and the paper's value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The check.
    pub check: String,
    /// The quantity.
    pub what: String,
    /// The finding's unit.
    pub unit: String,
    /// The points that it is about; empty if it is about all of the check.
    pub at: String,
    /// The value, a mean over the seeds; `None` if there was nothing to measure, for the reason in `trouble`.
    pub value: Option<f64>,
    /// Half the width of its 95 % interval, where it is known.
    pub half_width: Option<f64>,
    /// Seeds of the mean.
    pub seeds: usize,
    /// The limits that decide.
    #[serde(serialize_with = "band")]
    pub band: Band,
    /// The paper's own statement.
    pub published: Option<String>,
    /// Whether the paper's own number holds. None where it is the same as the band.
    pub published_met: Option<bool>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason that there is no value.
    pub trouble: Option<String>,
    /// The cause of a miss that is explained, and why.
    pub explained: Option<(Cause, String)>,
    /// The value with the other set of seeds, if the verdict hangs on the seeds.
    pub on_the_edge: Option<f64>,
    /// The run that explains a miss; it decides nothing.
    pub explains: bool,
    /// This is away from the defaults of settings that the paper does not state; it decides nothing.
    pub elsewhere: bool,
    /// Of a run on real packets, the simulator's value at the same points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
}

/// The simulator's value beside a value of real packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// The mean over the seeds.
    pub mean: f64,
    /// Two standard deviations of single seeds: how far one run may lie from the mean.
    pub spread: f64,
}

fn band<S: serde::Serializer>(band: &Band, serializer: S) -> Result<S::Ok, S::Error> {
    [band.min, band.max].serialize(serializer)
}

/// Causes of misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The paper contradicts itself or its own equations.
    PapersSlip,
    /// The paper does not state a setting that decides.
    NotStated,
    /// The paper's data are not public.
    PrivateData,
    /// The band cannot hold: its derivation is wrong.
    Band,
    /// A limit of our engines.
    OurLimit,
    /// Of a run on real packets: the simulator's value at the same points.
    InSim,
}

impl Cause {
    /// Returns the words for tables.
    pub fn words(self) -> &'static str {
        match self {
            Cause::PapersSlip => "the paper's slip",
            Cause::NotStated => "a setting that is not stated",
            Cause::PrivateData => "private data",
            Cause::Band => "the band",
            Cause::OurLimit => "a limit of ours",
            Cause::InSim => "the simulator's value",
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

impl Finding {
    /// Returns a finding of a check without a value.
    pub(crate) fn blank(check: &str, what: &str, unit: &str, published: Option<String>) -> Finding {
        Finding {
            check: check.to_owned(),
            what: what.to_owned(),
            unit: unit.to_owned(),
            at: String::new(),
            value: None,
            half_width: None,
            seeds: 0,
            band: Band::default(),
            published,
            published_met: None,
            verdict: Verdict::Reported,
            trouble: None,
            explained: None,
            on_the_edge: None,
            explains: false,
            elsewhere: false,
            simulated: None,
        }
    }

    /// Returns the same finding with its value, held against the band.
    pub(crate) fn with(self, value: Value, band: Band, published: Option<Band>) -> Finding {
        let verdict = match (band.judges(), band.holds(value.value)) {
            (false, _) => Verdict::Reported,
            (true, true) => Verdict::Met,
            (true, false) => Verdict::Missed,
        };
        Finding {
            at: value.at,
            value: Some(value.value),
            half_width: value.half_width,
            seeds: value.seeds,
            band,
            published_met: published.map(|published| published.holds(value.value)),
            verdict,
            ..self
        }
    }

    /// Returns whether it decides anything.
    pub fn decides(&self) -> bool {
        !self.explains && !self.elsewhere
    }
}

/// The verdict on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There is no band: the value is shown.
    Reported,
    /// Inside the band.
    Met,
    /// Outside, and the cause is known and shown.
    Explained,
    /// Outside.
    Missed,
}

impl Verdict {
    /// Returns the word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Reported => "reported",
            Verdict::Met => "met",
            Verdict::Explained => "missed, explained",
            Verdict::Missed => "missed",
        }
    }
}

/// An entry with its findings.
#[derive(Debug)]
pub struct EntryVerdict {
    /// The paper's short name.
    pub paper: &'static str,
    /// The entry.
    pub entry: &'static Entry,
    /// One for each point and check, in the order of the file.
    pub findings: Vec<Finding>,
    /// Processor time of the runs that this entry is the first to need, s.
    pub cpu_s: f64,
    /// Checks that this run leaves out, because it is a quick one.
    pub left_out: usize,
    /// Faults of the list of explained misses that concern this entry.
    pub stale: Vec<String>,
    /// Of each of its figures the SVG document, if figures were drawn.
    pub figures: Vec<Result<String>>,
}

impl EntryVerdict {
    /// Returns the entry's full name: "gong2012/fig2".
    pub fn name(&self) -> String {
        format!("{}/{}", self.paper, self.entry.id)
    }

    /// Returns the verdict: an entry is met only if each of its findings is.
    pub fn verdict(&self) -> Verdict {
        let deciding = self.findings.iter().filter(|finding| finding.decides());
        deciding.map(|finding| finding.verdict).max().unwrap_or(Verdict::Reported)
    }

    /// Returns whether the band is missed at the defaults, and met elsewhere in the range of settings that the paper does not state.
    pub fn met_elsewhere(&self) -> bool {
        let missed = self.findings.iter().filter(|f| f.decides() && f.verdict >= Verdict::Explained);
        let elsewhere = |check: &str| {
            let mut others = self.findings.iter().filter(|f| f.elsewhere && f.check == check);
            others.any(|finding| finding.verdict == Verdict::Met)
        };
        self.verdict() >= Verdict::Explained && missed.into_iter().all(|finding| elsewhere(&finding.check))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_that_decides_is_the_verdict() {
        assert!(Verdict::Reported < Verdict::Met && Verdict::Met < Verdict::Explained);
        assert!(Verdict::Explained < Verdict::Missed);
    }
}
