//! Failures to load, find or unload the controllers.

use super::names::{BTF, FOLDER, NAMES};
use crate::release::OLDEST;
use libbpf_rs::ErrorKind;
use std::io;

/// A failure to load, find or unload the controllers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel does not describe its types.
    #[error("this kernel has no {BTF}; use a kernel built with CONFIG_DEBUG_INFO_BTF")]
    NoBtf,
    /// The kernel cannot run the controllers.
    #[error("this kernel is Linux {0}; use {major}.{minor} or newer", major = OLDEST.0, minor = OLDEST.1)]
    TooOld(String),
    /// The process may not load programs.
    #[error("controllers in the kernel require CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; run as root")]
    NotPermitted,
    /// A controller of one of the names is loaded.
    #[error("the kernel has a controller of one of the names {NAMES:?}; unload it first")]
    Exists,
    /// The kernel refuses the programs.
    #[error("this kernel refuses the controllers, as its log may explain: {0}")]
    Refused(libbpf_rs::Error),
    /// The controllers are pinned already.
    #[error("the controllers are loaded already; run `afteryou kernel unload` first")]
    Pinned,
    /// No controllers are pinned.
    #[error("no controllers are pinned in {FOLDER}; `afteryou kernel load` loads them")]
    NotPinned,
    /// Somebody else made the folder of the pins.
    #[error("{FOLDER} is not a folder of this user; remove it first")]
    Foreign,
    /// New connections use a controller without choosing it, and would continue to.
    #[error("{0} is the default of new connections; choose another one first: sysctl -w net.ipv4.tcp_congestion_control=cubic")]
    Default(String),
    /// The pins are gone, and the kernel has the names still.
    #[error("the pins are removed, but another process or pin keeps the controllers loaded; end `afteryou` processes that use them")]
    Held,
    /// The system has no control groups of version 2.
    #[error("this kernel has no control groups of version 2; use one with CONFIG_CGROUPS")]
    NoCgroup,
    /// The object lacks a part.
    #[error("the object of this build has no {0}; build afteryou anew")]
    Object(&'static str),
    /// A call of the system failed.
    #[error("{attempt}: {source}")]
    System {
        /// The attempt.
        attempt: String,
        /// The kernel's reason.
        source: io::Error,
    },
}

impl Error {
    /// Returns the failure to list something of the system.
    pub fn listing(what: &str, source: io::Error) -> Error {
        Error::System { attempt: format!("{what} cannot be listed"), source }
    }

    /// Returns a function that makes an error of one of the system during `attempt`; [`Error::NotPermitted`] if it lacks privileges.
    pub(crate) fn system(attempt: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Error::NotPermitted,
            _ => Error::System { attempt: attempt.into(), source },
        }
    }
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
