//! A draw of the grid that was played.

use crate::plan::Season;
use crate::score::Scores;
use crate::slice::Slices;

/// A draw of the grid with its runs and its scores.
pub struct Draw<'a> {
    /// Its name: "train, seed 1".
    pub name: String,
    /// The runs.
    pub season: &'a Season,
    /// The scores.
    pub scores: &'a Scores,
    /// The slices, where they were asked for.
    pub slices: Option<&'a Slices>,
}
