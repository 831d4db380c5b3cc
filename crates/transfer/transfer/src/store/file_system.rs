//! Borders that no rename and no link crosses.
//!
//! # Model
//! A rename is refused between two devices and also between two mounts of one device. A btrfs subvolume has a device number of its own
//! in the same mount. So a file system is a device and a mount here.
//!
//! # Known bad cases
//! Linux before 5.8 does not report the mount, so a bind mount of the same device is not seen. Project quotas and encrypted directories are
//! borders that show only when a rename fails. See [`super::reception`] for both.

use cap_std::fs::{Dir, Metadata};
use std::io;

/// Device and mount of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileSystem {
    device: u64,
    mount: u64,
}

impl FileSystem {
    /// Returns the file system of an open directory.
    pub(super) fn of(dir: &Dir) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{makedev, statx, AtFlags, StatxFlags};
            if let Ok(found) = statx(dir, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID) {
                let knows_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
                let mount = if knows_mount { found.stx_mnt_id } else { 0 };
                return Ok(Self { device: makedev(found.stx_dev_major, found.stx_dev_minor), mount });
            }
        }
        let identity = identity(&dir.dir_metadata()?);
        Ok(Self { device: identity.map_or(0, |(device, _)| device), mount: 0 })
    }
}

/// Returns whether a rename or link failed at a border.
pub(super) fn is_border(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::CrossesDevices
}

/// Returns the number that distinguishes files under the same name; `None` where the system has no such number.
pub(crate) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}
