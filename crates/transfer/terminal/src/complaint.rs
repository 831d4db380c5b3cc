//! Standard error, whose reader may stall, and text from elsewhere that is safe for it.

use afteryou_transfer::ticket::redact;
use std::io::{self, Write};
use std::sync::mpsc;
use std::time::Duration;

/// Writes `text` to stderr, without the secret of a ticket that may be in it. A closed stderr is no error.
pub fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(redact(text).as_bytes());
}

/// The same, and continues after `longest` if the reader stalls: a terminal after Ctrl-S, a pipe that is full.
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
}
