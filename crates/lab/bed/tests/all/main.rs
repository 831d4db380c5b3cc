//! The relay and whole scenarios, on real sockets.

mod common;
#[cfg(target_os = "linux")]
mod kernel_queues;
#[cfg(target_os = "linux")]
mod kernel_rules;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod recorded;
mod relay_packets;
mod relay_timing;
mod relay_tos;
mod run;
#[cfg(target_os = "linux")]
mod steered;
#[cfg(target_os = "linux")]
mod testbed;
#[cfg(target_os = "linux")]
mod testbed_agreement;
