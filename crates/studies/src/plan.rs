//! The runs that a choice of entries needs: each once, whichever checks ask for it.

use crate::entry::{At, Call, Check, Entry, Grid, Paper};
use crate::error::{Error, Result};
use crate::grid::{Extent, GridPoint};
use std::collections::BTreeMap;

/// An entry and its paper.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The paper.
    pub paper: &'static Paper,
    /// The entry.
    pub entry: &'static Entry,
}

impl Chosen {
    /// The grid of a check.
    ///
    /// # Errors
    /// A grid that the paper does not have.
    pub fn grid(&self, check: &Check) -> Result<&'static Grid> {
        self.grid_of(&check.grid, &check.id)
    }

    /// The grid with this name, which `asker` asks for.
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

/// Is this check run at all?
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

/// The points that `chosen` needs, also for its figures if they are wanted, in the order of grids and axes.
///
/// # Errors
/// A check that names a grid that is not there.
pub fn wanted(chosen: &[Chosen], extent: Extent, figures: bool) -> Result<Vec<Wanted>> {
    let mut all: Vec<Wanted> = Vec::new();
    for (index, chosen) in chosen.iter().enumerate() {
        for check in &chosen.entry.checks {
            let grid = chosen.grid(check)?;
            if is_run(check, grid, extent) {
                add(&mut all, index, grid, &check.at, extent, [&check.measure]);
            }
        }
        for figure in chosen.entry.figures.iter().filter(|_| figures) {
            let Some(name) = &figure.grid else { continue };
            let grid = chosen.grid_of(name, &figure.title)?;
            if extent != Extent::Quick || !grid.slow {
                add(&mut all, index, grid, &figure.at, extent, figure.measure.iter().chain(&figure.inner));
            }
        }
    }
    // In the order of the axes, whichever check names a point first.
    let mut places = Vec::with_capacity(all.len());
    for wanted in &all {
        let first = all.iter().position(|other| std::ptr::eq(other.grid, wanted.grid));
        places.push((first, wanted.grid.points(extent).iter().position(|point| *point == wanted.point)));
    }
    let mut ordered: Vec<_> = places.into_iter().zip(all).collect();
    ordered.sort_by_key(|(place, _)| *place);
    Ok(ordered.into_iter().map(|(_, wanted)| wanted).collect())
}

/// Adds the points of `grid` at `at` with the measures of them.
fn add<'a>(
    all: &mut Vec<Wanted>,
    first: usize,
    grid: &'static Grid,
    at: &At,
    extent: Extent,
    measures: impl IntoIterator<Item = &'a Call> + Clone,
) {
    for point in grid.points(extent).into_iter().filter(|point| point.is_at(at)) {
        let same = |wanted: &Wanted| std::ptr::eq(wanted.grid, grid) && wanted.point == point;
        let place = all.iter().position(same).unwrap_or_else(|| {
            all.push(Wanted { grid, point, measures: BTreeMap::new(), first });
            all.len() - 1
        });
        let calls = measures.clone().into_iter().map(|call| (measure_key(call), call.clone()));
        all[place].measures.extend(calls);
    }
}

/// A measure as it was called, as a key.
pub fn measure_key(call: &Call) -> String {
    let arguments: Vec<String> = call.with.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}({})", call.name, arguments.join(", "))
}
