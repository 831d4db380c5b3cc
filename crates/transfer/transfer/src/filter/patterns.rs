//! Patterns as they are given, kept and sent.

use serde::{Deserialize, Serialize};

/// Patterns, each followed by a zero byte, which no file name has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patterns(#[serde(with = "serde_bytes")] Vec<u8>);

impl<T: AsRef<[u8]>> FromIterator<T> for Patterns {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        let mut patterns = Self::default();
        all.into_iter().for_each(|pattern| patterns.push(pattern.as_ref()));
        patterns
    }
}

impl Patterns {
    /// Adds a pattern as git takes it from its command line: `#` and blanks at its end belong to it.
    pub fn push(&mut self, pattern: &[u8]) {
        self.0.extend(pattern.iter().take_while(|&&byte| byte != 0));
        self.0.push(0);
    }

    /// Adds the patterns of a file, as git reads it. A mark of UTF-8 at its beginning, empty lines, lines that begin with `#`,
    /// a carriage return at a line's end, and then spaces at its end that no backslash precedes, are not part of a pattern.
    pub fn read(&mut self, text: &[u8]) {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.is_empty() && line[0] != b'#' {
                let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
                self.push(without_spaces(line));
            }
        }
    }

    /// Returns the patterns in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let all = self.0.strip_suffix(&[0]).or((!self.0.is_empty()).then_some(&self.0));
        all.into_iter().flat_map(|all| all.split(|&byte| byte == 0))
    }

    /// Returns the number of patterns.
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// Returns all of their bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns a line without the spaces at its end. A backslash keeps the byte after it; one that ends the line keeps all.
fn without_spaces(line: &[u8]) -> &[u8] {
    let (mut at, mut end) = (0, 0);
    while at < line.len() {
        let bytes = if line[at] == b'\\' { 2 } else { 1 };
        if line[at] != b' ' {
            end = at + bytes;
        }
        at += bytes;
    }
    &line[..end.min(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<Vec<u8>> {
        let mut patterns = Patterns::default();
        patterns.read(text);
        patterns.iter().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn a_file_is_read_as_git_reads_it() {
        for (text, expected) in [
            (&b""[..], &[][..]),
            (b"a\nb", &[&b"a"[..], b"b"]),
            (b"\xef\xbb\xbfa\n", &[b"a"]),
            (b"# no\n\\#yes\n\n #too\n", &[b"\\#yes", b" #too"]),
            (b"a  \nb\\ \nc\\  \nd\t \n", &[b"a", b"b\\ ", b"c\\ ", b"d\t"]),
            (b"a\r\nb\r\r\nc \r\nd\r", &[b"a", b"b\r", b"c", b"d"]),
            (b"a\\\n\xff\0b\n", &[b"a\\", b"\xff"]),
        ] {
            assert_eq!(read(text), expected, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_pattern_of_the_command_line_is_taken_as_it_is() {
        let mut patterns = Patterns::default();
        let given = [&b"#recycle"[..], b"a ", b"", b"\xff", b"a\nb"];
        given.iter().for_each(|pattern| patterns.push(pattern));
        assert_eq!(patterns.iter().collect::<Vec<_>>(), given);
        assert_eq!(patterns.count(), 5);
    }

    #[test]
    fn what_a_peer_sends_is_split_without_a_last_zero_byte_too() {
        let split = |bytes: &[u8]| Patterns(bytes.to_vec()).iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(split(b"a\0b"), [b"a", b"b"]);
        assert_eq!(split(b"\0"), [b""]);
        assert_eq!(split(b""), [b""; 0]);
    }
}
