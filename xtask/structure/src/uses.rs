//! Which file uses which, and where.

use crate::names::Names;
use crate::source::{Named, Source};
use std::collections::BTreeMap;

/// The first place in a file that names an item of another file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) path: String,
}

/// From a file to those it uses, in the order of their numbers.
pub(crate) type Uses = Vec<BTreeMap<usize, Place>>;

pub(crate) fn between_files(source: &Source, names: &Names<'_>) -> Uses {
    let mut uses: Uses = vec![BTreeMap::new(); source.files.len()];
    for (id, scope) in source.scopes.iter().enumerate() {
        let imports = scope.imports.iter().filter(|import| !import.is_reexport).map(|import| &import.path);
        for named in imports.chain(&scope.paths) {
            for target in names.definitions(id, &named.segments) {
                if !source.are_nested(scope.file, target) {
                    note(&mut uses[scope.file], target, named);
                }
            }
        }
    }
    uses
}

fn note(uses: &mut BTreeMap<usize, Place>, target: usize, named: &Named) {
    let place = Place { line: named.line, path: named.segments.join("::") };
    let earliest = uses.entry(target).or_insert_with(|| place.clone());
    if place.line < earliest.line {
        *earliest = place;
    }
}
