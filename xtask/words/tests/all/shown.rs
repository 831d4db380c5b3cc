//! Pages show files of the project as they are.
//!
//! A comment before a block of code names the file: `<!-- from FILE -->` for the whole file, `<!-- part of FILE -->` for lines of it that
//! are together. The text itself is in the page, so it reads well in a checkout, too.

use super::prose::root;
use std::path::{Path, PathBuf};

/// A block of code, and the file that it shows.
#[derive(Debug, PartialEq)]
struct Shown<'a> {
    file: &'a str,
    is_whole: bool,
    block: &'a str,
}

/// Returns the blocks of a page that have a file's name before them.
///
/// # Panics
/// If no block follows a file's name.
fn shown(page: &str) -> Vec<Shown<'_>> {
    let mut found = Vec::new();
    for (mark, is_whole) in [("<!-- from ", true), ("<!-- part of ", false)] {
        for rest in page.split(mark).skip(1) {
            let (file, rest) = rest.split_once(" -->\n").expect("a mark ends its line");
            let rest =
                rest.strip_prefix("```").unwrap_or_else(|| panic!("no block follows the mark of {file}"));
            let (_, rest) = rest.split_once('\n').expect("a block");
            let (block, _) =
                rest.split_once("\n```\n").unwrap_or_else(|| panic!("the block of {file} has no end"));
            found.push(Shown { file, is_whole, block });
        }
    }
    found
}

/// Returns why a block is not what its file has, if it is not.
fn fault(shown: &Shown<'_>, text: &str) -> Option<&'static str> {
    let block = format!("{}\n", shown.block);
    let is_current = if shown.is_whole { block == text } else { text.contains(&block) };
    (!is_current).then_some("differs from the file: copy the file's text into the page")
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.flat_map(|path| if path.is_dir() { pages(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

fn read(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // A checkout may have other line ends.
    text.replace("\r\n", "\n")
}

#[test]
fn a_block_that_names_a_file_is_that_files_text() {
    let (mut faults, mut blocks) = (Vec::new(), 0);
    for page in pages(&root().join("docs/src")) {
        for shown in shown(&read(&page)) {
            blocks += 1;
            let fault = fault(&shown, &read(&root().join(shown.file)));
            faults.extend(
                fault.map(|fault| format!("{}: the block of {} {fault}", page.display(), shown.file)),
            );
        }
    }
    assert!(blocks >= 8, "only {blocks} blocks name their file");
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn a_block_is_compared_with_the_whole_file_or_with_a_part_of_it() {
    let page = "Text.\n\n<!-- from a.toml -->\n```toml\nx = 1\n```\n\n<!-- part of b.rs -->\n```rust,ignore\n//! ```\nfn y() {}\n```\n";
    let shown = shown(page);
    let whole = Shown { file: "a.toml", is_whole: true, block: "x = 1" };
    let part = Shown { file: "b.rs", is_whole: false, block: "//! ```\nfn y() {}" };
    assert_eq!(shown, [whole, part]);
    assert_eq!(fault(&shown[0], "x = 1\n"), None);
    assert!(fault(&shown[0], "x = 1\ny = 2\n").is_some());
    assert_eq!(fault(&shown[1], "use z;\n//! ```\nfn y() {}\n"), None);
    assert!(fault(&shown[1], "use z;\nfn y() {}\n").is_some());
}
