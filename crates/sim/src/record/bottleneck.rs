//! What is measured at the bottleneck, in all and, where flows of both classes meet, for each class.

use super::delays::{Delays, StepMean};
use afteryou_aqm::Class;
use afteryou_cc::{Span, Time};
use afteryou_scenario::{Dscp, Flow, Scenario};

/// Measurements at the bottleneck, forward direction.
pub struct Bottleneck {
    windows: Vec<Window>,
    /// Indices of the windows that are open now.
    open: Vec<usize>,
    /// Packets × ns in the queue, up to `changed`.
    area: PerClass<u128>,
    queued: PerClass<u64>,
    changed: Time,
    /// Flows of both classes meet here.
    is_mixed: bool,
    /// Time in the queue, in this step.
    pub step: StepMean,
}

/// A value for best effort and one for lower effort.
type PerClass<T> = [T; 2];

struct Window {
    from: Time,
    to: Time,
    /// Time in the queue of each packet that departed.
    delays: Delays,
    /// The same for each class, if there are both.
    by_class: PerClass<Delays>,
    bytes: u64,
    area: PerClass<u128>,
}

/// Figures of a window.
pub struct Passed<'a> {
    /// Time in the queue.
    pub delays: &'a Delays,
    /// Bytes that left.
    pub bytes: u64,
    /// Packets in the queue × s, of each class.
    pub packet_seconds: PerClass<f64>,
    /// Time in the queue of each class, if flows of both meet here.
    pub by_class: Option<&'a PerClass<Delays>>,
}

impl Bottleneck {
    /// Nothing has happened yet.
    pub fn new(scenario: &Scenario) -> Bottleneck {
        let windows = scenario.measure.iter().map(|window| Window {
            from: Time(window.from.0 .0),
            to: Time(window.to.0 .0),
            delays: Delays::default(),
            by_class: Default::default(),
            bytes: 0,
            area: [0, 0],
        });
        let is_lower = |flow: &Flow| flow.dscp() == Dscp::LE;
        let lower = scenario.flow.iter().filter(|flow| is_lower(flow)).count();
        Bottleneck {
            windows: windows.collect(),
            open: Vec::new(),
            area: [0, 0],
            queued: [0, 0],
            changed: Time::ZERO,
            is_mixed: (1..scenario.flow.len()).contains(&lower),
            step: StepMean::default(),
        }
    }

    /// The queue now holds so many packets of each class.
    pub fn queue_changed(&mut self, now: Time, queued: PerClass<u64>) {
        let passed = u128::from(now.since(self.changed).0);
        for (area, queued) in self.area.iter_mut().zip(self.queued) {
            *area += u128::from(queued) * passed;
        }
        self.changed = now;
        self.queued = queued;
    }

    /// A packet leaves the queue after `sojourn`.
    pub fn departs(&mut self, class: Class, sojourn: Span) {
        self.step.record(sojourn);
        for index in &self.open {
            let window = &mut self.windows[*index];
            window.delays.record(sojourn);
            if self.is_mixed {
                window.by_class[class as usize].record(sojourn);
            }
        }
    }

    /// Windows begin and end here, when `bytes` have left the link in all. Until a window is over its counters hold what there was before it.
    pub fn at_edge(&mut self, now: Time, bytes: u64) {
        self.queue_changed(now, self.queued);
        let area = self.area;
        for window in &mut self.windows {
            if window.from == now {
                (window.bytes, window.area) = (bytes, area);
            }
            if window.to == now {
                window.bytes = bytes - window.bytes;
                window.area = [area[0] - window.area[0], area[1] - window.area[1]];
            }
        }
        self.open.clear();
        let open = |window: &Window| (window.from..window.to).contains(&now);
        self.open.extend(self.windows.iter().enumerate().filter(|(_, window)| open(window)).map(|(i, _)| i));
    }

    /// Indices of the windows that are open now.
    pub fn open(&self) -> &[usize] {
        &self.open
    }

    /// Figures of a window that is over.
    pub fn window(&self, index: usize) -> Passed<'_> {
        let window = &self.windows[index];
        Passed {
            delays: &window.delays,
            bytes: window.bytes,
            packet_seconds: window.area.map(|area| area as f64 / 1e9),
            by_class: self.is_mixed.then_some(&window.by_class),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Link, Window};

    #[test]
    fn the_mean_queue_is_integrated_over_time() {
        // 0 on [0, 1), 2 on [1, 3), 1 on [3, 4).
        let link = Link::new("1 Mbit/s".parse().unwrap(), "10 packets".parse().unwrap());
        let s = |s: u64| Duration::from_millis(s * 1000);
        let window = |name: &str, from, to| Window { name: name.to_owned(), from: s(from), to: s(to) };
        let measure = vec![window("all", 0, 4), window("middle", 1, 3)];
        let mut bottleneck = Bottleneck::new(&Scenario { measure, ..Scenario::new("", s(4), link) });
        let at = |s: u64| Time::from_millis(s * 1000);
        bottleneck.at_edge(at(0), 0);
        bottleneck.at_edge(at(1), 0);
        bottleneck.queue_changed(at(1), [1, 1]);
        bottleneck.at_edge(at(3), 0);
        bottleneck.queue_changed(at(3), [1, 0]);
        bottleneck.at_edge(at(4), 0);
        assert_eq!(bottleneck.window(0).packet_seconds, [3.0, 2.0], "1.25 packets for 4 s");
        assert_eq!(bottleneck.window(1).packet_seconds, [2.0, 2.0]);
    }
}
