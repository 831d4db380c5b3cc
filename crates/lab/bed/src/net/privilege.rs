//! Privileges without root: any user can be root of a namespace of their own.

use crate::error::Error;
use nix::sched::{unshare, CloneFlags};
use nix::unistd::{getegid, geteuid};
use std::fs;
use std::io;

/// Makes the calling process root of a user namespace of its own, if it is not root already. Has to be called before the
/// process starts a thread.
///
/// # Errors
/// The system does not allow it, or there are threads.
pub fn become_root_of_own_namespace() -> Result<(), Error> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    let become_root = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("0 {group} 1"))
    };
    become_root().map_err(Error::Namespace)
}

/// Returns whether the user of this process is root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Returns whether the user of this process may open the device for TUN devices.
pub fn opens_tun() -> bool {
    fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok()
}
