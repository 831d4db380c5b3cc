//! Standard error, whose reader may stall, and text from elsewhere that is safe for it.

use crate::redact::redact;
use afteryou_base::shown::Shown;
use std::io::{self, Write};
use std::sync::mpsc;
use std::time::Duration;

/// Writes lines to stderr, without the secret of a ticket and without characters that steer a terminal. A closed stderr is no error.
pub fn complain(text: &str) {
    paint(&printable_lines(text));
}

/// Writes `text` to stderr with its colours and movements of the cursor; names in it are escaped already.
pub fn paint(text: &str) {
    let _ = io::stderr().lock().write_all(redact(text).as_bytes());
}

/// Prints a complaint, and continues after `longest` if the reader stalls: a terminal after Ctrl-S, a pipe that is full.
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

/// Returns text from elsewhere in a form fit for one line of a terminal.
pub fn printable(text: &str) -> String {
    Shown(text).to_string()
}

/// Returns the same for several lines.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_elsewhere_steers_nothing() {
        assert_eq!(
            printable("a\u{1b}[31m\u{202e}gpj.exe\u{2066}\n"),
            "a\\u{1b}[31m\\u{202e}gpj.exe\\u{2066}\\n"
        );
        assert_eq!(printable("grüße 文件 שלום"), "grüße 文件 שלום");
        assert_eq!(printable_lines("a\tb\nc\r\n"), "a\\tb\nc\\r\n");
    }
}
