//! The built command finds the controller by its name.

use std::process::{Command, Output};

fn run(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_own-controller")).args(words).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn the_list_has_it_beside_the_built_in_ones() {
    let output = run(&["list", "controllers"]);
    assert!(text(&output.stdout).contains("polite (background"), "{}", text(&output.stdout));
    let output = run(&["list", "controllers", "--json"]);
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<_> = all.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"ledbat++") && names.last() == Some(&"polite"), "{names:?}");
}

#[test]
fn the_simulator_takes_its_scenario_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/polite.toml");
    let output = run(&["sim", file, "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("\"polite\""));
}

#[test]
fn the_demo_takes_it_and_checks_its_parameters() {
    let refusal = |controller: &str| {
        let output = run(&["demo", "--controller", controller]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr).to_owned()
    };
    assert!(refusal("polit").contains("did you mean \"polite\"?"));
    assert!(refusal("polite,limit=2s")
        .contains("polite: limit = 2000 ms is outside its range: use 1 ms to 1000 ms"));
}

#[test]
fn it_takes_part_in_the_league_and_its_score_does_not_change_anybody_elses() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().to_str().unwrap();
    let line = |names: &[&str]| {
        let output = run(&[&["league", "--quick", "--cache", cache], names].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = text(&output.stdout).to_owned();
        let of = |name: &str| {
            let line = table.lines().find(|line| line.contains(&format!(" {name} ")))?;
            Some(line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
        };
        [of("polite"), of("nice")]
    };
    let [polite, nice] = line(&["polite", "nice"]);
    assert!(polite.is_some() && nice.is_some());
    assert_eq!(line(&["nice"])[1], nice);
}
