//! Rows as the groups of a figure: one for each value of the columns that they are grouped by.

use super::data::Data;
use crate::error::Error;
use crate::estimate::Estimate;
use crate::palette::{looks, Style};

/// Rows of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The values that its rows share; empty where nothing is grouped.
    pub name: String,
    pub style: Style,
    /// The same without the background flows.
    pub is_baseline: bool,
    /// Indices of its rows.
    pub rows: Vec<usize>,
}

/// A setting and what was measured there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: Estimate,
}

/// Which controller a row is about.
const CONTROLLER: &str = "controller";
/// In curves: "run" or "baseline".
const RUN: &str = "run";
const BASELINE: &str = "baseline";

/// Returns the groups of all rows, in the order in which they appear.
pub fn groups(data: &Data, by: &[String]) -> Result<Vec<Group>, Error> {
    let places = by.iter().map(|name| data.column(name)).collect::<Result<Vec<usize>, Error>>()?;
    let run = data.columns.iter().position(|column| column == RUN);
    let controller = data.columns.iter().position(|column| column == CONTROLLER);
    let mut groups: Vec<Group> = Vec::new();
    let mut controllers: Vec<Option<String>> = Vec::new();
    for (i, row) in data.rows.iter().enumerate() {
        let is_baseline = run.is_some_and(|run| row[run] == BASELINE) && !by.iter().any(|name| name == RUN);
        let values: Vec<&str> = places.iter().map(|place| row[*place].as_str()).collect();
        let name = values.join(", ");
        if let Some(known) =
            groups.iter_mut().find(|group| group.name == name && group.is_baseline == is_baseline)
        {
            known.rows.push(i);
            continue;
        }
        // A value that is a controller's name looks like it, whatever else the row is about.
        let named = values.iter().map(|value| kind(value)).find(|value| looks::is_known(value));
        let of_row = || controller.map(|place| kind(&row[place])).filter(|kind| !kind.is_empty());
        let controller = named.or_else(of_row).map(str::to_owned);
        // What is compared with looks like its own.
        let own = groups.iter().find(|group| group.name == name).map(|group| group.style);
        let style = match own.or_else(|| data.looks.get(&name).copied()) {
            Some(style) => style,
            None => {
                let before = controllers.iter().filter(|other| **other == controller).count();
                match &controller {
                    Some(name) => looks::of(Some(name), before),
                    None => looks::nth(groups.len()),
                }
            }
        };
        if own.is_none() {
            controllers.push(controller);
        }
        groups.push(Group { name, style, is_baseline, rows: vec![i] });
    }
    Ok(groups)
}

/// Returns the controller of "ledbat++,target=60 ms".
pub fn kind(written: &str) -> &str {
    written.split(',').next().unwrap_or_default().trim()
}

/// Returns means at each x, ascending; rows without x or y are left out.
pub fn points(rows: &[usize], x: &[Option<f64>], y: &[Option<f64>]) -> Vec<Point> {
    let mut pairs: Vec<(f64, f64)> = rows.iter().filter_map(|row| x[*row].zip(y[*row])).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at_one_x = pairs.chunk_by(|a, b| a.0 == b.0);
    let point = |chunk: &[(f64, f64)]| {
        let values: Vec<f64> = chunk.iter().map(|(_, y)| *y).collect();
        Some(Point { x: chunk[0].0, y: Estimate::of(&values)? })
    };
    at_one_x.filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn groups_look_like_their_controllers_and_repetitions_are_means() {
        let text = "controller,rtt,kept\nledbat++,1,0.5\ncubic,1,0.1\nledbat++,1,0.7\nledbat++,1,0.6\nledbat++,2,1\n";
        let data = Data::parse(text, Path::new("t.csv")).unwrap();
        let groups = groups(&data, &["controller".to_owned()]).unwrap();
        let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["ledbat++", "cubic"]);
        assert_eq!(groups[1].style, looks::of(Some("cubic"), 0));
        let (x, y) = (data.numbers(1).unwrap().0, data.numbers(2).unwrap().0);
        let points = points(&groups[0].rows, &x, &y);
        assert_eq!(points.len(), 2);
        // Mean 0.6, standard deviation 0.1, t = 4.303 at two degrees of freedom.
        assert!((points[0].y.mean - 0.6).abs() < 1e-12);
        assert!((points[0].y.half_width.unwrap() - 4.302653 * 0.1 / 3f64.sqrt()).abs() < 1e-6);
        assert_eq!(points[1].y.half_width, None);
    }
}
