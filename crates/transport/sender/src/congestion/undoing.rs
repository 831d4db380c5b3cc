//! Losses and timeouts that turn out to be none.

use super::{sent, Congestion};
use crate::board::Flight;
use afteryou_base::Time;
use afteryou_cc::SpuriousLoss;

impl Congestion {
    /// Notes that these packets have arrived by these transmissions, see [`crate::Board::repaired`].
    #[inline]
    pub fn repaired(&mut self, packets: &[(u64, u64)]) {
        for (seq, number) in packets {
            if let Some(doubts) = &mut self.doubts {
                doubts.repair(*seq, *number);
            }
        }
    }

    /// Reports packets that were not lost to the controller. All reductions since `needless_since` were for nothing; so is a
    /// recovery that began no earlier, and it is over.
    fn report_spurious(&mut self, now: Time, flights: &[Flight], needless_since: Option<Time>) {
        let last = flights.len().saturating_sub(1);
        for (i, flight) in flights.iter().enumerate() {
            let undo = needless_since.is_some() && i == last;
            let since = needless_since.filter(|_| undo).unwrap_or_default();
            self.controller.on_spurious_loss(&SpuriousLoss { now, sent: sent(flight), undo, since });
        }
        if let Some(since) = needless_since {
            self.episode = self.episode.take().filter(|episode| episode.since < since);
            self.doubts = self.doubts.take().filter(|doubts| doubts.may_be_justified());
            self.refresh();
        }
    }

    /// Takes in the late arrival of transmissions with these numbers, which were taken for lost. Returns the number of
    /// losses that only their duplicates have shown to be none.
    pub fn arrived_late(&mut self, now: Time, numbers: &[u64]) -> u64 {
        let Some(doubts) = &mut self.doubts else { return 0 };
        let named = numbers.iter().filter_map(|number| doubts.arrive(*number)).collect();
        self.undo_if_justified(now, named)
    }

    /// Reports these packets, and if there was no loss at all since some time, those that only their duplicates have shown
    /// to be none. Returns the number of the latter.
    fn undo_if_justified(&mut self, now: Time, mut named: Vec<Flight>) -> u64 {
        let Some(doubts) = &mut self.doubts else { return 0 };
        let since = doubts.justified_since();
        let by_duplicates = since.map(|since| doubts.take_back(since)).unwrap_or_default();
        named.splice(0..0, by_duplicates.iter().copied());
        self.report_spurious(now, &named, since);
        by_duplicates.len() as u64
    }

    /// Takes in that the receiver got these packets twice, of which the first and the one after the last. Returns the number
    /// of losses that this has shown to be none.
    pub fn arrived_twice(&mut self, now: Time, packets: (u64, u64)) -> u64 {
        if let Some(doubts) = &mut self.doubts {
            doubts.arrive_twice(packets);
        }
        self.undo_if_justified(now, Vec::new())
    }

    /// Judges a timeout by the first ack that advances after it, which echoes the time `echoed`: nothing that left later has
    /// arrived. Returns whether the timeout was needless: what arrived had left before it (RFC 3522 §3.2). If all losses
    /// since were none, too, the recovery is over then, and the controller returns to the window of before (RFC 4015 §3.2,
    /// RFC 9438 §4.9.1).
    pub fn judge_timeout(&mut self, now: Time, echoed: Time) -> bool {
        let Some(first) = self.doubts.as_mut().and_then(|doubts| doubts.judge_timeout(echoed)) else {
            return false;
        };
        if let Some(episode) = &mut self.episode {
            episode.is_after_timeout = false;
        }
        self.undo_if_justified(now, vec![first]);
        true
    }
}
