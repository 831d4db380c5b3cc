//! RACK's reordering window: how late a packet may be before it counts as lost (RFC 8985 §6.2, step 4).

use afteryou_base::Span;
use afteryou_cc::rtt::RttEstimator;

/// Recoveries without a D-SACK after which the window shrinks again.
const PERSISTENCE: u32 = 16;
/// SACKed segments at which, without reordering seen, a loss counts at once.
const ENOUGH_SACKED: u64 = 3;
/// Largest multiple of min RTT / 4.
const MAX_MULTIPLE: u64 = 64;

/// The reordering that is allowed for.
#[derive(Clone, Copy, Debug)]
pub struct Reordering {
    /// Segments were seen to overtake one another.
    pub seen: bool,
    multiple: u64,
    /// Recoveries that the multiple still lasts.
    persists: u32,
    /// Losses that were none count once a round: they count from this transmission on.
    round: u64,
    /// D-SACKs so far.
    dsacks: u64,
}

/// A sender's position in its rounds.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Number of the newest transmission known to have arrived.
    pub newest: u64,
    /// Number of the next one.
    pub next: u64,
}

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { seen: false, multiple: 1, persists: PERSISTENCE, round: 0, dsacks: 0 }
    }
}

impl Reordering {
    /// Widens the window, if it may: the receiver reports that something came twice, when the sender has sent `resent`
    /// packets again.
    pub fn on_dsack(&mut self, progress: Rounds, resent: u64) {
        self.dsacks += 1;
        // Otherwise the network makes copies, and D-SACKs show nothing (RFC 3708 §3; Linux compares the same two counters).
        if self.dsacks <= resent {
            self.on_spurious(progress);
        }
    }

    /// Widens the window for a packet that was taken for lost and has arrived late.
    pub fn on_spurious(&mut self, Rounds { newest, next }: Rounds) {
        if newest >= self.round {
            self.round = next;
            self.multiple = (self.multiple + 1).min(MAX_MULTIPLE);
        }
        self.persists = PERSISTENCE;
    }

    /// Counts a recovery that has ended.
    pub fn on_recovery_end(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.multiple = 1;
        }
    }

    /// Returns the window; `sacked` is the number of segments that SACK has reported.
    pub fn window(&self, in_recovery: bool, sacked: u64, rtt: &RttEstimator) -> Span {
        if !self.seen && (in_recovery || sacked >= ENOUGH_SACKED) {
            return Span::ZERO;
        }
        let (min, smoothed) = (rtt.min().unwrap_or_default(), rtt.smoothed().unwrap_or_default());
        (min * self.multiple / 4).min(smoothed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::default();
        rtt.update(Span::from_millis(100));
        rtt
    }

    #[test]
    fn without_reordering_three_sacked_segments_or_a_recovery_close_the_window() {
        let mut reordering = Reordering::default();
        let windows = |reordering: &Reordering| {
            [(false, 2), (false, 3), (true, 0)]
                .map(|(recovery, sacked)| reordering.window(recovery, sacked, &rtt()))
        };
        let quarter = Span::from_millis(25);
        assert_eq!(windows(&reordering), [quarter, Span::ZERO, Span::ZERO]);
        reordering.seen = true;
        assert_eq!(windows(&reordering), [quarter; 3]);
    }

    #[test]
    fn d_sacks_widen_it_once_a_round_up_to_the_round_trip_and_sixteen_recoveries_shrink_it() {
        let mut reordering = Reordering { seen: true, ..Reordering::default() };
        let ms = |reordering: &Reordering| reordering.window(false, 0, &rtt()).as_micros() / 1000;
        reordering.on_dsack(Rounds { newest: 10, next: 20 }, 100);
        reordering.on_spurious(Rounds { newest: 19, next: 30 });
        assert_eq!(ms(&reordering), 50, "both belong to one round");
        (0..9).for_each(|i| reordering.on_dsack(Rounds { newest: 20 + 10 * i, next: 30 + 10 * i }, 100));
        assert_eq!(ms(&reordering), 100);
        (0..15).for_each(|_| reordering.on_recovery_end());
        assert_eq!(ms(&reordering), 100);
        reordering.on_recovery_end();
        assert_eq!(ms(&reordering), 25);
    }

    #[test]
    fn more_d_sacks_than_packets_sent_again_are_copies_made_by_the_network() {
        let mut reordering = Reordering { seen: true, ..Reordering::default() };
        let ms = |reordering: &Reordering| reordering.window(false, 0, &rtt()).as_micros() / 1000;
        (0..3).for_each(|i| reordering.on_dsack(Rounds { newest: 10 * i, next: 10 * i + 10 }, 1));
        assert_eq!(ms(&reordering), 50, "one of three");
        reordering.on_spurious(Rounds { newest: 30, next: 40 });
        assert_eq!(ms(&reordering), 75, "a late packet is no copy");
    }
}
