//! The controllers with pins, which keep them loaded after the process that loads them.
//!
//! The folder of the pins is made before anything is loaded, so that of two processes one loads. Its link `object` has the identity of the
//! object that was loaded.

pub use super::names::{BPFFS, FOLDER};

use super::error::Error;
use super::layout::Layout;
use super::loaded::{Loaded, OBJECT};
use super::names::NAMES;
use super::settings;
use super::sockets::States;
use libbpf_rs::{MapCore, MapHandle};
use rustix::fs::{fstatfs, symlink};
use rustix::mount::{mount, MountFlags};
use rustix::process::geteuid;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Magic number of bpffs (linux/magic.h).
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;

/// The kernel unregisters a controller some time after its last pin is gone: it is looked at this often …
const LOOKS: u32 = 400;
/// … this far apart.
const APART: Duration = Duration::from_millis(5);

/// Loads the controllers and pins them. With `for_users` every user may choose them.
///
/// # Errors
/// They are pinned already, or as [`Loaded::new`]. Nothing is left loaded then.
pub fn load(for_users: bool) -> Result<(), Error> {
    mount_bpffs()?;
    make_folder()?;
    let made = Loaded::new().and_then(|loaded| {
        symlink(identity(), object_link()).map_err(|error| Error::system("a link on bpffs")(error.into()))?;
        loaded.pin(Path::new(FOLDER))?;
        if for_users {
            settings::allow(&NAMES)
        } else {
            Ok(())
        }
    });
    if made.is_err() {
        _ = remove_folder();
    }
    made
}

/// Removes the pinned controllers from the kernel. Connections that use one keep it to their end.
///
/// # Errors
/// None is pinned, one is the default of new connections, or something else keeps them loaded.
pub fn unload() -> Result<(), Error> {
    check_folder()?;
    let default = settings::default_name();
    if NAMES.contains(&default.as_str()) {
        return Err(Error::Default(default));
    }
    remove_folder()?;
    let is_gone = || {
        std::thread::sleep(APART);
        !settings::available().iter().any(|name| NAMES.contains(&name.as_str()))
    };
    match (0..LOOKS).any(|_| is_gone()) {
        true => Ok(()),
        false => Err(Error::Held),
    }
}

/// Returns the identity of the object whose controllers are pinned.
///
/// # Errors
/// None is pinned, or the pins are another user's.
pub fn pinned_identity() -> Result<String, Error> {
    check_folder()?;
    let target = fs::read_link(object_link()).map_err(Error::system("the pinned object's identity"))?;
    Ok(target.to_string_lossy().into_owned())
}

/// Returns the maps of connections; none if another build loaded the controllers, whose states may be laid out otherwise.
///
/// # Errors
/// None is pinned, the pins are another user's, or the process may not open them.
pub fn states() -> Result<Vec<States>, Error> {
    if pinned_identity()? != identity() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(FOLDER).map_err(Error::system(FOLDER))? {
        let path = entry.map_err(Error::system(FOLDER))?.path();
        let Some(layout) = path.file_name().map(Layout::of).transpose()?.flatten() else { continue };
        let map = MapHandle::from_pinned_path(path)?;
        found.push(States { id: map.info()?.info.id, map, layout });
    }
    Ok(found)
}

/// Returns the identity of this build's object: version and hash.
pub fn identity() -> String {
    format!("{}-{}", env!("CARGO_PKG_VERSION"), &blake3::hash(OBJECT).to_hex()[..16])
}

/// Returns whether bpffs is mounted in its place.
pub fn has_bpffs() -> bool {
    fs::File::open(BPFFS).is_ok_and(|folder| {
        fstatfs(folder).is_ok_and(|found| found.f_type as u64 & 0xffff_ffff == BPF_FS_MAGIC)
    })
}

fn object_link() -> PathBuf {
    Path::new(FOLDER).join("object")
}

/// Makes sure that bpffs is mounted. It is mounted for its owner only, as systemd does.
fn mount_bpffs() -> Result<(), Error> {
    if has_bpffs() {
        return Ok(());
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mounted = mount("bpf", BPFFS, "bpf", flags, c"mode=0700");
    mounted.map_err(|error| Error::system(format!("bpffs cannot be mounted at {BPFFS}"))(error.into()))
}

fn make_folder() -> Result<(), Error> {
    match DirBuilder::new().mode(0o700).create(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_folder().and(Err(Error::Pinned)),
        made => made.map_err(Error::system(format!("{FOLDER} cannot be made"))),
    }
}

/// Checks that the folder is one of this user: every user may make one of its name where bpffs was mounted without a mode.
fn check_folder() -> Result<(), Error> {
    let found = match fs::symlink_metadata(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Error::NotPinned),
        found => found.map_err(Error::system(FOLDER))?,
    };
    match found.uid() {
        uid if uid == geteuid().as_raw() && found.is_dir() => Ok(()),
        0 if found.is_dir() => Err(Error::NotPermitted),
        _ => Err(Error::Foreign),
    }
}

fn remove_folder() -> Result<(), Error> {
    let attempt = || Error::system(format!("{FOLDER} cannot be removed"));
    for entry in fs::read_dir(FOLDER).map_err(attempt())? {
        fs::remove_file(entry.map_err(attempt())?.path()).map_err(attempt())?;
    }
    fs::remove_dir(FOLDER).map_err(attempt())
}
