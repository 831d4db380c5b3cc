//! Verdicts known beforehand: misses with their causes, and verdicts that differ with the second set of seeds.
//!
//! An explanation stores the value that it explains, and a verdict on the edge the value of the other seeds. Each is held against
//! the findings of every run: one that does not hold any more is a fault that `study --check` reports.

use crate::extent::Extent;
use crate::verdict::{Cause, Finding, Verdict};
use serde::Deserialize;

/// A miss whose cause is known, and shown by a run or by the paper's own words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Miss {
    /// The entry.
    pub entry: String,
    /// The check.
    pub check: String,
    /// The finding of the check, as the table names it; all of them if it is left out.
    pub at: Option<String>,
    /// The kind of cause.
    pub cause: Cause,
    /// The cause, in a sentence or two.
    pub why: String,
    /// The value that is explained.
    pub value: f64,
    /// Another value is another miss if it is farther away than this.
    pub within: f64,
    /// The check of the same entry whose runs differ in the named thing alone, and which is met.
    pub shown_by: Option<String>,
    /// Passages of the paper that contradict each other.
    #[serde(default)]
    pub quotes: Vec<String>,
}

/// A finding whose verdict is another one with the second set of seeds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The entry.
    pub entry: String,
    /// The check.
    pub check: String,
    /// The finding of the check, as the table names it.
    pub at: String,
    /// The value with the second seeds.
    pub second: f64,
}

/// All that is known of a paper's verdicts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Misses of the whole run.
    #[serde(rename = "miss", default)]
    pub full: Vec<Miss>,
    /// Misses of the quick run.
    #[serde(default)]
    pub quick: Vec<Miss>,
    /// Verdicts of the whole run that hang on its seeds.
    #[serde(rename = "edge", default)]
    pub edges: Vec<Edge>,
}

impl Miss {
    fn concerns(&self, finding: &Finding) -> bool {
        let is_there = self.at.as_ref().is_none_or(|at| *at == finding.at);
        finding.decides() && finding.check == self.check && is_there
    }

    fn name(&self) -> String {
        named(&self.check, self.at.as_deref())
    }

    /// Returns the reason that it does not hold.
    fn fault(&self, findings: &[Finding]) -> Option<String> {
        let name = self.name();
        let mut ours = findings.iter().filter(|finding| self.concerns(finding)).peekable();
        if ours.peek().is_none() {
            return Some(format!("{name}: an explanation is stored, and there is no such finding"));
        }
        ours.find_map(|finding| self.value_fault(finding)).or_else(|| self.evidence_fault(findings))
    }

    fn value_fault(&self, finding: &Finding) -> Option<String> {
        let (name, value) = (self.name(), finding.value.unwrap_or(f64::NAN));
        if finding.verdict != Verdict::Missed {
            return Some(format!("{name}: an explanation is stored, and the band is met ({value})"));
        }
        let moved = (value - self.value).abs() > self.within || value.is_nan();
        let (stored, within) = (self.value, self.within);
        moved.then(|| format!("{name}: {value} is explained as {stored} ± {within}: explain it anew"))
    }

    fn evidence_fault(&self, findings: &[Finding]) -> Option<String> {
        let name = self.name();
        let Some(shown_by) = &self.shown_by else {
            let nothing = self.quotes.len() < 2;
            return nothing
                .then(|| format!("{name}: neither a run nor two passages of the paper explain this"));
        };
        let mut runs = findings.iter().filter(|finding| finding.check == *shown_by).peekable();
        let is_met = runs.peek().is_some() && runs.all(|finding| finding.verdict == Verdict::Met);
        (!is_met).then(|| format!("{name}: the run that explains it, {shown_by}, is not met"))
    }
}

impl Edge {
    fn concerns(&self, finding: &Finding) -> bool {
        finding.decides() && finding.check == self.check && finding.at == self.at
    }
}

fn named(check: &str, at: Option<&str>) -> String {
    [Some(check), at.filter(|at| !at.is_empty())].into_iter().flatten().collect::<Vec<_>>().join(" at ")
}

impl Known {
    /// Returns the misses of one entry.
    pub(crate) fn of(mut self, entry: &str) -> Known {
        self.full.retain(|miss| miss.entry == entry);
        self.quick.retain(|miss| miss.entry == entry);
        self.edges.retain(|edge| edge.entry == entry);
        self
    }

    /// Marks explained misses and verdicts on the edge, and returns the faults of this list.
    pub(crate) fn mark(&self, findings: &mut [Finding], extent: Extent) -> Vec<String> {
        match extent {
            Extent::Quick => explain(findings, &self.quick),
            Extent::Second => self.mark_second(findings),
            Extent::Usual | Extent::Full => {
                let mut faults = explain(findings, &self.full);
                faults.extend(self.edges.iter().filter_map(|edge| mark_edge(findings, edge)));
                faults
            }
        }
    }

    /// Marks findings of the second seeds: a value may be another one, but the verdict has to be the same, or be marked.
    fn mark_second(&self, findings: &mut [Finding]) -> Vec<String> {
        let mut faults = Vec::new();
        for finding in findings.iter_mut().filter(|finding| finding.decides()) {
            let miss = self.full.iter().find(|miss| miss.concerns(finding));
            let edge = self.edges.iter().find(|edge| edge.concerns(finding));
            let turned = (finding.verdict == Verdict::Missed) != miss.is_some();
            let name = named(&finding.check, Some(&finding.at));
            match (turned, edge) {
                (true, None) => {
                    faults.push(format!("{name}: not the verdict of the first seeds: mark it as an edge"))
                }
                (false, Some(_)) => {
                    faults.push(format!("{name}: marked as an edge, and the verdict is the same"))
                }
                _ => {}
            }
            finding.on_the_edge = edge.map(|edge| edge.second);
            finding.explained = miss.map(|miss| (miss.cause, miss.why.clone()));
            if finding.verdict == Verdict::Missed && (miss.is_some() || edge.is_some()) {
                finding.verdict = Verdict::Explained;
            }
        }
        faults
    }
}

fn explain(findings: &mut [Finding], misses: &[Miss]) -> Vec<String> {
    let mut faults = Vec::new();
    for miss in misses {
        if let Some(fault) = miss.fault(findings) {
            faults.push(fault);
            continue;
        }
        for finding in findings.iter_mut().filter(|finding| miss.concerns(finding)) {
            finding.verdict = Verdict::Explained;
            finding.explained = Some((miss.cause, miss.why.clone()));
        }
    }
    faults
}

fn mark_edge(findings: &mut [Finding], edge: &Edge) -> Option<String> {
    let Some(finding) = findings.iter_mut().find(|finding| edge.concerns(finding)) else {
        let name = named(&edge.check, Some(&edge.at));
        return Some(format!("{name}: marked as an edge, and there is no such finding"));
    };
    finding.on_the_edge = Some(edge.second);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Band;
    use crate::judge::Value;

    fn known(text: &str) -> Known {
        toml::from_str(text).unwrap()
    }

    /// Returns the finding of a check with the band "at most 1".
    fn finding(value: f64) -> Vec<Finding> {
        let value = Value { at: "20 ms".to_owned(), value, half_width: None, seeds: 4 };
        let band = Band { max: Some(1.0), ..Band::default() };
        vec![Finding::blank("share", "share", "", None).with(value, band, None)]
    }

    const EDGE: &str = "[[edge]]\nentry = 'a'\ncheck = 'share'\nat = '20 ms'\nsecond = 1.1";
    const MISS: &str = "[[miss]]\nentry = 'a'\ncheck = 'share'\ncause = 'band'\nwhy = 'So.'\nvalue = 1.2\nwithin = 0.1\nquotes = ['a', 'b']";

    #[test]
    fn a_verdict_on_the_edge_keeps_its_verdict_and_is_marked() {
        let mut findings = finding(0.9);
        assert_eq!(known(EDGE).mark(&mut findings, Extent::Usual), Vec::<String>::new());
        assert_eq!((findings[0].verdict, findings[0].on_the_edge), (Verdict::Met, Some(1.1)));
    }

    #[test]
    fn a_mark_of_a_finding_that_is_not_there_is_a_fault() {
        let faults = known(&EDGE.replace("20 ms", "30 ms")).mark(&mut finding(0.9), Extent::Usual);
        assert!(faults[0].contains("there is no such finding"), "{faults:?}");
    }

    #[test]
    fn a_verdict_that_differs_with_the_second_seeds_has_to_be_marked() {
        let unmarked = known("").mark(&mut finding(1.1), Extent::Second);
        assert!(unmarked[0].starts_with("share at 20 ms: not the verdict"), "{unmarked:?}");
        let mut findings = finding(1.1);
        assert_eq!(known(EDGE).mark(&mut findings, Extent::Second), Vec::<String>::new());
        assert_eq!(findings[0].verdict, Verdict::Explained);
    }

    #[test]
    fn a_mark_without_a_difference_is_a_fault() {
        let faults = known(EDGE).mark(&mut finding(0.9), Extent::Second);
        assert!(faults[0].contains("the verdict is the same"), "{faults:?}");
    }

    #[test]
    fn an_explained_miss_may_have_another_value_with_the_second_seeds_and_no_other_verdict() {
        assert_eq!(known(MISS).mark(&mut finding(1.9), Extent::Second), Vec::<String>::new());
        assert_eq!(known(MISS).mark(&mut finding(0.9), Extent::Second).len(), 1);
        assert_eq!(known(MISS).mark(&mut finding(1.9), Extent::Usual).len(), 1);
    }
}
