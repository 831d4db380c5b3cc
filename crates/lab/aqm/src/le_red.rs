//! le_red: RED that drops lower-effort packets k times as often as others. Our own proposal.
//!
//! # Model
//! A short queue removes the delay by which low-priority senders yield. Behind RED a LEDBAT flow never reaches its
//! target and competes like any TCP. If the sender marks its packets as lower effort (RFC 8622, DSCP 000001), the queue
//! can yield on its behalf:
//!
//! ```text
//!   p_LE = min(1, k · p_BE)          p_BE: RED's probability for the average of the whole queue
//! ```
//! Best-effort packets are treated exactly as by [`crate::red`]. Each class has its own count of packets since its last
//! drop, so that a drop in one does not delay the other's. Forced drops hit both.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | k | 16 | CAKE's share for bulk traffic is 1/16, too; k = 1 is RED |
//!
//! From p_BE = 1/k on, all lower-effort packets are dropped: with the defaults after 62.5 % of the way from min_th to max_th.
//! Just below, `wait` lets every second one pass, since drops are then 1/p to 2/p packets apart.
//!
//! # Source
//! Ours. RFC 8622 asks that lower effort is dropped before the rest and that ECN applies to it, too. Weights on a drop
//! probability are known from PIE's drafts. The rest is RED's.
//!
//! # Known bad cases
//! It is not a strict priority. A Reno-like sender gets a rate proportional to 1/√p. While p_LE is below 1, a
//! lower-effort flow keeps 1/√k of a best-effort flow's share: a quarter with k = 16, an eighth with k = 64. Two
//! NewReno flows on 10 Mbit/s and 60 ms reach 0.8 with RED, and 0.6, 0.4 and 0.2 with k = 4, 16 and 64. Best-effort
//! packets still wait behind lower-effort ones, in one queue. A lower-effort flow alone holds a shorter queue than with
//! RED, since its own packets make the average by which they are dropped k times. With `ecn` a lower-effort sender that
//! ignores marks is not held back until drops are forced. Senders can mark all of their packets as best effort.

use crate::dropped::Dropped;
use crate::error::Error;
use crate::packet::{Class, Packet};
use crate::queue::Queue;
use crate::red::law::Spacing;
use crate::red::{self, Red};
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters: RED's and the weight.
    pub table PARAMS;

    use all red::PARAMS;
    const WEIGHT: Key<u64> = Key::count("weight", "", 16, (1, 64))
        .explained("how many times as probable a drop is for lower effort", "ours");
}

/// RED's.
pub const PRESETS: &[Preset] = red::PRESETS;

/// A RED queue with a weight for lower effort.
#[derive(Clone, Debug)]
pub struct LeRed<T, R> {
    red: Red<T, R>,
    weight: f64,
    spacing: Spacing,
}

impl<T, R: Rng> LeRed<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// As [`Red::new`].
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<LeRed<T, R>, Error> {
        let weight = settings.get(&WEIGHT) as f64;
        Ok(LeRed { red: Red::new(settings, site)?, weight, spacing: Spacing::default() })
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for LeRed<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let (weight, spacing) = match packet.class() {
            Class::BestEffort => (1.0, None),
            Class::LowerEffort => (self.weight, Some(&mut self.spacing)),
        };
        self.red.enqueue_weighted(now, packet, weight, spacing, dropped);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        self.red.dequeue(now, dropped)
    }

    fn statistics(&self) -> &Statistics {
        self.red.statistics()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::Limit;
    use afteryou_base::param::Value;
    use rand_pcg::Pcg64;

    const LE: u8 = 0x04;
    const LE_ECT0: u8 = 0x06;

    /// Returns a queue that always holds ten packets, between thresholds of 5 and `max_th`, after 200 000 arrivals. Every
    /// second arriving packet is of lower effort.
    fn shares(max_th: f64, weight: u64, overrides: &[(&'static str, Value)], tos: u8) -> LeRed<(), Pcg64> {
        let own = [
            ("preset", Value::Choice("classic")),
            ("max_th", Value::Number(max_th)),
            ("queue_weight", Value::Number(1.0)),
            ("weight", Value::Count(weight)),
        ];
        let all: Vec<_> = own.iter().chain(overrides).copied().collect();
        let settings = Settings::new(PARAMS, &all).unwrap().with_preset(PRESETS);
        let mut queue = LeRed::new(&settings, Site::test(Limit::Packets(500))).unwrap();
        for i in 0..200_000u64 {
            let now = Time::from_micros(1200 * i);
            while queue.statistics().backlog().packets > 10 {
                queue.dequeue(now, &mut Vec::new());
            }
            let tos = if i % 2 == 0 { tos } else { tos & 3 };
            queue.enqueue(now, Packet::from_tos(1500, 0, tos, ()), &mut Vec::new());
        }
        queue
    }

    fn share(queue: &LeRed<(), Pcg64>, class: Class) -> f64 {
        let counters = queue.statistics().of(class);
        counters.dropped_early as f64 / counters.arrived() as f64
    }

    #[test]
    fn lower_effort_is_dropped_so_many_times_as_often_but_at_most_always() {
        // p_b = 0.1 · 5/(max_th - 5); a drop in 1.5/p_b packets with wait.
        for (max_th, weight, be, le) in
            [(105.0, 16, 0.005, 0.08), (105.0, 4, 0.005, 0.02), (15.0, 1, 0.05, 0.05)]
        {
            let queue = shares(max_th, weight, &[], LE);
            let close = |class, p: f64| {
                let share = share(&queue, class);
                assert!((share / (p / 1.5) - 1.0).abs() < 0.05, "{class:?}: {share} for {p} with {weight}");
            };
            close(Class::BestEffort, be);
            close(Class::LowerEffort, le);
        }
        // p_BE 0.0625: all of it.
        let queue = shares(13.0, 16, &[], LE);
        assert!(share(&queue, Class::LowerEffort) > 0.99);
        assert!((share(&queue, Class::BestEffort) - 0.0625 / 1.5).abs() < 0.003);
    }

    #[test]
    fn best_effort_fares_exactly_as_with_red() {
        let site = || Site::test(Limit::Packets(50));
        let settings = Settings::defaults(PARAMS).with_preset(PRESETS);
        let mut queues: [Box<dyn Queue<u64>>; 2] = [
            Box::new(LeRed::new(&settings, site()).unwrap()),
            Box::new(Red::new(&Settings::defaults(red::PARAMS), site()).unwrap()),
        ];
        let dropped = queues.each_mut().map(|queue| {
            let mut dropped = Vec::new();
            for i in 0..50_000u64 {
                let now = Time::from_micros(1100 * i);
                queue.enqueue(now, Packet::from_tos(1500, 0, 0, i), &mut dropped);
                if i % 12 != 0 {
                    queue.dequeue(now, &mut dropped);
                }
            }
            dropped.iter().map(|dropped| dropped.packet.body).collect::<Vec<_>>()
        });
        assert!(dropped[0].len() > 1000 && dropped[0] == dropped[1]);
    }

    #[test]
    fn lower_effort_is_marked_as_often_if_it_understands() {
        let ecn = [("ecn", Value::Flag(true))];
        let queue = shares(105.0, 16, &ecn, LE_ECT0);
        let counters = queue.statistics().of(Class::LowerEffort);
        let share = counters.marked as f64 / counters.arrived() as f64;
        assert!((share / (0.08 / 1.5) - 1.0).abs() < 0.05 && counters.dropped_early == 0, "{share}");
    }
}
