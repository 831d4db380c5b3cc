//! Text in lines of a width.

use textwrap::{Options, WordSplitter};

/// Returns `text` in lines of at most `width` columns. A word that is longer than a line is broken, no other one is, and
/// there is at least one line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1)).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_are_full_and_never_longer() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 4), ["unbr", "eaka", "ble"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("a b", 0), ["a", "b"]);
        assert_eq!(wrap("fq-codel a", 8), ["fq-codel", "a"]);
        assert_eq!(wrap("文件 a", 4), ["文件", "a"], "two columns each");
    }
}
