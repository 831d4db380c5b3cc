//! The compiled object is the one that clang makes of the sources.

use crate::clang;
use std::path::Path;

#[test]
fn the_object_is_what_clang_makes_of_the_sources() {
    let Some(object) = clang::object("bpf/afteryou.bpf.c") else { return };
    let made = std::fs::read(&object).unwrap();
    std::fs::remove_file(object).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf/afteryou.bpf.o");
    if std::env::var_os("UPDATE_OBJECT").is_some() {
        std::fs::write(&kept, &made).unwrap();
    }
    assert!(
        std::fs::read(&kept).unwrap_or_default() == made,
        "the object is old: run `UPDATE_OBJECT=1 cargo test -p afteryou-kernel --test all object`"
    );
}
