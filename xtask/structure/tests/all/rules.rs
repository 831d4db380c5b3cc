//! Each rule of the definition of a use, on a crate of a few files.

use std::path::Path;

/// Writes a crate's files into a directory of its own and returns its cycles as text, without the directory.
fn cycles(files: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = directory.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let found = afteryou_structure::cycles(&directory.path().join("lib.rs")).unwrap();
    let prefix = format!("{}/", directory.path().display());
    found.iter().map(|cycle| cycle.to_string().replace(&prefix, "")).collect()
}

#[test]
fn siblings_that_use_each_other_are_reported_with_the_lines() {
    let found = cycles(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "//! A.\nuse crate::b::B;\npub struct A(B);"),
        ("b.rs", "pub struct B;\nimpl B {\n    fn a(&self) -> Option<super::a::A> { None }\n}"),
    ]);
    assert_eq!(
        found,
        ["2 modules use each other:\n  a.rs:2 uses crate::b::B of b.rs\n  b.rs:3 uses super::a::A of a.rs\n"]
    );
}

#[test]
fn a_way_around_through_a_third_module_and_a_cousin_is_a_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;"),
        ("a.rs", "pub fn a() { crate::b::inner::b() }"),
        ("b/mod.rs", "pub mod inner;"),
        ("b/inner.rs", "use crate::c;\npub fn b() { c::c() }"),
        ("c.rs", "pub fn c() { crate::a::a() }"),
    ]);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("3 modules"), "{}", found[0]);
}

#[test]
fn modules_that_use_each_other_in_one_direction_are_no_cycle() {
    let files = [
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "use crate::b::B;\npub struct A(B);"),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(cycles(&files), [""; 0]);
}

#[test]
fn a_module_and_those_inside_it_are_one_unit() {
    let found = cycles(&[
        ("lib.rs", "mod a;"),
        ("a.rs", "mod inner;\npub struct A(inner::Inner);"),
        ("a/inner.rs", "use super::A;\npub struct Inner;\nfn new() -> Option<A> { None }"),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_name_belongs_to_the_file_that_defines_it_however_it_is_handed_on() {
    let handed_on = |user: &'static str| {
        cycles(&[
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b;\nmod kind;\nmod part;\npub use kind::{Kind as Sort, *};\npub use part::part;"),
            ("a/kind.rs", "pub enum Kind { One }\npub const MOST: u8 = 3;"),
            ("a/part.rs", "pub fn part() { super::b::b() }"),
            ("a/b.rs", user),
        ])
    };
    for user in ["pub fn b() { crate::a::part() }", "use crate::a::*;\npub fn b() { part() }"] {
        assert_eq!(handed_on(user).len(), 1, "{user}");
    }
    for user in
        ["pub fn b() -> crate::a::Sort { crate::a::Sort::One }", "use crate::a::*;\npub fn b() { MOST }"]
    {
        assert_eq!(handed_on(user), [""; 0], "{user}");
    }
}

#[test]
fn handing_a_name_on_is_a_use_of_it() {
    let found = cycles(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub use crate::b::B;\npub struct A;"),
        ("b.rs", "pub struct B(crate::a::A);"),
    ]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("a.rs:1 uses crate::b::B of b.rs"), "{}", found[0]);
}

#[test]
fn naming_an_item_by_way_of_a_module_is_a_use_of_that_module() {
    let by_way_of = |user: &'static str| {
        cycles(&[
            ("lib.rs", "mod entry;\nmod list;\nmod rule;"),
            ("entry.rs", "pub struct Entry;"),
            ("list.rs", "pub use crate::entry::Entry;\npub const ALL: [Entry; 1] = [crate::rule::ENTRY];"),
            ("rule.rs", user),
        ])
    };
    let found = by_way_of("use crate::list::Entry;\npub const ENTRY: Entry = Entry;");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("rule.rs:1 uses crate::list::Entry of list.rs"), "{}", found[0]);
    assert_eq!(by_way_of("use crate::entry::Entry;\npub const ENTRY: Entry = Entry;"), [""; 0]);
}

#[test]
fn a_folder_is_one_module_among_its_siblings() {
    let found = cycles(&[
        ("lib.rs", "mod net;\nmod record;"),
        ("net.rs", "pub struct Net(crate::record::meter::Meter);"),
        ("record/mod.rs", "pub mod meter;\npub mod tracks;"),
        ("record/meter.rs", "pub struct Meter;"),
        ("record/tracks.rs", "use crate::net::Net;\npub struct Tracks(Net);"),
    ]);
    assert_eq!(
        found,
        ["2 modules use each other:\n  net.rs:1 uses crate::record::meter::Meter of record/meter.rs\n  \
          record/tracks.rs:1 uses crate::net::Net of net.rs\n  module record/mod.rs\n"]
    );
}

#[test]
fn names_in_the_arguments_of_macros_count() {
    let found = cycles(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub fn a() {\n    assert!(1 < crate::b::most());\n}"),
        ("b.rs", "pub fn most() -> u8 { crate::a::a(); 3 }"),
    ]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("a.rs:2 uses crate::b::most"), "{}", found[0]);
}

#[test]
fn code_for_tests_alone_does_not_count() {
    let found = cycles(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub struct A;\n#[cfg(all(test, unix))]\nmod tests { use crate::b::B; }\n#[cfg(test)]\nfn b(_: crate::b::B) {}"),
        ("b.rs", "pub struct B(crate::a::A);"),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_platforms_version_of_a_module_is_read() {
    let found = cycles(&[
        ("lib.rs", "mod a;\n#[cfg(unix)]\n#[path = \"one.rs\"]\nmod b;\n#[cfg(windows)]\n#[path = \"two.rs\"]\nmod b;"),
        ("a.rs", "pub fn a() { crate::b::b() }"),
        ("one.rs", "pub fn b() {}"),
        ("two.rs", "pub fn b() { crate::a::a() }"),
    ]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("two.rs:1"), "{}", found[0]);
}

#[test]
fn a_missing_or_broken_file_is_an_error_that_names_it() {
    let error = afteryou_structure::cycles(Path::new("nowhere/lib.rs")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read nowhere/lib.rs"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("lib.rs"), "fn a() {}\nfn {").unwrap();
    let error = afteryou_structure::cycles(&directory.path().join("lib.rs")).unwrap_err();
    assert!(error.to_string().contains("lib.rs, line 2"), "{error}");
}
