//! A sender as its controller sees it, recorded on demand (`record = ["senders", "events"]`).
//!
//! The log is the [`Observer`] of the flow's controllers, and notes the state after each event. A sender that is not recorded
//! pays nothing.
//!
//! | noted | when |
//! |---|---|
//! | window, bytes in flight, own estimate of the queue | after each event; they hold until the next |
//! | RTT | at each ack with a sample |
//! | cut, phase, base delay | when an event changed it |
//! | loss, spurious loss, timeout | at the event |
//! | stall | at an ack that moves the cumulative point after more than [`STALL`] with data outstanding |
//! | drop | when a link drops a packet of the flow |

use super::levels::Level;
use super::Delays;
use afteryou_base::{Span, Time};
use afteryou_cc::script::Event;
use afteryou_cc::{Ack, Controller, Observed, Observer, Sent, Snapshot};
use afteryou_scenario::outcome::{round, Exact, SenderFigures};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Time without progress of the cumulative ack from which on it is a stall: the least RTO of Linux.
pub const STALL: Span = Span::from_millis(200);

/// Events that a run keeps of one flow; later ones are counted only.
const MOST_EVENTS: usize = 200_000;

/// A decrease of the window by more than this part is a cut. Controllers that follow the delay lower it by less in an ack.
const CUT: f64 = 0.05;

/// The log of one flow's senders, shared by its controllers and by those who read it.
#[derive(Clone, Debug)]
pub struct SenderLog(Arc<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    flow: String,
    keeps_events: bool,
    windows: Vec<(Time, Time)>,
    /// RTT of the empty path.
    empty_rtt: Span,
    cwnd: Level,
    in_flight: Level,
    queuing_delay: Level,
    rtt: Vec<Delays>,
    /// Sum and number of differences between the own estimate of the queue and the RTT's excess, ns, by window.
    errors: Vec<(i128, u64)>,
    longest_stall: Vec<Span>,
    progressed: Option<Time>,
    /// Something was lost since then.
    is_repairing: bool,
    last: Snapshot,
    events: Vec<Exact>,
    left_out: u64,
}

impl SenderLog {
    /// An empty log. `empty_rtt` is the round-trip time of the flow's path when nobody else sends.
    pub fn new(flow: &str, windows: Vec<(Time, Time)>, empty_rtt: Span, keeps_events: bool) -> SenderLog {
        let level = || Level::new(&windows);
        SenderLog(Arc::new(Mutex::new(Log {
            flow: flow.to_owned(),
            keeps_events,
            empty_rtt,
            cwnd: level(),
            in_flight: level(),
            queuing_delay: level(),
            rtt: vec![Delays::default(); windows.len()],
            errors: vec![(0, 0); windows.len()],
            longest_stall: vec![Span::ZERO; windows.len()],
            progressed: None,
            is_repairing: false,
            last: Snapshot::default(),
            events: Vec::new(),
            left_out: 0,
            windows,
        })))
    }

    /// Records what happens to `controller`.
    pub fn watch(&self, controller: Box<dyn Controller>) -> Box<dyn Controller> {
        self.log().last = controller.snapshot();
        Box::new(Observed::new(controller, Box::new(self.clone())))
    }

    /// A link has dropped a packet of the flow.
    pub fn dropped(&self, now: Time) {
        self.log().note(now, "drop", None);
    }

    /// Returns the figures of a window that is over.
    pub fn figures(&self, window: usize) -> Option<SenderFigures> {
        let log = self.log();
        let (_, to) = log.windows[window];
        let (sum, samples) = log.errors[window];
        Some(SenderFigures {
            cwnd_kb: log.cwnd.levels(window, to, 1e-3)?,
            in_flight_kb: log.in_flight.levels(window, to, 1e-3)?,
            queuing_delay_ms: log.queuing_delay.levels(window, to, 1e-6),
            rtt: log.rtt[window].quantiles(),
            delay_error_ms: (samples > 0).then(|| round(sum as f64 / samples as f64 / 1e6, 3)),
            longest_stall_s: round(log.longest_stall[window].as_secs_f64(), 6),
        })
    }

    /// Takes the events out, with the number of those that were too many to keep.
    pub fn take_events(&self) -> (Vec<Exact>, u64) {
        let mut log = self.log();
        (std::mem::take(&mut log.events), log.left_out)
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// The sender has lost something.
    fn lost(&mut self, now: Time, what: &str) {
        self.is_repairing = true;
        self.note(now, what, None);
    }

    fn note(&mut self, now: Time, what: &str, seconds: Option<f64>) {
        if !self.keeps_events {
            return;
        }
        if self.events.len() == MOST_EVENTS {
            self.left_out += 1;
            return;
        }
        self.events.push(Exact {
            at_s: round(now.as_secs_f64(), 6),
            flow: self.flow.clone(),
            what: what.to_owned(),
            cwnd_bytes: self.last.cwnd,
            seconds: seconds.map(|seconds| round(seconds, 6)),
        });
    }

    /// The state after an event.
    fn state(&mut self, now: Time, snapshot: Snapshot) {
        let before = std::mem::replace(&mut self.last, snapshot);
        self.cwnd.set(now, Some(snapshot.cwnd));
        self.queuing_delay.set(now, snapshot.queuing_delay.map(|delay| delay.0));
        if snapshot.phase != before.phase {
            self.note(now, snapshot.phase, None);
        }
        if (snapshot.cwnd as f64) < before.cwnd as f64 * (1.0 - CUT) {
            self.note(now, "cut", None);
        }
        if snapshot.base_delay != before.base_delay && before.base_delay.is_some() {
            self.note(now, "base delay", snapshot.base_delay.map(Span::as_secs_f64));
        }
    }

    fn ack(&mut self, ack: &Ack) {
        let open = |&(from, to): &(Time, Time)| (from..to).contains(&ack.now);
        if let Some(rtt) = ack.rtt {
            let queue = rtt.saturating_sub(self.empty_rtt).0 as i128;
            let error = self.last.queuing_delay.map(|own| i128::from(own.0) - queue);
            for (i, _) in self.windows.iter().enumerate().filter(|(_, window)| open(window)) {
                self.rtt[i].record(rtt);
                if let Some(error) = error {
                    self.errors[i].0 += error;
                    self.errors[i].1 += 1;
                }
            }
        }
        self.in_flight.set(ack.now, Some(ack.in_flight.saturating_sub(ack.delivered())));
        if ack.newly_acked == 0 {
            return;
        }
        // Before the first ack the handshake is what takes time.
        let gap = self.progressed.map_or(Span::ZERO, |progressed| ack.now.since(progressed));
        (self.progressed, self.is_repairing) = (Some(ack.now), false);
        for (longest, window) in self.longest_stall.iter_mut().zip(&self.windows) {
            if open(window) {
                *longest = gap.max(*longest);
            }
        }
        if gap > STALL {
            self.note(ack.now, "stall", Some(gap.as_secs_f64()));
        }
    }

    fn sent(&mut self, sent: &Sent) {
        // Data after a time with nothing to send, or a new connection: no progress was possible before.
        if sent.in_flight <= sent.bytes && !self.is_repairing {
            self.progressed = Some(sent.now);
        }
        self.in_flight.set(sent.now, Some(sent.in_flight));
    }
}

impl Observer for SenderLog {
    fn see(&mut self, event: &Event, controller: &dyn Controller) {
        let mut log = self.log();
        // A loss is noted with the window that it met.
        match event {
            Event::Sent(sent) => return log.sent(sent),
            Event::Delivered(_) | Event::Mtu { .. } => return,
            Event::Loss(loss) => log.lost(loss.now, "loss"),
            Event::Timeout(timeout) => log.lost(timeout.now, "timeout"),
            Event::SpuriousLoss(spurious) => log.note(spurious.now, "spurious loss", None),
            Event::Ack(_) | Event::Idle(_) | Event::Until(_) => {}
        }
        log.state(event.at(), controller.snapshot());
        if let Event::Ack(ack) = event {
            log.ack(ack);
        }
    }
}
