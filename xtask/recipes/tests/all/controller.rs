//! The book's page "How to add a controller", executed: the steps of its second half are done to a copy of this crate, and
//! the copy's tests must pass with the new controller in the list.

use afteryou_recipes::{added, Recipe};

const RECIPE: Recipe = Recipe {
    page: "add-a-controller.md",
    packages: &["transport/cc"],
    changes: &["transport/cc/src/lib.rs", "transport/cc/src/list.rs"],
    has_all_tests: true,
    extra_test: "//! Is it in the list?\n\n#[test]\nfn the_list_has_it() {\n    \
                 assert!(afteryou_cc::list::CONTROLLERS.iter().any(|entry| entry.name == \
                 afteryou_cc::MODULE::ENTRY.name));\n}\n",
};

#[test]
fn what_the_page_says_makes_a_controller_that_passes_the_property_tests() {
    let followed = RECIPE.follow(env!("CARGO_TARGET_TMPDIR"));
    let own = format!("{}::tests::", followed.module.as_deref().expect("a new file"));
    followed.ran(&[
        "the_list_has_it ... ok",
        "properties::no_sequence_of_events_breaks_a_controller ... ok",
        &own,
    ]);
}

#[test]
fn the_page_shows_every_file_of_the_own_controller() {
    let page = RECIPE.text();
    for file in ["Cargo.toml", "src/lib.rs", "src/main.rs", "polite.toml"] {
        let shown = [
            format!("<!-- from examples/own-controller/{file} -->"),
            format!("<!-- part of examples/own-controller/{file} -->"),
        ];
        assert!(shown.iter().any(|mark| page.contains(mark)), "the page does not show {file}");
    }
}

#[test]
fn a_line_is_added_wherever_the_file_has_a_place_for_it_and_nowhere_else() {
    let use_line = "use crate::{/* the others */ new};";
    assert_eq!(added("use crate::{a, b};\n", use_line).unwrap(), "use crate::{a, b, new};\n");
    assert_eq!(
        added("x\nuse crate::{\n    a,\n};\n", use_line).unwrap(),
        "x\nuse crate::{\n    a, new\n};\n"
    );
    assert_eq!(
        added("//! x\n\npub mod a;\n", "pub mod new;").unwrap(),
        "//! x\n\npub mod new;\npub mod a;\n"
    );
    assert_eq!(
        added("use a;\n\n#[cfg(test)]\nmod tests;\n", "/* the others */\nfn b() {}").unwrap(),
        "use a;\n\nfn b() {}\n\n#[cfg(test)]\nmod tests;\n"
    );
    assert_eq!(added("use a;\n", "/* the others */\nfn b() {}").unwrap(), "use a;\n\nfn b() {}\n");
    assert_eq!(added("use a;\n", use_line), None);
    assert_eq!(added("mod a;\n", "pub mod new;"), None);
    let list = "list! {\n    a, f(|x| { x });\n}\n\nfn f() {\n}\n";
    let more = "list! {\n    /* the others */\n    b, g(),\n        1;\n}";
    assert_eq!(
        added(list, more).unwrap(),
        "list! {\n    a, f(|x| { x });\n    b, g(),\n        1;\n}\n\nfn f() {\n}\n"
    );
}
