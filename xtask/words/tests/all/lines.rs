//! Links to lines of the source lead to the items that they name, and paths in the architecture page to files.

use std::path::{Path, PathBuf};

/// Pages that link to lines.
const PAGES: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/src/read-the-code.md"];
/// Folders in which a name in backticks is a path.
const FOLDERS: &[&str] = &["bench", "crates", "docs", "fuzz", "web", "xtask"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A link such as ``[`trait Controller`](../../a.rs#L17)``.
struct Link<'a> {
    /// The declaration, as the line has it.
    item: String,
    /// The file, relative to the page.
    file: &'a str,
    /// From 1.
    line: usize,
}

/// Returns the links of a page that have a line.
fn links(page: &str) -> Vec<Link<'_>> {
    let mut found = Vec::new();
    for (at, _) in page.match_indices("](") {
        let target = page[at + 2..].split(')').next().unwrap_or_default();
        let Some((file, line)) = target.split_once("#L") else { continue };
        let item = page[..at].rsplit('[').next().unwrap_or_default().trim_matches('`').to_owned();
        found.push(Link { item, file, line: line.parse().unwrap_or(0) });
    }
    found
}

/// Returns whether a line declares `item`, and not one whose name only begins like it.
fn declares(line: &str, item: &str) -> bool {
    line.split_once(item)
        .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Returns the number of the first line that declares `item`, from 1.
fn line_of(source: &str, item: &str) -> Option<usize> {
    source.lines().position(|line| declares(line, item)).map(|index| index + 1)
}

/// Returns the page with the lines of today, and a sentence for each link that had another one.
fn corrected(page: &str, source_of: impl Fn(&str) -> String) -> (String, Vec<String>) {
    let (mut text, mut wrong) = (page.to_owned(), Vec::new());
    for Link { item, file, line } in links(page) {
        let source = source_of(file);
        if source.lines().nth(line.wrapping_sub(1)).is_some_and(|line| declares(line, &item)) {
            continue;
        }
        let today = line_of(&source, &item);
        wrong.push(match today {
            Some(today) => format!("{item}: line {line} of {file} is line {today} today"),
            None => format!("{item}: not in {file}"),
        });
        let target = |line: usize| format!("`{item}`]({file}#L{line})");
        text = text.replace(&target(line), &target(today.unwrap_or(line)));
    }
    (text, wrong)
}

#[test]
fn links_to_lines_lead_to_their_items() {
    let mut wrong = Vec::new();
    for name in PAGES {
        let path = root().join(name);
        let home = path.parent().unwrap();
        let page = read(&path);
        let (text, found) = corrected(&page, |file| read(&home.join(file)));
        if std::env::var_os("UPDATE_LINES").is_some() && text != page {
            std::fs::write(&path, text).unwrap();
        }
        wrong.extend(found.iter().map(|link| format!("{name}: {link}")));
    }
    assert!(links(&read(&root().join("docs/src/read-the-code.md"))).len() >= 10, "the links were not found");
    assert!(
        wrong.is_empty(),
        "{wrong:#?}\nUPDATE_LINES=1 cargo test -p afteryou-words --test all lines writes today's lines"
    );
}

#[test]
fn paths_of_the_architecture_page_are_there() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let code = page.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let is_path = |code: &&str| FOLDERS.iter().any(|folder| code.starts_with(&format!("{folder}/")));
    let paths: Vec<PathBuf> = code.filter(is_path).map(|path| root().join(path)).collect();
    assert!(paths.len() >= 50, "only {} paths were found", paths.len());
    let gone: Vec<_> = paths.iter().filter(|path| !path.exists()).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
fn every_crate_of_a_wing_is_on_the_map() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let mut missing = Vec::new();
    for wing in ["transport", "lab", "transfer"] {
        for entry in std::fs::read_dir(root().join("crates").join(wing)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !page.contains(&format!("| `crates/{wing}/{name}` |")) {
                missing.push(format!("crates/{wing}/{name}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_link_to_a_line_that_has_moved_is_named_and_corrected() {
    let source = "//! Text.\n\npub trait ControllerOfMany {}\npub trait Controller: Send {\n";
    let page = |line: usize| format!("See [`trait Controller`](../a.rs#L{line}) and [a page](b.md).");
    let (text, wrong) = corrected(&page(3), |_| source.to_owned());
    assert_eq!(wrong, ["trait Controller: line 3 of ../a.rs is line 4 today"]);
    assert_eq!(text, page(4));
    assert_eq!(corrected(&page(4), |_| source.to_owned()), (page(4), Vec::new()));
    let (_, wrong) = corrected(&page(4), |_| "struct Other;".to_owned());
    assert_eq!(wrong, ["trait Controller: not in ../a.rs"]);
}
