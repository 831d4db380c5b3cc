//! Cycles of a graph of files.

use crate::source::Source;
use crate::uses::{Place, Uses};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::PathBuf;

/// Modules that use each other, directly or through others.
#[derive(Debug)]
pub struct Cycle {
    /// Every file of the cycle.
    pub files: Vec<PathBuf>,
    /// A shortest way around: each step's file, the line in it and the path that it names there.
    pub steps: Vec<(PathBuf, usize, String)>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} modules use each other:", self.files.len())?;
        for (index, (file, line, path)) in self.steps.iter().enumerate() {
            let next = &self.steps[(index + 1) % self.steps.len()].0;
            writeln!(f, "  {}:{line} uses {path} of {}", file.display(), next.display())?;
        }
        let around: Vec<_> =
            self.files.iter().filter(|file| self.steps.iter().all(|step| step.0 != **file)).collect();
        around.iter().try_for_each(|file| writeln!(f, "  and {}", file.display()))
    }
}

/// Returns every strongly connected component of more than one file, by its first file.
pub(crate) fn find(source: &Source, uses: &Uses) -> Vec<Cycle> {
    let reached: Vec<BTreeSet<usize>> = (0..uses.len()).map(|file| reachable(uses, file)).collect();
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for file in 0..uses.len() {
        if !reached[file].contains(&file) || placed.contains(&file) {
            continue;
        }
        let members: Vec<usize> =
            reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
        placed.extend(&members);
        found.push(describe(source, uses, &members));
    }
    found
}

/// Returns the files that a file uses, directly or through others.
fn reachable(uses: &Uses, from: usize) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        open.extend(uses[file].keys().copied().filter(|next| seen.insert(*next)));
    }
    seen
}

fn describe(source: &Source, uses: &Uses, members: &[usize]) -> Cycle {
    let ways = members.iter().filter_map(|start| way_around(uses, *start));
    let shortest = ways.min_by_key(Vec::len).unwrap_or_default();
    let step = |(file, place): (usize, Place)| (source.files[file].path.clone(), place.line, place.path);
    Cycle {
        files: members.iter().map(|file| source.files[*file].path.clone()).collect(),
        steps: shortest.into_iter().map(step).collect(),
    }
}

/// Returns the shortest way from a file back to itself, breadth first.
fn way_around(uses: &Uses, start: usize) -> Option<Vec<(usize, Place)>> {
    let mut open = VecDeque::from([(start, Vec::new())]);
    let mut seen = BTreeSet::new();
    while let Some((file, way)) = open.pop_front() {
        for (next, place) in &uses[file] {
            let mut longer = way.clone();
            longer.push((file, place.clone()));
            if *next == start {
                return Some(longer);
            }
            if seen.insert(*next) {
                open.push_back((*next, longer));
            }
        }
    }
    None
}
