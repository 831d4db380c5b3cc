//! Senders of the testbed in the simulator's logs (`record = ["senders", "events"]`).
//!
//! Ours, of uTP and QUIC, are seen by the observer of each controller, as in the simulator. Of the kernel's TCP the log has samples.

use afteryou_cc::script::Event;
use afteryou_cc::{Controller, NewSender, Observer, Observers, Time};
use afteryou_sim::director::SenderLog;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// The logs of a run, by flow.
#[derive(Clone, Debug)]
pub(super) struct Logs {
    by_flow: Vec<Option<SenderLog>>,
    next: Arc<AtomicUsize>,
}

/// The log of a flow, in which each of its connections gets a number.
#[derive(Clone, Debug)]
pub(super) struct FlowLog {
    pub(super) log: SenderLog,
    next: Arc<AtomicUsize>,
}

/// Numbers below are the director's own.
const FIRST: usize = 1 << 24;

impl Logs {
    pub(super) fn new(by_flow: Vec<Option<SenderLog>>) -> Logs {
        Logs { by_flow, next: Arc::new(AtomicUsize::new(FIRST)) }
    }

    pub(super) fn all(&self) -> &[Option<SenderLog>] {
        &self.by_flow
    }

    /// Returns the log of a flow, if it has one.
    pub(super) fn of_flow(&self, flow: usize) -> Option<FlowLog> {
        let log = self.by_flow.get(flow)?.clone()?;
        Some(FlowLog { log, next: Arc::clone(&self.next) })
    }

    /// Returns observers that write into the logs, and let `also` see what they see; `None` if there is nobody.
    pub(super) fn observers(&self, also: Option<&Observers>) -> Option<Observers> {
        if self.by_flow.iter().all(Option::is_none) {
            return also.cloned();
        }
        let (logs, also) = (self.clone(), also.cloned());
        Some(Observers::new(move |begun: NewSender| {
            let also = also.as_ref().and_then(|observers| observers.observer(begun));
            let Some(FlowLog { log, next }) = logs.of_flow(begun.flow) else { return also };
            let number = next.fetch_add(1, Ordering::Relaxed);
            let inner = log.observer(number, begun.zero);
            Some(Box::new(Recorder { log, number, zero: begun.zero, inner, also, last: None }))
        }))
    }
}

impl FlowLog {
    /// Returns a number for the next connection.
    pub(super) fn number(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// The observer of a sender of ours.
#[derive(Debug)]
struct Recorder {
    log: SenderLog,
    number: usize,
    zero: Time,
    inner: Box<dyn Observer>,
    also: Option<Box<dyn Observer>>,
    /// The newest event; none before the first.
    last: Option<Time>,
}

impl Observer for Recorder {
    fn needs_packets(&self) -> bool {
        self.also.as_ref().is_some_and(|also| also.needs_packets())
    }

    fn see(&mut self, event: &Event, controller: &dyn Controller) {
        if self.last.is_none() {
            self.log.opened(self.number, controller.snapshot());
        }
        self.last = Some(event.at());
        self.inner.see(event, controller);
        self.also.iter_mut().for_each(|also| also.see(event, controller));
    }
}

impl Drop for Recorder {
    /// Logs that the connection is over.
    fn drop(&mut self) {
        if let Some(last) = self.last {
            self.log.closed(self.number, Time(last.0.saturating_sub(self.zero.0)));
        }
    }
}
