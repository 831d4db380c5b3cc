//! Which modules of a crate use each other, and the cycles among them.
//!
//! # Model
//! A module is a file and everything inside it, so a folder counts as one module among its siblings, and each file in it as one
//! among those. Module A *uses* module B if A's code names an item (type, trait, function, constant, static, macro) that a file
//! of B defines, or hands such a name on (`pub use`). A name is followed through imports to the file of its definition. The
//! files that hand it on count, too: `crate::relay::Way` is a use of `relay/record.rs`, and also of `relay` if that re-exports it.
//! A cycle is a strongly connected component of more than one module among those that one module declares.
//!
//! These are no uses:
//! - between a module and a module inside it, at any depth: they are one unit, as they are for Rust's privacy, and a
//!   file that grew too long is split that way. Siblings and cousins count;
//! - code and modules that exist for tests alone (`#[cfg(test)]`);
//! - calling a method of a value, which names no module.
//!
//! # Not implemented
//! Names are resolved without types, and macros are not expanded: paths in a macro's argument are read token by token.

mod cycles;
mod error;
mod house;
mod licences;
mod names;
mod packages;
mod source;
mod uses;

pub use cycles::{Cycle, Step};
pub use error::Error;
pub use house::house;
pub use licences::refused_packages;
pub use packages::packages;

use names::Names;
use std::path::Path;

/// Returns the cycles among the modules of the crate whose root file is `root`, each with a shortest way around.
///
/// # Errors
/// A file of the crate cannot be read or parsed.
pub fn cycles(root: &Path) -> Result<Vec<Cycle>, Error> {
    let source = source::Source::read(root)?;
    let uses = uses::between_files(&source, &Names::new(&source));
    Ok(cycles::find(&source, &uses))
}
