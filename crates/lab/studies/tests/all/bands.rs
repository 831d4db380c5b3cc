//! Bands are in two places: in the papers' data, and in a table that was made from the papers' protocols by itself. Each band of the
//! one has to be in the other: a band that is changed in one of them alone is noticed. Every limit and every override is in a file whose
//! changes are visible.

use afteryou_studies::{choice, papers, Band, Case, Chosen, Entry};
use std::collections::BTreeSet;
use std::fmt::Write;

/// `paper,entry,what,min,max`.
const TABLE: &str = include_str!("bands.csv");
/// Entries of the five papers.
const ENTRIES: usize = 113;
/// Entries that may be without a band: context, and proposals that nobody tested.
const WITHOUT: [&str; 6] = [
    "gong2012/intro-half-bittorrent",
    "carofiglio2013/fig1a",
    "kuhn2014/fig2-text-consistency",
    "kuhn2014/intro-ntcp",
    "bagnulo2022/s5.1.3-fix1",
    "bagnulo2022/s5.1.3-fix2",
];

fn name(chosen: &Chosen) -> String {
    format!("{}/{}", chosen.paper.id, chosen.entry.id)
}

fn limit(text: &str) -> Option<f64> {
    (!text.is_empty()).then(|| text.parse::<f64>().unwrap())
}

/// Returns the limits of an entry's deciding checks and cases, each with its name.
fn limits(entry: &Entry) -> Vec<(String, Band)> {
    let checks = entry.checks.iter().filter(|check| !check.explains && check.band.judges());
    let cases = entry
        .exact
        .iter()
        .flat_map(|exact| exact.cases.iter().map(|case| (exact.id.clone(), exact.band(case))));
    checks.map(|check| (check.id.clone(), check.band)).chain(cases).collect()
}

/// Returns the bands of an entry as its paper's protocol states them: a case with a value without its tolerance.
fn stated(entry: &Entry) -> Vec<Band> {
    let checks = entry.checks.iter().filter(|check| !check.explains).map(|check| check.band);
    let value =
        |case: &Case| case.value.map_or(case.band, |value| Band { min: Some(value), max: Some(value) });
    checks.chain(entry.exact.iter().flat_map(|exact| exact.cases.iter().map(value))).collect()
}

#[test]
fn every_band_of_the_table_is_a_band_of_the_data() {
    let all = choice::all().unwrap();
    let mut lines = TABLE.lines().enumerate();
    assert_eq!(lines.next().unwrap().1, "paper,entry,what,min,max");
    for (number, line) in lines {
        let [paper, id, what, min, max] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("line {}: {line}", number + 1);
        };
        let (min, max) = (limit(min), limit(max));
        let entry = all.iter().find(|chosen| chosen.paper.id == paper && chosen.entry.id == id);
        let entry = entry.unwrap_or_else(|| panic!("there is no {paper}/{id}")).entry;
        if min.is_none() && max.is_none() {
            assert!(WITHOUT.contains(&&*format!("{paper}/{id}")), "{paper}/{id} has a band");
            continue;
        }
        let stated = stated(entry);
        let found = stated.contains(&Band { min, max });
        assert!(found, "{paper}/{id}, {what}: {min:?} to {max:?} is not among {stated:?}");
    }
}

/// Returns the table's limits of an entry.
fn of_table(chosen: &Chosen) -> Vec<Band> {
    let fields = |line: &'static str| line.split(',').collect::<Vec<_>>();
    let ours = TABLE.lines().map(fields).filter(|fields| {
        let [paper, id] = [fields[0], fields[1]];
        paper == chosen.paper.id && id == chosen.entry.id
    });
    ours.map(|fields| Band { min: limit(fields[3]), max: limit(fields[4]) }).collect()
}

#[test]
fn every_band_of_the_data_is_in_the_table() {
    for chosen in choice::named(&[]).unwrap() {
        let table = of_table(&chosen);
        for band in stated(chosen.entry).into_iter().filter(|band| band.judges()) {
            assert!(table.contains(&band), "{}: {band:?} is not among {table:?}", name(&chosen));
        }
    }
}

#[test]
fn there_are_as_many_entries_as_the_papers_have_and_each_but_six_has_a_band() {
    let papers: Vec<Chosen> = choice::named(&[]).unwrap();
    let names: BTreeSet<String> = papers.iter().map(name).collect();
    assert_eq!((papers.len(), names.len()), (ENTRIES, ENTRIES));
    let without: BTreeSet<String> =
        papers.iter().filter(|chosen| limits(chosen.entry).is_empty()).map(name).collect();
    assert_eq!(without, WITHOUT.map(str::to_owned).into());
}

/// Compares `text` with a file beside this one, or writes the file if `UPDATE_GOLDEN` is set.
#[track_caller]
fn is_golden(file: &str, text: &str) {
    let path = format!("{}/tests/all/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        golden == text,
        "{file} differs: look at the change, then UPDATE_GOLDEN=1 cargo test -p afteryou-studies bands"
    );
}

#[test]
fn every_limit_is_in_the_list_of_limits() {
    let mut text = String::new();
    for chosen in choice::named(&[]).unwrap() {
        for (check, band) in limits(chosen.entry) {
            let end = |limit: Option<f64>| limit.map(|limit| limit.to_string()).unwrap_or_default();
            writeln!(text, "{},{check},{},{}", name(&chosen), end(band.min), end(band.max)).unwrap();
        }
    }
    is_golden("limits.csv", &text);
}

#[test]
fn every_override_of_the_common_settings_is_in_the_list_of_overrides() {
    let mut text = String::new();
    for paper in papers::all().unwrap().iter().filter(|paper| !paper.by_name) {
        for grid in &paper.grids {
            writeln!(text, "{}/{}: {}", paper.id, grid.id, grid.scenario).unwrap();
            for assignment in &grid.set {
                writeln!(text, "    {assignment}").unwrap();
            }
            for axis in &grid.axes {
                let number = axis.values.len();
                let default = axis
                    .default
                    .as_ref()
                    .map(|default| format!(", by default {default}"))
                    .unwrap_or_default();
                let key = axis.key.as_deref().unwrap_or("several");
                writeln!(text, "    {}: {number} values of {key}{default}", axis.name).unwrap();
            }
        }
    }
    is_golden("overrides.txt", &text);
}
