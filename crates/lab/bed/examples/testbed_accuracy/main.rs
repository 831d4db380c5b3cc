//! The accuracy of the testbed: delivered rate and base round-trip time over a grid, under a load of UDP and one of the
//! kernel's TCP.
//!
//! ```text
//! testbed_accuracy [--seconds S] [--rates 0.25,2,20,200] [--trips 2,10,40,400] [--check]
//! ```
//!
//! The rate is that of bytes leaving the link, as a part of the link's rate, under loads that fill it. The round-trip
//! time is that of ICMP echoes before the load begins. The kernel answers them, and stamps them as they enter and leave the
//! device, so no program's wake-ups or system calls are in it. Sending on the two links is subtracted. With `--check` the
//! program fails where the bounds do not hold: 1 % of the rate, and for the median 0.5 ms, or 0.2 ms up to 10 ms.

#[cfg(target_os = "linux")]
mod echoes;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: the testbed runs on Linux only");
}
