//! Sweeps beside each other: at each common point, the means of every figure over the repetitions and their differences from
//! those of the first sweep.
//!
//! Points are matched by the varied settings, the columns before `run` in the tidy rows. Where two sweeps ran a point
//! with the same seeds, the interval is that of the differences run by run. The effect of the common draws falls out.
//! Otherwise it is Welch's. Rows that have no counterpart are counted in the note above the table.

use super::{page, part, relative, short_names, shown, signed, WORTH_A_TONE};
use crate::document::{figures, markup};
use crate::error::Error;
use crate::table::{Cell, Column, Table, Tone};
use crate::text::table_text;
use afteryou_plot::estimate::{caption, of_difference, Estimate, FEWEST_FOR_AN_INTERVAL};
use afteryou_plot::{Data, Error as Undrawn, Figure, Kind};
use maud::html;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
/// The column of the figures' rows with their sweep.
const OF: &str = "result";
/// Most pictures on a page.
const MOST_PICTURES: usize = 24;
/// The part of 95 % intervals that exclude the true value.
const ERROR: f64 = 0.05;

/// Two sweeps or more, each with a name.
#[derive(Clone, Debug)]
pub struct ComparedSweeps {
    names: Vec<String>,
    /// The same table of all.
    tables: Vec<Vec<Data>>,
    /// The figures to compare; all of them if there is none.
    chosen: Vec<String>,
}

/// A figure at a point of all sweeps.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedMeans {
    /// The values of the varied settings.
    pub point: Vec<String>,
    /// The window, the flow, the link; empty where the figure is of the whole run.
    pub about: String,
    /// The figure's name, which ends with its unit.
    pub figure: String,
    /// Means over the repetitions, each with half the width of its 95 % interval.
    pub means: Vec<(f64, Option<f64>)>,
    /// Of each further sweep: its mean minus that of the first, with half the width of the difference's 95 % interval.
    pub differences: Vec<(f64, Option<f64>)>,
}

impl ComparedMeans {
    /// Returns whether zero is outside of a difference's interval or, without an interval, whether there is a difference.
    pub fn is_clear(&self) -> bool {
        self.differences.iter().any(is_clear)
    }

    /// Returns whether the figure has this name, without its sweep's window.
    fn is_called(&self, name: &str) -> bool {
        self.figure == name || self.figure.rsplit('.').next() == Some(name)
    }
}

fn is_clear((difference, half_width): &Mean) -> bool {
    difference.abs() > half_width.unwrap_or(0.0)
}

/// Where rows belong: the point, what they are about.
type Place = (Vec<String>, String);
/// Rows of one place by seed.
type Seeds = Vec<(String, usize)>;

impl ComparedSweeps {
    /// Reads folders of sweeps, or tables that sweeps wrote. They are called by the parts of their paths that differ.
    ///
    /// # Errors
    /// A path without tables of a sweep, sweeps that vary different settings, and sweeps without a common point.
    pub fn read(paths: &[&Path]) -> Result<ComparedSweeps, Error> {
        let are_folders = paths.iter().all(|path| path.is_dir());
        let names = if paths.iter().any(|path| path.is_dir()) { &TABLES[..] } else { &TABLES[..1] };
        let mut tables = Vec::new();
        for name in names {
            let file = |path: &&Path| if path.is_dir() { path.join(name) } else { path.to_path_buf() };
            let files: Vec<PathBuf> = paths.iter().map(file).collect();
            let table: Vec<Data> =
                files.iter().map(|file| Data::read(file, &[])).collect::<Result<_, _>>()?;
            check_settings(&table, &files)?;
            tables.push(table);
            // A file beside a folder is compared with one of its tables.
            if !are_folders {
                break;
            }
        }
        let sweeps = ComparedSweeps { names: short_names(paths), tables, chosen: Vec::new() };
        match sweeps.figures().is_empty() {
            false => Ok(sweeps),
            true => Err(Undrawn::Plot(format!(
                "{} have no figure at the same point: compare sweeps over the same values",
                sweeps.title()
            ))
            .into()),
        }
    }

    /// Compares these figures only, such as `kept`, in any window.
    ///
    /// # Errors
    /// The first name that no figure has, and the names that there are.
    pub fn choose(self, chosen: Vec<String>) -> Result<ComparedSweeps, (String, Vec<String>)> {
        let figures = self.figures();
        if let Some(name) = chosen.iter().find(|name| !figures.iter().any(|figure| figure.is_called(name))) {
            let short = |figure: ComparedMeans| figure.figure.rsplit('.').next().map(str::to_owned);
            let mut known: Vec<String> = figures.into_iter().filter_map(short).collect();
            known.sort();
            known.dedup();
            return Err((name.clone(), known));
        }
        Ok(ComparedSweeps { chosen, ..self })
    }

    /// Returns every chosen figure at every common point.
    pub fn figures(&self) -> Vec<ComparedMeans> {
        self.tables.iter().flat_map(|table| self.figures_of(table)).collect()
    }

    fn figures_of(&self, table: &[Data]) -> Vec<ComparedMeans> {
        let mut figures = figures_of(table);
        figures
            .retain(|figure| self.chosen.is_empty() || self.chosen.iter().any(|name| figure.is_called(name)));
        figures
    }

    fn title(&self) -> String {
        super::listed(&self.names)
    }

    /// Formats the figures for a terminal of `width` columns.
    pub fn text(&self, width: usize, colour: bool) -> String {
        let remarks = self.remarks().into_iter().map(|remark| remark + "\n");
        let tables = self.tables().map(|table| table_text(&table, width, colour));
        let blocks: Vec<String> = remarks.chain(tables).collect();
        blocks.join("\n")
    }

    /// Returns the figures, and pictures of those that differ with all sweeps in each, as a page that works offline.
    ///
    /// # Errors
    /// Rows that cannot be drawn.
    pub fn html(&self) -> Result<String, Error> {
        let body = html! {
            @for remark in self.remarks() { p { (remark) } }
            (figures(self.pictures()?))
            @for table in self.tables() { (markup(&table)) }
        };
        Ok(page(&self.title(), &body))
    }

    /// Returns sentences about the whole comparison.
    fn remarks(&self) -> Vec<String> {
        self.points_alone().into_iter().chain(self.caption()).chain(self.by_chance()).collect()
    }

    /// Describes the repetitions behind the intervals.
    fn caption(&self) -> Option<String> {
        let runs = self.tables.first()?;
        let repeated = runs.iter().flat_map(|runs| places(runs).into_values().map(|seeds| seeds.len()));
        let repeated = repeated.filter(|n| *n >= FEWEST_FOR_AN_INTERVAL);
        Some(format!("Intervals: {}.", caption(repeated)?))
    }

    /// Returns how many intervals exclude zero, and how many would by chance.
    fn by_chance(&self) -> Option<String> {
        let figures = self.figures();
        let differences = figures.iter().flat_map(|figure| &figure.differences);
        let intervals: Vec<&Mean> = differences.filter(|(_, half_width)| half_width.is_some()).collect();
        let clear = intervals.iter().filter(|difference| is_clear(difference)).count();
        let by_chance = (intervals.len() as f64 * ERROR).round();
        (!intervals.is_empty()).then(|| {
            format!(
                "{clear} of {} differences have a 95 % interval that excludes zero. Without any difference about {by_chance} would, by \
                 chance: one in twenty.",
                intervals.len()
            )
        })
    }

    /// Returns the number of points that not all sweeps have.
    fn points_alone(&self) -> Option<String> {
        let points: Vec<Vec<Vec<String>>> = self.tables.first()?.iter().map(points).collect();
        let is_common = |point: &Vec<String>| points.iter().all(|points| points.contains(point));
        let alone: Vec<usize> =
            points.iter().map(|points| points.iter().filter(|point| !is_common(point)).count()).collect();
        let counts = alone.iter().zip(&self.names).map(|(count, name)| format!("{count} of {name}"));
        let counts: Vec<String> = counts.collect();
        alone
            .iter()
            .any(|count| *count > 0)
            .then(|| format!("Points without a counterpart are left out: {}.", counts.join(", ")))
    }

    /// Returns the tables that have a chosen figure.
    fn tables(&self) -> impl Iterator<Item = Table> + '_ {
        self.tables.iter().map(|table| self.table(table)).filter(|table| !table.rows.is_empty())
    }

    fn table(&self, table: &[Data]) -> Table {
        let settings = settings(&table[0]);
        let is_pair = self.names.len() == 2;
        let row = |compared: ComparedMeans| {
            let first = compared.means[0].0;
            let relative: Vec<Option<f64>> =
                compared.means[1..].iter().map(|mean| relative([Some(first), Some(mean.0)])).collect();
            let is_small = relative.iter().all(|part| part.is_some_and(|part| part.abs() < WORTH_A_TONE));
            let tone = if is_small || !compared.is_clear() { Tone::Faint } else { Tone::Plain };
            let cell = |text: String| Cell { text, tone, ..Cell::default() };
            let plain = |text: &String| Cell::new(text);
            let mut row: Vec<Cell> = compared.point.iter().map(plain).collect();
            row.extend([plain(&compared.about), cell(compared.figure.clone())]);
            row.extend(compared.means.iter().map(|mean| cell(with_width(*mean, false))));
            row.extend(compared.differences.iter().map(|mean| cell(with_width(*mean, true))));
            if is_pair {
                row.push(cell(part(relative[0])));
            }
            row
        };
        let numbers = |name: &str| Column { number: true, ..Column::setting(name) };
        let mut columns: Vec<Column> = settings.iter().map(|name| Column::setting(name)).collect();
        columns.extend([Column::setting("about"), Column::setting("figure")]);
        columns.extend(self.names.iter().map(|name| numbers(name)));
        match is_pair {
            true => columns.extend([Column::numbers("difference"), Column::numbers("of the first")]),
            false => columns
                .extend(self.names[1..].iter().map(|name| numbers(&format!("{name} − {}", self.names[0])))),
        }
        let note = match is_pair {
            true => {
                "Means over the repetitions, ± their 95 % intervals. The difference is the second minus the first; runs with the \
                 same seed are compared in pairs. Faint: zero is within the interval, or less than a twentieth."
            }
            false => {
                "Means over the repetitions, ± their 95 % intervals. Differences are from the first; runs with the same seed are \
                 compared in pairs. Faint: zero is within all intervals, or less than a twentieth."
            }
        };
        let rows = self.figures_of(table).into_iter().map(row).collect();
        let mut table = Table { title: self.title(), note, grouped: settings.len() + 1, columns, rows };
        if table.rows.iter().all(|row| row[settings.len()].text.is_empty()) {
            table.remove_column(settings.len());
        }
        table
    }

    /// Draws a picture for each figure of the runs that differs clearly somewhere.
    fn pictures(&self) -> Result<Vec<String>, Error> {
        let Some(table) = self.tables.first() else { return Ok(Vec::new()) };
        let mut figures: Vec<String> = Vec::new();
        for compared in self.figures_of(table) {
            if compared.is_clear() && !figures.contains(&compared.figure) {
                figures.push(compared.figure);
            }
        }
        let all = self.all(table);
        let axes = settings(&table[0]);
        let is_number = |name: &&String| all.column(name).is_ok_and(|place| all.numbers(place).is_some());
        let x = axes.iter().find(is_number).or(axes.first()).cloned().unwrap_or_else(|| OF.to_owned());
        let mut by: Vec<String> = axes.iter().filter(|name| **name != x).cloned().collect();
        if x != OF {
            by.insert(0, OF.to_owned());
        }
        let kind = (x == OF).then_some(Kind::Bar);
        let draw = |y: String| {
            Figure { kind, x: Some(x.clone()), y, by: by.clone(), ..Figure::default() }.draw_of(all.clone())
        };
        Ok(figures.into_iter().take(MOST_PICTURES).map(draw).collect::<Result<_, _>>()?)
    }

    /// Returns the rows of all in one table, with a column for the name and none for the controller. A curve's look shows
    /// its sweep.
    fn all(&self, table: &[Data]) -> Data {
        let is_common = |name: &&String| table.iter().all(|data| data.has(name)) && *name != "controller";
        let common: Vec<&String> = table[0].columns.iter().filter(is_common).collect();
        let mut all = Data { columns: vec![OF.to_owned()], ..Data::default() };
        all.columns.extend(common.iter().map(|name| (*name).clone()));
        for (data, name) in table.iter().zip(&self.names) {
            let places: Vec<usize> = common.iter().filter_map(|name| data.column(name).ok()).collect();
            for row in &data.rows {
                let cells = places.iter().map(|place| row[*place].clone());
                all.rows.push([name.clone()].into_iter().chain(cells).collect());
            }
        }
        all
    }
}

/// Returns the points of a table, each once.
fn points(data: &Data) -> Vec<Vec<String>> {
    let mut points: Vec<Vec<String>> = places(data).into_keys().map(|(point, _)| point).collect();
    points.dedup();
    points
}

/// Returns the names of the varied settings.
fn settings(data: &Data) -> Vec<String> {
    data.columns.iter().take_while(|name| *name != RUN).cloned().collect()
}

/// Refuses tables that are not of sweeps, or of sweeps over different settings.
fn check_settings(table: &[Data], files: &[PathBuf]) -> Result<(), Error> {
    for (data, path) in table.iter().zip(files) {
        if !data.columns.iter().any(|name| name == RUN) || !data.columns.iter().any(|name| name == SEED) {
            let reason = format!("it has no columns {RUN} and {SEED}: name runs.csv or flows.csv of a sweep");
            return Err(Undrawn::NotATable { path: path.clone(), reason }.into());
        }
    }
    let sorted = |data: &Data| {
        let mut names = settings(data);
        names.sort();
        names
    };
    let first = sorted(&table[0]);
    let words = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    for (data, file) in table.iter().zip(files) {
        let other = sorted(data);
        if other != first {
            return Err(Undrawn::Plot(format!(
                "{} varies {} and {} varies {}: compare sweeps over the same settings",
                files[0].display(),
                words(&first),
                file.display(),
                words(&other)
            ))
            .into());
        }
    }
    Ok(())
}

/// Returns the rows of each place, in its point and by what they are about.
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

/// Returns every figure that all tables have, at each common point in the order of the first table.
fn figures_of(table: &[Data]) -> Vec<ComparedMeans> {
    let first = &table[0];
    let of: Vec<BTreeMap<Place, Seeds>> = table.iter().map(places).collect();
    let settings = settings(first);
    let mut sorted = settings.clone();
    sorted.sort();
    let is_figure = |name: &&String| !settings.contains(name) && !NO_FIGURES.contains(&name.as_str());
    let mut figures: Vec<(&String, Vec<Vec<Option<f64>>>)> = Vec::new();
    for name in first.columns.iter().filter(is_figure) {
        let values = |data: &Data| Some(data.numbers(data.column(name).ok()?)?.0);
        if let Some(values) = table.iter().map(values).collect() {
            figures.push((name, values));
        }
    }
    let mut order: Vec<(&Place, &Seeds)> = of[0].iter().collect();
    order.sort_by_key(|(_, rows)| rows.iter().map(|(_, row)| *row).min());
    let mut compared = Vec::new();
    for (place, _) in order {
        let rows: Option<Vec<&Seeds>> = of.iter().map(|places| places.get(place)).collect();
        let Some(rows) = rows else { continue };
        for (name, values) in &figures {
            if let Some((means, differences)) = compare(&rows, values) {
                let point = settings.iter().filter_map(|name| {
                    let at = sorted.iter().position(|known| known == name)?;
                    place.0.get(at).cloned()
                });
                compared.push(ComparedMeans {
                    point: point.collect(),
                    about: place.1.clone(),
                    figure: (*name).clone(),
                    means,
                    differences,
                });
            }
        }
    }
    compared
}

type Mean = (f64, Option<f64>);

/// Values of a figure at a place, each with its seed.
type Known = Vec<(String, f64)>;

/// Returns the means of a figure at a place, and their differences from the first; `None` where one of them has no value.
fn compare(rows: &[&Seeds], values: &[Vec<Option<f64>>]) -> Option<(Vec<Mean>, Vec<Mean>)> {
    let known = |(rows, values): (&&Seeds, &Vec<Option<f64>>)| {
        let with_seed = |(seed, row): &'_ (String, usize)| Some((seed.clone(), values[*row]?));
        let mut known: Known = rows.iter().filter_map(with_seed).collect();
        known.sort_by(|a, b| a.0.cmp(&b.0));
        known
    };
    let known: Vec<Known> = rows.iter().zip(values).map(known).collect();
    let numbers = |of: &[(String, f64)]| -> Vec<f64> { of.iter().map(|(_, value)| *value).collect() };
    let plain = |estimate: Estimate| (estimate.mean, estimate.half_width);
    let mean = |of: &Known| Estimate::of(&numbers(of)).map(plain);
    let difference = |other: &Known| {
        let first = &known[0];
        let have_same_seeds = first.iter().map(|(seed, _)| seed).eq(other.iter().map(|(seed, _)| seed));
        let estimate = match have_same_seeds {
            true => {
                let of_runs = first.iter().zip(other).map(|((_, one), (_, other))| other - one);
                Estimate::of(&of_runs.collect::<Vec<f64>>())
            }
            false => of_difference(&numbers(first), &numbers(other)),
        };
        estimate.map(plain)
    };
    let means: Option<Vec<Mean>> = known.iter().map(mean).collect();
    let differences: Option<Vec<Mean>> = known[1..].iter().map(difference).collect();
    means.zip(differences)
}

fn with_width((mean, half_width): Mean, is_difference: bool) -> String {
    let mean = if is_difference { signed(mean) } else { shown(mean) };
    match half_width {
        Some(width) => format!("{mean} ± {}", shown(width)),
        None => mean,
    }
}
