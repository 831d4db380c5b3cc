//! The compiled object is the one that clang makes of the sources.

use std::path::Path;
use std::process::Command;

/// The compiler of the object that is checked in: another one makes other code.
const VERSION: &str = "clang version 14.0.6";
/// What the compiler is asked for, from the folder of the crate.
const ARGUMENTS: &str =
    "-O2 -g -Wall -Wextra -Wno-unused-parameter -Werror -target bpfel -mcpu=v3 -Ic -Ibpf -c bpf/afteryou.bpf.c";

/// Returns the first of these programs with this text in its version.
fn find(programs: [&'static str; 2], version: &str) -> Option<&'static str> {
    programs.into_iter().find(|program| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(version))
    })
}

#[test]
fn the_object_is_what_clang_makes_of_the_sources() {
    let found = find(["clang-14", "clang"], VERSION).zip(find(["llvm-strip-14", "llvm-strip"], "14.0.6"));
    let Some((clang, strip)) = found else {
        return eprintln!("SKIPPED: there is no {VERSION} with llvm-strip, which makes the eBPF object");
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("afteryou.bpf.o");
    let run = |command: &mut Command| {
        let output = command.current_dir(root).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new(clang)
        .args(ARGUMENTS.split(' '))
        .arg(format!("-ffile-prefix-map={}=.", root.display()))
        .arg("-o")
        .arg(&made));
    run(Command::new(strip).arg("-g").arg(&made));
    let made = std::fs::read(made).unwrap();
    let kept = root.join("bpf/afteryou.bpf.o");
    if std::env::var_os("UPDATE_OBJECT").is_some() {
        std::fs::write(&kept, &made).unwrap();
    }
    assert!(
        std::fs::read(&kept).unwrap_or_default() == made,
        "the object is old: run `UPDATE_OBJECT=1 cargo test -p afteryou-kernel --test all object`"
    );
}
