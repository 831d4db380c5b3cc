//! Base delay and present delay: the smallest samples of the last minutes, and the newest few samples.
//!
//! # The base needs no empty minutes
//! Place `i` of the history does not hold the smallest sample of minute `i`, but that of minute `i` **and all later ones**:
//!
//! ```text
//!   minute            0    1    2    3       a sample of 46 ms:      50   45   80   70
//!   its samples'min   50   45   –    70      in minute 3              ▼    ▼    ▼    ▼
//!   since minute      45   45   70   70                              45   45   46   46
//! ```
//! The oldest place is the base delay. A minute without samples is no special case, and a sample touches only the places that
//! it lowers, most often none.
//!
//! Source: RFC 6817 §2.4.2 (`update_base_delay`, `FILTER`), §2.5 (BASE_HISTORY, CURRENT_FILTER); draft-irtf-iccrg-
//! ledbat-plus-plus-01 §4.5.

const MINUTE_NS: u64 = 60_000_000_000;

/// Returns `a - b` on the circle of 2^32 µs: negative if `a` is the smaller delay.
#[inline]
pub fn difference(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

/// Lengths of the base history and of the filter of current delays; at least one of each.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Minutes that the base delay remembers, at most as many as the state has places.
    pub minutes: u32,
    /// Newest samples of which the smallest is the present delay, at most as many as the state has places.
    pub samples: u32,
}

/// Delays measured. `OLDER` is one less than `SAMPLES`, or 0 where samples of any age count.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay<const MINUTES: usize, const SAMPLES: usize, const OLDER: usize> {
    /// When the newest sample was taken, ns.
    pub sampled_at: u64,
    /// Smallest sample of each minute and all later ones, µs; the newest minute is last.
    pub since: [u32; MINUTES],
    /// Newest samples, µs; the newest is first.
    pub samples: [u32; SAMPLES],
    /// Age of each sample after the first, beyond that of the one before it, ns; [`u32::MAX`] is too old in any case.
    pub gaps: [u32; OLDER],
    /// Samples held.
    pub count: u16,
    /// 1 once there is a base.
    pub is_known: u16,
}

/// The change that a sample has made to the newest minute of the base history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Minutes that have begun.
    pub minutes: u64,
    /// The sample is the newest minute's smallest.
    pub is_smallest: bool,
}

impl<const MINUTES: usize, const SAMPLES: usize, const OLDER: usize> Delay<MINUTES, SAMPLES, OLDER> {
    /// Nothing measured yet.
    pub const NEW: Self = Delay {
        sampled_at: 0,
        since: [0; MINUTES],
        samples: [0; SAMPLES],
        gaps: [0; OLDER],
        count: 0,
        is_known: 0,
    };

    /// Takes in a sample of `delay_us` µs at `now` ns.
    #[inline]
    pub fn take(&mut self, kept: &Kept, now: u64, delay_us: u32) -> Taken {
        // §2.4.2: the step is at the minute of the clock, not 60 s after the last one; minutes without samples pass, too.
        let minutes = match self.is_known {
            0 => MINUTES as u64,
            _ => (now / MINUTE_NS).saturating_sub(self.sampled_at / MINUTE_NS),
        };
        let is_smallest = take_minimum(&mut self.since, minutes, delay_us);
        self.is_known = 1;
        self.push(kept, now, delay_us);
        Taken { minutes, is_smallest }
    }

    /// Puts a sample before the others.
    #[inline]
    fn push(&mut self, kept: &Kept, now: u64, delay_us: u32) {
        self.samples.copy_within(..SAMPLES - 1, 1);
        self.samples[0] = delay_us;
        if OLDER > 0 {
            let gap = now.saturating_sub(self.sampled_at).min(u32::MAX.into()) as u32;
            self.gaps.copy_within(..OLDER - 1, 1);
            self.gaps[0] = gap;
        }
        self.count = (self.count + 1).min(kept.samples as u16).min(SAMPLES as u16);
        self.sampled_at = self.sampled_at.max(now);
    }

    /// Returns the base delay, µs modulo 2^32, if there is one.
    #[inline]
    pub fn base_us(&self, kept: &Kept) -> Option<u32> {
        let oldest = MINUTES.saturating_sub(kept.minutes as usize);
        (self.is_known != 0).then(|| self.since[oldest.min(MINUTES - 1)])
    }

    /// Returns the smallest excess over the base among the samples not older than `max_age` ns ([`u64::MAX`]: of any age), µs.
    #[inline]
    pub fn queuing_us(&self, kept: &Kept, now: u64, max_age: u64) -> Option<u32> {
        let base_us = self.base_us(kept)?;
        let [newest, older @ ..] = &self.samples[..usize::from(self.count).min(SAMPLES)] else { return None };
        let excess = |sample: u32| difference(sample, base_us);
        let mut smallest = excess(*newest);
        if OLDER == 0 || max_age == u64::MAX {
            older.iter().for_each(|sample| smallest = smallest.min(excess(*sample)));
            return Some(smallest.max(0) as u32);
        }
        // The greatest age of a sample beyond that of the newest. The greatest gap represents all longer ones.
        let newest_age = now.saturating_sub(self.sampled_at);
        let mut room = max_age.checked_sub(newest_age)?.min(u64::from(u32::MAX) - 1) as u32;
        for (sample, gap) in older.iter().zip(&self.gaps) {
            match room.checked_sub(*gap) {
                Some(rest) => room = rest,
                None => break, // and so are those after it
            }
            smallest = smallest.min(excess(*sample));
        }
        Some(smallest.max(0) as u32)
    }

    /// Forgets the present and keeps the base: silence has passed (RFC 6817 §2.4.2).
    pub fn forget_present(&mut self) {
        self.count = 0;
    }

    /// Forgets everything: the samples to come are of another kind.
    pub fn clear(&mut self) {
        (self.count, self.is_known) = (0, 0);
    }

    /// Replaces the base's history by a single sample.
    pub fn restart_base(&mut self, base_us: u32) {
        self.since.fill(base_us);
    }

    /// Makes the base's history of each minute's smallest sample, the oldest minute first.
    pub fn rebuild_base(&mut self, minutes: impl DoubleEndedIterator<Item = Option<u32>>) {
        let mut smallest = None;
        for (place, minute) in self.since.iter_mut().rev().zip(minutes.rev()) {
            smallest = match (smallest, minute) {
                (Some(least), Some(us)) if difference(us, least) >= 0 => Some(least),
                (least, us) => us.or(least),
            };
            *place = smallest.unwrap_or(*place);
        }
    }

    /// Raises the base by `us` µs modulo 2^32: the clock that the samples come from has gained that much.
    pub fn shift_base(&mut self, us: u32) {
        self.since.iter_mut().for_each(|place| *place = place.wrapping_add(us));
    }
}

/// Takes a sample into a history of smallest delays since each minute, after `minutes` new ones have begun. Returns whether it
/// is the newest minute's smallest.
#[inline]
pub fn take_minimum(since: &mut [u32], minutes: u64, delay_us: u32) -> bool {
    let places = since.len();
    let new = minutes.min(places as u64) as usize;
    if new > 0 {
        since.copy_within(new.., 0);
        since[places - new..].fill(delay_us);
    }
    let mut is_smallest = new > 0;
    for place in since[..places - new].iter_mut().rev() {
        if difference(delay_us, *place) >= 0 {
            break;
        }
        *place = delay_us;
        is_smallest = true;
    }
    is_smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: Kept = Kept { minutes: 10, samples: 4 };
    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_place_holds_the_smallest_delay_since_its_minute() {
        let mut since = [0; 4];
        for (minutes, delay_us) in [(4, 50), (1, 45), (2, 70)] {
            assert!(take_minimum(&mut since, minutes, delay_us));
        }
        assert_eq!(since, [45, 45, 70, 70]);
        assert!(!take_minimum(&mut since, 0, 70));
        assert!(take_minimum(&mut since, 0, 46));
        assert_eq!(since, [45, 45, 46, 46]);
        assert!(take_minimum(&mut since, 100, 90));
        assert_eq!(since, [90; 4]);
    }

    #[test]
    fn ten_idle_minutes_forget_the_base() {
        let mut delay = Delay::<10, 4, 3>::NEW;
        delay.take(&KEPT, 0, 50_000);
        delay.take(&KEPT, 599 * SECOND, 90_000);
        assert_eq!(delay.base_us(&KEPT), Some(50_000));
        delay.take(&KEPT, 1260 * SECOND, 90_000);
        assert_eq!(delay.base_us(&KEPT), Some(90_000));
    }

    #[test]
    fn samples_older_than_asked_for_do_not_count() {
        let mut delay = Delay::<10, 4, 3>::NEW;
        for (at, delay_us) in [(0, 10), (SECOND, 40), (2 * SECOND, 50)] {
            delay.take(&KEPT, at, delay_us);
        }
        let queuing = |now, max_age| delay.queuing_us(&KEPT, now, max_age);
        assert_eq!(queuing(2 * SECOND, u64::MAX), Some(0));
        assert_eq!(queuing(3 * SECOND, 2 * SECOND), Some(30));
        assert_eq!(queuing(3 * SECOND, SECOND), Some(40));
        assert_eq!(queuing(3 * SECOND, SECOND - 1), None);
        delay.take(&KEPT, 100 * SECOND, 60);
        assert_eq!(
            delay.queuing_us(&KEPT, 100 * SECOND, 50 * SECOND),
            Some(50),
            "98 s before the newest is too old"
        );
        assert_eq!(delay.queuing_us(&KEPT, 100 * SECOND, u64::MAX), Some(0));
    }

    #[test]
    fn a_clock_offset_of_any_size_changes_no_queuing_delay() {
        for offset in [0u32, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0] {
            let mut delay = Delay::<10, 4, 0>::NEW;
            delay.take(&KEPT, 0, offset.wrapping_add(20));
            (0..4).for_each(|_| _ = delay.take(&KEPT, SECOND, offset.wrapping_add(70)));
            assert_eq!(delay.queuing_us(&KEPT, SECOND, u64::MAX), Some(50));
        }
    }
}
