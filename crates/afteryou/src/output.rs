//! Standard output and standard error, whose readers may go away at any time.

use crate::failure::Failure;
use afteryou_transfer::ticket::redact;
use anyhow::Context;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::mpsc;
use std::time::Duration;

/// Widest text, columns: longer lines are hard to read.
const WIDTH: usize = 110;

/// Writes `text` to stdout, without the secret of a ticket that may be in it. A reader that has seen enough, as in
/// `afteryou list | head`, is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    print_whole(&redact(text))
}

/// The same with its tickets: for the one that is handed over.
pub fn print_whole(text: &str) -> Result<(), Failure> {
    print_to(&mut io::stdout().lock(), text)
}

/// Writes `text` to stderr, without the secret of a ticket that may be in it. If nobody reads it there is nobody to tell.
pub fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(redact(text).as_bytes());
}

/// The same, and goes on after `longest` if the reader stands still: a terminal after Ctrl-S, a pipe that is full.
pub fn complain_within(text: &str, longest: Duration) {
    let text = text.to_owned();
    let (saying, said) = mpsc::channel::<()>();
    let say = {
        let text = text.clone();
        move || {
            complain(&text);
            drop(saying);
        }
    };
    match std::thread::Builder::new().spawn(say) {
        Ok(_) => _ = said.recv_timeout(longest),
        // Rather wait for the reader than be silent.
        Err(_) => complain(&text),
    }
}

/// Text from elsewhere, fit for a line of a terminal: no character moves the cursor, breaks the line or turns the
/// direction of what follows, which lets a name look like another.
pub fn printable(text: &str) -> String {
    text.replace(is_steering, "\u{fffd}")
}

/// Control characters, separators of lines, and the marks of Unicode's bidirectional algorithm (UAX 9, section 2).
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns for tables of figures: the terminal's. A pipe has no width, and a program that reads there needs every cell whole.
pub fn table_width() -> usize {
    match io::stdout().is_terminal() {
        true => width(),
        false => usize::MAX,
    }
}

/// Columns for text: the terminal's, within reason.
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

    #[test]
    fn a_name_from_elsewhere_steers_nothing() {
        assert_eq!(
            printable("a\u{1b}[31m\u{202e}gpj.exe\u{2066}\n"),
            "a\u{fffd}[31m\u{fffd}gpj.exe\u{fffd}\u{fffd}"
        );
        assert_eq!(printable("grüße 文件 שלום"), "grüße 文件 שלום");
    }

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
