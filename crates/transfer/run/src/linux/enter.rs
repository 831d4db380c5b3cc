//! The process that becomes the program: it enters the control group of the run, gives up root's rights, and executes the program.

use super::program::found;
use crate::error::Error;
use afteryou_terminal::output;
use nix::errno::Errno;
use nix::unistd::{initgroups, setgid, setuid, Uid, User};
use rustix::thread::clear_ambient_capability_set;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Becomes the program, in the control group of that file unless its name is empty; returns why that cannot be done.
pub fn become_program(members: &Path, as_root: bool, command: &[OsString]) -> Error {
    let Some((name, arguments)) = command.split_first() else {
        return Error::NotFound { name: String::new() };
    };
    if !members.as_os_str().is_empty() {
        // Zero is the process that writes. Outside of the group it is steered from outside.
        if let Err(error) = fs::write(members, "0") {
            output::complain(&format!("afteryou: the control group cannot be entered: {error}\n"));
        }
    }
    match user(as_root) {
        Ok(user) => execute(name, arguments, user.as_ref()),
        Err(error) => error,
    }
}

/// Becomes the user who called sudo, if there is one and root is not to be kept. Rights that are not root's do not pass to the program either.
fn user(as_root: bool) -> Result<Option<User>, Error> {
    let _ = clear_ambient_capability_set();
    let Some(uid) = caller().filter(|_| !as_root) else { return Ok(None) };
    let failed = |error: Errno| Error::User { uid: uid.as_raw(), source: error.into() };
    let user = User::from_uid(uid).map_err(failed)?.ok_or_else(|| failed(Errno::ENOENT))?;
    let name = CString::new(user.name.clone()).map_err(|_| failed(Errno::EINVAL))?;
    initgroups(&name, user.gid).and_then(|()| setgid(user.gid)).and_then(|()| setuid(uid)).map_err(failed)?;
    output::complain(&format!(
        "afteryou: the program runs as {}; with --as-root it runs as root\n",
        user.name
    ));
    Ok(Some(user))
}

/// Returns the user who called sudo.
pub fn caller() -> Option<Uid> {
    let uid: u32 = std::env::var("SUDO_UID").ok()?.parse().ok()?;
    (Uid::effective().is_root() && uid != 0).then(|| Uid::from_raw(uid))
}

/// Starts a program in place of this process, as execvp(3) does: a file without a format is a script of the shell.
fn execute(name: &OsStr, arguments: &[OsString], user: Option<&User>) -> Error {
    let with_user = |mut command: Command| {
        if let Some(User { name, dir, .. }) = user {
            command.env("HOME", dir).env("USER", name).env("LOGNAME", name);
        }
        command.args(arguments).exec()
    };
    let error = match with_user(Command::new(name)) {
        error if error.raw_os_error() == Some(Errno::ENOEXEC as i32) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg(found(Path::new(name)).unwrap_or_else(|| name.into()));
            with_user(shell)
        }
        error => error,
    };
    Error::of_start(name, &error)
}
