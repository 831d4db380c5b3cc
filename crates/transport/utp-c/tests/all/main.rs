//! The C interface: its header, and a C program around it.

mod header;
#[cfg(unix)]
mod program;
