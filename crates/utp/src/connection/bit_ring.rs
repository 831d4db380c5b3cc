//! A set of packets within a sliding window, one bit each, read 64 at a time.
//!
//! Bitmaps on the wire cover up to 2016 packets and come with every packet while there is a gap: to look at each bit of
//! each of them would cost more than all the rest of a connection.

/// Packets that the window spans: whoever uses the ring never holds two that are further apart.
pub const SPAN: usize = 16_384;
const WORDS: usize = SPAN / 64;

/// The set. It takes memory once something is in it.
#[derive(Debug, Default)]
pub struct BitRing {
    words: Option<Box<[u64; WORDS]>>,
}

impl BitRing {
    /// Memory in use, bytes.
    pub fn memory(&self) -> u64 {
        if self.words.is_some() {
            size_of::<[u64; WORDS]>() as u64
        } else {
            0
        }
    }

    /// Adds packet `index`.
    pub fn insert(&mut self, index: u64) {
        self.words.get_or_insert_with(|| Box::new([0; WORDS]))[slot(index)] |= 1 << (index % 64);
    }

    /// Takes packet `index` out.
    pub fn remove(&mut self, index: u64) {
        if let Some(words) = &mut self.words {
            words[slot(index)] &= !(1 << (index % 64));
        }
    }

    /// Is packet `index` in the set?
    pub fn contains(&self, index: u64) -> bool {
        self.words.as_ref().is_some_and(|words| words[slot(index)] >> (index % 64) & 1 == 1)
    }

    /// Packets `from` to `from + 63`, the first in the lowest bit.
    pub fn word(&self, from: u64) -> u64 {
        let Some(words) = &self.words else { return 0 };
        let (low, high) = (words[slot(from)], words[slot(from.wrapping_add(64))]);
        match from % 64 {
            0 => low,
            shift => low >> shift | high << (64 - shift),
        }
    }
}

/// The word that packet `index` is in.
fn slot(index: u64) -> usize {
    (index / 64) as usize % WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_at_any_packet_and_wraps_around_the_ring() {
        let mut ring = BitRing::default();
        assert_eq!(ring.word(77), 0);
        for index in [16_380u64, 16_384, 16_440] {
            ring.insert(index);
        }
        assert_eq!(ring.word(16_380), 1 | 1 << 4 | 1 << 60);
        assert_eq!(ring.word(16_384), 1 | 1 << 56);
        ring.remove(16_384);
        assert!(ring.contains(16_380) && !ring.contains(16_384));
        assert_eq!(ring.word(16_377), 1 << 3 | 1 << 63);
    }
}
