//! Text from elsewhere, made fit to be shown: names of files and flows, words of a peer.
//!
//! A terminal obeys control characters. Other characters turn the direction of what follows, or have no width, so that a name
//! looks like another one. [`Shown`] writes each of them as Rust escapes it. Whatever shows a name uses it: terminals, logs, metrics, pages.
//!
//! ```
//! use afteryou_base::shown::Shown;
//!
//! assert_eq!(Shown("a\u{202e}gpj.exe\n").to_string(), "a\\u{202e}gpj.exe\\n");
//! assert_eq!(Shown("Grüße, 文件, שלום").to_string(), "Grüße, 文件, שלום");
//! ```
//!
//! # What is escaped
//! - control characters (general category Cc) and separators of lines and paragraphs (Zl, Zp);
//! - Default_Ignorable_Code_Point, `DerivedCoreProperties.txt` of Unicode 16: characters without a width, among them the marks of
//!   the bidirectional algorithm (UAX 9, section 2), tags and variation selectors;
//! - U+FFF9 to U+FFFB, which hide an annotation in the text;
//! - noncharacters (Unicode 16, section 23.7), which XML does not take, either.
//!
//! # Known bad case
//! Emoji of several persons and some words of Persian and of Indic languages need a joiner without a width (U+200C, U+200D). They are shown with
//! its escape: a name with a joiner would look like the name without it.

use core::fmt;

/// Ranges of Default_Ignorable_Code_Point, Unicode 16. Those of Unicode 14 to 17 are the same.
const IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns true for a character that steers a terminal, changes how other text is shown, or is not to be seen.
pub fn is_unfit(character: char) -> bool {
    if (' '..='~').contains(&character) {
        return false;
    }
    let is_ignorable = || {
        let after = IGNORABLE.partition_point(|(first, _)| *first <= character);
        after > 0 && character <= IGNORABLE[after - 1].1
    };
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
        || is_noncharacter(character)
        || is_ignorable()
}

fn is_noncharacter(character: char) -> bool {
    ('\u{fdd0}'..='\u{fdef}').contains(&character) || u32::from(character) & 0xfffe == 0xfffe
}

/// Displays a text with every unfit character escaped. Two texts may look alike; see [`Distinct`].
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0, is_unfit, f)
    }
}

/// The same, with backslashes doubled, so that two texts never look alike.
#[derive(Clone, Copy, Debug)]
pub struct Distinct<'a>(pub &'a str);

impl fmt::Display for Distinct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0, |character| character == '\\' || is_unfit(character), f)
    }
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut written = 0;
    for (at, character) in text.char_indices().filter(|(_, character)| is_escaped(*character)) {
        f.write_str(&text[written..at])?;
        write!(f, "{}", character.escape_default())?;
        written = at + character.len_utf8();
    }
    f.write_str(&text[written..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_or_hides_passes_and_all_that_can_be_read_does() {
        for (first, last) in IGNORABLE {
            assert!(first <= last && is_unfit(first) && is_unfit(last), "{}", first.escape_unicode());
        }
        for hidden in "\0\u{7}\u{1b}\u{7f}\u{9b}\u{2028}\u{2029}\u{fff9}\u{fffe}\u{fdd0}\u{10ffff}".chars() {
            assert!(is_unfit(hidden), "{}", hidden.escape_unicode());
        }
        let readable = "aZ09 ~\u{a0}é–“”文件שלוםمرحباहि한글😀\u{fffd}\u{fffc}\u{2800}";
        assert_eq!(readable.chars().find(|character| is_unfit(*character)), None);
    }

    #[test]
    fn the_ranges_are_those_of_unicode() {
        let parsed = regex_syntax::parse(r"\p{Default_Ignorable_Code_Point}").unwrap();
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) = parsed.kind()
        else {
            panic!("{parsed:?}")
        };
        let known: Vec<(char, char)> = class.iter().map(|range| (range.start(), range.end())).collect();
        assert_eq!(known, IGNORABLE);
    }

    #[test]
    fn distinct_texts_stay_distinct() {
        assert_eq!(Distinct("a\n").to_string(), r"a\n");
        assert_eq!(Distinct(r"a\n").to_string(), r"a\\n");
        assert_eq!(Shown(r"a\n").to_string(), r"a\n");
    }
}
