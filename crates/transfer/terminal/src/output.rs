//! Standard output and standard error, whose readers may go away at any time.

pub use crate::complaint::{complain, complain_within, paint, printable};

use crate::failure::Failure;
use crate::redact::redact;
use anyhow::Context;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Widest text, columns: longer lines are hard to read.
const WIDTH: usize = 110;

/// Writes `text` to stdout, without the secret of a ticket that may be in it. A reader that has seen enough, as in
/// `afteryou list | head`, is no failure.
///
/// # Errors
/// A standard output that cannot be written, such as a file on a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    print_whole(&redact(text))
}

/// Prints text with its tickets: for the one that is handed over.
///
/// # Errors
/// As [`print()`].
pub fn print_whole(text: &str) -> Result<(), Failure> {
    print_to(&mut io::stdout().lock(), text)
}

/// Returns the columns for tables of figures: the terminal's. A pipe has no width, and a program that reads there needs
/// every cell whole.
pub fn table_width() -> usize {
    match io::stdout().is_terminal() {
        true => width(),
        false => usize::MAX,
    }
}

/// Returns the columns for text: the terminal's, within reason.
pub fn width() -> usize {
    if !io::stdout().is_terminal() {
        return WIDTH;
    }
    let columns = crossterm::terminal::size().map_or(WIDTH, |(columns, _)| usize::from(columns));
    columns.clamp(40, WIDTH)
}

fn print_to(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refuses(ErrorKind);

    impl Write for Refuses {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_who_leaves_is_no_failure_and_a_full_disk_is() {
        assert!(print_to(&mut Refuses(ErrorKind::BrokenPipe), "text").is_ok());
        let full = print_to(&mut Refuses(ErrorKind::StorageFull), "text").unwrap_err();
        assert!(full.to_string().starts_with("cannot write to standard output: "), "{full}");
    }
}
