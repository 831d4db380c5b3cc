//! Patterns of files to leave out, in the syntax of gitignore.
//!
//! # Model
//! A pattern without a slash matches a name in any directory, one with a slash a path from the root; `*` stops at a slash,
//! `**` does not; a slash at the end matches directories only; `!` takes back. The last pattern that matches decides. Nothing
//! below an excluded directory is looked at, so nothing below it can be taken back.
//!
//! # Source
//! gitignore(5), section "Pattern format", by the crate `ignore`, whose regular expressions need time linear in the path.
//!
//! # Not implemented
//! Files `.gitignore` in directories are not read.

use crate::entry::EntryPath;
use crate::error::Error;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Most bytes of all patterns of a job: they fit a message with room for the rest.
pub const MAX_PATTERNS: usize = 32 * 1024;

/// Most opening braces of a pattern. The library recurses into nested ones, and a peer chooses the pattern.
const MAX_BRACES: usize = 8;

/// Stack of the thread that compiles patterns, bytes. A quarter of it is enough for what [`MAX_BRACES`] admits.
const STACK: usize = 1024 * 1024;

/// A list of patterns.
#[derive(Clone, Debug)]
pub struct Filter {
    patterns: Vec<String>,
    matcher: Gitignore,
}

impl Filter {
    /// Patterns in the order in which they apply.
    ///
    /// # Errors
    /// A pattern that is none or has more than eight opening braces, or more than [`MAX_PATTERNS`].
    pub fn new(patterns: Vec<String>) -> Result<Self, Error> {
        let compile = std::thread::Builder::new().name("patterns".into()).stack_size(STACK);
        std::thread::scope(|scope| {
            let thread = compile.spawn_scoped(scope, || Self::compiled(patterns));
            let thread =
                thread.map_err(|error| Error::Paths(format!("no thread for the patterns: {error}")))?;
            thread.join().unwrap_or_else(|_| Err(Error::Paths("a pattern cannot be compiled".to_owned())))
        })
    }

    fn compiled(patterns: Vec<String>) -> Result<Self, Error> {
        let braces = |pattern: &String| pattern.bytes().filter(|&byte| byte == b'{').count();
        if let Some(pattern) = patterns.iter().find(|pattern| braces(pattern) > MAX_BRACES) {
            return Err(Error::Paths(format!("the pattern \"{pattern}\" has more than {MAX_BRACES} braces")));
        }
        if patterns.iter().map(|pattern| pattern.len() + 8).sum::<usize>() > MAX_PATTERNS {
            return Err(Error::Paths(format!("the patterns have more than {MAX_PATTERNS} bytes: use fewer")));
        }
        let mut builder = GitignoreBuilder::new("");
        let bad = |pattern: &str, error| Error::Paths(format!("\"{pattern}\" is no pattern: {error}"));
        for pattern in &patterns {
            builder.add_line(None, pattern).map_err(|error| bad(pattern, error))?;
        }
        let matcher = builder.build().map_err(|error| bad("all together", error))?;
        Ok(Self { patterns, matcher })
    }

    /// True if the last pattern that matches excludes this path. Its parents are not looked at.
    fn excludes(&self, path: &EntryPath, is_directory: bool) -> bool {
        self.matcher.matched(native(path).as_ref(), is_directory).is_ignore()
    }
}

/// All lists of patterns of a job. A path is excluded if one of them excludes it.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// Directory that the paths lie in, as seen from where the patterns begin.
    pub(crate) below: EntryPath,
    lists: Vec<Filter>,
}

impl Filters {
    /// The lists, for paths that lie in the directory `below`.
    pub fn new(below: EntryPath, lists: Vec<Filter>) -> Self {
        let lists = lists.into_iter().filter(|list| !list.patterns.is_empty()).collect();
        Self { below, lists }
    }

    /// True if a path, whose parents are not excluded, is.
    pub fn exclude(&self, path: &EntryPath, is_directory: bool) -> bool {
        if self.lists.is_empty() || path.0.is_empty() {
            return false;
        }
        let whole = match self.below.0.is_empty() {
            true => path.clone(),
            false => EntryPath([&self.below.0, &b"/"[..], &path.0].concat()),
        };
        self.lists.iter().any(|list| list.excludes(&whole, is_directory))
    }

    /// True if a directory above these components is excluded.
    pub(crate) fn exclude_parents_of(&self, path: &EntryPath) -> bool {
        let ends = (0..path.0.len()).filter(|&at| path.0[at] == b'/');
        ends.into_iter().any(|end| {
            let parent = EntryPath(path.0[..end].to_vec());
            self.lists.iter().any(|list| list.excludes(&parent, true))
        })
    }

    /// As they travel.
    pub(crate) fn patterns(&self) -> Vec<Vec<String>> {
        self.lists.iter().map(|list| list.patterns.clone()).collect()
    }
}

#[cfg(unix)]
fn native(path: &EntryPath) -> std::borrow::Cow<'_, std::path::Path> {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(&path.0)).into()
}

#[cfg(not(unix))]
fn native(path: &EntryPath) -> std::borrow::Cow<'_, std::path::Path> {
    std::path::PathBuf::from(String::from_utf8_lossy(&path.0).into_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> EntryPath {
        EntryPath(text.as_bytes().to_vec())
    }

    fn excluded(patterns: &[&str], text: &str, is_directory: bool) -> bool {
        let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Filters::new(EntryPath::default(), vec![Filter::new(patterns).unwrap()])
            .exclude(&path(text), is_directory)
    }

    #[test]
    fn patterns_mean_what_gitignore_says() {
        for (patterns, text, is_directory, expected) in [
            // "If there is a separator at the beginning or middle, the pattern is relative to the directory level."
            (&["*.o"][..], "a/b/c.o", false, true),
            (&["/c.o"], "a/c.o", false, false),
            (&["a/c.o"], "b/a/c.o", false, false),
            (&["a/*.o"], "a/b/c.o", false, false),
            (&["a/**/c.o"], "a/b/b/c.o", false, true),
            (&["**/x"], "a/b/x", false, true),
            (&["x/"], "a/x", false, false),
            (&["x/"], "a/x", true, true),
            // "The last matching pattern decides the outcome."
            (&["*.o", "!keep.o"], "keep.o", false, false),
            (&["!keep.o", "*.o"], "keep.o", false, true),
            (&["# no pattern", ""], "# no pattern", false, false),
            (&["[ab].c"], "b.c", false, true),
        ] {
            assert_eq!(excluded(patterns, text, is_directory), expected, "{patterns:?} {text}");
        }
    }

    #[test]
    fn patterns_begin_at_the_served_directory_whatever_part_is_asked_for() {
        let filter = Filter::new(vec!["/a/secret".to_owned()]).unwrap();
        let filters = Filters::new(path("a"), vec![filter]);
        assert!(filters.exclude(&path("secret"), true));
        assert!(!filters.exclude(&path("a/secret"), true));
        assert!(filters.exclude_parents_of(&path("a/secret/x")));
        assert!(!filters.exclude_parents_of(&path("a/secrets/x")));
    }

    /// As many braces, one in the other.
    fn nested(braces: usize) -> String {
        ["{a,".repeat(braces), "b".to_owned(), "}".repeat(braces)].concat()
    }

    #[test]
    fn a_pattern_with_more_braces_than_the_bound_is_refused() {
        let error = Filter::new(vec![nested(MAX_BRACES + 1)]).unwrap_err().to_string();
        assert!(error.contains("more than 8 braces"), "{error}");
    }

    #[test]
    fn the_worst_patterns_that_are_admitted_compile_in_a_quarter_of_the_stack() {
        let longest = MAX_PATTERNS / (nested(MAX_BRACES).len() + 8);
        let compile = move || Filter::compiled(vec![nested(MAX_BRACES); longest]).map(|_| ());
        let thread = std::thread::Builder::new().stack_size(STACK / 4).spawn(compile).unwrap();
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn more_patterns_than_fit_a_message_and_what_is_no_pattern_are_refused() {
        assert!(Filter::new(vec!["x".repeat(MAX_PATTERNS)]).is_err());
        let error = Filter::new(vec!["{a".to_owned()]).unwrap_err().to_string();
        assert!(error.starts_with("\"{a\" is no pattern"), "{error}");
    }
}
