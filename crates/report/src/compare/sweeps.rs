//! Two sweeps beside each other: at each point of both, the means of every figure over the repetitions and their difference.
//!
//! Points are matched by the varied settings, the columns before `run` in the tidy rows. Where both sweeps ran a point
//! with the same seeds, the interval is that of the differences run by run. The effect of the common draws falls out.
//! Otherwise it is Welch's. Rows that have no counterpart are counted in the note above the table.

use super::{document, part, relative, short_names, shown, signed, WORTH_A_TONE};
use crate::batch::{estimate_of_difference, Estimate};
use crate::error::Error;
use crate::escape;
use crate::html::markup;
use crate::plot::{Data, Figure, Kind};
use crate::table::{Cell, Column, Table, Tone};
use crate::text::table_text;
use std::collections::BTreeMap;
use std::path::Path;

/// The tables of a folder that are compared.
const TABLES: [&str; 2] = ["runs.csv", "flows.csv"];
/// The column that ends the varied settings.
const RUN: &str = "run";
const SEED: &str = "seed";
/// Columns that make rows of one point different things: in the tables of flows and of links.
const ABOUT: [&str; 3] = ["window", "flow", "link"];
/// Columns of a run's identity and of its place in time.
const NO_FIGURES: [&str; 8] =
    [RUN, "repetition", SEED, "key", "from_s", "to_s", "capacity_bit_s", "duration_s"];
/// The column of the figures' rows that says which sweep they are of.
const OF: &str = "result";
/// Most pictures on a page.
const MOST_PICTURES: usize = 24;
/// The part of 95 % intervals that exclude the true value.
const ERROR: f64 = 0.05;

/// Two sweeps, each with a name.
#[derive(Clone, Debug)]
pub struct SweepPair {
    names: Vec<String>,
    /// The same table of both.
    tables: Vec<[Data; 2]>,
}

/// A figure at a point of both sweeps.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedMeans {
    /// The values of the varied settings.
    pub point: Vec<String>,
    /// The window, the flow, the link; empty where the figure is of the whole run.
    pub about: String,
    /// The figure's name, which ends with its unit.
    pub figure: String,
    /// Means over the repetitions, each with half the width of its 95 % interval.
    pub means: [(f64, Option<f64>); 2],
    /// The second minus the first, with half the width of its 95 % interval.
    pub difference: (f64, Option<f64>),
}

impl ComparedMeans {
    /// Is zero outside of the difference's interval? Without an interval, is there a difference?
    pub fn is_clear(&self) -> bool {
        self.difference.0.abs() > self.difference.1.unwrap_or(0.0)
    }
}

/// Where rows belong: the point, what they are about.
type Place = (Vec<String>, String);
/// Rows of one place by seed.
type Seeds = Vec<(String, usize)>;

impl SweepPair {
    /// Reads two folders of sweeps, or two tables that sweeps wrote. They are called by the parts of their paths that differ.
    ///
    /// # Errors
    /// A path without tables of a sweep, sweeps that vary different settings, and sweeps without a common point.
    pub fn read(paths: [&Path; 2]) -> Result<SweepPair, Error> {
        let files =
            |name: &str| paths.map(|path| if path.is_dir() { path.join(name) } else { path.to_owned() });
        let names = if paths.iter().any(|path| path.is_dir()) { &TABLES[..] } else { &TABLES[..1] };
        let mut tables = Vec::new();
        for name in names {
            let [first, second] = files(name);
            let pair = [Data::read(&first, &[])?, Data::read(&second, &[])?];
            check_settings(&pair, [&first, &second])?;
            tables.push(pair);
            // A file beside a folder is compared with one of its tables.
            if paths.iter().any(|path| !path.is_dir()) {
                break;
            }
        }
        let pair = SweepPair { names: short_names(&paths), tables };
        match pair.figures().is_empty() {
            false => Ok(pair),
            true => Err(Error::Plot(format!(
                "{} and {} have no figure at the same point: compare sweeps over the same values",
                pair.names[0], pair.names[1]
            ))),
        }
    }

    /// Every figure at every common point.
    pub fn figures(&self) -> Vec<ComparedMeans> {
        self.tables.iter().flat_map(figures_of).collect()
    }

    /// The figures for a terminal of `width` columns.
    pub fn text(&self, width: usize, colour: bool) -> String {
        let remarks = self.remarks().into_iter().map(|remark| remark + "\n");
        let tables = self.tables.iter().map(|pair| table_text(&self.table(pair), width, colour));
        let blocks: Vec<String> = remarks.chain(tables).collect();
        blocks.join("\n")
    }

    /// The figures, and pictures of those that differ with both sweeps in each, as a page that works offline.
    ///
    /// # Errors
    /// Rows that cannot be drawn.
    pub fn html(&self) -> Result<String, Error> {
        let mut body = String::new();
        for svg in self.pictures()? {
            body += &format!("<figure>{svg}</figure>\n");
        }
        let remarks = self.remarks().into_iter();
        let remarks: String = remarks.map(|remark| format!("<p>{}</p>\n", escape::html(&remark))).collect();
        let tables: String = self.tables.iter().map(|pair| markup(&self.table(pair))).collect();
        Ok(document(&self.names.join(" and "), &format!("{remarks}{body}{tables}")))
    }

    /// Sentences about the whole comparison.
    fn remarks(&self) -> Vec<String> {
        self.points_alone().into_iter().chain(self.by_chance()).collect()
    }

    /// How many intervals exclude zero, and how many would by chance.
    fn by_chance(&self) -> Option<String> {
        let figures = self.figures();
        let intervals: Vec<&ComparedMeans> =
            figures.iter().filter(|figure| figure.difference.1.is_some()).collect();
        let clear = intervals.iter().filter(|figure| figure.is_clear()).count();
        let by_chance = (intervals.len() as f64 * ERROR).round();
        (!intervals.is_empty()).then(|| {
            format!(
                "{clear} of {} differences have a 95 % interval that excludes zero. Without any difference about {by_chance} would, by \
                 chance: one in twenty.",
                intervals.len()
            )
        })
    }

    /// The number of points that one sweep alone has.
    fn points_alone(&self) -> Option<String> {
        let [first, second] = self.tables.first()?;
        let points = [first, second].map(|data| {
            let mut points: Vec<Vec<String>> = places(data).into_keys().map(|(point, _)| point).collect();
            points.dedup();
            points
        });
        let alone = |one: usize, other: usize| {
            points[one].iter().filter(|point| !points[other].contains(point)).count()
        };
        let (first, second) = (alone(0, 1), alone(1, 0));
        let [one, other] = [&self.names[0], &self.names[1]];
        (first + second > 0).then(|| {
            format!("Points without a counterpart are left out: {first} of {one}, {second} of {other}.")
        })
    }

    fn table(&self, pair: &[Data; 2]) -> Table {
        let settings = settings(&pair[0]);
        let row = |compared: ComparedMeans| {
            let tone = if compared.is_clear() { Tone::Plain } else { Tone::Faint };
            let [first, second] = compared.means;
            let relative = relative([Some(first.0), Some(second.0)]);
            let tone = match relative {
                Some(part) if part.abs() < WORTH_A_TONE => Tone::Faint,
                _ => tone,
            };
            let cell = |text: String| Cell { text, tone, ..Cell::default() };
            let plain = |text: &String| Cell::new(text);
            let mut row: Vec<Cell> = compared.point.iter().map(plain).collect();
            row.extend([plain(&compared.about), cell(compared.figure.clone())]);
            row.extend([first, second].map(|mean| cell(with_width(mean, false))));
            row.extend([cell(with_width(compared.difference, true)), cell(part(relative))]);
            row
        };
        let numbers = |name: &str| Column { number: true, ..Column::setting(name) };
        let mut columns: Vec<Column> = settings.iter().map(|name| Column::setting(name)).collect();
        columns.extend([
            Column::setting("about"),
            Column::setting("figure"),
            numbers(&self.names[0]),
            numbers(&self.names[1]),
            Column::numbers("difference"),
            Column::numbers("of the first"),
        ]);
        let mut table = Table {
            title: format!("{} and {}", self.names[0], self.names[1]),
            note: "Means over the repetitions, ± their 95 % intervals. The difference is the second minus the first; runs with the \
                   same seed are compared in pairs. Faint: zero is within the interval, or less than a twentieth.",
            grouped: settings.len() + 1,
            columns,
            rows: figures_of(pair).into_iter().map(row).collect(),
        };
        if table.rows.iter().all(|row| row[settings.len()].text.is_empty()) {
            table.remove_column(settings.len());
        }
        table
    }

    /// A picture for each figure of the runs that differs clearly somewhere.
    fn pictures(&self) -> Result<Vec<String>, Error> {
        let Some(pair) = self.tables.first() else { return Ok(Vec::new()) };
        let mut figures: Vec<String> = Vec::new();
        for compared in figures_of(pair) {
            if compared.is_clear() && !figures.contains(&compared.figure) {
                figures.push(compared.figure);
            }
        }
        let both = self.both(pair);
        let axes = settings(&pair[0]);
        let is_number = |name: &&String| both.column(name).is_ok_and(|place| both.numbers(place).is_some());
        let x = axes.iter().find(is_number).or(axes.first()).cloned().unwrap_or_else(|| OF.to_owned());
        let mut by: Vec<String> = axes.iter().filter(|name| **name != x).cloned().collect();
        by.insert(0, OF.to_owned());
        let kind = (x == OF).then_some(Kind::Bar);
        let draw = |y: String| {
            Figure { kind, x: Some(x.clone()), y, by: by.clone(), ..Figure::default() }.draw_of(both.clone())
        };
        figures.into_iter().take(MOST_PICTURES).map(draw).collect()
    }

    /// The rows of both in one table, with a column for the name and none for the controller. A curve's look shows its
    /// sweep.
    fn both(&self, pair: &[Data; 2]) -> Data {
        let common: Vec<&String> =
            pair[0].columns.iter().filter(|name| pair[1].has(name) && *name != "controller").collect();
        let mut both = Data { columns: vec![OF.to_owned()], ..Data::default() };
        both.columns.extend(common.iter().map(|name| (*name).clone()));
        for (data, name) in pair.iter().zip(&self.names) {
            let places: Vec<usize> = common.iter().filter_map(|name| data.column(name).ok()).collect();
            for row in &data.rows {
                let cells = places.iter().map(|place| row[*place].clone());
                both.rows.push([name.clone()].into_iter().chain(cells).collect());
            }
        }
        both
    }
}

/// Names of the varied settings.
fn settings(data: &Data) -> Vec<String> {
    data.columns.iter().take_while(|name| *name != RUN).cloned().collect()
}

/// Refuses tables that are not of sweeps, or of sweeps over different settings.
fn check_settings(pair: &[Data; 2], files: [&Path; 2]) -> Result<(), Error> {
    for (data, path) in pair.iter().zip(files) {
        if !data.columns.iter().any(|name| name == RUN) || !data.columns.iter().any(|name| name == SEED) {
            let reason = format!("it has no columns {RUN} and {SEED}: name runs.csv or flows.csv of a sweep");
            return Err(Error::NotATable { path: path.to_owned(), reason });
        }
    }
    let [mut first, mut second] = [settings(&pair[0]), settings(&pair[1])];
    first.sort();
    second.sort();
    if first == second {
        return Ok(());
    }
    let words = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Err(Error::Plot(format!(
        "{} varies {} and {} varies {}: compare sweeps over the same settings",
        files[0].display(),
        words(&first),
        files[1].display(),
        words(&second)
    )))
}

/// The rows of each place, in its point and by what they are about.
fn places(data: &Data) -> BTreeMap<Place, Seeds> {
    let mut names = settings(data);
    names.sort();
    let columns = |names: &[String]| -> Vec<usize> {
        names.iter().filter_map(|name| data.columns.iter().position(|column| column == name)).collect()
    };
    let (point, about) = (columns(&names), columns(&ABOUT.map(str::to_owned)));
    let seed = columns(&[SEED.to_owned()]);
    let mut places: BTreeMap<Place, Seeds> = BTreeMap::new();
    for (i, row) in data.rows.iter().enumerate() {
        let cells =
            |places: &[usize]| -> Vec<String> { places.iter().map(|place| row[*place].clone()).collect() };
        let said: Vec<String> = cells(&about).into_iter().filter(|cell| !cell.is_empty()).collect();
        let seeds = places.entry((cells(&point), said.join(", "))).or_default();
        seeds.push((seed.first().map(|place| row[*place].clone()).unwrap_or_default(), i));
    }
    places
}

/// Every figure that both tables have, at each common point in the order of the first table.
fn figures_of(pair: &[Data; 2]) -> Vec<ComparedMeans> {
    let [first, second] = pair;
    let of = [first, second].map(places);
    let settings = settings(first);
    let mut sorted = settings.clone();
    sorted.sort();
    let is_figure = |name: &&String| {
        !settings.contains(name) && !NO_FIGURES.contains(&name.as_str()) && second.columns.contains(name)
    };
    let mut figures: Vec<(&String, [Vec<Option<f64>>; 2])> = Vec::new();
    for name in first.columns.iter().filter(is_figure) {
        let values = [first, second].map(|data| Some(data.numbers(data.column(name).ok()?)?.0));
        if let [Some(one), Some(other)] = values {
            figures.push((name, [one, other]));
        }
    }
    let mut order: Vec<(&Place, &Seeds)> = of[0].iter().collect();
    order.sort_by_key(|(_, rows)| rows.iter().map(|(_, row)| *row).min());
    let mut compared = Vec::new();
    for (place, rows) in order {
        let Some(others) = of[1].get(place) else { continue };
        for (name, values) in &figures {
            if let Some((means, difference)) = compare([rows, others], values) {
                let point = settings.iter().filter_map(|name| {
                    let at = sorted.iter().position(|known| known == name)?;
                    place.0.get(at).cloned()
                });
                compared.push(ComparedMeans {
                    point: point.collect(),
                    about: place.1.clone(),
                    figure: (*name).clone(),
                    means,
                    difference,
                });
            }
        }
    }
    compared
}

type Mean = (f64, Option<f64>);

/// The means of a figure at a place, and their difference; none where one of them has no value.
fn compare(rows: [&Seeds; 2], values: &[Vec<Option<f64>>; 2]) -> Option<([Mean; 2], Mean)> {
    let known = |side: usize| -> Vec<(&str, f64)> {
        let of_side = rows[side].iter();
        let mut known: Vec<(&str, f64)> =
            of_side.filter_map(|(seed, row)| Some((seed.as_str(), values[side][*row]?))).collect();
        known.sort_by(|a, b| a.0.cmp(b.0));
        known
    };
    let [first, second] = [known(0), known(1)];
    let numbers = |of: &[(&str, f64)]| -> Vec<f64> { of.iter().map(|(_, value)| *value).collect() };
    let (one, other) = (numbers(&first), numbers(&second));
    let means = [Estimate::of(&one)?, Estimate::of(&other)?];
    let same_seeds = first.iter().map(|(seed, _)| seed).eq(second.iter().map(|(seed, _)| seed));
    let difference = match same_seeds {
        true => Estimate::of(&one.iter().zip(&other).map(|(one, other)| other - one).collect::<Vec<_>>())?,
        false => estimate_of_difference(&one, &other)?,
    };
    let plain = |estimate: Estimate| (estimate.mean, estimate.half_width);
    Some((means.map(plain), plain(difference)))
}

fn with_width((mean, half_width): Mean, is_difference: bool) -> String {
    let mean = if is_difference { signed(mean) } else { shown(mean) };
    match half_width {
        Some(width) => format!("{mean} ± {}", shown(width)),
        None => mean,
    }
}
