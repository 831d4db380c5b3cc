//! The league as tables: the goals, two draws beside each other, and any table as Markdown.

use crate::goal::GOALS;
use crate::plan::Season;
use crate::score::{Estimate, Scores, ALIKE};
use afteryou_report::table::{Cell, Column, Table, Tone};

/// Returns the goals with their bounds and reasons.
pub fn goals(season: &Season) -> Table {
    let columns = vec![
        Column::words("goal"),
        Column::words("number"),
        Column::words("bound"),
        Column::numbers("cells"),
        Column::words("reason"),
    ];
    let row = |goal: &crate::goal::Goal| {
        let asked = season.cells.iter().filter(|cell| goal.is_asked(cell)).count();
        vec![
            Cell::new(goal.name),
            Cell::new(goal.meaning),
            Cell::new(goal.bound.words(goal.unit)),
            Cell::new(asked.to_string()),
            Cell::new(goal.reason),
        ]
    };
    let rows = GOALS.iter().map(row).collect();
    let note = "A score is the number over the bound, or the bound over the number where less is better, and 1 at most.";
    Table { title: "Goals".to_owned(), note, grouped: 0, columns, rows }
}

/// Returns the scores of two draws beside each other; the entrants are the same.
pub fn draws(season: &Season, names: [&str; 2], both: [&Scores; 2]) -> Table {
    let column = |name: &str| Column { number: true, ..Column::setting(name) };
    let columns = vec![
        Column::setting("controller"),
        column(names[0]),
        column(names[1]),
        Column::numbers("difference"),
        Column::numbers("two errors"),
        Column::words("verdict"),
    ];
    let rows = pairs(both).into_iter().map(|(entrant, [first, second])| {
        let difference = second.less(first);
        let (word, tone) = match difference.is_alike() {
            true => ("alike", Tone::Good),
            false => ("differ", Tone::Bad),
        };
        vec![
            Cell::new(&season.entrants[entrant].name),
            Cell::new(format!("{:.3}", first.mean)),
            Cell::new(format!("{:.3}", second.mean)),
            Cell::new(format!("{:+.3}", difference.mean)),
            Cell::new(format!("{:.3}", ALIKE.max(2.0 * difference.error))).toned(Tone::Faint),
            Cell::new(word).toned(tone),
        ]
    });
    let note = "Two draws are alike if they differ by 0.01 at most, or by two standard errors.";
    Table { title: "Two draws of the grid".to_owned(), note, grouped: 0, columns, rows: rows.collect() }
}

/// Returns the entrants whose scores differ between two draws.
pub fn differing(season: &Season, both: [&Scores; 2]) -> Vec<String> {
    let differ = pairs(both).into_iter().filter(|(_, [first, second])| !second.less(*first).is_alike());
    differ.map(|(entrant, _)| season.entrants[entrant].name.clone()).collect()
}

/// Returns the total of each entrant in both draws.
fn pairs(both: [&Scores; 2]) -> Vec<(usize, [Estimate; 2])> {
    let of = |scores: &Scores, entrant: usize| {
        scores.standings.iter().find(|standing| standing.entrant == entrant).map(|standing| standing.total)
    };
    let pair = |standing: &crate::score::Standing| {
        Some((standing.entrant, [standing.total, of(both[1], standing.entrant)?]))
    };
    both[0].standings.iter().filter_map(pair).collect()
}

/// Returns a table as Markdown.
pub fn markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = table.columns.iter().map(|column| column.name.to_string()).collect();
    let rules = table
        .columns
        .iter()
        .map(|column| if column.number { "--:" } else { "---" }.to_owned())
        .collect::<Vec<_>>();
    let rows =
        table.rows.iter().map(|row| line(row.iter().map(|cell| cell.text.replace('|', "\\|")).collect()));
    format!("{}|{}|\n{}", line(heads), rules.join("|"), rows.collect::<String>())
}
