//! One run: the loop over what happens next.

use crate::application::{Application, Stage};
use crate::calendar::{Kind, Slot};
use crate::connection::Connections;
use crate::error::Error;
use crate::net::Net;
use crate::record::Recorder;
use crate::sample::Sampler;
use crate::tap::Tap;
use afteryou_base::{Span, Time};
use afteryou_scenario::network::Network;
use afteryou_scenario::outcome::{LinkTotals, Run};
use afteryou_scenario::{Record, Scenario};

/// Events between two looks at the clock of whoever watches.
const WATCH_EVERY: u32 = 1 << 16;

/// Most packets in queues and on wires, half a gigabyte of them: a larger buffer or window is a slip of the pen.
const MOST_PACKETS: u64 = 5_000_000;

/// What has happened in a run so far.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time, s.
    pub at_s: f64,
    /// Of so many.
    pub of_s: f64,
}

/// Runs a checked scenario. `watch` is called now and then; it ends the run by returning false. `tap` sees the packets.
pub fn run(
    scenario: &Scenario,
    watch: &mut dyn FnMut(Progress) -> bool,
    sampler: &mut Sampler<'_>,
    tap: Option<Tap<'_>>,
) -> Result<Run, Error> {
    let network = scenario.network()?;
    let mut world = World::new(scenario, &network, tap)?;
    let mut recorder = Recorder::new(scenario, &network);
    world.go(&mut recorder, watch, sampler)?;
    world.finish(recorder)
}

struct World<'a> {
    net: Net<'a>,
    connections: Connections,
    applications: Vec<Application>,
    end: Time,
}

impl<'a> World<'a> {
    fn new(scenario: &Scenario, network: &Network, tap: Option<Tap<'a>>) -> Result<World<'a>, Error> {
        let mut net = Net::new(scenario, network, tap)?;
        let mut connections = Connections::default();
        let mut applications = Vec::new();
        for i in 0..scenario.flow.len() {
            applications.push(Application::new(scenario, network, i)?);
        }
        if scenario.record.contains(&Record::Events) {
            net.note_drops(&applications.iter().map(|one| one.log().cloned()).collect::<Vec<_>>());
        }
        for application in &mut applications {
            application.prepare(&mut net, &mut connections);
        }
        Ok(World { net, connections, applications, end: Time(scenario.duration.0 .0) })
    }

    fn go(
        &mut self,
        recorder: &mut Recorder<'_>,
        watch: &mut dyn FnMut(Progress) -> bool,
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
            self.handle(now, slot, recorder);
            events += 1;
            if events == WATCH_EVERY {
                events = 0;
                if self.net.packets() > MOST_PACKETS {
                    return Err(Error::TooLarge { limit: MOST_PACKETS });
                }
                let progress = Progress { at_s: now.as_secs_f64(), of_s: self.end.as_secs_f64() };
                if !watch(progress) {
                    return Err(Error::Interrupted);
                }
            }
        }
        sampler.before(self.end + Span(1), &self.applications, &self.connections);
        Ok(())
    }

    fn handle(&mut self, now: Time, slot: Slot, recorder: &mut Recorder<'_>) {
        let World { net, connections, applications, .. } = self;
        let index = slot.index();
        match slot.kind() {
            Kind::Link => {
                let again = net.link_free(now, index);
                net.calendar.finish(again);
            }
            Kind::Line => {
                if let Some((packet, way)) = net.arrive(now, index) {
                    let connection = connections.get_mut(packet.flow as usize);
                    if let Some(news) = connection.receive(net, now, way, packet) {
                        let owner = connection.owner();
                        applications[owner].on_news(now, news);
                    }
                }
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
            Kind::Measure => {
                recorder.look(now, applications, connections, net);
                net.calendar.finish(Some(recorder.next()));
            }
        }
    }

    fn finish(self, recorder: Recorder<'_>) -> Result<Run, Error> {
        let World { net, connections, applications, .. } = self;
        let links: Vec<LinkTotals> = (0..net.number_of_links()).map(|link| net.totals(link)).collect();
        for LinkTotals { link, ledger, .. } in &links {
            if let Some(ledger) = ledger.as_ref().filter(|ledger| !ledger.balances()) {
                return Err(Error::Conservation { link: link.clone(), ledger: ledger.clone() });
            }
        }
        Ok(Run { links, ..recorder.finish(&applications, &connections, &net) })
    }
}
