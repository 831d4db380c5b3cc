//! Spelling: known misspellings, and words of another English than the British.
//!
//! # Source
//! The word lists of the spelling checker `typos` (crates typos-dict and typos-vars). They list errors, not words, so a term of the
//! field that they do not have is right.
//!
//! # Not implemented
//! Words with digits or with a capital letter inside (`FlightSize`), and abbreviations in capital letters are not checked.

use typos_vars::Category;
use unicase::UniCase;

/// Returns the misspelt words of a sentence, each with the right spelling. Quoted text keeps its own.
pub fn misspelt(sentence: &str) -> Vec<(String, &'static str)> {
    let unquoted = sentence.split('"').step_by(2);
    let words = unquoted.flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()));
    let checked = words.filter(|word| is_checked(word));
    checked.filter_map(|word| Some((word.to_owned(), correction(word)?))).collect()
}

fn is_checked(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic());
    first && letters.clone().count() > 0 && letters.all(|letter| letter.is_ascii_lowercase())
}

/// Returns the right spelling of `word`; none if it is no known error.
fn correction(word: &str) -> Option<&'static str> {
    let word = UniCase::new(word);
    let known = typos_dict::WORD.find(&word).and_then(|corrections| corrections.first().copied());
    known.or_else(|| british(&word))
}

/// Returns the British spelling of a word that is spelt so elsewhere only.
fn british(word: &UniCase<&str>) -> Option<&'static str> {
    let variants = typos_vars::VARS.find(word)?;
    let is_british = |categories: u8| categories & Category::BritishIse as u8 != 0;
    if variants.iter().any(|(categories, _)| is_british(*categories)) {
        return None;
    }
    variants
        .iter()
        .find_map(|(_, variants)| typos_vars::corrections(Category::BritishIse, **variants).first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_with_its_correction() {
        assert_eq!(
            misspelt("Teh reciever waits."),
            [("Teh".to_owned(), "the"), ("reciever".to_owned(), "receiver")]
        );
    }

    #[test]
    fn american_spellings_are_found_and_british_ones_are_right() {
        assert_eq!(misspelt("The behavior."), [("behavior".to_owned(), "behaviour")]);
        assert_eq!(misspelt("The behaviour and the utilisation of an acknowledgement."), []);
    }

    #[test]
    fn a_quoted_title_keeps_its_spelling() {
        assert_eq!(misspelt("Brown, \"A color model\", 1999."), []);
    }

    #[test]
    fn terms_of_the_field_and_identifiers_are_no_errors() {
        assert_eq!(misspelt("fLEDBAT, ssthresh, FlightSize, cwnd and CUBIC over uTP."), []);
    }
}
