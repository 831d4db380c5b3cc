//! Stored results: those of earlier formats, written by the programs that had them, are read as outcomes of this format.

#[path = "../../../sim/tests/all/golden/schema1.rs"]
mod schema1;

use afteryou_scenario::content::ContentHash;
use afteryou_scenario::outcome::{content_hash, ReadError, SCHEMA_VERSION};
use afteryou_scenario::Outcome;
use serde_json::Value;

/// Format 1 of each engine.
pub const STORED: [(&str, &str); 3] = [
    ("sim", include_str!("../results/schema1-sim.json")),
    ("fluid", include_str!("../results/schema1-fluid.json")),
    ("bed", include_str!("../results/schema1-bed.json")),
];

/// Format 2: the second repetition, whose number is 1 there.
const STORED_2: &str = include_str!("../results/schema2-sim.json");

#[test]
fn a_result_of_format_1_keeps_every_figure_and_becomes_one_of_this_format() {
    for (engine, text) in STORED {
        let stored: Value = serde_json::from_str(text).unwrap();
        assert_eq!(stored["schema_version"], 1);
        let outcome = Outcome::from_json(text).unwrap_or_else(|error| panic!("{engine}: {error}"));
        assert_eq!((outcome.schema_version, outcome.engine.as_str()), (SCHEMA_VERSION, engine));
        assert_eq!(schema1::run(&outcome.run), stored["run"], "{engine}");
        let baseline = outcome.baseline.as_ref().map_or(Value::Null, schema1::run);
        assert_eq!(baseline, stored["baseline"], "{engine}");
        let new = serde_json::to_value(&outcome).unwrap();
        for same in ["afteryou_version", "scenario", "transfers", "checks", "verdict"] {
            assert_eq!(new[same], stored[same], "{engine}: {same}");
        }
        assert_eq!(without_completion_times(&new["comparison"]), stored["comparison"], "{engine}");
        assert_eq!(
            (&stored["repetition"], outcome.repetition),
            (&0.into(), 1),
            "{engine}: counted from 1 now"
        );
    }
}

/// Returns the comparisons as formats before 4 had them.
fn without_completion_times(comparison: &Value) -> Value {
    let mut comparison = comparison.clone();
    for compared in comparison.as_array_mut().into_iter().flatten() {
        let fields = compared.as_object_mut().unwrap();
        fields.retain(|name, _| !name.contains("completion") && !name.contains("transfers"));
    }
    comparison
}

#[test]
fn a_result_of_format_3_gets_the_completion_times_that_it_has() {
    let mut stored: Value = serde_json::from_str(STORED_2).unwrap();
    stored["schema_version"] = 3.into();
    stored["repetition"] = 2.into();
    let flow = stored["comparison"][0]["flow"].as_str().expect("a comparison").to_owned();
    let flows = stored["scenario"]["flow"].as_array_mut().unwrap();
    let of_flow = flows.iter_mut().find(|of| of["name"] == *flow).unwrap();
    of_flow["traffic"] = serde_json::json!({ "size": "1 MB" });
    for (run, took_s) in [("run", 3.2), ("baseline", 2.5)] {
        stored[run]["totals"] = serde_json::json!([{
            "flow": flow, "packets": 9, "retransmissions": 0, "losses": 0, "spurious": 0, "timeouts": 0,
            "received_bytes": 9, "completed_in_s": took_s,
        }]);
    }
    let outcome = Outcome::from_json(&stored.to_string()).unwrap();
    assert_eq!(outcome.schema_version, SCHEMA_VERSION);
    let cost = outcome.comparison[0].completion;
    assert_eq!((cost.completion_mean_s, cost.baseline_completion_mean_s), (Some(3.2), Some(2.5)));
    assert_eq!(cost.completion_mean_ratio, Some(1.28));
    // Everything else is as it was.
    let mut new = serde_json::to_value(&outcome).unwrap();
    new["comparison"] = without_completion_times(&new["comparison"]);
    stored["schema_version"] = SCHEMA_VERSION.into();
    let hash = new["content_hash"].clone();
    stored["content_hash"] = hash;
    assert_eq!(new, stored);
}

#[test]
fn a_result_of_format_2_differs_in_format_and_number_of_the_repetition_alone() {
    let mut stored: Value = serde_json::from_str(STORED_2).unwrap();
    assert_eq!((&stored["schema_version"], &stored["repetition"]), (&2.into(), &1.into()));
    let outcome = Outcome::from_json(STORED_2).unwrap();
    assert_eq!(outcome.repetition, 2);
    // The file's seed is 1, and each repetition has the next.
    assert_eq!(outcome.scenario.seed, 2);
    stored["schema_version"] = SCHEMA_VERSION.into();
    stored["repetition"] = 2.into();
    let mut new = serde_json::to_value(&outcome).unwrap();
    new["comparison"] = without_completion_times(&new["comparison"]);
    assert_eq!(new, stored);
}

#[test]
fn a_result_without_the_number_of_a_repetition_is_of_the_first() {
    for (format, text) in [(1, STORED[0].1), (2, STORED_2), (3, STORED_2), (SCHEMA_VERSION, STORED_2)] {
        let mut stored: Value = serde_json::from_str(text).unwrap();
        stored["schema_version"] = format.into();
        stored.as_object_mut().unwrap().remove("repetition").unwrap();
        assert_eq!(Outcome::from_json(&stored.to_string()).unwrap().repetition, 1, "format {format}");
    }
}

#[test]
fn a_repetition_0_of_this_format_is_refused() {
    let mut stored: Value = serde_json::from_str(STORED_2).unwrap();
    stored["schema_version"] = SCHEMA_VERSION.into();
    stored["repetition"] = 0.into();
    let error = Outcome::from_json(&stored.to_string()).unwrap_err();
    assert!(matches!(error, ReadError::NotAnOutcome(_)), "{error:?}");
    assert!(error.to_string().contains("repetition is 0, and the first is 1"), "{error}");
}

#[test]
fn a_result_reads_back_as_itself() {
    for (engine, text) in STORED.into_iter().chain([("sim", STORED_2)]) {
        let outcome = Outcome::from_json(text).unwrap();
        let written = serde_json::to_string(&outcome).unwrap();
        assert!(Outcome::from_json(&written).unwrap() == outcome, "{engine}");
    }
}

#[test]
fn the_content_hash_is_that_of_engine_version_and_scenario_alone() {
    let mut hashes: Vec<String> = Vec::new();
    for (engine, text) in STORED {
        let outcome = Outcome::from_json(text).unwrap();
        let stored: Value = serde_json::from_str(text).unwrap();
        // Made of the file that another program wrote, by other means than the function.
        let hashed = serde_json::json!({
            "scenario": stored["scenario"],
            "engine": engine,
            "afteryou_version": "0.1.0",
        });
        assert_eq!(outcome.content_hash, ContentHash::of(&hashed).unwrap(), "{engine}");
        let mut other = outcome.scenario.clone();
        other.seed += 1;
        hashes.extend([
            outcome.content_hash.to_string(),
            content_hash(engine, "0.1.0", &other).to_string(),
            content_hash(engine, "0.1.1", &outcome.scenario).to_string(),
            content_hash("another", "0.1.0", &outcome.scenario).to_string(),
        ]);
    }
    let (all, first) = (hashes.len(), hashes[0].clone());
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), all);
    // The same on every machine and in every later version that calls this scenario the same.
    assert_eq!(first, "2989b9c1875314a77b64003b51570a2b8805e3198ad49d7760e7bb2a73003ec0");
}

#[test]
fn what_format_1_has_of_each_link_is_found_at_that_link() {
    let outcome = Outcome::from_json(STORED[0].1).unwrap();
    let [bottleneck, back] = outcome.run.links.as_slice() else { panic!("{:?}", outcome.run.links) };
    assert_eq!((bottleneck.link.as_str(), back.link.as_str()), ("bottleneck", "reverse path"));
    assert_eq!((bottleneck.capacity_bit_s, back.capacity_bit_s), (5e6, 1e6));
    assert_eq!((bottleneck.discipline.as_str(), back.discipline.as_str()), ("le_pie", "droptail"));
    assert!(
        bottleneck.packets.is_some() && back.packets.is_none(),
        "it counts packets at the bottleneck only"
    );
    assert!(bottleneck.ledger.as_ref().unwrap().balances() && back.ledger.as_ref().unwrap().balances());
    let compared = outcome.link_comparison.iter().find(|link| link.window == "early").unwrap();
    // Uploads and call together, beside and without the background: from the figures of the flows.
    let goodput = |run: &afteryou_scenario::outcome::Run| -> f64 {
        let window = run.windows.iter().find(|window| window.window == "early").unwrap();
        let foreground = ["call", "upload"];
        let flows = window.flows.iter().filter(|flow| foreground.contains(&flow.flow.as_str()));
        flows.map(|flow| flow.goodput_bit_s).sum()
    };
    let kept = goodput(&outcome.run) / goodput(outcome.baseline.as_ref().unwrap());
    assert_eq!((compared.link.as_str(), compared.kept), ("bottleneck", Some(kept)));
}

#[test]
fn a_curve_of_the_reverse_path_gets_its_name_in_this_format_unless_it_is_a_flows() {
    let of_first_curve = |of: &str, flow: &str| {
        let mut stored: Value = serde_json::from_str(STORED[0].1).unwrap();
        stored["run"]["series"][0]["of"] = of.into();
        stored["scenario"]["flow"][0]["name"] = flow.into();
        Outcome::from_json(&stored.to_string()).unwrap().run.series[0].of.clone()
    };
    assert_eq!(of_first_curve("way back", "call"), "reverse path");
    assert_eq!(of_first_curve("way back", "way back"), "way back");
    assert_eq!(of_first_curve("link", "call"), "link");
}

#[test]
fn a_result_of_a_later_format_is_refused_with_the_version_to_use() {
    let text = r#"{"schema_version": 5, "afteryou_version": "9.0.0", "shape": "unknown"}"#;
    let error = Outcome::from_json(text).unwrap_err();
    assert!(matches!(error, ReadError::Newer { found: 5, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the result has format 5, and this afteryou reads formats up to 4: use the version that wrote it (9.0.0), or a newer one"
    );
}

#[test]
fn what_is_no_result_is_refused() {
    for text in [
        "",
        "[]",
        "{}",
        "{\"schema_version\": 0}",
        "{\"schema_version\": 1}",
        "{\"schema_version\": 2}",
        "{\"schema_version\": 3}",
        "{\"schema_version\": 4}",
        "{\"schema_version\": -1}",
    ] {
        let error = Outcome::from_json(text).unwrap_err();
        assert!(matches!(error, ReadError::NotAnOutcome(_)), "{text}: {error:?}");
    }
}
