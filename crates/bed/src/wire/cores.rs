//! The cores of threads: the wire has one to itself where there are several.

use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::unistd::Pid;

/// The calling thread.
const SELF: Pid = Pid::from_raw(0);

/// The cores that the calling thread may use.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(SELF) else { return Vec::new() };
    (0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false)).collect()
}

/// The calling thread, and threads and programs that it starts from now on, run on these cores. Without any nothing changes.
pub fn run_on(cores: &[usize]) {
    let mut set = CpuSet::new();
    let added = cores.iter().filter(|core| set.set(**core).is_ok()).count();
    if added > 0 {
        // A core may have been taken away meanwhile; then the thread stays where it is.
        let _ = sched_setaffinity(SELF, &set);
    }
}
