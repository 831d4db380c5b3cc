//! The two charts: rates above, queuing delay below, on one time axis.

use super::look::{Look, Pen};
use super::thin::{stretches, Bounds};
use super::{Curve, Mark};
use afteryou_scenario::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};

/// Dots beside one another in a character of braille.
const DOTS: f64 = 2.0;
/// Width of the values beside the charts; a longer one takes more.
const VALUES: usize = 3;

/// No axis goes further, because its labels have to fit beside the chart.
pub const LARGEST: f64 = 1e6;

/// A chart and its axes.
pub struct Plot<'a> {
    /// The curves.
    pub curves: &'a [Curve],
    /// Value at the top.
    pub ceiling: f64,
    /// Time at the right, s.
    pub until_s: f64,
    /// Whether the time axis is below it.
    pub times: bool,
    /// Width of the values beside it, see [`value_width`].
    pub value_width: usize,
    /// A level to draw as a dotted line.
    pub level: Option<f64>,
    /// Events to draw as dotted lines.
    pub marks: &'a [Mark],
}

/// Returns the width at which the values up to each of `ceilings` are beside one another, so that time axes agree.
pub fn value_width(ceilings: &[f64]) -> usize {
    ceilings.iter().map(|ceiling| value(*ceiling).chars().count()).max().unwrap_or(0).max(VALUES)
}

/// Returns a round value at or above `value` and `least`: 1, 2, 3 or 5 times a power of ten.
pub fn round_up(value: f64, least: f64) -> f64 {
    let mut decade = 0.001;
    while decade < LARGEST {
        let round = [1.0, 2.0, 3.0, 5.0].map(|step| step * decade);
        if let Some(round) = round.into_iter().find(|round| *round >= least && *round >= value) {
            return round;
        }
        decade *= 10.0;
    }
    LARGEST
}

/// Returns the largest finite value of `curve`.
pub fn highest(curve: &Curve) -> f64 {
    curve.points.iter().map(|point| point.1).filter(|value| value.is_finite()).fold(0.0, f64::max)
}

impl Plot<'_> {
    /// Draws it.
    pub fn render(&self, look: Look, area: Rect, buffer: &mut Buffer) {
        if area.height < 2 {
            return;
        }
        let step_s = self.until_s / (f64::from(area.width.max(1)) * DOTS);
        let bounds = Bounds { until_s: self.until_s, ceiling: self.ceiling, step_s };
        let mut drawn: Vec<(Pen, Vec<(f64, f64)>)> = Vec::new();
        for i in self.in_order() {
            let pen = look.pen(self.curves, i);
            let parts = stretches(&self.curves[i].points, bounds);
            drawn.extend(parts.into_iter().map(|part| (pen, part)));
        }
        let datasets = drawn.iter().map(|(pen, points)| {
            Dataset::default().marker(pen.marker).style(pen.style).graph_type(GraphType::Line).data(points)
        });
        let chart =
            Chart::new(datasets.collect()).x_axis(self.time_axis(look)).y_axis(self.value_axis(look, area));
        chart.legend_position(None).render(area, buffer);
        self.dotted(look, area, buffer);
    }

    /// Draws the level and the events, behind the curves: only where nothing else is.
    fn dotted(&self, look: Look, area: Rect, buffer: &mut Buffer) {
        let rows = self.rows(area);
        let left = area.x + self.value_width as u16 + 1;
        let mut dot = |x: u16, y: u16, symbol: &str| {
            let cell = buffer.cell_mut((x, y)).filter(|cell| [" ", "\u{2800}"].contains(&cell.symbol()));
            if let Some(cell) = cell {
                cell.set_symbol(symbol).set_style(look.faint());
            }
        };
        for mark in self.marks {
            let column = column(mark.at_s, self.until_s, left, area.right());
            column.into_iter().for_each(|x| (area.y..area.y + rows).for_each(|y| dot(x, y, "┊")));
        }
        let part =
            self.level.map(|level| 1.0 - level / self.ceiling).filter(|part| (0.0..=1.0).contains(part));
        if let Some(part) = part {
            let y = area.y + (part * f64::from(rows)).min(f64::from(rows - 1)) as u16;
            (left..area.right()).for_each(|x| dot(x, y, "┈"));
        }
    }

    /// Returns the number of lines of the curves, without those of the times.
    fn rows(&self, area: Rect) -> u16 {
        area.height - if self.times { 2.min(area.height - 1) } else { 0 }
    }

    /// Returns the order of drawing: the foreground is last, so that what must stay visible does.
    fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.curves.len()).collect();
        order.sort_by_key(|i| match self.curves[*i].role {
            None => 0,
            Some(Role::Background) => 1,
            Some(Role::Foreground) => 2,
        });
        order
    }

    fn time_axis(&self, look: Look) -> Axis<'_> {
        let axis = Axis::default().bounds([0.0, self.until_s]).style(look.faint());
        if !self.times {
            return axis;
        }
        let half = value(self.until_s / 2.0);
        axis.labels([Line::from("0"), Line::from(half), Line::from(format!("{} s", value(self.until_s)))])
    }

    fn value_axis(&self, look: Look, area: Rect) -> Axis<'_> {
        // With an odd number of lines the middle value has a line of its own.
        let lines = self.rows(area);
        let middle = lines >= 5 && lines % 2 == 1;
        let values = [Some(0.0), middle.then_some(self.ceiling / 2.0), Some(self.ceiling)];
        let label = |at: f64| Line::from(format!("{:>width$}", value(at), width = self.value_width));
        let labels: Vec<_> = values.into_iter().flatten().map(label).collect();
        Axis::default().bounds([0.0, self.ceiling]).labels(labels).style(look.faint())
    }
}

/// Returns the column of a time between the columns `left` and `right`; `None` beyond them.
pub fn column(at_s: f64, until_s: f64, left: u16, right: u16) -> Option<u16> {
    let part = at_s / until_s;
    let width = right.checked_sub(left).filter(|width| *width > 0 && (0.0..=1.0).contains(&part))?;
    Some(left + (part * f64::from(width)).min(f64::from(width - 1)) as u16)
}

/// Formats a value on an axis, without digits that mean nothing.
fn value(value: f64) -> String {
    let digits = format!("{value:.1}");
    digits.strip_suffix(".0").map(str::to_owned).unwrap_or(digits)
}
