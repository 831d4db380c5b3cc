//! libutp's retransmission timeout, in whole milliseconds as libutp computes it.
//!
//! ```text
//!   delta = rtt − sample;  var += (|delta| − var)/4;  rtt = rtt − rtt/8 + sample/8;  rto = max(rtt + max(G, 4·var), min)
//! ```
//! G covers the peer's delay of an acknowledgement, which a steady round trip of more than `min` leaves no room for (RFC 6298 §2.3;
//! libutp has none).
//!
//! The backed-off timeout stays until a round trip has been measured (RFC 6298 §5, Karn's algorithm). An ack of a packet that was sent
//! again is no measurement by itself: where the round trip is longer than the timeout there would never be one.
//!
//! Source: BEP 29 ("timeouts", min 500 ms, first 1000 ms); libutp takes 1000 ms and 3000 ms. Not imitated: libutp forgets the
//! backoff with each packet that is acknowledged.

use afteryou_base::Span;
use afteryou_sender::timers::Backoff;

/// Timeout before the first sample, and of the SYN (libutp; BEP 29 says 1 s).
pub const INITIAL: Span = Span::from_secs(3);
/// Lower bound in BEP 29.
pub const BEP_MIN: Span = Span::from_millis(500);
/// Lower bound in libutp.
pub const LIBUTP_MIN: Span = Span::from_millis(1000);

/// Room for a delayed acknowledgement, ms: libutp's, and the granularity that RFC 6298 §4 recommends.
const GRANULARITY_MS: i64 = 100;

/// Estimator and backoff.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    rtt_ms: i64,
    var_ms: i64,
    sampled: bool,
    min: Span,
    backoff: Backoff,
}

impl Rto {
    /// Creates an estimator without samples; `min` bounds the timeout from below.
    pub fn new(min: Span) -> Rto {
        Rto { rtt_ms: 0, var_ms: 0, sampled: false, min, backoff: Backoff::default() }
    }

    /// Takes in a round-trip time that belongs to one transmission beyond doubt. The timeout no longer backs off.
    pub fn update(&mut self, rtt: Span) {
        self.backoff.reset();
        let sample_ms = (rtt.as_nanos() / 1_000_000).min(1 << 32) as i64;
        if !self.sampled {
            (self.rtt_ms, self.var_ms, self.sampled) = (sample_ms, sample_ms / 2, true);
            return;
        }
        let delta = self.rtt_ms - sample_ms;
        self.var_ms += (delta.abs() - self.var_ms) / 4;
        self.rtt_ms = self.rtt_ms - self.rtt_ms / 8 + sample_ms / 8;
    }

    /// Returns the timeout now, backoff included.
    pub fn get(&self) -> Span {
        let base = match self.sampled {
            false => INITIAL,
            true => {
                let room_ms = (4 * self.var_ms).max(GRANULARITY_MS);
                Span::from_millis((self.rtt_ms + room_ms).max(0) as u64).max(self.min)
            }
        };
        self.backoff.apply(base)
    }

    /// Doubles the timeout after an expiry.
    pub fn back_off(&mut self) {
        self.backoff.back_off();
    }

    /// Limits the backoff to `doublings` from here: the peer is there, only busy.
    pub fn limit_backoff(&mut self, doublings: u32) {
        self.backoff.limit(doublings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_sender::timers::MAX_RTO;

    #[test]
    fn a_sample_moves_rtt_and_variation_as_libutp_does() {
        for (min, expected_ms) in [(LIBUTP_MIN, 1000), (BEP_MIN, 500), (Span::ZERO, 338)] {
            let mut rto = Rto { rtt_ms: 100, var_ms: 50, sampled: true, min, backoff: Backoff::default() };
            rto.update(Span::from_millis(180));
            assert_eq!((rto.var_ms, rto.rtt_ms), (57, 110));
            assert_eq!(rto.get(), Span::from_millis(expected_ms));
        }
    }

    #[test]
    fn a_steady_round_trip_leaves_room_for_a_delayed_acknowledgement() {
        let mut rto = Rto::new(BEP_MIN);
        (0..100).for_each(|_| rto.update(Span::from_secs(4)));
        assert_eq!(rto.get(), Span::from_millis(4100));
    }

    #[test]
    fn each_expiry_doubles_until_a_round_trip_is_measured() {
        let mut rto = Rto::new(BEP_MIN);
        assert_eq!(rto.get(), INITIAL);
        rto.back_off();
        assert_eq!(rto.get(), Span::from_secs(6));
        (0..40).for_each(|_| rto.back_off());
        assert_eq!(rto.get(), MAX_RTO);
        rto.update(Span::from_millis(200));
        assert_eq!(rto.get(), Span::from_millis(600));
    }

    #[test]
    fn the_rfc_6817_timeout_doubles_from_one_second() {
        let mut rto =
            Rto { rtt_ms: 100, var_ms: 50, sampled: true, min: LIBUTP_MIN, backoff: Backoff::default() };
        let doubled: Vec<u64> = (0..3)
            .map(|_| {
                let now = rto.get().as_nanos() / 1_000_000_000;
                rto.back_off();
                now
            })
            .collect();
        assert_eq!(doubled, [1, 2, 4]);
    }
}
