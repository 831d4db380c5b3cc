//! Monitor intervals: what became of the packets that left at one rate.
//!
//! # Model
//! A rule that learns sends at a rate for about a round trip and asks afterwards whether that was good. Each such time is an interval of this
//! queue. A packet belongs to the interval in which it left. An interval's result is known once each of its packets has been reported as
//! delivered or lost, about a round trip after its last packet left:
//!
//! ```text
//!   begin(rate) ── packets leave ── end ──── their acks and losses ──── known
//!
//!   duration   = last packet − first packet + what the last one takes at the rate
//!   rate       = bytes sent / duration                     what left, which may differ from what was asked for
//!   throughput = bytes delivered / duration
//!   loss       = bytes lost / bytes sent
//!   gradient   = slope of round-trip times over the times at which their packets left         no unit
//!   error      = residual of that line / mean round-trip time
//!   deviation  = standard deviation of the round-trip times
//! ```
//! Round-trip times come one for each ack, of the newest packet that it acknowledges: those of the others have the receiver's waiting in
//! them. Those that are no evidence of the queue ([`crate::ack_gaps`]) count in no line.
//!
//! # States
//! The newest interval is open while packets leave in it; the others have ended. Between intervals packets are not observed.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | samples of an interval | at least 4 | PCC-Uspace; a line through fewer is noise |
//! | part that must count | 0.8, or the interval lasts twice as long | PCC-Uspace |
//! | packets without enough samples | 8, and 4 smoothed round trips | ours: retransmissions have no round-trip time |
//!
//! # Source
//! Dong et al., "PCC Vivace" (NSDI 2018), and Meng et al., "PCC Proteus" (SIGCOMM 2020), by their code: `pcc_monitor_interval_queue.cpp` and
//! `pcc_sender.cpp` of PCC-Uspace (read for facts). There the line goes through packet numbers and is divided by the spacing of the rate; here
//! it goes through times.
//!
//! # Not implemented
//! Intervals that several rates share.
//!
//! # Known bad cases
//! Where acks come seldom, four samples take longer than a round trip: a rate of two packets per round trip is judged every other one.

use crate::event::Sent;
use crate::regression::Regression;
use afteryou_base::units::{Span, Time};

/// Intervals that can be under way: three pairs.
pub const MOST_INTERVALS: usize = 6;
/// Samples with which an interval may end.
const ENOUGH_SAMPLES: u32 = 4;
/// Part of the samples that must count, unless the interval lasts twice as long.
const RELIABLE_PART: f64 = 0.8;
/// Packets and smoothed round trips after which an interval ends with fewer samples.
const ENOUGH_PACKETS: u32 = 8;
const PATIENCE: u64 = 4;
/// Smoothed round trips after which a packet that nobody reports is taken for lost, once a later one has been delivered.
const OVERDUE: u64 = 2;

/// The fate of an interval's packets: the inputs of a utility.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Rate that was asked for, bytes per second.
    pub asked: f64,
    /// Rate at which packets left, bytes per second.
    pub rate: f64,
    /// Bytes per second that were delivered.
    pub throughput: f64,
    /// Part of the bytes that was lost.
    pub loss: f64,
    /// From the first packet to the end of the last one, s.
    pub duration: f64,
    /// Round-trip times that count.
    pub samples: u32,
    /// Seconds by which the round-trip time grew in each second.
    pub gradient: f64,
    /// Distance of the samples from that line, as a part of the mean round-trip time.
    pub error: f64,
    /// Mean round-trip time, s.
    pub mean_rtt: f64,
    /// Standard deviation of the round-trip times, s.
    pub deviation: f64,
    /// The application gave less than the rate.
    pub app_limited: bool,
}

/// An interval.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    asked: f64,
    first: Time,
    last: Time,
    last_bytes: u64,
    packets: u32,
    sent: u64,
    delivered: u64,
    lost: u64,
    all_samples: u32,
    rtts: Regression,
    app_limited: bool,
}

impl Interval {
    fn has(&self, sent_at: Time) -> bool {
        self.packets > 0 && (self.first..=self.last).contains(&sent_at)
    }

    fn is_known(&self) -> bool {
        self.delivered.saturating_add(self.lost) >= self.sent
    }

    fn has_few_reliable(&self) -> bool {
        f64::from(self.rtts.samples()) <= RELIABLE_PART * f64::from(self.all_samples)
    }

    /// Returns whether the interval may end with the packet before the one that leaves `now`.
    fn may_end(&self, now: Time, duration: Span, smoothed: Span) -> bool {
        let lasted = now.since(self.first);
        if self.packets == 0 || now <= self.last {
            return false; // two packets of one instant belong together
        }
        if self.rtts.samples() < ENOUGH_SAMPLES {
            return self.packets >= ENOUGH_PACKETS && lasted >= smoothed * PATIENCE;
        }
        lasted >= if self.has_few_reliable() { duration * 2 } else { duration }
    }

    fn report(&self) -> Report {
        let duration = self.last.since(self.first).as_secs_f64() + self.last_bytes as f64 / self.asked;
        let duration = duration.max(1e-9);
        let mean_rtt = self.rtts.mean();
        Report {
            asked: self.asked,
            rate: self.sent as f64 / duration,
            throughput: self.delivered.min(self.sent) as f64 / duration,
            loss: self.lost.min(self.sent) as f64 / self.sent.max(1) as f64,
            duration,
            samples: self.rtts.samples(),
            gradient: self.rtts.slope(),
            error: if mean_rtt > 0.0 { self.rtts.residual() / mean_rtt } else { 0.0 },
            mean_rtt,
            deviation: self.rtts.deviation(),
            app_limited: self.app_limited,
        }
    }
}

/// A queue of intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonitorIntervals {
    queue: [Interval; MOST_INTERVALS],
    len: usize,
    is_open: bool,
}

impl MonitorIntervals {
    /// Begins an interval with the next packet, at `rate` bytes per second; ends the one before. A queue that is full takes no further one.
    pub fn begin(&mut self, rate: f64) {
        self.end();
        if let Some(interval) = self.queue.get_mut(self.len) {
            *interval = Interval { asked: rate.max(1.0), ..Interval::default() };
            self.len += 1;
            self.is_open = true;
        }
    }

    /// Ends the open interval. One without packets is forgotten.
    pub fn end(&mut self) {
        if self.open().is_some_and(|interval| interval.packets == 0) {
            self.len -= 1;
        }
        self.is_open = false;
    }

    /// Forgets all intervals.
    pub fn clear(&mut self) {
        (self.len, self.is_open) = (0, false);
    }

    /// Returns the number of intervals.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no intervals.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn intervals(&self) -> &[Interval] {
        &self.queue[..self.len]
    }

    fn intervals_mut(&mut self) -> &mut [Interval] {
        &mut self.queue[..self.len]
    }

    fn open(&self) -> Option<&Interval> {
        self.intervals().last().filter(|_| self.is_open)
    }

    /// Returns the rate of the open interval, bytes per second.
    pub fn open_rate(&self) -> Option<f64> {
        self.open().map(|interval| interval.asked)
    }

    /// Ends the open interval if it has lasted for `duration` and has enough samples, before a packet leaves `now`.
    pub fn end_if_due(&mut self, now: Time, duration: Span, smoothed: Span) {
        if self.open().is_some_and(|interval| interval.may_end(now, duration, smoothed)) {
            self.end();
        }
    }

    /// Books a packet that leaves.
    pub fn on_sent(&mut self, packet: &Sent) {
        if !self.is_open {
            return;
        }
        let Some(interval) = self.intervals_mut().last_mut() else { return };
        if interval.packets == 0 {
            interval.first = packet.now;
        }
        interval.last = packet.now.max(interval.first);
        interval.last_bytes = packet.bytes;
        interval.packets = interval.packets.saturating_add(1);
        interval.sent = interval.sent.saturating_add(packet.bytes);
        interval.app_limited |= packet.app_limited;
    }

    fn of(&mut self, sent_at: Time) -> Option<&mut Interval> {
        self.intervals_mut().iter_mut().find(|interval| interval.has(sent_at))
    }

    /// Books a packet that was delivered.
    pub fn on_delivered(&mut self, packet: &Sent) {
        if let Some(interval) = self.of(packet.now) {
            interval.delivered = interval.delivered.saturating_add(packet.bytes);
        }
    }

    /// Books a packet that was found lost.
    pub fn on_loss(&mut self, packet: &Sent) {
        if let Some(interval) = self.of(packet.now) {
            interval.lost = interval.lost.saturating_add(packet.bytes);
        }
    }

    /// Takes back a loss: the packet has arrived.
    pub fn on_spurious_loss(&mut self, packet: &Sent) {
        if let Some(interval) = self.of(packet.now) {
            let found = packet.bytes.min(interval.lost);
            interval.lost -= found;
            interval.delivered = interval.delivered.saturating_add(found);
        }
    }

    /// Takes in the round-trip time of a packet; `counts`: it is evidence of the queue.
    pub fn on_rtt(&mut self, sent_at: Time, rtt: Span, counts: bool) {
        let Some(interval) = self.of(sent_at) else { return };
        interval.all_samples = interval.all_samples.saturating_add(1);
        if counts {
            interval.rtts.add(sent_at.since(interval.first).as_secs_f64(), rtt.as_secs_f64());
        }
    }

    /// Takes packets for lost that nobody has reported although one that left long after them has been delivered.
    pub fn expire(&mut self, newest_delivered: Time, smoothed: Span) {
        let is_open = self.is_open;
        let ended = self.len - usize::from(is_open && self.len > 0);
        for interval in &mut self.queue[..ended] {
            if newest_delivered > interval.last + smoothed * OVERDUE {
                interval.lost = interval.sent.saturating_sub(interval.delivered);
            }
        }
    }

    /// Returns whether `count` intervals have ended and the results of all are known.
    pub fn are_known(&self, count: usize) -> bool {
        !self.is_open && self.len == count && self.intervals().iter().all(Interval::is_known)
    }

    /// Returns the results, in the order of the intervals.
    pub fn reports(&self) -> impl Iterator<Item = Report> + '_ {
        self.intervals().iter().map(Interval::report)
    }
}

#[cfg(test)]
mod tests;
