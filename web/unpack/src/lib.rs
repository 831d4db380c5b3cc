//! Unpacks the lab page's engine.
//!
//! Browsers unpack gzip themselves, but LZMA makes the engine a quarter smaller. This module is so small that it costs a tenth of
//! the gain. `pack`, an example, is the other direction.
//!
//! The module costs 33 kB. wasm-opt was tried on the engine: it made the module a fifth smaller and its gzip larger.

#[cfg(target_family = "wasm")]
mod wasm;

use lzma_rust2::LzmaReader;
use std::io::{self, Read};

/// An engine is smaller than this, bytes.
pub const MOST: u64 = 1 << 25;

/// Memory of the decoder, kibibytes: its dictionary is as large as the content.
const MOST_MEMORY_KIB: u32 = 1 << 16;

/// Returns the content of a `.lzma` file.
///
/// # Errors
/// Bytes that are no such file, and content of more than [`MOST`] bytes.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    LzmaReader::new_mem_limit(packed, MOST_MEMORY_KIB, None)?.take(MOST + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MOST {
        return Err(io::Error::other("the content is longer than an engine"));
    }
    Ok(content)
}
