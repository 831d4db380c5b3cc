//! CHOKe: RED that compares each arriving packet with one drawn from the queue, and drops both if they are of the same flow.
//!
//! # Model
//! A flow that does not back off fills the queue. A packet drawn from the queue is most likely one of its own, and so is the
//! one that arrives. Comparing the two finds such flows without keeping any state about flows.
//!
//! ```text
//!   average ≤ min_th     accept
//!   otherwise            draw one packet of the queue: same flow as the arriving one ─▶ drop both
//!                        another flow ─▶ RED's decision: at random up to max_th, always beyond
//! ```
//! A flow with share s of the queue meets itself with probability s, and each meeting costs it two packets. So its
//! losses grow faster than its rate, and a more aggressive flow gets less of the link.
//!
//! # Parameters
//! RED's ([`crate::red`]), as ns-2 sets them by the link's rate; lengths in packets, no gentle part, no adaptation.
//! `classic` is 5 and 15 packets with weight 0.002.
//!
//! # Source
//! Pan, Prabhakar and Psounis, CHOKe, a stateless active queue management scheme for approximating fair bandwidth
//! allocation, 2000, with one candidate. The order of the steps is that of Linux' `sch_choke.c`. The RED part is that
//! of ns-2 (`red.cc`).
//!
//! # Different here
//! Linux leaves holes where it dropped, draws again up to three times when it meets one, and then takes the head. Here
//! every packet in the queue is as likely as any other. The caller defines flows; in Linux they are a hash of the
//! addresses. A match does not change RED's count, as in Linux. By RED's rule the average decides nothing while at most
//! one packet waits. A forced drop is a drop even with `ecn` (Linux: unless `harddrop`, a mark).
//!
//! # Not implemented
//! More than one candidate (the paper's variant for many unresponsive flows), classes by filter (Linux).
//!
//! # Known bad cases
//! It hits every flow with packets in the queue: with few flows all of them match themselves, and lose two packets each
//! time. Five NewReno flows on 10 Mbit/s and 60 ms use 90 % of the link (RED: 99 %). Several unresponsive flows hide
//! each other. A burst is hit more often than the same packets paced.

use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::red::setup::{
    self, ECN, MAX_P, MAX_TH, MEAN_PACKET, MIN_TH, QUEUE_WEIGHT, TARGET_DELAY, WAIT, WEIGHT_OF_TC,
};
use crate::red::Red;
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters.
    pub table PARAMS;

    const PRESET: Key<&'static str> = Key::word("preset", &["automatic", "classic"])
        .explained("whose values are the defaults", "ns-2");
    use MIN_TH, MAX_TH, MAX_P, QUEUE_WEIGHT, WEIGHT_OF_TC, WAIT, MEAN_PACKET, TARGET_DELAY, ECN;
}

/// Defaults of ns-2's RED.
pub const PRESETS: &[Preset] = &[
    Preset { name: "automatic", help: "later ns-2: thresholds and weight by the link's rate", rows: &[] },
    Preset {
        name: "classic",
        help: "ns-2 before April 2001: 5 and 15 packets",
        rows: &[
            ("min_th", Value::Number(5.0)),
            ("max_th", Value::Number(15.0)),
            ("queue_weight", Value::Number(0.002)),
        ],
    },
];

/// A CHOKe queue.
#[derive(Clone, Debug)]
pub struct Choke<T, R> {
    red: Red<T, R>,
}

impl<T, R: Rng> Choke<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// Thresholds in the wrong order, or such that tc's rule finds no weight.
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<Choke<T, R>, Error> {
        let shape = setup::shape(settings, &site)?;
        Ok(Choke { red: Red::of_shape(&shape, settings.get(&ECN), site) })
    }

    /// Draws a packet; if it is of the same flow, takes it out.
    fn draw_match(&mut self, flow: u32) -> Option<Packet<T>> {
        let Red { fifo, law, .. } = &mut self.red;
        let drawn = law.draw_below(fifo.backlog().packets);
        if fifo.get(drawn)?.flow != flow {
            return None;
        }
        fifo.remove(drawn)
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for Choke<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        self.red.law.arrive(now, self.red.fifo.backlog());
        if self.red.law.is_above_min() {
            if let Some(drawn) = self.draw_match(packet.flow) {
                self.red.statistics.remove(drawn, DropReason::Early, dropped);
                self.red.statistics.refuse(packet, DropReason::Early, dropped);
                return;
            }
        }
        self.red.decide(now, packet, 1.0, None, dropped);
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
    use crate::fifo::Fifo;
    use crate::packet::{Class, Ecn};
    use rand_pcg::Pcg64;

    const OWN: u32 = 7;

    fn packet(flow: u32) -> Packet<()> {
        Packet::from_tos(1500, flow, 0, ())
    }

    /// Returns a queue of `n` packets of one flow whose average is its length, with thresholds of 5 and 15.
    fn filled(n: u32, flow: u32) -> Choke<(), Pcg64> {
        let overrides = [("preset", Value::Choice("classic")), ("queue_weight", Value::Number(1.0))];
        let settings = Settings::new(PARAMS, &overrides).unwrap().with_preset(PRESETS);
        let mut queue = Choke::new(&settings, Site::test(Limit::Packets(500))).unwrap();
        (0..n).for_each(|_| {
            queue.red.statistics.accept(&packet(flow));
            queue.red.fifo.push(Time::ZERO, packet(flow));
        });
        queue
    }

    /// Returns the packets in the queue and the drops after one more packet, of flow `OWN`.
    fn after_arrival(queue: &mut Choke<(), Pcg64>) -> (u64, usize) {
        let mut dropped = Vec::new();
        queue.enqueue(Time::ZERO, packet(OWN), &mut dropped);
        assert!(dropped.iter().all(|dropped| dropped.reason == DropReason::Early));
        (queue.backlog().packets, dropped.len())
    }

    #[test]
    fn a_drawn_packet_of_the_same_flow_takes_the_arriving_one_with_it() {
        let mut queue = filled(6, OWN);
        assert_eq!(after_arrival(&mut queue), (5, 2));
        let counters = queue.red.statistics.of(Class::BestEffort);
        assert_eq!((counters.refused, counters.dropped_early), (1, 2));
    }

    #[test]
    fn a_drawn_packet_of_another_flow_leaves_the_decision_to_red() {
        let mut passed = filled(6, OWN + 1);
        assert_eq!(after_arrival(&mut passed), (7, 0), "the first one above min_th");
        // p_b 0.09 at 14 packets: one in 11 to 22 arrivals.
        let arrivals = 100_000;
        let mut drops = 0;
        let mut queue = filled(14, OWN + 1);
        for _ in 0..arrivals {
            let (length, dropped) = after_arrival(&mut queue);
            drops += dropped;
            assert_eq!(length, 15 - dropped as u64);
            if dropped == 0 {
                let newest = queue.red.fifo.remove(14).unwrap();
                queue.red.statistics.remove(newest, DropReason::Early, &mut Vec::new());
            }
        }
        let share = drops as f64 / f64::from(arrivals);
        assert!((share - 0.09 / 1.5).abs() < 0.005, "{share}");
    }

    #[test]
    fn beyond_the_upper_threshold_the_arriving_packet_is_dropped_in_either_case() {
        assert_eq!(after_arrival(&mut filled(16, OWN)), (15, 2));
        assert_eq!(after_arrival(&mut filled(16, OWN + 1)), (16, 1));
    }

    #[test]
    fn up_to_the_lower_threshold_nothing_is_drawn() {
        let mut queue = filled(5, OWN);
        let untouched = queue.red.law.clone().draw_below(1 << 50);
        assert_eq!(after_arrival(&mut queue), (6, 0));
        assert_eq!(queue.red.law.clone().draw_below(1 << 50), untouched);
        // Now the average is 6.
        assert_eq!(after_arrival(&mut queue), (5, 2));
        assert_ne!(queue.red.law.draw_below(1 << 50), untouched);
    }

    #[test]
    fn the_average_falls_only_from_the_last_departure_on() {
        // Up to ten packets, of as many flows, for ten seconds; then none.
        let overrides = [("preset", Value::Choice("classic")), ("queue_weight", Value::Number(0.1))];
        let settings = Settings::new(PARAMS, &overrides).unwrap().with_preset(PRESETS);
        let mut queue = Choke::new(&settings, Site::test(Limit::Packets(500))).unwrap();
        let mut dropped = Vec::new();
        for i in 0..1000 {
            let now = Time::from_millis(10 * u64::from(i));
            queue.enqueue(now, packet(100 + i), &mut dropped);
            if queue.backlog().packets > 10 {
                queue.dequeue(now, &mut dropped);
            }
        }
        let end = Time::from_millis(10_000);
        while queue.dequeue(end, &mut dropped).is_some() {}
        // The average is still above 5: the second of two packets meets the first.
        let (mut soon, mut late) = (queue.clone(), queue);
        dropped.clear();
        (0..2).for_each(|_| soon.enqueue(end, packet(OWN), &mut dropped));
        assert_eq!((soon.backlog().packets, dropped.len()), (0, 2));
        // After a second with nothing to send it is not.
        dropped.clear();
        (0..2).for_each(|_| late.enqueue(end + Span::from_secs(1), packet(OWN), &mut dropped));
        assert_eq!((late.backlog().packets, dropped.len()), (2, 0));
    }

    #[test]
    fn each_packet_of_the_queue_is_as_likely_to_be_drawn() {
        let mut queue = filled(0, OWN);
        let mut hits = [0; 10];
        for i in 0..20_000 {
            queue.red.fifo = Fifo::new();
            (0..10).for_each(|flow| queue.red.fifo.push(Time::ZERO, packet(flow)));
            let place = i % 10;
            hits[place] += usize::from(queue.draw_match(place as u32).is_some());
        }
        assert!(hits.iter().all(|hits| (150..250).contains(hits)), "{hits:?}");
    }

    #[test]
    fn a_flow_that_sends_most_gets_less_than_its_share() {
        // Flow 0 sends 10 Mbit/s into 10 Mbit/s, ten others 1 Mbit/s each.
        let settings = Settings::defaults(PARAMS).with_preset(PRESETS);
        let mut queue = Choke::new(&settings, Site::test(Limit::Packets(500))).unwrap();
        let (mut sent, mut dropped) = ([0u32; 2], Vec::new());
        for i in 0..100_000u64 {
            let now = Time::from_micros(1200 * i);
            for flow in [0, 1 + (i % 10) as u32] {
                queue.enqueue(now, packet(flow), &mut dropped);
            }
            if let Some((packet, _)) = queue.dequeue(now, &mut dropped) {
                sent[usize::from(packet.flow > 0)] += 1;
            }
        }
        let share = f64::from(sent[0]) / f64::from(sent[0] + sent[1]);
        assert!(share < 0.4, "{share} of the link, half of what arrives");
    }

    #[test]
    fn marks_replace_drops_by_lot_but_not_those_of_a_match() {
        let settings = [("ecn", Value::Flag(true))];
        let settings = Settings::new(PARAMS, &settings).unwrap().with_preset(PRESETS);
        let mut queue = Choke::new(&settings, Site::test(Limit::Packets(500))).unwrap();
        let mut dropped = Vec::new();
        for i in 0..100_000u32 {
            let now = Time::from_micros(1200 * u64::from(i));
            // Thirty flows: a match is rare enough for a standing queue.
            let packet = Packet { ecn: Ecn::Ect0, ..packet(i % 30) };
            queue.enqueue(now, packet, &mut dropped);
            if i >= 12 {
                queue.dequeue(now, &mut dropped);
            }
        }
        let counters = queue.red.statistics.of(Class::BestEffort);
        assert!(counters.marked > 0 && counters.dropped_full == 0, "{counters:?}");
        assert_eq!(counters.dropped_early, 2 * counters.refused, "only pairs");
    }
}
