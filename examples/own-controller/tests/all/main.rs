//! Polite through the command and by name.

mod by_name;
mod command;
