//! A C program is compiled against the header and the library, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns where cargo has put the library: beside this test, or one folder above.
fn library() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let folders = [test.parent()?, test.parent()?.parent()?];
    let found = folders.map(|folder| folder.join("libafteryou_utp_c.so"));
    found.into_iter().find(|path| path.exists())
}

/// Returns why a C program cannot be tried here.
fn missing() -> Option<&'static str> {
    if !cfg!(target_os = "linux") {
        return Some("the test knows the names of shared libraries on Linux only");
    }
    let compiler = Command::new("cc").arg("--version").output();
    compiler.map_or(true, |output| !output.status.success()).then_some("there is no C compiler `cc`")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_c_program_moves_a_megabyte_each_way() {
    if let Some(reason) = missing() {
        eprintln!("skipped: {reason}");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library().expect("cargo builds the shared library before its tests");
    let folder = tempfile::tempdir().unwrap();
    let soname = folder.path().join("libafteryou_utp_c.so.0");
    std::os::unix::fs::symlink(&library, &soname).unwrap();
    let program = folder.path().join("transfer");
    run(Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(root.join("examples/transfer.c"))
        .arg(&library));
    // Found under its soname alone: the program asks the linker for that.
    let output = run(Command::new(&program).arg("1000000").env("LD_LIBRARY_PATH", folder.path()));
    assert!(output.contains("1000000 bytes there, 1000000 bytes back, all equal"), "{output}");
}
