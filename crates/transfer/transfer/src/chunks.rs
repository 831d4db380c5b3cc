//! Descriptions of a file's content, by which a sink finds what it has of it in an older version.
//!
//! # Model
//! First by place: the hash of each chunk group, which the file's tree has already. A group that hashes to the same at the
//! same offset of the older version need not travel. That covers changes in place and appended data. Then, for runs of at
//! least [`RUN`] bytes that remain, by content: both sides cut the bytes at marks of a rolling hash. An insertion moves all
//! that follows, and the cuts move with it. Hashes are cut to 16 bytes. To mislead a sink is not worth 2^64 attempts, since
//! the whole file is hashed before it gets its name.
//!
//! # Constants
//! A chunk has 16 KiB on average, as a chunk group, and more in files above 1 GiB, so that a sink's index has some 65 000 entries.
//! [`LEAST`]: smaller files travel in fewer packets than a description and its answer take round trips.
//!
//! # Source
//! W. Xia et al., "The Design of Fast Content-Defined Chunking for Data Deduplication Based Storage Systems", 2020, by the crate `fastcdc`.
//!
//! # Known bad cases
//! Compressed or encrypted files that changed have nothing in common with their older version: 0.25 % is described in vain. Chunks are
//! looked for in the older version of the same name only.

use crate::entry::GROUP_BYTES;
use fastcdc::v2020::StreamCDC;
use std::io::{self, Read};
use std::ops::RangeInclusive;

/// Smallest file that is described, bytes.
pub(crate) const LEAST: u64 = 64 * 1024;
/// Shortest run that is described by content, bytes.
pub(crate) const RUN: u64 = 8 * GROUP_BYTES;
/// Bytes of a hash in a description.
pub(crate) const HASH: usize = 16;
/// Entries that a sink's index has on average at most.
const INDEX: u64 = 64 * 1024;
/// The largest chunks that the crate makes, on average.
const LARGEST: u64 = 4 * 1024 * 1024;

/// A piece of a file.
pub(crate) struct Chunk {
    pub(crate) hash: [u8; HASH],
    pub(crate) length: u32,
}

/// Returns the average length of the chunks of a file whose newer version has `size` bytes.
fn average(size: u64) -> u64 {
    size.div_ceil(INDEX).next_power_of_two().clamp(GROUP_BYTES, LARGEST)
}

/// Returns the lengths of such chunks. Only the last of a range may be shorter.
pub(crate) fn lengths(size: u64) -> RangeInclusive<u32> {
    let average = average(size) as u32;
    average / 4..=average * 4
}

/// Cuts what is read, which belongs to a file whose newer version has `size` bytes, until `found` returns false.
pub(crate) fn each(
    content: impl Read,
    size: u64,
    mut found: impl FnMut(Chunk) -> io::Result<bool>,
) -> io::Result<()> {
    let average = average(size) as usize;
    for chunk in StreamCDC::new(content, average / 4, average, average * 4) {
        let chunk = chunk.map_err(io::Error::from)?;
        let length = u32::try_from(chunk.length).map_err(io::Error::other)?;
        if !found(Chunk { hash: short(blake3::hash(&chunk.data).as_bytes()), length })? {
            break;
        }
    }
    Ok(())
}

/// Returns the part of a hash that is described.
pub(crate) fn short(hash: &[u8; 32]) -> [u8; HASH] {
    let mut short = [0; HASH];
    short.copy_from_slice(&hash[..HASH]);
    short
}
