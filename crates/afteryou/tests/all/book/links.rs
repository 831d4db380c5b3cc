//! Links of the book's pages to files.

use std::path::{Path, PathBuf};

/// Returns "page: target" for each relative link in the pages below `folder` that leads to no file, nor to one that will be `made`.
pub fn broken(folder: &Path, made: &[PathBuf]) -> Vec<String> {
    broken_of(&pages(folder), |file| file.is_file() || made.iter().any(|made| made == file))
}

/// Returns the same for pages that are read where they lie: a link may lead to a folder.
pub fn broken_outside(pages: &[PathBuf]) -> Vec<String> {
    broken_of(pages, Path::exists)
}

fn broken_of(pages: &[PathBuf], leads: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut broken = Vec::new();
    for page in pages {
        let text = read(page);
        let home = page.parent().unwrap_or(Path::new(""));
        for target in targets(&text) {
            let file = target.split('#').next().unwrap_or_default();
            let is_there = file.is_empty() || leads(&home.join(file));
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    broken
}

/// Returns the complaints about the pages of `folder` as a book: pages that the table of contents leaves out, and
/// instructions to mdBook, which readers of a checkout see as they are.
pub fn unbuildable(folder: &Path) -> Vec<String> {
    let contents = read(&folder.join("SUMMARY.md"));
    let listed: Vec<PathBuf> = targets(&contents).iter().map(|target| folder.join(target)).collect();
    let mut wrong = Vec::new();
    for page in pages(folder) {
        let name = page.display();
        if !page.ends_with("SUMMARY.md") && !listed.contains(&page) {
            wrong.push(format!("{name} is not in SUMMARY.md"));
        }
        if read(&page).contains("{{#") {
            wrong.push(format!("{name} has an instruction to mdBook: put the text itself there"));
        }
    }
    wrong
}

fn read(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let pages = paths.flat_map(|path| if path.is_dir() { pages(&path) } else { vec![path] });
    pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the targets of links and pictures that are no addresses, outside of code.
fn targets(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
    let targets = prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_pictures_are_found_and_code_and_addresses_are_not() {
        let text =
            "[a](b.md#c) `[x](y)` [![p](q.svg)](r.md) [w](https://a.b)\n```sh\n[n](o)\n```\n[z](../z.md)";
        assert_eq!(targets(text), ["b.md#c", "q.svg", "r.md", "../z.md"]);
    }
}
