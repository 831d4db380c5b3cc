//! The grid: cells drawn by strata, each a scenario file in which the background's controller is left open.
//!
//! | file | holds |
//! |---|---|
//! | `stratum` | the strata, and how long phases last |
//! | `lots` | columns of draws with exact shares |
//! | `foreground`, `queue`, `trouble` | the axes: what each value is in a scenario file |
//! | `probe` | probing cells: further cells of kinds that are rare |
//! | `cell` | a cell, and its file |
//! | `file` | quantities as files have them |

mod cell;
mod file;
mod foreground;
mod lots;
mod probe;
mod queue;
mod stratum;
mod trouble;

pub use cell::{Arrival, Cell, Transport, LATE};
pub use foreground::Foreground;
pub use stratum::{Phases, Stratum, QUICK, WHOLE};
pub use trouble::Trouble;

use cell::Drawn;
use lots::{log_between, Lots};
use probe::{Probe, Spot};

/// A set of cells. Rules are trained on one and judged on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// For the design of a rule.
    Train,
    /// For the judgement of a rule whose design is finished.
    Hold,
}

impl Set {
    /// Returns the set's name.
    pub fn name(self) -> &'static str {
        match self {
            Set::Train => "train",
            Set::Hold => "hold",
        }
    }
}

/// Numbers of background flows with their shares: where the foreground is, and where nobody is.
const BESIDE: &[(u32, f64)] = &[(1, 62.0), (2, 14.0), (3, 9.0), (5, 8.0), (10, 7.0)];
const AMONG_THEMSELVES: &[(u32, f64)] = &[(1, 30.0), (2, 28.0), (3, 16.0), (5, 14.0), (10, 12.0)];

/// Draws the cells of `set`. The same strata with another seed have other values in the same shares.
pub fn draw(strata: &[Stratum], set: Set, seed: u64) -> Vec<Cell> {
    let cells = strata.iter().flat_map(|stratum| {
        let lots = lots(stratum, set, seed);
        let cells = of_stratum(stratum, &lots);
        cells.into_iter().map(|drawn| Cell::of(stratum.name, &drawn)).collect::<Vec<_>>()
    });
    named(cells.collect(), set.name())
}

/// Draws the probing cells of `set`: of kinds that are rare on the grid, for [slices](crate::Slices) and no score. Each is drawn as
/// the grid's are. Then a column of its own, with exact shares as well, makes it a cell of its kind.
pub fn probing(set: Set, seed: u64) -> Vec<Cell> {
    let (stratum, lots) = (&probe::STRATUM, lots(&probe::STRATUM, set, seed));
    let (probes, at, far) = (lots.deal("probe", probe::SHARES), lots.spread("probe"), lots.spread("far"));
    let cells = of_stratum(stratum, &lots).into_iter().enumerate().map(|(i, mut drawn)| {
        let probe: Probe = probes[i];
        probe.change(&mut drawn, &Spot { at: at[i], far: far[i] });
        Cell::of(stratum.name, &drawn)
    });
    named(cells.collect(), &format!("{}-probe", set.name()))
}

/// Names cells by their numbers.
fn named(mut cells: Vec<Cell>, before: &str) -> Vec<Cell> {
    let digits = cells.len().to_string().len();
    for (i, cell) in cells.iter_mut().enumerate() {
        cell.name = format!("{before}-{:0digits$}", i + 1);
    }
    cells
}

fn lots(stratum: &Stratum, set: Set, seed: u64) -> Lots {
    Lots::new(seed, format!("league {} {}", set.name(), stratum.name), stratum.cells)
}

fn of_stratum(stratum: &Stratum, lots: &Lots) -> Vec<Drawn> {
    let foregrounds = lots.deal("foreground", foreground::SHARES);
    let queues = lots.deal("queue", queue::SHARES);
    let troubles = lots.deal("trouble", trouble::SHARES);
    let beside = lots.deal("flows", BESIDE);
    let among = lots.deal("flows among themselves", AMONG_THEMSELVES);
    let late = lots.deal("arrival", &[(Arrival::Late, 75.0), (Arrival::Together, 25.0)]);
    let jobs = lots.deal("job", &[(Arrival::Together, 50.0), (Arrival::Spread, 50.0)]);
    let transports = lots.deal("transport", &[(Transport::Tcp, 80.0), (Transport::Utp, 20.0)]);
    let by_time = lots.deal("buffer", &[(true, 50.0), (false, 50.0)]);
    let marks = lots.deal("marks", &[(true, 40.0), (false, 60.0)]);
    let other_rtt = lots.deal("other rtt", &[(true, 1.0), (false, 2.0)]);
    let long =
        lots.deal("long", &[(true, stratum.long as f64), (false, (stratum.cells - stratum.long) as f64)]);
    let (rates, rtts) = (lots.spread("rate"), lots.spread("rtt"));
    let (buffers, rtt_ratios) = (lots.spread("buffer"), lots.spread("rtt ratio"));
    let (amounts, loads) = (lots.spread("amount"), lots.spread("load"));
    let seeds = lots.seeds();
    let cell = |i: usize| {
        let rtt_ms = log_between(stratum.rtt_ms.0, stratum.rtt_ms.1, rtts[i]);
        let foreground_rtt_ms = match other_rtt[i] {
            true => {
                (rtt_ms * log_between(0.25, 4.0, rtt_ratios[i])).clamp(stratum.rtt_ms.0, stratum.rtt_ms.1)
            }
            false => rtt_ms,
        };
        let is_alone = foregrounds[i] == Foreground::Nobody;
        let flows = if is_alone { among[i] } else { beside[i] };
        Drawn {
            rate_bit_s: log_between(stratum.rate_mbit.0, stratum.rate_mbit.1, rates[i]) * 1e6,
            rtt_ms,
            far_rtt_ms: rtt_ms,
            foreground_rtt_ms,
            foreground: foregrounds[i],
            load: loads[i],
            queue: queues[i],
            buffer_by_time: by_time[i],
            buffer_at: buffers[i],
            marks: marks[i],
            trouble: troubles[i],
            amount: amounts[i],
            flows,
            arrival: match (flows, is_alone) {
                (1, _) => Arrival::Together,
                (_, true) => late[i],
                (_, false) => jobs[i],
            },
            transport: transports[i],
            phases: stratum.phases(rtt_ms.max(foreground_rtt_ms), long[i]),
            seed: seeds[i],
        }
    };
    (0..stratum.cells).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn counts<K: Ord>(cells: &[Cell], key: impl Fn(&Cell) -> K) -> BTreeMap<K, usize> {
        let mut counts = BTreeMap::new();
        cells.iter().for_each(|cell| *counts.entry(key(cell)).or_insert(0) += 1);
        counts
    }

    #[test]
    fn both_sets_and_every_seed_have_the_same_shares_and_other_cells() {
        let shares = |set, seed| {
            let cells = draw(WHOLE, set, seed);
            (
                counts(&cells, |cell| cell.foreground.name()),
                counts(&cells, |cell| cell.queue),
                counts(&cells, |cell| cell.trouble.name()),
                counts(&cells, |cell| cell.stratum),
            )
        };
        assert_eq!(shares(Set::Train, 1), shares(Set::Hold, 1));
        assert_eq!(shares(Set::Train, 1), shares(Set::Train, 2));
        let first = |set, seed| draw(QUICK, set, seed)[0].rate_bit_s;
        assert_ne!(first(Set::Train, 1), first(Set::Hold, 1));
        assert_ne!(first(Set::Train, 1), first(Set::Train, 2));
    }

    #[test]
    fn the_whole_grid_has_its_1200_cells_30_of_them_long_and_a_fifth_over_utp() {
        let cells = draw(WHOLE, Set::Train, 1);
        assert_eq!(cells.len(), 1200);
        assert_eq!(cells.iter().filter(|cell| cell.phases.length_s() >= 300.0).count(), 30);
        assert_eq!(cells.iter().filter(|cell| cell.transport == Transport::Utp).count(), 240);
        let other = cells.iter().filter(|cell| cell.foreground_rtt_ms != cell.rtt_ms).count();
        assert!(
            (380..=400).contains(&other),
            "{other} cells where the foreground has another round-trip time"
        );
        assert_eq!(draw(QUICK, Set::Hold, 7).len(), 200);
    }
}
