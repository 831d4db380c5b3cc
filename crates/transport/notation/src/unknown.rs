//! Finding the word that was meant.

use crate::error::Error;

/// Returns the word of `choices` nearest to `word`, if one is near enough to be what was meant.
pub fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    choices
        .into_iter()
        .map(|choice| (strsim::jaro_winkler(&word, choice), choice))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, choice)| choice)
}

/// Most choices that are listed: a scenario may have thousands of flows.
const MOST_SHOWN: usize = 30;

/// Returns the error for a name that is not among `choices`.
pub fn unknown(what: impl Into<String>, name: &str, choices: &[&str]) -> Error {
    let valid = match choices {
        [] => "it takes none".to_owned(),
        [first @ .., _] if choices.len() > MOST_SHOWN => {
            format!("use one of {}, … ({} in all)", first[..MOST_SHOWN].join(", "), choices.len())
        }
        _ => format!("use one of {}", choices.join(", ")),
    };
    let advice = match nearest(name, choices.iter().copied()) {
        Some(choice) => format!("did you mean {choice:?}? {valid}"),
        None => valid,
    };
    Error::Unknown { what: what.into(), name: name.to_owned(), advice }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested_and_nonsense_is_not() {
        let names = ["ledbat++", "ledbat", "cubic", "newreno"];
        assert_eq!(nearest("cubik", names), Some("cubic"));
        assert_eq!(nearest("LEDBAT+", names), Some("ledbat++"));
        assert_eq!(nearest("zzz", names), None);
        let error = unknown("controller", "cubik", &names).to_string();
        assert_eq!(
            error,
            "there is no controller \"cubik\": did you mean \"cubic\"? use one of ledbat++, ledbat, cubic, newreno"
        );
    }
}
