//! Each group of texts keeps the rules of prose. The tests of the command have the help.

use afteryou_words::{check, Group};
use std::path::Path;

/// Returns the root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn keeps_the_rules(group: Group) {
    let report = check(root(), group).unwrap();
    assert!(report.sentences > 20, "only {} sentences were found", report.sentences);
    assert_eq!(report.faults(), Vec::<String>::new());
}

#[test]
fn the_readme_keeps_the_rules_of_prose() {
    keeps_the_rules(Group::Readme);
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
