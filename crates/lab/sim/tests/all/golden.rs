//! The same bits on every machine: hashes of what twelve scenarios measure, in fixed decimals. Hashed are the fields of
//! outcome schema 1, projected one by one, so that a new field of an outcome moves no hash.
//!
//! A hash that changes means that results have changed for somebody. If that is meant, run `UPDATE_GOLDEN=1 cargo test -p
//! afteryou-sim --test all golden` and commit the new hashes alone, with the reason.

mod schema1;

use afteryou_scenario_file::Experiment;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Writes every number with six decimals: how a machine prints floats does not matter, nor does a last bit.
fn fixed(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => {
            let _ = write!(text, "{:.6};", number.as_f64().unwrap_or(f64::NAN) + 0.0);
        }
        Value::Array(values) => values.iter().for_each(|value| fixed(value, text)),
        // Sorted: whether a map keeps its order depends on features that other crates switch on.
        Value::Object(fields) => {
            fields.iter().collect::<BTreeMap<_, _>>().into_iter().for_each(|(name, value)| {
                let _ = write!(text, "{name}:");
                fixed(value, text);
            })
        }
        other => {
            let _ = write!(text, "{other};");
        }
    }
}

/// Returns the hash of what a file's runs measure.
fn hash(path: &Path) -> String {
    let experiment = Experiment::read(path, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut text = String::new();
    for planned in experiment.runs(None, None).unwrap() {
        let outcome = afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(())).unwrap();
        fixed(&schema1::run(&outcome.run), &mut text);
        fixed(&outcome.baseline.as_ref().map_or(Value::Null, schema1::run), &mut text);
    }
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

#[test]
fn twelve_scenarios_give_the_same_bits_as_on_every_other_machine() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    assert_eq!(files.len(), 12);
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let measured: BTreeMap<String, String> = files.iter().map(|path| (name(path), hash(path))).collect();
    let golden = folder().join("hashes.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, serde_json::to_string_pretty(&measured).unwrap() + "\n").unwrap();
    }
    let expected: BTreeMap<String, String> =
        serde_json::from_str(&std::fs::read_to_string(&golden).unwrap()).unwrap();
    assert_eq!(measured, expected);
}
