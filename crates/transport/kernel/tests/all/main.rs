//! The rules in C beside those in Rust, event by event: compiled for this machine, as eBPF, and as controllers of its kernel.

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod background;
mod clang;
mod compiled;
mod ebb;
mod event;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod in_ebpf;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod job;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod loaded;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod network;
mod object;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod paced;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod pinned;
mod random;
mod recorded;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod routes;
mod rules;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod turn;
mod vectors;
