//! Refuses packages by their licence or their source, by the rules of `deny.toml`.
//!
//! `cargo metadata --format-version 1 --locked | cargo run -p afteryou-structure --example licences`

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let rules = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml"))?;
    let metadata = std::io::read_to_string(std::io::stdin())?;
    let refused = afteryou_structure::refused_packages(&metadata, &rules)?;
    for sentence in &refused {
        eprintln!("{sentence}");
    }
    Ok(if refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
