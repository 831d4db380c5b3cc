//! The live view of the demo.

use super::timetable::{ALONE, BACKUP, CALL, UPLOAD};
use crate::live::{Curve, Frame, Mark};
use afteryou_bed::run::BedProgress;
use afteryou_scenario::Scenario;

/// Below this rate a transfer counts as silent, Mbit/s.
const SILENT_MBIT: f64 = 0.05;

/// Collects the curves of a run from its states.
pub struct Show {
    upload_s: (f64, f64),
    /// The verdict's window of the backup alone; none if the file is too short for it.
    alone_s: Option<(f64, f64)>,
    capacity_mbit: f64,
    /// The link's capacity for payload of the backup and of the upload, Mbit/s. The verdict's shares are of these.
    payload_mbit: [f64; 2],
    expected_s: f64,
    is_baseline: bool,
    rates: Vec<Curve>,
    queue: Curve,
    /// The backup's received bytes while it was alone.
    alone: Received,
    /// The upload's received bytes during its stay, beside the backup and without it.
    stay: [Received; 2],
}

/// Payload received as it grew: time in s and bytes.
#[derive(Default)]
struct Received(Vec<(f64, u64)>);

impl Received {
    /// Returns the mean rate of the first `seconds`, Mbit/s; none before anything was received.
    fn mbit(&self, seconds: f64) -> Option<f64> {
        let first = self.0.first()?;
        let last = self.0.iter().take_while(|point| point.0 <= first.0 + seconds).last()?;
        let (seconds, bytes) = (last.0 - first.0, last.1.checked_sub(first.1)?);
        (seconds > 0.0 && bytes > 0).then(|| bytes as f64 * 8e-6 / seconds)
    }

    fn seconds(&self) -> f64 {
        self.0.first().zip(self.0.last()).map_or(0.0, |(first, last)| last.0 - first.0)
    }
}

impl Show {
    /// Creates a show of `scenario` that is expected to take `expected_s` without its baseline.
    pub fn new(scenario: &Scenario, expected_s: f64) -> Show {
        let flow = |name: &str| scenario.flow.iter().find(|flow| flow.name == name);
        let upload = flow(UPLOAD);
        let alone = scenario.measure.iter().find(|window| window.name == ALONE);
        let capacity_mbit = scenario.link.rate.bits_per_second() as f64 / 1e6;
        let payload_mbit = |name: &str| {
            let format = flow(name).map(|flow| flow.packet_format());
            let payload_share = format.map_or(1.0, |format| {
                let (payload, overhead) = (format.payload.bytes() as f64, format.overhead.bytes() as f64);
                payload / (payload + overhead)
            });
            capacity_mbit * payload_share
        };
        let seconds =
            |time: Option<afteryou_scenario::Duration>| time.map_or(f64::INFINITY, |time| time.as_secs_f64());
        Show {
            upload_s: (seconds(upload.map(|flow| flow.start)), seconds(upload.and_then(|flow| flow.stop))),
            alone_s: alone.map(|window| (window.from.as_secs_f64(), window.to.as_secs_f64())),
            capacity_mbit,
            payload_mbit: [BACKUP, UPLOAD].map(payload_mbit),
            expected_s,
            is_baseline: false,
            rates: Vec::new(),
            queue: queue(),
            alone: Received::default(),
            stay: Default::default(),
        }
    }

    /// Takes in a state and returns what to draw.
    pub fn frame(&mut self, progress: &BedProgress) -> Frame {
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
        self.count(progress);
        let backup = progress.flows.iter().find(|flow| flow.name == BACKUP);
        let target = backup.and_then(|flow| flow.controller?.target);
        Frame {
            elapsed_s: progress.elapsed_s,
            total_s: self.total_s(progress),
            stage: self.stage(progress),
            so_far: self.so_far(),
            target_ms: target.map(|target| target.as_millis_f64()),
            marks: self.marks(progress),
            rates: self.rates.clone(),
            queue: self.queue.clone(),
            capacity_mbit: self.capacity_mbit,
        }
    }

    /// Takes in what the verdict's numbers are made of.
    fn count(&mut self, progress: &BedProgress) {
        let (came_s, left_s) = self.upload_s;
        let received = |name: &str| {
            let flow = progress.flows.iter().find(|flow| flow.name == name)?;
            Some((progress.at_s, flow.received_bytes))
        };
        if (came_s..=left_s).contains(&progress.at_s) {
            self.stay[usize::from(progress.is_baseline)].0.extend(received(UPLOAD));
        }
        if self
            .alone_s
            .is_some_and(|(from, to)| !progress.is_baseline && (from..=to).contains(&progress.at_s))
        {
            self.alone.0.extend(received(BACKUP));
        }
    }

    /// Returns the numbers of the verdict so far, in a sentence; nothing before there is one.
    fn so_far(&self) -> String {
        let [with, without] = &self.stay;
        let seconds = with.seconds().min(without.seconds());
        let per_cent = |part: f64| format!("{:.0} %", 100.0 * part);
        if let Some((with, without)) = with.mbit(seconds).zip(without.mbit(seconds)) {
            return format!(
                "so far the upload kept {} of its speed beside the backup",
                per_cent(with / without)
            );
        }
        let [backup_mbit, upload_mbit] = self.payload_mbit;
        let share = |received: &Received, of_mbit: f64| {
            let mbit = received.mbit(f64::INFINITY)?;
            Some(per_cent(mbit / of_mbit))
        };
        match (share(&self.alone, backup_mbit), share(with, upload_mbit)) {
            (Some(alone), None) => format!("so far the backup alone used {alone} of the link"),
            (Some(alone), Some(with)) => {
                format!("so far the backup alone used {alone} of the link, and the upload has {with} of it")
            }
            (None, Some(with)) => format!("so far the upload has {with} of the link"),
            (None, None) => String::new(),
        }
    }

    /// Returns the events that have happened.
    fn marks(&self, progress: &BedProgress) -> Vec<Mark> {
        let marks = [(self.upload_s.0, "upload arrives"), (self.upload_s.1, "upload leaves")];
        let past = marks.into_iter().filter(|mark| mark.0 <= progress.at_s);
        past.map(|(at_s, text)| Mark { at_s, text }).collect()
    }

    /// Returns how long the run should take: the engine has a file's limit only.
    fn total_s(&self, progress: &BedProgress) -> f64 {
        let baseline_s = self.upload_s.1 - self.upload_s.0 + 2.0;
        progress.total_s.min(self.expected_s + baseline_s).max(progress.elapsed_s)
    }

    fn stage(&self, progress: &BedProgress) -> String {
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

    fn progress(at_s: f64, is_baseline: bool) -> BedProgress {
        let flow = |name: &str, role| FlowProgress {
            name: name.to_owned(),
            role,
            rate_mbit: 19.0,
            received_bytes: 1,
            controller: None,
        };
        BedProgress {
            is_baseline,
            at_s,
            elapsed_s: at_s,
            total_s: 42.0,
            flows: vec![flow(BACKUP, Role::Background), flow(CALL, Role::Foreground)],
            queue_ms: Some(60.0),
        }
    }

    #[test]
    fn the_verdicts_numbers_appear_as_soon_as_they_can_be_known() {
        let mut show = Show::new(&scenario(), 30.0);
        assert!(show.payload_mbit.iter().all(|mbit| (18.0..20.0).contains(mbit)), "headers take a part");
        show.payload_mbit = [20.0; 2];
        let mut frame = |at_s: f64, is_baseline, backup_mb: f64, upload_mb: f64| {
            let mut progress = progress(at_s, is_baseline);
            progress.flows[0].received_bytes = (backup_mb * 1e6) as u64;
            progress.flows.push(FlowProgress {
                name: UPLOAD.to_owned(),
                received_bytes: (upload_mb * 1e6) as u64,
                ..progress.flows[0].clone()
            });
            show.frame(&progress)
        };
        let first = frame(4.0, false, 4.0, 0.0);
        assert_eq!((first.so_far.as_str(), first.marks.len()), ("", 0));
        // 4 MB in 2 s are 16 of 20 Mbit/s.
        assert_eq!(frame(6.0, false, 8.0, 0.0).so_far, "so far the backup alone used 80 % of the link");
        frame(12.0, false, 20.0, 0.0);
        frame(14.0, false, 20.0, 4.5);
        let stay = frame(16.0, false, 20.0, 9.0);
        assert!(stay.so_far.ends_with("and the upload has 90 % of it"), "{}", stay.so_far);
        assert_eq!(stay.marks, [Mark { at_s: 12.0, text: "upload arrives" }]);
        frame(12.0, true, 0.0, 0.0);
        let alone = frame(14.0, true, 0.0, 4.75);
        // 18 Mbit/s beside the backup, 19 without: only the same two seconds are compared.
        assert_eq!(alone.so_far, "so far the upload kept 95 % of its speed beside the backup");
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
