//! Prints the picture of the workspace's crates.
//!
//! `cargo run -p afteryou-structure --example house > docs/house.svg`

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    print!("{}", afteryou_structure::house(&root)?);
    Ok(())
}
