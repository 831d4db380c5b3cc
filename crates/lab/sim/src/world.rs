//! One run: the loop over what happens next.

mod steps;

pub use steps::Steps;

use crate::application::{Application, Stage};
use crate::calendar::{Kind, Slot};
use crate::connection::Connections;
use crate::error::Error;
use crate::net::Net;
use crate::record::Recorder;
use crate::sample::Sampler;
use crate::steering::Steering;
use crate::tap::Tap;
use afteryou_base::{Span, Time};
use afteryou_cc::Observers;
use afteryou_scenario::outcome::{LinkTotals, Run, Totals};
use afteryou_scenario::{Checked, Record};
use std::ops::ControlFlow;

/// Events between two looks at the watcher's clock.
const WATCH_EVERY: u32 = 1 << 16;

/// Most packets in queues and on wires, half a gigabyte of them: a larger buffer or window is a slip of the pen.
const MOST_PACKETS: u64 = 5_000_000;

/// Most connections that are open at once: beyond that, more is offered than the network carries.
const MOST_CONNECTIONS: usize = 200_000;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct SimProgress {
    /// Simulated time, s.
    pub at_s: f64,
    /// Length of the whole run, s.
    pub of_s: f64,
}

/// Observers of single packets and of senders.
#[derive(Default)]
pub struct Looks<'a> {
    /// Sees every packet at every link.
    pub tap: Option<Tap<'a>>,
    /// See the senders.
    pub observers: Option<Observers>,
}

/// Runs a checked scenario. `watch` is called now and then; it may break the run off.
pub fn run(
    scenario: &Checked,
    watch: &mut dyn FnMut(SimProgress) -> ControlFlow<()>,
    sampler: &mut Sampler<'_>,
    looks: Looks<'_>,
) -> Result<Run, Error> {
    let mut world = World::new(scenario, looks)?;
    let mut recorder = Recorder::new(scenario, scenario.network());
    world.go(&mut recorder, watch, sampler)?;
    world.finish(recorder)
}

struct World<'a> {
    net: Net<'a>,
    connections: Connections,
    applications: Vec<Application>,
    steering: Steering,
    end: Time,
}

impl<'a> World<'a> {
    fn new(scenario: &Checked, looks: Looks<'a>) -> Result<World<'a>, Error> {
        let network = scenario.network();
        let mut net = Net::new(scenario, network, looks.tap)?;
        let mut connections = Connections::default();
        let mut applications = Vec::new();
        for i in 0..scenario.flow.len() {
            applications.push(Application::new(scenario, network, i, looks.observers.clone())?);
        }
        if scenario.record.contains(&Record::Events) {
            net.note_drops(&applications.iter().map(|one| one.log().cloned()).collect::<Vec<_>>());
        }
        for application in &mut applications {
            application.prepare(&mut net, &mut connections);
        }
        let steering = Steering::new(scenario)?;
        steering.prepare(&mut net.calendar);
        Ok(World { net, connections, applications, steering, end: Time(scenario.duration.0 .0) })
    }

    fn go(
        &mut self,
        recorder: &mut Recorder<'_>,
        watch: &mut dyn FnMut(SimProgress) -> ControlFlow<()>,
        sampler: &mut Sampler<'_>,
    ) -> Result<(), Error> {
        // Windows that begin with the run begin before anything happens.
        recorder.look(Time::ZERO, &self.applications, &mut self.connections, &mut self.net);
        self.net.calendar.push(recorder.next(), Slot::new(Kind::Measure, 0));
        let mut events = 0;
        while let Some((now, slot)) = self.net.calendar.next() {
            if now > self.end {
                break;
            }
            sampler.before(now, &self.applications, &self.connections);
            match slot.kind() {
                Kind::Measure => {
                    self.net.catch_up(now);
                    recorder.look(now, &self.applications, &mut self.connections, &mut self.net);
                    self.net.calendar.finish(Some(recorder.next()));
                }
                kind => {
                    let arrived = self.handle(now, kind, slot.index());
                    if let Some(connection) = arrived.filter(|_| recorder.is_near_an_edge()) {
                        let World { net, connections, applications, .. } = &*self;
                        recorder.arrived(now, net.owner_of(connection), applications, connections, net);
                    }
                }
            }
            events += 1;
            if events == WATCH_EVERY {
                events = 0;
                if self.net.packets() > MOST_PACKETS {
                    return Err(Error::TooLarge { limit: MOST_PACKETS });
                }
                if self.connections.number_of_open() > MOST_CONNECTIONS {
                    return Err(Error::TooManyConnections { limit: MOST_CONNECTIONS });
                }
                let progress = SimProgress { at_s: now.as_secs_f64(), of_s: self.end.as_secs_f64() };
                if watch(progress).is_break() {
                    return Err(Error::Interrupted);
                }
            }
        }
        sampler.before(self.end + Span(1), &self.applications, &self.connections);
        Ok(())
    }

    /// Does what is due, a measurement excepted. Returns the connection at one of whose ends a packet has arrived, if one has.
    // Into the loop over events, which calls it for each.
    #[inline(always)]
    fn handle(&mut self, now: Time, kind: Kind, index: usize) -> Option<usize> {
        let World { net, connections, applications, steering, .. } = self;
        match kind {
            Kind::Link => {
                let again = net.link_free(now, index);
                net.calendar.finish(again);
            }
            Kind::Line => {
                // Copied as a whole: an optional packet is copied in parts, and reading it waits until all of them are written.
                let Some(&packet) = net.first_on(index) else {
                    net.calendar.finish(None);
                    return None;
                };
                let way = net.arrive(now, index, packet)?;
                let index = packet.flow as usize;
                let connection = connections.get_mut(index);
                if let Some(news) = connection.receive(net, now, way, &packet) {
                    let owner = connection.owner();
                    applications[owner].on_news(Stage { net, connections, now }, index, news);
                }
                return Some(index);
            }
            Kind::Held => {
                net.calendar.finish(None);
                net.release(now, index);
            }
            kind @ (Kind::Sender | Kind::Pacing | Kind::Receiver) => {
                net.calendar.finish(None);
                connections.get_mut(index).on_timer(net, now, kind);
            }
            Kind::Application => {
                net.calendar.finish(None);
                applications[index].act(Stage { net, connections, now });
            }
            Kind::Steering => {
                let next = steering.tick(index, now, applications, connections);
                net.calendar.finish(Some(next));
            }
            Kind::Measure => net.calendar.finish(None),
        }
        None
    }

    fn finish(self, recorder: Recorder<'_>) -> Result<Run, Error> {
        let World { mut net, connections, applications, end, .. } = self;
        net.catch_up(end);
        let links: Vec<LinkTotals> = (0..net.number_of_links()).map(|link| net.totals(link)).collect();
        for LinkTotals { link, ledger, .. } in &links {
            if let Some(ledger) = ledger.as_ref().filter(|ledger| !ledger.balances()) {
                return Err(Error::Conservation { link: link.clone(), ledger: ledger.clone() });
            }
        }
        let run = Run { links, ..recorder.finish(&applications, &connections, &net) };
        for Totals { flow, completions, .. } in &run.totals {
            if let Some(books) = completions.as_ref().map(|done| done.bytes).filter(|books| !books.balances())
            {
                return Err(Error::Books { flow: flow.clone(), books });
            }
        }
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::law::Drawn;
    use afteryou_scenario::{Duration, Flow, Law, Link, Role, Scenario, Size, Traffic};

    /// Returns the places for connections after a run with transfers for `seconds` seconds, and the number of transfers.
    fn places_and_transfers(seconds: u64) -> (usize, u64) {
        let link = Link::new("1 Gbit/s".parse().unwrap(), "1000 packets".parse().unwrap());
        let traffic = Traffic::Arrivals {
            arrivals: Law::Drawn(Drawn::Exponential(Duration::from_millis(1))),
            size: Law::Fixed(Size::from_bytes(20_000)),
        };
        let flow = Flow { traffic, ..Flow::new("web", Role::Foreground, "cubic", Duration::from_millis(20)) };
        let scenario =
            Scenario { flow: vec![flow], ..Scenario::new("", Duration::from_millis(seconds * 1000), link) };
        let scenario = scenario.checked().unwrap();
        let mut world = World::new(&scenario, Looks::default()).unwrap();
        let mut recorder = Recorder::new(&scenario, scenario.network());
        let mut sampler_takes = |_: crate::Sample<'_>| {};
        let mut sampler = Sampler::new(Span::ZERO, &mut sampler_takes);
        world.go(&mut recorder, &mut |_| ControlFlow::Continue(()), &mut sampler).unwrap();
        let places = world.connections.number_of_places();
        let run = world.finish(recorder).unwrap();
        (places, run.totals[0].completions.as_ref().unwrap().completed)
    }

    #[test]
    fn finished_transfers_leave_nothing_behind() {
        let ((few_places, few), (many_places, many)) = (places_and_transfers(1), places_and_transfers(12));
        assert!(few > 800 && many > 10_000, "{few} and {many} transfers");
        // 50 to 80 ms each at 1000 a second: Little's law says 80 at most on average.
        assert!(few_places < 160 && many_places < 160, "{few_places} and {many_places} places");
    }
}
