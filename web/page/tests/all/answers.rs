//! Answers to requests, as the page's worker gets them.

use serde_json::{json, Value};

const UPLINK: &str = include_str!("../../../../scenarios/home-uplink.toml");

fn ask(request: Value) -> Value {
    serde_json::from_str(&afteryou_page::answer(&request.to_string(), &mut |_| {})).unwrap()
}

#[test]
fn a_run_states_its_result_in_a_sentence_and_reports_its_progress() {
    let mut progress = Vec::new();
    let request = json!({ "ask": "run", "scenario": { "text": UPLINK } });
    let answer = afteryou_page::answer(&request.to_string(), &mut |done| progress.push(done));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let sentence = answer["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("The upload kept "), "{sentence}");
    assert!(
        sentence.contains("the backup took ") && sentence.contains("the call's mean delay"),
        "{sentence}"
    );
    assert!(!progress.is_empty() && progress.is_sorted(), "{progress:?}");
}

#[test]
fn a_mistake_has_its_line_and_its_column_as_on_the_command_line() {
    let text = UPLINK.replace("droptail", "droptial");
    let answer = ask(json!({ "ask": "run", "scenario": { "text": text } }));
    let line = 1 + text.lines().position(|line| line.contains("droptial")).unwrap() as u64;
    assert_eq!(answer["place"][0], line);
    assert!(answer["error"].as_str().unwrap().contains("^^^"), "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("did you mean \"droptail\""), "{answer}");
}

#[test]
fn hostile_requests_get_a_sentence() {
    let huge = UPLINK.replace("20 Mbit/s", "10 Gbit/s").replace("30 s", "1000 s");
    let answer = ask(json!({ "ask": "run", "scenario": { "text": huge } }));
    assert!(answer["message"].as_str().unwrap().contains("and the page takes 100000000"), "{answer}");
    for text in ["", "\u{0}", "link = 5", &"[[flow]]\n".repeat(100_000), &"[".repeat(1_000_000)] {
        for ask_for in ["run", "controls", "explain"] {
            let answer = ask(json!({ "ask": ask_for, "scenario": { "text": text } }));
            assert!(answer["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        }
    }
    assert!(ask(json!({ "ask": "everything" }))["message"].as_str().unwrap().contains("reload"));
}

#[test]
fn an_edit_changes_one_value_and_keeps_the_rest_of_the_text() {
    let edits = json!([
        { "path": ["link", "rate"], "value": "\"5 Mbit/s\"" },
        { "path": ["flow", 1, "controller", "beta"], "value": "0.5" },
        { "path": ["flow", 1, "stop"], "value": null },
    ]);
    let answer = ask(json!({ "ask": "edit", "text": UPLINK, "edits": edits }));
    let expected = UPLINK
        .replace("\"20 Mbit/s\"", "\"5 Mbit/s\"")
        .replace("\"cubic\"", "{ kind = \"cubic\", beta = 0.5 }")
        .replace("stop       = \"22 s\"\n", "");
    assert_eq!(answer["text"], expected);
}

#[test]
fn every_control_holds_the_value_of_the_text_and_writes_one_that_is_valid() {
    let groups = ask(json!({ "ask": "controls", "scenario": { "text": UPLINK } }))["groups"].clone();
    let groups = groups.as_array().unwrap();
    assert_eq!(
        groups.iter().map(|group| &group["name"]).collect::<Vec<_>>(),
        ["link", "backup", "upload", "call"]
    );
    let mut number = 0;
    for dial in groups.iter().flat_map(|group| group["dials"].as_array().unwrap()) {
        let value = match (dial["what"].as_str().unwrap(), dial["form"].as_str()) {
            ("menu", _) => dial["value"].to_string(),
            ("switch", _) | ("slider", Some("bare")) => {
                let value = &dial["value"];
                value
                    .as_f64()
                    .filter(|_| dial["whole"] == true)
                    .map_or(value.to_string(), |n| format!("{n:.0}"))
            }
            ("slider", form) => {
                let quoted = format!("\"{} {}\"", dial["value"], dial["unit"].as_str().unwrap());
                if form == Some("uniform") {
                    format!("{{ uniform = {quoted} }}")
                } else {
                    quoted
                }
            }
            _ => panic!("{dial}"),
        };
        let edited = ask(
            json!({ "ask": "edit", "text": UPLINK, "edits": [{ "path": dial["path"], "value": value }] }),
        );
        let checked = ask(json!({ "ask": "controls", "scenario": { "text": edited["text"] } }));
        assert_eq!(checked["error"], Value::Null, "{dial} writes {value}");
        number += 1;
    }
    assert!(number > 30, "{number}");
}

#[test]
fn equations_answer_beside_packets() {
    let text = "duration = '30 s'\nlink = { rate = '10 Mbit/s', buffer = '100 packets' }\n\
                flow = { name = 'a', role = 'background', controller = 'ledbat', rtt = '50 ms' }";
    let fluid = ask(json!({ "ask": "run", "scenario": { "text": text }, "engine": "fluid" }));
    assert_eq!(fluid["engine"], "fluid");
    let explained = ask(json!({ "ask": "explain", "scenario": { "text": text } }));
    assert!(explained["quantities"].as_array().unwrap().len() > 3, "{explained}");
}

#[test]
fn files_are_those_of_the_command_line() {
    let text = UPLINK.replace("30 s", "26 s");
    for (form, beginning) in [("svg", "<svg"), ("csv", "run,time_s,of,quantity,unit,value"), ("json", "{\n")]
    {
        let answer = ask(json!({ "ask": "file", "scenario": { "text": text }, "form": form }));
        assert!(answer["content"].as_str().unwrap().starts_with(beginning), "{answer}");
    }
}
