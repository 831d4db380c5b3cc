//! The processor time of a thread.

/// Returns the CPU time so far, s; 0 where the system does not report it.
#[cfg(unix)]
pub(super) fn of_this_thread() -> f64 {
    use rustix::time::{clock_gettime, ClockId};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(not(unix))]
pub(super) fn of_this_thread() -> f64 {
    0.0
}
