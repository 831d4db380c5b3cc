//! The league in a folder: a page, a summary in Markdown, tables, and the scenario files of the worst cells.

use crate::answers;
use crate::draw::Draw;
use crate::error::Result;
use crate::goal::{Goal, GOALS};
use crate::grid::Cell;
use crate::order::Order;
use crate::plan::Season;
use crate::rows;
use crate::score::Scores;
use crate::table;
use afteryou_plot::given::{Chart, Line, Spot};
use afteryou_report::page::{Heat, Page, Part, Script};
use afteryou_report::table::{Cell as TableCell, Column, Table};
use serde_json::json;
use std::collections::BTreeMap;

/// Cells of each entrant that the page lists, the worst first.
const WORST: usize = 6;
/// The folder of scenario files, below the page's.
const SCENARIOS: &str = "scenarios";
const SCRIPT: &str = include_str!("../assets/league.js");

/// A file of a league's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the folder.
    pub name: String,
    /// The file's content.
    pub bytes: Vec<u8>,
}

/// Returns the files of a league; `command` repeats it. The first draw is shown; a second one is held beside it.
///
/// # Errors
/// Numbers that JSON, a table or a figure cannot hold.
pub fn files(draws: &[Draw<'_>], command: &str) -> Result<Vec<File>> {
    let Some(first) = draws.first() else { return Ok(Vec::new()) };
    let (season, scores) = (first.season, first.scores);
    let file = |name: &str, bytes: Vec<u8>| File { name: name.to_owned(), bytes };
    let [csv, parquet] = rows::tables(&rows::rows(season, scores))?;
    let order = Order::of(season, scores);
    let (map, front) = (order.picture()?, front(season, scores)?);
    let mut files = vec![
        file("index.html", page(draws, command, &map, front.as_deref())?.into_bytes()),
        file("summary.md", summary(draws, command).into_bytes()),
        file("standings.csv", order.csv()?),
        file("cells.csv", csv),
        file("cells.parquet", parquet),
        file("league.svg", map.into_bytes()),
    ];
    files.extend(front.map(|front| file("front.svg", front.into_bytes())));
    if let Some(slices) = first.slices {
        files.push(file("slices.csv", slices.csv()?));
    }
    let answers = answers::pages(first, command).into_iter();
    files.extend(answers.map(|(name, text)| file(&format!("answers/{name}.md"), text.into_bytes())));
    let mut scenarios = BTreeMap::new();
    for standing in &scores.standings {
        let entrant = &season.entrants[standing.entrant];
        for (cell, _) in scores.worst(standing.entrant, WORST) {
            let cell = &season.cells[cell];
            scenarios.insert(address(cell, &entrant.name), cell.file(Some(&entrant.controller)));
        }
    }
    files.extend(scenarios.into_iter().map(|(name, text)| File { name, bytes: text.into_bytes() }));
    Ok(files)
}

/// Returns the summary in Markdown: the order, and the second draw.
pub fn summary(draws: &[Draw<'_>], command: &str) -> String {
    let mut text = String::from("# League of background controllers\n");
    if let Some(first) = draws.first() {
        text += &format!("\n`{command}`\n\n{}\n\n", subtitle(first));
        text += &table::markdown(&Order::of(first.season, first.scores).table());
        text += "\n¹⁰ is the mean of the worst tenth.\n\n";
        text += &table::markdown(&table::goals(first.season));
    }
    for table in draws.iter().flat_map(slices) {
        text += &format!("\n## {}\n\n{}\n\n{}", table.title, table.note, table::markdown(&table));
    }
    if let [first, second, ..] = draws {
        let beside = table::draws(first.season, [&first.name, &second.name], [first.scores, second.scores]);
        text += &format!("\n{}", table::markdown(&beside));
    }
    text
}

/// Returns the tables of a draw's slices.
fn slices(draw: &Draw<'_>) -> Vec<Table> {
    draw.slices.map_or_else(Vec::new, |slices| slices.tables(&draw.name))
}

fn subtitle(draw: &Draw<'_>) -> String {
    let packets: u64 = draw
        .season
        .runs
        .iter()
        .flatten()
        .filter_map(|run| run.as_ref().ok())
        .map(|figures| figures.packets)
        .sum();
    format!(
        "{} · {} cells · {} controllers · {} million packets · afteryou {}",
        draw.name,
        draw.season.cells.len(),
        draw.season.entrants.len(),
        packets / 1_000_000,
        env!("CARGO_PKG_VERSION")
    )
}

fn page(draws: &[Draw<'_>], command: &str, map: &str, front: Option<&str>) -> Result<String> {
    let Some(first) = draws.first() else { return Ok(String::new()) };
    let (season, scores) = (first.season, first.scores);
    let mut parts = vec![
        Part::Text(command.to_owned()),
        Part::Table(Order::of(season, scores).table()),
        Part::Place("weights"),
        Part::Figure(map.to_owned()),
    ];
    parts.extend(front.map(|front| Part::Figure(front.to_owned())));
    parts.push(Part::Table(table::goals(season)));
    if let [first, second, ..] = draws {
        parts.push(Part::Table(table::draws(
            first.season,
            [&first.name, &second.name],
            [first.scores, second.scores],
        )));
    }
    parts.extend(draws.iter().flat_map(slices).map(Part::Table));
    let link = |name: &str, words: &str| (name.to_owned(), words.to_owned());
    let mut links = vec![
        link("cells.csv", "Every cell as CSV"),
        link("cells.parquet", "as Parquet"),
        link("summary.md", "summary as Markdown"),
    ];
    links.extend(first.slices.map(|_| link("slices.csv", "slices as CSV")));
    parts.push(Part::Links(links));
    for standing in &scores.standings {
        parts.extend(of_entrant(season, scores, standing.entrant));
    }
    let data = json!({
        "goals": GOALS.iter().map(|goal| goal.name).collect::<Vec<_>>(),
        "entrants": scores.standings.iter().map(|standing| json!({
            "name": season.entrants[standing.entrant].name,
            "scores": standing.goals.iter().map(|score| score.map(|score| score.mean)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    });
    let script = Some(Script { data: serde_json::to_string(&data)?, code: SCRIPT });
    Ok(Page {
        title: "League of background controllers".to_owned(),
        subtitle: subtitle(first),
        parts,
        script,
        ..Page::default()
    }
    .html())
}

/// Returns the section of an entrant: where it is good and where not, and its worst cells.
fn of_entrant(season: &Season, scores: &Scores, entrant: usize) -> Vec<Part> {
    let name = &season.entrants[entrant].name;
    let mut parts = vec![Part::Head(anchor(name), name.clone()), Part::Heat(heat(season, scores, entrant))];
    let worst = scores.worst(entrant, WORST);
    parts.push(Part::Table(worst_cells(season, scores, entrant, &worst)));
    let links = worst.iter().map(|(cell, _)| {
        let cell = &season.cells[*cell];
        (address(cell, name), cell.name.clone())
    });
    parts.push(Part::Links(links.collect()));
    if let Some((cell, _)) = worst.first() {
        parts.push(Part::Text(format!("afteryou sim {}", address(&season.cells[*cell], name))));
    }
    let failures = season.runs[entrant]
        .iter()
        .zip(&season.cells)
        .filter_map(|(run, cell)| Some((cell, run.as_ref().err()?)));
    let failures: Vec<String> = failures.map(|(cell, reason)| format!("{}: {reason}", cell.name)).collect();
    if !failures.is_empty() {
        parts.push(Part::Words(format!("{} of its runs failed, each with the score 0:", failures.len())));
        parts.push(Part::Text(failures.join("\n")));
    }
    parts
}

/// A kind of parts of the grid: words before the name of a part, and the name of a cell's part.
type Kind = (&'static str, fn(&Cell) -> &'static str);

/// Returns the mean scores of an entrant in each part of the grid.
fn heat(season: &Season, scores: &Scores, entrant: usize) -> Heat {
    let kinds: [Kind; 4] = [
        ("", |cell| cell.stratum),
        ("beside ", |cell| cell.foreground.name()),
        ("queue ", |cell| cell.queue),
        ("trouble ", |cell| cell.trouble.name()),
    ];
    let mut rows = Vec::new();
    for (before, kind) in kinds {
        let mut names: Vec<&str> = Vec::new();
        for cell in &season.cells {
            if !names.contains(&kind(cell)) {
                names.push(kind(cell));
            }
        }
        for name in names {
            let goals = 0..GOALS.len();
            let is_of_it = |cell: usize| kind(&season.cells[cell]) == name;
            let values = goals.map(|goal| scores.mean_of(entrant, goal, is_of_it));
            rows.push((format!("{before}{name}"), values.collect()));
        }
    }
    // The worst tenth of a few cells is a cell: all columns are means here.
    let keep = |goal: &Goal| goal.over == crate::goal::Over::All;
    let rows = rows.into_iter().map(|(name, values): (String, Vec<Option<f64>>)| {
        (name, GOALS.iter().zip(values).filter(|(goal, _)| keep(goal)).map(|(_, value)| value).collect())
    });
    let columns = std::iter::once(String::new())
        .chain(GOALS.iter().filter(|goal| keep(goal)).map(|goal| goal.name.to_owned()));
    Heat {
        title: "Mean scores by part of the grid".to_owned(),
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

fn worst_cells(season: &Season, scores: &Scores, entrant: usize, worst: &[(usize, f64)]) -> Table {
    let columns = vec![
        Column::words("cell"),
        Column::numbers("score"),
        Column::words("network and flows"),
        Column::words("lost at"),
    ];
    let row = |(cell, score): &(usize, f64)| {
        let lost = GOALS.iter().enumerate().filter_map(|(goal, of)| {
            let low = scores.cells[entrant][goal][*cell]
                .filter(|score| *score < 0.9 && of.over == crate::goal::Over::All)?;
            Some(format!("{} {low:.2}", of.name))
        });
        vec![
            TableCell::new(&season.cells[*cell].name),
            TableCell::new(format!("{score:.2}")),
            TableCell::new(season.cells[*cell].words()),
            TableCell::new(lost.collect::<Vec<_>>().join(", ")),
        ]
    };
    let rows = worst.iter().map(row).collect();
    Table { title: "Worst cells".to_owned(), note: "", grouped: 0, columns, rows }
}

/// Returns the front: how much is kept against how much is harvested.
fn front(season: &Season, scores: &Scores) -> Result<Option<String>> {
    let goal = |name: &str| GOALS.iter().position(|goal| goal.name == name);
    let (Some(kept), Some(harvest)) = (goal("kept"), goal("harvest")) else { return Ok(None) };
    let line = |standing: &crate::score::Standing| {
        let (y, x) = (standing.goals[kept]?, standing.goals[harvest]?);
        let entrant = &season.entrants[standing.entrant];
        let spot = Spot { x: x.mean, y: y.mean, half_width: None, n: 1 };
        let is_ahead = |other: &&crate::score::Standing| {
            let at = |goal: usize| other.goals[goal].map_or(0.0, |score| score.mean);
            at(kept) >= y.mean && at(harvest) >= x.mean && (at(kept) > y.mean || at(harvest) > x.mean)
        };
        let mark = if scores.standings.iter().any(|other| is_ahead(&other)) { "" } else { " *" };
        Some(Line {
            name: format!("{}{mark}", entrant.name),
            controller: Some(entrant.controller.kind.clone()),
            spots: vec![spot],
        })
    };
    let lines: Vec<Line> = scores.standings.iter().filter_map(line).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let chart = Chart {
        title: "What is kept, and what is harvested".to_owned(),
        subtitle: "mean scores; * nobody is better at one of them without being worse at the other"
            .to_owned(),
        x: "harvest".to_owned(),
        y: "kept".to_owned(),
        x_range: Some([0.0, 1.0]),
        y_range: Some([0.0, 1.0]),
        lines,
        ..Chart::default()
    };
    Ok(Some(chart.svg()?))
}

/// Returns the address of a cell's scenario file for an entrant.
fn address(cell: &Cell, entrant: &str) -> String {
    format!("{SCENARIOS}/{}-{}.toml", cell.name, anchor(entrant))
}

/// Returns a name that may be part of an address: letters, digits and signs that no shell or browser minds.
fn anchor(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-._+=".contains(c) { c } else { '_' }).collect()
}
