//! The header is the one that cbindgen makes of the source.

use std::path::Path;

#[test]
fn the_header_is_what_the_source_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/lib.rs"));
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let header = root.join("include/afteryou_background.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(
        kept == made,
        "the header is old: run `UPDATE_HEADER=1 cargo test -p afteryou-background-c --test all header`"
    );
}
