//! Losses: step back, and look whether the path is empty then.
//!
//! ```text
//!   loss ─▶ six round trips at 0.9 of the window ─▶ path empty in less than half of them:         congestion
//!                                                   losses became rarer than by chance:           congestion
//!                                                   enough losses expected, and they came:        random; ignored for 2, 4, … 16 s
//!                                                   too few expected:                             ignored for 1 s
//! ```
//! If the path is empty after the step back, the queue has no packets of others: the loss was random, or harms nobody.

use super::units::{part, ratio, saturated, Ratio16};

/// Round trips of a step back, and its least time, µs.
const LOW_ROUNDS: u64 = 6;
const LOW_LEAST_US: u64 = 150_000;
/// Losses to expect before their number says something.
const ENOUGH16: u64 = 6 << 16;
/// Fewer than this part of the expected losses came: they follow the window.
const FEWER: Ratio16 = ratio(0.35);
const UNDECIDED_US: u64 = 1_000_000;
const RANDOM_US: u32 = 2_000_000;
const RANDOM_MOST_US: u32 = 16_000_000;
/// Packets after which the loss rate forgets half.
const MEMORY_PACKETS: u32 = 20_000;

/// The meaning of the losses of a step back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Somebody stands in the queue.
    Congested,
    /// They do not follow from the window.
    Random,
    /// Nobody stands in the queue; more is not known.
    Undecided,
}

/// Losses and what was expected.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// When the step back began; without one, until when losses are ignored.
    since: u64,
    /// Expected losses, 16 fractional bits.
    expected16: u64,
    /// How long the step back lasts, µs; zero: there is none.
    lasts_us: u32,
    /// How long random losses were ignored the last time, µs.
    ignored_us: u32,
    observed: u32,
    packets_outside: u32,
    lost_outside: u32,
    packets_within: u32,
    /// Bytes lost in the ramp.
    pub of_ramp: u32,
    rounds: u16,
    empty_rounds: u16,
}

impl Losses {
    /// Returns whether a step back is on.
    pub fn is_low(&self) -> bool {
        self.lasts_us != 0
    }

    /// Takes in delivered packets.
    pub fn delivered(&mut self, packets: u32) {
        self.count_packets(packets);
    }

    fn count_packets(&mut self, packets: u32) {
        if self.is_low() {
            self.packets_within = self.packets_within.saturating_add(packets);
            return;
        }
        self.packets_outside = self.packets_outside.saturating_add(packets);
        if self.packets_outside > MEMORY_PACKETS {
            (self.packets_outside, self.lost_outside) = (self.packets_outside / 2, self.lost_outside / 2);
        }
    }

    /// Takes in the loss of a packet that left at `sent_at`. Returns whether a step back is due.
    pub fn lost(&mut self, now: u64, sent_at: u64) -> bool {
        self.count_packets(1);
        if self.is_low() && sent_at >= self.since {
            self.observed = self.observed.saturating_add(1);
            return false;
        }
        self.lost_outside = self.lost_outside.saturating_add(1);
        !self.is_low() && now >= self.since
    }

    /// Begins a step back.
    pub fn step_back(&mut self, now: u64, rtt_us: u64) {
        let lasts_us = lasts_us(rtt_us);
        *self = Losses { since: now, lasts_us, rounds: 0, empty_rounds: 0, packets_within: 0, ..*self };
    }

    /// Shortens a step back to round trips of now: the one at the loss had a long queue in it.
    pub fn shorten(&mut self, rtt_us: u64) {
        self.lasts_us = self.lasts_us.min(lasts_us(rtt_us));
    }

    /// Takes in a round. Returns the verdict if the step back is over.
    pub fn round(&mut self, now: u64, is_empty: bool) -> Option<Verdict> {
        if !self.is_low() {
            return None;
        }
        self.rounds = self.rounds.saturating_add(1);
        self.empty_rounds = self.empty_rounds.saturating_add(u16::from(is_empty));
        (now.saturating_sub(self.since) >= self.lasts_us.into()).then(|| self.judge(now))
    }

    /// Ends a step back without a verdict: the rule has something better to do.
    pub fn abandon(&mut self) {
        self.lasts_us = 0;
    }

    fn judge(&mut self, now: u64) -> Verdict {
        self.lasts_us = 0;
        // The loss that began it would make the rate too large.
        let lost = self.lost_outside.saturating_sub(1);
        let rate16 = (u64::from(lost) << 16).checked_div(self.packets_outside.into()).unwrap_or(0);
        self.expected16 = self.expected16.saturating_add(rate16 * u64::from(self.packets_within));
        let observed16 = u64::from(self.observed) << 16;
        let is_enough = self.expected16 > ENOUGH16;
        let is_occupied = 2 * u32::from(self.empty_rounds) < self.rounds.into();
        if is_occupied || (is_enough && observed16 < part(self.expected16, FEWER)) {
            self.forget();
            self.forget_rate();
            self.ignored_us = 0;
            return Verdict::Congested;
        }
        if !is_enough {
            self.since = now.saturating_add(UNDECIDED_US);
            return Verdict::Undecided;
        }
        self.forget();
        self.ignored_us = (2 * self.ignored_us).clamp(RANDOM_US, RANDOM_MOST_US);
        self.since = now.saturating_add(self.ignored_us.into());
        Verdict::Random
    }

    fn forget(&mut self) {
        (self.expected16, self.observed) = (0, 0);
    }

    /// Forgets how often packets are lost: the losses so far were those of an overflow.
    pub fn forget_rate(&mut self) {
        (self.packets_outside, self.lost_outside) = (0, 0);
    }
}

/// Returns how long a step back lasts, µs.
fn lasts_us(rtt_us: u64) -> u32 {
    saturated((LOW_ROUNDS * rtt_us).max(LOW_LEAST_US))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: u64 = 50_000;

    /// Returns the verdict of a step back of a hundred packets a round trip.
    fn verdict(losses: &mut Losses, now: u64, within: u32, empty: bool) -> Verdict {
        losses.step_back(now, RTT);
        for i in 1..=6 {
            losses.delivered(100);
            (0..within).for_each(|_| assert!(!losses.lost(now + i, now + i)));
            if let Some(verdict) = losses.round(now + i * RTT, empty) {
                return verdict;
            }
        }
        unreachable!("six round trips are over")
    }

    #[test]
    fn losses_that_come_as_before_on_an_empty_path_are_random_and_ignored_longer_each_time() {
        let (mut losses, mut now) = (Losses::default(), 0);
        for seconds in [2, 4, 8, 16, 16] {
            losses.delivered(1000);
            for _ in 0..20 {
                losses.lost(now, now);
            }
            assert_eq!(verdict(&mut losses, now, 1, true), Verdict::Random);
            now += 6 * RTT;
            assert!(!losses.lost(now + seconds * 1_000_000 - 1, now));
            assert!(losses.lost(now + seconds * 1_000_000, now));
            now += seconds * 1_000_000;
        }
    }

    #[test]
    fn a_queue_that_stays_and_losses_that_cease_are_congestion() {
        for (within, empty) in [(1, false), (0, true)] {
            let mut losses = Losses::default();
            losses.delivered(1000);
            assert!((0..20).all(|_| losses.lost(0, 0)));
            assert_eq!(verdict(&mut losses, 0, within, empty), Verdict::Congested, "{within}");
        }
    }

    #[test]
    fn a_single_loss_on_an_empty_path_leaves_it_undecided() {
        let mut losses = Losses::default();
        losses.delivered(10_000);
        assert!(losses.lost(0, 0));
        assert_eq!(verdict(&mut losses, 0, 0, true), Verdict::Undecided);
        assert!(!losses.lost(6 * RTT + 999_999, RTT) && losses.lost(6 * RTT + 1_000_000, RTT));
    }
}
