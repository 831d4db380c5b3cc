//! Text without tickets, for messages and logs that repeat what somebody typed. `afteryou_transfer::ticket` has their form.

use std::borrow::Cow;

/// Prefix of every ticket, whatever its version.
const BEGIN: &str = "afteryou";

/// A ticket whose beginning was lost or mistyped is a run of at least this many characters of base32. The shortest ticket has a
/// hundred; a SHA-256 in hexadecimal has 64, and as good as always a 0, 1, 8 or 9 that base32 does not have.
const LONG: usize = 50;

/// Returns `text` with "afteryou1…" in the place of each ticket. Whole tickets, pieces of one, capital letters and slips of
/// the keyboard are found alike. A ticket is a run of letters and digits, and this hides the run.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(hidden) = first(rest) {
        kept += &rest[..hidden.start];
        kept.push('…');
        rest = &rest[hidden.end..];
    }
    match kept.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(kept + rest),
    }
}

/// Returns the first part of `text` that must not be shown.
fn first(text: &str) -> Option<std::ops::Range<usize>> {
    let mut from = 0;
    while let Some(start) = text[from..].find(is_of_a_ticket).map(|at| from + at) {
        let length = text[start..].find(|c| !is_of_a_ticket(c)).unwrap_or(text.len() - start);
        let end = start + length;
        if let Some(hidden) = secret_from(&text[start..end]) {
            return Some(start + hidden..end);
        }
        from = end;
    }
    None
}

fn is_of_a_ticket(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Returns where in a run of letters and digits its ticket's content begins.
fn secret_from(run: &str) -> Option<usize> {
    // Nearly all words and numbers of a result are shorter, and a result has hundreds of thousands of them.
    if run.len() <= BEGIN.len() {
        return None;
    }
    let lower = run.to_ascii_lowercase();
    let behind = lower.find(BEGIN).map(|at| at + BEGIN.len());
    // The version is one digit, and no secret.
    let content = behind.filter(|at| lower[*at..].starts_with(|c: char| c.is_ascii_digit())).map(|at| at + 1);
    if let Some(content) = content {
        return (content < run.len()).then_some(content);
    }
    if run.len() < LONG {
        return None;
    }
    let is_base32 = |byte: u8| byte.is_ascii_alphabetic() || (b'2'..=b'7').contains(&byte);
    let longest = run.bytes().map(is_base32).fold((0, 0), |(longest, now), is| {
        let now = if is { now + 1 } else { 0 };
        (longest.max(now), now)
    });
    (longest.0 >= LONG).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the test of `afteryou_transfer::ticket` that keeps the form of tickets.
    const LINE: &str = "afteryou1aa6qaaabaibqibiga4eascqlbqgq4dyqcejbgfavcylrqgi2dmob2hq7ljnfuws2ljnfuws2ljnfuws2liaqjqaaaiarez3nvuvg2";

    #[test]
    fn a_ticket_is_hidden_wherever_it_stands() {
        for (text, expected) in [
            (format!("unrecognized subcommand '{LINE}'"), "unrecognized subcommand 'afteryou1…'"),
            (format!("{LINE}/photos is no directory"), "afteryou1…/photos is no directory"),
            (format!("\"{}\"", LINE.to_uppercase()), "\"AFTERYOU1…\""),
            (format!("--a={LINE}, --b={LINE}"), "--a=afteryou1…, --b=afteryou1…"),
            (format!("\u{1b}[33m{LINE}\u{1b}[0m"), "\u{1b}[33mafteryou1…\u{1b}[0m"),
            (format!("x{LINE}"), "xafteryou1…"),
            (format!("grüße:{LINE}…"), "grüße:afteryou1……"),
            (LINE[..40].to_owned(), "afteryou1…"),
            (LINE.replace("afteryou", "aftreyou"), "…"),
            (LINE[12..].to_owned(), "…"),
        ] {
            assert_eq!(redact(&text), expected);
        }
    }

    #[test]
    fn what_is_no_ticket_stays() {
        let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        for text in [
            "",
            "the line beginning with \"afteryou1\" that receive or serve prints",
            "afteryou: cannot read /tmp/afteryou-1000/backup.tar",
            "the file thisisaratherlongnameofsomefile.tar.gz, grüße",
            hash,
        ] {
            assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
