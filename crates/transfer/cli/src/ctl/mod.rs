//! `afteryou ctl`: jobs that run can be looked at, slowed down, paused and ended.
//!
//! # How
//! Each job listens on a Unix socket `PID.sock` in a directory that only its user can enter (`place`). One connection
//! carries one question and one answer, a JSON object in a line each (`protocol`). A socket whose job was killed is
//! removed by the next `ctl` or job of the same user; nothing that is no such socket is touched. An HTTP request gets the
//! job's state as Prometheus metrics (`metrics`) and changes nothing. `afteryou run` keeps its list of sockets there, too; of a run that was
//! killed, `ctl` restores them.
//!
//! # Whose word counts
//! The last. `ctl rate` and `ctl off` replace --max-rate and the timetable's present limit; the timetable applies again at
//! its next change. A limit of the peer stays the peer's.

mod command;
#[cfg(unix)]
mod metrics;
#[cfg(unix)]
pub mod place;
mod protocol;
#[cfg(unix)]
mod server;

pub use command::{run, CtlArgs};
pub use protocol::{Answer, Job, Question, Status, LONGEST};
#[cfg(unix)]
pub use server::Server;
