//! Strings of an outcome, made harmless for the place they are put.
//!
//! Names come from files that others wrote. None of them may become markup, end a script or steer a terminal.

use afteryou_base::shown::{is_unfit, Shown};
use std::borrow::Cow;

/// Returns `text` without characters that steer a terminal, hide, or are forbidden in XML; each is escaped.
pub fn plain(text: &str) -> Cow<'_, str> {
    match text.contains(is_unfit) {
        true => Cow::Owned(Shown(text).to_string()),
        false => Cow::Borrowed(text),
    }
}

/// Returns `text` for HTML: between tags and within quoted attributes.
pub fn html(text: &str) -> String {
    markup(&plain(text))
}

/// Does the same as [`plain`], for text that keeps its line breaks.
pub fn plain_lines(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(plain).collect();
    lines.join("\n")
}

fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Returns JSON for a script element: the same JSON, but without any `<` that could end or nest the element. (`<` occurs only
/// within strings of JSON, where the escape means the same.)
pub fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Returns `text` cut to `chars` characters, the last one an ellipsis if something is missing.
pub fn cut(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(chars.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    if chars > 0 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_become_harmless() {
        assert_eq!(
            html("<img src=\"x\" onerror='y'>&"),
            "&lt;img src=&quot;x&quot; onerror=&#39;y&#39;&gt;&amp;"
        );
        assert_eq!(plain("\u{1b}[31mred\u{7}\u{202e}"), "\\u{1b}[31mred\\u{7}\\u{202e}");
        assert_eq!(plain_lines("a\u{7}\n<b"), "a\\u{7}\n<b");
    }

    #[test]
    fn json_in_a_script_means_the_same_and_cannot_end_it() {
        let json = serde_json::to_string("</script><!--").unwrap();
        let safe = json_in_script(&json);
        assert!(!safe.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!--");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("größe", 4), "grö…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }
}
