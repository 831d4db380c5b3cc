//! Maps of two settings, several beside each other.

use super::document;
use crate::error::Error;
use crate::palette::{self, heat};
use crate::svg::canvas::{Canvas, Text, HEIGHT, WIDTH};
use crate::svg::fit;

/// Left, right and bottom margin, space of a panel's name, of the scale, and between panels, px.
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 52.0;
const TOP: f64 = 78.0;
const NAME: f64 = 18.0;
const SCALE: f64 = 70.0;
const APART: f64 = 14.0;
/// Most panels in a row.
const ACROSS: usize = 3;
/// Least width of a cell that has its number in it, px.
const FITS: f64 = 30.0;
/// Steps of the scale.
const SHADES: usize = 32;

/// Panels with one scale.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Above all.
    pub title: String,
    /// Below the title: what the colours mean.
    pub subtitle: String,
    /// The horizontal axis of each panel.
    pub x: String,
    /// The vertical axis of each panel.
    pub y: String,
    /// The values of the lightest and of the darkest colour.
    pub range: [f64; 2],
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

/// A panel.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// The panel's name.
    pub name: String,
    /// Settings across.
    pub columns: Vec<String>,
    /// Settings up, from the bottom.
    pub rows: Vec<String>,
    /// Row by row from the bottom; none where nothing was measured.
    pub values: Vec<Vec<Option<f64>>>,
}

impl Map {
    /// Returns the figure as an SVG document of 900 × 520 px.
    ///
    /// # Errors
    /// No panel, and a failure of the drawing library.
    pub fn svg(&self) -> Result<String, Error> {
        if self.panels.is_empty() {
            return Err(Error::Plot("there is no panel to draw".to_owned()));
        }
        document(&self.title, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), Error> {
        let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
        canvas.text(&fit(&self.title, 16.0, WIDTH - 40.0), (20.0, 24.0), &Text::new(16.0, ink).bold())?;
        canvas.text(&fit(&self.subtitle, 12.0, WIDTH - 40.0), (20.0, 45.0), &Text::new(12.0, faint))?;
        let across = self.panels.len().min(ACROSS);
        let rows = self.panels.len().div_ceil(across);
        let wide = (WIDTH - LEFT - SCALE - APART * (across - 1) as f64) / across as f64;
        let high = (HEIGHT - TOP - BOTTOM - (NAME + APART) * (rows - 1) as f64) / rows as f64;
        for (index, panel) in self.panels.iter().enumerate() {
            let (column, row) = (index % across, index / across);
            let left = LEFT + column as f64 * (wide + APART);
            let top = TOP + row as f64 * (high + NAME + APART);
            let is_last = index + across >= self.panels.len();
            self.panel(canvas, panel, [left, top, left + wide, top + high], column == 0, is_last)?;
        }
        let centre = Text::new(12.0, ink).bold().centred();
        canvas.text(&self.x, ((LEFT + WIDTH - SCALE) / 2.0, HEIGHT - 14.0), &centre)?;
        canvas.text(&self.y, (20.0, TOP - 14.0), &Text::new(12.0, ink).bold())?;
        self.scale(canvas)
    }

    fn part(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    fn panel(
        &self,
        canvas: &Canvas<'_>,
        panel: &Panel,
        [left, top, right, bottom]: [f64; 4],
        names_rows: bool,
        names_columns: bool,
    ) -> Result<(), Error> {
        let faint = || Text::new(10.0, palette::FAINT_INK.light);
        let name = Text::new(12.0, palette::INK.light).centred();
        canvas.text(&panel.name, ((left + right) / 2.0, top - 10.0), &name)?;
        let (wide, high) =
            ((right - left) / panel.columns.len() as f64, (bottom - top) / panel.rows.len() as f64);
        for (r, values) in panel.values.iter().enumerate() {
            let low = bottom - r as f64 * high;
            for (c, value) in values.iter().enumerate() {
                let Some(value) = *value else { continue };
                let (from, part) = (left + c as f64 * wide, self.part(value));
                let corners =
                    [(from, low), (from, low - high), (from + wide, low - high), (from + wide, low)];
                canvas.polygon(&corners, &heat::colour(part))?;
                if wide >= FITS {
                    let ink = if heat::is_dark(part) { "#ffffff" } else { palette::INK.light };
                    let place = (from + wide / 2.0, low - high / 2.0);
                    canvas.text(&format!("{value:.2}"), place, &Text::new(10.0, ink).centred())?;
                }
            }
            if names_rows {
                canvas.text(&panel.rows[r], (left - 6.0, low - high / 2.0), &faint().ending())?;
            }
        }
        // Names of columns where they do not touch each other.
        let every = (30.0 / wide).ceil().max(1.0) as usize;
        for (c, name) in panel.columns.iter().enumerate().filter(|(c, _)| names_columns && c % every == 0) {
            let middle = left + (c as f64 + 0.5) * wide;
            canvas.text(name, (middle, bottom + 11.0), &faint().centred())?;
        }
        Ok(())
    }

    fn scale(&self, canvas: &Canvas<'_>) -> Result<(), Error> {
        let (left, top, bottom) = (WIDTH - SCALE + 16.0, TOP, HEIGHT - BOTTOM);
        let step = (bottom - top) / SHADES as f64;
        for shade in 0..SHADES {
            let low = bottom - shade as f64 * step;
            let high = low - step - 0.5;
            let colour = heat::colour((shade as f64 + 0.5) / SHADES as f64);
            canvas.polygon(&[(left, low), (left, high), (left + 12.0, high), (left + 12.0, low)], &colour)?;
        }
        let [low, high] = self.range;
        for quarter in 0..=4 {
            let part = f64::from(quarter) / 4.0;
            let words = format!("{:.2}", low + part * (high - low));
            let text = Text::new(10.0, palette::FAINT_INK.light);
            canvas.text(&words, (left + 17.0, bottom - part * (bottom - top)), &text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_has_its_name_and_cells() {
        let panel = |name: &str| Panel {
            name: name.to_owned(),
            columns: vec!["1".to_owned(), "2".to_owned()],
            rows: vec!["10 ms".to_owned()],
            values: vec![vec![Some(0.5), None]],
        };
        let panels = ["PIE", "FQ-CoDel", "FQ-PIE", "FIFO"].map(panel).to_vec();
        let map = Map { title: "maps".to_owned(), range: [0.0, 1.0], panels, ..Map::default() };
        let svg = map.svg().unwrap();
        assert!(["PIE", "FQ-CoDel", "FQ-PIE", "FIFO"].iter().all(|name| svg.contains(name)));
        assert!(svg.contains("0.50") && Map::default().svg().is_err());
    }
}
