//! Prints the picture of the workspace's crates.
//!
//! `cargo run -p afteryou-structure --example house > docs/house.svg`

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    print!("{}", afteryou_structure::house(&crates)?);
    Ok(())
}
