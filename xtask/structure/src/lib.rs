//! Which modules of a crate use each other, and the cycles among them.
//!
//! # Model
//! A module is a file. Module A *uses* module B if A's code names an item (type, trait, function, constant, static, macro)
//! that B defines. A name is followed through imports and re-exports to the file of its definition. So `crate::relay::Way`
//! is a use of `relay/record.rs` if `relay` only re-exports it. A cycle is a strongly connected component of this graph with
//! more than one module.
//!
//! These are no uses:
//! - between a module and a module inside it, at any depth. They are one unit, as they are for Rust's privacy, and a file
//!   that grew too long is split that way. Siblings and cousins count;
//! - handing on a name (`pub use`, also with a restricted visibility): the module that names it afterwards uses its
//!   definition;
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

pub use cycles::Cycle;
pub use error::Error;
pub use house::house;
pub use licences::refused_packages;
pub use packages::packages;

use names::Names;
use std::path::Path;

/// Returns the cycles among the modules of the crate whose root file is `root`, each as its shortest path.
///
/// # Errors
/// A file of the crate cannot be read or parsed.
pub fn cycles(root: &Path) -> Result<Vec<Cycle>, Error> {
    let source = source::Source::read(root)?;
    let uses = uses::between_files(&source, &Names::new(&source));
    Ok(cycles::find(&source, &uses))
}
