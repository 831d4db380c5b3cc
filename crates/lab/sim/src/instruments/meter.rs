//! Measures of a link, in all and, where flows of both classes meet, for each class.

use super::delays::{Delays, StepMean};
use super::edges::edges;
use super::lengths::Lengths;
use super::sender_log::SenderLog;
use crate::packet::Packet;
use afteryou_aqm::statistics::Passed;
use afteryou_aqm::Class;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::Quantiles;
use afteryou_scenario::{Dscp, Network, Record, Scenario};

/// Measurements at a link.
pub struct Meter {
    /// The queue's length over time, where the scenario records it.
    pub lengths: Option<Box<Lengths>>,
    /// The logs of senders, by flow, that note drops; none where the scenario records no events.
    pub logs: Vec<Option<SenderLog>>,
    /// The same by connection.
    logs_of: Vec<Option<SenderLog>>,
    /// One for all windows of the scenario that begin and end together.
    windows: Vec<Window>,
    /// Of each window of the scenario its place in `windows`.
    places: Vec<usize>,
    /// Places of the windows that are open now.
    open: Vec<usize>,
    /// Up to `changed`, bytes excepted.
    counters: Counters,
    queued: PerClass<u64>,
    changed: Time,
    /// Flows of both classes meet here.
    is_mixed: bool,
    /// Time in the queue of packets that waited, in this step.
    step: StepMean,
    /// Times in the queue that the open windows have not taken in yet, twice the ns, and one more for lower effort. A window's bins
    /// have left the cache when the next packet of a link departs: a batch of them costs as much as one.
    pending: Vec<u64>,
    /// Packets that had not waited when the step began.
    undelayed_before_step: u64,
}

/// Times in the queue that windows take in together. They fill 8 kB; most of them fall into the same few bins.
const BATCH: usize = 1024;

/// A value for best effort and one for lower effort.
type PerClass<T> = [T; 2];

/// The packets that have passed since the run began, read at the edges of windows and steps.
#[derive(Clone, Copy, Default)]
struct Counters {
    /// Bytes that left, the part of a packet that is being sent included.
    bytes: f64,
    /// Packets × ns in the queue.
    area: PerClass<u128>,
    /// Packets that left without having waited: at a link that is not full nearly all, so each costs an addition only.
    undelayed: PerClass<u64>,
}

impl Counters {
    fn since(self, earlier: Counters) -> Counters {
        let [best, lower] = [0, 1];
        Counters {
            bytes: self.bytes - earlier.bytes,
            area: [self.area[best] - earlier.area[best], self.area[lower] - earlier.area[lower]],
            undelayed: [
                self.undelayed[best] - earlier.undelayed[best],
                self.undelayed[lower] - earlier.undelayed[lower],
            ],
        }
    }
}

struct Window {
    from: Time,
    to: Time,
    /// Time in the queue of each packet that departed after waiting, by class if there are both.
    delays: PerClass<Delays>,
    /// The packets that had passed when it began; once it is over, those that passed in it.
    counters: Counters,
}

impl Window {
    fn new(from: Time, to: Time) -> Window {
        Window { from, to, delays: Default::default(), counters: Counters::default() }
    }
}

/// Figures of a window.
pub struct Figures {
    /// Time in the queue.
    pub delays: Option<Quantiles>,
    /// Bytes that left, parts of packets at its edges included.
    pub bytes: f64,
    /// Packets in the queue × s, of each class.
    pub packet_seconds: PerClass<f64>,
    /// Time in the queue of each class, if flows of both meet here.
    pub by_class: Option<PerClass<Option<Quantiles>>>,
}

impl Meter {
    /// Returns the meter of the link with this index, with nothing measured yet.
    pub fn new(scenario: &Scenario, network: &Network, link: usize) -> Meter {
        let mut windows: Vec<Window> = Vec::new();
        let place = |(from, to): (Time, Time)| match windows.iter().position(|w| (w.from, w.to) == (from, to))
        {
            Some(place) => place,
            None => {
                windows.push(Window::new(from, to));
                windows.len() - 1
            }
        };
        let places = scenario.measure.iter().map(edges).map(place).collect();
        let flows: Vec<usize> = network.flows_on(link).collect();
        let lower = flows.iter().filter(|flow| scenario.flow[**flow].dscp() == Dscp::LE).count();
        let records = scenario.record.contains(&Record::Queues);
        let lengths = || Box::new(Lengths::new(scenario.measure.iter().map(edges), scenario.flow.len()));
        Meter {
            lengths: records.then(lengths),
            logs: Vec::new(),
            logs_of: Vec::new(),
            windows,
            places,
            open: Vec::new(),
            counters: Counters::default(),
            queued: [0, 0],
            changed: Time::ZERO,
            is_mixed: (1..flows.len()).contains(&lower),
            step: StepMean::default(),
            pending: Vec::new(),
            undelayed_before_step: 0,
        }
    }

    /// Returns whether flows of both classes meet here. Otherwise all packets in the queue may be counted as best effort.
    pub fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// Records that the queue now holds `queued` packets of each class.
    pub fn queue_changed(&mut self, now: Time, queued: PerClass<u64>) {
        let passed = u128::from(now.since(self.changed).0);
        for (area, queued) in self.counters.area.iter_mut().zip(self.queued) {
            *area += u128::from(queued) * passed;
        }
        self.changed = now;
        self.queued = queued;
    }

    /// Counts a packet that was in a queue whose length is not seen, for `sojourn`: it counts when it comes out.
    pub fn waited(&mut self, class: Class, sojourn: Span) {
        let index = self.index_of(class);
        self.counters.area[index] += u128::from(sojourn.0);
    }

    /// Returns the index of a class in counters of packets in the queue.
    pub fn index_of(&self, class: Class) -> usize {
        if self.is_mixed {
            class as usize
        } else {
            0
        }
    }

    /// Notes that a connection of the flow `owner` may send over this link.
    pub fn opened(&mut self, connection: usize, owner: usize) {
        if let Some(lengths) = &mut self.lengths {
            lengths.opened(connection, owner);
        }
        if let Some(log) = self.logs.get(owner) {
            self.logs_of.resize(self.logs_of.len().max(connection + 1), None);
            self.logs_of[connection] = log.clone();
        }
    }

    /// Notes that the queue drops a packet.
    pub fn drops(&mut self, now: Time, packet: &Packet) {
        if let Some(lengths) = &mut self.lengths {
            lengths.dropped(now, packet.flow);
        }
        match self.logs_of.get(packet.flow as usize) {
            Some(Some(log)) if packet.body.is_data() => log.dropped(packet.flow as usize, now),
            _ => {}
        }
    }

    /// Returns whether the queue held packets when it was last measured.
    pub fn holds_packets(&self) -> bool {
        self.queued != [0, 0]
    }

    /// Notes that a packet leaves the queue after `sojourn`.
    pub fn departs(&mut self, class: Class, sojourn: Span) {
        if sojourn == Span::ZERO {
            self.counters.undelayed[class as usize] += 1;
            return;
        }
        self.step.record(sojourn);
        self.delays(class, sojourn);
    }

    /// Counts packets that leave together, of which each that had to wait is [reported](Self::delays), too. They were in a
    /// queue whose length is not seen.
    pub fn passes(&mut self, class: Class, passed: &Passed) {
        let index = self.index_of(class);
        self.counters.area[index] += u128::from(passed.sojourns.0);
        self.counters.undelayed[class as usize] += passed.undelayed;
        self.step.record_many(passed.packets - passed.undelayed, passed.sojourns);
    }

    /// Counts a packet that had to wait for `sojourn`, for the distributions of the open windows.
    #[inline]
    pub fn delays(&mut self, class: Class, sojourn: Span) {
        if self.open.is_empty() {
            return;
        }
        self.pending.push(sojourn.0 << 1 | class as u64);
        if self.pending.len() == BATCH {
            self.settle();
        }
    }

    /// Lets the open windows take in what is pending.
    #[inline(never)]
    fn settle(&mut self) {
        for index in &self.open {
            let window = &mut self.windows[*index];
            for pending in &self.pending {
                let (sojourn, class) = (Span(pending >> 1), (pending & 1) as usize);
                window.delays[if self.is_mixed { class } else { 0 }].record(sojourn);
            }
        }
        self.pending.clear();
    }

    /// Returns the mean time in the queue since the last call, ms.
    pub fn take_step_ms(&mut self) -> Option<f64> {
        let undelayed = self.counters.undelayed.iter().sum::<u64>();
        let in_step = undelayed - std::mem::replace(&mut self.undelayed_before_step, undelayed);
        self.step.take_ms_with(in_step)
    }

    /// Begins and ends windows here, when `bytes` have left the link in all. `waiting` is packets × ns of those in a queue
    /// that reports them [as they leave](Self::waited); `bucket` returns the bucket of a connection.
    pub fn at_edge(
        &mut self,
        now: Time,
        bytes: f64,
        waiting: PerClass<u128>,
        bucket: impl Fn(u32) -> Option<usize>,
    ) {
        self.settle();
        self.queue_changed(now, self.queued);
        if let Some(lengths) = &mut self.lengths {
            lengths.at_edge(now, bucket);
        }
        let area = [0, 1].map(|class| self.counters.area[class] + waiting[class]);
        let counters = Counters { bytes, area, ..self.counters };
        for window in &mut self.windows {
            if window.from == now {
                window.counters = counters;
            }
            if window.to == now {
                window.counters = counters.since(window.counters);
            }
        }
        self.open.clear();
        let is_open = |place: &usize| (self.windows[*place].from..self.windows[*place].to).contains(&now);
        self.open.extend((0..self.windows.len()).filter(is_open));
    }

    /// Returns the indices of the scenario's windows that are open now.
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.places.len()).filter(|index| self.open.contains(&self.places[*index]))
    }

    /// Returns the figures of a window that is over.
    pub fn window(&self, index: usize) -> Figures {
        let Window { delays, counters, .. } = &self.windows[self.places[index]];
        let of_class = |class: usize| delays[class].quantiles_with(counters.undelayed[class]);
        let [mut all, lower] = delays.clone();
        all.add(&lower);
        Figures {
            delays: all.quantiles_with(counters.undelayed.iter().sum()),
            bytes: counters.bytes,
            packet_seconds: counters.area.map(|area| area as f64 / 1e9),
            by_class: self.is_mixed.then(|| [of_class(0), of_class(1)]),
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
        let scenario = Scenario { measure, ..Scenario::new("", s(4), link) };
        let mut meter = Meter::new(&scenario, &scenario.network().unwrap(), 0);
        let at = |s: u64| Time::from_millis(s * 1000);
        meter.at_edge(at(0), 0.0, [0; 2], |_| None);
        meter.at_edge(at(1), 0.0, [0; 2], |_| None);
        meter.queue_changed(at(1), [1, 1]);
        meter.at_edge(at(3), 0.0, [0; 2], |_| None);
        meter.queue_changed(at(3), [1, 0]);
        meter.at_edge(at(4), 0.0, [0; 2], |_| None);
        assert_eq!(meter.window(0).packet_seconds, [3.0, 2.0], "1.25 packets for 4 s");
        assert_eq!(meter.window(1).packet_seconds, [2.0, 2.0]);
    }
}
