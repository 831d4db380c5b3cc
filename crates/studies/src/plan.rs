//! The runs that a choice of entries needs: each once, whichever checks ask for it.

use crate::entry::{Call, Check, Entry, Grid, Paper};
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
        let found = self.paper.grids.iter().find(|grid| grid.id == check.grid);
        found.ok_or_else(|| {
            Error::data(
                &self.paper.id,
                format!("{}/{}: there is no grid {:?}", self.entry.id, check.id, check.grid),
            )
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

/// The points that `chosen` needs, in the order of grids and axes.
///
/// # Errors
/// A check that names a grid that is not there.
pub fn wanted(chosen: &[Chosen], extent: Extent) -> Result<Vec<Wanted>> {
    let mut all: Vec<Wanted> = Vec::new();
    for (index, chosen) in chosen.iter().enumerate() {
        for check in &chosen.entry.checks {
            let grid = chosen.grid(check)?;
            if !is_run(check, grid, extent) {
                continue;
            }
            for point in grid.points(extent).into_iter().filter(|point| point.is_at(&check.at)) {
                let same = |wanted: &&mut Wanted| std::ptr::eq(wanted.grid, grid) && wanted.point == point;
                let place = match all.iter_mut().find(same) {
                    Some(place) => place,
                    None => {
                        all.push(Wanted { grid, point, measures: BTreeMap::new(), first: index });
                        all.last_mut().unwrap_or_else(|| unreachable!("one was pushed"))
                    }
                };
                place.measures.insert(measure_key(&check.measure), check.measure.clone());
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

/// A measure as it was called, as a key.
pub fn measure_key(call: &Call) -> String {
    let arguments: Vec<String> = call.with.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}({})", call.name, arguments.join(", "))
}
