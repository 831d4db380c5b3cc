//! One direction of a link in virtual time: arrivals go in, departures come out. No socket, no clock.
//!
//! The link sends one packet after the other. It is free at a time that follows from its past packets. It takes the
//! next packet at that time or when one arrives, whichever is later. When the caller looks has no influence.

use super::config::Direction;
use super::datagram::Datagram;
use afteryou_aqm::{DropReason, Dropped, Packet, Queue, Statistics};
use afteryou_base::{Span, Time};
use afteryou_scenario::random;
use rand_pcg::Pcg64;

/// Something happened to a packet.
pub(super) enum Event {
    /// It left the queue; the link has sent its last bit at `sent_at`.
    Sent { packet: Packet<Datagram>, dequeued_at: Time, sojourn: Span, sent_at: Time },
    /// The queue dropped it.
    Dropped { packet: Packet<Datagram>, at: Time, reason: DropReason },
    /// It was lost at random.
    Lost { packet: Packet<Datagram> },
}

/// One direction of a link.
pub(super) struct Wire {
    bytes_per_second: u64,
    loss: f64,
    random: Pcg64,
    arrivals: u64,
    queue: Box<dyn Queue<Datagram>>,
    /// When the packet in transmission has left.
    free_at: Time,
    /// Everything before this has happened: no arrival is taken earlier.
    horizon: Time,
    /// The queue refused to give a packet although it holds some: ask again when one arrives.
    stuck: bool,
    dropped: Vec<Dropped<Datagram>>,
}

impl Wire {
    pub(super) fn new(direction: Direction, random: Pcg64) -> Wire {
        Wire {
            bytes_per_second: direction.rate.bytes_per_second(),
            loss: direction.loss.ratio(),
            random,
            arrivals: 0,
            queue: direction.queue,
            free_at: Time::ZERO,
            horizon: Time::ZERO,
            stuck: false,
            dropped: Vec::new(),
        }
    }

    /// Takes `packet`, which arrives at the time written in it, or now if that is later.
    pub(super) fn arrive(&mut self, mut packet: Packet<Datagram>, events: &mut Vec<Event>) {
        self.advance(packet.body.arrived_at, events);
        packet.body.arrived_at = self.horizon;
        packet.body.number = self.arrivals;
        self.arrivals += 1;
        if random::happens(&mut self.random, self.loss) {
            events.push(Event::Lost { packet });
            return;
        }
        self.queue.enqueue(self.horizon, packet, &mut self.dropped);
        self.report_drops(self.horizon, events);
        self.stuck = false;
        if self.free_at <= self.horizon {
            self.send_next(self.horizon, events);
        }
    }

    /// Lets everything happen that the link does until `to`, inclusive.
    pub(super) fn advance(&mut self, to: Time, events: &mut Vec<Event>) {
        while let Some(at) = self.next_departure().filter(|at| *at <= to) {
            self.send_next(at, events);
        }
        self.horizon = self.horizon.max(to);
    }

    /// Returns when the link takes the next packet from the queue, if one is waiting.
    pub(super) fn next_departure(&self) -> Option<Time> {
        (self.waiting() > 0 && !self.stuck).then_some(self.free_at)
    }

    /// Returns the number of packets waiting in the queue.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.backlog().packets
    }

    /// Returns the queue's counters.
    pub(super) fn queue_statistics(&self) -> &Statistics {
        self.queue.statistics()
    }

    fn send_next(&mut self, at: Time, events: &mut Vec<Event>) {
        let departure = self.queue.dequeue(at, &mut self.dropped);
        self.report_drops(at, events);
        let Some((packet, sojourn)) = departure else {
            return self.wait();
        };
        self.free_at = at + Span::of_bytes(u64::from(packet.size), self.bytes_per_second);
        events.push(Event::Sent { packet, dequeued_at: at, sojourn, sent_at: self.free_at });
    }

    /// Waits until the queue's shaper releases a packet, or until one arrives.
    fn wait(&mut self) {
        match self.queue.held_until() {
            Some(until) => self.free_at = until,
            None => self.stuck = true,
        }
    }

    fn report_drops(&mut self, at: Time, events: &mut Vec<Event>) {
        let dropped = self.dropped.drain(..);
        events.extend(dropped.map(|Dropped { packet, reason }| Event::Dropped { packet, at, reason }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_aqm::droptail::DropTail;
    use afteryou_aqm::Limit;
    use afteryou_scenario::{Probability, Rate};

    /// Returns a wire of 1 Mbyte/s: a packet of 1000 bytes takes 1 ms.
    fn wire(loss: f64, limit: Limit, seed: u64) -> Wire {
        let direction = Direction {
            rate: Rate::from_mbit(8),
            loss: Probability::from_ratio(loss).unwrap(),
            queue: Box::new(DropTail::new(limit)),
        };
        Wire::new(direction, random::stream(seed, "test"))
    }

    fn packet(arrived_us: u64, size: u32) -> Packet<Datagram> {
        let body = Datagram::new(Vec::new(), Time::from_micros(arrived_us));
        Packet::from_tos(size, 0, 0, body)
    }

    /// Returns (start, sojourn, end) of every packet sent, µs.
    fn sent(events: &[Event]) -> Vec<(u64, u64, u64)> {
        let times = |event: &Event| match event {
            Event::Sent { dequeued_at, sojourn, sent_at, .. } => {
                Some((dequeued_at.as_micros(), sojourn.as_micros(), sent_at.as_micros()))
            }
            _ => None,
        };
        events.iter().filter_map(times).collect()
    }

    #[test]
    fn packets_follow_each_other_at_the_rate_and_an_idle_link_sends_at_once() {
        let mut wire = wire(0.0, Limit::Packets(10), 1);
        let mut events = Vec::new();
        for arrival in [0, 0, 500, 5000] {
            wire.arrive(packet(arrival, 1000), &mut events);
        }
        wire.advance(Time::from_millis(100), &mut events);
        let expected = [(0, 0, 1000), (1000, 1000, 2000), (2000, 1500, 3000), (5000, 0, 6000)];
        assert_eq!(sent(&events), expected);
    }

    #[test]
    fn a_late_look_changes_nothing() {
        let run = |looks: &[u64]| {
            let (mut wire, mut events) = (wire(0.0, Limit::Packets(3), 1), Vec::new());
            (0..8).for_each(|_| wire.arrive(packet(100, 700), &mut events));
            looks.iter().for_each(|look| wire.advance(Time::from_micros(*look), &mut events));
            sent(&events)
        };
        assert_eq!(run(&[200, 900, 1500, 1501, 2200, 9000]), run(&[9000]));
    }

    #[test]
    fn a_packet_leaves_before_one_that_arrives_at_the_same_time() {
        let (mut wire, mut events) = (wire(0.0, Limit::Packets(1), 1), Vec::new());
        for arrival in [0, 0, 1000] {
            wire.arrive(packet(arrival, 1000), &mut events);
        }
        assert_eq!((sent(&events).len(), wire.waiting()), (2, 1), "the third takes the room of the second");
    }

    #[test]
    fn an_arrival_that_is_told_too_late_arrives_when_it_is_told() {
        let (mut wire, mut events) = (wire(0.0, Limit::Packets(9), 1), Vec::new());
        wire.advance(Time::from_millis(7), &mut events);
        wire.arrive(packet(2000, 1000), &mut events);
        assert_eq!(sent(&events), [(7000, 0, 8000)]);
    }

    #[test]
    fn the_same_packets_are_lost_with_the_same_seed_whenever_they_arrive() {
        let losses = |seed, gap_us: u64| -> Vec<bool> {
            let mut wire = wire(0.05, Limit::Packets(10), seed);
            let lost = |n: u64| {
                let mut events = Vec::new();
                wire.arrive(packet(n * gap_us, 1000), &mut events);
                events.iter().any(|event| matches!(event, Event::Lost { .. }))
            };
            (0..10_000).map(lost).collect()
        };
        assert_eq!(losses(1, 10), losses(1, 3000));
        assert_ne!(losses(1, 10), losses(2, 10));
        let count = losses(1, 10).into_iter().filter(|lost| *lost).count();
        assert!((400..600).contains(&count), "{count}");
    }
}
