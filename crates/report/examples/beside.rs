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

/// A chart: its result, its title, and the words at the arrival, during the stay and after it.
struct Side {
    outcome: Outcome,
    title: &'static str,
    during: &'static str,
    after: &'static str,
}

fn main() -> Result<(), Failure> {
    let mut paths = std::env::args().skip(1);
    let mut read = || -> Result<Outcome, Failure> {
        let path = paths.next().ok_or("name two results: LEDBAT++'s and CUBIC's")?;
        Ok(afteryou_report::read(path.as_ref())?)
    };
    let sides = [
        Side {
            outcome: read()?,
            title: "Backup with LEDBAT++",
            during: "backup has yielded",
            after: "and is back",
        },
        Side {
            outcome: read()?,
            title: "The same with CUBIC",
            during: "backup keeps the link",
            after: "upload has left",
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
    // Names of the curves, where each has the link for itself or most of it.
    let place = |at: f64, part: f64| chart.backend_coord(&(at, ceiling * part));
    let centred = |size, colour| text(size, colour).pos(Pos::new(HPos::Center, VPos::Center));
    let root = area.strip_coord_spec();
    let words = [
        ("backup", came / 2.0, 0.86, BACKUP),
        (side.during, (came + left) / 2.0, if side.during.contains("yielded") { 0.12 } else { 0.70 }, BACKUP),
        ("upload", (came + left) / 2.0, if side.during.contains("yielded") { 0.86 } else { 0.26 }, UPLOAD),
        (side.after, (left + end) / 2.0, 0.5, if side.after.contains("upload") { UPLOAD } else { BACKUP }),
    ];
    for (word, at, part, colour) in words {
        let (x, y) = place(at, part);
        let (left, top) = root.get_base_pixel();
        root.draw(&Text::new(word, (x - left, y - top), centred(13, colour)))?;
    }
    let (x, y) = place(came, 1.0);
    let (left, top) = root.get_base_pixel();
    root.draw(&Text::new(
        "upload arrives ↓",
        (x - left + 4, y - top - 12),
        text(13, UPLOAD).pos(Pos::new(HPos::Right, VPos::Center)),
    ))?;
    Ok(())
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    let at = |i: usize| series.start_s + i as f64 * series.step_s;
    series.values.iter().enumerate().filter_map(|(i, value)| Some((at(i), (*value)?))).collect()
}
