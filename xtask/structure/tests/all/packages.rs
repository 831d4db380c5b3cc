//! What registries and packages take from the manifests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the folders of the crates that are published.
fn published() -> Vec<PathBuf> {
    let is_published =
        |folder: &PathBuf| manifest(folder)["package"].get("publish") != Some(&Value::Boolean(false));
    afteryou_structure::packages(root()).unwrap().into_iter().filter(is_published).collect()
}

#[test]
fn a_published_crate_has_a_page_words_to_find_it_and_the_one_address() {
    let published = published();
    assert!(published.len() >= 20, "the crates were not found: {published:?}");
    for folder in published {
        let package = &manifest(&folder)["package"];
        let name = folder.display();
        for key in ["description", "keywords", "categories"] {
            assert!(package.get(key).is_some(), "{name} has no {key}");
        }
        for key in ["license", "repository", "rust-version", "version"] {
            let shared = package.get(key).and_then(|value| value.get("workspace"));
            assert_eq!(shared, Some(&Value::Boolean(true)), "{name} has {key} of its own");
        }
        assert!(folder.join("README.md").is_file(), "{name} has no README.md");
    }
}

#[test]
fn a_published_crate_reads_no_file_outside_of_itself() {
    let mut outside = Vec::new();
    for folder in published() {
        for file in sources(&folder.join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let depth = file.strip_prefix(&folder).unwrap().components().count() - 1;
            let leaves = format!("(\"{}", "../".repeat(depth + 1));
            // The doc tests of the book's pages are compiled in the repository alone.
            let lines = text.lines().filter(|line| line.contains("include_") && !line.contains("#[doc"));
            outside.extend(
                lines.filter(|line| line.contains(&leaves)).map(|line| format!("{}: {line}", file.display())),
            );
        }
    }
    assert_eq!(outside, Vec::<String>::new(), "a packed crate lacks these files");
}

#[test]
fn the_front_page_of_a_published_library_begins_with_a_program_that_runs() {
    // A page longer than this before the program is no front page any more.
    const LINES: usize = 16;
    // Their programs are in C, in `examples`.
    const IN_C: [&str; 2] = ["background-c", "utp-c"];
    for folder in published().into_iter().filter(|folder| !IN_C.iter().any(|name| folder.ends_with(name))) {
        let text = std::fs::read_to_string(folder.join("src/lib.rs")).unwrap();
        let mut page = text.lines().map_while(|line| line.strip_prefix("//!")).take(LINES);
        let begins = page.any(|line| [" ```", " ```no_run"].contains(&line));
        assert!(begins, "{} begins with something else", folder.display());
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn every_file_of_the_debian_package_is_there() {
    let home = root().join("crates/afteryou");
    let deb = &manifest(&home)["package"]["metadata"]["deb"];
    let assets = deb["assets"].as_array().unwrap();
    let build = std::fs::read_to_string(root().join("packaging/build")).unwrap();
    assert!(assets.len() >= 8);
    for asset in assets {
        let path = asset[0].as_str().unwrap();
        // The program is built beforehand.
        if path.starts_with("target/") {
            continue;
        }
        let (folder, name) = path.rsplit_once('/').unwrap();
        // The program makes it, for `packaging/build`.
        if let Some(folder) = folder.strip_prefix("../../target/generated/") {
            let made = if name.starts_with('*') { folder.to_owned() } else { format!("{folder}/{name}") };
            assert!(
                build.contains(&format!("\"$generated/{made}\"")),
                "packaging/build does not make {path}"
            );
            continue;
        }
        let end = name.trim_start_matches('*');
        let files = std::fs::read_dir(home.join(folder)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
        assert!(
            names.any(|file| file == name || name.starts_with('*') && file.ends_with(end)),
            "no file {path}"
        );
    }
}

#[test]
fn every_recipe_has_the_version_of_the_workspace() {
    let workspace = manifest(root());
    let version = workspace["workspace"]["package"]["version"].as_str().unwrap();
    for (recipe, words) in [
        ("packaging/nix/flake.nix", format!("version = \"{version}\";")),
        ("packaging/homebrew/afteryou.rb", format!("/v{version}.tar.gz\"")),
        ("CITATION.cff", format!("version: {version}\n")),
        ("python/Cargo.toml", format!("version = \"{version}\"\n")),
    ] {
        let text = std::fs::read_to_string(root().join(recipe)).unwrap();
        assert!(text.contains(&words), "{recipe} has not {words}");
    }
}

/// Returns the names of the examples of a package: files and folders in `examples/`, and what its manifest adds.
fn examples(package: &Path) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(package.join("Cargo.toml")).expect("a manifest");
    let sections = manifest.split("[[example]]").skip(1);
    let named = sections.map(|section| section.split('"').nth(1).expect("a name").to_owned());
    let files = std::fs::read_dir(package.join("examples")).into_iter().flatten();
    // Programs in other languages are beside them.
    let is_ours = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|rs| rs == "rs");
    let paths = files.map(|file| file.expect("readable").path()).filter(is_ours);
    let stem = |path: PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    // A section may name a file that is found without it.
    named.chain(paths.map(stem)).collect()
}

#[test]
fn no_two_examples_of_the_workspace_overwrite_each_other() {
    let packages = afteryou_structure::packages(root()).unwrap();
    let mut names: Vec<String> = packages.iter().flat_map(|package| examples(package)).collect();
    names.sort();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(names.contains(&"speed".to_owned()) && twice.is_empty(), "{twice:?}");
}

/// Cargo then builds the tests only, and `.ci/run` has no program to run, or one of a build before.
#[test]
fn no_example_is_a_test() {
    let mut tests = Vec::new();
    for package in afteryou_structure::packages(root()).unwrap() {
        let examples =
            manifest(&package).get("example").and_then(Value::as_array).cloned().unwrap_or_default();
        let is_test = |example: &Value| example.get("test").is_some_and(|test| test == &Value::Boolean(true));
        tests.extend(examples.into_iter().filter(is_test).map(|example| example["name"].to_string()));
    }
    assert_eq!(tests, Vec::<String>::new(), "move their tests to the package's");
}

/// What a wing may use beside itself. Tests may use more: a transport is tried over a queue and on the testbed.
const BELOW: &[(&str, &[&str])] = &[
    ("crates/transport", &[]),
    ("crates/lab", &["crates/transport"]),
    ("crates/transfer", &["crates/transport"]),
    ("web", &["crates/transport", "crates/lab"]),
];

#[test]
fn a_wing_uses_only_the_wings_below_it() {
    let folders = afteryou_structure::packages(root()).unwrap();
    let here = |folder: &Path| folder.strip_prefix(root()).unwrap().display().to_string();
    let name = |folder: &PathBuf| manifest(folder)["package"]["name"].as_str().unwrap().to_owned();
    let homes: Vec<(String, String)> = folders.iter().map(|folder| (name(folder), here(folder))).collect();
    let mut against = Vec::new();
    for folder in &folders {
        let crate_folder = here(folder);
        let Some((wing, below)) = BELOW.iter().find(|(wing, _)| crate_folder.starts_with(wing)) else {
            continue;
        };
        for (used, home) in homes.iter().filter(|(used, _)| uses(folder, used)) {
            let allowed = home.starts_with(wing) || below.iter().any(|wing| home.starts_with(wing));
            if !allowed {
                against.push((crate_folder.clone(), used.trim_start_matches("afteryou-").to_owned()));
            }
        }
    }
    assert_eq!(
        against,
        Vec::<(String, String)>::new(),
        "a crate and what it uses of a wing that is not below"
    );
}

/// Returns whether the crate itself, not its tests, depends on `package`.
fn uses(folder: &Path, package: &str) -> bool {
    let manifest = manifest(folder);
    let systems = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = systems.map(|(_, system)| system).filter_map(Value::as_table).chain([&manifest]);
    let mut dependencies = tables.filter_map(|table| table.get("dependencies")?.as_table());
    dependencies.any(|dependencies| dependencies.contains_key(package))
}
