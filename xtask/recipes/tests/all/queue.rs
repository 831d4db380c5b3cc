//! The book's page "How to add a queue", executed: its steps are done to a copy of this crate, and the copy's tests must
//! pass with the new queue in the list.

use afteryou_recipes::Recipe;

const RECIPE: Recipe = Recipe {
    page: "add-a-queue.md",
    packages: &["lab/aqm"],
    changes: &["lab/aqm/src/lib.rs", "lab/aqm/src/list.rs"],
    has_all_tests: true,
    extra_test: "//! Is it in the list?\n\n#[test]\nfn the_list_has_it() {\n    \
                 let entry = afteryou_aqm::list::find(\"MODULE\").expect(\"an entry\");\n    \
                 assert_eq!(entry.params, afteryou_aqm::MODULE::PARAMS);\n}\n",
};

#[test]
fn what_the_page_says_makes_a_queue_that_passes_the_property_tests() {
    let followed = RECIPE.follow(env!("CARGO_TARGET_TMPDIR"));
    let own = format!("{}::tests::", followed.module.as_deref().expect("a new file"));
    let property =
        "properties::every_queue_conserves_packets_keeps_its_limit_and_the_order_of_each_flow ... ok";
    followed.ran(&["the_list_has_it ... ok", property, &own]);
}
