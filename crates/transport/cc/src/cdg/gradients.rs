//! Delay gradients: by how much the smallest and the largest round-trip time of a round differ from those of the round before.
//!
//! A queue that fills raises both. A queue that is full keeps the largest where it is, while the smallest still rises. The sums over the last
//! rounds count, since a single round is noise. Rounds in which the rule itself shrinks the window are left out, so a sum is not just the
//! newest delay less the oldest.

use crate::event::Ack;

/// The most rounds that can be asked for.
pub(super) const MOST_ROUNDS: usize = 64;
/// A sum that has fallen by this much, µs, shows that a reduction had an effect (Linux).
const EFFECT_US: i64 = 32;
/// Sums are compared with zero in units of this, µs, by the rule that tolerates losses (Linux).
const TOLERANCE_US: i64 = 64;
/// Most acks of one packet in a row that count as delayed by the receiver (Linux).
const MOST_DELAYED: u8 = 5;

/// The smallest and the largest of a round's values, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extremes {
    pub min: i64,
    pub max: i64,
}

impl Extremes {
    fn plus(self, other: Extremes) -> Extremes {
        Extremes { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    fn minus(self, other: Extremes) -> Extremes {
        Extremes { min: self.min.saturating_sub(other.min), max: self.max.saturating_sub(other.max) }
    }
}

/// The round-trip times of this round and of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    current: Option<Extremes>,
    previous: Option<Extremes>,
    /// Acks of one packet that may still have waited in the receiver.
    delayed: u8,
}

impl RoundTrips {
    /// Takes in the ack's round-trip time. Where the receiver answers every second packet, the ack of a single one may have waited there: it
    /// can lower the smallest, but not more.
    pub(super) fn take(&mut self, ack: &Ack, mss: u32) {
        let Some(rtt) = ack.rtt.filter(|rtt| rtt.as_micros() > 0) else { return };
        let rtt_us = rtt.as_micros() as i64;
        let is_single = ack.delivered() < 2 * u64::from(mss);
        if ack.newly_sacked == 0 {
            if is_single && self.delayed > 0 {
                self.delayed -= 1;
                if let Some(current) = &mut self.current {
                    current.min = current.min.min(rtt_us);
                }
                return;
            }
            self.delayed = MOST_DELAYED.min(self.delayed + u8::from(!is_single));
        }
        let seen = self.current.unwrap_or(Extremes { min: rtt_us, max: rtt_us });
        self.current = Some(Extremes { min: seen.min.min(rtt_us), max: seen.max.max(rtt_us) });
    }

    /// Returns whether this round has a sample.
    pub(super) fn any(&self) -> bool {
        self.current.is_some()
    }

    /// Ends the round. Returns by how much its extremes exceed those of the round before, if there was one.
    pub(super) fn end_round(&mut self) -> Option<Extremes> {
        let gradient = self.current.zip(self.previous).map(|(current, previous)| current.minus(previous));
        self.previous = self.current.take();
        gradient
    }
}

/// The state of the queue, as the gradients show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Queue {
    #[default]
    Unknown,
    NotFull,
    Full,
}

/// The gradients of the last rounds, and their sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gradients {
    rounds: usize,
    ring: [Extremes; MOST_ROUNDS],
    next: usize,
    is_filled: bool,
    sum: Extremes,
}

impl Gradients {
    /// Creates the sum over `rounds` rounds, 1 to [`MOST_ROUNDS`].
    pub(super) fn over(rounds: usize) -> Gradients {
        Gradients {
            rounds: rounds.clamp(1, MOST_ROUNDS),
            ring: [Extremes::default(); MOST_ROUNDS],
            next: 0,
            is_filled: false,
            sum: Extremes::default(),
        }
    }

    /// Takes in the gradient of a round.
    pub(super) fn push(&mut self, gradient: Extremes) {
        let oldest = core::mem::replace(&mut self.ring[self.next], gradient);
        self.sum = self.sum.plus(gradient).minus(oldest);
        self.next = (self.next + 1) % self.rounds;
        self.is_filled |= self.next == 0;
    }

    /// Returns the sum that counts, µs: that of the smallest round-trip times if it has risen, else that of the largest. Rounds that are
    /// still missing count like those that are there.
    pub(super) fn summed_us(&self) -> f64 {
        let sum = if self.sum.min > 0 { self.sum.min } else { self.sum.max };
        match self.is_filled {
            true => sum as f64,
            false => sum as f64 * self.rounds as f64 / self.next.max(1) as f64,
        }
    }

    /// Returns whether the delay falls: a reduction had an effect.
    pub(super) fn falls(&self) -> bool {
        self.sum.min <= -EFFECT_US || self.sum.max <= -EFFECT_US
    }

    /// Returns the state of the queue, or that of before where the sums do not show it.
    pub(super) fn queue(&self, before: Queue) -> Queue {
        let [min, max] = [self.sum.min, self.sum.max].map(rounded);
        match (min > 0, max > 0) {
            (true, false) => Queue::Full,
            (true, true) => Queue::NotFull,
            _ if max < 0 => Queue::NotFull,
            _ => before,
        }
    }
}

/// Returns the sum in units of the tolerance, rounded to the nearest.
fn rounded(us: i64) -> i64 {
    us.saturating_add(us.signum() * TOLERANCE_US / 2) / TOLERANCE_US
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::units::Span;

    fn after(rounds: usize, gradients: &[(i64, i64)]) -> Gradients {
        let mut sums = Gradients::over(rounds);
        gradients.iter().for_each(|&(min, max)| sums.push(Extremes { min, max }));
        sums
    }

    #[test]
    fn the_sum_covers_the_last_rounds_and_missing_ones_count_like_the_others() {
        // Sums by hand: 8 · 100 / 1, 8 · 300 / 2, then of eight rounds, then without the first.
        assert_eq!(after(8, &[(100, 50)]).summed_us(), 800.0);
        assert_eq!(after(8, &[(100, 50), (200, 50)]).summed_us(), 1200.0);
        let nine: Vec<(i64, i64)> = (1..=9).map(|round| (round * 100, 0)).collect();
        assert_eq!(after(8, &nine[..8]).summed_us(), 3600.0);
        assert_eq!(after(8, &nine).summed_us(), 4400.0);
        assert_eq!(after(1, &nine).summed_us(), 900.0);
    }

    #[test]
    fn the_largest_round_trip_times_count_where_the_smallest_have_not_risen() {
        assert_eq!(after(1, &[(-100, 700)]).summed_us(), 700.0);
        assert_eq!(after(1, &[(1, 700)]).summed_us(), 1.0);
    }

    #[test]
    fn a_full_queue_keeps_the_largest_and_raises_the_smallest() {
        let rows = [
            ((100, 0), Queue::Full),
            ((100, -100), Queue::Full),
            ((100, 100), Queue::NotFull),
            ((-100, -100), Queue::NotFull),
            ((31, -31), Queue::Unknown), // rounds to nothing
            ((32, -31), Queue::Full),
            ((-100, 100), Queue::Unknown),
        ];
        for ((min, max), expected) in rows {
            assert_eq!(after(1, &[(min, max)]).queue(Queue::Unknown), expected, "{min}, {max}");
        }
    }

    #[test]
    fn the_ack_of_a_single_packet_that_may_have_waited_only_lowers_the_smallest() {
        let mut trips = RoundTrips::default();
        let ack = |packets: u64, rtt_ms: u64| Ack {
            newly_acked: packets * 1000,
            rtt: Some(Span::from_millis(rtt_ms)),
            ..Ack::for_tests()
        };
        trips.take(&ack(2, 50), 1000);
        trips.take(&ack(1, 90), 1000); // 40 ms in the receiver
        assert_eq!(trips.current, Some(Extremes { min: 50_000, max: 50_000 }));
        trips.take(&ack(2, 50), 1000);
        trips.take(&ack(1, 45), 1000);
        assert_eq!(trips.current, Some(Extremes { min: 45_000, max: 50_000 }));
        trips.take(&ack(1, 60), 1000); // the receiver answers every packet
        assert_eq!(trips.current, Some(Extremes { min: 45_000, max: 60_000 }));
    }
}
