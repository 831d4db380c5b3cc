//! The built command against itself on loopback: two processes, a ticket, and all that may happen to them.

mod afterwards;
mod breaks;
mod control;
mod hostile_names;
mod incomplete;
#[cfg(target_os = "linux")]
mod link_local;
mod logs;
mod messages;
mod moves;
mod sleep;
#[cfg(target_os = "linux")]
mod starved;
pub mod support;
mod timetable;
mod urls;
mod waiting;
