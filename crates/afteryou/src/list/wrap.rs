//! Text in lines of a width.

/// `text` in lines of at most `width` characters; a word that is longer than a line is broken. Never no line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(width) {
            append(&mut lines, piece, width);
        }
    }
    lines
}

fn append(lines: &mut Vec<String>, piece: &[char], width: usize) {
    let used = lines.last().map_or(0, |line| line.chars().count());
    if used > 0 && used + 1 + piece.len() > width {
        lines.push(String::new());
    }
    if let Some(line) = lines.last_mut() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(piece);
    }
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
    }
}
