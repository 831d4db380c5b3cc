//! `afteryou study --list`.

use crate::runs::in_colour;
use afteryou_report::table::{Cell, Column, Table};
use afteryou_report::table_text;
use afteryou_studies::Chosen;
use afteryou_terminal::{output, Failure};

/// Prints the entries: name, kind, place in the paper, claim.
pub(super) fn print(chosen: &[Chosen], json: bool) -> Result<(), Failure> {
    if json {
        return chosen.iter().try_for_each(|Chosen { paper, entry }| {
            let line = serde_json::json!({
                "entry": format!("{}/{}", paper.id, entry.id),
                "kind": entry.kind.word(),
                "place": entry.place,
                "claim": entry.claim,
            });
            output::print(&format!("{line}\n"))
        });
    }
    let columns =
        vec![Column::words("study"), Column::words("kind"), Column::words("place"), Column::words("claim")];
    let row = |Chosen { paper, entry }: &Chosen| {
        let words = [format!("{}/{}", paper.id, entry.id), entry.kind.word().to_owned()];
        let words = words.into_iter().chain([entry.place.clone(), entry.claim.clone()]);
        words.map(Cell::new).collect()
    };
    let title = format!("{} experiments of the papers", chosen.len());
    let table = Table { title, note: "", grouped: 0, columns, rows: chosen.iter().map(row).collect() };
    output::print(&table_text(&table, output::table_width(), in_colour()))
}
