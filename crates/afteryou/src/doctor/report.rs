//! Checks as text: what was seen beside each name, and what to do below it.

use super::{Check, Severity};
use crate::list::wrap::wrap;

const STATE_COLUMNS: usize = 6;

/// Formats the checks in lines of at most `width` columns.
pub fn text(checks: &[Check], width: usize) -> String {
    let names = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let indent = STATE_COLUMNS + names + 2;
    let room = width.saturating_sub(indent).max(20);
    let mut text = String::new();
    for check in checks {
        let mut start = format!("{:STATE_COLUMNS$}{:names$}  ", word(check.state), check.name);
        let todo = check.todo.iter().flat_map(|todo| wrap(&format!("→ {todo}"), room));
        for line in wrap(&check.seen, room).into_iter().chain(todo) {
            text.push_str(&format!("{start}{line}\n"));
            start = " ".repeat(indent);
        }
    }
    text
}

fn word(state: Severity) -> &'static str {
    match state {
        Severity::Ok => "ok",
        Severity::Warn => "warn",
        Severity::Fail => "FAIL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_stands_below_what_was_seen() {
        let checks = [Check::ok("one", "fine"), Check::warn("another", "not so fine", "do this")];
        let expected = "\
ok    one      fine
warn  another  not so fine
               → do this
";
        assert_eq!(text(&checks, 80), expected);
    }

    #[test]
    fn long_words_stay_in_their_column() {
        let checks =
            [Check::fail("name", "many words that do not fit on one line", "and something to do about it")];
        let text = text(&checks, 40);
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("            ")), "{text}");
    }
}
