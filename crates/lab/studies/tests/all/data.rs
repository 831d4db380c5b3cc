//! The papers' files: every name in them is there, every point is a scenario, and no check is empty.

use afteryou_studies::{choice, exact, judge, measure, papers, At, Chosen, Extent, Grid};
use std::collections::BTreeSet;

fn all() -> Vec<Chosen> {
    choice::all().unwrap()
}

fn grids() -> Vec<&'static Grid> {
    papers::all().unwrap().iter().flat_map(|paper| &paper.grids).collect()
}

#[test]
fn names_of_entries_checks_and_grids_are_unique() {
    for paper in papers::all().unwrap() {
        let mut seen = BTreeSet::new();
        assert!(paper.entries.iter().all(|entry| seen.insert(entry.id.clone())), "{}: {seen:?}", paper.id);
        let mut seen = BTreeSet::new();
        assert!(paper.grids.iter().all(|grid| seen.insert(grid.id.clone())), "{}: {seen:?}", paper.id);
    }
    for Chosen { paper, entry } in all() {
        let mut seen = BTreeSet::new();
        let ids = entry.checks.iter().map(|check| &check.id).chain(entry.exact.iter().map(|exact| &exact.id));
        for id in ids {
            assert!(seen.insert(id), "{}/{}: {id} is there twice", paper.id, entry.id);
        }
    }
}

#[test]
fn every_measure_judgement_and_function_that_a_check_names_is_there() {
    for chosen in all() {
        let entry = chosen.entry;
        for check in &entry.checks {
            let place = format!("{}/{}/{}", chosen.paper.id, entry.id, check.id);
            assert!(measure::find(&check.measure.name).is_ok(), "{place}: measure {:?}", check.measure.name);
            assert!(judge::find(&check.judge.name).is_ok(), "{place}: judgement {:?}", check.judge.name);
            assert!(chosen.grid(check).is_ok(), "{place}: grid {:?}", check.grid);
        }
        for exact in &entry.exact {
            for case in &exact.cases {
                let value = exact::compute(&exact.function, &case.inputs);
                assert!(value.is_ok(), "{}/{}/{}: {value:?}", chosen.paper.id, entry.id, exact.id);
                assert!(
                    case.value.is_some() || case.band.judges(),
                    "{}/{}: a case without a value",
                    entry.id,
                    exact.id
                );
            }
        }
    }
}

#[test]
fn every_point_of_every_grid_is_a_scenario_also_of_the_quick_run() {
    for grid in grids() {
        for extent in [Extent::Usual, Extent::Quick] {
            let points = grid.points(extent);
            assert!(!points.is_empty(), "{}: no points", grid.id);
            for point in points {
                let made = point.scenario(grid, 1);
                assert!(made.is_ok(), "{}: {}\n{}", grid.id, point.words_without(&[]), made.err().unwrap());
            }
        }
    }
}

#[test]
fn every_label_that_a_check_or_a_thinner_axis_names_is_on_the_axis() {
    let labels = |grid: &Grid, name: &str| -> Option<Vec<String>> {
        let axis = grid.axes.iter().find(|axis| axis.name == name)?;
        Some(axis.values.iter().map(|value| value.label()).collect())
    };
    let known = |grid: &Grid, at: &At, place: &str| {
        for (name, wanted) in &at.0 {
            let labels =
                labels(grid, name).unwrap_or_else(|| panic!("{place}: {} has no axis {name:?}", grid.id));
            for label in wanted.all() {
                assert!(labels.contains(label), "{place}: {name} has no {label:?}: {labels:?}");
            }
        }
    };
    for grid in grids() {
        known(grid, &grid.defaults(), &grid.id);
        for axis in &grid.axes {
            let labels = labels(grid, &axis.name).unwrap();
            let quick = axis.quick.iter().flatten();
            assert!(
                quick.clone().all(|label| labels.contains(label)),
                "{}: {}: {:?}",
                grid.id,
                axis.name,
                axis.quick
            );
        }
    }
    for chosen in all() {
        for check in &chosen.entry.checks {
            let place = format!("{}/{}/{}", chosen.paper.id, chosen.entry.id, check.id);
            known(chosen.grid(check).unwrap(), &check.at, &place);
        }
    }
}

#[test]
fn every_file_of_the_scenarios_of_papers_and_questions_is_built_in() {
    let folder = |name: &str| format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
    let entries =
        ["papers", "questions"].into_iter().flat_map(|name| std::fs::read_dir(folder(name)).unwrap());
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    let mut built_in: Vec<String> = papers::scenarios().map(str::to_owned).collect();
    files.sort();
    built_in.sort();
    assert_eq!(files, built_in);
}

#[test]
fn our_own_questions_are_run_only_if_they_are_named() {
    let chosen = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        choice::named(&names).unwrap()
    };
    assert!(!chosen(&[]).is_empty() && chosen(&[]).iter().all(|chosen| chosen.paper.id != "questions"));
    assert!(chosen(&["questions"]).iter().all(|chosen| chosen.paper.id == "questions"));
    assert_eq!(chosen(&["questions/classify"]).len(), 1);
}

#[test]
fn every_explained_miss_names_an_entry_a_check_and_the_runs_that_explain_it() {
    for paper in papers::all().unwrap() {
        let misses = papers::known(&paper.id).unwrap();
        for miss in misses.full.iter().chain(&misses.quick) {
            let entry = paper.entries.iter().find(|entry| entry.id == miss.entry);
            let entry = entry.unwrap_or_else(|| panic!("{}: there is no entry {:?}", paper.id, miss.entry));
            let mut ids =
                entry.checks.iter().map(|check| &check.id).chain(entry.exact.iter().map(|exact| &exact.id));
            assert!(
                ids.any(|id| *id == miss.check),
                "{}/{}: there is no check {:?}",
                paper.id,
                entry.id,
                miss.check
            );
            let is_shown = miss
                .shown_by
                .as_ref()
                .is_none_or(|id| entry.checks.iter().any(|c| c.id == *id && c.explains));
            assert!(is_shown, "{}/{}: there is no explaining check {:?}", paper.id, entry.id, miss.shown_by);
            assert!(
                miss.shown_by.is_some() || miss.quotes.len() >= 2,
                "{}/{}: no evidence",
                paper.id,
                entry.id
            );
        }
    }
}

#[test]
fn every_function_has_a_name_of_its_own() {
    let names: Vec<&str> = afteryou_studies::exact::all().map(|function| function.name).collect();
    let different: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(
        different.len(),
        names.len(),
        "the first of two functions with one name hides the other: {names:?}"
    );
}
