//! Bytes of a TCP stream, from segments that are counted.
//!
//! An engine numbers segments. All are full but those at the end of an application's write. So the place of a segment
//! in the stream follows from its number and from the short segments before it.

/// The segments of a connection.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Payload of a full segment, bytes.
    full: u64,
    /// The highest number seen so far, and one more.
    next: u64,
    /// After each short segment: its number and one more, and the bytes that are missing up to there.
    short: Vec<(u64, u64)>,
}

impl Segments {
    /// Creates the segments of a connection whose full segments have a payload of `full` bytes.
    pub fn of(full: u64) -> Segments {
        Segments { full, next: 0, short: Vec::new() }
    }

    /// Notes a segment; the low half of its number identifies it.
    pub fn see(&mut self, number: u32, payload: u64) {
        let number = self.expand(number);
        if number < self.next {
            return;
        }
        self.next = number + 1;
        let missing = self.full.saturating_sub(payload);
        if missing > 0 {
            self.short.push((number + 1, self.missing_before(number) + missing));
        }
    }

    /// Returns the place of a segment in the stream, bytes from its beginning.
    pub fn place(&self, number: u32) -> u64 {
        let number = self.expand(number);
        (number * self.full).saturating_sub(self.missing_before(number))
    }

    fn missing_before(&self, number: u64) -> u64 {
        let before = self.short.partition_point(|(from, _)| *from <= number);
        before.checked_sub(1).map_or(0, |last| self.short[last].1)
    }

    /// Returns the number near the highest one that has this low half.
    fn expand(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.next as u32) as i32;
        self.next.saturating_add_signed(ahead.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_segment_moves_all_that_follow() {
        let mut segments = Segments::of(1000);
        for (number, payload) in [(0, 1000), (1, 300), (2, 1000), (1, 300), (3, 1), (4, 1000)] {
            segments.see(number, payload);
        }
        let places = [0, 1, 2, 3, 4, 5].map(|number| segments.place(number));
        assert_eq!(places, [0, 1000, 1300, 2300, 2301, 3301]);
    }

    #[test]
    fn numbers_go_on_beyond_32_bits() {
        let mut segments = Segments::of(1);
        segments.next = u64::from(u32::MAX);
        segments.see(u32::MAX, 1);
        segments.see(0, 1);
        assert_eq!(segments.place(0), 1 << 32);
        assert_eq!(segments.place(u32::MAX), (1 << 32) - 1);
    }
}
