//! The queuing delay as the LEDBAT family measures it: a signal, its base, its present, and two corrections.
//!
//! ```text
//!   ack ──signal──▶ sample ──▶ base history ◀── clock skew, route change
//!                     └──────▶ current filter          queuing delay = current − base
//! ```
//! Each part is a file of its own: [`crate::delay_signal`], [`crate::base_delay`], [`crate::current_delay`],
//! [`crate::clock_skew`], [`crate::route_change`].
//!
//! Source: RFC 6817 §2.4.2, §2.5.

use crate::base_delay::{difference, BaseDelay, BASE_HISTORY, MAX_BINS};
use crate::clock_skew::ClockSkew;
use crate::current_delay::{CurrentDelay, CURRENT_FILTER, MAX_SAMPLES};
use crate::delay_signal::{rtt_us, DelaySignal};
use crate::event::Ack;
use crate::param::{Param, Settings};
use crate::route_change::RouteChange;
use crate::units::Span;

/// The row `base_history` of a parameter table.
pub const HISTORY: Param = Param::count("base_history", "minutes", BASE_HISTORY as u64, (1, MAX_BINS as u64))
    .explained("minutes that the base delay remembers", "RFC 6817 §2.5");
/// The row `current_filter` of a parameter table.
pub const FILTER: Param =
    Param::count("current_filter", "samples", CURRENT_FILTER as u64, (1, MAX_SAMPLES as u64))
        .explained("newest samples of which the smallest counts", "RFC 6817 §2.4.2");

/// What is done about clocks that do not run alike.
#[derive(Clone, Debug)]
enum Skew {
    None,
    ByReverse(ClockSkew),
    /// The base of the round-trip times, and the newest one's excess over it, µs.
    ByRtt(BaseDelay, u32),
}

/// Measures the queuing delay.
#[derive(Clone, Debug)]
pub struct DelayMeter {
    signal: DelaySignal,
    base: BaseDelay,
    current: CurrentDelay,
    skew: Skew,
    route: Option<RouteChange>,
    queuing_us: Option<u32>,
}

impl DelayMeter {
    /// A meter by the rows `signal`, `base_history`, `current_filter`, `clock_skew` and `route_change`.
    pub fn new(settings: &Settings<'_>) -> DelayMeter {
        let base = BaseDelay::new(settings.count("base_history") as usize);
        DelayMeter {
            signal: DelaySignal::named(settings.choice("signal")),
            skew: match settings.choice("clock_skew") {
                "rtt" => Skew::ByRtt(base.clone(), u32::MAX),
                "libutp" => Skew::ByReverse(ClockSkew::like(&base)),
                _ => Skew::None,
            },
            route: settings.flag("route_change").then(RouteChange::default),
            base,
            current: CurrentDelay::new(settings.count("current_filter") as usize),
            queuing_us: None,
        }
    }

    /// Takes in an ack. Samples older than `max_age` no longer count; `at_floor`: the window is at its floor.
    pub fn measure(&mut self, ack: &Ack, max_age: Span, at_floor: bool) {
        self.correct(ack);
        let sample = self.signal.measure(ack, &mut self.base, &mut self.current);
        if let (Some(route), Some(delay_us)) = (&mut self.route, sample) {
            route.update(ack.now, delay_us, at_floor, &mut self.base);
        }
        let queuing_us = self.base.get().and_then(|base| self.current.queuing_us(base, ack.now, max_age));
        self.queuing_us = match self.skew {
            Skew::ByRtt(_, bound_us) if !self.signal.is_rtt() => queuing_us.map(|us| us.min(bound_us)),
            _ => queuing_us,
        };
    }

    /// Makes up for clocks that do not run alike.
    fn correct(&mut self, ack: &Ack) {
        match &mut self.skew {
            Skew::None => {}
            Skew::ByReverse(_) if self.signal.is_rtt() => {}
            Skew::ByReverse(skew) => skew.correct(ack, &mut self.base),
            Skew::ByRtt(base, bound_us) => {
                let Some(rtt_us) = rtt_us(ack) else { return };
                base.update(ack.now, rtt_us);
                *bound_us = base.get().map_or(u32::MAX, |base| difference(rtt_us, base).max(0) as u32);
            }
        }
    }

    /// The queuing delay in µs, if there is a sample fresh enough.
    pub fn queuing_us(&self) -> Option<u32> {
        self.queuing_us
    }

    /// The queuing delay for snapshots.
    pub fn queuing(&self) -> Option<Span> {
        self.queuing_us.map(|us| Span::from_micros(u64::from(us)))
    }

    /// The base delay for snapshots: none if it is one-way, since that has the clocks' offset in it.
    pub fn base(&self) -> Option<Span> {
        self.base.get().filter(|_| self.signal.is_rtt()).map(|us| Span::from_micros(u64::from(us)))
    }

    /// Forgets the present and keeps the base: silence has passed (RFC 6817 §2.4.2).
    pub fn forget_present(&mut self) {
        self.current.clear();
        self.queuing_us = None;
    }

    /// A meter that has measured `queuing_us` over `base_us` at time zero.
    #[cfg(test)]
    pub fn preset(&mut self, signal: DelaySignal, base_us: u32, queuing_us: u32) {
        use crate::units::Time;
        self.signal = signal;
        self.base.update(Time::ZERO, base_us);
        (0..MAX_SAMPLES).for_each(|_| self.current.push(Time::ZERO, base_us + queuing_us));
    }
}
