//! The project's engines. Each file makes an [`Engine`] of a crate's `run`.
//!
//! A new engine is its own crate, a file here, and a line in [`ENGINES`]. Command line, lists, book and plans find it there.

#[cfg(feature = "bed")]
mod bed;
mod fluid;
mod passes;
mod sim;

#[cfg(feature = "bed")]
pub use bed::Bed;
pub use fluid::Fluid;
pub use sim::Simulator;

use crate::engine::Engine;
use crate::error::Error;
use afteryou_notation::unknown;

/// Every engine, in the order of lists.
pub static ENGINES: &[&dyn Engine] = &[
    &Simulator,
    &Fluid,
    #[cfg(feature = "bed")]
    &Bed::new(),
];

/// Returns the engine with this name.
///
/// # Errors
/// [`Error::UnknownEngine`] with the nearest name and all others.
pub fn find(name: &str) -> Result<&'static dyn Engine, Error> {
    let found = ENGINES.iter().find(|engine| engine.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = ENGINES.iter().map(|engine| engine.name()).collect();
        Error::UnknownEngine(unknown("engine", name, &names))
    })
}
