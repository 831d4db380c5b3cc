//! Senders as their controllers see them, recorded on demand (`record = ["senders", "events"]`).
//!
//! The observer of each sender's controller, in `watched.rs`, notes the state after each event. A sender that is not recorded pays
//! nothing.
//!
//! | noted | when |
//! |---|---|
//! | window, bytes in flight, own estimate of the queue | after each event; they hold until the next |
//! | RTT, errors of the own estimates | at each ack with a sample |
//! | cut, phase, base delay | when an event changed it |
//! | loss, spurious loss, timeout | at the event |
//! | stall | at an ack that moves the cumulative point, after a long time with data outstanding |
//! | drop | when a link drops a packet of the flow |
//!
//! A flow may have many connections at the same time: each has a state of its own, and the flow's distributions count each one
//! for as long as it is open.

use super::delays::StepMean;
use super::levels::{Held, Level};
use super::Delays;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::{Span, Time};
use afteryou_cc::{Ack, Sent, Snapshot};
use afteryou_scenario::outcome::{round, Exact, PhaseSpan, SenderFigures, Stalls};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Time without progress of the cumulative ack from which on it is a stall by default: the least RTO of Linux.
pub const STALL: Span = Span::from_millis(200);

/// Events that a run keeps of one flow; later ones are counted only.
const MOST_EVENTS: usize = 200_000;

/// A decrease of the window by more than this part is a cut. Controllers that follow the delay lower it by less in an ack.
const CUT: f64 = 0.05;

/// The log of one flow's senders, shared by its controllers and by its readers.
#[derive(Clone, Debug)]
pub struct SenderLog(Arc<Mutex<Log>>);

/// The settings of a log.
#[derive(Debug)]
pub struct Settings {
    /// The flow.
    pub flow: String,
    /// The windows, each with the time from which on it is a stall.
    pub windows: Vec<(Time, Time, Span)>,
    /// The round-trip time of the flow's path when nobody else sends; none if its connections have paths of their own.
    pub empty_rtt: Option<Span>,
    /// Events are kept.
    pub keeps_events: bool,
    /// Phases are kept.
    pub keeps_phases: bool,
}

#[derive(Debug)]
struct Log {
    settings: Settings,
    cwnd: Level,
    in_flight: Level,
    queuing_delay: Level,
    /// Round-trip time in this step.
    rtt: StepMean,
    /// Losses that the senders have found, and acknowledgements with an ECN mark, in this step.
    step: StepCounts,
    windows: Vec<Window>,
    /// A pause longer than this is an event: as short as a window asks for.
    shortest_stall: Span,
    /// By the number of the connection.
    senders: BTreeMap<usize, Sender>,
    events: Vec<Exact>,
    left_out: u64,
    phases: Vec<PhaseSpan>,
}

/// Congestion signals of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepCounts {
    /// Packets that were found lost.
    pub losses: u64,
    /// Marks that were echoed.
    pub marks: u64,
}

/// A window.
#[derive(Debug, Default)]
struct Window {
    rtt: Delays,
    /// Differences between the own estimate of the queue and the RTT's excess.
    errors: Errors,
    /// Differences between the own base delay and the path's.
    base_errors: Errors,
    longest_stall: Span,
    stalls: u64,
    stalled: Span,
}

/// Differences in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    sum: i128,
    number: u64,
}

impl Errors {
    fn record(&mut self, is: Span, should: i128) {
        self.sum += i128::from(is.0) - should;
        self.number += 1;
    }

    fn mean_ms(self) -> Option<f64> {
        (self.number > 0).then(|| round(self.sum as f64 / self.number as f64 / 1e6, 3))
    }
}

/// The sender of a connection.
#[derive(Debug, Default)]
struct Sender {
    cwnd: Held,
    in_flight: Held,
    queuing_delay: Held,
    progressed: Option<Time>,
    /// Something was lost since then.
    is_repairing: bool,
    outstanding: u64,
    last: Snapshot,
    in_phase_since: Option<Time>,
}

impl SenderLog {
    /// Creates an empty log.
    pub fn new(settings: Settings) -> SenderLog {
        let windows: Vec<(Time, Time)> = settings.windows.iter().map(|(from, to, _)| (*from, *to)).collect();
        let level = || Level::new(&windows);
        SenderLog(Arc::new(Mutex::new(Log {
            cwnd: level(),
            in_flight: level(),
            queuing_delay: level(),
            rtt: StepMean::default(),
            step: StepCounts::default(),
            windows: windows.iter().map(|_| Window::default()).collect(),
            shortest_stall: settings.windows.iter().map(|(.., above)| *above).fold(STALL, Span::min),
            senders: BTreeMap::new(),
            events: Vec::new(),
            left_out: 0,
            phases: Vec::new(),
            settings,
        })))
    }

    /// Notes that a connection has a sender, which begins with this state.
    pub fn opened(&self, connection: usize, last: Snapshot) {
        self.log().senders.insert(connection, Sender { last, ..Sender::default() });
    }

    /// Notes that a connection sends no more.
    pub fn closed(&self, connection: usize, now: Time) {
        let mut log = self.log();
        if let Some(sender) = log.senders.remove(&connection) {
            log.end(sender, now);
        }
    }

    /// Finishes the log: the run is over.
    pub fn finish(&self, now: Time) {
        let mut log = self.log();
        for sender in std::mem::take(&mut log.senders).into_values() {
            log.end(sender, now);
        }
    }

    /// Notes that a link has dropped a packet of a connection.
    pub fn dropped(&self, connection: usize, now: Time) {
        self.noted(connection, now, "drop");
    }

    /// Notes what happened to a sender.
    pub fn noted(&self, connection: usize, now: Time, what: &str) {
        let mut log = self.log();
        let sender = log.senders.get(&connection).or_else(|| log.only_sender());
        let cwnd = sender.map_or(0, |sender| sender.last.cwnd);
        log.note(cwnd, now, what, None);
    }

    /// Notes that a sender has found a packet lost.
    pub fn lost(&self, connection: usize, now: Time) {
        self.log().sender(connection, |log, sender| {
            sender.is_repairing = true;
            log.step.losses += 1;
            log.note(sender.last.cwnd, now, "loss", None);
        });
    }

    /// Notes that a sender's retransmission timer has expired.
    pub fn timed_out(&self, connection: usize, now: Time) {
        self.log().sender(connection, |log, sender| {
            sender.is_repairing = true;
            log.note(sender.last.cwnd, now, "timeout", None);
        });
    }

    /// Takes the state of a sender after an event.
    pub fn state(&self, connection: usize, now: Time, snapshot: Snapshot) {
        self.log().sender(connection, |log, sender| log.state(sender, now, snapshot));
    }

    /// Notes that a sender receives an acknowledgement.
    pub fn ack(&self, connection: usize, ack: &Ack) {
        self.log().sender(connection, |log, sender| log.ack(sender, ack));
    }

    /// Notes that a sender sends a packet.
    pub fn sent(&self, connection: usize, sent: &Sent) {
        self.log().sender(connection, |log, sender| {
            // Data after a time with nothing to send, or a new connection: no progress was possible before.
            if sent.in_flight <= sent.bytes && !sender.is_repairing {
                sender.progressed = Some(sent.now);
            }
            sender.outstanding = sent.in_flight;
            log.in_flight.set(&mut sender.in_flight, sent.now, Some(sent.in_flight));
        });
    }

    /// Returns the bytes in flight of all connections together; none of none.
    pub fn in_flight(&self) -> Option<u64> {
        self.log().senders.values().filter_map(|sender| sender.in_flight.value()).reduce(|a, b| a + b)
    }

    /// Returns the mean round-trip time since the last call, ms.
    pub fn take_step_rtt_ms(&self) -> Option<f64> {
        self.log().rtt.take_ms()
    }

    /// Returns the congestion signals since the last call.
    pub fn take_step_counts(&self) -> StepCounts {
        std::mem::take(&mut self.log().step)
    }

    /// Returns the figures of a window; [`finish`](Self::finish) comes before.
    pub fn figures(&self, window: usize) -> Option<SenderFigures> {
        let log = self.log();
        let (own, above) = (&log.windows[window], log.settings.windows[window].2);
        let seconds = |span: Span| round(span.as_secs_f64(), 6);
        Some(SenderFigures {
            cwnd_kb: log.cwnd.levels(window, 1e-3)?,
            in_flight_kb: log.in_flight.levels(window, 1e-3)?,
            queuing_delay_ms: log.queuing_delay.levels(window, 1e-6),
            rtt: own.rtt.quantiles(),
            delay_error_ms: own.errors.mean_ms(),
            base_delay_error_ms: own.base_errors.mean_ms(),
            longest_stall_s: seconds(own.longest_stall),
            stalls: Stalls {
                above_s: seconds(above),
                count: own.stalls,
                total_s: seconds(own.stalled),
                longest_s: if own.stalls > 0 { seconds(own.longest_stall) } else { 0.0 },
            },
        })
    }

    /// Takes the events out, with the number of those that were too many to keep.
    pub fn take_events(&self) -> (Vec<Exact>, u64) {
        let mut log = self.log();
        (std::mem::take(&mut log.events), log.left_out)
    }

    /// Takes the phases out.
    pub fn take_phases(&self) -> Vec<PhaseSpan> {
        std::mem::take(&mut self.log().phases)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().even_poisoned()
    }
}

impl Log {
    /// Returns the sender of a flow that has one: the links of real packets number connections in their own way.
    fn only_sender(&self) -> Option<&Sender> {
        let mut senders = self.senders.values();
        senders.next().filter(|_| senders.next().is_none())
    }

    /// Calls `act` with the sender of a connection, if it has one.
    fn sender(&mut self, connection: usize, act: impl FnOnce(&mut Log, &mut Sender)) {
        // Out of the map and back, so that both can be changed.
        let Some(mut sender) = self.senders.get_mut(&connection).map(std::mem::take) else { return };
        act(self, &mut sender);
        self.senders.insert(connection, sender);
    }

    fn note(&mut self, cwnd_bytes: u64, now: Time, what: &str, seconds: Option<f64>) {
        if !self.settings.keeps_events {
            return;
        }
        if self.events.len() == MOST_EVENTS {
            self.left_out += 1;
            return;
        }
        self.events.push(Exact {
            at_s: round(now.as_secs_f64(), 6),
            flow: self.settings.flow.clone(),
            what: what.to_owned(),
            cwnd_bytes,
            seconds: seconds.map(|seconds| round(seconds, 6)),
        });
    }

    fn hold(&mut self, sender: &mut Sender, now: Time, snapshot: Option<Snapshot>) {
        let delay = snapshot.and_then(|snapshot| snapshot.queuing_delay);
        self.cwnd.set(&mut sender.cwnd, now, snapshot.map(|snapshot| snapshot.cwnd));
        self.queuing_delay.set(&mut sender.queuing_delay, now, delay.map(|delay| delay.0));
    }

    fn state(&mut self, sender: &mut Sender, now: Time, snapshot: Snapshot) {
        if snapshot.phase != sender.last.phase {
            self.end_phase(sender, now);
            self.note(snapshot.cwnd, now, snapshot.phase, None);
        }
        sender.in_phase_since.get_or_insert(now);
        let before = std::mem::replace(&mut sender.last, snapshot);
        self.hold(sender, now, Some(snapshot));
        if (snapshot.cwnd as f64) < before.cwnd as f64 * (1.0 - CUT) {
            self.note(snapshot.cwnd, now, "cut", None);
        }
        if snapshot.base_delay != before.base_delay && before.base_delay.is_some() {
            self.note(snapshot.cwnd, now, "base delay", snapshot.base_delay.map(Span::as_secs_f64));
        }
    }

    fn end_phase(&mut self, sender: &mut Sender, now: Time) {
        let Some(since) = sender.in_phase_since.take() else { return };
        if !self.settings.keeps_phases || self.phases.len() == MOST_EVENTS {
            return;
        }
        self.phases.push(PhaseSpan {
            flow: self.settings.flow.clone(),
            phase: sender.last.phase.to_owned(),
            from_s: round(since.as_secs_f64(), 6),
            to_s: round(now.as_secs_f64(), 6),
        });
    }

    /// Returns the windows that are open now, each with the time from which on a pause is a stall.
    fn open(&mut self, now: Time) -> impl Iterator<Item = (Span, &mut Window)> {
        let windows = self.settings.windows.iter().zip(&mut self.windows);
        windows
            .filter(move |((from, to, _), _)| (*from..*to).contains(&now))
            .map(|((.., above), window)| (*above, window))
    }

    fn ack(&mut self, sender: &mut Sender, ack: &Ack) {
        let empty_rtt = self.settings.empty_rtt;
        self.step.marks += u64::from(ack.marks.packets());
        ack.rtt.into_iter().for_each(|rtt| self.rtt.record(rtt));
        for (_, window) in self.open(ack.now) {
            let Some(rtt) = ack.rtt else { break };
            window.rtt.record(rtt);
            let Some(empty) = empty_rtt else { continue };
            if let Some(own) = sender.last.queuing_delay {
                window.errors.record(own, rtt.saturating_sub(empty).0.into());
            }
            if let Some(own) = sender.last.base_delay {
                window.base_errors.record(own, empty.0.into());
            }
        }
        let left = ack.in_flight.saturating_sub(ack.delivered());
        // Before the first ack the handshake is what takes time.
        let gap = sender.progressed.map_or(Span::ZERO, |progressed| ack.now.since(progressed));
        if ack.newly_acked > 0 {
            (sender.progressed, sender.is_repairing) = (Some(ack.now), false);
            self.open(ack.now).for_each(|(above, window)| window.stall(gap, above));
        }
        sender.outstanding = left;
        self.in_flight.set(&mut sender.in_flight, ack.now, Some(left));
        if ack.newly_acked > 0 && gap > self.shortest_stall {
            self.note(sender.last.cwnd, ack.now, "stall", Some(gap.as_secs_f64()));
        }
    }

    /// Ends a sender. A stall that continues counts until then, and in each window at most until its end.
    fn end(&mut self, mut sender: Sender, now: Time) {
        self.hold(&mut sender, now, None);
        self.in_flight.set(&mut sender.in_flight, now, None);
        self.end_phase(&mut sender, now);
        let Some(progressed) = sender.progressed else { return };
        if sender.outstanding == 0 && !sender.is_repairing {
            return;
        }
        for ((from, to, above), window) in self.settings.windows.iter().zip(&mut self.windows) {
            let until = now.min(*to);
            if until > progressed.max(*from) {
                window.stall(until.since(progressed), *above);
            }
        }
    }
}

impl Window {
    /// Counts a gap without progress.
    fn stall(&mut self, gap: Span, above: Span) {
        self.longest_stall = self.longest_stall.max(gap);
        if gap > above {
            self.stalls += 1;
            self.stalled = self.stalled + gap;
        }
    }
}
