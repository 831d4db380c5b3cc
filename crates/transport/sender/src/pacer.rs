//! Spreads packets over the round trip instead of sending a window in one burst.
//!
//! Unpaced bursts overflow socket buffers and short queues long before the network is full, and they make the sender
//! measure the queue it has just built itself.

use afteryou_base::{Span, Time};

/// Pacing rate over `cwnd / RTT` in congestion avoidance (RFC 9002 §7.7 suggests 1.25).
pub const STEADY_GAIN: f64 = 1.25;
/// The same in slow start, where the window doubles within the round trip.
pub const SLOW_START_GAIN: f64 = 2.0;
/// Time by which sending may run ahead on a machine. Real timers wake up late by a millisecond or two, and missed sending must
/// be made good or the rate would fall short. On a busy machine they are later: see [`Pacer::late`].
pub const TIMER_SLACK: Span = Span::from_millis(2);
/// Packets that may always go back to back.
const BURST_PACKETS: u64 = 2;

/// A leaky bucket in time: when the next packet may leave.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    next: Time,
    /// Time by which sending may run ahead, beside [`BURST_PACKETS`].
    slack: Span,
    /// Time for which a packet could have left and did not, as found at `late_at`.
    late: Span,
    late_at: Time,
}

impl Pacer {
    /// Creates a pacer whose timers wake it late by up to `slack`: [`TIMER_SLACK`] on a machine. In a simulation it is a
    /// setting, since it is a time like those of the path: a network of half the rate and twice the times has twice the
    /// slack.
    pub fn new(slack: Span) -> Pacer {
        Pacer { next: Time::ZERO, slack, late: Span::ZERO, late_at: Time::ZERO }
    }

    /// Returns when the next packet may leave.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Notes that a packet has waited for [`next`](Pacer::next), and the sender runs only now, since the machine is busy.
    /// The packets that it missed are made good at once, up to `most`. Otherwise less than a window leaves in a round trip,
    /// and a controller that watches its flight takes the application for the limit.
    pub fn late(&mut self, now: Time, most: Span) {
        self.late = now.since(self.next).min(most);
        self.late_at = now;
    }

    /// Returns the time by which the packets of now may run ahead, `allowance` of a sender that is in time.
    #[inline]
    fn allowance(&self, now: Time, allowance: Span) -> Span {
        // One wake-up sends in several batches, each with a clock of its own.
        let is_catching_up = now.since(self.late_at) <= self.slack;
        if is_catching_up {
            allowance.max(self.late)
        } else {
            allowance
        }
    }

    /// Notes that a packet of `bytes` leaves now at `bytes_per_second`. `burst_packet` is the size of a packet that may go
    /// back to back with this one; 0 spaces all packets strictly.
    #[inline]
    pub fn sent(&mut self, now: Time, bytes: u64, bytes_per_second: u64, burst_packet: u64) {
        let spacing = span_of(bytes, bytes_per_second);
        let allowance = match burst_packet * (BURST_PACKETS - 1) {
            0 => Span::ZERO,
            burst if burst == bytes => self.allowance(now, self.slack.max(spacing)),
            burst => self.allowance(now, self.slack.max(span_of(burst, bytes_per_second))),
        };
        let earliest = Time(now.0.saturating_sub(allowance.0));
        self.next = self.next.max(earliest) + spacing;
    }

    /// Notes that a packet of `bytes` leaves now at `bytes_per_second`; up to `quantum` bytes may leave back to back.
    pub fn sent_of_quantum(&mut self, now: Time, bytes: u64, bytes_per_second: u64, quantum: u64) {
        let allowance = self.allowance(now, span_of(quantum.saturating_sub(bytes), bytes_per_second));
        let earliest = Time(now.0.saturating_sub(allowance.0));
        self.next = self.next.max(earliest) + span_of(bytes, bytes_per_second);
    }

    /// Limits the wait to `at`, when the window has grown: what was spaced by a smaller one need not wait longer.
    pub fn no_later_than(&mut self, at: Time) {
        self.next = self.next.min(at);
    }

    /// Starts afresh, after a silence or an unknown rate.
    pub fn reset(&mut self, now: Time) {
        self.next = now;
    }
}

/// The rate at which a window leaves within a round trip, bytes per second. The last one is kept: an ack releases several packets
/// at one rate, whose two divisions take longer than all else that is done to send a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowRate {
    gain: f64,
    window: u64,
    rtt: Span,
    rate: u64,
}

impl WindowRate {
    /// Returns `gain` times `window` bytes per `rtt`.
    #[inline]
    pub fn of(&mut self, gain: f64, window: u64, rtt: Span) -> u64 {
        if self.window != window || self.rtt != rtt || self.gain != gain {
            let rate = (gain * window as f64 / rtt.as_secs_f64().max(1e-6)) as u64;
            *self = WindowRate { gain, window, rtt, rate };
        }
        self.rate
    }
}

/// Returns [`Span::of_bytes`] without its division of 128 bits, which takes as long as the rest of a packet's pacing.
fn span_of(bytes: u64, bytes_per_second: u64) -> Span {
    match bytes.checked_mul(1_000_000_000) {
        Some(nanos) if bytes_per_second > 0 => Span(nanos / bytes_per_second),
        _ => Span::of_bytes(bytes, bytes_per_second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_division_is_exact() {
        for bytes in [0, 1, 1352, 18_446_744_073, 18_446_744_074, u64::MAX] {
            for rate in [0, 1, 7, 999_999_999, u64::MAX] {
                assert_eq!(span_of(bytes, rate), Span::of_bytes(bytes, rate));
            }
        }
    }

    #[test]
    fn a_rate_follows_each_of_its_three_terms() {
        let mut rate = WindowRate::default();
        for (gain, window, ms, expected) in [
            (1.25, 20_000, 100, 250_000),
            (1.25, 20_000, 100, 250_000),
            (2.0, 20_000, 100, 400_000),
            (2.0, 10_000, 100, 200_000),
            (2.0, 10_000, 50, 400_000),
        ] {
            assert_eq!(rate.of(gain, window, Span::from_millis(ms)), expected);
        }
    }

    /// Returns the number of packets of 1000 B that leave within `ms` milliseconds at 1 MB/s, asked every `step` µs.
    fn sent_within(ms: u64, step_us: u64) -> u64 {
        let mut pacer = Pacer::new(TIMER_SLACK);
        let mut packets = 0;
        for now in (0..ms * 1000).step_by(step_us as usize).map(Time::from_micros) {
            while pacer.next() <= now {
                pacer.sent(now, 1000, 1_000_000, 1000);
                packets += 1;
            }
        }
        packets
    }

    #[test]
    fn the_rate_is_kept_with_a_precise_timer_and_with_a_lazy_one() {
        assert!((1000..=1003).contains(&sent_within(1000, 10)));
        assert!((1000..=1003).contains(&sent_within(1000, 1900)));
    }

    /// Returns the number of packets of 1000 B that a sender sends within a second at 1 MB/s, and the most of one wake-up.
    /// It runs every `step` ms.
    fn sent_by_late_wake_ups(step_ms: u64, most: Span) -> (u64, u64) {
        let mut pacer = Pacer::new(TIMER_SLACK);
        let (mut packets, mut burst) = (0, 0);
        for ms in (0..1000).step_by(step_ms as usize) {
            let now = Time::from_millis(ms);
            pacer.late(now, most);
            let before = packets;
            while pacer.next() <= now {
                pacer.sent(now, 1000, 1_000_000, 1000);
                packets += 1;
            }
            burst = burst.max(packets - before);
        }
        (packets, burst)
    }

    #[test]
    fn what_late_wake_ups_miss_is_made_good_up_to_a_bound() {
        for step_ms in [5, 12] {
            let (packets, burst) = sent_by_late_wake_ups(step_ms, Span::from_millis(12));
            assert!((985..=1003).contains(&packets), "{packets} packets, every {step_ms} ms");
            assert!(burst <= step_ms + 1, "{burst} packets at once, every {step_ms} ms");
        }
        let (packets, burst) = sent_by_late_wake_ups(50, Span::from_millis(12));
        assert!((240..=270).contains(&packets), "{packets} packets");
        assert!(burst <= 13, "{burst} packets at once");
    }

    #[test]
    fn an_idle_time_earns_no_more_than_the_burst() {
        let mut pacer = Pacer::new(TIMER_SLACK);
        let now = Time::from_millis(5000);
        let mut burst = 0;
        while pacer.next() <= now {
            pacer.sent(now, 1000, 1_000_000, 1000);
            burst += 1;
        }
        assert!(burst <= 3, "{burst} packets at once");
    }

    #[test]
    fn a_quantum_leaves_together_and_the_rate_is_kept() {
        let mut pacer = Pacer::new(TIMER_SLACK);
        let mut sent_ms = Vec::new();
        for now in (0..100_000).step_by(100).map(|us| Time::from_micros(1_000_000 + us)) {
            while pacer.next() <= now {
                pacer.sent_of_quantum(now, 1000, 1_000_000, 5000);
                sent_ms.push(now.as_micros() / 1000 - 1000);
            }
        }
        assert_eq!(sent_ms[..7], [0, 0, 0, 0, 0, 1, 2]);
        assert!((100..=105).contains(&sent_ms.len()), "{}", sent_ms.len());
    }

    #[test]
    fn strict_spacing_lets_no_two_packets_leave_together() {
        let mut pacer = Pacer::new(TIMER_SLACK);
        pacer.sent(Time::from_millis(100), 1000, 10_000, 0);
        assert_eq!(pacer.next(), Time::from_millis(200));
    }

    #[test]
    fn without_slack_an_idle_time_earns_two_packets_at_any_rate() {
        for rate in [1_000_000, 100_000_000] {
            let mut pacer = Pacer::new(Span::ZERO);
            let now = Time::from_millis(5000);
            let mut burst = 0;
            while pacer.next() <= now {
                pacer.sent(now, 1000, rate, 1000);
                burst += 1;
            }
            assert_eq!(burst, 2, "{rate} B/s");
        }
    }
}
