//! What the live view shows while the demo runs.

use super::timetable::{BACKUP, CALL, UPLOAD};
use crate::live::{Curve, Frame};
use afteryou_bed::run::Progress;
use afteryou_scenario::Scenario;

/// Below this rate a transfer counts as silent, Mbit/s.
const SILENT_MBIT: f64 = 0.05;

/// Collects the curves of a run from its states.
pub struct Show {
    upload_s: (f64, f64),
    capacity_mbit: f64,
    expected_s: f64,
    is_baseline: bool,
    rates: Vec<Curve>,
    queue: Curve,
}

impl Show {
    /// A show of `scenario` that is expected to take `expected_s` without its baseline.
    pub fn new(scenario: &Scenario, expected_s: f64) -> Show {
        let upload = scenario.flow.iter().find(|flow| flow.name == UPLOAD);
        let seconds =
            |time: Option<afteryou_scenario::Duration>| time.map_or(f64::INFINITY, |time| time.as_secs_f64());
        Show {
            upload_s: (seconds(upload.map(|flow| flow.start)), seconds(upload.and_then(|flow| flow.stop))),
            capacity_mbit: scenario.link.rate.bits_per_second() as f64 / 1e6,
            expected_s,
            is_baseline: false,
            rates: Vec::new(),
            queue: queue(),
        }
    }

    /// Takes in a state and returns what to draw.
    pub fn frame(&mut self, progress: &Progress) -> Frame {
        if progress.is_baseline != self.is_baseline {
            // The baseline is a run of its own and gets curves of its own.
            (self.is_baseline, self.queue) = (progress.is_baseline, queue());
            self.rates.clear();
        }
        for flow in progress.flows.iter().filter(|flow| flow.name != CALL) {
            let at = match self.rates.iter().position(|curve| curve.name == flow.name) {
                Some(at) => at,
                None => {
                    let (name, role) = (flow.name.clone(), Some(flow.role));
                    self.rates.push(Curve { name, role, points: Vec::new(), latest: None });
                    self.rates.len() - 1
                }
            };
            let curve = &mut self.rates[at];
            curve.points.push((progress.at_s, flow.rate_mbit));
            curve.latest = Some(flow.rate_mbit);
        }
        self.queue.points.extend(progress.queue_ms.map(|ms| (progress.at_s, ms)));
        self.queue.latest = progress.queue_ms;
        Frame {
            elapsed_s: progress.elapsed_s,
            total_s: self.total_s(progress),
            stage: self.stage(progress),
            rates: self.rates.clone(),
            queue: self.queue.clone(),
            capacity_mbit: self.capacity_mbit,
        }
    }

    /// The engine knows a file's limit only; we know how long it should take.
    fn total_s(&self, progress: &Progress) -> f64 {
        let baseline_s = self.upload_s.1 - self.upload_s.0 + 2.0;
        progress.total_s.min(self.expected_s + baseline_s).max(progress.elapsed_s)
    }

    fn stage(&self, progress: &Progress) -> String {
        if progress.is_baseline {
            return "for comparison: the same upload, without the backup".to_owned();
        }
        let here = (self.upload_s.0..self.upload_s.1).contains(&progress.at_s);
        let backup = progress.flows.iter().find(|flow| flow.name == BACKUP);
        let controller = backup.and_then(|flow| flow.controller);
        let queue = controller.and_then(|controller| controller.queuing_delay.zip(controller.base_delay));
        match (here, queue) {
            (true, Some((queue, base))) => {
                let (queue, base) = (queue.as_millis_f64(), base.as_millis_f64());
                format!("the upload is here, the backup sees {queue:.0} ms of queue over {base:.0} ms")
            }
            (true, None) => "the upload is here".to_owned(),
            (false, _) if backup.is_some_and(|flow| flow.rate_mbit < SILENT_MBIT) => {
                "the backup starts".to_owned()
            }
            (false, _) if progress.at_s < self.upload_s.0 => "the backup is alone".to_owned(),
            (false, _) => "the upload has left".to_owned(),
        }
    }
}

fn queue() -> Curve {
    Curve { name: "queue".to_owned(), role: None, points: Vec::new(), latest: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_bed::run::FlowProgress;
    use afteryou_scenario::{Role, Scenario};

    fn progress(at_s: f64, is_baseline: bool) -> Progress {
        let flow = |name: &str, role| FlowProgress {
            name: name.to_owned(),
            role,
            rate_mbit: 19.0,
            received_bytes: 1,
            controller: None,
        };
        Progress {
            is_baseline,
            at_s,
            elapsed_s: at_s,
            total_s: 42.0,
            flows: vec![flow(BACKUP, Role::Background), flow(CALL, Role::Foreground)],
            queue_ms: Some(60.0),
        }
    }

    fn scenario() -> Scenario {
        use clap::Parser;
        let cli = crate::cli::Cli::try_parse_from(["afteryou", "demo"]).unwrap();
        match cli.command {
            crate::cli::Command::Demo(args) => super::super::timetable::scenario(&args, None),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_stage_follows_the_time_table() {
        let mut show = Show::new(&scenario(), 30.0);
        assert_eq!(show.frame(&progress(5.0, false)).stage, "the backup is alone");
        assert_eq!(show.frame(&progress(15.0, false)).stage, "the upload is here");
        assert_eq!(show.frame(&progress(25.0, false)).stage, "the upload has left");
        assert!(show.frame(&progress(10.0, true)).stage.starts_with("for comparison"));
    }

    #[test]
    fn curves_grow_with_the_run_and_start_afresh_with_the_baseline() {
        let mut show = Show::new(&scenario(), 30.0);
        show.frame(&progress(1.0, false));
        let frame = show.frame(&progress(1.1, false));
        assert_eq!((frame.rates.len(), frame.rates[0].points.len(), frame.queue.points.len()), (1, 2, 2));
        assert_eq!(show.frame(&progress(10.0, true)).queue.points.len(), 1);
    }
}
