//! The book's page on access and trust names a test for each promise.

use std::path::Path;

#[test]
fn every_test_that_the_security_page_names_is_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = std::fs::read_to_string(top.join("docs/src/security.md")).expect("the page");
    // A name with folders is that of a file in the repository, any other that of one beside this.
    let text_of = |word: &str| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all");
        let path = if word.starts_with("crates/") { top.join(word) } else { here.join(word) };
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{word}: {error}"))
    };
    let (mut named, mut of_table) = (0, String::new());
    for line in page.lines() {
        if !line.starts_with('|') {
            of_table.clear();
            continue;
        }
        let words: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        let mut file = of_table.clone();
        for word in words {
            if word.ends_with(".rs") {
                file = text_of(word);
            } else if word.contains('_') && !file.is_empty() {
                assert!(file.contains(&format!("fn {word}(")), "no test {word}");
                named += 1;
            }
        }
        if line.contains("| test, in `") {
            of_table = file;
        }
    }
    assert!(named >= 20, "only {named} tests are named");
}
