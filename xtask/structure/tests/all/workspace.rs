//! No crate of the workspace has modules that use each other in a cycle.

use afteryou_structure::Cycle;
use std::path::{Path, PathBuf};

fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The root file of every library of the workspace.
fn libraries() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(crates()).unwrap();
    let mut roots: Vec<_> = entries.map(|entry| entry.unwrap().path().join("src/lib.rs")).collect();
    roots.retain(|root| root.exists());
    roots.sort();
    roots
}

#[test]
fn the_picture_of_the_house_is_what_would_be_drawn_today() {
    let committed = std::fs::read_to_string(crates().join("../docs/house.svg")).unwrap_or_default();
    let drawn = afteryou_structure::house(crates()).unwrap();
    assert_eq!(committed, drawn, "run cargo run -p afteryou-structure --example house > docs/house.svg");
}

#[test]
fn no_modules_of_a_crate_use_each_other_in_a_cycle() {
    let libraries = libraries();
    assert!(libraries.len() >= 12, "the crates were not found: {libraries:?}");
    let cycles: Vec<Cycle> =
        libraries.iter().flat_map(|root| afteryou_structure::cycles(root).unwrap()).collect();
    let listed: Vec<String> = cycles
        .iter()
        .map(|cycle| cycle.to_string().replace(&format!("{}/", crates().display()), ""))
        .collect();
    assert!(listed.is_empty(), "move what both need into a module below them:\n{}", listed.join("\n"));
}
