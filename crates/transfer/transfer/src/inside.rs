//! A receiving directory that is in what is sent.
//!
//! # Model
//! Source and sink may be on one machine, in processes without knowledge of each other. A copy inside its own source grows
//! by a level at each run. So a sink names its directory and those above it, each by a keyed hash of its device and inode.
//! The key is the kernel's boot id, which only processes under one kernel have, and the job, so that a peer elsewhere learns
//! nothing. The source looks for the outermost of these directories that it sends, and follows the others down from there.
//!
//! # Not implemented
//! Outside Linux there is no such key, and nothing is noticed. Neither is a directory that two machines share. A dry run into a directory
//! that does not exist yet has nothing to name.

use cap_std::fs::Dir;

/// A directory on some machine, for one job.
pub(crate) type Token = [u8; 16];

/// Directories above a sink's that it names at most.
pub(crate) const MOST: usize = 256;

/// Names directories for one job.
pub(crate) struct Naming(blake3::Hasher);

impl Naming {
    /// Returns the key of a job's tokens, `None` where the system has no key.
    pub(crate) fn of(job: &[u8; 16]) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let boot = std::fs::read("/proc/sys/kernel/random/boot_id").ok().filter(|id| !id.is_empty())?;
        let mut hasher = blake3::Hasher::new_derive_key("afteryou 2026-11 directory of a sink, for one job");
        hasher.update(job).update(&boot);
        Some(Self(hasher))
    }

    /// Returns the token of a directory with this device and inode.
    pub(crate) fn token(&self, (device, inode): (u64, u64)) -> Token {
        let mut token = [0; 16];
        let mut hasher = self.0.clone();
        hasher.update(&device.to_le_bytes()).update(&inode.to_le_bytes());
        hasher.finalize_xof().fill(&mut token);
        token
    }

    /// Returns the tokens of an open directory and all above it, from the inside.
    pub(crate) fn tokens(&self, dir: &Dir) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut dir = dir.try_clone().ok();
        while let Some(token) = dir.as_ref().and_then(identity).map(|id| self.token(id)) {
            // Above the root is the root.
            if tokens.last() == Some(&token) || tokens.len() == MOST {
                break;
            }
            tokens.push(token);
            dir = dir.as_ref().and_then(above);
        }
        tokens
    }
}

fn identity(dir: &Dir) -> Option<(u64, u64)> {
    use cap_fs_ext::MetadataExt;
    let metadata = dir.dir_metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn above(dir: &Dir) -> Option<Dir> {
    use rustix::fs::{openat, Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    let flags = flags | OFlags::PATH;
    Some(openat(dir, "..", flags, Mode::empty()).ok()?.into())
}

#[cfg(not(unix))]
fn above(_: &Dir) -> Option<Dir> {
    None
}
