//! Errors of reading the project's texts.

use std::path::PathBuf;

/// A text that cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder is not there or cannot be read.
    #[error("cannot read {}: run this in a checkout of the project", path.display())]
    Read {
        /// Of the file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// It is no Rust source.
    #[error("cannot parse {}: build the project first", path.display())]
    Parse {
        /// Of the file.
        path: PathBuf,
        /// The reason.
        source: syn::Error,
    },
}
