//! Experiments as people write them: a TOML file.
//!
//! A file is declarative: it may leave times and paths to chance, stand for many flows with one table, and vary settings.
//! [`Experiment::runs`] decides all of that and makes one concrete [`Scenario`] of each combination and repetition.
//! Every error points at its line.
//!
//! Repetition i has the seed of the file plus i. Each flow's draws come from streams that are named after it, so another
//! flow, or another order of flows, changes nobody's luck.
//!
//! An assignment ("link.rate=5 Mbit/s") replaces what the file says, and what its sweep says of the same setting.

mod check;
mod choice;
mod distribution;
mod element;
mod error;
mod flow;
mod fluid;
mod folder;
mod hosts;
pub mod keys;
mod limits;
mod link;
mod locate;
mod markov;
mod measure;
mod names;
mod noise;
mod outside;
mod path;
mod range;
mod read;
mod runs;
mod schema;
mod sweep;
#[cfg(test)]
mod tests;
mod traffic;
mod tree;

pub use error::{FileError, Wrong};
pub use runs::Runs;
pub use schema::schema;

use crate::flow_set::FlowSet;
use crate::record::Record;
use crate::scenario::Scenario;
use crate::support::Unsupported;
use crate::units::Duration;
use crate::words::unknown;
use element::Context;
use error::{Place, Problem};
use folder::{Folder, Origin};
use limits::{parts, LARGEST_FILE, MOST_FLOWS, MOST_PARTS, MOST_RUNS, MOST_WINDOWS};
use measure::Times;
use noise::Noise;
use outside::Outside;
use read::{at, check_keys, count, list, needed, quantity, tables, text, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use sweep::Axis;
use tree::{check_key, Key, Node, Table, Value};

/// A file that was read and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    file: String,
    source: String,
    root: Table,
    /// The files that it names.
    files: Outside,
    axes: Vec<sweep::Axis>,
    seed: u64,
    repeat: u32,
    /// The settings that all points of the sweep share.
    parts: u64,
}

/// One run of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The runs.
    pub scenario: Scenario,
    /// Where in the sweep it is: the varied settings and their values.
    pub point: BTreeMap<String, String>,
    /// Which repetition, from 1.
    pub repetition: u32,
}

impl Experiment {
    /// Reads a file; `sets` are assignments ("link.rate=5 Mbit/s") that replace what it says.
    ///
    /// # Errors
    /// A file that cannot be read, is too large or not UTF-8, and everything that [`parse`](Self::parse) refuses.
    pub fn read(path: &Path, sets: &[String]) -> std::result::Result<Experiment, FileError> {
        Experiment::read_of(path, sets, Origin::Here)
    }

    /// Reads a file that somebody else wrote: it may name files below its own folder, symbolic links resolved, and no others.
    ///
    /// # Errors
    /// As [`read`](Self::read), a name that leads out of the folder, and a path that is a link to a file outside its folder.
    pub fn read_untrusted(path: &Path, sets: &[String]) -> std::result::Result<Experiment, FileError> {
        Experiment::read_of(path, sets, Origin::Elsewhere)
    }

    fn read_of(path: &Path, sets: &[String], origin: Origin) -> std::result::Result<Experiment, FileError> {
        let file = path.display().to_string();
        let unreadable = |reason: String| FileError::Unreadable { file: file.clone(), reason };
        let folder = Folder::of(path, origin);
        folder.check(path).map_err(unreadable)?;
        let opened = std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
        if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(unreadable("this is a folder: name a scenario file".to_owned()));
        }
        let mut bytes = Vec::new();
        let read = opened.take(LARGEST_FILE + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(unreadable("the file is larger than 4 MiB: no scenario is".to_owned()));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            unreadable(format!("line {line} is not UTF-8: save the file as UTF-8 text"))
        })?;
        Experiment::of_text(&text, &file, sets, Outside::of_folder(folder))
    }

    /// Reads the text of a file; `file` is its name in messages.
    ///
    /// # Errors
    /// Whatever is wrong with it, with the place: every run of the sweep is made and checked once. A text that names other
    /// files is refused: [`read`](Self::read) finds them, and [`parse_beside`](Self::parse_beside) gets them.
    pub fn parse(source: &str, file: &str, sets: &[String]) -> std::result::Result<Experiment, FileError> {
        Experiment::of_text(source, file, sets, Outside::default())
    }

    /// Reads the text of a file that names others: `files` has their contents by these names.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and a name that `files` does not have.
    pub fn parse_beside(
        source: &str,
        file: &str,
        sets: &[String],
        files: BTreeMap<String, String>,
    ) -> std::result::Result<Experiment, FileError> {
        Experiment::of_text(source, file, sets, Outside::given(files))
    }

    fn of_text(
        source: &str,
        file: &str,
        sets: &[String],
        files: Outside,
    ) -> std::result::Result<Experiment, FileError> {
        let wrong = |problem| FileError::Wrong(Wrong::new(file, source, problem));
        let (root, axes, seed, repeat) = read_root(source, sets).map_err(wrong)?;
        let (file, source) = (file.to_owned(), source.to_owned());
        let mut experiment = Experiment { file, source, root, files, axes, seed, repeat, parts: 0 };
        for number in 0..experiment.number_of_points() {
            let parts = parts(&experiment.scenario(&experiment.point(number), seed)?);
            experiment.parts = experiment.parts.saturating_add(parts);
            if experiment.parts.saturating_mul(repeat.into()) > MOST_PARTS {
                let problem = Problem::new(&experiment.multiplier(), too_much());
                return Err(experiment.wrong(problem));
            }
        }
        Ok(experiment)
    }

    /// The contents of the files that it names, by these names: [`parse_beside`](Self::parse_beside) reads it elsewhere with them.
    pub fn files(&self) -> BTreeMap<String, String> {
        self.files.texts()
    }

    /// The file's own statement of its claim.
    pub fn name(&self) -> String {
        self.root.get("name").map(Node::shown).unwrap_or_default()
    }

    /// How often the section `[fluid]` asks the fluid engine to run it.
    pub fn trials(&self) -> Option<u32> {
        // It was checked with the rest.
        self.root.get("fluid").and_then(|node| fluid::trials(node).ok().flatten())
    }

    fn number_of_points(&self) -> u64 {
        number_of_points(&self.axes)
    }

    /// A combination of the sweep by its number, as indices of values; the last axis varies fastest.
    fn point(&self, mut number: u64) -> Vec<usize> {
        let mut point = vec![0; self.axes.len()];
        for (place, axis) in point.iter_mut().zip(&self.axes).rev() {
            let length = axis.values.len() as u64;
            *place = (number % length) as usize;
            number /= length;
        }
        point
    }

    fn shown(&self, point: &[usize]) -> BTreeMap<String, String> {
        let entry = |(axis, value): (&Axis, &usize)| (axis.path.name.clone(), axis.labels[*value].clone());
        self.axes.iter().zip(point).map(entry).collect()
    }

    /// The scenario at a point of the sweep.
    fn scenario(&self, point: &[usize], seed: u64) -> std::result::Result<Scenario, FileError> {
        let make = || {
            let mut root = self.root.clone();
            sweep::apply(&mut root, &self.axes, point)?;
            scenario(&root, seed, &self.files)
        };
        make().map_err(|problem| self.wrong(problem))
    }

    /// The error that shows where the file asks `run`'s engine for what it cannot do.
    pub fn refused(&self, run: &Planned, what: &Unsupported) -> FileError {
        let value = |axis: &Axis| {
            let label = run.point.get(&axis.path.name);
            axis.labels.iter().position(|other| Some(other) == label).unwrap_or(0)
        };
        let point: Vec<usize> = self.axes.iter().map(value).collect();
        let mut root = self.root.clone();
        match sweep::apply(&mut root, &self.axes, &point) {
            Ok(()) => self.wrong(Problem::new(&locate::place(&root, &what.key), &*what.reason)),
            Err(problem) => self.wrong(problem),
        }
    }

    fn wrong(&self, problem: Problem) -> FileError {
        FileError::Wrong(Wrong::new(&self.file, &self.source, problem))
    }

    /// Where the file multiplies what it holds.
    fn multiplier(&self) -> Place {
        let sweep = self.axes.first().map(|axis| &axis.path.place);
        let place = sweep.or_else(|| self.root.get("repeat").map(|node| &node.place));
        place.or_else(|| self.root.get("flow").map(|node| &node.place)).cloned().unwrap_or(Place::At(0..0))
    }
}

fn number_of_points(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.values.len() as u64))
}

fn too_much() -> String {
    format!("all runs together hold more than {MOST_PARTS} flows, windows, times of activity and scripted packets: make fewer")
}

type Root = (Table, Vec<Axis>, u64, u32);

/// Reads everything that does not depend on the point of the sweep.
fn read_root(source: &str, sets: &[String]) -> Result<Root> {
    let mut root = Table::parse(source)?;
    let mut axes = root.remove("sweep").map_or(Ok(Vec::new()), |node| sweep::axes(&node))?;
    sets.iter().try_for_each(|assignment| set(&mut root, &mut axes, assignment))?;
    let number = |name: &str, least, most| root.get(name).map(|node| count(node, least..=most)).transpose();
    let seed = number("seed", 0, u64::MAX)?.unwrap_or(1);
    let repeat = number("repeat", 1, MOST_RUNS)?.unwrap_or(1) as u32;
    let runs = number_of_points(&axes).saturating_mul(repeat.into());
    if let (Some(axis), true) = (axes.first(), runs > MOST_RUNS) {
        let message =
            format!("the sweep has {runs} runs, repetitions included: 1 to {MOST_RUNS} can be made");
        return Err(Problem::new(&axis.path.place, message));
    }
    Ok((root, axes, seed, repeat))
}

/// Carries out an assignment of the command line.
fn set(root: &mut Table, axes: &mut Vec<Axis>, assignment: &str) -> Result<()> {
    let place = Place::Set(assignment.to_owned());
    let (name, value) = assignment.split_once('=').ok_or_else(|| {
        Problem::new(&place, "this is no assignment: write key=value, such as link.rate=\"5 Mbit/s\"")
    })?;
    let (name, value) = (name.trim(), Node::of_assignment(assignment, value.trim())?);
    let path = |name: &str| Key { name: name.to_owned(), place: place.clone() };
    check_key(&path(name))?;
    let taken_away = sweep::is_none(&value);
    let (varied, is_sweep) = name.strip_prefix("sweep.").map_or((name, false), |varied| (varied, true));
    match name {
        "sweep" if taken_away => axes.clear(),
        "sweep" => *axes = sweep::axes(&value)?,
        _ => axes.retain(|axis| axis.path.name != varied),
    }
    match (is_sweep, taken_away) {
        (true, false) => axes.push(Axis::new(path(varied), &value)?),
        (false, _) if name != "sweep" => sweep::assign(root, &path(name), &value)?,
        _ => {}
    }
    Ok(())
}

/// A concrete scenario from a file's tree.
fn scenario(root: &Table, seed: u64, files: &Outside) -> Result<Scenario> {
    check_keys(root, "a scenario", keys::ROOT)?;
    let whole = Node { place: Place::At(0..0), value: Value::Table(Table::default()) };
    let name = root.get("name").map_or(Ok(""), text)?;
    let written = needed(root, "duration", &whole, "\"60 s\"")?;
    let duration: Duration = quantity(written)?;
    if duration == Duration::default() {
        return Err(Problem::new(&written.place, "no time at all: use 1 ms or more"));
    }
    let context = Context { files, duration, seed };
    let (hosts, access) = hosts::hosts(root, seed)?;
    let mut links = Vec::new();
    match root.get("link") {
        Some(node) => {
            let (first, further) = link::links(node, &context)?;
            if first.name.is_none() && !hosts.is_empty() {
                let message = "hosts have links with names, so this one needs a name, too: write [[link]]";
                return Err(Problem::new(&node.place, message));
            }
            links.push(first);
            links.extend(further);
        }
        None if hosts.is_empty() => drop(needed(root, "link", &whole, "… in a table: [link]")?),
        None => {}
    }
    links.extend(access);
    let link = links.remove(0); // there is one, or hosts, which have two each
    let mut scenario = Scenario { further_links: links, hosts, ..Scenario::new(name, duration, link) };
    scenario.seed = seed;
    scenario.record = root.get("record").map_or(Ok(Vec::new()), record)?;
    scenario.baseline = root.get("baseline").map_or(Ok(false), baseline)?;
    if let Some(node) = root.get("sample") {
        scenario.sample = Some(quantity(node)?);
        at(node, scenario.check_sample())?;
    }
    let owners = flows(root, seed, &mut scenario, files)?;
    (scenario.measure, scenario.sets) = windows(root, &scenario)?;
    let names = scenario.flow.iter().map(|flow| flow.name.as_str());
    scenario.fluid = root.get("fluid").map(|node| fluid::fluid(node, names, seed)).transpose()?;
    let list = |name: &str| root.get(name).map_or(Ok(Vec::new()), tables);
    scenario.drop = list("drop")?.into_iter().map(link::dropping).collect::<Result<_>>()?;
    scenario.delay = list("delay")?.into_iter().map(link::delaying).collect::<Result<_>>()?;
    let links = scenario.links_by_name();
    let changes = list("route_change")?.into_iter();
    let changes = changes.map(|node| path::changing_route(node, &links, duration)).collect::<Result<_>>()?;
    scenario.route_change = changes;
    check::check(root, &scenario, &owners)?;
    Ok(scenario)
}

/// The measures of `record`, in the order of the list of all, each once.
fn record(node: &Node) -> Result<Vec<Record>> {
    let measure = |node: &Node| {
        let word = text(node)?;
        let refused = || Problem::new(&node.place, unknown("measure", word, Record::WORDS).to_string());
        Record::of_word(word).ok_or_else(refused)
    };
    let measures: BTreeSet<Record> = list(node)?.iter().map(measure).collect::<Result<_>>()?;
    Ok(measures.into_iter().collect())
}

fn baseline(node: &Node) -> Result<bool> {
    match &node.value {
        Value::Flag(flag) => Ok(*flag),
        Value::Text(word) if word == "without background" => Ok(true),
        Value::Text(word) if word == "none" => Ok(false),
        _ => Err(Problem::new(&node.place, "write \"without background\" or \"none\"")),
    }
}

/// Draws all flows; returns for each the table that it comes from.
fn flows<'a>(root: &'a Table, seed: u64, scenario: &mut Scenario, files: &Outside) -> Result<Vec<&'a Node>> {
    let tables = root.get("flow").map_or(Ok(&[][..]), list)?;
    let names = names::names(tables);
    let links = scenario.links_by_name();
    let read = |(node, name): (&'a Node, &String)| flow::read(node, name, &links, &scenario.hosts, files);
    let written = tables.iter().zip(&names).map(read).collect::<Result<Vec<_>>>()?;
    let mut total = 0;
    for (node, written) in tables.iter().zip(&written) {
        total += written.count();
        if total > MOST_FLOWS {
            return Err(Problem::new(&node.place, format!("more than {MOST_FLOWS} flows are too many")));
        }
    }
    names::check(tables, &names)?;
    let noise = root.get("noise").map_or(Ok(Noise::default()), noise::noise)?;
    let (mut owners, mut seen) = (Vec::new(), BTreeSet::new());
    for (node, written) in tables.iter().zip(written) {
        let begin = scenario.flow.len();
        written.draw(seed, &noise, &mut scenario.flow)?;
        for flow in &scenario.flow[begin..] {
            if !seen.insert(flow.name.clone()) {
                return Err(names::twice(node, &flow.name));
            }
            owners.push(node);
        }
    }
    Ok(owners)
}

fn windows(root: &Table, scenario: &Scenario) -> Result<(Vec<crate::Window>, Vec<FlowSet>)> {
    let starts = || scenario.flow.iter().map(|flow| flow.start);
    let times = Times {
        first_start: starts().min().unwrap_or_default(),
        last_start: starts().max().unwrap_or_default(),
        end: scenario.duration,
    };
    let Some(node) = root.get("measure") else {
        return Ok((vec![measure::default_window(&times)], Vec::new()));
    };
    let nodes = tables(node)?;
    if nodes.len() > MOST_WINDOWS {
        return Err(Problem::new(&node.place, format!("more than {MOST_WINDOWS} windows are too many")));
    }
    let mut names = BTreeSet::new();
    let (mut windows, mut sets) = (Vec::new(), Vec::new());
    for node in nodes {
        let (window, set) = measure::measure(node, &times, &scenario.flow)?;
        if !names.insert(window.name.clone()) {
            let message = format!("two windows are named {:?}: rename one", window.name);
            return Err(Problem::new(&node.place, message));
        }
        windows.push(window);
        sets.extend(set);
    }
    Ok((windows, sets))
}
