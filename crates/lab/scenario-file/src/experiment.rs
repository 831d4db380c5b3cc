//! A file that was read and checked.

use crate::error::{FileError, Place, Problem, Wrong};
use crate::folder::{Folder, Origin};
use crate::limits::{parts, LARGEST_FILE, MOST_PARTS};
use crate::outside::Outside;
use crate::root::{number_of_points, read_root};
use crate::sweep::{self, Axis};
use crate::tree::{Node, Table};
use crate::whole::scenario;
use crate::{fluid, locate};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::Checked;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// A file that was read and checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub(crate) file: String,
    source: String,
    root: Table,
    /// The files that it names.
    files: Outside,
    pub(crate) axes: Vec<Axis>,
    pub(crate) seed: u64,
    pub(crate) repeat: u32,
    /// The settings that all points of the sweep share.
    pub(crate) parts: u64,
}

/// One run of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The scenario.
    pub scenario: Checked,
    /// Where in the sweep it is: the varied settings and their values.
    pub point: BTreeMap<String, String>,
    /// The repetition's number, from 1.
    pub repetition: u32,
}

impl Experiment {
    /// Reads a file; `sets` are assignments ("link.rate=5 Mbit/s") that replace its values.
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
            let scenario = experiment.scenario(&experiment.point(number), seed)?;
            let parts = parts(&scenario);
            experiment.parts = experiment.parts.saturating_add(parts);
            if experiment.parts.saturating_mul(repeat.into()) > MOST_PARTS {
                let problem = Problem::new(&experiment.multiplier(), too_much());
                return Err(experiment.wrong(problem));
            }
        }
        Ok(experiment)
    }

    /// Returns the contents of the files that it names, by these names: [`parse_beside`](Self::parse_beside) reads it
    /// elsewhere with them.
    pub fn files(&self) -> BTreeMap<String, String> {
        self.files.texts()
    }

    /// Returns the file's own statement of its claim.
    pub fn name(&self) -> String {
        self.root.get("name").map(Node::shown).unwrap_or_default()
    }

    /// Returns how often the section `[fluid]` asks the fluid engine to run it.
    pub fn trials(&self) -> Option<u32> {
        // It was checked with the rest.
        self.root.get("fluid").and_then(|node| fluid::trials(node).ok().flatten())
    }

    pub(crate) fn number_of_points(&self) -> u64 {
        number_of_points(&self.axes)
    }

    /// Returns a combination of the sweep by its number, as indices of values; the last axis varies fastest.
    pub(crate) fn point(&self, mut number: u64) -> Vec<usize> {
        let mut point = vec![0; self.axes.len()];
        for (place, axis) in point.iter_mut().zip(&self.axes).rev() {
            let length = axis.values.len() as u64;
            *place = (number % length) as usize;
            number /= length;
        }
        point
    }

    pub(crate) fn shown(&self, point: &[usize]) -> BTreeMap<String, String> {
        let entry = |(axis, value): (&Axis, &usize)| (axis.path.name.clone(), axis.labels[*value].clone());
        self.axes.iter().zip(point).map(entry).collect()
    }

    /// Returns the scenario at a point of the sweep.
    pub(crate) fn scenario(&self, point: &[usize], seed: u64) -> std::result::Result<Checked, FileError> {
        let make = || {
            let mut root = self.root.clone();
            sweep::apply(&mut root, &self.axes, point)?;
            scenario(&root, seed, &self.files)
        };
        make().map_err(|problem| self.wrong(problem))
    }

    /// Returns the error that shows where the file asks `run`'s engine for what it cannot do.
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

    /// Returns where the file multiplies its contents.
    fn multiplier(&self) -> Place {
        let sweep = self.axes.first().map(|axis| &axis.path.place);
        let place = sweep.or_else(|| self.root.get("repeat").map(|node| &node.place));
        place.or_else(|| self.root.get("flow").map(|node| &node.place)).cloned().unwrap_or(Place::At(0..0))
    }
}

fn too_much() -> String {
    format!("all runs together hold more than {MOST_PARTS} flows, windows, times of activity and scripted packets: make fewer")
}
