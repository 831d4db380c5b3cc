//! Gives the shared library its name for the dynamic linker. The number changes when old programs would break.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libafteryou_background_c.so.0");
    }
}
