//! The compiler of eBPF objects.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler of the object that is checked in: another one makes other code.
const VERSION: &str = "14.0.6";
/// What the compiler is asked for, from the folder of the crate.
const ARGUMENTS: &str =
    "-O2 -g -gno-column-info -Wall -Wextra -Wno-unused-parameter -Werror -target bpfel -mcpu=v3 -Ic -Ibpf -Itests/c -c";

/// What is taken out of an object: the loader needs none of it.
const STRIPPED: &str = "-g -x -R .rel.BTF -R .rel.BTF.ext -R .llvm_addrsig";

/// Returns the first of these programs that has this version.
fn find(programs: [&'static str; 2]) -> Option<&'static str> {
    programs.into_iter().find(|program| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(VERSION))
    })
}

/// Compiles a source of the crate and returns the object, or prints why that cannot be done.
pub fn object(source: &str) -> Option<PathBuf> {
    let found = find(["clang-14", "clang"]).zip(find(["llvm-strip-14", "llvm-strip"]));
    let Some((clang, strip)) = found else {
        eprintln!(
            "SKIPPED: there is no clang {VERSION} with llvm-strip, which makes {source} an eBPF object"
        );
        return None;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = format!("{}.{}.o", source.replace('/', "-"), std::process::id());
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let run = |command: &mut Command| {
        let output = command.current_dir(root).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new(clang)
        .args(ARGUMENTS.split(' '))
        .arg(source)
        // The object has the text of the lines of each file that is there by its mapped name. None is.
        .arg(format!("-ffile-prefix-map={}=/afteryou-kernel", root.display()))
        .arg("-o")
        .arg(&object));
    run(Command::new(strip).args(STRIPPED.split(' ')).arg(&object));
    Some(object)
}
