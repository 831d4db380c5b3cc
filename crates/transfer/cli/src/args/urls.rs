//! Options of `afteryou get` for URLs.

use afteryou_http::Digest;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Options of downloads from web servers.
#[derive(Args, Clone, Debug, Default)]
pub struct UrlArgs {
    /// Store the file of a URL under this name; - is standard output
    #[arg(long, short = 'o', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace existing files by those of URLs, when they are whole; without it they are kept, and the download fails
    #[arg(long)]
    pub force: bool,

    /// Treat all URLs as mirrors of one file: the next one is asked when one fails
    #[arg(long)]
    pub mirror: bool,

    /// Check the file of a URL against this SHA-256, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = Digest::sha256)]
    pub sha256: Option<Digest>,

    /// Read no passwords from ~/.netrc for URLs
    #[arg(long)]
    pub no_netrc: bool,
}
