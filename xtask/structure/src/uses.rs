//! Which file uses which, and where.

use crate::names::Names;
use crate::source::Source;
use std::collections::BTreeSet;

/// A file names an item of another file, or names it by way of that file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) user: usize,
    pub(crate) used: usize,
    pub(crate) line: usize,
    pub(crate) path: String,
}

/// Returns all uses, those of each file by the file that it uses and by line.
pub(crate) fn between_files(source: &Source, names: &Names<'_>) -> Vec<Use> {
    let mut uses = BTreeSet::new();
    for (id, scope) in source.scopes.iter().enumerate() {
        let imported = scope.imports.iter().map(|import| &import.path);
        for named in imported.chain(&scope.paths) {
            let files = names.files(id, &named.segments).into_iter();
            let others = files.filter(|file| !source.are_nested(scope.file, *file));
            uses.extend(others.map(|used| Use {
                user: scope.file,
                used,
                line: named.line,
                path: named.segments.join("::"),
            }));
        }
    }
    uses.into_iter().collect()
}
