//! Errors of reading a crate's source.

use std::path::PathBuf;

/// A crate's source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened or is no text.
    #[error("cannot read {file}: {source}; check that every `mod` of the crate has its file", file = file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file is not valid Rust.
    #[error("cannot parse {file}, line {line}: {source}; run `cargo check` first", file = file.display())]
    Parse {
        /// The file.
        file: PathBuf,
        /// The line of the error, counted from 1.
        line: usize,
        /// The parser's reason.
        source: syn::Error,
    },
    /// The output of `cargo metadata` is not what is expected.
    #[error("cannot read the packages: {0}; give the output of `cargo metadata --format-version 1`")]
    Metadata(serde_json::Error),
    /// The rules are no `deny.toml`.
    #[error("cannot read the rules about licences: {0}; correct deny.toml")]
    Rules(toml::de::Error),
}
