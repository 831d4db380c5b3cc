//! The book's page "How to add an element", executed: its changes are made in copies of three crates, and a run with the new element
//! must have packets that overtake.

use afteryou_recipes::Recipe;

const RECIPE: Recipe = Recipe {
    page: "add-an-element.md",
    packages: &["lab/sim", "lab/scenario", "lab/scenario-file"],
    changes: &[
        "lab/scenario/src/element.rs",
        "lab/scenario-file/src/element/delay.rs",
        "lab/sim/src/element/wire.rs",
    ],
    has_all_tests: false,
    extra_test: r#"//! Does a link with the element reorder?

use afteryou_scenario_file::{element::said, Experiment};
use std::ops::ControlFlow;

fn run(element: &str) -> (usize, u64) {
    let file = format!(
        "duration = \"20 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"100 ms\"\n{element}\n\
         [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"30 ms\"\n"
    );
    let runs = Experiment::parse(&file, "test.toml", &[]).unwrap().runs(Some(1), None).unwrap();
    let scenario = &runs[0].scenario;
    let outcome = afteryou_sim::run(scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    (said(&scenario.link.elements).len(), outcome.run.totals[0].retransmissions)
}

#[test]
fn a_link_with_the_element_reorders() {
    let (none, plain) = run("");
    let (one, reordered) = run("reorder = { share = \"5 %\", by = \"20 ms\" }");
    assert_eq!((none, one), (0, 1));
    assert!(reordered > plain, "{reordered} retransmissions, {plain} without it");
}
"#,
};

#[test]
fn what_the_page_says_makes_an_element_that_reorders() {
    let followed = RECIPE.follow(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(followed.module, None, "an element is three changes and no file of its own");
    followed.ran(&["a_link_with_the_element_reorders ... ok"]);
}
