//! Selective acknowledgement: a bitmap of what arrived beyond the first gap.
//!
//! Bit `k`, counted from the least significant bit of byte `k / 8`, is set if packet `ack_nr + 2 + k` has arrived; `ack_nr +
//! 1` is missing by definition. The length is a multiple of 4 bytes, at least 4.

/// Longest bitmap we write: 2016 packets. The length is one byte on the wire, so 252 is the last multiple of 4.
pub const MAX_LEN: usize = 252;
/// Length of libutp's bitmaps, which every peer reads.
pub const SHORT_LEN: usize = 4;
/// Bits that libutp fills of its four bytes.
pub const SHORT_BITS: usize = 30;

/// A bitmap as it came or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack<'a> {
    mask: &'a [u8],
}

impl<'a> Sack<'a> {
    /// Creates a bitmap; `mask` is cut at 255 bytes, more cannot be written.
    pub fn new(mask: &'a [u8]) -> Sack<'a> {
        Sack { mask: &mask[..mask.len().min(255)] }
    }

    /// Returns a bitmap that shows nothing received, in the shortest of long bitmaps.
    pub const fn of_zeros() -> Sack<'static> {
        Sack { mask: &[0; 2 * SHORT_LEN] }
    }

    /// Returns the bytes.
    pub fn mask(&self) -> &'a [u8] {
        self.mask
    }

    /// Returns whether the bitmap is longer than any libutp writes: its sender reads such bitmaps, too.
    pub fn is_long(&self) -> bool {
        self.mask.len() > SHORT_LEN
    }

    /// Returns the offsets from `ack_nr + 1` of the packets that arrived, ascending.
    pub fn received(&self) -> impl Iterator<Item = usize> + 'a {
        let bits = |(byte, bits): (usize, &'a u8)| {
            (0..8).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| byte * 8 + bit)
        };
        self.mask.iter().enumerate().flat_map(bits).map(|k| k + 1)
    }

    /// Returns the bits 64 at a time, the first one lowest; beyond the end there are zeros.
    pub fn words(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + 'a {
        let (whole, rest) = self.mask.as_chunks::<8>();
        (0..self.mask.len().div_ceil(8)).map(move |at| match whole.get(at) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        })
    }

    /// Returns the number of packets from `ack_nr + 1` on that this bitmap covers: whatever lies beyond is unknown.
    ///
    /// A short bitmap covers 31 packets, because libutp leaves the last two of 32 bits unused. If it is all zeros, as
    /// after a long burst of losses, all 31 are missing. A long one, which only we write, is cut off at [`MAX_LEN`]
    /// alone.
    pub fn covers(&self) -> usize {
        match self.mask.len() {
            MAX_LEN.. => 1 + MAX_LEN * 8,
            len if len > SHORT_LEN => usize::MAX,
            len => 1 + self.received().last().unwrap_or(0).max((len * 8).min(SHORT_BITS)),
        }
    }
}

/// Writes the bitmap of a receiver into `mask` and returns its length.
///
/// `arrived(offset)` returns whether packet `ack_nr + 1 + offset` is there, for offsets up to `beyond` exclusive. A
/// `long` bitmap has at least 8 bytes, so its length alone distinguishes it from a short one.
pub fn write(mask: &mut [u8; MAX_LEN], beyond: usize, long: bool, arrived: impl Fn(usize) -> bool) -> usize {
    let bit = |k: usize| u64::from(k + 1 < beyond && arrived(k + 1));
    let word = |from: usize| (0..64).fold(0, |word, bit_at| word | bit(from + bit_at) << bit_at);
    write_words(mask, beyond, long, (0..).step_by(64).map(word))
}

/// Writes the bitmap with 64 packets at a time. `words` has the bits in order, the first one lowest, and none for packets
/// from `beyond` on.
pub fn write_words(
    mask: &mut [u8; MAX_LEN],
    beyond: usize,
    long: bool,
    words: impl IntoIterator<Item = u64>,
) -> usize {
    let mut words = words.into_iter();
    let bits = beyond.saturating_sub(1);
    if !long {
        let bits = words.next().unwrap_or(0) as u32 & ((1 << SHORT_BITS) - 1);
        mask[..SHORT_LEN].copy_from_slice(&bits.to_le_bytes());
        return SHORT_LEN;
    }
    let len = (bits.div_ceil(32) * 4).clamp(2 * SHORT_LEN, MAX_LEN);
    let (whole, rest) = mask[..len].as_chunks_mut::<8>();
    whole.iter_mut().zip(words.by_ref()).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    rest.copy_from_slice(&words.next().unwrap_or(0).to_le_bytes()[..rest.len()]);
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ack_nr: usize, arrived: &[usize], long: bool) -> Vec<u8> {
        let mut mask = [0; MAX_LEN];
        let beyond = arrived.iter().max().unwrap() - ack_nr;
        let len = write(&mut mask, beyond, long, |offset| arrived.contains(&(ack_nr + 1 + offset)));
        mask[..len].to_vec()
    }

    #[test]
    fn packets_102_103_and_105_after_100_are_0b() {
        assert_eq!(written(100, &[102, 103, 105], false), [0x0B, 0, 0, 0]);
    }

    #[test]
    fn a_short_bitmap_ends_at_30_packets_and_a_long_one_at_2016() {
        let far: Vec<usize> = (102..=3000).collect();
        assert_eq!(written(100, &far, false), [0xFF, 0xFF, 0xFF, 0x3F]);
        assert_eq!(written(100, &far, true), [0xFF; MAX_LEN]);
        assert_eq!(written(100, &[102], true).len(), 8);
        assert_eq!(written(100, &[102 + 64], true).len(), 12);
    }

    #[test]
    fn what_is_written_reads_back() {
        let arrived = [102, 103, 140, 700];
        let mask = written(100, &arrived, true);
        let read: Vec<usize> = Sack::new(&mask).received().map(|offset| 101 + offset).collect();
        assert_eq!(read, arrived);
    }

    #[test]
    fn beyond_what_a_bitmap_covers_nothing_is_known() {
        assert_eq!(Sack::new(&[0x0B, 0, 0, 0]).covers(), 31);
        assert_eq!(Sack::new(&[0; 4]).covers(), 31);
        assert_eq!(Sack::new(&[0, 0, 0, 0x80]).covers(), 33);
        assert_eq!(Sack::new(&[0xFF; 12]).covers(), usize::MAX);
        assert_eq!(Sack::new(&[0; MAX_LEN]).covers(), 2017);
    }
}
