//! The delay now: the minimum of the newest few samples.
//!
//! A minimum ignores single late packets (delayed acks, scheduling) and still sees a queue that lasts, because then
//! every sample is high.
//!
//! Source: RFC 6817 §2.4.2 (`FILTER`), §2.5 (CURRENT_FILTER at least 4 samples per round trip, none older than one);
//! draft-irtf-iccrg-ledbat-plus-plus-01 §4.5 (minimum of the 4 newest).

use crate::base_delay::difference;
use afteryou_base::units::{Span, Time};

/// Samples kept by default (RFC 6817 §2.5, draft §4.5).
pub const CURRENT_FILTER: usize = 4;
/// The most samples that can be asked for.
pub const MAX_SAMPLES: usize = 16;

/// A ring of the newest samples.
#[derive(Clone, Debug)]
pub struct CurrentDelay {
    samples: [(Time, u32); MAX_SAMPLES],
    len: usize,
    filled: usize,
    next: usize,
}

impl CurrentDelay {
    /// Keeps `samples` samples, 1 to [`MAX_SAMPLES`].
    pub fn new(samples: usize) -> CurrentDelay {
        let len = samples.clamp(1, MAX_SAMPLES);
        CurrentDelay { samples: [(Time::ZERO, 0); MAX_SAMPLES], len, filled: 0, next: 0 }
    }

    /// Takes in a sample of `delay_us` µs (modulo 2^32).
    pub fn push(&mut self, now: Time, delay_us: u32) {
        self.samples[self.next] = (now, delay_us);
        self.next = (self.next + 1) % self.len;
        self.filled = (self.filled + 1).min(self.len);
    }

    /// Returns the smallest excess over `base_us` among the samples not older than `max_age`, in µs, not below zero.
    pub fn queuing_us(&self, base_us: u32, now: Time, max_age: Span) -> Option<u32> {
        let fresh = |&&(at, _): &&(Time, u32)| now.since(at) <= max_age;
        let excess = |&(_, delay): &(Time, u32)| difference(delay, base_us).max(0) as u32;
        self.samples[..self.filled].iter().filter(fresh).map(excess).min()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_late_sample_is_ignored_and_a_lasting_queue_is_not() {
        let mut current = CurrentDelay::new(CURRENT_FILTER);
        assert_eq!(current.queuing_us(0, Time::ZERO, Span::MAX), None);
        for delay in [30, 31, 90, 32] {
            current.push(Time::ZERO, delay);
        }
        assert_eq!(current.queuing_us(20, Time::ZERO, Span::MAX), Some(10));
        for delay in [90, 91, 92, 93] {
            current.push(Time::ZERO, delay);
        }
        assert_eq!(current.queuing_us(20, Time::ZERO, Span::MAX), Some(70));
    }

    #[test]
    fn samples_older_than_asked_for_do_not_count() {
        let mut current = CurrentDelay::new(CURRENT_FILTER);
        current.push(Time::from_millis(0), 10);
        current.push(Time::from_millis(90), 50);
        assert_eq!(current.queuing_us(0, Time::from_millis(120), Span::from_millis(100)), Some(50));
        assert_eq!(current.queuing_us(0, Time::from_millis(300), Span::from_millis(100)), None);
    }

    #[test]
    fn any_clock_offset_leaves_the_queuing_delay_unchanged() {
        for offset in [0u32, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0] {
            let mut current = CurrentDelay::new(CURRENT_FILTER);
            current.push(Time::ZERO, offset.wrapping_add(70));
            assert_eq!(current.queuing_us(offset.wrapping_add(20), Time::ZERO, Span::MAX), Some(50));
        }
    }
}
