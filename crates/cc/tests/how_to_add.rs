//! The book's page "How to add a controller", executed: what its second half says is done to a copy of this crate, and the
//! copy's tests must pass with the new controller in the list.
//!
//! The page needs no marks for that. A paragraph that names a file of this crate is followed by a block for it. If there is
//! no such file, the block is the file; otherwise it has lines to add: `/* the others */` stands for what is there already,
//! and a line without it goes beside those that begin alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the page writes for the part of a line that the file has.
const OTHERS: &str = "/* the others */";

/// A test that the copy gets on top of its own.
const LISTED: &str = "//! Is it in the list?\n\n#[test]\nfn the_list_has_it() {\n    \
    assert!(afteryou_cc::list::CONTROLLERS.iter().any(|entry| entry.name == afteryou_cc::MODULE::ENTRY.name));\n}\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn page() -> String {
    read(&root().join("docs/src/add-a-controller.md"))
}

/// The page's blocks for files of this crate, each with the file's path from the root of the repository.
fn blocks(page: &str) -> Vec<(String, String)> {
    let (mut blocks, mut paragraph) = (Vec::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("```") {
            // A block belongs to the paragraph right before it.
            if !line.is_empty() && paragraph.ends_with("\n\n") {
                paragraph.clear();
            }
            paragraph += &format!("{line}\n");
            continue;
        }
        let block: String =
            lines.by_ref().take_while(|line| *line != "```").flat_map(|l| [l, "\n"]).collect();
        let is_ours = |word: &&str| word.starts_with("crates/cc/src/") && word.ends_with(".rs");
        if let (true, Some(file)) = (line.starts_with("```rust"), paragraph.split('`').find(is_ours)) {
            blocks.push((file.to_owned(), block));
        }
        paragraph.clear();
    }
    blocks
}

/// Does what a block says.
fn apply(path: &Path, block: &str) {
    if !path.exists() {
        return write(path, block);
    }
    let mut text = read(path);
    for line in block.lines().filter(|line| !line.is_empty()) {
        text = added(&text, line).unwrap_or_else(|| panic!("{line:?} fits nowhere in {}", path.display()));
    }
    write(path, &text);
}

/// `text` with `line` added, if there is a place for it.
fn added(text: &str, line: &str) -> Option<String> {
    let Some((before, after)) = line.split_once(OTHERS) else {
        let alike = line.rsplit_once(' ')?.0;
        let at = text.find(&format!("\n{alike} "))? + 1;
        return Some(format!("{}{line}\n{}", &text[..at], &text[at..]));
    };
    let (addition, end) = after.split_at(after.find(['}', ']', ')'])?);
    let start = text.find(before)? + before.len();
    let others = text[start..start + text[start..].find(end)?].trim_end();
    let comma = if others.ends_with(',') { "" } else { "," };
    let at = start + others.len();
    Some(format!("{}{comma}{addition}{}", &text[..at], &text[at..]))
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let path = entry.expect("readable").path();
        let to = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy_folder(&path, &to),
            false => write(&to, &read(&path)),
        }
    }
}

/// A workspace of this crate alone, with the settings and the locked dependencies of the real one.
fn copy_workspace(to: &Path) {
    let manifest = read(&root().join("Cargo.toml"));
    let settings = manifest.find("[workspace.package]").expect("the root has the packages' common fields");
    let head = "[workspace]\nresolver = \"2\"\nmembers = [\"crates/cc\"]\n\n";
    write(&to.join("Cargo.toml"), &format!("{head}{}", &manifest[settings..]));
    write(&to.join("Cargo.lock"), &read(&root().join("Cargo.lock")));
    let (from, to) = (root().join("crates/cc"), to.join("crates/cc"));
    // What an earlier run left there must not be taken for ours.
    let _ = fs::remove_dir_all(&to);
    write(&to.join("Cargo.toml"), &read(&from.join("Cargo.toml")));
    copy_folder(&from.join("src"), &to.join("src"));
    copy_folder(&from.join("tests"), &to.join("tests"));
    fs::remove_file(to.join("tests/how_to_add.rs")).expect("this file was copied, too");
}

#[test]
fn what_the_page_says_makes_a_controller_that_passes_the_property_tests() {
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("how_to_add");
    copy_workspace(&copy);
    let blocks = blocks(&page());
    let files: Vec<&str> = blocks.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(files[1..], ["crates/cc/src/lib.rs", "crates/cc/src/list.rs"], "{files:?}");
    assert!(!copy.join(files[0]).exists(), "{} is not new: the page needs another example", files[0]);
    blocks.iter().for_each(|(file, block)| apply(&copy.join(file), block));
    let module = Path::new(files[0]).file_stem().and_then(|stem| stem.to_str()).expect("a name");
    write(&copy.join("crates/cc/tests/listed.rs"), &LISTED.replace("MODULE", module));

    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--package", "afteryou-cc", "--lib", "--tests", "--target-dir"])
        .arg(copy.join("target"))
        // Less time to compile than the optimised tests would save.
        .envs([("CARGO_PROFILE_TEST_OPT_LEVEL", "0"), ("CARGO_PROFILE_TEST_DEBUG", "0")])
        .current_dir(&copy)
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaints}");
    for test in ["the_list_has_it", "no_sequence_of_events_breaks_a_controller"] {
        assert!(said.contains(&format!("test {test} ... ok")), "{test} did not run:\n{said}");
    }
    assert!(said.contains(&format!("test {module}::tests::")), "the page's own test did not run:\n{said}");
    assert!(!complaints.contains(files[0]), "the compiler warns of the page's file:\n{complaints}");
}

#[test]
fn every_file_that_the_page_shows_is_there() {
    let page = page();
    let shown: Vec<&str> =
        page.split("{{#include ").skip(1).map(|rest| rest.split_once("}}").expect("an end").0).collect();
    assert!(shown.len() >= 4, "{shown:?}");
    for shown in shown {
        let (file, anchor) = shown.split_once(':').unwrap_or((shown, ""));
        let text = read(&root().join("docs/src").join(file));
        assert!(text.contains(&format!("ANCHOR: {anchor}")) || anchor.is_empty(), "{file} has no {anchor}");
    }
}

#[test]
fn a_line_is_added_wherever_the_file_has_a_place_for_it_and_nowhere_else() {
    let use_line = "use crate::{/* the others */ new};";
    assert_eq!(added("use crate::{a, b};\n", use_line).unwrap(), "use crate::{a, b, new};\n");
    assert_eq!(
        added("x\nuse crate::{\n    a,\n};\n", use_line).unwrap(),
        "x\nuse crate::{\n    a, new\n};\n"
    );
    assert_eq!(
        added("//! x\n\npub mod a;\n", "pub mod new;").unwrap(),
        "//! x\n\npub mod new;\npub mod a;\n"
    );
    assert_eq!(added("use a;\n", use_line), None);
    assert_eq!(added("mod a;\n", "pub mod new;"), None);
}
