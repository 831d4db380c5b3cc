//! Others behind a fair queue, which the own delay does not show.
//!
//! # Model
//! A fair queue gives each connection a share of the link and a queue of its own. So the group would keep the queue that it aims at and take its
//! share, whoever else is there. But it has seen what the link carries. If it has a queue and still carries much less than that, other
//! traffic may have the rest. The group tries it out. First it makes its window small: its own queue vanishes, that of a FIFO with others does not, and
//! then the law has the answer. Next it *probes*: the window doubles each round trip. If it has a queue again before it carries most of the link's
//! rate, the others are there, and the group yields: it keeps a small part of the link, and probes now and then.
//!
//! # States
//! [`State::Watching`] → [`State::Stepping`] → [`State::Probing`] ⇄ [`State::Yielding`]; a probe that finds the link free leads back to watching.
//!
//! # Constants
//! See below, each with its unit and reason.
//!
//! # Source
//! Own. The share as a witness is [`ebb`](afteryou_cc::ebb)'s, which has one connection and tests by trains.
//!
//! # Not implemented
//! Queues that drop nothing below 15 ms are not known to be managed, and none is tested without that.
//!
//! # Known bad cases
//! A constant stream of others through a managed queue looks the same: the group leaves it more than it uses. So does a link that has become
//! slower, until its best rate is forgotten. On long paths losses keep a CUBIC below its share: it has no queue, and is not suspected. After
//! the others have left, the group notices it at the next probe.

use super::law::{Law, Seen};
use super::recent::Largest;
use afteryou_base::{Span, Time};

/// A group with less than this part of the link's rate has others beside it …
const SHARED: f64 = 0.7;
/// … and with less than this the law has made room already.
const LEAST: f64 = 0.15;
/// A queue of this part of the target is one.
const QUEUED: f64 = 1.0 / 3.0;
/// Smoothing of the rate that may be the link's: what a hole held back comes at once when it is filled …
const SMOOTHED: Span = Span::from_millis(500);
/// … and of the rate that may be too low for it.
const SMOOTHED_SHARE: Span = Span::from_millis(150);
/// The link's rate is the largest of this long.
const LINK_KEPT: Span = Span::from_secs(300);
/// The group must have had a queue for so long while its rate was that of one with others: losses leave a low rate, too, but no queue.
const SUSPECTED: Span = Span::from_millis(300);
/// The window is small for this many round trips …
const STEP_ROUNDS: u64 = 4;
/// … in the first of which the old one is still under way.
const STEP_SETTLES: u64 = 2;
/// A queue is gone below this: the sensor errs by 1 ms.
const GONE: Span = Span::from_millis(2);
/// The next step comes so long after one that found a queue of others.
const APART: Span = Span::from_secs(10);
/// Part of the link that the group keeps while it yields.
const KEPT: f64 = 0.03;
/// The first probe comes so long after the group began to yield, since many stay for seconds only …
const PROBE_APART: Span = Span::from_secs(5);
/// … or this many round trips …
const PROBE_APART_ROUNDS: u64 = 30;
/// … each following one after this many times the wait before …
const PROBE_BACKOFF: u64 = 2;
/// … but not longer than this, since each may cost others a packet.
const PROBE_APART_MAX: Span = Span::from_secs(10);
/// A round trip counts as so long at least: windows are set every 10 ms.
const ROUND_MIN: Span = Span::from_millis(20);
/// A rate is that of so long a time, at least.
const RATE_OF: Span = Span::from_millis(100);
/// A probe grows by this factor in a round trip.
const PROBE_GROWTH: f64 = 4.0;
/// … up to this part of the link: as much as that has no queue of its own.
const PROBED: f64 = 0.8;
/// A queue above this, for half a round trip, is one: a larger window comes as a burst.
const PROBE_QUEUE: Span = Span::from_millis(3);
/// So does a queue of this, if it stays although the rate is low: the sensor's resolution is 1 ms.
const SHOWN: Span = Span::from_millis(1);
/// A probe without a queue ends when its rate has not grown …
const PROBE_GROWN: f64 = 1.1;
/// … by that factor in this many round trips, each at least as long as a rate needs: the senders do not fill what they may, and nobody hinders them.
const PROBE_ROUNDS: u64 = 16;

/// Whether others are behind a fair queue.
#[derive(Clone, Debug)]
pub struct Fair {
    state: State,
    /// Smoothed over [`SMOOTHED`], bytes a second …
    rate: f64,
    /// … and over [`SMOOTHED_SHARE`].
    share: f64,
    rates: Largest,
    /// Of the link, while the law has not the window, bytes a second.
    link: f64,
    suspected: Span,
    next_step: Time,
    /// From the last probe to the next.
    wait: Span,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The law has the window.
    Watching,
    /// The window is small, to see whether the queue is the own; the least queue so far.
    Stepping { began: Time, least: Span },
    /// The window grows until a queue comes.
    Probing(Probe),
    /// Others have the link.
    Yielding { until: Time },
}

/// A probe under way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// When the window grew.
    grown: Time,
    /// The rate, bytes a second, when it had last grown, and that time.
    quickest: (f64, Time),
    /// Bytes.
    window: f64,
    /// Since when there is a queue …
    queued_since: Option<Time>,
    /// … and since when there is a shorter one.
    shown_since: Option<Time>,
}

impl Default for Fair {
    fn default() -> Fair {
        Fair {
            state: State::Watching,
            rate: 0.0,
            share: 0.0,
            rates: Largest::new(LINK_KEPT),
            link: 0.0,
            suspected: Span::ZERO,
            next_step: Time::ZERO,
            wait: Span::ZERO,
        }
    }
}

impl Fair {
    /// Returns whether the group leaves the link to others, or tries out whether it should.
    pub fn is_yielding(&self) -> bool {
        !matches!(self.state, State::Watching)
    }

    /// Takes in a tick's reading and returns the group's window, bytes, if the law has not to decide on it. `is_managed`:
    /// the link's queue is kept short.
    pub fn tick(&mut self, seen: &Seen, law: &mut Law, is_managed: bool) -> Option<f64> {
        let part = |smoothed: Span| (seen.passed.as_secs_f64() / smoothed.as_secs_f64()).min(1.0);
        self.rate += (seen.rate - self.rate) * part(SMOOTHED);
        self.share += (seen.rate - self.share) * part(SMOOTHED_SHARE);
        self.rates.note(seen.now, self.rate);
        let rtt = seen.base + seen.queue.unwrap_or(Span::ZERO);
        self.state = match self.state {
            State::Watching => self.watch(seen, law, is_managed),
            State::Stepping { began, least } => self.step(seen, began, least, rtt),
            State::Yielding { until } if seen.now >= until => self.begin_probe(seen),
            State::Yielding { .. } => self.state,
            State::Probing(probe) => self.probe(seen, law, probe, rtt),
        };
        match self.state {
            State::Watching => None,
            State::Probing(probe) => Some(probe.window),
            State::Stepping { .. } | State::Yielding { .. } => Some(self.kept(seen)),
        }
    }

    fn watch(&mut self, seen: &Seen, law: &Law, is_managed: bool) -> State {
        let best = self.rates.get().unwrap_or(0.0);
        let is_queued = seen.queue.is_some_and(|queue| queue.as_secs_f64() >= QUEUED * law.target());
        let is_shared = self.share < SHARED * best && self.share > LEAST * best;
        if !is_managed || !is_shared {
            self.suspected = Span::ZERO;
        } else if is_queued {
            self.suspected = self.suspected + seen.passed;
        }
        if self.suspected < SUSPECTED || seen.now < self.next_step {
            return State::Watching;
        }
        self.suspected = Span::ZERO;
        self.link = best;
        State::Stepping { began: seen.now, least: Span(u64::MAX) }
    }

    fn step(&mut self, seen: &Seen, began: Time, least: Span, rtt: Span) -> State {
        let (passed, round) = (seen.now.since(began), rtt.max(ROUND_MIN));
        let is_settled = passed >= round * STEP_SETTLES;
        let least = seen.queue.filter(|_| is_settled).map_or(least, |queue| queue.min(least));
        if passed < round * STEP_ROUNDS {
            return State::Stepping { began, least };
        }
        if least <= GONE {
            return self.begin_probe(seen);
        }
        self.next_step = seen.now + APART;
        State::Watching
    }

    fn begin_probe(&self, seen: &Seen) -> State {
        let window = self.kept(seen);
        State::Probing(Probe {
            grown: seen.now,
            quickest: (0.0, seen.now),
            window,
            queued_since: None,
            shown_since: None,
        })
    }

    fn probe(&mut self, seen: &Seen, law: &mut Law, mut probe: Probe, rtt: Span) -> State {
        let round = rtt.max(ROUND_MIN);
        let is_quick = seen.rate >= SHARED * self.link;
        if seen.rate >= PROBE_GROWN * probe.quickest.0 {
            probe.quickest = (seen.rate, seen.now);
        }
        if is_quick || seen.now.since(probe.quickest.1) >= round.max(RATE_OF) * PROBE_ROUNDS {
            self.wait = Span::ZERO;
            law.resume(probe.window);
            return State::Watching;
        }
        let most = PROBED * self.link * seen.base.as_secs_f64();
        let passed = seen.now.since(probe.grown);
        let has_queue = seen.queue.is_some_and(|queue| queue > PROBE_QUEUE);
        probe.queued_since = probe.queued_since.or(Some(seen.now)).filter(|_| has_queue);
        let is_long = probe.queued_since.is_some_and(|since| seen.now.since(since) >= round / 2);
        // It may have most of the link, and yet it is slow, although no sender is: those that are have no queue.
        let is_shown = seen.queue.is_some_and(|queue| queue >= SHOWN);
        probe.shown_since = probe.shown_since.or(Some(seen.now)).filter(|_| is_shown && probe.window >= most);
        let is_slow = probe.shown_since.is_some_and(|since| seen.now.since(since) >= round + RATE_OF);
        if is_long || is_slow {
            let least = PROBE_APART.max(round * PROBE_APART_ROUNDS);
            self.wait = (self.wait * PROBE_BACKOFF).min(PROBE_APART_MAX).max(least);
            return State::Yielding { until: seen.now + self.wait };
        }
        if passed >= round + round / 4 && probe.window < most {
            probe.window = (PROBE_GROWTH * probe.window).min(most);
            probe.grown = seen.now;
        }
        State::Probing(probe)
    }

    /// Returns the window of a group that yields, bytes.
    fn kept(&self, seen: &Seen) -> f64 {
        KEPT * self.link * seen.base.as_secs_f64()
    }
}
