//! No crate of the workspace has modules that use each other in a cycle.

use afteryou_structure::Cycle;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns the root file of every library of the workspace.
fn libraries() -> Vec<PathBuf> {
    let folders = afteryou_structure::packages(root()).unwrap();
    folders.iter().map(|folder| folder.join("src/lib.rs")).filter(|library| library.exists()).collect()
}

#[test]
fn the_picture_of_the_house_is_what_would_be_drawn_today() {
    let committed = std::fs::read_to_string(root().join("docs/house.svg")).unwrap_or_default();
    let drawn = afteryou_structure::house(root()).unwrap();
    let command = "cargo run -p afteryou-structure --example house > docs/house.svg";
    assert!(committed == drawn, "the crates' uses have changed: run {command}");
}

#[test]
fn no_modules_of_a_crate_use_each_other_in_a_cycle() {
    let libraries = libraries();
    assert!(libraries.len() >= 25, "the crates were not found: {libraries:?}");
    let cycles: Vec<Cycle> =
        libraries.iter().flat_map(|root| afteryou_structure::cycles(root).unwrap()).collect();
    let listed: Vec<String> =
        cycles.iter().map(|cycle| cycle.to_string().replace(&format!("{}/", root().display()), "")).collect();
    assert!(listed.is_empty(), "move what both need into a module below them:\n{}", listed.join("\n"));
}
