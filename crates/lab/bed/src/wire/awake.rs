//! Keeps idle cores from sleeping deeply while a wire runs.
//!
//! An idle core takes some 50 µs to wake up for a packet or a timer. Each way over the wire pays for it several times.
//! The kernel keeps its cores awake as long as a program holds `/dev/cpu_dma_latency` open with the longest tolerable
//! wake-up. See Linux, power management quality of service. Cores draw more power for the time of a run.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// The longest wake-up that is borne, µs: a 32-bit number in the machine's byte order.
const LONGEST_US: i32 = 0;

/// Returns the request, which ends when this is dropped; `None` where the system does not have it or does not allow it.
pub fn request() -> Option<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&LONGEST_US.to_ne_bytes()).ok()?;
    Some(file)
}
