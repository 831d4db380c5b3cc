//! Any figure of saved rows: lines, bars, distributions and maps, as SVG or PNG.
//!
//! A [`Figure`] names columns; rows come from the tables of a sweep or from the curves of a run. Rows with the same
//! place in the figure are repetitions: the mean is drawn. Three of them or more have a 95 % interval.
//!
//! | kind | draws |
//! |---|---|
//! | line | `y` over `x`, a curve for each value of `by` |
//! | bar | the mean of `y` at each `x`, a bar for each value of `by` |
//! | cdf | the distribution of `y`, a curve for each value of `by` |
//! | heat | the mean of `y` as a colour, `x` against `by` |

pub(crate) mod axis;
mod bars;
mod cdf;
mod data;
pub(crate) mod frame;
mod groups;
mod heat;
mod label;
mod lines;

use crate::error::Error;
use crate::escape;
use crate::estimate::{caption, Estimate};
use crate::svg::canvas::{self, Canvas};
use afteryou_notation::unknown;
use std::path::Path;

pub use data::Data;

/// A kind of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Curves.
    Line,
    /// Bars.
    Bar,
    /// Distributions.
    Cdf,
    /// A map of two settings.
    Heat,
}

impl Kind {
    /// All kinds, by name.
    pub const ALL: [(&'static str, Kind); 4] =
        [("line", Kind::Line), ("bar", Kind::Bar), ("cdf", Kind::Cdf), ("heat", Kind::Heat)];
}

/// A figure to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The kind of figure; by default the one that suits the columns.
    pub kind: Option<Kind>,
    /// The column on the horizontal axis; of curves, the time by default.
    pub x: Option<String>,
    /// The column that is measured.
    pub y: String,
    /// The columns that make groups.
    pub by: Vec<String>,
    /// Only rows in which these columns have these values.
    pub only: Vec<(String, String)>,
    /// The title; by default it names the columns.
    pub title: Option<String>,
}

/// Rows chosen and columns found: all that drawing needs.
struct Chosen<'a> {
    figure: &'a Figure,
    data: Data,
    title: String,
    subtitle: String,
}

/// A column as numbers in a unit for people.
struct Numbers {
    values: Vec<Option<f64>>,
    label: String,
}

impl Figure {
    /// Reads what is saved at `path`, a table, a result or a folder, and draws this figure of it as one SVG document.
    ///
    /// # Errors
    /// A path without a table, a column or a value that is not there, and columns that do not suit the kind.
    pub fn draw(&self, path: &Path) -> Result<String, Error> {
        let columns =
            self.x.iter().chain([&self.y]).chain(&self.by).chain(self.only.iter().map(|(column, _)| column));
        let wanted: Vec<&str> = columns.map(String::as_str).collect();
        self.draw_of(Data::read(path, &wanted)?)
    }

    /// Draws this figure of `data`.
    ///
    /// # Errors
    /// As [`draw`](Self::draw).
    pub fn draw_of(&self, mut data: Data) -> Result<String, Error> {
        data.choose_quantity(&self.y);
        let by_curve = data.run.is_some() && self.by.is_empty() && self.kind != Some(Kind::Heat);
        let figure =
            &Figure { by: if by_curve { vec!["of".to_owned()] } else { self.by.clone() }, ..self.clone() };
        for (column, value) in &self.only {
            data.only(column, value)?;
        }
        let [title, subtitle] = self.words(&data);
        let chosen = Chosen { figure, title, subtitle, data };
        let kind = match self.kind {
            Some(kind) => kind,
            None => chosen.usual_kind()?,
        };
        let mut body = String::new();
        {
            let canvas = Canvas::on(&mut body)?;
            match kind {
                Kind::Line => lines::draw(&canvas, &chosen)?,
                Kind::Bar => bars::draw(&canvas, &chosen)?,
                Kind::Cdf => cdf::draw(&canvas, &chosen)?,
                Kind::Heat => heat::draw(&canvas, &chosen)?,
            }
            canvas.finish()?;
        }
        canvas::with_root(&body, &escape::html(&chosen.title))
    }

    /// Returns the title and the subtitle.
    fn words(&self, data: &Data) -> [String; 2] {
        let words = |name: &String| label::name_of(name);
        let of_columns = || {
            let over = self.x.as_ref().map(|x| format!(" over {}", words(x))).unwrap_or_default();
            let by = if self.by.is_empty() {
                String::new()
            } else {
                format!(" by {}", self.by.iter().map(words).collect::<Vec<_>>().join(", "))
            };
            let mut title = format!("{}{over}{by}", words(&self.y));
            title.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
            title
        };
        let (run, about) = data.run.clone().map(|[run, about]| (run, about)).unzip();
        let title = self.title.clone().or(run).unwrap_or_else(of_columns);
        let only = self.only.iter().map(|(column, value)| format!("{column} = {value}"));
        let said: Vec<String> = about.into_iter().chain(only).collect();
        [title, said.join(" · ")]
    }
}

impl Chosen<'_> {
    /// Returns the kind that suits the columns. Numbers over numbers are curves, numbers over words are bars, and numbers alone have a distribution.
    fn usual_kind(&self) -> Result<Kind, Error> {
        let Some(x) = self.x() else { return Ok(Kind::Cdf) };
        let place = self.data.column(x)?;
        Ok(if self.data.numbers(place).is_some() { Kind::Line } else { Kind::Bar })
    }

    /// Returns the column on the horizontal axis.
    fn x(&self) -> Option<&str> {
        let time = || self.data.has("time_s").then_some("time_s");
        self.figure.x.as_deref().or_else(time)
    }

    fn required_x(&self) -> Result<&str, Error> {
        self.x().ok_or_else(|| {
            let columns: Vec<&str> = self.data.columns.iter().map(String::as_str).collect();
            Error::Plot(format!("this kind of figure needs a column for --x: one of {}", columns.join(", ")))
        })
    }

    /// Returns the column `name` as numbers.
    fn numbers(&self, name: &str) -> Result<Numbers, Error> {
        let place = self.data.column(name)?;
        let (mut values, unit) = self.data.numbers(place).ok_or_else(|| {
            let numeric = (0..self.data.columns.len()).filter(|place| self.data.numbers(*place).is_some());
            let names: Vec<&str> = numeric.map(|place| self.data.columns[place].as_str()).collect();
            Error::Plot(format!(
                "the column {name:?} has words or nothing in it; {} have numbers",
                names.join(", ")
            ))
        })?;
        let largest = values.iter().flatten().fold(0.0, |most: f64, value| most.max(value.abs()));
        let curves = if name == self.figure.y { self.data.unit_of_curves() } else { None };
        let label = label::of(name, unit, curves, largest);
        values.iter_mut().flatten().for_each(|value| *value *= label.factor);
        Ok(Numbers { values, label: label.text })
    }

    fn y(&self) -> Result<Numbers, Error> {
        self.numbers(&self.figure.y)
    }

    fn groups(&self) -> Result<Vec<groups::Group>, Error> {
        groups::groups(&self.data, &self.figure.by)
    }

    fn words<'a>(&'a self, x: &'a str, y: &'a str) -> frame::Words<'a> {
        frame::Words { title: &self.title, subtitle: &self.subtitle, x, y }
    }
}

/// Writes a note on the intervals of these means, if one of them has any.
fn intervals<'a>(
    frame: &frame::Frame<'_, '_>,
    means: impl Iterator<Item = &'a Estimate>,
) -> Result<(), Error> {
    let n = means.filter(|mean| mean.half_width.is_some()).map(|mean| mean.n);
    caption(n).map_or(Ok(()), |caption| frame.note(&caption))
}

/// Returns the entries of a legend; none where there is one group without a name.
fn legend(groups: &[groups::Group]) -> Vec<frame::Entry<'_>> {
    let named = groups.iter().filter(|group| !group.name.is_empty());
    let entry = |group: &'_ groups::Group| (group.style, group.is_baseline);
    let mut entries: Vec<frame::Entry<'_>> = Vec::new();
    for group in named {
        let (style, is_baseline) = entry(group);
        if !is_baseline {
            entries.push(frame::Entry { style, dashed: false, name: &group.name });
        }
    }
    if groups.iter().any(|group| group.is_baseline) {
        let style = crate::palette::FAINT;
        entries.push(frame::Entry { style, dashed: true, name: "without background" });
    }
    entries
}

/// Returns the kind called `name`.
///
/// # Errors
/// A name that none has, with the nearest one.
pub fn kind(name: &str) -> Result<Kind, afteryou_scenario::Error> {
    let found = Kind::ALL.iter().find(|(known, _)| *known == name);
    let names = Kind::ALL.map(|(name, _)| name);
    found.map(|(_, kind)| *kind).ok_or_else(|| unknown("kind of figure", name, &names))
}
