//! The optional slow start of a LEDBAT controller: not at all, until ssthresh, or until a queue shows.
//!
//! RFC 6817 §2.2 makes slow start optional; the conservative sender begins at INIT_CWND and only steers. Doubling until a
//! loss puts a whole buffer in everybody's way first; with the delay exit of LEDBAT++ it stops below TARGET.
//!
//! Source: RFC 6817 §2.2, RFC 5681 §3.1, draft-irtf-iccrg-ledbat-plus-plus-01 §4.1.

use crate::fixed::{to_16, Bytes16};
use afteryou_base::param::{Key, Settings};
use afteryou_base::Span;

/// The parameter `slow_start`.
pub const SLOW_START: Key<Policy> = Key::choice(
    "slow_start",
    &["none", "rfc5681", "delay"],
    &[Policy::None, Policy::Rfc5681, Policy::DelayExit],
)
.explained("exponential start: not at all, until ssthresh, or until the delay exit", "RFC 6817 §2.2");
/// The parameter `slow_start_exit`.
pub const SLOW_START_EXIT: Key<f64> = Key::number("slow_start_exit", "of target", 0.75, (0.05, 1.0))
    .explained("queuing delay at which slow_start = delay ends", "LEDBAT++ draft-01 §4.1");

/// How far the window grows exponentially.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Not at all.
    None,
    /// Until ssthresh.
    Rfc5681,
    /// Until a queue shows.
    DelayExit,
}

/// Whether and how the window grows exponentially.
#[derive(Clone, Copy, Debug)]
pub struct SlowStart {
    policy: Policy,
    exit_us: u64,
    ssthresh: u64,
    is_on: bool,
}

impl SlowStart {
    /// Creates the rule from the values of [`SLOW_START`], [`SLOW_START_EXIT`] and `target`.
    pub fn new(settings: &Settings<'_>, target: &Key<Span>) -> SlowStart {
        let (policy, target_us) = (settings.get(&SLOW_START), settings.get(target).as_micros());
        SlowStart {
            policy,
            exit_us: (target_us * to_16(settings.get(&SLOW_START_EXIT))) >> 16,
            ssthresh: u64::MAX,
            is_on: policy != Policy::None,
        }
    }

    /// Returns whether the window is in its exponential phase.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns the threshold for snapshots, bytes.
    pub fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh != u64::MAX).then_some(self.ssthresh)
    }

    /// Returns the window after an ack of `acked` bytes in slow start. Each byte adds a byte, up to ssthresh. By RFC 5681 §3.1,
    /// eq. 2, one ack adds at most a packet of `mss` bytes; the delay exit needs no such bound.
    pub fn grow(&mut self, cwnd: Bytes16, acked: u64, mss: u64, queuing_us: Option<u32>) -> Bytes16 {
        let queue_stands = queuing_us.is_some_and(|queuing| u64::from(queuing) > self.exit_us);
        if self.policy == Policy::DelayExit && queue_stands {
            self.end(cwnd);
            return cwnd;
        }
        let counted = if self.policy == Policy::Rfc5681 { acked.min(mss) } else { acked };
        let grown = cwnd.plus(Bytes16::from_bytes(counted)).min(cwnd.max(Bytes16::from_bytes(self.ssthresh)));
        self.is_on = grown.to_bytes() < self.ssthresh;
        grown
    }

    /// Ends at a window of `cwnd`: a loss, or a standing queue.
    pub fn end(&mut self, cwnd: Bytes16) {
        self.ssthresh = cwnd.to_bytes();
        self.is_on = false;
    }

    /// Begins again after a timeout, unless there is no slow start at all. RFC 5681 §3.1: ssthresh is set at the first
    /// expiry only, or an outage would erase it.
    pub fn begin_again(&mut self, consecutive: u32, flightsize: u64, mss: u64) {
        if consecutive == 1 {
            self.ssthresh = (flightsize / 2).max(2 * mss);
        }
        self.is_on = self.policy != Policy::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledbat::{PARAMS, TARGET};
    use afteryou_base::param::Value;

    fn slow_start(policy: &'static str) -> SlowStart {
        let overrides = [("slow_start", Value::Choice(policy))];
        SlowStart::new(&Settings::new(PARAMS, &overrides).unwrap(), &TARGET)
    }

    #[test]
    fn slow_start_ends_at_ssthresh_and_not_beyond() {
        for policy in ["rfc5681", "delay"] {
            let mut slow_start = slow_start(policy);
            slow_start.begin_again(1, 40_000, 1000);
            let bytes = Bytes16::from_bytes;
            assert_eq!(slow_start.grow(bytes(18_000), 1000, 1000, None), bytes(19_000));
            assert!(slow_start.is_on());
            assert_eq!(slow_start.grow(bytes(19_500), 1000, 1000, None), bytes(20_000));
            assert!(!slow_start.is_on());
            let above = slow_start.grow(bytes(25_000), 1000, 1000, None);
            assert_eq!(above, bytes(25_000), "nor does it take anything away");
        }
    }

    #[test]
    fn an_ack_of_several_packets_adds_one_by_rfc_5681_and_all_with_the_delay_exit() {
        for (policy, packets) in [("rfc5681", 11), ("delay", 12)] {
            let grown = slow_start(policy).grow(Bytes16::from_bytes(10_000), 2000, 1000, None);
            assert_eq!(grown, Bytes16::from_bytes(1000 * packets), "{policy}");
        }
    }
}
