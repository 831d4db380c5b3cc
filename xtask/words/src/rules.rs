//! The rules that a program can check.

/// Words of the longest sentence.
pub const LONGEST: usize = 25;

/// Phrases that have a better word: private words where the field has a term, and verbs of speech for programs. The glossary and
/// CONTRIBUTING.md have the words to use instead. In lower case, and found at the bounds of words only.
const PHRASES: &[&str] = &[
    "way there",
    "way back",
    "empty path",
    "far end",
    "the other side",
    "by lot",
    "for ever",
    "on end",
    "nothing to say",
    "on its way",
    "come to rest",
    "comes to rest",
    "came to rest",
    "step aside",
    "steps aside",
    "stepped aside",
    "stepping aside",
    "goes beyond",
    "want",
    "wants",
    "wanted",
    "tell",
    "tells",
    "told",
    "hear",
    "hears",
    "heard",
    "believe",
    "believes",
];

/// Beginnings of sentences without a named subject.
const BEGINNINGS: &[&str] = &["who", "whoever", "what"];

/// Returns the first excluded phrase of a sentence. A question may begin with any word.
pub fn excluded(sentence: &str) -> Option<&'static str> {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let is_question = sentence.trim_end().ends_with('?');
    let begins = |beginning: &&&str| !is_question && words.first() == Some(*beginning);
    let has = |phrase: &&&str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    BEGINNINGS.iter().find(begins).or_else(|| PHRASES.iter().find(has)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_at_the_bounds_of_words_only() {
        assert_eq!(excluded("The sender tells it."), Some("tells"));
        assert_eq!(excluded("A packet on its way."), Some("on its way"));
        assert_eq!(excluded("The scroll wheel moves on."), None);
        assert_eq!(excluded("A wanton act."), None);
    }

    #[test]
    fn a_sentence_names_its_subject_and_a_question_need_not() {
        assert_eq!(excluded("What is there is found by hashing."), Some("what"));
        assert_eq!(excluded("Whoever connects is served."), Some("whoever"));
        assert_eq!(excluded("What is a scavenger?"), None);
    }
}
