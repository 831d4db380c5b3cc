//! A page of the book on how to add something to crates, executed: its steps are done to copies of the crates, and the
//! copies' tests must pass. Those are the tests of the first crate, and of its modules that the page adds or changes: the
//! others' are tried on the crate itself.
//!
//! The page needs no marks for that. A paragraph that names a file of a crate is followed by a block for it. If there is
//! no such file, the block is the file; otherwise each of its paragraphs is to be added: `/* the others */` stands for what
//! is there already, and a line without it goes beside those that begin alike. A paragraph that begins with it goes to the
//! end of the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The page writes this for the part of a line that the file has.
const OTHERS: &str = "/* the others */";

/// A page and its crates.
pub struct Recipe {
    /// The page, in `docs/src`.
    pub page: &'static str,
    /// The folders of the crates in `crates`, each a wing and a name. The tests are those of the first one.
    pub packages: &'static [&'static str],
    /// The files in `crates` that the page changes, in its order.
    pub changes: &'static [&'static str],
    /// The copy gets the crate's integration tests.
    pub has_all_tests: bool,
    /// A test that the copy gets on top; MODULE stands for what the page adds.
    pub extra_test: &'static str,
}

/// The result of following a page.
pub struct Followed {
    /// The module that the page adds, if any.
    pub module: Option<String>,
    /// The output of the tests.
    said: String,
}

impl Followed {
    /// Asserts that each of these tests ran.
    pub fn ran(&self, tests: &[&str]) {
        for test in tests {
            assert!(self.said.contains(&format!("test {test}")), "{test} did not run:\n{}", self.said);
        }
    }
}

impl Recipe {
    /// Returns the first crate's folder.
    fn package(&self) -> &'static str {
        self.packages[0]
    }

    /// Returns the first crate's name, without the words that all names have in common.
    fn name(&self) -> &'static str {
        self.package().rsplit('/').next().unwrap_or_default()
    }

    /// Returns the page's text.
    pub fn text(&self) -> String {
        read(&root().join("docs/src").join(self.page))
    }

    /// Follows the page in a folder of `temporary` and runs the copy's tests, which must pass and have no warning about the new file.
    pub fn follow(&self, temporary: &str) -> Followed {
        let temporary = Path::new(temporary);
        let copy = temporary.join(format!("how_to_add_{}", self.name()));
        self.copy_workspace(&copy);
        let blocks = self.blocks();
        let is_there = |file: &&str| copy.join("crates").join(file).exists();
        let (changed, new): (Vec<&str>, Vec<&str>) =
            blocks.iter().map(|(file, _)| file.as_str()).partition(is_there);
        assert_eq!(changed, self.changes, "the page needs another example, or a file has moved");
        let module = new.first().and_then(|file| Path::new(file).file_stem()?.to_str()).map(str::to_owned);
        let kept: Vec<PathBuf> = changed.iter().map(|file| copy.join("crates").join(file)).collect();
        leave_out_tests(&copy.join(format!("crates/{}/src", self.package())), &kept);
        blocks.iter().for_each(|(file, block)| apply(&copy.join("crates").join(file), block));
        let test = copy.join(format!("crates/{}/tests/listed.rs", self.package()));
        write(&test, &self.extra_test.replace("MODULE", module.as_deref().unwrap_or_default()));
        let (said, complaints) = self.test(&copy, &temporary.join("how_to_add"));
        for file in new {
            assert!(!complaints.contains(file), "the compiler warns of the page's file:\n{complaints}");
        }
        Followed { module, said }
    }

    fn test(&self, copy: &Path, target: &Path) -> (String, String) {
        // The least time to compile and run the tests together.
        let level = if self.has_all_tests { 1 } else { 0 };
        let output = Command::new(env!("CARGO"))
            .args([
                "test",
                "--offline",
                "--lib",
                "--tests",
                "--package",
                &format!("afteryou-{}", self.name()),
            ])
            // One for all pages: what the crates depend on is built once.
            .arg("--target-dir")
            .arg(target)
            .args([
                "--config",
                &format!("profile.test.opt-level={level}"),
                "--config",
                "profile.test.debug=0",
            ])
            .args(["--config", "profile.test.package.'*'.opt-level=0"])
            // Fewer cases than the real crate's tests try.
            .env("PROPTEST_CASES", "32")
            // What only the tests used that were left out is a warning, whatever the caller makes of warnings.
            .env("RUSTFLAGS", "--cap-lints warn")
            .current_dir(copy)
            .output()
            .expect("cargo starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}\n{complaints}");
        (said, complaints)
    }

    /// Returns the page's blocks for files of the crates, each with the file's path in `crates`.
    fn blocks(&self) -> Vec<(String, String)> {
        let page = self.text();
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
            let named = paragraph.split('`').find_map(|word| self.named(word));
            if let (true, Some(file)) = (line.starts_with("```rust"), named) {
                blocks.push((file.to_owned(), block));
            }
            paragraph.clear();
        }
        blocks
    }

    /// Returns the source file of one of the crates that a word of the page names.
    fn named<'a>(&self, word: &'a str) -> Option<&'a str> {
        let file = word.strip_prefix("crates/").filter(|file| file.ends_with(".rs"))?;
        self.packages.iter().any(|package| file.starts_with(&format!("{package}/src/"))).then_some(file)
    }

    /// Makes a workspace of the crates, with the packages' settings and the locked dependencies of the real one. All other
    /// crates are the real ones.
    fn copy_workspace(&self, to: &Path) {
        let manifest = read(&root().join("Cargo.toml"));
        let settings =
            manifest.find("[workspace.package]").expect("the root has the packages' common fields");
        // Without the profiles, which compile well what the real tests spend time in.
        let profiles = manifest.find("[profile.").unwrap_or(manifest.len());
        let head = "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*/*\"]\n\n";
        // What an earlier run left there must not be taken for ours.
        let _ = fs::remove_dir_all(to.join("crates"));
        let all = root().canonicalize().expect("the repository");
        let mut manifest =
            manifest[settings..profiles].replace("path = \"", &format!("path = \"{}/", all.display()));
        for package in self.packages {
            let copied = format!("crates/{package}\"");
            manifest = manifest.replace(&format!("{}/{copied}", all.display()), &copied);
        }
        write(&to.join("Cargo.toml"), &format!("{head}{manifest}"));
        write(&to.join("Cargo.lock"), &read(&root().join("Cargo.lock")));
        for package in self.packages {
            let (from, to) = (all.join("crates").join(package), to.join("crates").join(package));
            let mut manifest = read(&from.join("Cargo.toml"));
            // A crate that is copied, too, is meant as its copy.
            for other in self.packages {
                let beside = other.rsplit('/').next().unwrap_or_default();
                let copied = format!("path = \"{}\"", to.join("..").join(beside).display());
                manifest = manifest.replace(&format!("path = \"../{beside}\""), &copied);
            }
            let up = format!("path = \"{}/..", from.display());
            write(&to.join("Cargo.toml"), &manifest.replace("path = \"..", &up));
            copy_folder(&from.join("src"), &to.join("src"));
        }
        if !self.has_all_tests {
            return;
        }
        let tests = format!("crates/{}/tests", self.package());
        copy_folder(&root().join(&tests), &to.join(&tests));
        // What the tests read beside the sources.
        let vectors = format!("crates/{}/vectors", self.package());
        if root().join(&vectors).exists() {
            copy_folder(&root().join(&vectors), &to.join(&vectors));
        }
    }
}

/// Returns the repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads a file's text.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
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

/// Takes the tests out of the modules in `folder`, `kept` excepted.
fn leave_out_tests(folder: &Path, kept: &[PathBuf]) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("readable").path();
        match path.is_dir() {
            true => leave_out_tests(&path, kept),
            false if kept.contains(&path) => {}
            false => write(&path, &without_tests(&read(&path))),
        }
    }
}

/// Returns a module's text without its tests: a file of their own, or the end of this one.
fn without_tests(text: &str) -> String {
    match text.split_once("\n#[cfg(test)]\nmod tests") {
        Some((code, rest)) => format!("{code}{}", rest.strip_prefix(';').unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Applies a block.
fn apply(path: &Path, block: &str) {
    if !path.exists() {
        return write(path, block);
    }
    let mut text = read(path);
    for paragraph in block.split("\n\n").map(str::trim_end) {
        text = added(&text, paragraph)
            .unwrap_or_else(|| panic!("{paragraph:?} fits nowhere in {}", path.display()));
    }
    write(path, &text);
}

/// Returns `text` with `paragraph` added, if there is a place for it.
pub fn added(text: &str, paragraph: &str) -> Option<String> {
    if let Some(last) = paragraph.strip_prefix(OTHERS) {
        let end = text.find("\n#[cfg(test)]\n").map_or(text.len(), |tests| tests + 1);
        let (code, tests) = (text[..end].trim_end(), &text[end..]);
        let gap = if tests.is_empty() { "" } else { "\n" };
        return Some(format!("{code}\n{}\n{gap}{tests}", last.trim_end()));
    }
    let Some((before, after)) = paragraph.split_once(OTHERS) else {
        let alike = paragraph.rsplit_once(' ')?.0;
        let at = text.find(&format!("\n{alike} "))? + 1;
        return Some(format!("{}{paragraph}\n{}", &text[..at], &text[at..]));
    };
    let addition = after[..after.rfind(['}', ']', ')'])?].trim_end();
    let (before, end) = (before.trim_end(), &after[addition.len()..]);
    let start = text.find(before)? + before.len();
    let others = text[start..start + text[start..].find(end)?].trim_end();
    let comma = if others.ends_with([',', ';']) { "" } else { "," };
    let at = start + others.len();
    Some(format!("{}{comma}{addition}{}", &text[..at], &text[at..]))
}
