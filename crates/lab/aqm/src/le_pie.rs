//! LE-PIE: PIE that drops lower effort with k times the probability.
//!
//! **This is a proposal of this project.** No document defines it; draft-pan-aqm-pie-00 has the idea of a probability per
//! flow divided by the flow's weight.
//!
//! # Model
//! One queue, one controller, one probability p. Without lower effort, best effort is treated exactly as by
//! [`pie`](crate::pie), packet by packet and random number by random number. A packet of [`Class::LowerEffort`] is
//! dropped or marked with
//!
//! ```text
//!   p_LE = min(1, k·p)
//! ```
//! It is spared when best effort would be: in the burst allowance, with little delay while p < 20 %, with two packets
//! waiting. Each such packet is decided on alone, without de-randomisation, which accumulates only best effort's
//! probability. A sender that should yield needs no protection from close drops. Marks replace drops up to the same p
//! as for best effort, since p shows whether marks still work.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | k | 16 | a loss-based flow gets about 1/√k = 1/4 of a best-effort flow's rate |
//!
//! # Source
//! The rest is [`pie`](crate::pie)'s: RFC 8033. DSCP LE: RFC 8622, which asks that LE be dropped before anything else.
//!
//! # Known bad cases
//! The 1/√k law: this is a ratio, not a priority. At k = 16 a loss-based LE flow still has a quarter of a best-effort
//! flow's rate, and k = 64 leaves an eighth. Delay-based senders stay below the target and get no signal at all, for
//! any k. Many LE flows raise p for all, since the controller has one queue.

use crate::dropped::Dropped;
use crate::error::Error;
use crate::packet::{Class, Packet};
use crate::pie::params::{COMMON, PRESET};
use crate::pie::Pie;
use crate::queue::Queue;
use crate::site::{uniform, Site};
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters: those of PIE and one more.
    pub table PARAMS;

    use PRESET;
    const WEIGHT: Key<f64> = Key::number("weight", "", 16.0, (1.0, 64.0))
        .explained("how much more readily lower effort is dropped", "proposal of this project");
    use all COMMON;
}

pub use crate::pie::PRESETS;

/// A PIE queue with a class of lower effort.
#[derive(Clone, Debug)]
pub struct LePie<T, R> {
    pie: Pie<T, R>,
    weight: f64,
}

impl<T, R: Rng> LePie<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// As [`Pie::new`].
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<LePie<T, R>, Error> {
        Ok(LePie { pie: Pie::new(settings, site)?, weight: settings.get(&WEIGHT) })
    }
}

/// Returns the drop probability of lower effort where that of best effort is `p`.
fn lower_effort(p: f64, weight: f64) -> f64 {
    (weight * p).min(1.0)
}

impl<T: Send, R: Rng + Send> Queue<T> for LePie<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let (class, weight) = (packet.class(), self.weight);
        self.pie.enqueue_unless(now, packet, dropped, |law, state, backlog, random| match class {
            Class::BestEffort => law.signals(state, now, backlog, random),
            Class::LowerEffort => {
                law.listens(state, now, backlog)
                    && uniform(random) < lower_effort(state.probability(), weight)
            }
        });
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        self.pie.dequeue(now, dropped)
    }

    fn statistics(&self) -> &Statistics {
        self.pie.statistics()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::Limit;
    use crate::list;
    use afteryou_base::param::Value;

    const LE: u8 = 0x04;

    /// Returns the drops by class, with one packet too many per millisecond for `ms`; every `le_every`-th is LE.
    fn drops(name: &str, rows: &[(&'static str, Value)], ms: u64, le_every: u64) -> (Vec<u64>, Vec<u64>) {
        let entry = list::find(name).unwrap();
        let mut queue = entry.build(rows, Site::test(Limit::Packets(100_000))).unwrap();
        let mut dropped = Vec::new();
        for number in 0..2 * ms {
            let now = Time::from_millis(number / 2);
            let tos = if number % le_every == 0 { LE } else { 0 };
            queue.enqueue(now, Packet::from_tos(1500, 0, tos, number), &mut dropped);
            if number % 2 == 1 {
                queue.dequeue(now, &mut dropped);
            }
        }
        let of = |class| {
            let those = dropped.iter().filter(|dropped| dropped.packet.class() == class);
            those.map(|dropped| dropped.packet.body).collect()
        };
        (of(Class::BestEffort), of(Class::LowerEffort))
    }

    #[test]
    fn lower_effort_has_k_times_the_probability_and_no_more_than_one() {
        assert!((lower_effort(0.05, 16.0) - 0.8).abs() < 1e-12);
        assert_eq!(lower_effort(0.1, 16.0), 1.0);
        assert_eq!(lower_effort(0.1, 1.0), 0.1);
    }

    #[test]
    fn best_effort_alone_meets_pie_itself() {
        let (pie, none) = drops("pie", &[], 3000, u64::MAX);
        assert!(pie.len() > 100 && none.len() <= 1);
        assert_eq!(drops("le_pie", &[], 3000, u64::MAX).0, pie);
    }

    #[test]
    fn lower_effort_is_dropped_k_times_as_often() {
        // Slow gains keep p below 1/4 for these three seconds. One packet in four is lower effort.
        let slow = [("alpha", Value::Number(0.003)), ("beta", Value::Number(0.0))];
        let rows = [slow[0], slow[1], ("derandomise", Value::Flag(false)), ("weight", Value::Number(4.0))];
        let (best, lower) = drops("le_pie", &rows, 3000, 4);
        let ratio = lower.len() as f64 * 3.0 / best.len() as f64;
        assert!((3.5..4.5).contains(&ratio), "{ratio} from {} and {}", lower.len(), best.len());
    }

    #[test]
    fn lower_effort_alone_has_the_burst_allowance_too() {
        let (_, lower) = drops("le_pie", &[], 149, 1);
        assert!(lower.is_empty());
        assert!(!drops("le_pie", &[], 400, 1).1.is_empty());
    }

    #[test]
    fn a_weight_out_of_range_is_refused() {
        for weight in [0.5, 65.0] {
            let rows = [("weight", Value::Number(weight))];
            let built = list::find("le_pie").unwrap().build::<()>(&rows, Site::test(Limit::Packets(10)));
            let error = built.err().unwrap().to_string();
            assert!(error.contains("weight = ") && error.contains("use 1 to 64"), "{error}");
        }
    }
}
