//! The command as people run it, and the files made from its lists.

mod bad_input;
mod book;
mod cli;
mod doctor;
mod fluid;
mod generated;
mod qlogs;
mod secrets;
mod sim;
mod sweeps;
mod trace;
#[cfg(unix)]
mod transfer;
