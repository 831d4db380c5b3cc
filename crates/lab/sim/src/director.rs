//! A scenario's applications over connections that run elsewhere, in real time.
//!
//! The testbed's flows send what the simulator's flows send, at the times at which those send it. [`Director`] has the very
//! applications: bulk and sized transfers, time tables, chunks, arrivals, users of the web, segments. It opens connections
//! through [`Dial`], gives them bytes, and gets news of them through [`Director::look`]. It measures flows and hosts with the simulator's
//! own recorder; links are measured where the packets are.
//!
//! Connections between hosts take routes of their own, which their [`Opening`] has.

pub use crate::application::logs;
pub use crate::connection::{utp_config, Dial, Id, Opening, Remote};
pub use crate::instruments::SenderLog;

use crate::application::{Application, Stage};
use crate::calendar::Kind;
use crate::connection::Connections;
use crate::error::Error;
use crate::net::Net;
use crate::record::Recorder;
use afteryou_base::Time;
use afteryou_scenario::outcome::{Run, Totals};
use afteryou_scenario::{Network, Scenario};

/// The applications of a run.
pub struct Director<'a> {
    /// Carries no packet: applications need its calendar, and a place for each connection.
    net: Net<'a>,
    connections: Connections,
    applications: Vec<Application>,
    recorder: Recorder<'a>,
}

impl<'a> Director<'a> {
    /// Creates the applications of a scenario, whose connections `dial` opens; `logs` has what is recorded of their senders,
    /// by flow.
    ///
    /// # Errors
    /// A queue that cannot be made.
    pub fn new(
        scenario: &'a Scenario,
        network: &'a Network,
        dial: &Dial,
        logs: &[Option<SenderLog>],
    ) -> Result<Director<'a>, Error> {
        let mut net = Net::new(scenario, network, None)?;
        let mut connections = Connections::default();
        let make = |flow: usize| {
            let log = logs.get(flow).cloned().flatten();
            Application::outside(scenario, network, flow, (dial.clone(), log))
        };
        let mut applications: Vec<Application> = (0..scenario.flow.len()).map(make).collect();
        for application in &mut applications {
            application.prepare(&mut net, &mut connections);
        }
        let recorder = Recorder::of_flows(scenario, network);
        Ok(Director { net, connections, applications, recorder })
    }

    /// Returns when an application acts next, or something is to be measured.
    pub fn next_event(&mut self) -> Option<Time> {
        let next = self.net.calendar.next().map_or(Time::NEVER, |(at, _)| at).min(self.recorder.next());
        (next < Time::NEVER).then_some(next)
    }

    /// Lets the applications do what is due by `to`, and measures what is to be measured until then.
    pub fn advance(&mut self, to: Time) {
        while let Some(now) = self.next_event().filter(|now| *now <= to) {
            if self.recorder.next() == now {
                self.recorder.look(now, &self.applications, &mut self.connections, &mut self.net);
                continue;
            }
            let Some((_, slot)) = self.net.calendar.next() else { return };
            self.net.calendar.finish(None);
            let application = self.applications.get_mut(slot.index());
            if let (Kind::Application, Some(application)) = (slot.kind(), application) {
                application.act(Stage { net: &mut self.net, connections: &mut self.connections, now });
            }
        }
    }

    /// Looks at a connection that has received something at `now`, or whose bytes are all acknowledged.
    pub fn look(&mut self, now: Time, id: Id) {
        let Director { net, connections, applications, .. } = self;
        if !connections.is_open(id) {
            return;
        }
        let connection = connections.get_mut(id.number);
        let (owner, news) = (connection.owner(), connection.look());
        let Some(application) = applications.get_mut(owner) else { return };
        for one in news {
            if connections.is_open(id) {
                application.on_news(Stage { net, connections, now }, id.number, one);
            }
        }
    }

    /// Returns when a flow began.
    pub fn started(&self, flow: usize) -> Option<Time> {
        self.applications.get(flow)?.started()
    }

    /// Returns when a flow ended, by itself or by its time table.
    pub fn stopped(&self, flow: usize) -> Option<Time> {
        self.applications.get(flow)?.stopped()
    }

    /// Returns a flow's totals; `None` of a flow that is not there.
    pub fn totals(&self, flow: usize) -> Option<Totals> {
        Some(self.applications.get(flow)?.totals(&self.connections))
    }

    /// Ends the run: returns what is measured of its flows. [`Measured::complete`](crate::live::Measured::complete) adds the
    /// measures of links.
    pub fn finish(self) -> Run {
        self.recorder.finish(&self.applications, &self.connections, &self.net)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::Span;
    use afteryou_scenario::{Duration, Flow, Link, Role, Size, Traffic};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A connection that has everything at once.
    #[derive(Default)]
    struct Instant {
        given: u64,
        log: Rc<RefCell<Vec<(Id, u64)>>>,
        id: Option<Id>,
    }

    impl Remote for Instant {
        fn connect(&mut self) {}
        fn give(&mut self, bytes: u64) {
            self.given += bytes;
            self.log.borrow_mut().extend(self.id.map(|id| (id, bytes)));
        }
        fn take_back(&mut self) -> u64 {
            0
        }
        fn send_datagram(&mut self) {}
        fn stop(&mut self) {}
        fn received(&self) -> u64 {
            self.given
        }
        fn is_flushed(&self) -> bool {
            true
        }
        fn totals(&self) -> Totals {
            Totals::default()
        }
    }

    #[test]
    fn a_connection_is_closed_when_it_is_flushed_and_news_of_it_are_ignored_afterwards() {
        let link = Link::new("1 Mbit/s".parse().unwrap(), "9 packets".parse().unwrap());
        let traffic = Traffic::Arrivals {
            arrivals: afteryou_scenario::Law::Fixed(Duration::from_millis(100)),
            size: afteryou_scenario::Law::Fixed(Size::from_bytes(5000)),
        };
        let flow = Flow { traffic, ..Flow::new("web", Role::Foreground, "cubic", Duration::from_millis(20)) };
        let scenario = Scenario { flow: vec![flow], ..Scenario::new("", Duration::from_millis(1000), link) };
        let network = scenario.network().unwrap();
        let log = Rc::new(RefCell::new(Vec::new()));
        let opened = Rc::clone(&log);
        let dial: Dial = Rc::new(move |opening: Opening<'_>| {
            Box::new(Instant { given: 0, log: Rc::clone(&opened), id: Some(opening.id) })
        });
        let mut director = Director::new(&scenario, &network, &dial, &[]).unwrap();
        let end = Time::ZERO + Span::from_millis(1000);
        while let Some(now) = director.next_event().filter(|now| *now <= end) {
            director.advance(now);
            let ids: Vec<Id> = log.borrow().iter().map(|(id, _)| *id).collect();
            ids.into_iter().for_each(|id| director.look(now + Span(1), id));
        }
        let given = log.borrow();
        assert_eq!(given.len(), 9, "one every 100 ms, the first one after 100 ms");
        assert!(given.iter().all(|(_, bytes)| *bytes == 5000));
        let totals = director.totals(0).unwrap();
        let done = totals.completions.unwrap();
        assert_eq!((done.begun, done.completed, totals.received_bytes), (9, 9, 45_000));
        assert_eq!(director.connections.number_of_open(), 0);
    }
}
