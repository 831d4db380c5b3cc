//! The book's page on access and trust names a test for each promise.

use std::path::Path;

#[test]
fn every_test_that_the_security_page_names_is_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = std::fs::read_to_string(top.join("docs/src/security.md")).expect("the page");
    let mut named = 0;
    for line in page.lines().filter(|line| line.starts_with('|') && line.contains(".rs`:")) {
        let words: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let mut file = String::new();
        for word in words {
            if word.ends_with(".rs") {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all").join(word);
                file = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{word}: {error}"));
            } else if word.contains('_') && !file.is_empty() {
                assert!(file.contains(&format!("fn {word}(")), "no test {word}");
                named += 1;
            }
        }
    }
    assert!(named >= 12, "only {named} tests are named");
}
