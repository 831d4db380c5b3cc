//! Parts of a study.

/// How much of the papers is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Thinner grids and fewer seeds, never a shorter duration.
    Quick,
    /// Every point; seeds are fewer where all of them take too long.
    #[default]
    Usual,
    /// Every point with every seed.
    Full,
    /// The seeds after those of the usual run, as many again.
    Second,
}
