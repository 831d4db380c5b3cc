//! Admission, disks and jobs, over real sockets on loopback.

mod alone;
mod disk;
mod door;
#[cfg(target_os = "linux")]
mod git;
mod half_open;
mod jobs;
mod over_ssh;
mod security_page;
