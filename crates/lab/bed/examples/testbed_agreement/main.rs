//! The simulator beside the testbed: 29 scenarios of the kernel's CUBIC, Reno and BBR, and of LEDBAT++, LEDBAT and libutp over uTP,
//! through six queues. 27 more are of ebb over uTP; `--only ebb` selects them.
//!
//! ```text
//! testbed_agreement [--runs N] [--seconds 40] [--at-once N] [--only TEXT] [--check] [--kernel-queues]
//! ```
//!
//! Each scenario runs with 24 seeds in the simulator and at least three times in the testbed. Where the simulator's seeds differ
//! much in their shares, or alone in their utilisation, it runs so often that the mean's standard error is 2 points at most. The bounds are
//! on means. Utilisation may differ by 3 points, the first flow's share of the goodput by 6 points. Mean queuing delay may differ
//! by 15 % or 3 ms (1 ms where it is below 10 ms). Where BBR takes part, the bounds are on medians of at least five runs, nine beside CUBIC:
//! the share may differ by 8 points and the queue by 25 %. Where ebb takes part, 2 ms replace the 3 ms and the 1 ms, and alone its utilisation
//! may differ by 6 points. Several testbeds run at once, each with a core for its wire. A run that the machine was too slow for is repeated
//! alone. `--runs` asks for fewer runs: then a scenario that is out of bounds runs as often as above before it counts. With `--check` the
//! program fails if a scenario is out of bounds. With `--kernel-queues` the testbed has the queues of the kernel that it runs on.

#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod rows;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: the testbed runs on Linux only");
}
