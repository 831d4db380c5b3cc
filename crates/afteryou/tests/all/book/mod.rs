//! The book's pages about controllers and queues, made from the lists of them, their sources and the simulator.
//!
//! `UPDATE_BOOK=1 cargo test -p afteryou --test all book` writes them; without it, this asserts that what is committed is what
//! would be written. Everything in `docs/src/controllers` and `docs/src/queues` is made here; what people write about a
//! controller goes into `docs/notes/<page>.md`, about a queue into `docs/notes/queues/<page>.md`, and becomes a section of
//! its page.

mod alone;
mod bad_cases;
mod beside_bbr;
mod controllers;
mod drawn;
mod ebb;
mod elements;
mod encounters;
mod first_experiment;
mod gallery;
mod goodput;
mod header;
mod league;
mod links;
mod page;
mod papers;
mod queues;
mod words;
mod your_network;

use afteryou_aqm::list::QUEUES;
use afteryou_cc::list::CONTROLLERS;
use afteryou_engines::each;
use afteryou_scenario::Algorithm;
use afteryou_scenario_file::Experiment;
use bad_cases::BadCase;
use gallery::Exhibit;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const UPDATE: &str = "UPDATE_BOOK=1 cargo test -p afteryou --test all book";

/// More would take the machine from the tests beside us.
const THREADS: usize = 2;

/// Returns true for a picture that git does not have. The numbers beside those of controllers, and the pages, show reviewers what a change moves.
fn is_drawn(name: &str) -> bool {
    name.ends_with(".svg") && FOLDERS.iter().any(|folder| name.starts_with(&format!("{folder}/")))
}

/// Folders below `docs/src` in which everything is made here.
const FOLDERS: [&str; 5] = ["controllers", "controllers/gallery", "ebb", "gallery", "queues"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn docs() -> PathBuf {
    root().join("docs")
}

/// Returns the text of a file, if it is there.
fn text(file: &Path) -> Option<String> {
    // A checkout may have other line ends.
    std::fs::read_to_string(file).ok().map(|text| text.replace("\r\n", "\n"))
}

/// Returns the notes by hand, by their path below `docs/notes`.
fn notes(path: &str) -> Option<String> {
    text(&docs().join("notes").join(path))
}

/// Returns every generated file, by its path below `docs/src`.
fn book() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    about_controllers(&mut files);
    about_queues(&mut files);
    files.extend(elements::pages());
    files.extend(first_experiment::figures());
    files.extend(ebb::files());
    files.extend(league::files());
    files.insert("your-network.md".to_owned(), your_network::page());
    let summary = text(&docs().join("src/SUMMARY.md")).expect("docs/src/SUMMARY.md is there");
    let summary = queues::chapter().listed_in(&controllers::chapter().listed_in(&summary));
    files.insert("SUMMARY.md".to_owned(), summary);
    files
}

fn about_controllers(files: &mut BTreeMap<String, String>) {
    let entries: Vec<_> = CONTROLLERS.iter().collect();
    let exhibits = each(&entries, THREADS, |entry| Exhibit::new(entry));
    let bad_cases = each(&entries, THREADS, |entry| BadCase::new(&words::page(entry.name)));
    for ((entry, exhibit), bad_case) in CONTROLLERS.iter().zip(&exhibits).zip(&bad_cases) {
        let page = words::page(entry.name);
        let notes = notes(&format!("{page}.md"));
        let sources = root().join("crates/transport/cc/src");
        let written =
            controllers::controller_page(entry, &sources, notes.as_deref(), bad_case, &exhibit.line());
        files.insert(format!("controllers/{page}.md"), written);
        files.insert(format!("controllers/gallery/{page}.txt"), exhibit.text());
        files.insert(format!("controllers/gallery/{page}.svg"), exhibit.picture());
        files.insert(format!("controllers/gallery/{page}-bad-case.svg"), bad_case.picture());
    }
    files.insert("controllers/README.md".to_owned(), controllers::overview());
    files.insert("controllers/gallery.md".to_owned(), gallery::gallery_page(&exhibits));
    files.insert("controllers/alone.md".to_owned(), alone::alone_page(alone::runs()));
    files.insert("controllers/beside-bbr.md".to_owned(), beside_bbr::page_of_pairs());
    files.insert("controllers/goodput.md".to_owned(), goodput::goodput_page(goodput::runs()));
}

fn about_queues(files: &mut BTreeMap<String, String>) {
    let runs = encounters::runs();
    for entry in QUEUES {
        let page = words::page(entry.name);
        let notes = notes(&format!("queues/{page}.md"));
        let written = queues::queue_page(entry, &root().join("crates/lab/aqm/src"), notes.as_deref(), runs);
        files.insert(format!("queues/{page}.md"), written);
    }
    files.insert("queues/README.md".to_owned(), queues::overview(runs));
}

/// Returns the files that nobody makes any more, below `docs/src`.
fn stale(files: &BTreeMap<String, String>) -> Vec<String> {
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(docs().join("src").join(folder)).into_iter().flatten().flatten();
        let present = entries.filter(|entry| entry.path().is_file());
        let names = present.map(|entry| format!("{folder}/{}", entry.file_name().to_string_lossy()));
        names.collect::<Vec<_>>()
    };
    let present = FOLDERS.into_iter().flat_map(in_folder);
    present.filter(|name| !files.contains_key(name)).collect()
}

fn write(files: &BTreeMap<String, String>) {
    for name in stale(files) {
        std::fs::remove_file(docs().join("src").join(name)).expect("a file that can be removed");
    }
    for folder in FOLDERS {
        std::fs::create_dir_all(docs().join("src").join(folder)).expect("a folder");
    }
    for (name, written) in files {
        let file = docs().join("src").join(name);
        if text(&file).as_ref() != Some(written) {
            std::fs::write(&file, written).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
}

/// Returns the first line that differs.
fn difference(committed: &str, made: &str) -> String {
    let lines = committed.lines().zip(made.lines()).enumerate();
    let differs = lines.into_iter().find(|(_, (committed, made))| committed != made);
    match differs {
        Some((i, (committed, made))) => format!("line {} is\n  {committed}\nand should be\n  {made}", i + 1),
        None => "it ends too early or too late".to_owned(),
    }
}

#[test]
fn the_book_is_what_would_be_made_today() {
    let files = book();
    if std::env::var_os("UPDATE_BOOK").is_some() {
        write(&files);
    }
    let (drawn, written): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| is_drawn(name));
    assert!(drawn.len() >= 50, "only {} pictures are drawn", drawn.len());
    for (name, picture) in &drawn {
        assert!(picture.starts_with("<svg") && picture.contains("<polyline"), "{name} has no curve");
    }
    for (name, made) in written {
        let committed = text(&docs().join("src").join(name)).unwrap_or_default();
        assert!(
            committed == *made,
            "docs/src/{name} is not current: {}\nRun {UPDATE}, look at the changes, and commit them",
            difference(&committed, made)
        );
    }
    assert_eq!(stale(&files), Vec::<String>::new(), "nobody makes these any more: run {UPDATE}");
    let drawn: Vec<PathBuf> = drawn.iter().map(|(name, _)| docs().join("src").join(name)).collect();
    assert_eq!(links::broken(&docs().join("src"), &drawn), Vec::<String>::new(), "links that lead nowhere");
}

#[test]
fn every_page_is_in_the_table_of_contents_and_includes_no_other_file() {
    assert_eq!(links::unbuildable(&docs().join("src")), Vec::<String>::new());
}

#[test]
fn every_link_of_the_pages_outside_the_book_leads_to_a_file() {
    let pages = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "packaging/README.md",
        "python/README.md",
    ];
    assert_eq!(links::broken_outside(&pages.map(|page| root().join(page))), Vec::<String>::new());
    assert_eq!(links::broken(&docs().join("decisions"), &[]), Vec::<String>::new());
}

#[test]
fn nobody_lies_at_the_floor_unless_its_rule_says_so() {
    let runs = goodput::runs();
    assert_eq!(goodput::stuck(runs), Vec::<String>::new());
    assert_eq!(goodput::needless(runs), Vec::<String>::new(), "take these out of the exceptions");
}

#[test]
fn nobody_leaves_more_than_four_tenths_of_a_slow_link_unused_that_it_has_for_itself() {
    assert_eq!(alone::idle(alone::runs()), Vec::<String>::new());
}

#[test]
fn every_scenario_in_the_book_runs() {
    let of_queues = QUEUES.iter().flat_map(queues::scenarios);
    for file in CONTROLLERS.iter().map(controllers::scenario).chain(of_queues) {
        let experiment =
            Experiment::parse(&file, "backup.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let planned = &experiment.runs(None, None).expect("one run")[0];
        let outcome =
            afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(())).expect("a run");
        assert!(outcome.run.totals.iter().all(|totals| totals.received_bytes > 0), "{file}");
    }
}

#[test]
fn every_queue_in_the_book_can_be_named_on_the_command_line() {
    for entry in QUEUES {
        let with_parameter = entry.params.iter().map(|param| page::in_option(entry.name, param));
        let with_preset = entry.presets.iter().map(|preset| format!("{},preset={}", entry.name, preset.name));
        for words in with_parameter.chain(with_preset) {
            let queue: Algorithm = words.parse().expect("a name and a parameter");
            let found = afteryou_scenario::discipline(&queue);
            assert!(found.is_ok(), "{words}: {:?}", found.err());
        }
    }
}
