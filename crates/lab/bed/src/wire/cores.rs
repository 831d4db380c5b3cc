//! The cores of threads: the wire has one to itself where there are several.

use afteryou_base::lock::EvenPoisoned;
use nix::sched::{sched_getaffinity, sched_setaffinity, CpuSet};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The calling thread.
const SELF: Pid = Pid::from_raw(0);

/// Returns the cores that the calling thread may use.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(SELF) else { return Vec::new() };
    (0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false)).collect()
}

/// Cores that wires of this process have.
static CLAIMED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// A core that no other wire of this process has, until this is dropped.
#[derive(Debug)]
pub struct Claim {
    core: usize,
}

impl Claim {
    /// Claims the last free core; none if no other one would be left for the rest of the program.
    pub fn last_free() -> Option<Claim> {
        let mut claimed = CLAIMED.lock().even_poisoned();
        let mut free = allowed();
        free.retain(|core| !claimed.contains(core));
        let core = free.pop().filter(|_| !free.is_empty())?;
        claimed.insert(core);
        Some(Claim { core })
    }

    /// Returns the core.
    pub fn core(&self) -> usize {
        self.core
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        CLAIMED.lock().even_poisoned().remove(&self.core);
    }
}

/// Lets the calling thread, and threads and programs that it starts from now on, run on these cores. Without any nothing
/// changes.
pub fn run_on(cores: &[usize]) {
    let mut set = CpuSet::new();
    let added = cores.iter().filter(|core| set.set(**core).is_ok()).count();
    if added > 0 {
        // A core may have been taken away meanwhile; then the thread stays where it is.
        let _ = sched_setaffinity(SELF, &set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_wires_have_a_core_and_one_is_left_for_the_rest() {
        let claims: Vec<Claim> = std::iter::from_fn(Claim::last_free).collect();
        let cores: BTreeSet<usize> = claims.iter().map(Claim::core).collect();
        assert_eq!((cores.len(), claims.len()), (claims.len(), allowed().len() - 1));
        drop(claims);
        assert_eq!(Claim::last_free().is_some(), allowed().len() > 1, "a dropped claim is free again");
    }
}
