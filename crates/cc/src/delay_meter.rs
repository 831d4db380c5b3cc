//! The queuing delay as the LEDBAT family measures it: a signal, its base, its present, and two corrections.
//!
//! ```text
//!   ack ──signal──▶ sample ──▶ base history ◀── clock skew, route change
//!                     └──────▶ current filter          queuing delay = current − base
//! ```
//! Each part is a file of its own: [`crate::delay_signal`], [`crate::base_delay`], [`crate::current_delay`],
//! [`crate::clock_drift`] and [`crate::clock_skew`], [`crate::route_change`]. One-way delays are blind to the reverse path:
//! nothing that a round trip shows bounds them.
//!
//! Source: RFC 6817 §2.4.2, §2.5.

use crate::base_delay::{BaseDelay, BASE_HISTORY, MAX_BINS};
use crate::clock_drift::ClockDrift;
use crate::clock_skew::ClockSkew;
use crate::current_delay::{CurrentDelay, CURRENT_FILTER, MAX_SAMPLES};
use crate::delay_signal::{one_way_us, DelaySignal};
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
    Libutp(ClockSkew),
    Estimated(ClockDrift),
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
                "estimated" => Skew::Estimated(ClockDrift::default()),
                "libutp" => Skew::Libutp(ClockSkew::like(&base)),
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
        let one_way_us = self.correct(ack);
        let sample = self.signal.measure(ack, one_way_us, &mut self.base, &mut self.current);
        if let (Some(route), Some(delay_us)) = (&mut self.route, sample) {
            route.update(ack.now, delay_us, at_floor, &mut self.base);
        }
        self.queuing_us = self.base.get().and_then(|base| self.current.queuing_us(base, ack.now, max_age));
    }

    /// The ack's one-way delay. Makes up for clocks that do not run alike, in that delay or in the base.
    fn correct(&mut self, ack: &Ack) -> Option<u32> {
        match &mut self.skew {
            _ if self.signal == DelaySignal::Rtt => {}
            Skew::None => {}
            Skew::Libutp(_) if self.signal.is_rtt() => {}
            Skew::Libutp(skew) => skew.correct(ack, &mut self.base),
            Skew::Estimated(drift) => {
                let (one_way_us, change) = drift.correct(ack);
                // Round-trip times have one clock only.
                if let (Some(change), false) = (change, self.signal.is_rtt()) {
                    self.base.shift_by_age(ack.now, |age| change.over(age) as u32);
                }
                return one_way_us;
            }
        }
        one_way_us(ack)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledbat::PARAMS;
    use crate::units::Time;

    #[test]
    fn a_skewed_clock_moves_no_base_of_round_trip_times() {
        let mut meter = DelayMeter::new(&Settings::defaults(PARAMS));
        for second in 0..100 {
            let now = Time::from_millis(1000 * second);
            let reverse_delay = Some(200 * second as u32);
            let ack = Ack { now, rtt: Some(Span::from_millis(50)), reverse_delay, ..Ack::for_tests() };
            meter.measure(&ack, Span::MAX, false);
            assert_eq!((meter.base(), meter.queuing_us()), (Some(Span::from_millis(50)), Some(0)));
        }
    }
}
