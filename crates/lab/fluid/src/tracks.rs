//! Curves: a track for each flow, or for each group of flows where there are too many to draw, as the simulator has them.

use crate::model::Model;
use crate::trajectory::Trajectory;
use afteryou_scenario::outcome::Series;
use afteryou_scenario::{Role, Scenario};

/// More flows than this are drawn as groups.
const MOST_TRACKS: usize = 24;

/// All curves of a run.
pub struct Tracks {
    step_s: f64,
    tracks: Vec<Track>,
    queue: Vec<Option<f64>>,
}

/// Curves of one flow or group.
struct Track {
    name: String,
    members: Vec<usize>,
    /// Payload of a packet, bytes, of each member.
    payloads: Vec<f64>,
    /// Base round-trip time, ms, of a single member.
    rtt_ms: Option<f64>,
    received: f64,
    rate: Vec<Option<f64>>,
    cwnd: Vec<Option<f64>>,
    base_delay: Vec<Option<f64>>,
}

impl Tracks {
    /// Creates empty tracks.
    pub fn new(scenario: &Scenario, step_s: f64) -> Tracks {
        let by_flow = scenario.flow.len() <= MOST_TRACKS;
        let mut tracks: Vec<Track> = Vec::new();
        for (index, flow) in scenario.flow.iter().enumerate() {
            let name = match (by_flow, &flow.group, flow.role) {
                (true, ..) => &flow.name,
                (false, Some(group), _) => group,
                (false, None, Role::Foreground) => "foreground",
                (false, None, Role::Background) => "background",
            };
            let payload = flow.packet_format().payload.bytes() as f64;
            match tracks.iter_mut().find(|track| track.name == *name) {
                Some(track) => {
                    track.members.push(index);
                    track.payloads.push(payload);
                    track.rtt_ms = None;
                }
                None => tracks.push(Track {
                    name: name.to_owned(),
                    members: vec![index],
                    payloads: vec![payload],
                    rtt_ms: Some(flow.rtt.as_secs_f64() * 1e3),
                    received: 0.0,
                    rate: Vec::new(),
                    cwnd: Vec::new(),
                    base_delay: Vec::new(),
                }),
            }
        }
        Tracks { step_s, tracks, queue: Vec::new() }
    }

    /// Returns whether each flow has a track of its own.
    pub fn are_flows(&self) -> bool {
        self.tracks.iter().all(|track| track.members.len() == 1)
    }

    /// Adds a point to each curve.
    pub fn point(&mut self, trajectory: &Trajectory, received: impl Fn(usize) -> f64, queuing_ms: f64) {
        self.queue.push(Some(queuing_ms));
        for track in &mut self.tracks {
            let now = track.members.iter().fold(0.0, |sum, flow| sum + received(*flow));
            track.rate.push(Some((now - track.received) * 8.0 / 1e6 / self.step_s));
            track.received = now;
            track.cwnd.push(track.mean_window(trajectory));
            track.base_delay.push(track.base_ms(trajectory));
        }
    }

    /// Returns the curves.
    pub fn series(&mut self) -> Vec<Series> {
        let step_s = self.step_s;
        let mut series = Vec::new();
        for track in self.tracks.drain(..) {
            let Track { name, rate, cwnd, base_delay, .. } = track;
            let curves =
                [("goodput", "Mbit/s", rate), ("cwnd", "kB", cwnd), ("base_delay", "ms", base_delay)];
            for (quantity, unit, values) in curves {
                if values.iter().any(Option::is_some) {
                    series.push(Series::from_start(&name, quantity, unit, step_s, values));
                }
            }
        }
        series.push(Series::from_start(
            "link",
            "queuing_delay",
            "ms",
            step_s,
            std::mem::take(&mut self.queue),
        ));
        series
    }
}

impl Track {
    /// Returns the mean window of those that are on and have one, kB.
    fn mean_window(&self, trajectory: &Trajectory) -> Option<f64> {
        let (mut sum, mut n) = (0.0, 0u32);
        for (flow, payload) in self.members.iter().zip(&self.payloads) {
            let has_window = !matches!(trajectory.network().senders[*flow].model, Model::Constant(_));
            if has_window && trajectory.is_on(*flow) {
                sum += trajectory.window(*flow) * payload / 1e3;
                n += 1;
            }
        }
        (n > 0).then(|| sum / f64::from(n))
    }

    /// Returns the base round-trip time, ms, that a single delay-based flow assumes.
    fn base_ms(&self, trajectory: &Trajectory) -> Option<f64> {
        let (rtt_ms, flow) = (self.rtt_ms?, self.members[0]);
        let measures = matches!(
            trajectory.network().senders[flow].model,
            Model::Ledbat(_) | Model::Fledbat(_) | Model::LedbatPp(_)
        );
        let error_s = trajectory.base_error_s(flow).filter(|_| measures && trajectory.is_on(flow))?;
        Some(rtt_ms + error_s * 1e3)
    }
}
