//! Packs standard input for the lab page: LZMA, to standard output.

use lzma_rust2::{LzmaOptions, LzmaWriter};
use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let mut content = Vec::new();
    io::stdin().read_to_end(&mut content)?;
    let mut options = LzmaOptions::with_preset(9);
    // The decoder takes as much memory: the whole content, and no more.
    options.dict_size = (content.len() as u32).next_power_of_two().max(4096);
    let mut packed = LzmaWriter::new_use_header(io::stdout().lock(), &options, Some(content.len() as u64))?;
    packed.write_all(&content)?;
    packed.finish()?.flush()
}
