//! Control groups (cgroup v2) for the processes of a run.

use super::error::Error;
use rustix::fs::{flock, FlockOperation};
use rustix::mount::{fsconfig_create, fsmount, fsopen, FsMountFlags, FsOpenFlags, MountAttrFlags};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A group's name begins with this.
const PREFIX: &str = "afteryou-";
/// The file of a group that has its processes.
const MEMBERS: &str = "cgroup.procs";
/// The last process of a group is gone some time after its end: this many attempts are made to remove the group …
const ATTEMPTS: u32 = 50;
/// … this far apart.
const APART: Duration = Duration::from_millis(2);

/// A group below the one of this process. Dropping it moves its processes back and removes it.
#[derive(Debug)]
pub struct Group {
    path: PathBuf,
    /// Its folder, locked as long as the group is in use.
    folder: File,
    _tree: Tree,
}

impl Group {
    /// Makes a group, and removes those that processes which were killed have left.
    ///
    /// # Errors
    /// The kernel has no cgroup v2, or it may not be written.
    pub fn new(name: &str) -> Result<Group, Error> {
        let tree = Tree::of_this_process()?;
        remove_left(&tree.own);
        let path = tree.own.join(format!("{PREFIX}{name}"));
        let failed = || Error::system(format!("a control group in {}", tree.own.display()));
        fs::create_dir(&path).map_err(failed())?;
        let folder = File::open(&path).map_err(failed())?;
        flock(&folder, FlockOperation::NonBlockingLockExclusive).map_err(|error| failed()(error.into()))?;
        Ok(Group { path, folder, _tree: tree })
    }

    /// Returns the file that takes the number of a process into the group.
    pub fn members(&self) -> PathBuf {
        self.path.join(MEMBERS)
    }

    /// Returns the open folder, which stands for the group.
    pub fn folder(&self) -> &File {
        &self.folder
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..ATTEMPTS {
            if remove(&self.path) {
                return;
            }
            std::thread::sleep(APART);
        }
    }
}

/// Moves the processes of a group and of those below it to the group above, and removes them. False if some are left.
fn remove(folder: &Path) -> bool {
    let Some(above) = folder.parent() else { return true };
    for inner in fs::read_dir(folder).into_iter().flatten().flatten() {
        if inner.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&inner.path());
        }
    }
    let members = fs::read_to_string(folder.join(MEMBERS)).unwrap_or_default();
    for process in members.lines() {
        // It may have ended meanwhile.
        _ = fs::write(above.join(MEMBERS), process);
    }
    match fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Removes groups that nobody has locked.
fn remove_left(own: &Path) {
    for left in fs::read_dir(own).into_iter().flatten().flatten() {
        let is_ours = left.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let Some(folder) = is_ours.then(|| File::open(left.path()).ok()).flatten() else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            remove(&left.path());
        }
    }
}

/// Removes groups that processes which were killed have left beside the one of this process.
pub fn repair() {
    if let Ok(tree) = Tree::of_this_process() {
        remove_left(&tree.own);
    }
}

/// The tree of groups.
#[derive(Debug)]
struct Tree {
    /// The folder of this process's group.
    own: PathBuf,
    /// A mount without a place, where none is to be seen.
    _mount: Option<OwnedFd>,
}

impl Tree {
    /// Finds the group of this process. The mount is not always at `/sys/fs/cgroup`: beside version 1 it is below, and `ip netns exec` hides it.
    fn of_this_process() -> Result<Tree, Error> {
        let read = |file: &str| {
            fs::read_to_string(file).map_err(Error::system("the control groups of this process"))
        };
        let groups = read("/proc/self/cgroup")?;
        let path = groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or(Error::NoCgroup)?;
        if let Some(mount) = read("/proc/self/mountinfo")?.lines().find_map(mount_of_version_2) {
            return Ok(Tree { own: mount.join(path), _mount: None });
        }
        let mount = mounted().map_err(|error| Error::system("a mount of cgroup v2")(error.into()))?;
        // Other processes find it there, too.
        let root = format!("/proc/{}/fd/{}", std::process::id(), mount.as_raw_fd());
        Ok(Tree { own: Path::new(&root).join(path), _mount: Some(mount) })
    }
}

/// Returns a mount of version 2 without a place, which is gone with the descriptor.
fn mounted() -> rustix::io::Result<OwnedFd> {
    let system = fsopen("cgroup2", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(system.as_fd())?;
    fsmount(system.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// Returns where a line of mountinfo (proc_pid_mountinfo(5)) mounts the whole hierarchy of version 2.
fn mount_of_version_2(line: &str) -> Option<PathBuf> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, folder) = (place.next()?, place.next()?);
    (kind.split(' ').next() == Some("cgroup2") && root == "/").then(|| PathBuf::from(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_of_version_2_is_found_beside_version_1() {
        let lines = [
            ("31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755", None),
            ("32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu", None),
            (
                "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw",
                Some("/sys/fs/cgroup/unified"),
            ),
            ("25 1 0:22 / /sys/fs/cgroup rw - cgroup2 none rw,nsdelegate", Some("/sys/fs/cgroup")),
            ("25 1 0:22 /a /mnt rw - cgroup2 none rw", None),
            ("", None),
        ];
        for (line, mount) in lines {
            assert_eq!(mount_of_version_2(line).as_deref(), mount.map(Path::new), "{line}");
        }
    }
}
