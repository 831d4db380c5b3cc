//! Lines over one axis.

use super::document;
use crate::error::Error;
use crate::estimate::caption;
use crate::figure::axis::Axis;
use crate::figure::frame::{Entry, Frame, Words};
use crate::palette::{self, looks, Style};
use crate::svg::canvas::{Canvas, Text};
use crate::svg::marks::mark;

/// Half the width of the end of an interval, and the radius of a published point, px.
const END: f64 = 3.5;
const RADIUS: f64 = 5.0;
/// More points than this have no marks and no intervals.
const MOST_MARKED: usize = 60;
/// Corners of a circle that is drawn as a line.
const CORNERS: usize = 16;

/// A figure of lines.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Above all.
    pub title: String,
    /// Below the title, and fainter.
    pub subtitle: String,
    /// The horizontal axis, with its unit.
    pub x: String,
    /// The vertical axis, with its unit.
    pub y: String,
    /// The ends of the horizontal axis, where they are given.
    pub x_range: Option<[f64; 2]>,
    /// The ends of the vertical axis, where they are given.
    pub y_range: Option<[f64; 2]>,
    /// Values across keep their ratios.
    pub logarithmic: bool,
    /// The lines.
    pub lines: Vec<Line>,
    /// Points that were published.
    pub published: Vec<[f64; 2]>,
    /// Values with a horizontal line, and its words.
    pub rules: Vec<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// The controller whose colour and mark it has, if it is about one.
    pub controller: Option<String>,
    /// Its points, from left to right.
    pub spots: Vec<Spot>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spot {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Half the width of the 95 % interval around it, which is a mean.
    pub half_width: Option<f64>,
    /// The number of values that it is the mean of.
    pub n: usize,
}

impl Chart {
    /// Returns the figure as an SVG document of 900 × 520 px.
    ///
    /// # Errors
    /// No point at all, and a failure of the drawing library.
    pub fn svg(&self) -> Result<String, Error> {
        document(&self.title, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), Error> {
        let (across, up) = self.axes()?;
        let style = |(index, line): (usize, &Line)| match line
            .controller
            .as_deref()
            .filter(|name| looks::is_known(name))
        {
            Some(controller) => looks::of(Some(controller), self.alike(index)),
            None => looks::nth(index),
        };
        let styles: Vec<Style> = self.lines.iter().enumerate().map(style).collect();
        let mut legend: Vec<Entry> =
            self.lines.iter().zip(&styles).map(|(line, style)| entry(&line.name, *style)).collect();
        if !self.published.is_empty() {
            legend.push(entry("published", palette::FAINT));
        }
        let words = Words { title: &self.title, subtitle: &self.subtitle, x: &self.x, y: &self.y };
        let frame = Frame::begin(canvas, &words, &legend, 0.0)?;
        frame.rule_y(&up)?;
        frame.rule_x(&across, false)?;
        let has_interval = |spot: &&Spot| spot.half_width.is_some();
        let short = self.lines.iter().filter(|line| line.spots.len() <= MOST_MARKED);
        let n = short.flat_map(|line| line.spots.iter().filter(has_interval)).map(|spot| spot.n);
        caption(n).map_or(Ok(()), |caption| frame.note(&caption))?;
        for (y, words) in &self.rules {
            let (from, to) = (frame.at(0.0, up.part(*y)), frame.at(1.0, up.part(*y)));
            canvas.dashes(&[from, to], palette::FAINT_INK.light, 1.0)?;
            canvas.text(words, (to.0, to.1 - 9.0), &Text::new(11.0, palette::FAINT_INK.light).ending())?;
        }
        for (line, style) in self.lines.iter().zip(styles) {
            line.draw(&frame, style, &across, &up)?;
        }
        for [x, y] in &self.published {
            circle(canvas, frame.at(across.part(*x), up.part(*y)))?;
        }
        Ok(())
    }

    /// Lines before this one that have the same controller.
    fn alike(&self, index: usize) -> usize {
        let controller = &self.lines[index].controller;
        self.lines[..index].iter().filter(|other| other.controller == *controller).count()
    }

    fn axes(&self) -> Result<(Axis, Axis), Error> {
        let spots = || self.lines.iter().flat_map(|line| &line.spots);
        let published = || self.published.iter();
        let mut x: Vec<f64> = spots().map(|spot| spot.x).chain(published().map(|[x, _]| *x)).collect();
        if x.is_empty() {
            return Err(Error::Plot("there is no point to draw".to_owned()));
        }
        let end =
            |spot: &Spot| [spot.y - spot.half_width.unwrap_or(0.0), spot.y + spot.half_width.unwrap_or(0.0)];
        let rules = self.rules.iter().map(|(y, _)| *y);
        let y: Vec<f64> = spots().flat_map(end).chain(published().map(|[_, y]| *y)).chain(rules).collect();
        let across = match (self.x_range, self.logarithmic) {
            (Some([low, high]), false) => Axis::between(low, high),
            (range, _) => {
                x.extend(range.into_iter().flatten());
                Axis::of_settings(&x)
            }
        };
        let up = self
            .y_range
            .map_or_else(|| Axis::of_values(y.iter().copied()), |[low, high]| Axis::between(low, high));
        Ok((across, up))
    }
}

impl Line {
    fn draw(&self, frame: &Frame<'_, '_>, style: Style, across: &Axis, up: &Axis) -> Result<(), Error> {
        let at = |x: f64, y: f64| frame.at(across.part(x), up.part(y).clamp(0.0, 1.0));
        let colour = style.colour.light;
        let inside = |spot: &&Spot| (0.0..=1.0).contains(&across.part(spot.x)) && spot.y.is_finite();
        let spots: Vec<&Spot> = self.spots.iter().filter(inside).collect();
        let places: Vec<(f64, f64)> = spots.iter().map(|spot| at(spot.x, spot.y)).collect();
        frame.canvas.polyline(
            places.iter().copied(),
            colour,
            if spots.len() <= MOST_MARKED { 1.75 } else { 1.0 },
        )?;
        if spots.len() > MOST_MARKED {
            return Ok(());
        }
        for (spot, place) in spots.iter().zip(places) {
            if let Some(half) = spot.half_width {
                let ends = [at(spot.x, spot.y - half), at(spot.x, spot.y + half)];
                frame.canvas.line(ends[0], ends[1], colour, 1.0)?;
                for (x, y) in ends {
                    frame.canvas.line((x - END, y), (x + END, y), colour, 1.0)?;
                }
            }
            mark(frame.canvas, style, place)?;
        }
        Ok(())
    }
}

fn entry(name: &str, style: Style) -> Entry<'_> {
    Entry { style, dashed: false, name }
}

/// Draws a published point: a hollow circle in ink.
pub(super) fn circle(canvas: &Canvas<'_>, (x, y): (f64, f64)) -> Result<(), Error> {
    let corner = |index: usize| {
        let angle = index as f64 / CORNERS as f64 * std::f64::consts::TAU;
        (x + RADIUS * angle.cos(), y + RADIUS * angle.sin())
    };
    canvas.polyline((0..=CORNERS).map(corner), palette::INK.light, 1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_points_lie_over_the_lines_and_an_empty_chart_is_refused() {
        let spot = |x: f64, y: f64| Spot { x, y, half_width: Some(0.01), n: 5 };
        let line = Line {
            name: "ours".to_owned(),
            controller: Some("ledbat".to_owned()),
            spots: vec![spot(10.0, 0.9), spot(400.0, 0.5)],
        };
        let chart = Chart {
            title: "rate".to_owned(),
            lines: vec![line],
            published: vec![[100.0, 0.9]],
            rules: vec![(0.9, "nine tenths".to_owned())],
            logarithmic: true,
            ..Chart::default()
        };
        let svg = chart.svg().unwrap();
        assert!(svg.contains("published") && svg.contains("nine tenths"), "{svg}");
        assert!(svg.contains("95 %, n = 5"), "{svg}");
        assert!(Chart::default().svg().is_err());
    }
}
