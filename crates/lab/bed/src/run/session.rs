//! One stretch of wall time: the flows of one run, or of two runs side by side, over one relay.

use super::end::End;
use super::ends::Place;
use super::log::{Log, Timing};
use super::measure::{self, LinkLog, Raw};
use super::{cbr, transfer, BedProgress, FlowProgress, Options, Source};
use crate::clock::Clock;
use crate::error::Error;
use crate::relay::{self, FlowId, LinkId, Record, Relay};
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{ClassCounts, LinkTotals, Run, Transfer, BOTTLENECK, REVERSE_PATH};
use afteryou_scenario::{Link, Network, Rate, Scenario, Traffic};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often controllers are looked at.
const SAMPLE: Duration = Duration::from_millis(20);
/// Samples between two calls of the observer.
const OBSERVE_EVERY: u32 = 5;
/// Time to set everything up before the run begins.
const SET_UP: Span = Span::from_millis(100);
/// Data in flight when the run ends get this long to arrive.
const DRAIN: Span = Span::from_secs(60);
/// The scenario to run, from the time `from` on.
pub(super) struct Part {
    pub(super) scenario: Scenario,
    pub(super) network: Network,
    pub(super) from: Span,
    pub(super) is_baseline: bool,
}

/// The outcome of a part.
#[derive(Default)]
pub(super) struct Ended {
    pub(super) run: Run,
    pub(super) transfers: Vec<Transfer>,
    /// Wall time, s.
    pub(super) duration_s: f64,
}

/// A transfer at work.
type Task = JoinHandle<Result<Option<Transfer>, Error>>;

/// A part while it runs.
struct Running {
    part: Part,
    link: LinkId,
    logs: Vec<Arc<Log>>,
    /// With the flow's index.
    transfers: Vec<(usize, Task)>,
    calls: Vec<cbr::Call>,
    /// Of the link's two directions.
    link_logs: [LinkLog; 2],
}

/// The sockets of a flow before the relay is up.
enum Ends {
    Transfer(Box<transfer::Ends>),
    Cbr(Box<cbr::Ends>),
}

/// Signals the threads of calls that the run is over, however it ends.
struct CallsEnd(Arc<AtomicBool>);

impl Drop for CallsEnd {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs all `parts` at the same time. `around` is the wall time that other sessions take before and after this one.
pub(super) fn run(
    parts: Vec<Part>,
    options: &Options,
    around: (Span, Span),
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
) -> Result<Vec<Ended>, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(Error::Thread)?;
    let _inside = runtime.enter();
    let mut config = relay::Config::new(parts.first().map_or(0, |part| part.scenario.seed));
    let mut opened = Vec::new();
    for part in parts {
        let name = if part.is_baseline && !opened.is_empty() { "baseline" } else { "bottleneck" };
        let link = config.add_link(relay::Link::of_scenario(name, &part.scenario.link, part.scenario.seed)?);
        let ends = open_flows(&part, link, &mut config, options)?;
        opened.push((part, link, ends));
    }
    let clock = Clock::start();
    let relay = Relay::start(config, clock)?;
    let begins = clock.now() + SET_UP;
    let (over_sender, over) = watch::channel(false);
    let calls_over = CallsEnd(Arc::new(AtomicBool::new(false)));
    let broken = Arc::new(AtomicBool::new(false));
    let mut running = Vec::new();
    for (part, link, ends) in opened {
        let timing = Timing { clock, begins, from: part.from };
        running.push(start_flows(part, link, ends, &relay, timing, &over, (&calls_over.0, &broken))?);
    }
    let end = options.end;
    let mut session = Session { clock, begins, relay, running, around, end, broken };
    let ended = session.watch(observe);
    let _ = over_sender.send(true);
    drop(calls_over);
    let transfers = ended.and_then(|()| runtime.block_on(session.collect()));
    session.finish(transfers)
}

fn open_flows(
    part: &Part,
    link: LinkId,
    config: &mut relay::Config,
    options: &Options,
) -> Result<Vec<(Ends, FlowId)>, Error> {
    let mut opened = Vec::new();
    let observers = options.observers.as_ref().filter(|_| !part.is_baseline);
    for (i, flow) in part.scenario.flow.iter().enumerate() {
        let (ends, server) = match flow.traffic {
            Traffic::Cbr { rate, payload, .. } => {
                let ends = cbr::Ends::open(flow, rate, payload)?;
                let server = ends.server_addr()?;
                (Ends::Cbr(Box::new(ends)), server)
            }
            _ => {
                let source = options.sources.get(&flow.name).cloned().unwrap_or(Source::Made);
                let observers = observers.map(|all| (i, all));
                let places = [Place::on_loopback(), Place::on_loopback()];
                let ends = transfer::Ends::open(flow, &source, part.scenario.seed, observers, places)?;
                let server = ends.server_addr()?;
                (Ends::Transfer(Box::new(ends)), server)
            }
        };
        let flow = relay::Flow { link, server, rtt: flow.rtt.0, direction: flow.direction };
        opened.push((ends, config.add(flow)));
    }
    Ok(opened)
}

fn start_flows(
    part: Part,
    link: LinkId,
    ends: Vec<(Ends, FlowId)>,
    relay: &Relay,
    timing: Timing,
    over: &watch::Receiver<bool>,
    (calls_over, broken): (&Arc<AtomicBool>, &Arc<AtomicBool>),
) -> Result<Running, Error> {
    let (mut logs, mut transfers, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (ends, id)) in ends.into_iter().enumerate() {
        let (log, front) = (Arc::new(Log::default()), relay.front(id));
        match ends {
            Ends::Transfer(ends) => {
                let transfer = ends.run(front, timing, Arc::clone(&log), over.clone());
                let broken = Arc::clone(broken);
                let task = async move {
                    let ended = transfer.await;
                    broken.fetch_or(ended.is_err(), Ordering::Relaxed);
                    ended
                };
                transfers.push((i, tokio::spawn(task)));
            }
            Ends::Cbr(ends) => {
                let rate = Rate::from_bits(part.network.rate_of_flow(i));
                calls.push(ends.start(front, rate, timing, Arc::clone(&log), Arc::clone(calls_over))?);
            }
        }
        logs.push(log);
    }
    let rates = [part.scenario.link.rate, part.scenario.link.back().rate];
    let link_logs = rates.map(|rate| LinkLog::new(&part.scenario, rate, part.from, part.is_baseline));
    Ok(Running { part, link, logs, transfers, calls, link_logs })
}

/// A session while it runs.
struct Session {
    clock: Clock,
    begins: Time,
    relay: Relay,
    running: Vec<Running>,
    around: (Span, Span),
    end: End,
    /// A transfer has failed: there is no point in continuing.
    broken: Arc<AtomicBool>,
}

impl Session {
    /// Samples and calls the observer until every part has ended or the observer breaks it off.
    fn watch(&mut self, observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>) -> Result<(), Error> {
        for tick in 0u32.. {
            std::thread::sleep(SAMPLE);
            let now = self.clock.now();
            for running in &self.running {
                let at = running.timing(self.clock, self.begins).scenario_time(now);
                running.logs.iter().for_each(|log| log.sample(at));
            }
            if tick % OBSERVE_EVERY == 0 {
                self.take_records();
                let first = self.running.first();
                if first.is_some_and(|running| observe(&self.progress(running, now)).is_break()) {
                    return Err(Error::Interrupted);
                }
            }
            if self.is_over(now)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether the session is over. A transfer that breaks down ends a part at once.
    fn is_over(&self, now: Time) -> Result<bool, Error> {
        if self.broken.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let mut all = true;
        for running in &self.running {
            let at = running.timing(self.clock, self.begins).scenario_time(now);
            let of = |index: usize| running.transfers.iter().find(|(i, _)| *i == index);
            let is_finished = |index| of(index).is_none_or(|(_, task)| task.is_finished());
            all &= self.end.is_over(&running.part.scenario, at, is_finished)?;
        }
        Ok(all)
    }

    fn take_records(&mut self) {
        for record in self.relay.drain_records() {
            take_record(&mut self.running, &record, self.clock, self.begins);
        }
    }

    fn progress(&self, running: &Running, now: Time) -> BedProgress {
        let at = running.timing(self.clock, self.begins).scenario_time(now);
        let length = running.part.scenario.duration.0 - running.part.from;
        let flow = |(flow, log): (&afteryou_scenario::Flow, &Arc<Log>)| {
            let (rate_mbit, received_bytes, controller) = log.progress(at);
            FlowProgress { name: flow.name.clone(), role: flow.role, rate_mbit, received_bytes, controller }
        };
        BedProgress {
            is_baseline: running.part.is_baseline,
            at_s: at.as_secs_f64(),
            elapsed_s: (self.around.0 + now.since(self.begins)).as_secs_f64(),
            total_s: (self.around.0 + length + self.around.1).as_secs_f64(),
            flows: running.part.scenario.flow.iter().zip(&running.logs).map(flow).collect(),
            queue_ms: running.link_logs[0].latest_ms,
        }
    }

    /// Waits for the transfers to end and takes their reports.
    async fn collect(&mut self) -> Result<Vec<Vec<Transfer>>, Error> {
        let deadline = tokio::time::Instant::now() + DRAIN.into();
        let mut all = Vec::new();
        for running in &mut self.running {
            let mut transfers = Vec::new();
            for (i, task) in running.transfers.drain(..) {
                let name = &running.part.scenario.flow[i].name;
                let broken = |reason: String| Error::Flow { flow: name.clone(), reason };
                let ended = tokio::time::timeout_at(deadline, task).await;
                let ended =
                    ended.map_err(|_| broken("what was sent did not arrive within a minute".to_owned()))?;
                transfers.extend(ended.map_err(|error| broken(error.to_string()))??);
            }
            all.push(transfers);
        }
        Ok(all)
    }

    /// Stops calls and relay and measures.
    fn finish(mut self, transfers: Result<Vec<Vec<Transfer>>, Error>) -> Result<Vec<Ended>, Error> {
        for running in &mut self.running {
            running.calls.drain(..).for_each(cbr::Call::join);
        }
        let transfers = transfers?;
        self.take_records();
        let Session { clock, begins, relay, mut running, end, .. } = self;
        let (statistics, rest) = relay.stop_with_records()?;
        let duration_s = clock.now().since(begins).as_secs_f64();
        rest.iter().for_each(|record| take_record(&mut running, record, clock, begins));
        let measured =
            running.into_iter().zip(statistics.links).zip(transfers).map(|((running, link), transfers)| {
                let spec = &running.part.scenario.link;
                let totals = |name: &str, spec: &Link, direction: &relay::DirectionStatistics| LinkTotals {
                    link: name.to_owned(),
                    capacity_bit_s: spec.rate.bits_per_second() as f64,
                    discipline: spec.queue.kind.clone(),
                    packets: Some(direction.packets),
                    ledger: None,
                    classes: ClassCounts::of(&direction.queue),
                    queued_by: None,
                };
                let back = totals(REVERSE_PATH, &spec.back(), &link.reverse);
                let links = vec![totals(BOTTLENECK, spec, &link.forward), back];
                let raw = Raw {
                    timing: running.timing(clock, begins),
                    scenario: &running.part.scenario,
                    logs: &running.logs,
                    links: &running.link_logs,
                    lateness: statistics.lateness,
                    end,
                };
                Ended { run: Run { links, ..measure::measure(&raw) }, transfers, duration_s }
            });
        Ok(measured.collect())
    }
}

/// Hands a packet to the log of its direction.
fn take_record(running: &mut [Running], record: &Record, clock: Clock, begins: Time) {
    if let Some(running) = running.iter_mut().find(|running| running.link == record.link) {
        let timing = running.timing(clock, begins);
        running.link_logs[record.way as usize].take(record, timing);
    }
}

impl Running {
    fn timing(&self, clock: Clock, begins: Time) -> Timing {
        Timing { clock, begins, from: self.part.from }
    }
}
