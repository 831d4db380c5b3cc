//! The cost of the background to the foreground: each flow and each link with the background and without.

use super::completion_cost::FlowInRun;
use super::crossing::Crossings;
use super::{CompletionCost, FlowFigures, Outcome, Run, Totals, WindowFigures};
use crate::scenario::{Flow, Role, Scenario, Window};
use crate::traffic::Traffic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// A foreground flow in one window, with the background and without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The window.
    pub window: String,
    /// The flow.
    pub flow: String,
    /// How long its transfers took, for a flow that ends or makes several: the cost that counts for it.
    #[serde(flatten)]
    pub completion: CompletionCost,
    /// Its goodput with the background over its goodput without. None if it sent nothing without, or if it is absent
    /// from the window. Also none if it had sent all it had before the window's end: completion times then give the
    /// cost of the background.
    pub kept: Option<f64>,
    /// Its p95 delay with the background minus without, ms, for flows that measure delay.
    pub added_delay_p95_ms: Option<f64>,
    /// The same of the mean.
    pub added_delay_mean_ms: Option<f64>,
}

/// A link in one window, with the background and without. A link goes one way, so this is the comparison of a direction, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkComparison {
    /// The window.
    pub window: String,
    /// The link.
    pub link: String,
    /// Goodput with the background over goodput without, of all foreground flows together. A flow counts if its data
    /// cross the link and it has a `kept` of its own in this window. None if there is no such flow.
    pub kept: Option<f64>,
    /// The p95 of the time in the link's queue with the background minus without, ms.
    pub added_delay_p95_ms: Option<f64>,
    /// The same of the mean.
    pub added_delay_mean_ms: Option<f64>,
}

impl Outcome {
    /// Compares `run` with `baseline` for every window that both have. Without background flows in the scenario there is
    /// nothing to compare: the two are the same run.
    pub fn compare(scenario: &Scenario, run: &Run, baseline: &Run) -> Vec<Comparison> {
        if scenario.flow.iter().all(|flow| flow.role == Role::Foreground) {
            return Vec::new();
        }
        let known = Known::of(scenario, run, baseline);
        let mut comparison = Vec::new();
        for with in &run.windows {
            if let Some(without) = baseline.windows.iter().find(|other| other.window == with.window) {
                let window = scenario.measure.iter().find(|window| window.name == with.window);
                comparison.extend(known.compare(window, with, without));
            }
        }
        comparison
    }

    /// Takes in the completion times that the runs have, where the comparison is of a format without them.
    pub(super) fn with_completion_times(mut self) -> Outcome {
        if let Some(baseline) = &self.baseline {
            let known = Known::of(&self.scenario, &self.run, baseline);
            for compared in &mut self.comparison {
                let window = self.scenario.measure.iter().find(|window| window.name == compared.window);
                compared.completion = known.completion(&compared.flow, window);
            }
        }
        self
    }

    /// Compares each link that data cross in every window that `run` and `baseline` have; `flows` is what [`Outcome::compare`]
    /// found.
    pub fn compare_links(
        scenario: &Scenario,
        run: &Run,
        baseline: &Run,
        flows: &[Comparison],
    ) -> Vec<LinkComparison> {
        if scenario.flow.iter().all(|flow| flow.role == Role::Foreground) {
            return Vec::new();
        }
        let crossings = Crossings::of(scenario);
        let mut comparison = Vec::new();
        for with in &run.windows {
            let Some(without) = baseline.windows.iter().find(|other| other.window == with.window) else {
                continue;
            };
            let rates = flows.iter().filter(|flow| flow.window == with.window && flow.kept.is_some());
            let compared: HashSet<&str> = rates.map(|flow| flow.flow.as_str()).collect();
            let links = with.links.iter().zip(crossings.links());
            for (link, crossing) in links.filter(|(_, crossing)| !crossing.is_empty()) {
                let goodput_bit_s = |window: &WindowFigures| {
                    let counts = |flow: &&FlowFigures| {
                        let name = flow.flow.as_str();
                        compared.contains(name) && crossing.contains_key(name)
                    };
                    window.flows.iter().filter(counts).map(|flow| flow.goodput_bit_s).sum::<f64>()
                };
                let alone_bit_s = goodput_bit_s(without);
                let alone = without.link(&link.link).and_then(|link| link.queuing_delay);
                let delays = link.queuing_delay.zip(alone);
                comparison.push(LinkComparison {
                    window: with.window.clone(),
                    link: link.link.clone(),
                    kept: (alone_bit_s > 0.0).then(|| goodput_bit_s(with) / alone_bit_s),
                    added_delay_p95_ms: delays.map(|(with, without)| with.p95_ms - without.p95_ms),
                    added_delay_mean_ms: delays.map(|(with, without)| with.mean_ms - without.mean_ms),
                });
            }
        }
        comparison
    }
}

/// Facts that decide whether a flow's goodput in a window can be compared.
struct Known<'a> {
    /// Counts of each flow: with the background, and without.
    totals: [HashMap<&'a str, FlowInRun<'a>>; 2],
    flows: HashMap<&'a str, &'a Flow>,
    /// When each transfer with an end came to it in the run without background, s.
    ends_s: HashMap<&'a str, f64>,
}

impl<'a> Known<'a> {
    fn of(scenario: &'a Scenario, run: &'a Run, baseline: &'a Run) -> Known<'a> {
        let flows: HashMap<&str, &Flow> =
            scenario.flow.iter().map(|flow| (flow.name.as_str(), flow)).collect();
        let end_s = |totals: &'a Totals| {
            let flow = flows.get(totals.flow.as_str())?;
            let is_sized = matches!(flow.traffic, Traffic::Size(_));
            let took_s = totals.completed_in_s.filter(|_| is_sized)?;
            Some((totals.flow.as_str(), flow.start.as_secs_f64() + took_s))
        };
        let ends_s = baseline.totals.iter().filter_map(end_s).collect();
        let totals = [run, baseline].map(|run| {
            let of = |totals: &'a Totals| {
                let flow = flows.get(totals.flow.as_str())?;
                Some((totals.flow.as_str(), FlowInRun { flow, totals, duration_s: run.duration_s }))
            };
            run.totals.iter().filter_map(of).collect()
        });
        Known { totals, flows, ends_s }
    }

    /// Returns how long the transfers of a flow took; nothing where it has no part in `window`.
    fn completion(&self, flow: &str, window: Option<&Window>) -> CompletionCost {
        let Some(window) = window else { return CompletionCost::default() };
        let runs = self.totals.each_ref().map(|totals| totals.get(flow));
        let is_over = runs.iter().all(|run| run.is_some_and(|run| run.ended_before(window)));
        if is_over || self.flows.get(flow).is_none_or(|flow| flow.start >= window.to) {
            return CompletionCost::default();
        }
        let [with, without] = runs.map(|run| run?.times(window));
        CompletionCost::of(with, without)
    }

    /// Compares each foreground flow of a window; `window` is `None` where the scenario does not have it.
    fn compare(
        &self,
        window: Option<&Window>,
        with: &WindowFigures,
        without: &WindowFigures,
    ) -> Vec<Comparison> {
        let alone: HashMap<&str, &FlowFigures> =
            without.flows.iter().map(|flow| (flow.flow.as_str(), flow)).collect();
        let foreground = with.flows.iter().filter(|flow| flow.role == Role::Foreground);
        let compared = |flow: &FlowFigures| {
            let alone = alone.get(flow.flow.as_str())?;
            let is_absent = window.is_some_and(|window| self.is_absent(&flow.flow, window));
            let has_ended = window.is_some_and(|window| self.has_ended(&flow.flow, window));
            let delays = flow.queuing_delay.zip(alone.queuing_delay).filter(|_| !is_absent);
            let is_a_rate = alone.goodput_bit_s > 0.0 && !is_absent && !has_ended;
            Some(Comparison {
                window: with.window.clone(),
                flow: flow.flow.clone(),
                completion: self.completion(&flow.flow, window),
                kept: is_a_rate.then(|| flow.goodput_bit_s / alone.goodput_bit_s),
                added_delay_p95_ms: delays.map(|(with, without)| with.p95_ms - without.p95_ms),
                added_delay_mean_ms: delays.map(|(with, without)| with.mean_ms - without.mean_ms),
            })
        };
        foreground.filter_map(compared).collect()
    }

    /// Returns whether the flow has no part in `window`. The bytes that the queue still holds after a flow's end count for
    /// nobody.
    fn is_absent(&self, flow: &str, window: &Window) -> bool {
        let is_there =
            |flow: &&Flow| flow.start < window.to && flow.stop.is_none_or(|stop| stop > window.from);
        !self.flows.get(flow).is_none_or(is_there)
    }

    /// Returns whether the flow has sent all of its data before the end of `window`, without the background. Its goodput there is how much
    /// it had to send, not how fast it was.
    fn has_ended(&self, flow: &str, window: &Window) -> bool {
        self.ends_s.get(flow).is_some_and(|end_s| *end_s <= window.to.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::Link;
    use afteryou_notation::{Duration, Rate, Size};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns a run with one window and one upload, which has a goodput and, if its transfer ended, a completion time.
    fn run(goodput_bit_s: f64, completed_in_s: Option<f64>) -> Run {
        let upload = FlowFigures {
            flow: "upload".to_owned(),
            role: Role::Foreground,
            goodput_bit_s,
            share_of_payload_capacity: 0.0,
            queuing_delay: None,
            sender: None,
        };
        let window =
            WindowFigures { window: "all".to_owned(), flows: vec![upload], ..WindowFigures::default() };
        let totals = Totals { flow: "upload".to_owned(), completed_in_s, ..Totals::default() };
        Run { windows: vec![window], totals: vec![totals], ..Run::default() }
    }

    /// Returns what an upload from 1 s on keeps in the window from 2 s to 10 s when its 8 Mbit/s become 4.
    fn kept(completed_in_s: Option<f64>, change: impl Fn(&mut Scenario)) -> Option<f64> {
        let link = Link::new(Rate::from_mbit(10), Buffer::Time(ms(100)));
        let flow = |name, role| Flow { start: ms(1000), ..Flow::new(name, role, "cubic", ms(40)) };
        let mut scenario = Scenario {
            flow: vec![flow("upload", Role::Foreground), flow("backup", Role::Background)],
            measure: vec![Window { name: "all".to_owned(), from: ms(2000), to: ms(10_000) }],
            ..Scenario::new("", ms(10_000), link)
        };
        change(&mut scenario);
        let (with, without) = (run(4e6, None), run(8e6, completed_in_s));
        Outcome::compare(&scenario, &with, &without).first().and_then(|compared| compared.kept)
    }

    #[test]
    fn a_flow_that_is_there_keeps_part_of_its_goodput_and_one_that_is_absent_keeps_nothing_to_name() {
        assert_eq!(kept(None, |_| ()), Some(0.5));
        // Its last packets are in the window; it is not.
        assert_eq!(kept(None, |scenario| scenario.flow[0].stop = Some(ms(2000))), None);
        assert_eq!(kept(None, |scenario| scenario.flow[0].start = ms(10_000)), None);
    }

    #[test]
    fn without_a_background_flow_nothing_is_compared() {
        assert_eq!(kept(None, |scenario| drop(scenario.flow.pop())), None);
    }

    #[test]
    fn a_transfer_that_ends_within_the_window_has_a_completion_time_instead() {
        let sized = |scenario: &mut Scenario| scenario.flow[0].traffic = Traffic::Size(Size::from_bytes(1));
        assert_eq!(kept(Some(9.0), sized), None);
        assert_eq!(kept(Some(9.1), sized), Some(0.5));
        assert_eq!(kept(None, sized), Some(0.5));
    }
}
