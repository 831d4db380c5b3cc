//! The C interface: its header, its function, and a C program around it.

#[cfg(unix)]
mod call;
mod header;
#[cfg(unix)]
mod program;
