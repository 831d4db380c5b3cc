//! The queuing delay as the LEDBAT family measures it: a signal, its base, its present, and two corrections.
//!
//! ```text
//!   ack ──signal──▶ sample ──▶ base history ◀── clock skew, route change
//!                     └──────▶ current filter          queuing delay = current − base
//! ```
//! Base and present are part of the rule's state, [`crate::ledbat_core::delay`]; the rest is here and in files of its own:
//! [`crate::delay_signal`], [`crate::clock_drift`] and [`crate::clock_skew`], [`crate::route_change`]. One-way delays are blind
//! to the reverse path: nothing that a round trip shows bounds them.
//!
//! Source: RFC 6817 §2.4.2, §2.5.

use crate::base_delay::{BaseDelay, BASE_HISTORY, MAX_BINS};
use crate::clock_drift::{ClockDrift, Gain};
use crate::clock_skew::{ClockSkew, Correction, CLOCK_SKEW};
use crate::cold::Cold;
use crate::current_delay::{CURRENT_FILTER, MAX_SAMPLES};
use crate::delay_signal::{one_way_us, DelaySignal, SIGNAL};
use crate::event::Ack;
use crate::ledbat_core::delay::{Delay, Kept, Taken};
use crate::route_change::{RouteChange, ROUTE_CHANGE};
use afteryou_base::param::{Key, Settings};
use afteryou_base::units::{Span, Time};

/// The parameter `base_history`.
pub const HISTORY: Key<u64> =
    Key::count("base_history", "minutes", BASE_HISTORY as u64, (1, MAX_BINS as u64))
        .explained("minutes that the base delay remembers", "RFC 6817 §2.5");
/// The parameter `current_filter`.
pub const FILTER: Key<u64> =
    Key::count("current_filter", "samples", CURRENT_FILTER as u64, (1, MAX_SAMPLES as u64))
        .explained("newest samples of which the smallest counts", "RFC 6817 §2.4.2");

/// Reads [`HISTORY`] and [`FILTER`].
pub fn kept(settings: &Settings<'_>) -> Kept {
    Kept { minutes: settings.get(&HISTORY) as u32, samples: settings.get(&FILTER) as u32 }
}

/// Chooses and corrects the samples that a rule's [`Delay`] is made of.
#[derive(Clone, Debug)]
pub struct DelayMeter {
    signal: DelaySignal,
    /// The correction for clocks of different rates: at most one of these two.
    skew: Option<Cold<ClockSkew>>,
    drift: Option<Cold<(ClockDrift, Minutes)>>,
    route: Option<RouteChange>,
    kept: Kept,
    queuing_us: Option<u32>,
}

impl DelayMeter {
    /// Creates a meter from the values of [`SIGNAL`], [`HISTORY`], [`FILTER`], [`CLOCK_SKEW`] and [`ROUTE_CHANGE`].
    pub fn new(settings: &Settings<'_>) -> DelayMeter {
        let (kept, signal) = (kept(settings), settings.get(&SIGNAL));
        // Round-trip times have one clock only.
        let skew = if signal == DelaySignal::Rtt { Correction::None } else { settings.get(&CLOCK_SKEW) };
        DelayMeter {
            signal,
            skew: (skew == Correction::Fall)
                .then(|| Cold::new(ClockSkew::new(BaseDelay::new(kept.minutes as usize)))),
            drift: (skew == Correction::Slope).then(|| Cold::new(Default::default())),
            route: settings.get(&ROUTE_CHANGE).then(RouteChange::default),
            kept,
            queuing_us: None,
        }
    }

    /// Takes an ack's delay into `delay` and returns the queuing delay, µs. Samples older than `max_age` ns no longer count;
    /// `at_floor`: the window is at its floor.
    pub fn measure<const M: usize, const S: usize, const O: usize>(
        &mut self,
        ack: &Ack,
        max_age: u64,
        at_floor: bool,
        delay: &mut Delay<M, S, O>,
    ) -> Option<u32> {
        let one_way_us = self.correct(ack, delay);
        let (sample, forget) = self.signal.sample(ack, one_way_us);
        if forget {
            delay.clear();
        }
        if let Some(delay_us) = sample {
            let taken = delay.take(&self.kept, ack.now.0, delay_us);
            if let Some((_, minutes)) = self.drift.as_mut().map(Cold::get) {
                minutes.note(taken, ack.now, delay_us);
            }
            self.believe_route(ack.now, delay_us, at_floor, delay);
        }
        self.queuing_us = delay.queuing_us(&self.kept, ack.now.0, max_age);
        self.queuing_us
    }

    /// Returns the ack's one-way delay. Makes up for clocks that do not run alike, in that delay or in the base.
    fn correct<const M: usize, const S: usize, const O: usize>(
        &mut self,
        ack: &Ack,
        delay: &mut Delay<M, S, O>,
    ) -> Option<u32> {
        let is_rtt = self.signal.is_rtt();
        if let Some((drift, minutes)) = self.drift.as_mut().map(Cold::get) {
            let (one_way_us, change) = drift.correct(ack);
            if let (Some(change), false) = (change, is_rtt) {
                minutes.shift(ack.now, change);
                delay.rebuild_base(minutes.oldest_first());
            }
            return one_way_us;
        }
        if let (Some(skew), false) = (self.skew.as_mut().map(Cold::get), is_rtt) {
            match skew.gained(ack) {
                0 => {}
                gained_us => delay.shift_base(gained_us),
            }
        }
        one_way_us(ack)
    }

    /// Accepts the route as a longer one if the delay has been steady at the floor.
    fn believe_route<const M: usize, const S: usize, const O: usize>(
        &mut self,
        now: Time,
        delay_us: u32,
        at_floor: bool,
        delay: &mut Delay<M, S, O>,
    ) {
        let Some(route) = &mut self.route else { return };
        let base_us = delay.base_us(&self.kept);
        let Some(new_base_us) = route.update(now, delay_us, at_floor, base_us) else { return };
        delay.restart_base(new_base_us);
        if let Some((_, minutes)) = self.drift.as_mut().map(Cold::get) {
            *minutes = Minutes::default();
            minutes.note(Taken { minutes: 1, is_smallest: true }, now, new_base_us);
        }
    }

    /// Returns whether the samples are round-trip times.
    pub fn is_rtt(&self) -> bool {
        self.signal.is_rtt()
    }

    /// Returns the queuing delay in µs, if there is a sample fresh enough.
    pub fn queuing_us(&self) -> Option<u32> {
        self.queuing_us
    }

    /// Returns the queuing delay for snapshots.
    pub fn queuing(&self) -> Option<Span> {
        self.queuing_us.map(|us| Span::from_micros(u64::from(us)))
    }

    /// Returns the base delay for snapshots, `None` if it is one-way, since that has the clocks' offset in it.
    pub fn base<const M: usize, const S: usize, const O: usize>(
        &self,
        delay: &Delay<M, S, O>,
    ) -> Option<Span> {
        let base_us = delay.base_us(&self.kept).filter(|_| self.signal.is_rtt());
        base_us.map(|us| Span::from_micros(u64::from(us)))
    }

    /// Forgets the present delay, after a silence.
    pub fn forget_present(&mut self) {
        self.queuing_us = None;
    }

    /// Sets the kind of samples, as if `delay` had measured `queuing_us` over `base_us` at time zero.
    #[cfg(test)]
    pub fn preset<const M: usize, const S: usize, const O: usize>(
        &mut self,
        signal: DelaySignal,
        delay: &mut Delay<M, S, O>,
        base_us: u32,
        queuing_us: u32,
    ) {
        self.signal = signal;
        delay.take(&self.kept, 0, base_us);
        (0..MAX_SAMPLES).for_each(|_| _ = delay.take(&self.kept, 0, base_us + queuing_us));
        if let Some((_, minutes)) = self.drift.as_mut().map(Cold::get) {
            minutes.note(Taken { minutes: 1, is_smallest: true }, Time::ZERO, base_us);
        }
    }
}

/// Each minute's smallest sample, and when it was taken: what the receiver's clock has gained since grows with its age.
#[derive(Clone, Debug, Default)]
struct Minutes([Option<(Time, u32)>; MAX_BINS]);

impl Minutes {
    /// Notes a sample that was taken.
    fn note(&mut self, taken: Taken, now: Time, delay_us: u32) {
        if taken.minutes > 0 {
            let begun = taken.minutes.min(MAX_BINS as u64) as usize;
            self.0.copy_within(begun.., 0);
            self.0[MAX_BINS - begun..].fill(None);
        }
        if taken.is_smallest {
            self.0[MAX_BINS - 1] = Some((now, delay_us));
        }
    }

    /// Raises each by what a clock has gained during its age at `now`, modulo 2^32.
    fn shift(&mut self, now: Time, change: Gain) {
        for (at, delay_us) in self.0.iter_mut().flatten() {
            *delay_us = delay_us.wrapping_add(change.over(now.since(*at)) as u32);
        }
    }

    fn oldest_first(&self) -> impl DoubleEndedIterator<Item = Option<u32>> + '_ {
        self.0.iter().map(|minute| minute.map(|(_, delay_us)| delay_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledbat::PARAMS;

    #[test]
    fn a_skewed_clock_moves_no_base_of_round_trip_times() {
        let mut meter = DelayMeter::new(&Settings::defaults(PARAMS));
        let mut delay = Delay::<16, 16, 15>::NEW;
        for second in 0..100 {
            let now = Time::from_millis(1000 * second);
            let reverse_delay = Some(200 * second as u32);
            let ack = Ack { now, rtt: Some(Span::from_millis(50)), reverse_delay, ..Ack::for_tests() };
            meter.measure(&ack, u64::MAX, false, &mut delay);
            assert_eq!((meter.base(&delay), meter.queuing_us()), (Some(Span::from_millis(50)), Some(0)));
        }
    }

    #[test]
    fn what_a_clock_has_gained_raises_the_older_minutes_more() {
        let kept = Kept { minutes: 10, samples: 4 };
        let (mut delay, mut minutes) = (Delay::<16, 4, 3>::NEW, Minutes::default());
        for (second, delay_us) in [(10, 50_000), (130, 60_000)] {
            let now = Time::from_millis(1000 * second);
            minutes.note(delay.take(&kept, now.0, delay_us), now, delay_us);
        }
        let mut base_after = |ppm: i64| {
            minutes.shift(Time::from_millis(130_000), Gain::from_ppm(ppm));
            delay.rebuild_base(minutes.oldest_first());
            delay.base_us(&kept).unwrap()
        };
        assert!(base_after(66).abs_diff(57_920) < 2);
        assert!(base_after(33).abs_diff(60_000) < 2, "the younger one is the smaller now");
        assert!(base_after(-166).abs_diff(41_960) < 4);
    }
}
