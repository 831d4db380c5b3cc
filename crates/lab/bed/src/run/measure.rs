//! From logs and records to figures and curves.

use super::end::End;
use super::log::{Log, LogInner, Timing};
use crate::relay::{Fate, Record};
use afteryou_aqm::{Class, Packet};
use afteryou_base::Span;
use afteryou_cc::Snapshot;
use afteryou_scenario::outcome::{
    class_name, round, ClassFigures, FlowFigures, Lateness, LinkFigures, Mark, Quantiles, Run, Series,
    WindowFigures, BOTTLENECK, REVERSE_PATH,
};
use afteryou_scenario::{Direction, Dscp, Flow, Rate, Scenario, Traffic, Window};
use std::sync::Arc;

/// Steps between two points of a rate curve.
pub(crate) const STEPS_PER_RATE: f64 = 2.0;
/// Time between two points of other curves if the scenario has no `sample`, s.
const STEP_S: f64 = 0.1;

/// Everything that was written down in a run.
pub(crate) struct Raw<'a> {
    pub(crate) timing: Timing,
    pub(crate) scenario: &'a Scenario,
    pub(crate) logs: &'a [Arc<Log>],
    /// Of the link's two directions.
    pub(crate) links: &'a [LinkLog; 2],
    pub(crate) lateness: Option<Lateness>,
    pub(crate) end: End,
}

/// A half-open interval of scenario time, s.
#[derive(Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Interval {
    fn contains(&self, at: Span) -> bool {
        (self.from..self.to).contains(&at.as_secs_f64())
    }

    /// Returns the part of a time of this length that lies within.
    fn part_of(&self, begins: f64, length: f64) -> f64 {
        let within = (begins + length).min(self.to) - begins.max(self.from);
        (within / length).clamp(0.0, 1.0)
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// Returns the outcome.
pub(crate) fn measure(raw: &Raw<'_>) -> Run {
    let whole = raw.whole();
    let mut run = Run {
        duration_s: round(whole.seconds(), 3),
        windows: raw.windows().collect(),
        series: raw.series(whole),
        marks: raw.marks(),
        lateness: raw.lateness,
        ..Run::default()
    };
    run.measure_sets(raw.scenario);
    run
}

/// Measures of a direction of the link, computed packet by packet: a long run has more packets than memory.
pub(crate) struct LinkLog {
    windows: Vec<(Interval, Passed)>,
    /// Flows of both classes meet here.
    is_mixed: bool,
    /// Sum and number of the times in the queue, ms, for each step of the run.
    steps: Vec<(f64, u32)>,
    from_s: f64,
    /// Length of a step, s.
    step_s: f64,
    /// Time in the queue of the newest packet, ms.
    pub(crate) latest_ms: Option<f64>,
    /// Bytes that the link sends in a second.
    bytes_per_s: f64,
}

/// The traffic of one window.
#[derive(Default)]
struct Passed {
    /// Of a packet at its edge the part that was sent within.
    bytes: f64,
    /// Times in the queue, ms.
    sojourns: Vec<f32>,
    /// The same for best effort and lower effort, if there are both.
    by_class: [Vec<f32>; 2],
}

impl LinkLog {
    /// Creates a log of `scenario` from the time `from` on.
    pub(crate) fn new(scenario: &Scenario, rate: Rate, from: Span, is_baseline: bool) -> LinkLog {
        let place = |window: &Window| place(window, scenario, from.as_secs_f64(), is_baseline);
        let windows = scenario.measure.iter().map(|window| (place(window), Passed::default())).collect();
        let lower = scenario.flow.iter().filter(|flow| flow.dscp() == Dscp::LE).count();
        let is_mixed = (1..scenario.flow.len()).contains(&lower);
        let step_s = step_s(scenario);
        LinkLog {
            windows,
            is_mixed,
            steps: Vec::new(),
            from_s: from.as_secs_f64(),
            step_s,
            latest_ms: None,
            bytes_per_s: rate.bits_per_second() as f64 / 8.0,
        }
    }

    /// Takes in a packet of its direction.
    pub(crate) fn take(&mut self, record: &Record, timing: Timing) {
        let Fate::Sent { dequeued_at, sojourn, .. } = record.fate else {
            return;
        };
        let (at, ms) = (timing.scenario_time(dequeued_at), sojourn.as_millis_f64());
        let class = Packet::from_tos(record.size_bytes, 0, record.tos, ()).class();
        self.latest_ms = Some(ms);
        let step = ((at.as_secs_f64() - self.from_s) / self.step_s).max(0.0) as usize;
        if self.steps.len() <= step {
            self.steps.resize(step + 1, (0.0, 0));
        }
        self.steps[step].0 += ms;
        self.steps[step].1 += 1;
        let (begins, bytes) = (at.as_secs_f64(), f64::from(record.size_bytes));
        let takes_s = bytes / self.bytes_per_s;
        for (interval, passed) in &mut self.windows {
            passed.bytes += bytes * interval.part_of(begins, takes_s);
        }
        for (_, passed) in self.windows.iter_mut().filter(|(interval, _)| interval.contains(at)) {
            passed.sojourns.push(ms as f32);
            if self.is_mixed {
                passed.by_class[class as usize].push(ms as f32);
            }
        }
    }
}

/// Returns the time between two points of a curve, s.
pub(crate) fn step_s(scenario: &Scenario) -> f64 {
    scenario.sample.map_or(STEP_S, |sample| sample.as_secs_f64())
}

/// Returns where a window is in a run that begins at `from_s`: nowhere (an empty interval) if the run begins after it. A
/// run that begins later measures windows that had only constant-rate traffic in them over its own first seconds.
fn place(window: &Window, scenario: &Scenario, from_s: f64, is_baseline: bool) -> Interval {
    let (from, to) = (window.from.as_secs_f64(), window.to.as_secs_f64());
    if from >= from_s {
        return Interval { from, to };
    }
    let transfers = scenario.flow.iter().filter(|flow| !matches!(flow.traffic, Traffic::Cbr { .. }));
    let first = transfers.map(|flow| flow.start.as_secs_f64()).fold(f64::INFINITY, f64::min);
    match is_baseline && to <= first && first.is_finite() {
        true => Interval { from: from_s, to: first },
        false => Interval { from, to: from },
    }
}

impl Raw<'_> {
    /// Returns the time from the beginning until the scenario's end, or the last transfer's where that ended the run.
    fn whole(&self) -> Interval {
        if !self.end.is_by_sizes(self.scenario) {
            let to = self.scenario.duration.as_secs_f64();
            return Interval { from: self.timing.from.as_secs_f64(), to };
        }
        let sized = |flow: &Flow| matches!(flow.traffic, Traffic::Size(_));
        let flows = self.scenario.flow.iter().zip(self.logs);
        let ends = flows.filter(|(flow, _)| sized(flow)).filter_map(|(_, log)| log.lock().stopped).max();
        let to = ends.unwrap_or(self.scenario.duration.0).as_secs_f64();
        Interval { from: self.timing.from.as_secs_f64(), to }
    }

    fn windows(&self) -> impl Iterator<Item = WindowFigures> + '_ {
        let measured = self.scenario.measure.iter().enumerate();
        measured.filter_map(|(index, window)| self.window(index, window))
    }

    /// Returns the figures of a window; `None` if the run did not reach its end.
    fn window(&self, index: usize, window: &Window) -> Option<WindowFigures> {
        let interval = &self.links[0].windows[index].0;
        if interval.seconds() <= 0.0 || interval.to > self.whole().to + 0.001 {
            return None;
        }
        let (up, back) = (self.scenario.link.rate, self.scenario.link.back().rate);
        let link = |name: &str, rate: Rate, log: &LinkLog| {
            let passed = &log.windows[index].1;
            LinkFigures {
                link: name.to_owned(),
                capacity_bit_s: rate.bits_per_second() as f64,
                utilisation: round(passed.bytes / (rate.bytes_per_second() as f64 * interval.seconds()), 4),
                queuing_delay: quantiles_of(&passed.sojourns),
                classes: if log.is_mixed { classes(passed) } else { Vec::new() },
                ..LinkFigures::default()
            }
        };
        let links = vec![link(BOTTLENECK, up, &self.links[0]), link(REVERSE_PATH, back, &self.links[1])];
        let flows = self.scenario.flow.iter().zip(self.logs);
        let mut figures = WindowFigures {
            window: window.name.clone(),
            from_s: interval.from,
            to_s: interval.to,
            links,
            flows: flows.map(|(flow, log)| self.flow_figures(flow, &log.lock(), *interval)).collect(),
            ..WindowFigures::default()
        };
        figures.derive(self.scenario);
        Some(figures)
    }

    fn flow_figures(&self, flow: &Flow, log: &LogInner, interval: Interval) -> FlowFigures {
        let capacity_bit_s = self.capacity_bit_s(flow);
        let received = Received::of(log, capacity_bit_s / 8.0);
        let bytes = received.until(interval.to) - received.until(interval.from);
        let goodput_bit_s = bytes * 8.0 / interval.seconds();
        let delays = log.delays.iter().filter(|(at, _)| interval.contains(*at));
        let delays: Vec<f64> = delays.map(|(_, delay)| delay.as_millis_f64()).collect();
        FlowFigures {
            flow: flow.name.clone(),
            role: flow.role,
            goodput_bit_s: round(goodput_bit_s, 0),
            share_of_payload_capacity: round(goodput_bit_s / capacity_bit_s, 4),
            queuing_delay: quantiles(&delays),
            sender: None,
        }
    }

    /// Returns the link's capacity for a flow's payload.
    fn capacity_bit_s(&self, flow: &Flow) -> f64 {
        let crossed = match flow.direction {
            Direction::Up => self.scenario.link.rate,
            Direction::Down => self.scenario.link.back().rate,
        };
        crossed.bits_per_second() as f64 * payload_share(flow)
    }

    fn series(&self, whole: Interval) -> Vec<Series> {
        let (mut series, step_s) = (Vec::new(), step_s(self.scenario));
        for (flow, log) in self.scenario.flow.iter().zip(self.logs) {
            let log = log.lock();
            let received = Received::of(&log, self.capacity_bit_s(flow) / 8.0);
            let rates = Curve::rates(whole, step_s * STEPS_PER_RATE, &received);
            series.push(rates.series(&flow.name, "goodput", "Mbit/s"));
            if matches!(flow.traffic, Traffic::Cbr { .. }) {
                let delays = log.delays.iter().map(|(at, delay)| (*at, delay.as_millis_f64()));
                series.push(Curve::means(whole, step_s, delays).series(&flow.name, "queuing_delay", "ms"));
                continue;
            }
            let sampled = |pick: fn(&Snapshot) -> Option<f64>| {
                let samples =
                    log.samples.iter().filter_map(|sample| Some((sample.at, pick(&sample.controller)?)));
                Curve::means(whole, step_s, samples)
            };
            let cwnd = sampled(|controller| Some(controller.cwnd as f64 / 1e3));
            series.push(cwnd.series(&flow.name, "cwnd", "kB"));
            let base = sampled(|controller| controller.base_delay.map(Span::as_millis_f64));
            if base.has_values() {
                series.push(base.series(&flow.name, "base_delay", "ms"));
            }
        }
        let has_data_down = self.scenario.flow.iter().any(|flow| flow.direction == Direction::Down);
        let names = ["link", REVERSE_PATH].into_iter().take(if has_data_down { 2 } else { 1 });
        for (name, log) in names.zip(self.links) {
            let mut bins = log.steps.clone();
            bins.resize(steps(whole, step_s), (0.0, 0));
            series.push(Curve::of_bins(whole, step_s, bins).series(name, "queuing_delay", "ms"));
        }
        series
    }

    fn marks(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        for (flow, log) in self.scenario.flow.iter().zip(self.logs) {
            let log = log.lock();
            let mut mark = |at: Span, what: &str| {
                let at_s = round(at.as_secs_f64(), 3);
                marks.push(Mark { at_s, of: flow.name.clone(), what: what.to_owned() });
            };
            log.started.into_iter().for_each(|at| mark(at, "start"));
            log.stopped.into_iter().for_each(|at| mark(at, "stop"));
            log.news().for_each(|(at, what)| mark(at, what));
        }
        marks.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        marks
    }
}

/// Bytes received as a function of time. The receiver's counter is read now and then, and assumed to have grown evenly
/// between two readings, or longer if the link takes longer for what was read: then some of it had been sent before. Counting each
/// reading at its own time would make rates jump with the reader's clock, and shares exceed 1 in short windows.
pub(crate) struct Received {
    /// (time in s, bytes until then), ascending.
    readings: Vec<(f64, f64)>,
}

impl Received {
    /// Returns the record of `log`. The link carries at most `most_per_s` bytes of the flow's payload per second; infinity if its rate changes.
    pub(crate) fn of(log: &LogInner, most_per_s: f64) -> Received {
        let mut bytes = 0.0;
        let readings = log.received.iter().map(|(at, n)| {
            bytes += *n as f64;
            (at.as_secs_f64(), bytes)
        });
        Received { readings: readings.collect() }.no_faster_than(most_per_s)
    }

    /// Returns the readings with the least growth ahead of each: bytes that were read sooner than they can have been sent
    /// had been sent before.
    fn no_faster_than(mut self, most_per_s: f64) -> Received {
        if !(most_per_s.is_finite() && most_per_s > 0.0) {
            return self;
        }
        for i in (0..self.readings.len().saturating_sub(1)).rev() {
            let ((at, bytes), (next_at, next)) = (self.readings[i], self.readings[i + 1]);
            self.readings[i].1 = bytes.max(next - most_per_s * (next_at - at));
        }
        if let Some((at, bytes)) = self.readings.first().copied().filter(|(_, bytes)| *bytes > 0.0) {
            self.readings.insert(0, (at - bytes / most_per_s, 0.0));
        }
        self
    }

    pub(crate) fn until(&self, at: f64) -> f64 {
        let next = self.readings.partition_point(|(reading, _)| *reading < at);
        match (next.checked_sub(1).map(|last| self.readings[last]), self.readings.get(next)) {
            (Some((_, bytes)), None) => bytes,
            (None, _) => 0.0,
            (Some((from, before)), Some((to, after))) => {
                before + (after - before) * (at - from) / (to - from)
            }
        }
    }
}

/// Returns the ratio of the payload of a flow's packets to what they take on a link.
pub(crate) fn payload_share(flow: &Flow) -> f64 {
    let format = flow.packet_format();
    let (payload, overhead) = (format.payload.bytes() as f64, format.overhead.bytes() as f64);
    payload / (payload + overhead)
}

/// Returns the number of whole steps in an interval: a last one that is cut short would show a dip that is none.
fn steps(whole: Interval, step_s: f64) -> usize {
    (whole.seconds() / step_s + 1e-6).max(0.0) as usize
}

/// Values in equal steps.
pub(crate) struct Curve {
    start_s: f64,
    step_s: f64,
    values: Vec<Option<f64>>,
}

impl Curve {
    /// Returns the mean rates of each step, Mbit/s.
    pub(crate) fn rates(whole: Interval, step_s: f64, received: &Received) -> Curve {
        let edge = |i: usize| received.until(whole.from + i as f64 * step_s);
        let rate = |i| (edge(i + 1) - edge(i)) * 8.0 / 1e6 / step_s;
        Curve {
            start_s: whole.from,
            step_s,
            values: (0..steps(whole, step_s)).map(|i| Some(rate(i))).collect(),
        }
    }

    /// Returns the means within each step; a step without points has none.
    pub(crate) fn means(whole: Interval, step_s: f64, points: impl Iterator<Item = (Span, f64)>) -> Curve {
        Curve::of_bins(whole, step_s, Curve::bins(whole, step_s, points))
    }

    fn of_bins(whole: Interval, step_s: f64, bins: Vec<(f64, u32)>) -> Curve {
        let mean = |(sum, n): (f64, u32)| (n > 0).then(|| sum / f64::from(n));
        Curve { start_s: whole.from, step_s, values: bins.into_iter().map(mean).collect() }
    }

    fn bins(whole: Interval, step_s: f64, points: impl Iterator<Item = (Span, f64)>) -> Vec<(f64, u32)> {
        let mut bins = vec![(0.0, 0); steps(whole, step_s)];
        for (at, value) in points {
            let bin = ((at.as_secs_f64() - whole.from) / step_s) as usize;
            if let Some((sum, n)) = bins.get_mut(bin) {
                *sum += value;
                *n += 1;
            }
        }
        bins
    }

    fn has_values(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }

    pub(crate) fn series(self, of: &str, quantity: &str, unit: &str) -> Series {
        let start_s = self.start_s;
        Series { start_s, ..Series::from_start(of, quantity, unit, self.step_s, self.values) }
    }
}

/// Returns the figures of each class.
fn classes(passed: &Passed) -> Vec<ClassFigures> {
    let figures = |class: Class| ClassFigures {
        class: class_name(class).to_owned(),
        queuing_delay: quantiles_of(&passed.by_class[class as usize]),
        queue_packets: None,
    };
    Class::BOTH.map(figures).to_vec()
}

fn quantiles_of(samples_ms: &[f32]) -> Option<Quantiles> {
    let samples: Vec<f64> = samples_ms.iter().map(|ms| f64::from(*ms)).collect();
    quantiles(&samples)
}

fn quantiles(samples_ms: &[f64]) -> Option<Quantiles> {
    let Quantiles { samples, mean_ms, p50_ms, p95_ms, p99_ms, max_ms } = Quantiles::of(samples_ms)?;
    let [mean_ms, p50_ms, p95_ms, p99_ms, max_ms] =
        [mean_ms, p50_ms, p95_ms, p99_ms, max_ms].map(|ms| round(ms, 3));
    Some(Quantiles { samples, mean_ms, p50_ms, p95_ms, p99_ms, max_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_readings_the_counter_grows_evenly() {
        let received =
            Received { readings: vec![(1.0, 0.0), (2.0, 100.0), (2.0, 150.0), (4.0, 150.0), (5.0, 250.0)] };
        let at = [0.0, 1.0, 1.5, 3.0, 4.5, 9.0].map(|at| received.until(at));
        assert_eq!(at, [0.0, 0.0, 50.0, 150.0, 200.0, 250.0]);
        assert_eq!(Received { readings: Vec::new() }.until(3.0), 0.0);
    }

    #[test]
    fn no_window_however_short_has_more_than_the_link_carries_and_nothing_is_lost() {
        // Packets of 1000 B that take 10 ms each; the reader is late and reads two or three at once.
        let readings = vec![(0.0, 0.0), (0.019, 1000.0), (0.0195, 2000.0), (0.05, 5000.0), (0.0501, 6000.0)];
        let received = Received { readings }.no_faster_than(1e5);
        for i in 0..100 {
            let (from, to) = (f64::from(i) * 0.001, f64::from(i + 1) * 0.001);
            let share = (received.until(to) - received.until(from)) / 100.0;
            assert!((-1e-9..=1.0 + 1e-9).contains(&share), "{share} at {from} s");
        }
        assert_eq!(received.until(1.0), 6000.0);
        let first = Received { readings: vec![(1.0, 1000.0)] }.no_faster_than(1e5);
        assert_eq!([0.98, 0.995, 1.0].map(|at| first.until(at).round()), [0.0, 500.0, 1000.0]);
    }

    #[test]
    fn a_rate_is_the_same_whatever_the_readings_phase() {
        let readings = (0..500).map(|i| (f64::from(i) * 0.0207, f64::from(i) * 0.0207 * 1e6)).collect();
        let whole = Interval { from: 0.0, to: 10.0 };
        let curve = Curve::rates(whole, 0.2, &Received { readings });
        assert_eq!(curve.values.len(), 50);
        assert!(curve.values.iter().flatten().all(|rate| (rate - 8.0).abs() < 1e-6), "{:?}", curve.values);
    }
}
