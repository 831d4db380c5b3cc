//! Proportional rate reduction, RFC 9937: the bytes that may be sent on each ack of a recovery. The window comes down
//! to ssthresh evenly over the round trip instead of in one silent half.
//!
//! ```text
//!   start:  prr_delivered = prr_out = 0;  RecoverFS = in flight before the ack that started it, lost ones included
//!   ack:    prr_delivered += DeliveredData
//!           inflight > ssthresh:  sndcnt = ⌈Σ DeliveredData · ssthresh / RecoverFS⌉ − prr_out
//!           else:                 sndcnt = min(ssthresh − inflight, max(prr_delivered − prr_out, DeliveredData) + SMSS if SafeACK)
//!           nothing sent yet and sndcnt = 0:  sndcnt = SMSS
//!           cwnd = inflight + sndcnt
//! ```
//! Source: RFC 9937 §6.2; the proportional part is rounded up to whole segments, as in the example of §8. SafeACK: snd.una
//! advanced and this ack shows no further loss. The sum is the RFC's prr_delivered · ssthresh as long as ssthresh is
//! constant. Where a controller lowers it on the way (a mark, a delay), what was sent by the higher one is not held against
//! the lower one. Otherwise nothing would leave for a while. A further loss that lowers it begins a new account.

/// A recovery's account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prr {
    delivered: u64,
    out: u64,
    /// Sum of the bytes delivered by each ack times ssthresh then.
    share: u128,
    recover_fs: u64,
    window: u64,
}

/// The fields of an ack of the recovery.
#[derive(Clone, Copy, Debug)]
pub struct AckInRecovery {
    /// Bytes that it delivered.
    pub delivered: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// The window to come down to.
    pub ssthresh: u64,
    /// It advanced and shows no further loss.
    pub safe: bool,
    /// A full segment.
    pub smss: u64,
}

impl Prr {
    /// Begins a recovery; `recover_fs` is RecoverFS.
    pub fn start(recover_fs: u64) -> Prr {
        Prr { recover_fs: recover_fs.max(1), ..Prr::default() }
    }

    /// Accounts for an ack, the one that started the recovery included.
    pub fn on_ack(&mut self, ack: AckInRecovery) {
        if ack.delivered == 0 {
            return;
        }
        self.delivered += ack.delivered;
        self.share += u128::from(ack.delivered) * u128::from(ack.ssthresh);
        let mut sndcnt = if ack.in_flight > ack.ssthresh {
            let share = self.share.div_ceil(u128::from(self.recover_fs)) as u64;
            share.next_multiple_of(ack.smss).saturating_sub(self.out)
        } else {
            let grow = if ack.safe { ack.smss } else { 0 };
            let limit = self.delivered.saturating_sub(self.out).max(ack.delivered) + grow;
            (ack.ssthresh - ack.in_flight).min(limit)
        };
        if self.out == 0 && sndcnt == 0 {
            sndcnt = ack.smss;
        }
        self.window = ack.in_flight + sndcnt;
    }

    /// Accounts for bytes that were sent.
    pub fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// Returns the window now, bytes.
    pub fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cumulative_allowance_is_half_of_what_is_delivered_rounded_up() {
        // ssthresh 10, RecoverFS 20, one packet delivered by each ack.
        let (mut prr, mut in_flight) = (Prr::start(20), 19);
        let mut allowed = Vec::new();
        for _ in 0..6 {
            prr.on_ack(AckInRecovery { delivered: 1, in_flight, ssthresh: 10, safe: false, smss: 1 });
            let sending = prr.window() - in_flight;
            prr.sent(sending);
            in_flight = in_flight + sending - 1;
            allowed.push(prr.out);
        }
        assert_eq!(allowed, [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_window_that_is_lowered_on_the_way_slows_the_sender_and_does_not_silence_it() {
        let (mut prr, mut in_flight) = (Prr::start(40), 39);
        let mut sent = Vec::new();
        for ack in 0..16 {
            let ssthresh = if ack < 8 { 20 } else { 10 };
            prr.on_ack(AckInRecovery { delivered: 1, in_flight, ssthresh, safe: false, smss: 1 });
            let sending = prr.window() - in_flight;
            prr.sent(sending);
            in_flight = in_flight + sending - 1;
            sent.push(sending);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn the_first_retransmission_is_forced_and_slow_start_needs_a_safe_ack() {
        let mut prr = Prr::start(20);
        prr.on_ack(AckInRecovery { delivered: 1, in_flight: 5, ssthresh: 5, safe: false, smss: 1 });
        assert_eq!(prr.window(), 6);
        let refill = |safe| {
            let mut prr = Prr::start(20);
            prr.on_ack(AckInRecovery { delivered: 1, in_flight: 2, ssthresh: 10, safe, smss: 1 });
            prr.window() - 2
        };
        assert_eq!((refill(false), refill(true)), (1, 2));
    }
}
