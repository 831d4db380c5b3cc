//! The command as people run it, and the files made from its lists.

mod bad_input;
mod book;
mod cli;
mod doctor;
mod fluid;
mod generated;
mod kernel;
mod league;
#[cfg(unix)]
mod proxy;
mod qlogs;
#[cfg(target_os = "linux")]
mod run;
mod secrets;
mod sim;
mod sweeps;
#[cfg(target_os = "linux")]
mod testbed;
mod trace;
#[cfg(unix)]
mod transfer;
