//! Slices: the mean of one number over cells of one kind, with a bound. A goal's mean hides the kind of network on which a rule is weak.
//!
//! A slice takes cells of the grid and [probing cells](crate::probing), which are further cells of rare kinds. It has no part in the score. A
//! number counts up to a limit, so that one cell cannot hide the others: a share up to 1, a ratio of times up to 10. A run that failed has the
//! worst number there is. The error is that of a mean of independent numbers; cells with equal settings are the same for all entrants.

use crate::error::Result;
use crate::figures::{Figures, Phase};
use crate::goal::{Bound, GOALS};
use crate::grid::{Cell, Foreground, Trouble};
use crate::plan::Season;
use crate::rows;
use crate::score::Estimate;
use afteryou_report::rows::Row;
use afteryou_report::table::{Cell as TableCell, Column, Table, Tone};

/// Bytes of a full packet.
const PACKET: f64 = 1500.0;
/// Back within this time, s.
const BACK_S: f64 = 2.0;
/// A ratio of times, and an added delay in ms, count up to these.
const MOST_RATIO: f64 = 10.0;
const MOST_DELAY_MS: f64 = 1000.0;
/// Entrants of one table: more are too wide for a page.
const ENTRANTS: usize = 5;

/// A slice.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The slice's name.
    pub name: &'static str,
    /// The bound of its mean.
    pub bound: Bound,
    /// The unit of its number.
    pub unit: &'static str,
    /// A number counts up to this; where less is better, a run that failed has it.
    most: f64,
    /// Whether a cell is of its kind.
    is_of: fn(&Cell) -> bool,
    /// The number of a run, beside the same cell without a background.
    number: fn(&Cell, &Figures, &Figures) -> Option<f64>,
}

/// Every slice, in the order of tables.
pub const SLICES: &[Slice] = &[
    alone("alone, no trouble", 0.97, |cell| cell.trouble == Trouble::Plain),
    alone("alone, jitter", 0.9, |cell| cell.trouble == Trouble::Jitter),
    alone("alone, Wi-Fi", 0.9, |cell| cell.trouble == Trouble::Wifi),
    alone("alone, fading radio", 0.9, |cell| cell.trouble == Trouble::Radio),
    alone("alone, random loss", 0.95, |cell| cell.trouble == Trouble::Loss),
    alone("alone, route changed", 0.98, |cell| cell.trouble == Trouble::RouteChange),
    alone("alone, loaded reverse path", 0.9, |cell| cell.trouble == Trouble::ReverseLoad),
    alone("alone, clock skew", 0.97, |cell| cell.trouble == Trouble::Skew),
    share("back within 2 s", 0.93, |cell| cell.foreground.is_bulk(), |_, run, _| Some(is_back(run))),
    kept("kept by BBR v1, FIFO of 0.5–4 BDP", 0.95, |cell| is_in_fifo(cell, "bbr")),
    kept("kept by BBR v3, FIFO of 0.5–4 BDP", 0.95, |cell| is_in_fifo(cell, "bbr3")),
    kept("kept by CUBIC and NewReno, FIFO of 5–25 ms", 0.88, |cell| {
        matches!(cell.foreground, Foreground::Bulk("cubic" | "newreno"))
            && cell.queue == "droptail"
            && (5.0..=25.0).contains(&buffer_ms(cell))
    }),
    kept("kept behind CoDel, PIE, RED", 0.88, |cell| {
        cell.foreground.is_greedy() && ["codel", "pie", "red"].contains(&cell.queue)
    }),
    share(
        "foreground's share behind FQ-CoDel, FQ-PIE",
        0.9,
        |cell| cell.foreground.is_bulk() && is_fair(cell),
        |_, run, _| foreground_share(run),
    ),
    share(
        "harvest beside a constant rate",
        0.8,
        |cell| cell.foreground == Foreground::Constant,
        |cell, run, alone| goal("harvest", cell, run, alone),
    ),
    jain("Jain's index over FIFO, equal round trips", 0.95, |cell| {
        cell.queue == "droptail" && cell.far_rtt_ms == cell.rtt_ms
    }),
    jain("Jain's index over FIFO, round trips up to 1:4", 0.95, |cell| {
        cell.queue == "droptail" && cell.far_rtt_ms != cell.rtt_ms
    }),
    jain("Jain's index behind FQ-CoDel, FQ-PIE", 0.85, is_fair),
    Slice {
        name: "completion of short flows and pages",
        bound: Bound::AtMost(1.22),
        unit: "",
        most: MOST_RATIO,
        is_of: |cell| matches!(cell.foreground, Foreground::Short | Foreground::Pages),
        number: |cell, run, alone| goal("completion", cell, run, alone),
    },
    Slice {
        name: "call's added delay, 95th percentile",
        bound: Bound::AtMost(17.0),
        unit: " ms",
        most: MOST_DELAY_MS,
        is_of: |cell| cell.foreground == Foreground::Call,
        number: |cell, run, alone| goal("delay", cell, run, alone),
    },
];

const fn share(
    name: &'static str,
    bound: f64,
    is_of: fn(&Cell) -> bool,
    number: fn(&Cell, &Figures, &Figures) -> Option<f64>,
) -> Slice {
    Slice { name, bound: Bound::AtLeast(bound), unit: "", most: 1.0, is_of, number }
}

const fn alone(name: &'static str, bound: f64, is_of: fn(&Cell) -> bool) -> Slice {
    share(name, bound, is_of, |cell, run, alone| goal("alone", cell, run, alone))
}

const fn kept(name: &'static str, bound: f64, is_of: fn(&Cell) -> bool) -> Slice {
    share(name, bound, is_of, |cell, run, alone| goal("kept", cell, run, alone))
}

const fn jain(name: &'static str, bound: f64, is_of: fn(&Cell) -> bool) -> Slice {
    share(name, bound, is_of, |cell, run, alone| goal("fairness", cell, run, alone))
}

/// Returns the number of a goal; `None` where it is not asked.
fn goal(name: &str, cell: &Cell, run: &Figures, alone: &Figures) -> Option<f64> {
    GOALS.iter().find(|goal| goal.name == name)?.number(cell, run, alone)
}

fn is_back(run: &Figures) -> f64 {
    let is_back = run.back_s.is_some_and(|back_s| back_s <= BACK_S);
    f64::from(u8::from(is_back))
}

fn foreground_share(run: &Figures) -> Option<f64> {
    let together = run.phase(Phase::Together)?;
    let all = together.foreground_bit_s + together.background_bit_s;
    (all > 0.0).then(|| together.foreground_bit_s / all)
}

fn buffer_ms(cell: &Cell) -> f64 {
    cell.buffer_packets as f64 * PACKET * 8.0 / cell.rate_bit_s * 1e3
}

/// Returns whether a transfer of this controller meets a FIFO of 0.5 to 4 of its bandwidth-delay products.
fn is_in_fifo(cell: &Cell, controller: &str) -> bool {
    let is_its = matches!(cell.foreground, Foreground::Bulk(name) if name == controller);
    let products = buffer_ms(cell) / cell.foreground_rtt_ms;
    is_its && cell.queue == "droptail" && (0.5..=4.0).contains(&products)
}

fn is_fair(cell: &Cell) -> bool {
    ["fq_codel", "fq_pie"].contains(&cell.queue)
}

/// The mean of a slice for an entrant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// The mean with its error; none where no cell had an answer.
    pub mean: Option<Estimate>,
    /// Cells of the grid that had one.
    pub cells: usize,
    /// Probing cells that had one.
    pub probes: usize,
}

/// Every slice of every entrant.
#[derive(Clone, Debug, PartialEq)]
pub struct Slices {
    /// The names of the entrants.
    pub names: Vec<String>,
    /// Of each entrant, a part for each of [`SLICES`].
    pub parts: Vec<Vec<Part>>,
}

impl Slice {
    /// Returns the numbers of an entrant in the cells of this kind that have an answer.
    fn numbers(&self, season: &Season, entrant: usize) -> Vec<f64> {
        let of_kind = season.cells.iter().enumerate().filter(|(_, cell)| (self.is_of)(cell));
        of_kind.filter_map(|(index, _)| self.of_cell(season, entrant, index)).collect()
    }

    fn of_cell(&self, season: &Season, entrant: usize, index: usize) -> Option<f64> {
        let (cell, alone) = (&season.cells[index], season.alone[index].as_ref().ok()?);
        match &season.runs[entrant][index] {
            Ok(run) => (self.number)(cell, run, alone).map(|number| number.clamp(0.0, self.most)),
            Err(_) => Some(if self.is_more_better() { 0.0 } else { self.most }),
        }
    }

    fn is_more_better(&self) -> bool {
        matches!(self.bound, Bound::AtLeast(_))
    }

    /// Returns whether a mean is within the bound.
    pub fn is_met(&self, mean: f64) -> bool {
        match self.bound {
            Bound::AtLeast(bound) => mean >= bound,
            Bound::AtMost(bound) | Bound::AtMostOrPackets(bound, _) => mean <= bound,
        }
    }

    /// Returns a mean with its error, in words.
    fn words(&self, estimate: Estimate) -> String {
        let digits = if self.unit.is_empty() { 3 } else { 1 };
        format!("{:.digits$} ± {:.digits$}", estimate.mean, estimate.error)
    }
}

impl Slices {
    /// Takes the slices of a season and of its probing cells, played by the same entrants.
    pub fn of(season: &Season, probes: &Season) -> Slices {
        let part = |entrant: usize, slice: &Slice| {
            let (mut numbers, more) = (slice.numbers(season, entrant), slice.numbers(probes, entrant));
            let (cells, probes) = (numbers.len(), more.len());
            numbers.extend(more);
            Part { mean: mean(&numbers), cells, probes }
        };
        let entrants = 0..season.entrants.len();
        Slices {
            names: season.entrants.iter().map(|entrant| entrant.name.clone()).collect(),
            parts: entrants
                .map(|entrant| SLICES.iter().map(|slice| part(entrant, slice)).collect())
                .collect(),
        }
    }

    /// Returns the slices as rows: entrant, slice, bound, mean, error, cells.
    pub fn rows(&self) -> Vec<Row> {
        let of_entrant = |(name, parts): (&String, &Vec<Part>)| {
            SLICES.iter().zip(parts).map(|(slice, part)| row(name, slice, part)).collect::<Vec<_>>()
        };
        self.names.iter().zip(&self.parts).flat_map(of_entrant).collect()
    }

    /// Returns the rows as CSV.
    ///
    /// # Errors
    /// As [`rows::tables`].
    pub fn csv(&self) -> Result<Vec<u8>> {
        let [csv, _] = rows::tables(&self.rows())?;
        Ok(csv)
    }

    /// Returns the slices as tables, a few entrants beside each other in each. `draw` is the name of the draw.
    pub fn tables(&self, draw: &str) -> Vec<Table> {
        let indices: Vec<usize> = (0..self.names.len()).collect();
        indices.chunks(ENTRANTS).map(|entrants| self.table(draw, entrants)).collect()
    }

    fn table(&self, draw: &str, entrants: &[usize]) -> Table {
        let mut columns = vec![
            Column { whole: true, ..Column::words("slice") },
            Column::words("bound"),
            Column::numbers("cells"),
            Column::numbers("probing"),
        ];
        columns.extend(
            entrants.iter().map(|entrant| Column { number: true, ..Column::setting(&self.names[*entrant]) }),
        );
        let row = |(place, slice): (usize, &Slice)| {
            // A cell without an answer has none for any entrant, except where a foreground gets nothing at all.
            let most = |of: fn(&Part) -> usize| {
                let counts = entrants.iter().map(|entrant| of(&self.parts[*entrant][place]));
                TableCell::new(counts.max().unwrap_or_default().to_string())
            };
            let mut cells = vec![
                TableCell::new(slice.name),
                TableCell::new(slice.bound.words(slice.unit)),
                most(|part| part.cells),
                most(|part| part.probes),
            ];
            cells.extend(entrants.iter().map(|entrant| slice.cell(&self.parts[*entrant][place])));
            cells
        };
        let rows = SLICES.iter().enumerate().map(row).collect();
        let note = "The mean of a number over cells of one kind, with its standard error. Probing cells are further cells of rare kinds; none of this is part of the score.";
        Table { title: format!("Slices: {draw}"), note, grouped: 0, columns, rows }
    }
}

impl Slice {
    fn cell(&self, part: &Part) -> TableCell {
        let tone = match part.mean {
            Some(estimate) if self.is_met(estimate.mean) => Tone::Good,
            Some(_) => Tone::Bad,
            None => Tone::Faint,
        };
        TableCell::maybe(part.mean, |estimate| self.words(estimate)).toned(tone)
    }
}

fn row(name: &str, slice: &Slice, part: &Part) -> Row {
    let mut row = Row::default();
    row.add("controller", name);
    row.add("slice", slice.name);
    row.add("bound", slice.bound.words(slice.unit).as_str());
    row.add("mean", part.mean.map(|estimate| estimate.mean));
    row.add("error", part.mean.map(|estimate| estimate.error));
    row.add("met", part.mean.map(|estimate| u64::from(slice.is_met(estimate.mean))));
    row.add("cells", part.cells as u64);
    row.add("probing_cells", part.probes as u64);
    row
}

/// Returns the mean of numbers and its standard error, that of independent numbers.
fn mean(numbers: &[f64]) -> Option<Estimate> {
    let n = numbers.len() as f64;
    if numbers.is_empty() {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / n;
    let squares: f64 = numbers.iter().map(|number| (number - mean) * (number - mean)).sum();
    let error = if numbers.len() > 1 { libm::sqrt(squares / (n - 1.0) / n) } else { 0.0 };
    Some(Estimate { mean, error })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrant::entrants;
    use crate::figures::PhaseFigures;
    use crate::grid::{draw, probing, Set, QUICK, WHOLE};

    #[test]
    fn each_slice_has_a_dozen_cells_on_both_grids_with_the_probing_cells() {
        for strata in [WHOLE, QUICK] {
            for (set, seed) in [(Set::Train, 1), (Set::Hold, 1), (Set::Hold, 4)] {
                let cells: Vec<Cell> =
                    draw(strata, set, seed).into_iter().chain(probing(set, seed)).collect();
                for slice in SLICES {
                    let number = cells.iter().filter(|cell| (slice.is_of)(cell)).count();
                    assert!(number >= 12, "{} has {number} cells of {}, seed {seed}", slice.name, set.name());
                }
            }
        }
    }

    fn figures(share: f64, back_s: Option<f64>) -> Figures {
        let phase = PhaseFigures {
            background: share,
            background_bit_s: 1e6,
            foreground_bit_s: 3e6,
            ..PhaseFigures::default()
        };
        Figures { phases: vec![phase; 4], back_s, ..Figures::default() }
    }

    fn season(runs: Vec<crate::Outcome>) -> Season {
        let cells: Vec<Cell> = draw(QUICK, Set::Train, 1)
            .into_iter()
            .filter(|cell| cell.foreground.is_bulk() && cell.trouble == Trouble::Plain)
            .take(runs.len())
            .collect();
        let alone = cells.iter().map(|_| Ok(figures(0.0, None))).collect();
        let entrants = entrants(&["vegas".to_owned()]).unwrap();
        Season { cells, entrants, alone, runs: vec![runs], not_kept: None }
    }

    fn of(slices: &Slices, name: &str) -> Part {
        let place = SLICES.iter().position(|slice| slice.name == name).unwrap();
        slices.parts[0][place]
    }

    #[test]
    fn a_mean_counts_failed_runs_as_the_worst_and_nothing_above_one() {
        let runs = vec![Ok(figures(0.9, Some(0.5))), Ok(figures(1.2, Some(2.5))), Err("broken".to_owned())];
        let (season, probes) = season(runs).divide(2);
        assert_eq!((season.cells.len(), probes.cells.len(), probes.runs[0].len()), (2, 1, 1));
        let slices = Slices::of(&season, &probes);
        let alone = of(&slices, "alone, no trouble");
        assert_eq!((alone.cells, alone.probes), (2, 1));
        let mean = alone.mean.unwrap();
        assert!((mean.mean - 1.9 / 3.0).abs() < 1e-12);
        assert!((mean.error - libm::sqrt(0.91 / 3.0 / 3.0)).abs() < 1e-3, "{}", mean.error);
        // One of three is back in time.
        assert!((of(&slices, "back within 2 s").mean.unwrap().mean - 1.0 / 3.0).abs() < 1e-12);
        let rows = String::from_utf8(slices.csv().unwrap()).unwrap();
        assert_eq!(rows.lines().count(), 1 + SLICES.len());
        assert_eq!(slices.tables("train, seed 1")[0].rows.len(), SLICES.len());
    }

    #[test]
    fn the_bounds_are_on_the_side_that_is_good() {
        let slice = |name: &str| SLICES.iter().find(|slice| slice.name == name).unwrap();
        assert!(slice("alone, jitter").is_met(0.9) && !slice("alone, jitter").is_met(0.89));
        let completion = slice("completion of short flows and pages");
        assert!(completion.is_met(1.22) && !completion.is_met(1.23));
        assert_eq!(foreground_share(&figures(0.0, None)), Some(0.75));
    }
}
