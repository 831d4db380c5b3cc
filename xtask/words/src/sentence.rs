//! Paragraphs as sentences, and sentences as words.

/// Returns the sentences of a paragraph. One ends at a full stop, question mark or exclamation mark that a space and a capital
/// letter follow, closing quotes and brackets included.
pub fn split(paragraph: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let letters: Vec<(usize, char)> = paragraph.char_indices().collect();
    for (index, &(_, letter)) in letters.iter().enumerate() {
        if !matches!(letter, '.' | '!' | '?') {
            continue;
        }
        let after =
            index + 1 + letters[index + 1..].iter().take_while(|(_, c)| ")\"”’]".contains(*c)).count();
        let is_space = letters.get(after).is_some_and(|(_, c)| c.is_whitespace());
        let next = letters[after.min(letters.len())..].iter().find(|(_, c)| !c.is_whitespace());
        let begins = next.is_some_and(|(_, c)| c.is_uppercase() || c.is_numeric() || "([\"“`".contains(*c));
        if is_space && begins {
            let end = letters[after].0;
            sentences.push(paragraph[start..end].trim());
            start = end;
        }
    }
    sentences.push(paragraph[start..].trim());
    sentences.retain(|sentence| words(sentence) > 0);
    sentences
}

/// Returns the number of words.
pub fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_before_a_capital_letter() {
        let text = "It takes 1.5 s, e.g. on a link. (The second one.) A third? Yes";
        assert_eq!(split(text), ["It takes 1.5 s, e.g. on a link.", "(The second one.)", "A third?", "Yes"]);
    }

    #[test]
    fn signs_are_no_words() {
        assert_eq!(words("a – b = 20 ms"), 4);
    }
}
