//! The demo's numbers compared with their bounds, and a verdict in plain words.

use super::timetable::{ALONE, BACK, BACKUP, CALL, SETTLED, STAY, UPLOAD};
use afteryou_scenario::outcome::{Check, Comparison, FlowFigures, Outcome, Verdict};

/// The backup's expected share of the link while it is alone.
const ALONE_AT_LEAST: f64 = 0.88;
/// The share of its speed that the upload must keep over its whole stay.
const KEPT_AT_LEAST: f64 = 0.92;
/// The same from two seconds after its arrival.
const KEPT_SETTLED_AT_LEAST: f64 = 0.98;
/// An upload that arrives needs about half a second to take over from any background flow. In a stay shorter than this, s, it
/// would lose more than the verdict allows.
pub const LEAST_STAY_S: f64 = 8.0;
/// The growth of the call's p95 delay that is allowed while the backup is alone, ms.
const ADDED_DELAY_AT_MOST_MS: f64 = 75.0;
/// The backup's expected share at the end, with the restart option and without.
const BACK_AT_LEAST: (f64, f64) = (0.85, 0.5);

/// The demo's numbers as they were measured.
struct Numbers<'a> {
    outcome: &'a Outcome,
}

/// Adds checks and verdict to the outcome.
pub fn judge(outcome: &mut Outcome) {
    let numbers = Numbers { outcome };
    let checks = numbers.checks();
    let verdict = numbers.verdict(&checks);
    (outcome.checks, outcome.verdict) = (checks, Some(verdict));
}

impl Numbers<'_> {
    fn comparison(&self, window: &str, flow: &str) -> Option<&Comparison> {
        self.outcome.comparison.iter().find(|other| other.window == window && other.flow == flow)
    }

    fn backup(&self, window: &str) -> Option<&FlowFigures> {
        let window = self.outcome.run.windows.iter().find(|other| other.window == window)?;
        window.flows.iter().find(|flow| flow.flow == BACKUP)
    }

    fn kept(&self, window: &str) -> Option<f64> {
        self.comparison(window, UPLOAD)?.kept
    }

    fn added_delay_ms(&self) -> Option<f64> {
        self.comparison(ALONE, CALL)?.added_delay_p95_ms
    }

    /// Returns the later of the two runs' lateness: either spoils the comparison.
    fn lateness_ms(&self) -> Option<(f64, f64)> {
        let runs = [Some(&self.outcome.run), self.outcome.baseline.as_ref()];
        let lateness = runs.into_iter().flatten().filter_map(|run| run.lateness);
        lateness
            .map(|lateness| (lateness.departures.p99_ms, lateness.bound_ms))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn identical(&self) -> Option<bool> {
        self.outcome
            .transfers
            .iter()
            .find(|transfer| transfer.flow == BACKUP)
            .map(|transfer| transfer.identical())
    }

    /// Returns why there can be no verdict on how the backup yields, if that is so.
    fn too_short(&self) -> Option<&'static str> {
        let upload = self.outcome.scenario.flow.iter().find(|flow| flow.name == UPLOAD)?;
        let (came_s, left_s) = (upload.start.as_secs_f64(), upload.stop?.as_secs_f64());
        if self.outcome.run.duration_s + 0.001 < left_s {
            return Some("the file was through before the upload had left");
        }
        // A hair less than eight seconds is rounding, not haste.
        (left_s - came_s + 0.01 < LEAST_STAY_S).then_some("the upload had no time to show what it lost")
    }

    /// Returns whether something that counts could not be measured.
    fn is_incomplete(&self, checks: &[Check]) -> bool {
        checks.iter().any(|check| check.counts && check.value.is_none())
    }

    fn checks(&self) -> Vec<Check> {
        let at_least = |what: &str, value: Option<f64>, least: Option<f64>, counts: bool| Check {
            what: what.to_owned(),
            value: value.map(|value| (value * 1e4).round() / 1e4),
            unit: String::new(),
            at_least: least,
            at_most: None,
            counts,
        };
        let at_most = |what: &str, value: Option<f64>, most: f64| Check {
            what: what.to_owned(),
            value: value.map(|value| (value * 1e3).round() / 1e3),
            unit: "ms".to_owned(),
            at_least: None,
            at_most: Some(most),
            counts: true,
        };
        let share = |window: &str| self.backup(window).map(|flow| flow.share_of_payload_capacity);
        let (late_ms, late_bound_ms) = self.lateness_ms().unzip();
        vec![
            at_least("backup's share of the link while alone", share(ALONE), Some(ALONE_AT_LEAST), false),
            at_least("upload kept of its speed, whole stay", self.kept(STAY), Some(KEPT_AT_LEAST), true),
            at_least(
                "upload kept of its speed, from 2 s after its arrival",
                self.kept(SETTLED),
                Some(KEPT_SETTLED_AT_LEAST),
                true,
            ),
            at_most(
                "delay added to the call, p95, backup alone",
                self.added_delay_ms(),
                ADDED_DELAY_AT_MOST_MS,
            ),
            at_least("backup's share at the end", share(BACK), self.back_at_least(), false),
            at_least(
                "received data identical",
                self.identical().map(|identical| f64::from(u8::from(identical))),
                Some(1.0),
                true,
            ),
            at_most("emulation's own lateness, p99", late_ms, late_bound_ms.unwrap_or_default()),
        ]
    }

    /// Returns the bound on the last sixth, which holds for LEDBAT++; other controllers are shown without one.
    fn back_at_least(&self) -> Option<f64> {
        let backup = self.outcome.scenario.flow.iter().find(|flow| flow.name == BACKUP)?;
        let controller = backup.controller.as_ref().filter(|controller| controller.kind == "ledbat++")?;
        let restarts =
            controller.params.get("restart").is_some_and(|value| ["true", "on", "yes"].contains(&&**value));
        Some(if restarts { BACK_AT_LEAST.0 } else { BACK_AT_LEAST.1 })
    }

    fn verdict(&self, checks: &[Check]) -> Verdict {
        let good = checks.iter().all(|check| !check.counts || check.met()) && self.too_short().is_none();
        Verdict { good, headline: self.headline(checks, good), details: self.details() }
    }

    fn headline(&self, checks: &[Check], good: bool) -> String {
        if self.identical() == Some(false) {
            return "The data arrived changed: this is a bug.".to_owned();
        }
        if let Some(why) = self.too_short() {
            return format!("Too short to judge: {why}.");
        }
        if self.lateness_ms().is_some_and(|(late_ms, bound_ms)| late_ms > bound_ms) {
            return "Invalid measurement: this machine was too busy to emulate a network.".to_owned();
        }
        if self.is_incomplete(checks) {
            return "Nothing to judge: too little came through to be measured.".to_owned();
        }
        match good {
            true => "Nobody noticed the backup.".to_owned(),
            false => "The backup was noticed.".to_owned(),
        }
    }

    fn details(&self) -> Vec<String> {
        let per_cent = |ratio: f64| format!("{:.0} %", ratio * 100.0);
        let mut details = Vec::new();
        if let Some(kept) = self.kept(STAY) {
            let settled =
                self.kept(SETTLED).map(|kept| format!(", and {} from its third second on", per_cent(kept)));
            details.push(format!(
                "The upload kept {} of its speed{}.",
                per_cent(kept),
                settled.unwrap_or_default()
            ));
        }
        if let Some(added_ms) = self.added_delay_ms().map(|added_ms| added_ms.max(0.0)) {
            details.push(format!(
                "While the backup was alone, the call's 95th-percentile delay rose by {added_ms:.0} ms."
            ));
        }
        if let Some(alone) = self.backup(ALONE) {
            let back = self
                .backup(BACK)
                .map(|back| format!(" and {} at the end", per_cent(back.share_of_payload_capacity)));
            let alone = per_cent(alone.share_of_payload_capacity);
            details.push(format!(
                "The backup used {alone} of the link while alone{}.",
                back.unwrap_or_default()
            ));
        }
        if let Some(transfer) = self.outcome.transfers.iter().find(|transfer| transfer.flow == BACKUP) {
            let mb = transfer.received_bytes as f64 / 1e6;
            details.push(match transfer.identical() {
                true => {
                    format!("All {mb:.1} MB arrived as they were sent: both ends have the same BLAKE3 hash.")
                }
                false => format!(
                    "Of {} bytes {} arrived, with another hash.",
                    transfer.sent_bytes, transfer.received_bytes
                ),
            });
        }
        if let Some((late_ms, bound_ms)) = self.lateness_ms().filter(|(late_ms, bound_ms)| late_ms > bound_ms)
        {
            details.push(format!(
                "1 % of the packets were at least {late_ms:.1} ms late; the limit is {bound_ms:.0} ms: close other programs and run it again."
            ));
        }
        details
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::timetable;
    use crate::demo_args::DemoArgs;
    use afteryou_scenario::outcome::{Lateness, Quantiles, Run, Transfer, WindowFigures};
    use afteryou_scenario::Role;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        args: DemoArgs,
    }

    fn outcome(kept: f64, added_ms: f64) -> Outcome {
        let scenario = timetable::scenario(&Only::parse_from(["demo"]).args, None);
        let quiet = Quantiles { samples: 9, p99_ms: 0.4, ..Quantiles::default() };
        let backup = |share| FlowFigures {
            flow: BACKUP.to_owned(),
            role: Role::Background,
            goodput_bit_s: share * 1.93e7,
            share_of_payload_capacity: share,
            queuing_delay: None,
            sender: None,
        };
        let window = |window: &str| WindowFigures {
            window: window.to_owned(),
            from_s: 3.0,
            to_s: 10.0,
            flows: vec![backup(0.97)],
            ..WindowFigures::default()
        };
        let compared = |window: &str, flow: &str| Comparison {
            window: window.to_owned(),
            flow: flow.to_owned(),
            completion: Default::default(),
            kept: Some(kept),
            added_delay_p95_ms: (flow == CALL).then_some(added_ms),
            added_delay_mean_ms: None,
        };
        let lateness = Some(Lateness { departures: quiet, bound_ms: 5.0 });
        let run =
            Run { duration_s: 30.0, windows: vec![window(ALONE), window(BACK)], lateness, ..Run::default() };
        let baseline = Run { lateness, ..Run::default() };
        Outcome {
            comparison: vec![compared(STAY, UPLOAD), compared(SETTLED, UPLOAD), compared(ALONE, CALL)],
            transfers: vec![Transfer {
                flow: BACKUP.to_owned(),
                sent_bytes: 5,
                received_bytes: 5,
                sent_blake3: "ab".to_owned(),
                received_blake3: "ab".to_owned(),
            }],
            ..Outcome::new("bed", "", scenario, run, Some(baseline))
        }
    }

    fn verdict(mut outcome: Outcome) -> Verdict {
        judge(&mut outcome);
        outcome.verdict.unwrap()
    }

    #[test]
    fn an_upload_that_keeps_its_speed_noticed_nothing() {
        let verdict = verdict(outcome(0.99, 60.0));
        assert!(verdict.good, "{verdict:?}");
        assert_eq!(verdict.headline, "Nobody noticed the backup.");
        assert_eq!(
            verdict.details[0],
            "The upload kept 99 % of its speed, and 99 % from its third second on."
        );
    }

    #[test]
    fn each_bound_alone_makes_the_verdict_bad() {
        assert!(!verdict(outcome(0.91, 60.0)).good);
        assert!(!verdict(outcome(0.97, 60.0)).good, "0.97 is not enough once it has settled");
        assert!(!verdict(outcome(0.99, 75.1)).good);
        let mut changed = outcome(0.99, 60.0);
        changed.transfers[0].received_blake3 = "cd".to_owned();
        assert_eq!(verdict(changed).headline, "The data arrived changed: this is a bug.");
        let mut missing = outcome(0.99, 60.0);
        missing.transfers.clear();
        assert!(!verdict(missing).good, "what was not compared is not identical");
    }

    #[test]
    fn a_file_that_ends_early_is_too_short_to_judge() {
        let mut short = outcome(0.99, 60.0);
        short.run.duration_s = 21.9;
        let verdict = verdict(short);
        assert!(!verdict.good && verdict.headline.starts_with("Too short to judge"), "{verdict:?}");
    }

    #[test]
    fn a_stay_that_is_too_short_or_a_number_that_is_missing_is_never_called_noticed() {
        let mut short = outcome(0.8, 60.0);
        short.scenario.flow[1].stop = Some(afteryou_scenario::Duration::from_secs_f64(16.0));
        assert!(verdict(short).headline.starts_with("Too short to judge: the upload had no time"));
        let mut missing = outcome(0.99, 60.0);
        missing.comparison.clear();
        let verdict = verdict(missing);
        assert!(!verdict.good && verdict.headline.starts_with("Nothing to judge"), "{verdict:?}");
    }

    #[test]
    fn a_late_emulation_spoils_the_run_whichever_run_it_was() {
        for in_baseline in [false, true] {
            let mut late = outcome(0.99, 60.0);
            let run = if in_baseline { late.baseline.as_mut().unwrap() } else { &mut late.run };
            run.lateness.as_mut().unwrap().departures.p99_ms = 5.1;
            let verdict = verdict(late);
            assert!(!verdict.good && verdict.headline.starts_with("Invalid measurement"), "{verdict:?}");
        }
    }
}
