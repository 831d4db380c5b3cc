//! A flow: two ends, an application, and the timers of all three.

mod cbr;
mod tcp;
mod utp;

use crate::calendar::{Kind, Slot, Timer};
use crate::net::{Net, Way};
use crate::packet::{Body, Packet};
use crate::record::{edges, SenderLog, Watched};
use crate::source::Schedule;
use afteryou_aqm::Ecn;
use afteryou_base::param::{ParamError, Value};
use afteryou_base::{Span, Time};
use afteryou_cc::{Controller, Setup, Snapshot};
use afteryou_scenario::outcome::{Quantiles, Totals};
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{random, Error, Flow as Spec, Network, Record, Role, Scenario, Traffic};

/// What a flow's packets have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    flow: u32,
    /// Headers, bytes.
    overhead: u32,
    payload: u32,
    dscp: u8,
    ecn: Ecn,
}

impl Format {
    /// A packet of the flow with so many bytes of payload.
    fn packet(&self, payload: u32, body: Body) -> Packet {
        let (size, ecn) = (payload + self.overhead, Ecn::NotEct);
        Packet { size, flow: self.flow, dscp: self.dscp, ecn, hop: 0, body }
    }

    /// The same, ECN-capable if the flow is.
    fn capable(&self, payload: u32, body: Body) -> Packet {
        Packet { ecn: self.ecn, ..self.packet(payload, body) }
    }
}

/// The two ends, by protocol.
enum Ends {
    Tcp(Box<tcp::Ends>),
    Utp(Box<utp::Ends>),
    Cbr(cbr::Ends),
}

/// A flow.
pub struct Flow {
    spec: Spec,
    schedule: Schedule,
    ends: Ends,
    timers: Timers,
    /// When it began to send.
    started: Option<Time>,
    stopped: Option<Time>,
    completed: Option<Time>,
    is_on: bool,
    /// Payload received over connections that are over.
    received_before: u64,
    /// Its sender's, where the scenario records one.
    log: Option<SenderLog>,
}

/// A flow's timers in the calendar.
#[derive(Debug)]
struct Timers {
    index: usize,
    sender: Timer,
    pacing: Timer,
    receiver: Timer,
}

impl Timers {
    fn arm(&mut self, net: &mut Net, kind: Kind, at: Time) {
        let slot = Slot::new(kind, self.index);
        self.of(kind).arm(&mut net.calendar, at, slot);
    }

    fn of(&mut self, kind: Kind) -> &mut Timer {
        match kind {
            Kind::Sender => &mut self.sender,
            Kind::Pacing => &mut self.pacing,
            _ => &mut self.receiver,
        }
    }
}

/// The parameter of controllers that the transport's `iw` sets, where a controller has it and nobody else has set it.
const INITIAL_WINDOW: &str = "initial_window";

/// Makes a controller for a flow; `iw` is the transport's initial window in packets, `log` records its sender.
fn controller(
    spec: &Spec,
    setup: Setup,
    iw: Option<u32>,
    log: Option<&SenderLog>,
) -> Result<Box<dyn Controller>, Error> {
    let missing = || Error::Scenario(format!("flow {:?} needs a controller", spec.name));
    let (entry, mut overrides) = spec.controller.as_ref().ok_or_else(missing)?.controller()?;
    let has_it = entry.params.iter().any(|param| param.name == INITIAL_WINDOW);
    if let (true, Some(iw)) = (has_it, iw) {
        overrides.insert(0, (INITIAL_WINDOW, Value::Count(iw.into()))); // the last one counts
    }
    let refused =
        |error: ParamError| Error::Parameter { of: entry.name.to_owned(), reason: error.to_string() };
    let controller = entry.build(&overrides, setup).map_err(refused)?;
    Ok(match log {
        Some(log) => Box::new(Watched::new(controller, log.clone())),
        None => controller,
    })
}

/// The log of a flow's sender, where the scenario records senders or events.
fn log(scenario: &Scenario, network: &Network, index: usize) -> Option<SenderLog> {
    let spec = &scenario.flow[index];
    let records = |record| scenario.record.contains(&record);
    if spec.controller.is_none() || !(records(Record::Senders) || records(Record::Events)) {
        return None;
    }
    let windows = scenario.measure.iter().map(edges).collect();
    let empty_rtt = network.empty_round_trip(index, spec.packet_format());
    Some(SenderLog::new(&spec.name, windows, empty_rtt, records(Record::Events)))
}

impl Flow {
    /// The flow with this index in a scenario.
    pub fn new(scenario: &Scenario, network: &Network, index: usize) -> Result<Flow, Error> {
        let spec = scenario.flow[index].clone();
        let sizes = spec.packet_format();
        let protocol = spec.transport.protocol()?;
        let ecn = matches!(protocol, Protocol::Tcp(options) if options.ecn);
        let format = Format {
            flow: index as u32,
            overhead: sizes.overhead.bytes() as u32,
            payload: sizes.payload.bytes() as u32,
            dscp: spec.dscp().bits(),
            ecn: if ecn { Ecn::Ect0 } else { Ecn::NotEct },
        };
        let size = format.payload + format.overhead;
        let seed = random::seed_of(scenario.seed, &format!("controller of flow {index}"));
        let log = log(scenario, network, index);
        let ends = match protocol {
            Protocol::Tcp(options) => {
                Ends::Tcp(Box::new(tcp::Ends::new(&spec, options, format, seed, log.clone())?))
            }
            Protocol::Utp(options) => {
                Ends::Utp(Box::new(utp::Ends::new(&spec, options, format, seed, log.clone())?))
            }
            Protocol::Udp => Ends::Cbr(cbr::Ends::new(&spec, format, network.empty_path(index, size))),
        };
        let timers =
            Timers { index, sender: Timer::default(), pacing: Timer::default(), receiver: Timer::default() };
        Ok(Flow {
            schedule: Schedule::new(&spec, Time(scenario.duration.0 .0)),
            spec,
            ends,
            timers,
            started: None,
            stopped: None,
            completed: None,
            is_on: false,
            received_before: 0,
            log,
        })
    }

    /// When the application acts first.
    pub fn first_action(&self) -> Time {
        self.schedule.start()
    }

    /// The application starts, stops or sends; returns when it acts next.
    pub fn act(&mut self, net: &mut Net, now: Time) -> Option<Time> {
        let next = self.schedule.next_change(now);
        if now >= self.schedule.stop() {
            self.stop(now);
            return None;
        }
        let is_on = self.schedule.is_on(now);
        if is_on != self.is_on {
            self.is_on = is_on;
            match is_on {
                true => self.turn_on(net, now)?,
                false => self.turn_off(),
            }
        }
        let Ends::Cbr(ends) = &mut self.ends else { return next };
        let packet = is_on.then(|| ends.send(net, now));
        [next, packet].into_iter().flatten().min()
    }

    fn turn_on(&mut self, net: &mut Net, now: Time) -> Option<()> {
        let again = self.started.is_some();
        self.started.get_or_insert(now);
        if again && self.spec.reconnect {
            self.received_before = self.received();
            match &mut self.ends {
                Ends::Tcp(ends) => ends.reconnect(&self.spec).ok()?,
                Ends::Utp(ends) => ends.reconnect(),
                Ends::Cbr(_) => {}
            }
        }
        let first = !again || self.spec.reconnect;
        match &mut self.ends {
            Ends::Tcp(ends) => {
                ends.turn_on(now, &self.spec.traffic, first);
                ends.pump(net, now, &mut self.timers, self.is_on, &self.spec.traffic);
            }
            Ends::Utp(ends) => {
                ends.turn_on(now, &self.spec.traffic, first).ok()?;
                ends.pump(net, now, &mut self.timers, self.is_on, &self.spec.traffic);
            }
            Ends::Cbr(_) => {}
        }
        Some(())
    }

    fn turn_off(&mut self) {
        match &mut self.ends {
            Ends::Tcp(ends) => ends.turn_off(),
            Ends::Utp(ends) => ends.turn_off(),
            Ends::Cbr(_) => {}
        }
    }

    fn stop(&mut self, now: Time) {
        self.turn_off();
        if self.started.is_some() {
            self.stopped.get_or_insert(now);
        }
        self.is_on = false;
    }

    /// A packet reaches one of the ends, which answers.
    pub fn receive(&mut self, net: &mut Net, now: Time, way: Way, packet: Packet) {
        let over = self.stopped.is_some();
        let (timers, traffic) = (&mut self.timers, &self.spec.traffic);
        match &mut self.ends {
            Ends::Tcp(ends) => {
                ends.receive(net, now, way, packet, over);
                match way {
                    _ if over => {}
                    Way::Forward => ends.pump_receiver(net, now, timers),
                    Way::Reverse => ends.pump(net, now, timers, self.is_on, traffic),
                }
            }
            Ends::Utp(ends) => {
                ends.receive(net, now, packet, way, over);
                match way {
                    _ if over => {}
                    Way::Forward => ends.pump_receiver(net, now, timers),
                    Way::Reverse => ends.pump(net, now, timers, self.is_on, traffic),
                }
            }
            Ends::Cbr(ends) => ends.receive(net, now, packet),
        }
        if matches!(traffic, Traffic::Size(_)) && !over {
            self.note_completion(now, way);
        }
    }

    /// A timer's entry comes up.
    pub fn on_timer(&mut self, net: &mut Net, now: Time, kind: Kind) {
        if !self.timers.of(kind).fires(now) || self.stopped.is_some() {
            return;
        }
        let way = if kind == Kind::Receiver { Way::Forward } else { Way::Reverse };
        match &mut self.ends {
            Ends::Tcp(ends) => ends.on_timer(now, kind),
            Ends::Utp(ends) => ends.on_timer(now, kind),
            Ends::Cbr(_) => {}
        }
        self.pump(net, now, way);
    }

    /// Lets the end that `way` leads to send what it has.
    fn pump(&mut self, net: &mut Net, now: Time, way: Way) {
        match &mut self.ends {
            Ends::Tcp(ends) if way == Way::Forward => ends.pump_receiver(net, now, &mut self.timers),
            Ends::Tcp(ends) => ends.pump(net, now, &mut self.timers, self.is_on, &self.spec.traffic),
            Ends::Utp(ends) if way == Way::Forward => ends.pump_receiver(net, now, &mut self.timers),
            Ends::Utp(ends) => ends.pump(net, now, &mut self.timers, self.is_on, &self.spec.traffic),
            Ends::Cbr(_) => {}
        }
    }

    /// A flow of a given size is complete when its last byte has arrived.
    fn note_completion(&mut self, now: Time, way: Way) {
        let Traffic::Size(size) = self.spec.traffic else { return };
        if way == Way::Forward && self.completed.is_none() && self.received() >= size.bytes() {
            self.completed = Some(now);
        }
    }

    /// What its sender's controller saw, where the scenario records it.
    pub fn log(&self) -> Option<&SenderLog> {
        self.log.as_ref()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Its role.
    pub fn role(&self) -> Role {
        self.spec.role
    }

    /// Payload received, each byte once.
    pub fn received(&self) -> u64 {
        self.received_before
            + match &self.ends {
                Ends::Tcp(ends) => ends.received(),
                Ends::Utp(ends) => ends.received(),
                Ends::Cbr(ends) => ends.received(),
            }
    }

    /// When it began.
    pub fn started(&self) -> Option<Time> {
        self.started
    }

    /// When it ended, by itself or by its time table.
    pub fn stopped(&self) -> Option<Time> {
        self.completed.or(self.stopped)
    }

    /// State of its controller while it runs.
    pub fn snapshot(&self) -> Option<Snapshot> {
        if self.started.is_none() || self.stopped().is_some() {
            return None;
        }
        match &self.ends {
            Ends::Tcp(ends) => Some(ends.snapshot()),
            Ends::Utp(ends) => Some(ends.snapshot()),
            Ends::Cbr(_) => None,
        }
    }

    /// Slowdowns so far.
    pub fn slowdowns(&self) -> u32 {
        self.snapshot().and_then(|snapshot| snapshot.slowdowns).unwrap_or(0)
    }

    /// Timeouts so far.
    pub fn timeouts(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends.totals().timeouts,
            Ends::Utp(ends) => ends.totals().timeouts,
            Ends::Cbr(_) => 0,
        }
    }

    /// What it did in all.
    pub fn totals(&self) -> Totals {
        let totals = match &self.ends {
            Ends::Tcp(ends) => ends.totals(),
            Ends::Utp(ends) => ends.totals(),
            Ends::Cbr(ends) => ends.totals(),
        };
        let completed = self.completed.zip(self.started).map(|(end, start)| end.since(start).as_secs_f64());
        Totals {
            flow: self.spec.name.clone(),
            received_bytes: self.received(),
            completed_in_s: completed.map(|s| afteryou_scenario::outcome::round(s, 6)),
            ..totals
        }
    }

    /// Share of a full packet that is payload.
    pub fn payload_share(&self) -> f64 {
        let sizes = self.spec.packet_format();
        let (payload, overhead) = (sizes.payload.bytes() as f64, sizes.overhead.bytes() as f64);
        payload / (payload + overhead)
    }

    /// Delay of its packets beyond the empty path in a window, if it measures that.
    pub fn window_delays(&self, window: usize) -> Option<Quantiles> {
        match &self.ends {
            Ends::Cbr(ends) => ends.window_delays(window),
            _ => None,
        }
    }

    /// Mean of that delay since the last call.
    pub fn take_step_delay_ms(&mut self) -> Option<f64> {
        match &mut self.ends {
            Ends::Cbr(ends) => ends.take_step_delay_ms(),
            _ => None,
        }
    }
}

/// Time that `bytes` take at `bits_per_second`, for packets at a constant rate.
fn interval(bytes: u64, bits_per_second: u64) -> Span {
    let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(bits_per_second.max(1));
    Span(u64::try_from(nanos).unwrap_or(u64::MAX).max(1))
}
