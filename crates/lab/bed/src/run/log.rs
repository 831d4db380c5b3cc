//! Logs of a run's flows, on the run's own clock.

use super::watched::{EndState, Watched};
use crate::clock::Clock;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::{Span, Time};
use afteryou_cc::Snapshot;
use afteryou_scenario::outcome::Totals;
use std::sync::{Mutex, MutexGuard};

/// "Lately" for rates shown while running.
const LATELY: Span = Span::from_millis(1000);

/// Which clock time a scenario time is.
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) clock: Clock,
    /// When the scenario's `from` is.
    pub(crate) begins: Time,
    pub(crate) from: Span,
}

impl Timing {
    /// Returns the scenario time now.
    pub(crate) fn now(&self) -> Span {
        self.scenario_time(self.clock.now())
    }

    pub(crate) fn scenario_time(&self, at: Time) -> Span {
        self.from + at.since(self.begins)
    }

    pub(crate) fn time_of(&self, at: Span) -> Time {
        self.begins + (at - self.from)
    }

    pub(crate) async fn sleep_until_or_never(&self, at: Option<Span>) {
        match at {
            Some(at) => self.sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    pub(crate) async fn sleep_until(&self, at: Span) {
        tokio::time::sleep_until(self.clock.instant_of(self.time_of(at)).into()).await;
    }
}

/// A flow's log, written by its tasks and read by the sampler.
#[derive(Default)]
pub(crate) struct Log {
    inner: Mutex<LogInner>,
}

#[derive(Default)]
pub(crate) struct LogInner {
    /// (scenario time, bytes received).
    pub(crate) received: Vec<(Span, u64)>,
    /// (scenario time, delay beyond the propagation delay).
    pub(crate) delays: Vec<(Span, Span)>,
    pub(crate) samples: Vec<Sample>,
    /// The newest counters of the sender.
    pub(crate) totals: Option<Totals>,
    pub(crate) started: Option<Span>,
    pub(crate) stopped: Option<Span>,
    sender: Option<Watched>,
    receiver: Option<Watched>,
    /// Bytes that the receiver's counter had reached.
    counted: u64,
}

/// The sender's state at a moment.
pub(crate) struct Sample {
    pub(crate) at: Span,
    pub(crate) controller: Snapshot,
    pub(crate) smoothed_rtt: Option<Span>,
    pub(crate) timeouts: u64,
}

impl Log {
    pub(crate) fn lock(&self) -> MutexGuard<'_, LogInner> {
        self.inner.lock().even_poisoned()
    }

    pub(crate) fn received(&self, at: Span, bytes: u64) {
        self.lock().received.push((at, bytes));
    }

    pub(crate) fn delayed(&self, at: Span, delay: Span) {
        self.lock().delays.push((at, delay));
    }

    pub(crate) fn started(&self, at: Span, sender: Watched) {
        let mut log = self.lock();
        (log.started, log.sender) = (Some(at), Some(sender));
    }

    /// Watches its newest sender, which is sampled from now on.
    #[cfg(target_os = "linux")]
    pub(crate) fn watch(&self, sender: Watched) {
        self.lock().sender = Some(sender);
    }

    /// Notes that it lasted from one time to the other, as far as these are known.
    #[cfg(target_os = "linux")]
    pub(crate) fn lasted(&self, from: Option<Span>, to: Option<Span>) {
        let mut log = self.lock();
        (log.started, log.stopped) = (from, to);
    }

    pub(crate) fn stopped(&self, at: Span) {
        let mut log = self.lock();
        (log.stopped, log.sender) = (Some(at), None);
    }

    /// Notes that the receiving end is there: from now on its counter has what has arrived.
    pub(crate) fn accepted(&self, receiver: Watched) {
        self.lock().receiver = Some(receiver);
    }

    /// Notes the receiver's total at the end.
    pub(crate) fn arrived_in_all(&self, at: Span, bytes: u64) {
        let mut log = self.lock();
        log.count(at, bytes);
        log.receiver = None;
    }

    /// Notes that the transfer was cut off: what has arrived by now counts, what is still buffered is not sent.
    pub(crate) fn cut_off(&self, at: Span) {
        let mut log = self.lock();
        log.stopped = Some(at);
        log.sender.take().iter().for_each(|sender| sender.abort());
        let Some(receiver) = log.receiver.take() else {
            return;
        };
        let arrived = receiver.state().map(|state| state.arrived);
        arrived.into_iter().for_each(|bytes| log.count(at, bytes));
        receiver.abort();
    }

    /// Returns the bytes that have arrived so far, and whether all have.
    #[cfg(target_os = "linux")]
    pub(crate) fn arrived(&self) -> (u64, bool) {
        let log = self.lock();
        let now =
            log.receiver.as_ref().and_then(|receiver| receiver.state()).map_or(0, |state| state.arrived);
        (now.max(log.counted), log.stopped.is_some() && log.receiver.is_none())
    }

    pub(crate) fn sample(&self, at: Span) {
        let mut log = self.lock();
        if let Some(state) = log.sender.as_ref().and_then(|sender| sender.state()) {
            let EndState { controller, smoothed_rtt, totals, .. } = state;
            log.samples.push(Sample { at, controller, smoothed_rtt, timeouts: totals.timeouts });
            log.totals = Some(totals);
        }
        if let Some(state) = log.receiver.as_ref().and_then(|receiver| receiver.state()) {
            log.count(at, state.arrived);
        }
    }

    pub(crate) fn progress(&self, now: Span) -> (f64, u64, Option<Snapshot>) {
        let log = self.lock();
        let since = now - LATELY;
        let lately: u64 =
            log.received.iter().rev().take_while(|(at, _)| *at >= since).map(|(_, bytes)| bytes).sum();
        let all = log.received.iter().map(|(_, bytes)| bytes).sum();
        let running = log.sender.is_some();
        let controller = log.samples.last().filter(|_| running).map(|sample| sample.controller);
        (lately as f64 * 8.0 / 1e6 / LATELY.as_secs_f64(), all, controller)
    }
}

impl LogInner {
    /// Returns the slowdowns and timeouts of the sender.
    pub(crate) fn news(&self) -> impl Iterator<Item = (Span, &'static str)> + '_ {
        self.samples.windows(2).flat_map(|pair| {
            let slowdown = pair[1].controller.slowdowns > pair[0].controller.slowdowns;
            let timeout = pair[1].timeouts > pair[0].timeouts;
            let news =
                [(slowdown, "slowdown"), (timeout, "timeout")].into_iter().filter(|(is_new, _)| *is_new);
            news.map(|(_, what)| (pair[1].at, what))
        })
    }

    /// Counts bytes when they arrive for the first time, in order or not. Bytes that wait behind a gap for a round trip have
    /// used the link all the same.
    fn count(&mut self, at: Span, bytes: u64) {
        self.received.push((at, bytes.saturating_sub(self.counted)));
        self.counted = self.counted.max(bytes);
    }
}
