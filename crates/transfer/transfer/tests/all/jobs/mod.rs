//! Whole jobs over real sockets on loopback.

mod breaks;
mod delta;
mod descriptors;
#[cfg(target_os = "linux")]
mod extras;
#[cfg(target_os = "linux")]
mod forbidden;
mod full;
#[cfg(unix)]
mod hard_links;
mod hostile;
#[cfg(target_os = "linux")]
mod inside;
mod mirror;
#[cfg(target_os = "linux")]
mod mounted;
mod moves;
#[cfg(unix)]
mod named;
mod paces;
mod patterns;
mod quick;
mod sentences;
mod spared;
mod support;
#[cfg(target_os = "linux")]
mod times;
