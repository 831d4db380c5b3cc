//! The processor time of the rules inside the kernel, beside the kernel's CUBIC.
//!
//! ```text
//! kernel_cost [--rounds 15] [--check]
//! ```
//!
//! As root, in a build with the feature `kernel`. A connection moves 1 GB over a pair of veth between two network namespaces, sender and
//! receiver on a core each. A round has CUBIC with nothing loaded, then CUBIC, each rule, and BBR if the kernel has it, while rules are loaded. The time is that of this
//! process, in which the kernel handles its packets, and of the kernel's threads `ksoftirqd`. Ratios are medians over the rounds, each to CUBIC with
//! nothing loaded in the same round. With `--check` the program exits 1 if a rule takes more than 1.1, or CUBIC beside what is loaded more than
//! 1.02.

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod linux;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
use linux::main;

#[cfg(not(all(feature = "kernel", target_os = "linux", target_endian = "little")))]
fn main() {
    println!("SKIPPED: this build has no kernel part; on Linux, build it with --features kernel");
}
