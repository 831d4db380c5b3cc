//! Arguments of the commands that move files.
//!
//! Every option can be set in the environment instead (AFTERYOU_ and its name), so that a unit file or a container needs
//! no command line. The command line overrides the environment.

mod choice;
mod common;
mod dialing;
mod downloads;
mod foreign;
mod listening;
mod target;
mod urls;

pub use choice::{Allowing, Choice, Keeping, Mirroring};
pub use common::{controller, Common, Symlinks};
pub use dialing::{is_standard, Dialing, GetArgs, SendArgs};
pub use downloads::{read_url, Downloads};
pub use foreign::answer as foreign_option;
pub use listening::{Listening, ReceiveArgs, ServeArgs};
pub use target::{looks_like_ticket, read_ticket, repeated, Target};
pub use urls::UrlArgs;

/// Words about exit codes of the commands that connect.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    everything is stored at its place and verified
  1    something failed; the same command continues from there
  2    the command line is invalid
  3    complete, but entries were left out (sockets, devices, links that lead outside or that --symlinks skip
       excludes), or differ from the source: a mode, time, owner or attribute that cannot be set, a copy instead of
       a hard link; each is named (with --strict that is 1)
  130  Ctrl-C, SIGTERM or `afteryou ctl stop` ended it; the same command continues from there";

/// Words about exit codes of the commands that wait.
pub const LISTENING_EXIT_CODES: &str = "\
Exit codes:
  0    Ctrl-C, SIGTERM or `afteryou ctl stop` ended it; with --once: a job is complete, and all of it stored and verified
  1    it cannot listen here; with --once: something failed
  2    the command line is invalid
  3    with --once: the job is complete, but entries were left out, or differ from the source
  130  with --once: it was ended before a job was complete";

#[cfg(test)]
pub(crate) mod tests;
