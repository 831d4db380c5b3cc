//! Which of an ack's delays a controller steers by.
//!
//! Round-trip and one-way delays must never share a history. One-way delays carry the unknown offset of two clocks, so
//! beside a single round-trip time they look like a huge queue, or like none. The rule for "one-way":
//!
//! ```text
//!   the RTT serves ──first one-way sample: forget base and current delay──▶ one-way samples only, for good
//! ```
//!
//! After that an ack without a one-way sample adds nothing.
//!
//! Over TCP the one-way sample may be older than its ack. The ack of several paced packets echoes the first one's
//! timestamp, which waited for the last one. The ack of a packet out of order echoes the last one in order (RFC 7323
//! §4.3). The age of the echo less the newest packet's round-trip time is that waiting, whatever clocks and the reverse
//! path do, and is taken off.
//!
//! Source: RFC 6817 §2.3 and draft-irtf-iccrg-ledbat-plus-plus-01 §4.5 name the signals; neither says what to do where
//! one-way samples are missing, so the fallback is ours.

use crate::base_delay::difference;
use crate::event::Ack;
use afteryou_base::param::Key;

/// The parameter `signal`, by default one-way delays.
pub const SIGNAL: Key<DelaySignal> =
    Key::choice("signal", &["one-way", "rtt"], &[DelaySignal::OneWayAwaited, DelaySignal::Rtt])
        .explained("delay that is measured; until the first one-way sample the RTT serves", "RFC 6817 §2.3");

/// The delay that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelaySignal {
    /// Round-trip times.
    Rtt,
    /// One-way delays; no ack has brought one yet, so round-trip times replace them.
    OneWayAwaited,
    /// One-way delays.
    OneWay,
}

impl DelaySignal {
    /// Returns the ack's sample of the kind in use, if it has one; `one_way_us` is its one-way delay, corrected or not. The
    /// flag is set if the samples so far were of another kind and must be forgotten.
    pub fn sample(&mut self, ack: &Ack, one_way_us: Option<u32>) -> (Option<u32>, bool) {
        let forget = *self == DelaySignal::OneWayAwaited && one_way_us.is_some();
        if forget {
            *self = DelaySignal::OneWay;
        }
        let sample = match self {
            DelaySignal::Rtt | DelaySignal::OneWayAwaited => rtt_us(ack),
            DelaySignal::OneWay => one_way_us,
        };
        (sample, forget)
    }

    /// Returns whether the samples are round-trip times, so that the base delay is one.
    pub fn is_rtt(self) -> bool {
        self != DelaySignal::OneWay
    }
}

/// Returns the ack's round-trip time in µs, below half of the circle that delays are compared on.
pub fn rtt_us(ack: &Ack) -> Option<u32> {
    ack.rtt.map(|rtt| rtt.as_micros().min(u64::from(u32::MAX >> 1)) as u32)
}

/// Returns the one-way delay of the newest packet that the ack covers, µs.
pub fn one_way_us(ack: &Ack) -> Option<u32> {
    let sample = ack.one_way_delay?;
    let (Some(rtt_us), Some(reverse)) = (rtt_us(ack), ack.reverse_delay) else { return Some(sample) };
    let echo_age = sample.wrapping_add(reverse);
    let waited = difference(echo_age, rtt_us).max(0) as u32;
    Some(sample.wrapping_sub(waited))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledbat_core::{Delay, Kept};
    use afteryou_base::units::{Span, Time};

    #[test]
    fn what_the_echoed_packet_waited_for_the_newest_one_is_no_delay() {
        // A queue of 10 ms there and 30 ms back over 25 ms each way, and 36 ms between the two packets.
        for offset in [0u32, 7_000_000, 0x8000_0000] {
            let there = |us: u32| Some(us.wrapping_add(offset));
            let reverse_delay = Some(55_000u32.wrapping_sub(offset));
            let spaced = Ack { reverse_delay, ..ack(Some(90), there(71_000)) };
            assert_eq!(one_way_us(&spaced), there(35_000));
            assert_eq!(one_way_us(&Ack { reverse_delay, ..ack(Some(90), there(35_000)) }), there(35_000));
            assert_eq!(one_way_us(&ack(Some(90), there(71_000))), there(71_000));
        }
    }

    fn ack(rtt_ms: Option<u64>, one_way_us: Option<u32>) -> Ack {
        let now = Time::from_millis(100);
        Ack { now, rtt: rtt_ms.map(Span::from_millis), one_way_delay: one_way_us, ..Ack::for_tests() }
    }

    /// Returns base and queuing delay after `acks`.
    fn after(mut signal: DelaySignal, acks: &[Ack]) -> (Option<u32>, Option<u32>, DelaySignal) {
        let kept = Kept { minutes: 10, samples: 4 };
        let mut delay = Delay::<10, 4, 0>::NEW;
        for ack in acks {
            let (sample, forget) = signal.sample(ack, ack.one_way_delay);
            if forget {
                delay.clear();
            }
            if let Some(delay_us) = sample {
                delay.take(&kept, ack.now.0, delay_us);
            }
        }
        (delay.base_us(&kept), delay.queuing_us(&kept, 0, u64::MAX), signal)
    }

    #[test]
    fn round_trip_times_serve_only_until_the_first_one_way_sample() {
        let rtt = ack(Some(50), None);
        assert_eq!(
            after(DelaySignal::OneWayAwaited, &[rtt, rtt]),
            (Some(50_000), Some(0), DelaySignal::OneWayAwaited)
        );
        // 7 s of clock offset, above and below the RTT on the circle.
        for one_way in [7_000_000, 7_000_000u32.wrapping_neg()] {
            let both = ack(Some(50), Some(one_way));
            let expected = (Some(one_way), Some(0), DelaySignal::OneWay);
            assert_eq!(after(DelaySignal::OneWayAwaited, &[rtt, rtt, both]), expected);
            assert_eq!(after(DelaySignal::OneWayAwaited, &[rtt, both, rtt, rtt, rtt, rtt, rtt]), expected);
        }
    }

    #[test]
    fn with_round_trip_times_chosen_one_way_samples_are_ignored() {
        let acks = [ack(Some(50), Some(9)), ack(Some(60), Some(9)), ack(None, Some(9))];
        assert_eq!(after(DelaySignal::Rtt, &acks), (Some(50_000), Some(0), DelaySignal::Rtt));
    }
}
