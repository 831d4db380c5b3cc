//! Names that stand for two things in a result.

use afteryou_scenario::network::{BOTTLENECK, REVERSE_PATH};
use afteryou_scenario::scenario::Scenario;
use std::collections::{BTreeMap, BTreeSet};

/// Words of results beside links: the curve of the short form's link, and sums over flows.
const WORDS: [&str; 5] = ["link", BOTTLENECK, REVERSE_PATH, "foreground", "background"];

/// Sums over flows among these.
const SUMS: [&str; 2] = ["foreground", "background"];

/// Words that mean all flows: in assignments and sweeps, and where a key takes names of flows.
const FOR_ALL: [&str; 2] = ["*", "all"];

/// Returns a sentence for each name of a flow, or of a table of flows, that something else has.
pub(super) fn collisions(scenario: &Scenario) -> Vec<String> {
    let links: BTreeSet<&str> = scenario.links().filter_map(|link| link.name.as_deref()).collect();
    let flows: BTreeSet<&str> = scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
    let groups: BTreeSet<&str> = scenario.flow.iter().filter_map(|flow| flow.group.as_deref()).collect();
    let other = |name: &str| match links.contains(name) {
        true => Some("a link"),
        false => WORDS.contains(&name).then_some("a word of results"),
    };
    let sentence = |name: &str, what: &str| {
        format!(
            "{name:?} is the name of a flow and {what}: rows and curves of the two look alike; rename one"
        )
    };
    let names: BTreeSet<&str> = flows.union(&groups).copied().collect();
    let with_others = names.iter().filter_map(|name| Some(sentence(name, other(name)?)));
    let of_groups = flows.intersection(&groups).map(|name| sentence(name, "a table of flows"));
    let of_links = links.iter().filter(|name| SUMS.contains(name)).map(|name| {
        format!("{name:?} is the name of a link and a word of results: rows and curves of the two look alike; rename it")
    });
    let windows = scenario.measure.iter().map(|window| window.name.as_str());
    let all: BTreeSet<&str> = names.iter().chain(&links).copied().chain(windows).collect();
    with_others.chain(of_groups).chain(of_links).chain(unreadable(&names, &all)).collect()
}

/// Returns a sentence for each name that looks like another one in results, or that means all flows elsewhere.
fn unreadable(flows: &BTreeSet<&str>, all: &BTreeSet<&str>) -> Vec<String> {
    let mut sentences = Vec::new();
    if all.iter().any(|name| looks(name).is_empty()) {
        sentences.push("a name without a visible character cannot be found in results: write one".to_owned());
    }
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for name in all.iter().filter(|name| !looks(name).is_empty()) {
        if let Some(other) = seen.insert(looks(name), name) {
            sentences.push(format!(
                "the names {other:?} and {name:?} look alike in results: rename one, and leave out what cannot be seen"
            ));
        }
    }
    let of_all = flows.iter().filter(|name| FOR_ALL.contains(name)).map(|name| {
        format!("{name:?} is the name of a flow and means all flows where flows are named: rename it")
    });
    sentences.extend(of_all);
    sentences
}

/// Returns a name without what cannot be seen: blanks at its ends, doubled blanks, and characters without a width.
fn looks(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !c.is_control() && !is_without_width(*c)).collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_without_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn warnings(link: &str, names: [&str; 2]) -> Vec<String> {
        let [one, two] =
            names.map(|name| format!("[[flow]]\nname = {name}\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n"));
        let text = format!(
            "duration = \"9 s\"\n[link]\nrate = \"20 Mbit/s\"\nbuffer = \"200 ms\"\n{link}\n{one}{two}"
        );
        let runs = Experiment::parse(&text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
        collisions(&runs[0].scenario)
    }

    #[test]
    fn a_flow_with_the_name_of_something_else_is_warned_about() {
        for name in ["link", "bottleneck", "reverse path", "foreground"] {
            let [warning] = &warnings("", [&format!("{name:?}"), "\"b\""])[..] else { panic!("{name}") };
            assert!(warning.contains(&format!("{name:?}")) && warning.contains("rename one"), "{warning}");
        }
        assert_eq!(warnings("", ["\"upload\"", "\"backup\""]), [""; 0]);
        assert_eq!(warnings("", ["\"a\"\ncount = 2", "\"a 3\""]), [""; 0]);
    }

    #[test]
    fn names_that_cannot_be_told_apart_or_stand_for_all_flows_are_warned_about() {
        for (one, other, words) in [
            ("\"a\"", "\"a \"", "look alike"),
            ("\"a b\"", "\"a  b\"", "look alike"),
            ("\"a\"", "\"a\\u200b\"", "look alike"),
            ("\"\"", "\"b\"", "without a visible character"),
            ("\" \"", "\"b\"", "without a visible character"),
            ("\"*\"", "\"b\"", "means all flows"),
            ("\"all\"", "\"b\"", "means all flows"),
        ] {
            let [warning] = &warnings("", [one, other])[..] else { panic!("{one} {other}") };
            assert!(warning.contains(words) && !warning.contains('\u{200b}'), "{warning}");
        }
        assert_eq!(warnings("", ["\"a\"", "\"A\""]), [""; 0], "these can be told apart");
    }

    #[test]
    fn a_link_with_the_name_of_a_sum_is_warned_about() {
        let text = "duration = \"9 s\"\n[[link]]\nname = \"foreground\"\nrate = \"20 Mbit/s\"\nbuffer = \"200 ms\"\n\
                    [[flow]]\ncontroller = \"cubic\"\npath = { forward = [\"foreground\"], reverse = [\"foreground\"], delay = \"9 ms\" }\n";
        let runs = Experiment::parse(text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
        let [warning] = &collisions(&runs[0].scenario)[..] else { panic!("one") };
        assert!(warning.contains("\"foreground\" is the name of a link"), "{warning}");
    }
}
