//! From a path in a scope to the file that defines the item.

use crate::source::{Import, Source};
use std::collections::BTreeSet;

/// Longest chain of re-exports followed; a longer one is a loop of imports.
const LONGEST_CHAIN: usize = 16;

/// Resolves names of one crate.
pub(crate) struct Names<'a> {
    source: &'a Source,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    /// A module: a scope.
    Module(usize),
    /// An item defined in this scope, or a part of one.
    Item(usize),
}

impl<'a> Names<'a> {
    pub(crate) fn new(source: &'a Source) -> Names<'a> {
        Names { source }
    }

    /// Returns the files that define the items named by `segments` in `scope`: none for modules and for other crates' items, several
    /// where platforms differ.
    pub(crate) fn definitions(&self, scope: usize, segments: &[String]) -> BTreeSet<usize> {
        let item = |meaning| match meaning {
            Meaning::Item(scope) => Some(self.source.scopes[scope].file),
            Meaning::Module(_) => None,
        };
        self.meanings(scope, segments, 0).into_iter().filter_map(item).collect()
    }

    fn meanings(&self, scope: usize, segments: &[String], depth: usize) -> BTreeSet<Meaning> {
        let mut found = BTreeSet::from([Meaning::Module(scope)]);
        for (position, segment) in segments.iter().enumerate() {
            let step = |meaning: &Meaning| match *meaning {
                Meaning::Module(scope) => self.step(scope, segment, position, depth),
                // A variant, an associated function: it lives with its type.
                item => BTreeSet::from([item]),
            };
            found = found.iter().flat_map(step).collect();
        }
        found
    }

    fn step(&self, scope: usize, segment: &str, position: usize, depth: usize) -> BTreeSet<Meaning> {
        match segment {
            "crate" if position == 0 => BTreeSet::from([Meaning::Module(0)]),
            "self" => BTreeSet::from([Meaning::Module(scope)]),
            "super" => self.source.scopes[scope].parent.into_iter().map(Meaning::Module).collect(),
            name => self.lookup(scope, name, depth),
        }
    }

    /// Returns everything that bears a name in a scope: types, values and modules have name spaces of their own.
    fn lookup(&self, scope: usize, name: &str, depth: usize) -> BTreeSet<Meaning> {
        let here = &self.source.scopes[scope];
        let mut found: BTreeSet<Meaning> =
            here.children.get(name).into_iter().flatten().map(|child| Meaning::Module(*child)).collect();
        if here.items.contains(name) {
            found.insert(Meaning::Item(scope));
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
            .flat_map(|meaning| match meaning {
                Meaning::Module(module) if module != scope && depth < LONGEST_CHAIN => {
                    self.lookup(module, name, depth + 1)
                }
                _ => BTreeSet::new(),
            })
            .collect()
    }

    fn imported(&self, scope: usize, import: &Import, depth: usize) -> BTreeSet<Meaning> {
        // `use name::…` of another crate must not find the name that it brings in itself.
        let is_itself = import.path.segments.first() == import.name.as_ref();
        if is_itself && !self.source.scopes[scope].children.contains_key(&import.path.segments[0])
            || depth >= LONGEST_CHAIN
        {
            return BTreeSet::new();
        }
        self.meanings(scope, &import.path.segments, depth + 1)
    }
}
