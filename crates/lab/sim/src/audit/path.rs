//! A path of delay, loss, reordering and compressed acknowledgements, and a transfer over it.

use super::ends::{Datagram, Ends};
use super::PACKET;
use afteryou_cc::{Span, Time};
use std::collections::VecDeque;

/// A path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    pub rtt: Span,
    /// Data packets lost among a thousand.
    pub loss: u32,
    /// Data packets are up to this much later, each at random.
    pub jitter: Span,
    /// Acknowledgements wait at a gate that opens this often. The oldest goes ahead of the others by the second span.
    pub ack_gate: Option<(Span, Span)>,
    /// Nothing gets through to the receiver from the one instant to the other.
    pub outage: Option<(Time, Time)>,
    /// Data packets pass a link with a queue.
    pub link: Option<Link>,
}

/// A link with a buffer in bytes, which includes the packet on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub bytes_per_second: u64,
    pub buffer: u64,
}

/// Datagrams in flight towards one end, by time of arrival.
#[derive(Default)]
struct Wire(VecDeque<(Time, Datagram)>);

impl Wire {
    fn push(&mut self, at: Time, datagram: Datagram) {
        let behind = self.0.partition_point(|(due, _)| *due <= at);
        self.0.insert(behind, (at, datagram));
    }

    fn next(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    fn pop(&mut self, now: Time) -> Option<Datagram> {
        self.0.front().filter(|(at, _)| *at <= now)?;
        self.0.pop_front().map(|(_, datagram)| datagram)
    }
}

/// Two ends and the path between them.
pub struct Transfer {
    now: Time,
    ends: Box<dyn Ends>,
    path: Path,
    forward: Wire,
    reverse: Wire,
    /// The gate at which the latest acknowledgement waited.
    gate: Time,
    transmissions: u64,
    doomed: Option<u64>,
    /// Data packets that did not get through.
    dropped: u64,
    random: u32,
    /// When the link has sent what it holds.
    free_at: Time,
}

impl Transfer {
    pub fn new(mut ends: Box<dyn Ends>, path: Path) -> Transfer {
        ends.open(Time::ZERO);
        let (forward, reverse) = (Wire::default(), Wire::default());
        let (gate, transmissions, doomed, random) = (Time::ZERO, 0, None, 1);
        let (now, free_at) = (Time::ZERO, Time::ZERO);
        let dropped = 0;
        Transfer { now, ends, path, forward, reverse, gate, transmissions, doomed, dropped, random, free_at }
    }

    /// Gives bytes of the application to send.
    pub fn send(&mut self, bytes: u64) {
        // Nothing can be written before the handshake is over.
        while !self.ends.is_open() {
            self.step();
        }
        self.ends.give(bytes);
    }

    /// Loses the data transmission with this number.
    pub fn lose_transmission(&mut self, number: u64) {
        self.doomed = Some(number);
    }

    /// Returns the number of data packets that did not get through.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Runs until everything is acknowledged; false if that takes until `end`.
    pub fn run_until_flushed(&mut self, end: Time) -> bool {
        while !self.ends.is_flushed() {
            if self.now > end {
                return false;
            }
            self.step();
        }
        true
    }

    /// Lets the application give nothing for this long.
    pub fn pause(&mut self, span: Span) {
        let end = self.now + span;
        while self.next() <= end {
            self.step();
        }
        self.now = end;
    }

    fn next(&self) -> Time {
        self.ends.deadline().min(self.forward.next()).min(self.reverse.next())
    }

    fn step(&mut self) {
        self.pump();
        let next = self.next();
        assert!(next < Time::NEVER, "nothing will ever happen");
        self.now = self.now.max(next);
        self.ends.on_time(self.now);
        if let Some(datagram) = self.forward.pop(self.now) {
            self.ends.reach_receiver(self.now, datagram);
        }
        if let Some(datagram) = self.reverse.pop(self.now) {
            self.ends.reach_sender(self.now, datagram);
        }
        self.pump();
    }

    fn pump(&mut self) {
        while let Some(datagram) = self.ends.poll_sender(self.now) {
            let fate = self.fate(&datagram);
            self.dropped += u64::from(fate.is_none());
            if let Some(extra) = fate {
                self.forward.push(self.now + self.path.rtt / 2 + extra, datagram);
            }
        }
        while let Some(datagram) = self.ends.poll_receiver(self.now) {
            let arrival = self.now + self.path.rtt / 2;
            let at = self.release(arrival);
            self.reverse.push(at, datagram);
        }
    }

    /// Returns the delay of a datagram beyond that of the path; `None` if it is lost.
    fn fate(&mut self, datagram: &Datagram) -> Option<Span> {
        if !datagram.is_data() {
            return Some(Span::ZERO);
        }
        let number = self.transmissions;
        self.transmissions += 1;
        if self.path.outage.is_some_and(|(from, to)| (from..to).contains(&self.now)) {
            return None;
        }
        if self.doomed == Some(number) || self.draw(1000) < self.path.loss {
            return None;
        }
        let jitter = self.path.jitter.as_micros() as u32;
        let later = Span::from_micros(self.draw(jitter.max(1)).into());
        let Some(link) = self.path.link else { return Some(later) };
        let waits = self.free_at.since(self.now);
        if waits + Span(1) > Span::of_bytes(link.buffer, link.bytes_per_second) {
            return None;
        }
        self.free_at = self.now + waits + Span::of_bytes(PACKET, link.bytes_per_second);
        Some(later + self.free_at.since(self.now))
    }

    /// Returns when an acknowledgement that reaches the gate gets through.
    fn release(&mut self, arrival: Time) -> Time {
        let Some((every, ahead)) = self.path.ack_gate else { return arrival };
        let gate = Time::from_micros((arrival.as_micros() + 1).next_multiple_of(every.as_micros()));
        let is_first = gate > self.gate;
        self.gate = gate;
        if is_first && gate.since(arrival) > ahead {
            return Time(gate.0 - ahead.0);
        }
        gate
    }

    /// Draws a number below `end`.
    fn draw(&mut self, end: u32) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(self.random) * u64::from(end)) >> 32) as u32
    }
}
