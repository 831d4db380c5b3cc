//! Checks of the project's prose: sentences that are too long, phrases that the rules of prose exclude, and spelling.
//!
//! # Model
//! A *group* is a set of files of one kind: README, book, error messages, doc comments. Each file is read as
//! paragraphs: running text without code blocks, tables and headings. Help is read as manual pages, which the caller makes. A paragraph is split into sentences. A sentence has a number
//! of words; a piece of inline code counts as one word.
//!
//! # Rules
//! CONTRIBUTING.md, "Prose". At most 2 % of a group's sentences have more than [`LONGEST`] words, and none has a phrase of the
//! list in `rules.rs`. Doc comments ask no question and pose no riddle, and those of functions begin with a verb of the list in `verbs.rs`.
//! The spelling is British (`spelling.rs`, behind the feature `spelling`: its word lists take half a minute to
//! compile).
//!
//! # Not implemented
//! Tables are not read: a cell is rarely a sentence. A full stop ends a sentence only if a capital letter follows, so "1.5 s" and
//! "e.g. this" end none.

mod error;
mod group;
mod manual;
mod markdown;
mod rules;
mod rust;
mod sentence;
#[cfg(feature = "spelling")]
mod spelling;
mod verbs;

pub use error::Error;
pub use group::{Group, GROUPS};
pub use manual::Manual;
pub use rules::{excluded, LONGEST};

use group::Text;
use std::path::Path;

/// The part of sentences that may be too long, %.
const MOST_LONG: f64 = 2.0;

/// A misspelt word.
#[cfg(feature = "spelling")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelling {
    /// The file, relative to the project's root.
    pub file: String,
    /// The word.
    pub word: String,
    /// The right spelling.
    pub correction: &'static str,
}

/// A sentence that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, relative to the project's root.
    pub file: String,
    /// The sentence, inline code as `code`.
    pub sentence: String,
    /// The number of its words.
    pub words: usize,
    /// The excluded phrase in it, if there is one.
    pub phrase: Option<&'static str>,
}

/// The findings of a group's check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Sentences read.
    pub sentences: usize,
    /// Those with more words than allowed.
    pub long: Vec<Finding>,
    /// Those with an excluded phrase.
    pub excluded: Vec<Finding>,
    /// Misspelt words.
    #[cfg(feature = "spelling")]
    pub misspelt: Vec<Misspelling>,
}

impl Report {
    /// Returns the part of sentences that are too long, %.
    pub fn long_percent(&self) -> f64 {
        100.0 * self.long.len() as f64 / self.sentences.max(1) as f64
    }

    /// Returns a line for each excluded phrase and misspelt word, and for each long sentence if there are too many.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self
            .excluded
            .iter()
            .map(|Finding { file, sentence, phrase, .. }| format!("{file}: {phrase:?} in: {sentence}"))
            .collect();
        #[cfg(feature = "spelling")]
        faults.extend(
            self.misspelt
                .iter()
                .map(|Misspelling { file, word, correction }| format!("{file}: {correction} for {word}")),
        );
        if self.long_percent() > MOST_LONG {
            let long = self.long.iter();
            faults.extend(
                long.map(|Finding { file, sentence, words, .. }| {
                    format!("{file}: {words} words: {sentence}")
                }),
            );
        }
        faults
    }
}

/// Reads a group of the project at `root` and returns its sentences that break a rule.
///
/// # Errors
/// A file that cannot be read, or Rust source that cannot be parsed.
pub fn check(root: &Path, group: Group) -> Result<Report, Error> {
    Ok(report(group.texts(root)?, group.own_rules()))
}

/// Returns the sentences of manual pages that break a rule.
pub fn check_manual<'a>(pages: impl IntoIterator<Item = Manual<'a>>) -> Report {
    let texts = pages.into_iter().map(|page| Text {
        file: page.name.to_owned(),
        paragraphs: page.paragraphs(),
        descriptions: Vec::new(),
    });
    report(texts, rules::excluded_for_users)
}

fn report(texts: impl IntoIterator<Item = Text>, own: rules::Rules) -> Report {
    let mut report = Report::default();
    for text in texts {
        for sentence in text.paragraphs.iter().flat_map(|paragraph| sentence::split(paragraph)) {
            report.sentences += 1;
            let words = sentence::words(sentence);
            let phrase = rules::excluded(sentence).or_else(|| own(sentence));
            let finding =
                || Finding { file: text.file.clone(), sentence: sentence.to_owned(), words, phrase };
            report.long.extend((words > LONGEST).then(finding));
            report.excluded.extend(phrase.map(|_| finding()));
            #[cfg(feature = "spelling")]
            report.misspelt.extend(
                spelling::misspelt(sentence).into_iter().map(|(word, correction)| Misspelling {
                    file: text.file.clone(),
                    word,
                    correction,
                }),
            );
        }
        for description in &text.descriptions {
            let phrase = description.fault();
            report.excluded.extend(phrase.map(|_| Finding {
                file: text.file.clone(),
                sentence: description.text.clone(),
                words: sentence::words(&description.text),
                phrase,
            }));
        }
    }
    report
}
