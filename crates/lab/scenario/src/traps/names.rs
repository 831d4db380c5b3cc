//! Names that stand for two things in a result.

use crate::network::{BOTTLENECK, REVERSE_PATH};
use crate::scenario::Scenario;
use std::collections::BTreeSet;

/// Words of results beside links: the curve of the short form's link, and sums over flows.
const WORDS: [&str; 5] = ["link", BOTTLENECK, REVERSE_PATH, "foreground", "background"];

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
    with_others.chain(of_groups).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

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
}
