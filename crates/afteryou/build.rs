//! Puts the lab page into the command, if the environment names it.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AFTERYOU_LAB");
    let out = Path::new(&env::var("OUT_DIR")?).join("lab.html");
    let Some(page) = env::var_os("AFTERYOU_LAB").filter(|page| !page.is_empty()) else {
        // `afteryou lab` explains the rest.
        return Ok(fs::write(out, "")?);
    };
    // From the project's root, where cargo is called.
    let page = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..").join(page);
    println!("cargo::rerun-if-changed={}", page.display());
    fs::copy(&page, out).map_err(|error| format!("AFTERYOU_LAB: {}: {error}", page.display()))?;
    Ok(())
}
