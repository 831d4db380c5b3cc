//! An application: when to send and what. It opens connections, gives them bytes, and closes them.

mod arrivals;
mod bursts;
mod downloads;
mod parts;
mod peers;
mod schedule;
mod steady;
mod swarm;
mod transfers;
mod web;

use crate::calendar::{Kind, Slot, Timer};
use crate::connection::{Connections, Dial, News, Template};
use crate::instruments::{edges, Onlookers, SenderLog, Settings, STALL};
use crate::net::Net;
use afteryou_base::Time;
use afteryou_cc::{Observers, Snapshot};
use afteryou_scenario::network::Route;
use afteryou_scenario::outcome::{round, Offered, Quantiles, Totals};
use afteryou_scenario::{random, Error, Flow as Spec, Network, Record, Role, Scenario, Traffic, Window};
use arrivals::Arrivals;
use bursts::Bursts;
use downloads::Downloads;
use parts::Parts;
use peers::Peers;
use steady::Steady;
use swarm::Swarm;
use transfers::Transfers;
use web::Web;

pub use parts::{HostBytes, Open, UploadSlot};
pub use transfers::Times;

/// An application: a flow of the scenario.
pub struct Application {
    dialer: Dialer,
    work: Work,
    timer: Timer,
}

/// Its behaviour, by the traffic of its flow.
enum Work {
    Steady(Steady),
    Arrivals(Arrivals),
    Peers(Peers),
    Web(Web),
    Bursts(Bursts),
    Swarm(Swarm),
    Downloads(Downloads),
}

/// The common part of all applications: the flow's scenario, the connections, and the totals of closed ones.
struct Dialer {
    spec: Spec,
    /// The flow's index.
    index: usize,
    template: Template,
    route: Route,
    /// The next connection's controller's.
    seed: u64,
    /// Numbers of its open connections.
    open: Vec<usize>,
    /// When it began to send.
    started: Option<Time>,
    stopped: Option<Time>,
    completed: Option<Time>,
    /// Of connections that are closed.
    earlier: Totals,
    /// Bytes given so far, and those of closed connections that did not arrive.
    books: Offered,
    transfers: Transfers,
    /// Its connections one by one, if it has many at the same time.
    parts: Option<Parts>,
    /// Its senders', where the scenario records them.
    log: Option<SenderLog>,
}

/// The world that applications act on.
pub struct Stage<'a, 'tap> {
    /// The network.
    pub net: &'a mut Net<'tap>,
    /// All connections.
    pub connections: &'a mut Connections,
    /// Now.
    pub now: Time,
}

impl Dialer {
    /// Opens a connection.
    fn dial(&mut self, net: &mut Net, connections: &mut Connections) -> usize {
        let connection = connections.open(net, &self.template, (self.index, &self.route), self.seed);
        if let Some(parts) = &mut self.parts {
            parts.opened(connection, &self.route);
        }
        self.opened(connection);
        connection
    }

    fn opened(&mut self, connection: usize) {
        self.seed = self.seed.wrapping_add(1);
        self.open.push(connection);
        self.transfers.connections += 1;
    }

    /// Opens a connection over another route than the flow's and gives it `bytes`.
    fn dial_over(&mut self, stage: &mut Stage<'_, '_>, route: &Route, bytes: u64) -> usize {
        let index = stage.connections.open(stage.net, &self.template, (self.index, route), self.seed);
        if let Some(parts) = &mut self.parts {
            parts.opened(index, route);
        }
        self.opened(index);
        self.begin(stage, index, bytes);
        index
    }

    /// Opens a connection and gives it `bytes`; they and their acknowledgement are reported.
    fn dial_with(&mut self, stage: &mut Stage<'_, '_>, bytes: u64) -> usize {
        let index = self.dial(stage.net, stage.connections);
        self.begin(stage, index, bytes);
        index
    }

    /// Begins with a connection that was opened: it connects and gets its first bytes.
    fn begin(&mut self, stage: &mut Stage<'_, '_>, index: usize, bytes: u64) {
        self.started.get_or_insert(stage.now);
        stage.connections.get_mut(index).connect(stage.now);
        self.send(stage, index, bytes);
    }

    /// Gives a connection `bytes` more; they and their acknowledgement are reported.
    fn send(&mut self, stage: &mut Stage<'_, '_>, index: usize, bytes: u64) {
        let connection = stage.connections.get_mut(index);
        connection.give(bytes);
        connection.expect(connection.given());
        connection.await_flush();
        connection.pump(stage.net, stage.now);
        self.books.offered += bytes;
    }

    /// Returns a stream of random numbers of its own.
    fn random(scenario: &Scenario, spec: &Spec, what: &str) -> rand_pcg::Pcg64 {
        random::stream(scenario.seed, &format!("{what} of flow {}", spec.name))
    }

    /// Completes a transfer of a given size, whose last byte has arrived.
    fn complete(&mut self, now: Time) {
        let (None, Some(began), Traffic::Size(size)) = (self.completed, self.started, &self.spec.traffic)
        else {
            return;
        };
        self.transfers.complete(now, transfers::Transfer { began, bytes: size.bytes() });
        self.completed = Some(now);
    }

    /// Stops all connections at the end of the time table.
    fn stop(&mut self, stage: &mut Stage<'_, '_>) {
        self.stopped.get_or_insert(stage.now);
        self.shut(stage);
    }

    /// Shuts all connections.
    fn shut(&self, stage: &mut Stage<'_, '_>) {
        for open in &self.open {
            stage.connections.get_mut(*open).shut();
            if let Some(log) = &self.log {
                log.closed(*open, stage.now);
            }
        }
    }

    /// Closes a connection and keeps what it did.
    fn hang_up(&mut self, stage: &mut Stage<'_, '_>, connection: usize) {
        let connections = &mut *stage.connections;
        let (closed, earlier) = (connections.get(connection), &mut self.earlier);
        let totals = closed.totals();
        earlier.packets += totals.packets;
        earlier.retransmissions += totals.retransmissions;
        earlier.losses += totals.losses;
        earlier.spurious += totals.spurious;
        earlier.timeouts += totals.timeouts;
        earlier.handshake_timeouts += totals.handshake_timeouts;
        earlier.received_bytes += closed.received();
        let lost = closed.given().saturating_sub(closed.received());
        self.books.closed = self.books.closed.saturating_add(lost); // bulk has no end
        if let Some(parts) = &mut self.parts {
            parts.closed(connection, closed.received());
        }
        if let Some(log) = &self.log {
            log.closed(connection, stage.now);
        }
        connections.close(connection);
        self.open.retain(|open| *open != connection);
    }
}

/// Returns the logs of all flows' senders, by flow; `None` of a flow without a sender, or where the scenario records neither
/// senders nor events.
pub fn logs(scenario: &Scenario, network: &Network) -> Vec<Option<SenderLog>> {
    (0..scenario.flow.len()).map(|flow| log(scenario, network, flow)).collect()
}

/// Returns the log of a flow's senders, where the scenario records senders or events.
fn log(scenario: &Scenario, network: &Network, index: usize) -> Option<SenderLog> {
    let spec = &scenario.flow[index];
    let records = |record| scenario.record.contains(&record);
    if spec.controller.is_none() || !(records(Record::Senders) || records(Record::Events)) {
        return None;
    }
    let window = |window: &Window| {
        let (from, to) = edges(window);
        (from, to, scenario.set_of(&window.name).map_or(STALL, |set| set.stall.0))
    };
    let has_own_routes = !network.hosts[index].is_empty() || !network.rerouted[index].is_empty();
    Some(SenderLog::new(Settings {
        flow: spec.name.clone(),
        windows: scenario.measure.iter().map(window).collect(),
        empty_rtt: (!has_own_routes).then(|| network.empty_round_trip(index, spec.packet_format())),
        keeps_events: records(Record::Events),
        keeps_phases: records(Record::Senders) && !spec.traffic.has_many_connections(),
    }))
}

/// Returns the windows of the sets that a flow is in, with the index of each set.
fn windows_of_sets<'a>(
    scenario: &'a Scenario,
    flow: &'a str,
) -> impl Iterator<Item = (usize, Time, Time)> + 'a {
    let own =
        scenario.sets.iter().enumerate().filter(move |(_, set)| set.flows.iter().any(|name| name == flow));
    own.filter_map(|(index, set)| {
        let window = scenario.measure.iter().find(|window| window.name == set.window)?;
        let (from, to) = edges(window);
        Some((index, from, to))
    })
}

/// Draws an index below `number`, each as likely as the others.
fn draw_index(random: &mut rand_pcg::Pcg64, number: usize) -> usize {
    ((random::uniform(random) * number as f64) as usize).min(number.saturating_sub(1))
}

impl Application {
    /// Creates the flow with this index in a scenario, whose senders `observers` see.
    ///
    /// # Errors
    /// A transport, a controller or a parameter that is refused.
    pub fn new(
        scenario: &Scenario,
        network: &Network,
        index: usize,
        observers: Option<Observers>,
    ) -> Result<Application, Error> {
        let spec = &scenario.flow[index];
        let log = log(scenario, network, index);
        let onlookers = Onlookers { flow: index, log: log.clone(), observers };
        let template = Template::new(spec, |size| network.empty_paths(index, size), onlookers)?;
        Ok(Application::with(scenario, network, index, (template, log)))
    }

    /// Creates the flow with this index, whose connections `dial` opens elsewhere; `log` has what is recorded of its
    /// senders.
    pub fn outside(
        scenario: &Scenario,
        network: &Network,
        index: usize,
        (dial, log): (Dial, Option<SenderLog>),
    ) -> Application {
        let template = Template::outside(&scenario.flow[index], index, dial);
        Application::with(scenario, network, index, (template, log))
    }

    fn with(
        scenario: &Scenario,
        network: &Network,
        index: usize,
        (template, log): (Template, Option<SenderLog>),
    ) -> Application {
        let spec = scenario.flow[index].clone();
        let end = Time(scenario.duration.0 .0);
        let work = match &spec.traffic {
            Traffic::Arrivals { .. } => Work::Arrivals(Arrivals::new(scenario, &spec)),
            Traffic::Peers { .. } => Work::Peers(Peers::new(scenario, &spec)),
            Traffic::Web(web) => Work::Web(Web::new(scenario, &spec, web)),
            Traffic::Swarm(swarm) => Work::Swarm(Swarm::new(scenario, &spec, swarm, &network.hosts[index])),
            Traffic::Downloads { downloads, size } => {
                Work::Downloads(Downloads::new(scenario, &spec, (*downloads, size), &network.hosts[index]))
            }
            Traffic::Bursts { every, size } => Work::Bursts(Bursts::new(&spec, end, every.0, size.bytes())),
            _ => Work::Steady(Steady::new(scenario, &spec)),
        };
        let hosts = &network.hosts[index];
        let parts = spec.traffic.has_many_connections().then(|| Parts::new(hosts, !scenario.sets.is_empty()));
        let transfers = Transfers::new(scenario, windows_of_sets(scenario, &spec.name));
        let dialer = Dialer {
            spec,
            index,
            template,
            route: network.routes[index].clone(),
            seed: random::seed_of(scenario.seed, &format!("controller of flow {index}")),
            open: Vec::new(),
            started: None,
            stopped: None,
            completed: None,
            earlier: Totals::default(),
            books: Offered::default(),
            transfers,
            parts,
            log,
        };
        Application { dialer, work, timer: Timer::default() }
    }

    /// Prepares the run: opens what is open from the beginning, and enters the first action into the calendar.
    pub fn prepare(&mut self, net: &mut Net, connections: &mut Connections) {
        // Each flow's first connection has the flow's number: fair queues distinguish flows by it.
        if let Work::Steady(_) = self.work {
            self.dialer.dial(net, connections);
        }
        self.arm(net, Some(Time(self.dialer.spec.start.0 .0)));
    }

    /// Acts when its time has come.
    pub fn act(&mut self, stage: Stage<'_, '_>) {
        if !self.timer.fires(stage.now) {
            return;
        }
        let mut stage = stage;
        let dialer = &mut self.dialer;
        let next = match &mut self.work {
            Work::Steady(work) => work.act(dialer, &mut stage),
            Work::Arrivals(work) => work.act(dialer, &mut stage),
            Work::Peers(work) => work.act(dialer, &mut stage),
            Work::Web(work) => work.act(dialer, &mut stage),
            Work::Bursts(work) => work.act(dialer, &mut stage),
            Work::Swarm(work) => work.act(dialer, &mut stage),
            Work::Downloads(work) => work.act(dialer, &mut stage),
        };
        self.arm(stage.net, next);
    }

    fn arm(&mut self, net: &mut Net, next: Option<Time>) {
        if let Some(at) = next {
            self.timer.arm(&mut net.calendar, at, Slot::new(Kind::Application, self.dialer.index));
        }
    }

    /// Reacts to news of its connection with the number `connection`.
    pub fn on_news(&mut self, mut stage: Stage<'_, '_>, connection: usize, news: News) {
        let (dialer, stage) = (&mut self.dialer, &mut stage);
        let next = match &mut self.work {
            Work::Steady(work) => {
                work.on_news(dialer, stage, news);
                None
            }
            Work::Arrivals(work) => {
                work.on_news(dialer, stage, connection, news);
                None
            }
            Work::Peers(work) => work.on_news(dialer, stage, connection, news),
            Work::Web(work) => work.on_news(dialer, stage, connection, news),
            Work::Swarm(work) => work.on_news(dialer, stage, connection, news),
            Work::Downloads(work) => {
                work.on_news(dialer, stage, connection, news);
                None
            }
            Work::Bursts(work) => {
                work.on_news(dialer, stage, connection, news);
                None
            }
        };
        self.arm(stage.net, next);
    }

    /// Returns the measures of its senders' controllers, where the scenario records them.
    pub fn log(&self) -> Option<&SenderLog> {
        self.dialer.log.as_ref()
    }

    /// Returns the flow's name.
    pub fn name(&self) -> &str {
        &self.dialer.spec.name
    }

    /// Returns the flow's role.
    pub fn role(&self) -> Role {
        self.dialer.spec.role
    }

    /// Returns the numbers of its open connections, once it has begun.
    pub fn open(&self) -> &[usize] {
        match self.started() {
            Some(_) => &self.dialer.open,
            None => &[],
        }
    }

    /// Returns the payload received, each byte once.
    pub fn received(&self, connections: &Connections) -> u64 {
        let open = self.dialer.open.iter().map(|open| connections.get(*open).received());
        self.dialer.earlier.received_bytes + open.sum::<u64>()
    }

    /// Returns whether a connection has data that are not sent or not acknowledged.
    pub fn has_data(&self, connections: &Connections) -> bool {
        self.started().is_some() && self.dialer.open.iter().any(|open| connections.get(*open).has_data())
    }

    /// Returns the connections that are open, if it has many at the same time.
    pub fn parts<'a>(&'a self, connections: &'a Connections) -> Option<impl Iterator<Item = Open> + 'a> {
        self.dialer.parts.as_ref().map(|parts| parts.open(connections))
    }

    /// Returns such connections that have been closed since the first `seen` ones: the slot, the serial number, what it
    /// received.
    pub fn closed_since(&self, seen: usize) -> &[(UploadSlot, u64, u64)] {
        self.dialer.parts.as_ref().map(|parts| parts.closed_since(seen)).unwrap_or_default()
    }

    /// Returns the bytes that each of its hosts has received and sent so far; nothing if it runs on none.
    pub fn hosts(&self, connections: &Connections) -> Vec<HostBytes> {
        self.dialer.parts.as_ref().map(|parts| parts.hosts(connections)).unwrap_or_default()
    }

    /// Returns the transfers that ended in the window of a set that the flow is in, if it makes any.
    pub fn transfers_in(&self, set: usize) -> Option<&Times> {
        let traffic = &self.dialer.spec.traffic;
        let has_any = traffic.counts_transfers() || matches!(traffic, Traffic::Size(_));
        self.dialer.transfers.in_window(set).filter(|_| has_any)
    }

    /// Returns when it began.
    pub fn started(&self) -> Option<Time> {
        self.dialer.started
    }

    /// Returns when it ended, by itself or by its time table.
    pub fn stopped(&self) -> Option<Time> {
        self.dialer.completed.or(self.dialer.stopped)
    }

    /// Returns the state of its controller while it runs, if it has one connection.
    pub fn snapshot(&self, connections: &Connections) -> Option<Snapshot> {
        if self.started().is_none() || self.stopped().is_some() {
            return None;
        }
        match self.dialer.open[..] {
            [connection] => connections.get(connection).snapshot(),
            _ => None,
        }
    }

    /// Returns the number of slowdowns so far.
    pub fn slowdowns(&self, connections: &Connections) -> u32 {
        self.snapshot(connections).and_then(|snapshot| snapshot.slowdowns).unwrap_or(0)
    }

    /// Returns the number of timeouts so far.
    pub fn timeouts(&self, connections: &Connections) -> u64 {
        let open = self.dialer.open.iter().map(|open| connections.get(*open).totals().timeouts);
        self.dialer.earlier.timeouts + open.sum::<u64>()
    }

    /// Returns its totals, when the run is over.
    pub fn totals(&self, connections: &Connections) -> Totals {
        let Dialer { spec, open, started, completed, earlier, .. } = &self.dialer;
        let completed = completed.zip(*started).map(|(end, start)| end.since(start).as_secs_f64());
        let open = open.iter().map(|open| connections.get(*open).totals());
        let sum = open.fold(earlier.clone(), |sum, one| Totals {
            packets: sum.packets + one.packets,
            retransmissions: sum.retransmissions + one.retransmissions,
            losses: sum.losses + one.losses,
            spurious: sum.spurious + one.spurious,
            timeouts: sum.timeouts + one.timeouts,
            handshake_timeouts: sum.handshake_timeouts + one.handshake_timeouts,
            ..sum
        });
        let completions = spec.traffic.counts_transfers().then(|| {
            let open = self.dialer.open.iter().map(|open| connections.get(*open));
            let queued = open.map(|open| open.given().saturating_sub(open.received())).sum();
            let delivered = self.received(connections);
            self.dialer.transfers.completions(Offered { delivered, queued, ..self.dialer.books })
        });
        Totals {
            completions,
            flow: spec.name.clone(),
            received_bytes: self.received(connections),
            completed_in_s: completed.map(|s| round(s, 6)),
            ..sum
        }
    }

    /// Returns the share of a full packet that is payload.
    pub fn payload_share(&self) -> f64 {
        let sizes = self.dialer.spec.packet_format();
        let (payload, overhead) = (sizes.payload.bytes() as f64, sizes.overhead.bytes() as f64);
        payload / (payload + overhead)
    }

    /// Returns the delay of its packets beyond the propagation delay in a window, if it measures that.
    pub fn window_delays(&self, connections: &Connections, window: usize) -> Option<Quantiles> {
        connections.get(*self.dialer.open.first()?).window_delays(window)
    }

    /// Returns the mean of that delay since the last call.
    pub fn take_step_delay_ms(&self, connections: &mut Connections) -> Option<f64> {
        connections.get_mut(*self.dialer.open.first()?).take_step_delay_ms()
    }
}
