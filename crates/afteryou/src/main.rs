//! The `afteryou` command.

use std::process::ExitCode;

/// Bytes of the largest block for which glibc moves its thresholds on 64 bits (`DEFAULT_MMAP_THRESHOLD_MAX`), less its header and the
/// rounding to pages.
const LARGEST: usize = (32 << 20) - (64 << 10);

fn main() -> ExitCode {
    keep_freed_memory();
    afteryou::cli::main(std::env::args_os())
}

/// Lets glibc's allocator keep freed memory rather than return every 128 KiB of it to the system.
///
/// A transfer frees and takes some 100 kB for each batch of packets: given back each time, those pages cost a tenth of its processor
/// time. Once a block of its own mapping was freed, glibc maps only larger ones and trims only twice as much (mallopt(3),
/// `M_MMAP_THRESHOLD`). Other allocators notice nothing.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGEST)));
}
