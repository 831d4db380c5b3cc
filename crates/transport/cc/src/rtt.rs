//! Round-trip time estimation after RFC 6298, and the smallest and latest samples beside it.

use afteryou_base::units::Span;

/// Lower bound of the retransmission timeout: RFC 6298 §2.4 says 1 s; deployed stacks use less.
pub const RFC_6298_MIN_RTO: Span = Span::from_secs(1);
/// Timeout before the first sample (RFC 6298 §2.1).
pub const INITIAL_RTO: Span = Span::from_secs(1);

/// Smoothed round-trip time, its variation, and extremes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttEstimator {
    smoothed: Option<Span>,
    variation: Span,
    min: Option<Span>,
    latest: Span,
}

impl RttEstimator {
    /// Takes a sample in (RFC 6298 §2.2, §2.3).
    #[inline]
    pub fn update(&mut self, sample: Span) {
        self.latest = sample;
        self.min = Some(self.min.map_or(sample, |min| min.min(sample)));
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(sample);
            self.variation = sample / 2;
            return;
        };
        let deviation = Span(smoothed.0.abs_diff(sample.0));
        self.variation = self.variation - self.variation / 4 + deviation / 4;
        self.smoothed = Some(smoothed - smoothed / 8 + sample / 8);
    }

    /// Returns the smoothed round-trip time, if there was a sample.
    pub fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// Returns the mean deviation.
    pub fn variation(&self) -> Span {
        self.variation
    }

    /// Returns the smallest sample so far.
    pub fn min(&self) -> Option<Span> {
        self.min
    }

    /// Returns the newest sample.
    pub fn latest(&self) -> Span {
        self.latest
    }

    /// Returns the retransmission timeout: `SRTT + max(granularity, 4 × RTTVAR)`, at least `min_rto` (RFC 6298 §2.2–2.4).
    #[inline]
    pub fn rto(&self, granularity: Span, min_rto: Span) -> Span {
        match self.smoothed {
            None => INITIAL_RTO,
            Some(smoothed) => (smoothed + (self.variation * 4).max(granularity)).max(min_rto),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_second_sample_follow_rfc_6298() {
        let mut rtt = RttEstimator::default();
        rtt.update(Span::from_millis(100));
        assert_eq!(rtt.smoothed(), Some(Span::from_millis(100)));
        assert_eq!(rtt.variation(), Span::from_millis(50));
        assert_eq!(rtt.rto(Span::ZERO, Span::ZERO), Span::from_millis(300));
        assert_eq!(rtt.rto(Span::ZERO, RFC_6298_MIN_RTO), Span::from_secs(1));
        rtt.update(Span::from_millis(200));
        assert_eq!(rtt.smoothed(), Some(Span::from_micros(112_500)));
        assert_eq!(rtt.variation(), Span::from_micros(62_500));
        assert_eq!(rtt.rto(Span::ZERO, Span::ZERO), Span::from_micros(362_500));
    }
}
