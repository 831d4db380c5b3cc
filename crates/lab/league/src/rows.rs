//! Every cell of every entrant as rows: settings, numbers and scores, as CSV and as Parquet.

use crate::error::Result;
use crate::goal::{Over, GOALS};
use crate::grid::{Arrival, Cell, Transport};
use crate::plan::Season;
use crate::score::Scores;
use afteryou_report::rows::{Columns, Csv, Parquet, Row};

/// Returns a row for each entrant in each cell.
pub fn rows(season: &Season, scores: &Scores) -> Vec<Row> {
    let entrants = season.entrants.iter().enumerate();
    let of_entrant = |(entrant, who): (usize, &crate::entrant::Entrant)| -> Vec<Row> {
        (0..season.cells.len()).map(|cell| row(season, scores, entrant, &who.name, cell)).collect()
    };
    entrants.flat_map(of_entrant).collect()
}

fn row(season: &Season, scores: &Scores, entrant: usize, name: &str, index: usize) -> Row {
    let cell = &season.cells[index];
    let mut row = Row::default();
    row.add("controller", name);
    row.add("cell", cell.name.as_str());
    settings(&mut row, cell);
    for (goal, place) in GOALS.iter().zip(0..).filter(|(goal, _)| goal.over == Over::All) {
        // A ratio of times is infinite where no transfer came to its end: tables have no number for that.
        row.add(goal.name, scores.numbers[entrant][place][index]);
        row.add(format!("{}_score", goal.name), scores.cells[entrant][place][index]);
    }
    match &season.runs[entrant][index] {
        Ok(figures) => row.add("packets", figures.packets),
        Err(reason) => row.add("failure", reason.as_str()),
    }
    row
}

fn settings(row: &mut Row, cell: &Cell) {
    row.add("stratum", cell.stratum);
    row.add("rate_bit_s", cell.rate_bit_s);
    row.add("rtt_ms", cell.rtt_ms);
    row.add("foreground_rtt_ms", cell.foreground_rtt_ms);
    row.add("foreground", cell.foreground.name());
    row.add("queue", cell.queue);
    row.add("ecn", u64::from(cell.marks));
    row.add("buffer_packets", cell.buffer_packets);
    row.add("trouble", cell.trouble.name());
    row.add("flows", u64::from(cell.flows));
    row.add(
        "arrival",
        match cell.arrival {
            Arrival::Together => "together",
            Arrival::Spread => "spread",
            Arrival::Late => "late",
        },
    );
    row.add("transport", if cell.transport == Transport::Utp { "utp" } else { "tcp" });
    row.add("seed", cell.seed);
}

/// Returns rows as CSV and as Parquet.
///
/// # Errors
/// As the writers', which have memory alone to fail for.
pub fn tables(rows: &[Row]) -> Result<[Vec<u8>; 2]> {
    let mut columns = Columns::default();
    rows.iter().for_each(|row| columns.add(row));
    let mut csv = Csv::new(&columns, Vec::new())?;
    let mut parquet = Parquet::new(&columns, Vec::new())?;
    for row in rows {
        csv.write(row)?;
        parquet.write(row)?;
    }
    Ok([csv.finish()?, parquet.finish()?])
}
