//! Draws two results of `afteryou demo` beside each other, annotated: the README's picture, which `docs/picture` makes.
//!
//! ```sh
//! cargo run -p afteryou-report --example beside -- ledbatpp/result.json cubic/result.json > docs/demo.svg
//! ```

use afteryou_scenario::outcome::{Outcome, Series};
use plotters::element::Rectangle;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Failure = Box<dyn std::error::Error>;

const SIZE: (u32, u32) = (960, 330);
/// Space above the charts for title and annotations, px.
const HEAD: u32 = 54;
const INK: RGBColor = RGBColor(29, 33, 39);
const FAINT: RGBColor = RGBColor(89, 97, 108);
const GRID: RGBColor = RGBColor(230, 232, 236);
const BAND: RGBColor = RGBColor(74, 111, 150);
const BACKUP: RGBColor = RGBColor(176, 74, 0);
const UPLOAD: RGBColor = RGBColor(0, 98, 168);

/// A chart: its result, its title, and its words.
struct Side {
    outcome: Outcome,
    title: &'static str,
    words: [Words; 4],
}

/// Words of an annotation: where in the run, how high as a part of the chart, the text, and its colour.
type Words = (Place, f64, &'static str, RGBColor);

/// A part of the run before, during or after the upload; words are in its middle.
#[derive(Clone, Copy)]
enum Place {
    Before,
    During,
    After,
}

fn main() -> Result<(), Failure> {
    let mut paths = std::env::args().skip(1);
    let mut read = || -> Result<Outcome, Failure> {
        let path = paths.next().ok_or("name two results: LEDBAT++'s and CUBIC's")?;
        Ok(afteryou_plot::read(path.as_ref())?)
    };
    let sides = [
        Side {
            outcome: read()?,
            title: "Backup with LEDBAT++",
            words: [
                (Place::Before, 0.86, "backup", BACKUP),
                (Place::During, 0.12, "backup has yielded", BACKUP),
                (Place::During, 0.86, "upload", UPLOAD),
                (Place::After, 0.5, "and is back", BACKUP),
            ],
        },
        Side {
            outcome: read()?,
            title: "The same with CUBIC",
            words: [
                (Place::Before, 0.86, "backup", BACKUP),
                (Place::During, 0.70, "backup keeps the link", BACKUP),
                (Place::During, 0.26, "upload", UPLOAD),
                (Place::After, 0.5, "upload has left", UPLOAD),
            ],
        },
    ];
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let halves = root.split_evenly((1, 2));
        for (half, side) in halves.iter().zip(&sides) {
            draw(half, side)?;
        }
        root.present()?;
    }
    print!("{svg}");
    Ok(())
}

fn draw(area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, side: &Side) -> Result<(), Failure> {
    let outcome = &side.outcome;
    let text = |size: u32, colour: RGBColor| ("sans-serif", size).into_font().color(&colour);
    area.draw(&Text::new(side.title, (40, 8), text(17, INK)))?;
    let ceiling = outcome.scenario.link.rate.bits_per_second() as f64 / 1e6 * 1.02;
    let end = outcome.run.duration_s;
    let (_, area) = area.split_vertically(HEAD);
    let mut chart = ChartBuilder::on(&area)
        .margin_right(14)
        .set_label_area_size(LabelAreaPosition::Left, 40)
        .set_label_area_size(LabelAreaPosition::Bottom, 38)
        .build_cartesian_2d(0.0..end, 0.0..ceiling)?;
    let upload = outcome.scenario.flow.iter().find(|flow| flow.name == "upload").ok_or("no upload")?;
    let (came, left) = (upload.start.as_secs_f64(), upload.stop.map_or(end, |stop| stop.as_secs_f64()));
    chart.draw_series([Rectangle::new([(came, 0.0), (left, ceiling)], BAND.mix(0.07).filled())])?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .max_light_lines(0)
        .axis_style(FAINT)
        .label_style(text(11, FAINT))
        .y_labels(5)
        .x_labels(7)
        .y_desc("Mbit/s")
        .x_desc("time (s)")
        .y_label_formatter(&|mbit| format!("{mbit:.0}"))
        .x_label_formatter(&|at| format!("{at:.0}"))
        .draw()?;
    for (name, colour) in [("backup", BACKUP), ("upload", UPLOAD)] {
        let series =
            outcome.run.series.iter().find(|series| series.of == name && series.quantity == "goodput");
        let points = series.map(points).ok_or("no goodput")?;
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    let root = area.strip_coord_spec();
    let (x0, y0) = root.get_base_pixel();
    let place = |at: f64, part: f64| {
        let (x, y) = chart.backend_coord(&(at, ceiling * part));
        (x - x0, y - y0)
    };
    let centred = |colour| text(13, colour).pos(Pos::new(HPos::Center, VPos::Center));
    for (part_of_run, part, word, colour) in side.words {
        let at = match part_of_run {
            Place::Before => came / 2.0,
            Place::During => (came + left) / 2.0,
            Place::After => (left + end) / 2.0,
        };
        root.draw(&Text::new(word, place(at, part), centred(colour)))?;
    }
    let (x, y) = place(came, 1.0);
    let arrival = text(13, UPLOAD).pos(Pos::new(HPos::Right, VPos::Center));
    root.draw(&Text::new("upload arrives ↓", (x + 4, y - 12), arrival))?;
    Ok(())
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    let at = |i: usize| series.start_s + i as f64 * series.step_s;
    series.values.iter().enumerate().filter_map(|(i, value)| Some((at(i), (*value)?))).collect()
}
