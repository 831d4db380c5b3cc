//! Aggregation of acknowledgements: a number of them, or those of some time, leave together.
//!
//! Acknowledgements wait before a link until there are n of them, or until the first of them has waited for the time t; then
//! all continue, in order. Radio links (802.11 frame aggregation, DOCSIS grants, LTE scheduling) bunch acknowledgements like this.
//!
//! Closed form for acknowledgements a time g apart: if (n − 1)·g < t, batches of n, of which the first waits (n − 1)·g; otherwise
//! batches of ⌊t/g⌋ + 1, of which the first waits t.
//!
//! Not implemented: thinning, which drops all but the last acknowledgement of a batch.

use crate::packet::Packet;
use afteryou_base::Span;
use afteryou_scenario::element::Aggregate as Spec;

/// Acknowledgements that wait for others.
pub struct Aggregate {
    acks: usize,
    time: Span,
    waiting: Vec<Packet>,
    /// Batches that have left: a timer of an earlier one is out of date.
    gone: u64,
}

/// The effect of an arriving acknowledgement on its batch.
#[derive(Debug, PartialEq, Eq)]
pub enum Batch {
    /// The batch is complete.
    Complete,
    /// The batch with this number began: it continues after this time at the latest.
    Began(u64, Span),
    /// The batch waits for more.
    Waits,
}

impl Aggregate {
    /// Creates an aggregate in which nothing waits yet.
    pub fn new(spec: &Spec) -> Aggregate {
        Aggregate { acks: spec.acks as usize, time: spec.time.0, waiting: Vec::new(), gone: 0 }
    }

    /// Adds an acknowledgement.
    pub fn add(&mut self, packet: Packet) -> Batch {
        self.waiting.push(packet);
        match self.waiting.len() {
            many if many >= self.acks => Batch::Complete,
            1 => Batch::Began(self.gone, self.time),
            _ => Batch::Waits,
        }
    }

    /// Takes the batch that waits.
    pub fn take(&mut self) -> Vec<Packet> {
        self.gone += 1;
        std::mem::take(&mut self.waiting)
    }

    /// Takes the batch with this number, if it still waits.
    pub fn take_batch(&mut self, number: u64) -> Vec<Packet> {
        if self.gone != number {
            return Vec::new();
        }
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, NO_SACK};
    use afteryou_aqm::Ecn;
    use afteryou_base::{Dscp, Time};
    use afteryou_scenario::Duration;

    fn ack(cumulative: u32) -> Packet {
        let body = Body::Ack { cumulative, tsecr: 0, one_way_delay: 0, sack: NO_SACK, epoch: 0, flags: 0 };
        Packet { size: 52, flow: 0, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct, label: 1, body }
    }

    /// Returns times (ms) and sizes of the batches of forty acknowledgements 1 ms apart.
    fn batches(acks: u32, time_ms: u64) -> Vec<(u64, usize)> {
        let mut aggregate = Aggregate::new(&Spec { acks, time: Duration::from_millis(time_ms) });
        let (mut seen, mut due) = (Vec::new(), None::<(u64, Time)>);
        for ms in 0..40u64 {
            let now = Time::from_millis(ms);
            if let Some((number, at)) = due.filter(|(_, at)| *at < now) {
                let batch = aggregate.take_batch(number);
                seen.push((at.as_micros() / 1000, batch.len()));
                due = None;
            }
            match aggregate.add(ack(ms as u32)) {
                Batch::Complete => {
                    seen.push((ms, aggregate.take().len()));
                    due = None;
                }
                Batch::Began(number, after) => due = Some((number, now + after)),
                Batch::Waits => {}
            }
        }
        seen
    }

    #[test]
    fn a_batch_goes_on_when_it_is_complete_or_when_its_time_is_over() {
        assert_eq!(batches(4, 50)[..3], [(3, 4), (7, 4), (11, 4)]);
        assert_eq!(batches(100, 5)[..3], [(5, 6), (11, 6), (17, 6)]);
        assert_eq!(batches(1, 5).len(), 40);
    }

    #[test]
    fn the_timer_of_a_batch_that_is_gone_does_nothing() {
        let mut aggregate = Aggregate::new(&Spec { acks: 2, time: Duration::from_millis(5) });
        assert_eq!(aggregate.add(ack(1)), Batch::Began(0, Span::from_millis(5)));
        assert_eq!(aggregate.add(ack(2)), Batch::Complete);
        assert_eq!(aggregate.take().len(), 2);
        aggregate.add(ack(3));
        assert_eq!(aggregate.take_batch(0), []);
        assert_eq!(aggregate.take_batch(1), [ack(3)]);
    }
}
