//! The runs that a choice of entries needs: each once, whichever checks ask for it.

use crate::entry::{At, Call, Check, Entry, Grid, Paper};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::grid::GridPoint;
use std::collections::{BTreeMap, HashMap};

/// An entry and its paper.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The paper.
    pub paper: &'static Paper,
    /// The entry.
    pub entry: &'static Entry,
}

impl Chosen {
    /// Returns the grid of a check.
    ///
    /// # Errors
    /// A grid that the paper does not have.
    pub fn grid(&self, check: &Check) -> Result<&'static Grid> {
        self.grid_of(&check.grid, &check.id)
    }

    /// Returns the grid with this name, which `asker` asks for.
    ///
    /// # Errors
    /// A grid that the paper does not have.
    pub fn grid_of(&self, name: &str, asker: &str) -> Result<&'static Grid> {
        let found = self.paper.grids.iter().find(|grid| grid.id == name);
        found.ok_or_else(|| {
            Error::data(&self.paper.id, format!("{}/{asker}: there is no grid {name:?}", self.entry.id))
        })
    }
}

/// Returns whether this check is run at all.
pub fn is_run(check: &Check, grid: &Grid, extent: Extent) -> bool {
    extent != Extent::Quick || !(check.slow || grid.slow)
}

/// A point of a grid, and the measures that are taken of each of its runs.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The grid.
    pub grid: &'static Grid,
    /// The point.
    pub point: GridPoint,
    /// The measures by name with arguments.
    pub measures: BTreeMap<String, Call>,
    /// Index of the first of the chosen entries that needs it.
    pub first: usize,
}

/// Returns the points that `chosen` needs, in the order of grids and axes; also those for its figures on request.
///
/// # Errors
/// A check that names a grid that is not there.
pub fn wanted(chosen: &[Chosen], extent: Extent, figures: bool) -> Result<Vec<Wanted>> {
    let mut all = All { extent, places: HashMap::new(), wanted: Vec::new() };
    for (index, chosen) in chosen.iter().enumerate() {
        for check in &chosen.entry.checks {
            let grid = chosen.grid(check)?;
            if is_run(check, grid, extent) {
                all.add(index, grid, &check.at, [&check.measure]);
            }
        }
        for figure in chosen.entry.figures.iter().filter(|_| figures) {
            let Some(name) = &figure.grid else { continue };
            let grid = chosen.grid_of(name, &figure.title)?;
            if extent != Extent::Quick || !grid.slow {
                let measures: Vec<Call> = figure.measures().into_iter().map(|(_, call)| call).collect();
                all.add(index, grid, &figure.at, measures.iter().chain(&figure.inner));
            }
        }
    }
    // In the order of the axes, whichever check names a point first.
    all.wanted.sort_by_key(|(place, _)| *place);
    Ok(all.wanted.into_iter().map(|(_, wanted)| wanted).collect())
}

/// Points while they are collected.
struct All {
    extent: Extent,
    /// By grid: its place among the grids and, for each selected point, its place in `wanted`.
    places: HashMap<*const Grid, (usize, HashMap<usize, usize>)>,
    /// Each with the place of its grid and its own within the grid.
    wanted: Vec<((usize, usize), Wanted)>,
}

impl All {
    /// Adds the points of `grid` at `at` with the measures of them.
    fn add<'a>(
        &mut self,
        first: usize,
        grid: &'static Grid,
        at: &At,
        measures: impl IntoIterator<Item = &'a Call> + Clone,
    ) {
        let grids = self.places.len();
        let (of_grid, places) = self.places.entry(grid).or_insert_with(|| (grids, HashMap::new()));
        for (number, point) in grid.points(self.extent).into_iter().enumerate() {
            if !point.is_at(at) {
                continue;
            }
            let place = *places.entry(number).or_insert_with(|| {
                let wanted = Wanted { grid, point, measures: BTreeMap::new(), first };
                self.wanted.push(((*of_grid, number), wanted));
                self.wanted.len() - 1
            });
            let calls = measures.clone().into_iter().map(|call| (measure_key(call), call.clone()));
            self.wanted[place].1.measures.extend(calls);
        }
    }
}

/// Returns a measure as it was called, as a key.
pub fn measure_key(call: &Call) -> String {
    let arguments: Vec<String> = call.with.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}({})", call.name, arguments.join(", "))
}
