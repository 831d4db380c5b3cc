//! From a path in a scope to the files behind it: the one that defines the item, and those that hand its name on.

use crate::source::{Import, Source};
use std::collections::BTreeSet;

/// Longest chain of re-exports followed; a longer one is a loop of imports.
const LONGEST_CHAIN: usize = 16;

/// Resolves names of one crate.
pub(crate) struct Names<'a> {
    source: &'a Source,
}

/// The meaning of a path, and the files that hand the name on (`pub use`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    meaning: Meaning,
    handed_on_by: BTreeSet<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    /// A module: a scope.
    Module(usize),
    /// An item defined in this scope, or a part of one.
    Item(usize),
}

impl Found {
    fn new(meaning: Meaning) -> Found {
        Found { meaning, handed_on_by: BTreeSet::new() }
    }

    fn module(scope: usize) -> BTreeSet<Found> {
        BTreeSet::from([Found::new(Meaning::Module(scope))])
    }

    /// Adds the way of the name before, `way`.
    fn after(mut self, way: &BTreeSet<usize>) -> Found {
        self.handed_on_by.extend(way);
        self
    }
}

impl<'a> Names<'a> {
    pub(crate) fn new(source: &'a Source) -> Names<'a> {
        Names { source }
    }

    /// Returns the files that define the items named by `segments` in `scope`, and those that hand the names on: none for modules
    /// and for other crates' items, several definitions where platforms differ.
    pub(crate) fn files(&self, scope: usize, segments: &[String]) -> BTreeSet<usize> {
        let mut files = BTreeSet::new();
        for Found { meaning, handed_on_by } in self.meanings(scope, segments, 0) {
            if let Meaning::Item(scope) = meaning {
                files.insert(self.source.scopes[scope].file);
                files.extend(handed_on_by);
            }
        }
        files
    }

    fn meanings(&self, scope: usize, segments: &[String], depth: usize) -> BTreeSet<Found> {
        let mut found = Found::module(scope);
        for (position, segment) in segments.iter().enumerate() {
            let step = |from: Found| match from.meaning {
                Meaning::Module(scope) => self
                    .step(scope, segment, position, depth)
                    .into_iter()
                    .map(|next| next.after(&from.handed_on_by))
                    .collect(),
                // A variant, an associated function: it lives with its type.
                Meaning::Item(_) => BTreeSet::from([from]),
            };
            found = found.into_iter().flat_map(step).collect();
        }
        found
    }

    fn step(&self, scope: usize, segment: &str, position: usize, depth: usize) -> BTreeSet<Found> {
        match segment {
            "crate" if position == 0 => Found::module(0),
            "self" => Found::module(scope),
            "super" => self.source.scopes[scope].parent.map(Found::module).unwrap_or_default(),
            name => self.lookup(scope, name, depth),
        }
    }

    /// Returns everything that bears a name in a scope: types, values and modules have name spaces of their own.
    fn lookup(&self, scope: usize, name: &str, depth: usize) -> BTreeSet<Found> {
        let here = &self.source.scopes[scope];
        let children = here.children.get(name).into_iter().flatten();
        let mut found: BTreeSet<Found> = children.map(|child| Found::new(Meaning::Module(*child))).collect();
        if here.items.contains(name) {
            found.insert(Found::new(Meaning::Item(scope)));
        }
        let named = |import: &&Import| import.name.as_deref() == Some(name);
        found
            .extend(here.imports.iter().filter(named).flat_map(|import| self.imported(scope, import, depth)));
        if !found.is_empty() {
            return found;
        }
        let globs = here.imports.iter().filter(|import| import.name.is_none());
        globs
            .flat_map(|glob| self.imported(scope, glob, depth))
            .flat_map(|from| match from.meaning {
                Meaning::Module(module) if module != scope && depth < LONGEST_CHAIN => self
                    .lookup(module, name, depth + 1)
                    .into_iter()
                    .map(|next| next.after(&from.handed_on_by))
                    .collect(),
                _ => BTreeSet::new(),
            })
            .collect()
    }

    fn imported(&self, scope: usize, import: &Import, depth: usize) -> BTreeSet<Found> {
        let here = &self.source.scopes[scope];
        // `use name::…` of another crate must not find the name that it brings in itself.
        let is_itself = import.path.segments.first() == import.name.as_ref();
        if is_itself && !here.children.contains_key(&import.path.segments[0]) || depth >= LONGEST_CHAIN {
            return BTreeSet::new();
        }
        let way = if import.is_reexport { BTreeSet::from([here.file]) } else { BTreeSet::new() };
        let found = self.meanings(scope, &import.path.segments, depth + 1);
        found.into_iter().map(|found| found.after(&way)).collect()
    }
}
