//! A set of packets within a sliding window, one bit each, read 64 at a time.
//!
//! Bitmaps on the wire cover up to 2016 packets and come with every packet while there is a gap: to look at each bit of
//! each of them would cost more than all the rest of a connection.

/// Packets that the window spans: users of the ring never hold two that are further apart.
pub const SPAN: usize = 16_384;
const WORDS: usize = SPAN / 64;
/// The words of an empty set.
static NONE: [u64; WORDS] = [0; WORDS];

/// The set. It takes memory once something is in it.
#[derive(Debug, Default)]
pub struct BitRing {
    words: Option<Box<[u64; WORDS]>>,
}

impl BitRing {
    /// Returns the memory in use, bytes.
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

    /// Returns whether packet `index` is in the set.
    pub fn contains(&self, index: u64) -> bool {
        self.words.as_ref().is_some_and(|words| words[slot(index)] >> (index % 64) & 1 == 1)
    }

    /// Returns the bits of packets `from` to `from + 63`, the first in the lowest bit, then the 64 after them, and so on
    /// without end.
    pub fn words(&self, from: u64) -> impl Iterator<Item = u64> + '_ {
        let words = self.words.as_deref().unwrap_or(&NONE);
        let (shift, mut at) = (from % 64, slot(from));
        let mut low = words[at];
        std::iter::from_fn(move || {
            at = (at + 1) % WORDS;
            let high = words[at];
            // Two shifts, since one by 64 is none.
            let word = low >> shift | high << 1 << (63 - shift);
            low = high;
            Some(word)
        })
    }
}

/// Returns the word that packet `index` is in.
fn slot(index: u64) -> usize {
    (index / 64) as usize % WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_at_any_packet_and_wraps_around_the_ring() {
        let mut ring = BitRing::default();
        let word = |ring: &BitRing, from| ring.words(from).next();
        assert_eq!(word(&ring, 77), Some(0));
        for index in [16_380u64, 16_384, 16_440] {
            ring.insert(index);
        }
        assert_eq!(word(&ring, 16_380), Some(1 | 1 << 4 | 1 << 60));
        assert_eq!(word(&ring, 16_384), Some(1 | 1 << 56));
        assert_eq!(ring.words(16_256).take(4).collect::<Vec<_>>(), [0, 1 << 60, 1 | 1 << 56, 0]);
        ring.remove(16_384);
        assert!(ring.contains(16_380) && !ring.contains(16_384));
        assert_eq!(word(&ring, 16_377), Some(1 << 3 | 1 << 63));
    }
}
