//! The header is the one that cbindgen makes of the source.

use std::path::Path;

#[test]
fn the_header_is_what_the_source_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let sources = ["src/error.rs", "src/settings.rs", "src/lib.rs"].map(|source| root.join(source));
    let builder = sources
        .iter()
        .fold(cbindgen::Builder::new().with_config(config), |builder, source| builder.with_src(source));
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let header = root.join("include/afteryou_utp.h");
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(
        kept == made,
        "the header is old: run `UPDATE_HEADER=1 cargo test -p afteryou-utp-c --test all header`"
    );
}
