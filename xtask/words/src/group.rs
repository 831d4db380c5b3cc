//! The project's texts by kind.

use crate::error::Error;
use crate::rust::Description;
use crate::{markdown, rules, rust};
use std::path::{Path, PathBuf};

/// A kind of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// README.md.
    Readme,
    /// The pages of the book.
    Book,
    /// Error messages of the crates.
    Errors,
    /// Doc comments of the crates, public and private.
    DocComments,
}

/// All of them.
pub const GROUPS: &[Group] = &[Group::Readme, Group::Book, Group::Errors, Group::DocComments];

/// A file's running text.
pub struct Text {
    /// Relative to the project's root.
    pub file: String,
    /// Paragraph by paragraph.
    pub paragraphs: Vec<String>,
    /// The descriptions of functions.
    pub descriptions: Vec<Description>,
}

impl Group {
    /// Returns the group's name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Group::Readme => "README",
            Group::Book => "book",
            Group::Errors => "error messages",
            Group::DocComments => "doc comments",
        }
    }

    /// Returns the rules that hold for this group beside those for all prose.
    pub(crate) fn own_rules(self) -> rules::Rules {
        match self {
            Group::DocComments => rules::excluded_from_comments,
            Group::Readme | Group::Book | Group::Errors => rules::excluded_for_users,
        }
    }

    /// Reads the group's files in the order of their names.
    pub(crate) fn texts(self, root: &Path) -> Result<Vec<Text>, Error> {
        let files = match self {
            Group::Readme => vec![root.join("README.md")],
            Group::Book => files(&root.join("docs/src"), "md")?,
            Group::Errors => sources(root)?.into_iter().filter(|path| !is_of_tests(root, path)).collect(),
            Group::DocComments => sources(root)?,
        };
        files.iter().map(|path| self.text(root, path)).collect()
    }

    fn text(self, root: &Path, path: &Path) -> Result<Text, Error> {
        let content =
            std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let paragraphs = match self {
            Group::Readme | Group::Book => markdown::paragraphs(&content),
            // Tests are code for their authors: only the first words of their comments are checked.
            Group::DocComments if is_of_tests(root, path) => Vec::new(),
            Group::DocComments => rust::doc_comments(&content),
            Group::Errors => rust::error_messages(&content)
                .map_err(|source| Error::Parse { path: path.to_owned(), source })?,
        };
        let file = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let descriptions = match self {
            Group::DocComments => rust::descriptions(&content),
            _ => Vec::new(),
        };
        Ok(Text { file, paragraphs, descriptions })
    }
}

/// Returns the sources of the crates, of the lab page's engine, and of what measures and checks the project.
fn sources(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for wing in ["bench", "crates", "examples", "fuzz", "interop", "python", "web", "xtask"] {
        found.extend(files(&root.join(wing), "rs")?);
    }
    Ok(found)
}

/// Returns whether a source is in a folder of tests.
fn is_of_tests(root: &Path, path: &Path) -> bool {
    path.strip_prefix(root).is_ok_and(|path| path.iter().any(|part| part == "tests"))
}

/// Returns the files below a folder whose names end in `.extension`, without build output.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| Error::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_output = path.file_name().is_some_and(|name| name == "target");
        if path.is_dir() && !is_output {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
