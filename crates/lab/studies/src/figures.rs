//! The papers' figures, drawn again from samples.

use crate::entry::{Drawn, Figure};
use crate::error::{Error, Result};
use crate::judge::Sample;
use crate::reading::Reading;
use afteryou_plot::given::{Chart, Line, Map, Panel, Ring, Rings, Spot};
use afteryou_plot::Estimate;

/// Draws the figure as an SVG document, from the samples of each flow that has curves of its own, or of no flow in
/// particular. `inner` are the samples of inner rings.
pub fn svg(figure: &Figure, of_flows: &[(&str, Vec<Sample>)], inner: &[Sample]) -> Result<String> {
    let samples = of_flows.first().map_or(&[][..], |(_, samples)| samples);
    let drawn = match figure.kind {
        Drawn::Lines => chart(figure, lines(figure, samples)?).svg(),
        Drawn::Curves => {
            let lines = of_flows.iter().flat_map(|(flow, samples)| curves(flow, samples));
            chart(figure, lines.collect()).svg()
        }
        Drawn::Lists => chart(figure, lists(samples)).svg(),
        Drawn::Map => map(figure, samples)?.svg(),
        Drawn::Rings => rings(figure, samples, inner)?.svg(),
        Drawn::PhasePlane => chart(figure, crate::phase::tracks()).svg(),
    };
    drawn.map_err(|error| Error::NoReading(format!("{}: {error}", figure.title)))
}

fn chart(figure: &Figure, lines: Vec<Line>) -> Chart {
    Chart {
        title: figure.title.clone(),
        subtitle: String::new(),
        x: figure.x_label.clone(),
        y: figure.y_label.clone(),
        x_range: figure.x_range,
        y_range: figure.y_range,
        logarithmic: figure.logarithmic,
        lines,
        published: figure.published.clone(),
        rules: figure.rules.iter().map(|rule| (rule.at, rule.words.clone())).collect(),
    }
}

/// Returns the axis that a figure needs.
fn axis<'a>(figure: &'a Figure, name: Option<&'a String>) -> Result<&'a str> {
    let missing = || Error::NoReading(format!("{}: the figure names no axis", figure.title));
    name.map(String::as_str).ok_or_else(missing)
}

/// Returns the controller that a label begins with, for its colour.
fn controller(name: &str) -> Option<String> {
    let first = name.split([' ', ',']).next().unwrap_or(name).to_lowercase();
    (!first.is_empty()).then_some(first)
}

fn lines(figure: &Figure, samples: &[Sample]) -> Result<Vec<Line>> {
    let x = axis(figure, figure.x.as_ref())?;
    let mut lines: Vec<Line> = Vec::new();
    for sample in samples {
        let name = sample.point.words_without(&[x]);
        let place = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            lines.push(Line { controller: controller(&name), name, spots: Vec::new() });
            lines.len() - 1
        });
        let Some(estimate) = Estimate::of(&sample.numbers()?) else { continue };
        let at = sample.point.numbers.get(x).copied().unwrap_or(lines[place].spots.len() as f64 + 1.0);
        lines[place].spots.push(Spot {
            x: at,
            y: estimate.mean,
            half_width: estimate.half_width,
            n: estimate.n,
        });
    }
    for line in lines.iter_mut().filter(|line| line.name.is_empty()) {
        line.name = "ours".to_owned();
    }
    Ok(lines)
}

fn curves(flow: &str, samples: &[Sample]) -> Vec<Line> {
    let line = |sample: &Sample| {
        let Some(Reading::Curve(points)) = sample.readings.first() else { return None };
        let words = [flow.to_owned(), sample.point.words_without(&[])];
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
        let spots = points.iter().map(|[x, y]| Spot { x: *x, y: *y, ..Spot::default() }).collect();
        let controller = controller(&name);
        Some(Line { name: if name.is_empty() { "ours".to_owned() } else { name }, controller, spots })
    };
    samples.iter().filter_map(line).collect()
}

fn lists(samples: &[Sample]) -> Vec<Line> {
    let line = |sample: &Sample| {
        let lists: Vec<Vec<f64>> = sample.readings.iter().map(Reading::list).collect();
        let length = lists.iter().map(Vec::len).min().unwrap_or(0);
        let mean = |place: usize| lists.iter().map(|list| list[place]).sum::<f64>() / lists.len() as f64;
        let spots =
            (0..length).map(|place| Spot { x: place as f64 + 1.0, y: mean(place), ..Spot::default() });
        let name = sample.point.words_without(&[]);
        Line { controller: controller(&name), name, spots: spots.collect() }
    };
    samples.iter().map(line).collect()
}

/// Returns the values of an axis in the order in which the samples have them.
fn labels(samples: &[Sample], axis: &str) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in samples.iter().filter_map(|sample| sample.point.label(axis)) {
        if !labels.iter().any(|known| known == label) {
            labels.push(label.to_owned());
        }
    }
    labels
}

fn map(figure: &Figure, samples: &[Sample]) -> Result<Map> {
    let (x, by) = (axis(figure, figure.x.as_ref())?, axis(figure, figure.by.as_ref())?);
    let (columns, rows) = (labels(samples, x), labels(samples, by));
    let name = |sample: &Sample| {
        let parts: Vec<&str> = figure.panels.iter().filter_map(|axis| sample.point.label(axis)).collect();
        parts.join(", ")
    };
    let mut panels: Vec<Panel> = Vec::new();
    for sample in samples {
        let name = name(sample);
        let index = panels.iter().position(|panel| panel.name == name).unwrap_or_else(|| {
            let values = vec![vec![None; columns.len()]; rows.len()];
            let columns = columns.iter().map(|label| without_unit(label)).collect();
            panels.push(Panel { name, columns, rows: rows.clone(), values });
            panels.len() - 1
        });
        let place = |labels: &[String], axis: &str| {
            labels.iter().position(|label| Some(&**label) == sample.point.label(axis))
        };
        if let (Some(column), Some(row)) = (place(&columns, x), place(&rows, by)) {
            panels[index].values[row][column] = Some(sample.mean()?);
        }
    }
    Ok(Map {
        title: figure.title.clone(),
        subtitle: String::new(),
        x: figure.x_label.clone(),
        y: figure.y_label.clone(),
        range: figure.y_range.unwrap_or([0.0, 1.0]),
        panels,
    })
}

/// Returns the number of a label with a unit: the axis names the unit.
fn without_unit(label: &str) -> String {
    label.split(' ').next().unwrap_or(label).to_owned()
}

fn rings(figure: &Figure, outer: &[Sample], inner: &[Sample]) -> Result<Rings> {
    let (x, by) = (axis(figure, figure.x.as_ref())?, axis(figure, figure.by.as_ref())?);
    let (columns, rows) = (labels(outer, x), labels(outer, by));
    let find = |samples: &[Sample], column: &str, row: &str| -> Result<Option<f64>> {
        let is_there =
            |sample: &&Sample| sample.point.label(x) == Some(column) && sample.point.label(by) == Some(row);
        samples.iter().find(is_there).map(Sample::mean).transpose()
    };
    let ring = |column: &String, row: &String| -> Result<Option<Ring>> {
        let (outer, inner) = (find(outer, column, row)?, find(inner, column, row)?);
        Ok(outer.zip(inner).map(|(outer, inner)| Ring { outer, inner }))
    };
    let table = rows.iter().map(|row| columns.iter().map(|column| ring(column, row)).collect::<Result<_>>());
    let rings = table.collect::<Result<_>>()?;
    let shows = [figure.x_label.clone(), figure.y_label.clone()];
    Ok(Rings { title: figure.title.clone(), subtitle: String::new(), shows, columns, rows, rings })
}
