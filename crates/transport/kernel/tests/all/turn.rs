//! One test at a time loads controllers, since a name is in the kernel once. Other processes' tests wait at the same file.

use afteryou_kernel::NAMES;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::time::Duration;

/// The turn of a test, which lasts until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: Flock<File>,
}

impl Turn {
    /// Waits for the turn, and until the kernel has none of the names.
    pub fn wait() -> Turn {
        let file = File::create(std::env::temp_dir().join("afteryou-kernel.lock")).unwrap();
        let lock = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error).unwrap();
        are_gone();
        Turn { _lock: lock }
    }
}

/// Returns whether the kernel has none of the names within two seconds. A child that another test has just forked keeps the links open
/// until it executes its program.
pub fn are_gone() -> bool {
    let is_gone = || {
        let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        !available.unwrap().split_whitespace().any(|name| NAMES.contains(&name))
    };
    (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_gone()
    })
}
