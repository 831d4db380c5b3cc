//! The header of an algorithm's file as a part of a page: what is written beside the code is what is in the book.

use std::path::{Path, PathBuf};

/// Returns the header of the queue discipline `name`, as markdown with headings from the second level on. The list has its
/// module.
pub fn of_queue(sources: &Path, name: &str) -> String {
    let list = read(&sources.join("list.rs"));
    let module =
        module(&list, name).unwrap_or_else(|| panic!("list.rs has no line that begins with {name:?}"));
    let files = [format!("{module}.rs"), format!("{module}/mod.rs")].map(|file| sources.join(file));
    let file = files.iter().find(|file| file.is_file());
    let file = file.unwrap_or_else(|| panic!("{} has no module {module}", sources.display()));
    markdown(&read(file))
}

/// Returns the module in the list's line for `name`.
fn module<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    let begin = format!("{name:?},");
    let line = list.lines().find_map(|line| line.trim_start().strip_prefix(&begin))?;
    line.split(',').next().map(str::trim)
}

/// Returns the header of the file that declares the controller `name`, as markdown with headings from the second level on.
pub fn of_controller(sources: &Path, name: &str) -> String {
    let mut files = rust_files(sources);
    files.sort();
    let line = format!("name: \"{name}\"");
    let declares = |text: &str| text.contains("Entry {") && text.contains(&line);
    let texts = files.iter().map(|file| read(file));
    let text = texts.into_iter().find(|text| declares(text));
    let text = text.unwrap_or_else(|| panic!("no file in {} has an Entry with {line}", sources.display()));
    markdown(&text)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns the `//!` lines at the top of `source` as markdown.
fn markdown(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let text: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    demoted(&text.join("\n"), 1, without_rust_links)
}

/// Returns `text` with its headings this number of levels lower and `prose` applied to everything that is not code.
pub fn demoted(text: &str, levels: usize, prose: fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut in_code = false;
    for line in text.trim().lines() {
        let fence = line.trim_start().starts_with("```");
        if fence || in_code {
            out += &prose(&std::mem::take(&mut paragraph));
            out += &format!("{line}\n");
            in_code ^= fence;
            continue;
        }
        if line.starts_with('#') {
            paragraph += &"#".repeat(levels);
        }
        paragraph += line;
        paragraph.push('\n');
    }
    out + &prose(&paragraph)
}

/// Links to Rust items as the plain words they show: the book has no pages for them.
fn without_rust_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '[']) {
        out += &rest[..at];
        rest = &rest[at..];
        let (kept, used) = match rest.starts_with('`') {
            true => code_span(rest),
            false => link(rest),
        };
        out += kept;
        rest = &rest[used..];
    }
    out + rest
}

/// Returns the code span that `text` begins with, and its length; a lone backtick means itself.
fn code_span(text: &str) -> (&str, usize) {
    let end = text[1..].find('`').map_or(1, |end| end + 2);
    (&text[..end], end)
}

/// Returns the rest of the link that `text` begins with, and the link's length.
fn link(text: &str) -> (&str, usize) {
    let Some(close) = text.find(']') else { return (&text[..1], 1) };
    let (words, after) = (&text[1..close], &text[close + 1..]);
    let closing = match after.chars().next() {
        Some('(') => after.find(')'),
        Some('[') => after.find(']'),
        Some(':') => after.find('\n').map(|end| end - 1),
        _ => None,
    };
    let Some(end) = closing else {
        let is_code = words.starts_with('`') && words.ends_with('`');
        return (if is_code { words } else { &text[..close + 1] }, close + 1);
    };
    let (target, used) = (after[1..=end].trim(), close + 1 + end + 1);
    match after.as_bytes()[0] {
        _ if target.starts_with("http") || target.starts_with('#') => (&text[..used], used),
        // The definition of a reference.
        b':' => ("", used),
        _ => (words, used),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_items_become_plain_code_and_links_to_pages_stay() {
        let cases = [
            ("see [`crate::restart`] and `a[i]`.", "see `crate::restart` and `a[i]`."),
            ("see [the rule](crate::loss_gate) there", "see the rule there"),
            ("see [`Gate`](crate::Gate)", "see `Gate`"),
            ("see [`Gate`][gate]\n[gate]: crate::Gate\nend", "see `Gate`\n\nend"),
            ("[RFC](https://rfc.example/1) [sic] `", "[RFC](https://rfc.example/1) [sic] `"),
        ];
        for (rust, book) in cases {
            assert_eq!(without_rust_links(rust), book);
        }
    }

    #[test]
    fn a_queue_is_in_the_module_that_its_line_names() {
        let list = "disciplines! {\n    \"red\", red, new, \"x\";\n    \"le_red\", le_aqm, new, \"x\";\n}\n";
        assert_eq!(
            [module(list, "red"), module(list, "le_red"), module(list, "re")],
            [Some("red"), Some("le_aqm"), None]
        );
    }

    #[test]
    fn headings_go_one_level_down_but_not_in_code() {
        let source = "//! One.\n//!\n//! # Model\n//! Two:\n//! ```text\n//! # not [`a`] heading\n//! ```\n//! end\nuse x;\n//! no";
        let book = "One.\n\n## Model\nTwo:\n```text\n# not [`a`] heading\n```\nend\n";
        assert_eq!(markdown(source), book);
    }
}
