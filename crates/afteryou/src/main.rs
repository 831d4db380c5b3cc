//! The `afteryou` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    afteryou::cli::main(std::env::args_os())
}
