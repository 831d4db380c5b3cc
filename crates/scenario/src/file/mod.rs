//! Experiments as people write them: a TOML file.
//!
//! A file is declarative: it may leave times and paths to chance, stand for many flows with one table, and vary settings.
//! [`Experiment::runs`] decides all of that and makes one concrete [`Scenario`] of each combination and repetition.
//! Every error points at its line.
//!
//! Repetition i has the seed of the file plus i. Each flow's draws come from streams that are named after it, so another
//! flow, or another order of flows, changes nobody's luck.

mod choice;
mod error;
mod flow;
pub mod keys;
mod link;
mod read;
mod schema;
mod sweep;
#[cfg(test)]
mod tests;
mod tree;

pub use error::{FileError, Wrong};
pub use schema::schema;

use crate::scenario::Scenario;
use crate::units::Duration;
use error::{Place, Problem};
use link::Times;
use read::{check_keys, count, needed, quantity, tables, text, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use tree::{Key, Node, Table, Value};

/// Largest file that is read, bytes.
const LARGEST_FILE: u64 = 4 << 20;
/// Most runs that a file may stand for.
const MOST_RUNS: u64 = 100_000;
/// Most flows in all of these runs together.
const MOST_FLOWS_IN_ALL: u64 = 1_000_000;

/// A file that was read and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    file: String,
    source: String,
    root: Table,
    axes: Vec<sweep::Axis>,
    seed: u64,
    repeat: u32,
}

/// One run of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// What to run.
    pub scenario: Scenario,
    /// Where in the sweep it is: the varied settings and their values.
    pub point: BTreeMap<String, String>,
    /// Which repetition, from 0.
    pub repetition: u32,
}

impl Experiment {
    /// Reads a file; `sets` are assignments ("link.rate=5 Mbit/s") that replace what it says.
    ///
    /// # Errors
    /// A file that cannot be read, is too large or not UTF-8, and everything that [`parse`](Self::parse) refuses.
    pub fn read(path: &Path, sets: &[String]) -> std::result::Result<Experiment, FileError> {
        let file = path.display().to_string();
        let unreadable = |reason: String| FileError::Unreadable { file: file.clone(), reason };
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
        Experiment::parse(&text, &file, sets)
    }

    /// Reads the text of a file; `file` is its name in messages.
    ///
    /// # Errors
    /// Whatever is wrong with it, with the place: every run of the sweep is made and checked once.
    pub fn parse(source: &str, file: &str, sets: &[String]) -> std::result::Result<Experiment, FileError> {
        let wrong = |problem| FileError::Wrong(Wrong::new(file, source, problem));
        let (root, axes, seed, repeat) = read_root(source, sets).map_err(wrong)?;
        let (file, source) = (file.to_owned(), source.to_owned());
        let experiment = Experiment { file, source, root, axes, seed, repeat };
        experiment.points().try_for_each(|point| experiment.scenario(&point, experiment.seed).map(drop))?;
        Ok(experiment)
    }

    /// What the file says it shows.
    pub fn name(&self) -> String {
        self.root.get("name").map(Node::shown).unwrap_or_default()
    }

    /// Every run: each combination of the sweep, each with all repetitions. `seed` and `repeat` replace the file's.
    ///
    /// # Errors
    /// More runs than anybody means.
    pub fn runs(
        &self,
        seed: Option<u64>,
        repeat: Option<u32>,
    ) -> std::result::Result<Vec<Planned>, FileError> {
        let (seed, repeat) = (seed.unwrap_or(self.seed), repeat.unwrap_or(self.repeat).max(1));
        let flows = self.scenario(&vec![0; self.axes.len()], seed)?.flow.len() as u64;
        let runs = self.number_of_points().saturating_mul(repeat.into());
        if runs > MOST_RUNS || runs.saturating_mul(flows.max(1)) > MOST_FLOWS_IN_ALL {
            let reason = format!(
                "{runs} runs of {flows} flows are too many: at most {MOST_RUNS} runs and {MOST_FLOWS_IN_ALL} flows in all"
            );
            return Err(FileError::Unreadable { file: self.file.clone(), reason });
        }
        let mut runs = Vec::new();
        for point in self.points() {
            for repetition in 0..repeat {
                let scenario = self.scenario(&point, seed.wrapping_add(repetition.into()))?;
                runs.push(Planned { scenario, point: self.shown(&point), repetition });
            }
        }
        Ok(runs)
    }

    fn number_of_points(&self) -> u64 {
        self.axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.values.len() as u64))
    }

    /// Every combination of the sweep, as indices of values; the last axis varies fastest.
    fn points(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        (0..self.number_of_points()).map(|mut number| {
            let mut point = vec![0; self.axes.len()];
            for (place, axis) in point.iter_mut().zip(&self.axes).rev() {
                *place = (number % axis.values.len() as u64) as usize;
                number /= axis.values.len() as u64;
            }
            point
        })
    }

    fn shown(&self, point: &[usize]) -> BTreeMap<String, String> {
        let entry =
            |(axis, value): (&sweep::Axis, &usize)| (axis.path.name.clone(), axis.values[*value].shown());
        self.axes.iter().zip(point).map(entry).collect()
    }

    /// The scenario at a point of the sweep.
    fn scenario(&self, point: &[usize], seed: u64) -> std::result::Result<Scenario, FileError> {
        let make = || {
            let mut root = self.root.clone();
            for (axis, value) in self.axes.iter().zip(point) {
                sweep::assign(&mut root, &axis.path, &axis.values[*value])?;
            }
            scenario(&root, seed)
        };
        make().map_err(|problem| FileError::Wrong(Wrong::new(&self.file, &self.source, problem)))
    }
}

type Root = (Table, Vec<sweep::Axis>, u64, u32);

/// Reads everything that does not depend on the point of the sweep.
fn read_root(source: &str, sets: &[String]) -> Result<Root> {
    let mut root = Table::parse(source)?;
    for set in sets {
        let place = Place::Set(set.clone());
        let (path, value) = set.split_once('=').ok_or_else(|| {
            Problem::new(&place, "this is no assignment: write key=value, such as link.rate=\"5 Mbit/s\"")
        })?;
        let path = Key { name: path.trim().to_owned(), place };
        sweep::assign(&mut root, &path, &Node::of_assignment(set, value.trim()))?;
    }
    let axes = root.remove("sweep").map_or(Ok(Vec::new()), |node| sweep::axes(&node))?;
    let number = |name: &str, least, most| root.get(name).map(|node| count(node, least..=most)).transpose();
    let seed = number("seed", 0, u64::MAX)?.unwrap_or(1);
    let repeat = number("repeat", 1, MOST_RUNS)?.unwrap_or(1) as u32;
    let runs =
        axes.iter().fold(u64::from(repeat), |product, axis| product.saturating_mul(axis.values.len() as u64));
    if let (Some(axis), true) = (axes.first(), runs > MOST_RUNS) {
        let message =
            format!("the sweep has {runs} runs, repetitions included: at most {MOST_RUNS} are made");
        return Err(Problem::new(&axis.path.place, message));
    }
    Ok((root, axes, seed, repeat))
}

/// A concrete scenario from a file's tree.
fn scenario(root: &Table, seed: u64) -> Result<Scenario> {
    check_keys(root, "a scenario", keys::ROOT)?;
    let whole = Node { place: Place::At(0..0), value: Value::Table(Table::default()) };
    let name = root.get("name").map_or(Ok(""), text)?;
    let written = needed(root, "duration", &whole, "\"60 s\"")?;
    let duration: Duration = quantity(written)?;
    if duration == Duration::default() {
        return Err(Problem::new(&written.place, "no time at all: use 1 ms or more"));
    }
    let link = link::link(needed(root, "link", &whole, "… in a table: [link]")?)?;
    let mut scenario = Scenario::new(name, duration, link);
    scenario.seed = seed;
    scenario.baseline = root.get("baseline").map_or(Ok(false), baseline)?;
    let owners = flows(root, seed, &mut scenario)?;
    scenario.measure = windows(root, &scenario)?;
    let list = |name: &str| root.get(name).map_or(Ok(Vec::new()), tables);
    scenario.drop = list("drop")?.into_iter().map(link::dropping).collect::<Result<_>>()?;
    scenario.delay = list("delay")?.into_iter().map(link::delaying).collect::<Result<_>>()?;
    check(root, &scenario, &owners)?;
    Ok(scenario)
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
fn flows<'a>(root: &'a Table, seed: u64, scenario: &mut Scenario) -> Result<Vec<&'a Node>> {
    let (mut owners, mut names) = (Vec::new(), BTreeSet::new());
    let mut total = 0;
    for node in root.get("flow").map_or(Ok(Vec::new()), tables)? {
        let written = flow::read(node)?;
        total += written.count();
        if total > flow::MOST_FLOWS {
            return Err(Problem::new(
                &node.place,
                format!("more than {} flows are too many", flow::MOST_FLOWS),
            ));
        }
        let begin = scenario.flow.len();
        written.draw(seed, &mut scenario.flow, &mut |name| !names.contains(name), u64::MAX)?;
        for flow in &scenario.flow[begin..] {
            if !names.insert(flow.name.clone()) {
                let message = format!("two flows are named {:?}: rename one", flow.name);
                return Err(Problem::new(&written.node().place, message));
            }
            owners.push(node);
        }
    }
    Ok(owners)
}

fn windows(root: &Table, scenario: &Scenario) -> Result<Vec<crate::Window>> {
    let starts = || scenario.flow.iter().map(|flow| flow.start);
    let times = Times {
        first_start: starts().min().unwrap_or_default(),
        last_start: starts().max().unwrap_or_default(),
        end: scenario.duration,
    };
    let Some(node) = root.get("measure") else { return Ok(vec![link::default_window(&times)]) };
    let nodes = tables(node)?;
    if nodes.len() > MOST_WINDOWS {
        return Err(Problem::new(&node.place, format!("more than {MOST_WINDOWS} windows are too many")));
    }
    let mut names = BTreeSet::new();
    let window = |node: &&Node| {
        let window = link::window(node, &times)?;
        match names.insert(window.name.clone()) {
            true => Ok(window),
            false => {
                Err(Problem::new(&node.place, format!("two windows are named {:?}: rename one", window.name)))
            }
        }
    };
    nodes.iter().map(window).collect()
}

/// Most windows of a run.
const MOST_WINDOWS: usize = 1000;

/// What only the whole shows. What is wrong with a flow is shown at the flow, else at the name of the scenario.
fn check(root: &Table, scenario: &Scenario, owners: &[&Node]) -> Result<()> {
    for (flow, owner) in scenario.flow.iter().zip(owners) {
        flow.check().map_err(|error| Problem::new(&owner.place, error.to_string()))?;
    }
    scenario.check().map_err(|error| {
        let suspects = ["drop", "delay", "duration", "name"];
        let place = suspects
            .iter()
            .find_map(|name| root.get(name))
            .map_or(Place::At(0..0), |node| node.place.clone());
        Problem::new(&place, error.to_string())
    })
}
