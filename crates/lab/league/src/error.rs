//! Errors of the league.

use afteryou_scenario::Error as Notation;
use afteryou_scenario_file::FileError;
use thiserror::Error;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason that there is no table. The message names the next step.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A controller that does not exist, or a parameter that it does not have.
    #[error(transparent)]
    Controller(#[from] Notation),
    /// A controller was named twice.
    #[error("{0} takes part twice: name it once")]
    Twice(String),
    /// A cell is no scenario: a defect of the grid.
    #[error("a cell is no scenario, which is a bug of the grid: {0}")]
    Cell(#[from] FileError),
    /// The engine or the cache failed.
    #[error(transparent)]
    Lab(#[from] afteryou_engines::Error),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Plot(#[from] afteryou_plot::Error),
    /// JSON cannot hold a page's numbers.
    #[error("the page cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// A table cannot be written.
    #[error("a table cannot be written: {0}; check the space on the disk")]
    Table(#[from] std::io::Error),
}
