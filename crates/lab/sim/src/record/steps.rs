//! A set of flows in a window, step by step: rates over time, read off counters at the end of each step.
//!
//! A flow is active in a step if something arrived, or if it has data to send as the step ends. So a flow that starves counts,
//! and one that pauses does not. A flow with many connections at the same time counts as its connections.

use crate::application::{Application, Open, UploadSlot};
use crate::connection::Connections;
use crate::instruments::edges;
use crate::net::Net;
use afteryou_base::Time;
use afteryou_scenario::flow_set::Among;
use afteryou_scenario::outcome::{Member, SetFigures, Steps};
use afteryou_scenario::{FlowSet, Network, Scenario};
use std::collections::BTreeMap;

/// The steps of one set.
pub struct SetSteps<'a> {
    scenario: &'a Scenario,
    network: &'a Network,
    set: &'a FlowSet,
    /// Indices of its flows.
    members: Vec<usize>,
    from: Time,
    to: Time,
    next: Time,
    /// The bytes that each flow of the scenario had received when the step began.
    before: Vec<Before>,
    steps: Steps,
}

/// The bytes that a flow had received when the step began.
#[derive(Clone, Debug, Default)]
struct Before {
    received: u64,
    /// Each of its connections by serial number, if it has many at the same time.
    parts: BTreeMap<u64, u64>,
    /// Connections of that kind that were closed.
    closed: usize,
}

/// A flow's totals in a step.
struct Course {
    bytes: u64,
    /// Each active connection; of a flow with one connection its own, if it was active.
    active: Vec<Active>,
}

/// A connection that was active in a step.
struct Active {
    /// Its place, if the flow has many connections at the same time.
    slot: Option<UploadSlot>,
    bytes: f64,
}

impl<'a> SetSteps<'a> {
    /// Creates the steps of `set`; `None` if its window is not there.
    pub fn new(scenario: &'a Scenario, network: &'a Network, set: &'a FlowSet) -> Option<SetSteps<'a>> {
        let (from, to) = edges(scenario.measure.iter().find(|window| window.name == set.window)?);
        let by_name: BTreeMap<&str, usize> =
            scenario.flow.iter().enumerate().map(|(i, flow)| (flow.name.as_str(), i)).collect();
        Some(SetSteps {
            scenario,
            network,
            set,
            members: set.flows.iter().filter_map(|flow| by_name.get(flow.as_str()).copied()).collect(),
            from,
            to,
            next: from,
            before: vec![Before::default(); scenario.flow.len()],
            steps: Steps::new(set),
        })
    }

    /// Returns the indices of its flows.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Returns the window of the steps.
    pub fn window(&self) -> (Time, Time) {
        (self.from, self.to)
    }

    /// Returns when the next look is due.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Ends a step, if one ends now.
    pub fn look(&mut self, now: Time, flows: &[Application], connections: &Connections, net: &Net) {
        if now != self.next {
            return;
        }
        let courses = flows.iter().zip(&mut self.before).map(|(flow, before)| before.step(flow, connections));
        let courses: Vec<Course> = courses.collect();
        if now > self.from {
            self.take(now, flows, &courses, net);
        }
        let next = now + self.set.step.0;
        self.next = if next <= self.to { next } else { Time::NEVER };
    }

    fn take(&mut self, now: Time, flows: &[Application], courses: &[Course], net: &Net) {
        let step = self.set.step.0;
        let began = Time::ZERO + (now.since(Time::ZERO).saturating_sub(step));
        let competing = self.competing(courses);
        let member = |index: &usize| {
            let (flow, course) = (&flows[*index], &courses[*index]);
            let links = self.network.routes[*index].forward.iter();
            let capacities = links.map(|link| net.capacity(*link, began, now));
            let hosts = self.network.hosts[*index].len();
            let capacity =
                flow.payload_share() * capacities.fold(f64::INFINITY, f64::min) * hosts.max(1) as f64;
            let share = course.bytes as f64 * 8.0 / step.as_secs_f64() / capacity.max(1.0);
            let spec = &self.scenario.flow[*index];
            let link = spec.controller.as_ref().and_then(|_| self.slowest_link(*index));
            // Each of the flow's own connections has a share.
            let own = course.active.len().max(1);
            Member {
                share,
                of_fair_share: link.map(|link| share * competing[link] as f64 / own as f64),
                is_active: !course.active.is_empty(),
            }
        };
        let members: Vec<Member> = self.members.iter().map(member).collect();
        self.steps.take(now.as_secs_f64(), &members, &self.groups(courses));
    }

    /// Returns the bytes among which an index of fairness is made.
    fn groups(&self, courses: &[Course]) -> Vec<Vec<f64>> {
        let active =
            self.members.iter().flat_map(|index| courses[*index].active.iter().map(move |one| (*index, one)));
        if self.set.among == Among::Connections {
            return vec![active.map(|(_, one)| one.bytes).collect()];
        }
        let mut hosts: BTreeMap<_, BTreeMap<_, f64>> = BTreeMap::new();
        for (flow, one) in active {
            let (host, number) = one.slot.map_or((None, 0), |slot| (slot.host, slot.number));
            *hosts.entry((flow, host)).or_default().entry(number).or_default() += one.bytes;
        }
        hosts.into_values().map(|slots| slots.into_values().collect()).collect()
    }

    /// Returns the number of active connections with a controller whose slowest link is this one, by link.
    fn competing(&self, courses: &[Course]) -> Vec<usize> {
        let mut competing = vec![0; self.network.links.len()];
        for (index, course) in courses.iter().enumerate() {
            if let (true, Some(link)) =
                (self.scenario.flow[index].controller.is_some(), self.slowest_link(index))
            {
                competing[link] += course.active.len();
            }
        }
        competing
    }

    /// Returns the slowest link that the data of a flow cross; `None` for flows on hosts.
    fn slowest_link(&self, flow: usize) -> Option<usize> {
        let links = self.network.routes[flow].forward.iter().copied();
        let links = links.filter(|_| self.network.hosts[flow].is_empty());
        links.min_by_key(|link| self.network.links[*link].link.rate.bits_per_second())
    }

    /// Adds what the steps show to the figures of the set.
    pub fn fill(self, figures: &mut SetFigures) {
        let starts = self.members.iter().map(|index| self.scenario.flow[*index].start);
        let start_s = starts.min().unwrap_or_default().as_secs_f64().max(self.from.as_secs_f64());
        self.steps.fill(self.set, start_s, figures);
    }
}

impl Before {
    /// Ends a step of the flow, and begins the next one.
    fn step(&mut self, flow: &Application, connections: &Connections) -> Course {
        let received = flow.received(connections);
        let bytes = received - std::mem::replace(&mut self.received, received);
        let Some(open) = flow.parts(connections) else {
            let is_active = bytes > 0 || flow.has_data(connections);
            let own = is_active.then_some(Active { slot: None, bytes: bytes as f64 });
            return Course { bytes, active: own.into_iter().collect() };
        };
        let mut active = Vec::new();
        let mut take = |slot: UploadSlot, bytes: u64, has_data: bool| {
            let one = Active { slot: Some(slot), bytes: bytes as f64 };
            active.extend((bytes > 0 || has_data).then_some(one));
        };
        let closed = flow.closed_since(self.closed);
        self.closed += closed.len();
        for (slot, serial, received) in closed {
            take(*slot, received - self.parts.remove(serial).unwrap_or(0), false);
        }
        for Open { slot, serial, received, has_data } in open {
            take(slot, received - self.parts.insert(serial, received).unwrap_or(0), has_data);
        }
        Course { bytes, active }
    }
}
