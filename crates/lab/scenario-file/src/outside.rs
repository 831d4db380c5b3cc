//! Files that a scenario names: samples and traces, relative to the scenario's own file.
//!
//! Each file is read once and shared by all runs. A text that is no file (`Experiment::parse`) may name none, so nothing
//! outside is read for it. `Experiment::parse_beside` gets the contents with the text.
//!
//! Messages name the line, not its content: a scenario from elsewhere can name any file of the machine.

use crate::error::Problem;
use crate::folder::{Folder, MISSING};
use crate::read::{text, Result};
use crate::tree::Node;
use afteryou_base::lock::EvenPoisoned;
use afteryou_notation::{Duration, Error, Rate};
use afteryou_scenario::draw::Samples;
use afteryou_scenario::element::{RateLaw, Steps};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Most lines that are taken.
const MOST_LINES: usize = 1_000_000;

/// The files beside a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    place: Place,
    read: Arc<Mutex<Read>>,
}

/// The files that have been read.
#[derive(Debug, Default)]
struct Read {
    texts: BTreeMap<String, Arc<str>>,
    contents: BTreeMap<(String, Kind), Content>,
}

/// Where the files are.
#[derive(Clone, Debug, Default)]
enum Place {
    #[default]
    Nowhere,
    Folder(Folder),
    /// Contents by name.
    Given(Arc<BTreeMap<String, String>>),
}

/// How a file is to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A time in each line, and a weight, if there is one.
    Samples,
    /// Opportunities, or a time and a rate in each line; what it holds begins again.
    LoopedTrace,
    /// The same once.
    Trace,
}

/// The contents of a file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Samples(Samples),
    Trace(RateLaw),
}

/// A line that counts: its number and its fields.
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) fields: Vec<&'a str>,
}

impl Outside {
    /// Returns the files of this folder.
    pub(crate) fn of_folder(folder: Folder) -> Outside {
        Outside { place: Place::Folder(folder), read: Arc::default() }
    }

    /// Returns these contents, by the names that the scenario has for them.
    pub(crate) fn given(files: BTreeMap<String, String>) -> Outside {
        Outside { place: Place::Given(Arc::new(files)), read: Arc::default() }
    }

    /// Returns the samples of the file that `node` names.
    pub(crate) fn samples(&self, node: &Node) -> Result<Samples> {
        match self.content(node, Kind::Samples)? {
            Content::Samples(samples) => Ok(samples),
            Content::Trace(_) => Err(Problem::new(&node.place, "these are no samples")),
        }
    }

    /// Returns the trace of rates in the file that `node` names.
    pub(crate) fn trace(&self, node: &Node, repeat: bool) -> Result<RateLaw> {
        match self.content(node, if repeat { Kind::LoopedTrace } else { Kind::Trace })? {
            Content::Trace(law) => Ok(law),
            Content::Samples(_) => Err(Problem::new(&node.place, "this is no trace of rates")),
        }
    }

    /// Returns whether the scenario may name programs that an engine starts.
    pub(crate) fn may_start_programs(&self) -> bool {
        match &self.place {
            Place::Folder(folder) => folder.is_trusted(),
            Place::Nowhere | Place::Given(_) => true,
        }
    }

    /// Returns the texts that have been read, by their names.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let read = self.read.lock().even_poisoned();
        read.texts.iter().map(|(name, text)| (name.clone(), text.to_string())).collect()
    }

    fn content(&self, node: &Node, kind: Kind) -> Result<Content> {
        let name = text(node)?;
        let key = (name.to_owned(), kind);
        let mut read = self.read.lock().even_poisoned();
        if let Some(content) = read.contents.get(&key) {
            return Ok(content.clone());
        }
        let refused = |message: String| Problem::new(&node.place, format!("{name}: {message}"));
        let written = match read.texts.get(name) {
            Some(text) => Arc::clone(text),
            None => self.text(name).map_err(refused)?.into(),
        };
        let content = understood(kind, &written).map_err(refused)?;
        read.texts.insert(name.to_owned(), written);
        read.contents.insert(key, content.clone());
        Ok(content)
    }

    fn text(&self, name: &str) -> std::result::Result<String, String> {
        match &self.place {
            Place::Nowhere => Err("only a scenario that is a file itself can name another".to_owned()),
            Place::Folder(folder) => folder.read(name),
            Place::Given(files) => files.get(name).cloned().ok_or_else(|| MISSING.to_owned()),
        }
    }
}

fn understood(kind: Kind, text: &str) -> std::result::Result<Content, String> {
    let lines = lines(text)?;
    match kind {
        Kind::Samples => samples(&lines).map(Content::Samples),
        Kind::LoopedTrace => trace(&lines, true).map(Content::Trace),
        Kind::Trace => trace(&lines, false).map(Content::Trace),
    }
}

/// Returns the lines with content: neither empty nor a comment.
fn lines(text: &str) -> std::result::Result<Vec<Line<'_>>, String> {
    let numbered = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let counts = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let split = counts.map(|(number, line)| {
        let fields = line.split([',', ';']).map(str::trim).collect();
        Line { number, fields }
    });
    let lines: Vec<Line<'_>> = split.take(MOST_LINES + 1).collect();
    match lines.len() {
        0 => Err("there is nothing in it".to_owned()),
        many if many > MOST_LINES => Err(format!("more than {MOST_LINES} lines are too many")),
        _ => Ok(lines),
    }
}

impl Line<'_> {
    /// Returns the error of this line.
    pub(crate) fn wrong(&self, message: impl std::fmt::Display) -> String {
        format!("line {}: {message}", self.number)
    }

    /// Reads a time: with its unit, or a number of seconds.
    pub(crate) fn time(&self, field: &str) -> std::result::Result<Duration, String> {
        let time = match field.parse::<f64>() {
            Ok(seconds) if (0.0..=1e8).contains(&seconds) => return Ok(Duration::from_secs_f64(seconds)),
            Ok(_) => Err("this time is out of range: use 0 to 100000000 s".to_owned()),
            Err(_) => field.parse().map_err(|error: Error| match error {
                Error::Range { .. } => "this time is out of range: use 0 to 100000000 s".to_owned(),
                _ => "this is not a time, such as 40 ms or 0.04".to_owned(),
            }),
        };
        time.map_err(|message| self.wrong(message))
    }
}

fn samples(lines: &[Line<'_>]) -> std::result::Result<Samples, String> {
    let sample = |line: &Line<'_>| {
        let weight = |field: &str| {
            field.parse().map_err(|_| line.wrong(format!("this is no weight: use 0 to {}", u32::MAX)))
        };
        match line.fields.as_slice() {
            [time] => Ok((line.time(time)?, 1)),
            [time, of] => Ok((line.time(time)?, weight(of)?)),
            _ => Err(line.wrong("write a time, or a time and a weight")),
        }
    };
    let samples = Samples::from(lines.iter().map(sample).collect::<std::result::Result<Vec<_>, _>>()?);
    match samples.is_empty() {
        true => Err("every weight is 0".to_owned()),
        false => Ok(samples),
    }
}

/// Reads a time and a rate in each line, or a number of milliseconds.
fn trace(lines: &[Line<'_>], repeat: bool) -> std::result::Result<RateLaw, String> {
    match lines[0].fields.len() {
        1 => opportunities(lines, repeat),
        _ => rates(lines, repeat),
    }
}

/// Longest trace, ms: eleven days.
const LONGEST_MS: u32 = 1_000_000_000;

fn opportunities(lines: &[Line<'_>], repeat: bool) -> std::result::Result<RateLaw, String> {
    let mut last = 0;
    let opportunity = |line: &Line<'_>| {
        let field = line.fields[0];
        let at: u32 =
            field.parse().ok().filter(|at| *at <= LONGEST_MS && line.fields.len() == 1).ok_or_else(|| {
                line.wrong(format!("this is no whole number of milliseconds from 0 to {LONGEST_MS}"))
            })?;
        if std::mem::replace(&mut last, at) > at {
            return Err(line.wrong("this comes after a later time: times ascend"));
        }
        Ok(at)
    };
    let at_ms = lines.iter().map(opportunity).collect::<std::result::Result<Vec<u32>, String>>()?;
    Ok(RateLaw::Opportunities { at_ms: at_ms.into(), repeat })
}

/// Reads rates over time. The first line may be a heading. With a loop, the time of the last line is when the first one
/// comes again.
fn rates(lines: &[Line<'_>], repeat: bool) -> std::result::Result<RateLaw, String> {
    let is_heading = |line: &Line<'_>| line.fields[0].starts_with(|c: char| c.is_ascii_alphabetic());
    let lines = if is_heading(&lines[0]) { &lines[1..] } else { lines };
    let point = |line: &Line<'_>| match line.fields.as_slice() {
        [time, rate] => Ok((line.time(time)?, line.rate(rate)?)),
        _ => Err(line.wrong("write a time and a rate")),
    };
    let mut points = lines.iter().map(point).collect::<std::result::Result<Vec<_>, String>>()?;
    let period = match repeat {
        true => points.pop().map(|(end, _)| end),
        false => None,
    };
    let wrong = |(at, why): (usize, &str)| match lines.get(at) {
        Some(line) if !points.is_empty() => line.wrong(why),
        _ => "there are too few lines: write two at least".to_owned(),
    };
    let steps = Steps::new(points.clone()).map_err(wrong)?;
    let ascends = period.is_none_or(|period| points.last().is_some_and(|(last, _)| *last < period));
    match (ascends, lines.last()) {
        (false, Some(line)) => Err(line.wrong("times ascend from step to step")),
        _ => Ok(RateLaw::Steps { steps, period }),
    }
}

impl Line<'_> {
    /// Reads a rate: with its unit, or a number of bit/s.
    fn rate(&self, field: &str) -> std::result::Result<Rate, String> {
        match field.parse::<f64>() {
            Ok(bits) if (0.0..=1e13).contains(&bits) => Ok(Rate::from_bits(bits.round() as u64)),
            Ok(_) => Err(self.wrong("this rate is out of range: use 0 to 1e13 bit/s")),
            Err(_) => field.parse().map_err(|_| self.wrong("this is not a rate, such as 5 Mbit/s or 5e6")),
        }
    }
}
