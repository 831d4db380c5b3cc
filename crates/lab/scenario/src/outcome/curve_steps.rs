//! Sets of flows as the goodput curves show them, for engines that count nothing at the ends of steps.
//!
//! A flow is active in a step if something arrived, or if it is between its start and its end and sends all the time.

use super::{Member, Run, Series, SetFigures, Steps, WindowFigures};
use crate::flow_set::FlowSet;
use crate::network::Network;
use crate::scenario::{Flow, Scenario};
use crate::traffic::Traffic;

/// A flow in a step.
struct Course {
    bytes: f64,
    is_active: bool,
    /// Its share of payload capacity.
    share: f64,
    /// The slowest link that its data cross.
    link: Option<usize>,
}

impl Run {
    /// Measures the sets of `scenario` by this run's windows and curves. Measures of an engine beyond that are left
    /// out. So is everything over time if a flow has no goodput curve of its own.
    pub fn measure_sets(&mut self, scenario: &Scenario) {
        let sets = scenario.sets.iter().filter_map(|set| {
            let window = self.windows.iter().find(|window| window.window == set.window)?;
            let mut figures = SetFigures::of(set, window);
            if let Some(steps) = self.steps(scenario, set, window) {
                let starts = scenario.flow.iter().filter(|flow| set.flows.contains(&flow.name));
                let start = starts.map(|flow| flow.start).min().unwrap_or_default();
                steps.fill(set, start.as_secs_f64().max(window.from_s), &mut figures);
            }
            Some(figures)
        });
        self.sets = sets.collect();
    }

    fn steps(&self, scenario: &Scenario, set: &FlowSet, window: &WindowFigures) -> Option<Steps> {
        let network = scenario.network().ok()?;
        let curve = |flow: &Flow| {
            self.series.iter().find(|curve| curve.of == flow.name && curve.quantity == "goodput")
        };
        let curves: Vec<&Series> = scenario.flow.iter().map(curve).collect::<Option<_>>()?;
        let step_s = set.step.as_secs_f64();
        let mut steps = Steps::new(set);
        // Rounding must not cost the last step.
        let number = ((window.to_s - window.from_s) / step_s + 1e-6).floor() as u64;
        for i in 0..number {
            let from_s = window.from_s + i as f64 * step_s;
            let interval = (from_s, from_s + step_s);
            let courses = scenario.flow.iter().zip(&curves).enumerate();
            let courses: Vec<Course> =
                courses.map(|(i, (flow, curve))| self.course(&network, (i, flow), curve, interval)).collect();
            let flows =
                || scenario.flow.iter().zip(&courses).filter(|(flow, _)| set.flows.contains(&flow.name));
            let member = |(flow, course): (&Flow, &Course)| {
                let competing = scenario.flow.iter().zip(&courses).filter(|(other, theirs)| {
                    other.controller.is_some() && theirs.is_active && theirs.link == course.link
                });
                Member {
                    share: course.share,
                    of_fair_share: flow.controller.as_ref().map(|_| course.share * competing.count() as f64),
                    is_active: course.is_active,
                }
            };
            let members: Vec<Member> = flows().map(member).collect();
            let active = flows().filter(|(_, course)| course.is_active).map(|(_, course)| course.bytes);
            steps.take(interval.1, &members, &[active.collect()]);
        }
        Some(steps)
    }

    fn course(
        &self,
        network: &Network,
        (index, flow): (usize, &Flow),
        curve: &Series,
        (from_s, to_s): (f64, f64),
    ) -> Course {
        let bytes = bytes_between(curve, from_s, to_s);
        let format = flow.packet_format();
        let (payload, overhead) = (format.payload.bytes() as f64, format.overhead.bytes() as f64);
        let capacity = network.rate_of_flow(index) as f64 / 8.0 * payload / (payload + overhead);
        let completed = self.totals.iter().find(|totals| totals.flow == flow.name);
        let completed_s = completed.and_then(|totals| totals.completed_in_s);
        let (start_s, stop_s) =
            (flow.start.as_secs_f64(), flow.stop.map_or(f64::INFINITY, |stop| stop.as_secs_f64()));
        let end_s = completed_s.map_or(stop_s, |took_s| stop_s.min(start_s + took_s));
        let sends_on = flow.active.is_empty() && !matches!(flow.traffic, Traffic::OnOff { .. });
        let links = network.routes[index].forward.iter().copied();
        Course {
            bytes,
            is_active: bytes > 0.0 || (sends_on && start_s < to_s && end_s > from_s),
            share: bytes / (to_s - from_s) / capacity.max(1.0),
            link: links.min_by_key(|link| network.links[*link].link.rate.bits_per_second()),
        }
    }
}

/// Returns the bytes under a goodput curve between two times; a value holds for its step.
fn bytes_between(curve: &Series, from_s: f64, to_s: f64) -> f64 {
    let first = ((from_s - curve.start_s) / curve.step_s).floor().max(0.0) as usize;
    let mut bytes = 0.0;
    for (i, value) in curve.values.iter().enumerate().skip(first) {
        let begin_s = curve.start_s + i as f64 * curve.step_s;
        if begin_s >= to_s {
            break;
        }
        let overlap_s = (begin_s + curve.step_s).min(to_s) - begin_s.max(from_s);
        bytes += value.unwrap_or(0.0) * 1e6 / 8.0 * overlap_s.max(0.0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::outcome::FlowFigures;
    use crate::{Link, Role, Window};
    use afteryou_notation::{Duration, Rate};

    fn curve(of: &str, values: &[f64]) -> Series {
        Series {
            of: of.to_owned(),
            quantity: "goodput".to_owned(),
            unit: "Mbit/s".to_owned(),
            start_s: 0.0,
            step_s: 0.5,
            values: values.iter().copied().map(Some).collect(),
        }
    }

    #[test]
    fn bytes_are_the_area_under_the_curve() {
        let curve = curve("one", &[8.0, 16.0, 0.0, 8.0]);
        assert_eq!(bytes_between(&curve, 0.0, 2.0), 2e6);
        assert_eq!(bytes_between(&curve, 0.25, 0.75), 0.75e6);
        assert_eq!(bytes_between(&curve, 1.0, 9.0), 0.5e6);
    }

    /// Two flows on a link of 10 Mbit/s. In the first step both have 4 Mbit/s, in the second one 8 and the other nothing.
    #[test]
    fn a_set_is_measured_by_curves() {
        let ms = Duration::from_millis;
        let flows = ["one", "two"].map(|name| Flow::new(name, Role::Background, "ledbat", ms(40)));
        let link = Link::new(Rate::from_mbit(10), Buffer::Time(ms(40)));
        let mut scenario = Scenario::new("", ms(2000), link);
        scenario.measure = vec![Window { name: "all".to_owned(), from: ms(0), to: ms(2000) }];
        scenario.sets = vec![FlowSet::new("all", vec!["one".to_owned(), "two".to_owned()])];
        scenario.flow = flows.to_vec();
        let figures = |flow: &Flow, mbit: f64| FlowFigures {
            flow: flow.name.clone(),
            role: flow.role,
            goodput_bit_s: mbit * 1e6,
            share_of_payload_capacity: mbit / 10.0,
            queuing_delay: None,
            sender: None,
        };
        let window = WindowFigures {
            window: "all".to_owned(),
            to_s: 2.0,
            flows: vec![figures(&flows[0], 6.0), figures(&flows[1], 2.0)],
            ..WindowFigures::default()
        };
        let series = vec![curve("one", &[4.0, 4.0, 8.0, 8.0]), curve("two", &[4.0, 4.0, 0.0, 0.0])];
        let mut run = Run { windows: vec![window], series, ..Run::default() };
        run.measure_sets(&scenario);
        let set = run.sets.remove(0);
        // Jain of (6, 2) is 64 / 80; of (4, 4) 1, of (8, 0) 1/2.
        assert_eq!((set.goodput_bit_s, set.fairness), (8e6, Some(0.8)));
        let short = set.short_term.unwrap();
        assert_eq!((short.steps, short.mean, short.p5), (2, 0.75, 0.5));
        let starved = set.starved.unwrap();
        assert_eq!((starved.longest_s, starved.flow.as_deref()), (1.0, Some("two")));
        run.series.clear();
        run.measure_sets(&scenario);
        assert_eq!((run.sets[0].short_term, run.sets[0].fairness), (None, Some(0.8)));
    }
}
