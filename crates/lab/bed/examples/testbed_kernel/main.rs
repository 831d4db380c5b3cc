//! The rules inside the kernel, beside the same rules in the simulator over TCP and in the testbed over uTP.
//!
//! ```text
//! testbed_kernel [--runs 5] [--at-once N] [--only TEXT] [--check]
//! ```
//!
//! As root, in a build with the feature `kernel`. A background flow has 20 Mbit/s for itself. Then the kernel's CUBIC comes and stays. Figures
//! are medians of runs that the machine was fast enough for. The background's start is drawn within the first 2 s, the same in all engines. Its
//! silence is the longest time in which the link sends nothing of it, in any run.
//!
//! Shares may differ between the kernel and the simulator by 6 points, and no silence may be longer than 3 s. CUBIC stays from 10 s to 25 s.
//!
//! Rows with uTP have CUBIC from 15 s to 45 s. There all three may differ by 6 points in shares and by 15 % in mean queues. `kept` is CUBIC's
//! goodput over that of a run without the background: over its stay at least 0.92, from 2 s on at least 0.98. Ebb and LEDBAT++ alone have
//! at least 0.93 of the link, and a queue of at most 25 ms and 75 ms in 95 % of the packets.
//!
//! With `--check` the program exits 1 if a bound is missed.

#[cfg(target_os = "linux")]
mod figures;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: the testbed runs on Linux only");
}
