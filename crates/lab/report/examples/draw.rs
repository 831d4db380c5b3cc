//! Draws a result.json again: `cargo run -p afteryou-report --example draw -- result.json [folder]`.
//!
//! Without a folder it prints the words for a terminal and writes nothing.

use afteryou_report as report;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(result) = arguments.next() else {
        eprintln!("give the result.json of a run, and a folder if pages are wanted");
        return ExitCode::from(2);
    };
    let outcome = match afteryou_plot::read(&result) {
        Ok(outcome) => outcome,
        Err(error) => return failed(&error.into()),
    };
    let Some(folder) = arguments.next() else {
        print!("{}", report::text(&outcome, 100, false));
        return ExitCode::SUCCESS;
    };
    match report::write_folder(&outcome, &folder) {
        Ok(written) => println!("{}\n{}", written.report.display(), written.figure.display()),
        Err(error) => return failed(&error),
    }
    ExitCode::SUCCESS
}

fn failed(error: &report::Error) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}
