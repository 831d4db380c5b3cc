//! A proxy of one run, for programs whose sockets may not be touched.
//!
//! It listens at a port of its own and serves clients with the password, which is in the program's variables alone.

use super::program::found;
use crate::args::RunArgs;
use crate::error::Error;
use afteryou_outside::linux::{reach, Reach, Roster};
use afteryou_proxy::{variables, Credentials, Options, Proxy};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Bits of a mode that start a program as another user or group.
const SET_ID: u32 = 0o6000;

/// A proxy that runs until this is dropped.
pub struct Private {
    /// Its connections to servers.
    pub roster: Roster,
    /// Variables for the program.
    pub variables: Vec<(&'static str, String)>,
    // Ends with this, and its tasks with it.
    _runtime: Runtime,
}

impl Private {
    /// Starts a proxy.
    ///
    /// # Errors
    /// No port is free, or no thread can be started.
    pub fn begin() -> Result<Private, Error> {
        let failed = Error::system("no private proxy can be started");
        Private::started().map_err(failed)
    }

    fn started() -> io::Result<Private> {
        let mut random = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let password: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let credentials = Credentials::parse(&format!("afteryou:{password}")).map_err(io::Error::other)?;
        let roster = Roster::default();
        let added = roster.clone();
        let options = Options {
            credentials: Some(credentials.clone()),
            opened: Some(Arc::new(move |socket| added.add(socket))),
            ..Options::default()
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_io().enable_time().build()?;
        let proxy =
            runtime.block_on(Proxy::listen(([127, 0, 0, 1], 0).into(), options)).map_err(io::Error::other)?;
        let no_proxy = ["no_proxy", "NO_PROXY"].iter().find_map(|name| std::env::var(name).ok());
        let variables = variables(proxy.address(), Some(&credentials), no_proxy.as_deref());
        runtime.spawn(proxy.run());
        Ok(Private { roster, variables, _runtime: runtime })
    }
}

/// Whether a run has a private proxy.
pub enum Decision {
    /// Sockets can be touched.
    Unneeded,
    /// It has one, for this reason.
    Needed(String),
    /// It would need one for this reason, and another proxy is set, which may be the only way out of this network.
    HasOther(String),
}

/// Decides by trying to touch the sockets of a child.
pub fn decide(args: &RunArgs) -> Decision {
    if args.pid.is_some() {
        return Decision::Unneeded;
    }
    if args.proxy {
        return Decision::Needed("--proxy asks for it".to_owned());
    }
    match reason(args) {
        None => Decision::Unneeded,
        Some(why) if has_other() => Decision::HasOther(why),
        Some(why) => Decision::Needed(why),
    }
}

/// Returns why the sockets of the program may not be touched, if that is known before it starts.
fn reason(args: &RunArgs) -> Option<String> {
    match reach() {
        Reach::OldKernel { release } => {
            Some(format!("Linux {release} has no pidfd_getfd, which is there since 5.6"))
        }
        Reach::Yama { scope } => Some(format!("the kernel's ptrace_scope is {scope}")),
        Reach::Seccomp => Some("a filter of system calls (seccomp) forbids to touch sockets".to_owned()),
        Reach::Works | Reach::Failed(_) => {
            let changes = args.command.first().is_some_and(|name| changes_user(Path::new(name)));
            changes.then(|| "the program runs as another user or group".to_owned())
        }
    }
}

/// Returns whether programs have a proxy already.
fn has_other() -> bool {
    let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Returns whether a program starts as another user than this one.
fn changes_user(name: &Path) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    !is_root
        && found(name)
            .and_then(|path| fs::metadata(path).ok())
            .is_some_and(|metadata| metadata.permissions().mode() & SET_ID != 0)
}
