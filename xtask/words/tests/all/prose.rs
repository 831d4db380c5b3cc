//! Each group of texts keeps the rules of prose.

use afteryou_words::{check, Group};
use std::path::Path;

/// Returns the root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn keeps_the_rules(group: Group) {
    let report = check(root(), group).unwrap();
    assert!(report.sentences > 20, "only {} sentences were found", report.sentences);
    assert!(report.excluded.is_empty(), "{:#?}", report.excluded);
    #[cfg(feature = "spelling")]
    assert!(report.misspelt.is_empty(), "{:#?}", report.misspelt);
    assert!(report.long_percent() <= 2.0, "{:.1} % are too long: {:#?}", report.long_percent(), report.long);
}

#[test]
fn the_readme_keeps_the_rules_of_prose() {
    keeps_the_rules(Group::Readme);
}

#[test]
fn help_and_manual_pages_keep_the_rules_of_prose() {
    keeps_the_rules(Group::Help);
}

#[test]
fn the_book_keeps_the_rules_of_prose() {
    keeps_the_rules(Group::Book);
}

#[test]
fn error_messages_keep_the_rules_of_prose() {
    keeps_the_rules(Group::Errors);
}

#[test]
fn doc_comments_keep_the_rules_of_prose() {
    keeps_the_rules(Group::DocComments);
}
