//! The controllers in the running kernel.

use libbpf_rs::{ErrorKind, Link, MapCore, ObjectBuilder};
use std::path::Path;

/// The compiled eBPF programs, for little-endian machines.
const OBJECT: &[u8] = include_bytes!("../bpf/afteryou.bpf.o");

/// The running kernel's description of its types, which the loader adapts the programs to.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// The names of the controllers, for `TCP_CONGESTION`.
pub const NAMES: [&str; 4] = ["afteryou", "ay_ledbat", "ay_fledbat", "ay_ledbatpp"];

/// The oldest kernel with `cong_control` of four arguments, as the programs read them.
const OLDEST: (u32, u32) = (6, 10);

/// A failure to load.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel does not describe its types.
    #[error("this kernel has no {BTF}; use a kernel built with CONFIG_DEBUG_INFO_BTF")]
    NoBtf,
    /// The kernel cannot run the controllers.
    #[error("this kernel is Linux {0}; use 6.10 or newer")]
    TooOld(String),
    /// The process may not load programs.
    #[error("loading a controller requires CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; run as root")]
    NotPermitted,
    /// A controller of one of the names is loaded.
    #[error("the kernel has a controller of one of the names {NAMES:?}; unload it first")]
    Exists,
    /// The kernel refuses the programs.
    #[error("this kernel refuses the controllers, as its log may explain: {0}")]
    Refused(libbpf_rs::Error),
}

impl From<libbpf_rs::Error> for Error {
    fn from(error: libbpf_rs::Error) -> Error {
        match error.kind() {
            ErrorKind::PermissionDenied => Error::NotPermitted,
            ErrorKind::AlreadyExists => Error::Exists,
            _ => Error::Refused(error),
        }
    }
}

/// The controllers, registered with the kernel. Dropping it unregisters them; connections that use one keep it to their end.
#[derive(Debug)]
pub struct Loaded {
    _links: Vec<Link>,
}

impl Loaded {
    /// Loads and registers the controllers.
    ///
    /// # Errors
    /// The kernel has no BTF, is too old or has the names already, or the process lacks the privileges.
    pub fn new() -> Result<Loaded, Error> {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        if is_older(&release) {
            return Err(Error::TooOld(release.trim().to_owned()));
        }
        if !Path::new(BTF).exists() {
            return Err(Error::NoBtf);
        }
        let mut object = ObjectBuilder::default().open_memory(OBJECT)?.load()?;
        let mut links = Vec::new();
        for mut map in object.maps_mut().filter(|map| map.map_type() == libbpf_rs::MapType::StructOps) {
            links.push(map.attach_struct_ops()?);
        }
        Ok(Loaded { _links: links })
    }
}

/// Returns whether a kernel's release is older than [`OLDEST`]. One that cannot be read is tried.
fn is_older(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.trim().parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|release| release < OLDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_as_numbers() {
        for (release, older) in
            [("6.18.44-fc", false), ("6.10.0", false), ("6.9.13", true), ("5.15\n", true), ("?", false)]
        {
            assert_eq!(is_older(release), older, "{release}");
        }
    }
}
