//! Differences between operating systems: precise waiting. Both modules have the same [`Poller`].

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

#[cfg(target_os = "linux")]
pub(super) use linux::Poller;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::Poller;
