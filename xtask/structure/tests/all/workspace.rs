//! No library or program of the workspace has modules that use each other in a cycle.

use afteryou_structure::Cycle;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns the root file of every library and program of the workspace.
fn roots() -> Vec<PathBuf> {
    let folders = afteryou_structure::packages(root()).unwrap();
    let of_package = |folder: &PathBuf| {
        let programs = [folder.join("examples"), folder.join("src/bin")];
        let mut roots = vec![folder.join("src/lib.rs"), folder.join("src/main.rs")];
        roots.extend(programs.iter().flat_map(|folder| mains(folder)));
        roots
    };
    let all = folders.iter().flat_map(of_package).chain(mains(&root().join("bench")));
    all.filter(|file| file.exists()).collect()
}

/// Returns the root files of the programs in a folder that have one of their own.
fn mains(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path().join("main.rs")).collect()
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
    let roots = roots();
    assert!(roots.len() >= 35, "the crates were not found: {roots:?}");
    let cycles: Vec<Cycle> =
        roots.iter().flat_map(|root| afteryou_structure::cycles(root).unwrap()).collect();
    let listed: Vec<String> =
        cycles.iter().map(|cycle| cycle.to_string().replace(&format!("{}/", root().display()), "")).collect();
    assert!(listed.is_empty(), "move what both need into a module below them:\n{}", listed.join("\n"));
}
