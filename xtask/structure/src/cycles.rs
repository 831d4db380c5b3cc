//! Cycles among the modules of each folder.

use crate::source::Source;
use crate::uses::Use;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::path::PathBuf;

/// Modules that use each other, directly or through others. They are siblings: one module declares them all.
#[derive(Debug)]
pub struct Cycle {
    /// The file of every module of the cycle.
    pub modules: Vec<PathBuf>,
    /// A shortest way around.
    pub steps: Vec<Step>,
}

/// One module of a cycle uses the next one.
#[derive(Debug)]
pub struct Step {
    /// A file of the first module.
    pub user: PathBuf,
    /// The line in it, counted from 1.
    pub line: usize,
    /// The path that it names there.
    pub path: String,
    /// A file of the next module.
    pub used: PathBuf,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} modules use each other:", self.modules.len())?;
        for Step { user, line, path, used } in &self.steps {
            writeln!(f, "  {}:{line} uses {path} of {}", user.display(), used.display())?;
        }
        let shown = |file: &PathBuf| self.steps.iter().any(|step| step.user == *file || step.used == *file);
        let others = self.modules.iter().filter(|file| !shown(file));
        others.into_iter().try_for_each(|file| writeln!(f, "  module {}", file.display()))
    }
}

/// From a module to those it uses, with the first place of such a use. A module has the number of its file.
type Graph<'a> = BTreeMap<usize, BTreeMap<usize, &'a Use>>;

/// Returns the cycles among the modules that each file of the crate declares.
pub(crate) fn find(source: &Source, uses: &[Use]) -> Vec<Cycle> {
    let folders = 0..source.files.len();
    folders.flat_map(|folder| among(source, &graph(source, uses, folder))).collect()
}

/// Returns the uses between the modules that `folder` declares. Everything inside one of them counts as its own.
fn graph<'a>(source: &Source, uses: &'a [Use], folder: usize) -> Graph<'a> {
    let mut graph = Graph::new();
    for each in uses {
        let modules = (source.child_around(each.user, folder), source.child_around(each.used, folder));
        let (Some(user), Some(used)) = modules else { continue };
        if user != used {
            graph.entry(user).or_default().entry(used).or_insert(each);
        }
    }
    graph
}

/// Returns every strongly connected component of more than one module, by its first file.
fn among(source: &Source, graph: &Graph<'_>) -> Vec<Cycle> {
    let reached: BTreeMap<usize, BTreeSet<usize>> =
        graph.keys().map(|module| (*module, reachable(graph, *module))).collect();
    let reaches = |from: usize, to: usize| reached.get(&from).is_some_and(|seen| seen.contains(&to));
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for (module, seen) in &reached {
        if !reaches(*module, *module) || placed.contains(module) {
            continue;
        }
        let members: Vec<usize> = seen.iter().copied().filter(|other| reaches(*other, *module)).collect();
        placed.extend(&members);
        found.push(describe(source, graph, &members));
    }
    found
}

/// Returns the modules that a module uses, directly or through others.
fn reachable(graph: &Graph<'_>, from: usize) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        open.extend(
            graph.get(&module).into_iter().flat_map(BTreeMap::keys).filter(|next| seen.insert(**next)),
        );
    }
    seen
}

fn describe(source: &Source, graph: &Graph<'_>, members: &[usize]) -> Cycle {
    let ways = members.iter().filter_map(|start| way_around(graph, *start));
    let shortest = ways.min_by_key(Vec::len).unwrap_or_default();
    let file = |number: usize| source.files[number].path.clone();
    let step = |each: &Use| Step {
        user: file(each.user),
        line: each.line,
        path: each.path.clone(),
        used: file(each.used),
    };
    Cycle {
        modules: members.iter().map(|module| file(*module)).collect(),
        steps: shortest.into_iter().map(step).collect(),
    }
}

/// Returns the shortest way from a module back to itself, breadth first.
fn way_around<'a>(graph: &Graph<'a>, start: usize) -> Option<Vec<&'a Use>> {
    let mut open = VecDeque::from([(start, Vec::new())]);
    let mut seen = BTreeSet::new();
    while let Some((module, way)) = open.pop_front() {
        for (next, by) in graph.get(&module).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(*by);
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
