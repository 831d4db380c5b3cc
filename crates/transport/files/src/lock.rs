//! One process at a time writes a folder of results.

use std::fs::File;

/// Takes the lock of an open file, which keeps other processes away until the file is closed. Returns false if one of them has it. A file
/// system without locks has none to take.
#[cfg(unix)]
pub fn take(file: &File) -> bool {
    use rustix::fs::{flock, FlockOperation};
    flock(file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
}

/// Returns true: without locks it is up to the user not to start two.
#[cfg(not(unix))]
pub fn take(_: &File) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_holder_until_it_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(folder.path().join("list")).unwrap();
        let (first, second) = (open(), open());
        assert!(take(&first) && !take(&second));
        drop(first);
        assert!(take(&second));
    }
}
