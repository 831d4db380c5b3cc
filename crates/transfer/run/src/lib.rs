//! `afteryou run -- COMMAND`: a program whose transfers yield, though it knows nothing of it.
//!
//! ```no_run
//! use afteryou_run::RunArgs;
//!
//! let args = RunArgs {
//!     max_rate: None,
//!     status: true,
//!     pid: None,
//!     proxy: false,
//!     as_root: false,
//!     verbose: false,
//!     enter: None,
//!     steering: None,
//!     record: None,
//!     command: vec!["wget".into()],
//! };
//! args.run()?;
//! # Ok::<(), afteryou_terminal::Failure>(())
//! ```
//!
//! Two processes stand between the shell and the program, so that one of them can restore the program's sockets whatever happens to the
//! other:
//!
//! - `linux/front.rs`: the one that the shell sees. It hands signals on, returns the program's exit code, and restores the sockets if the
//!   other one dies.
//! - `linux/steering.rs`: its child and the program's parent, which the kernel requires of one that touches sockets. It steers them.
//!
//! - `linux/enter.rs`: the program itself, before it begins. It enters the control group of the run's job in the kernel (`linux/job.rs`), and
//!   becomes the user who called sudo.
//!
//! The lines between them are those of `linux/message.rs`. A file that both have open lists what was changed. If both die, the next `run` or
//! `ctl` restores the sockets by it. The folder `proxy` has `afteryou proxy`, which is steered in the same way.

mod args;
mod error;
mod proxy;

#[cfg(target_os = "linux")]
mod linux;

pub use args::RunArgs;
pub use error::Error;
pub use proxy::ProxyArgs;

use afteryou_terminal::Failure;

impl RunArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// The program's exit code if it is not 0, or what kept it from running.
    pub fn run(self) -> Result<(), Failure> {
        match code(self) {
            Ok(0) => Ok(()),
            Ok(code) => Err(Failure::Elsewhere(code)),
            Err(error) => {
                afteryou_terminal::output::complain(&format!("afteryou: {error}\n"));
                Err(Failure::Elsewhere(error.code()))
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn code(args: RunArgs) -> Result<u8, Error> {
    linux::run(args)
}

#[cfg(not(target_os = "linux"))]
fn code(_: RunArgs) -> Result<u8, Error> {
    Err(Error::NotHere)
}
