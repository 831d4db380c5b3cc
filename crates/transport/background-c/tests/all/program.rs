//! A C program is compiled against the header and the library, and run.

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns where cargo has put the library: beside this test, or one folder above.
fn library() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let folders = [test.parent()?, test.parent()?.parent()?];
    let found = folders.map(|folder| folder.join("libafteryou_background_c.so"));
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

/// Compiles a program into `folder`, which then has the library by its soname alone.
fn compile(source: &Path, folder: &Path) -> PathBuf {
    let library = library().expect("cargo builds the shared library before its tests");
    let program = folder.join(source.file_stem().unwrap());
    let soname = folder.join("libafteryou_background_c.so.0");
    std::os::unix::fs::symlink(&library, soname).unwrap();
    run(Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg(&library));
    program
}

/// Returns the program of the book's page, which is a function, with a call of it.
fn of_the_book() -> String {
    let page = include_str!("../../../../../docs/src/background.md");
    let (_, rest) = page.split_once("```c\n").expect("a program in C");
    let (function, _) = rest.split_once("```").expect("its end");
    let call = "#include <sys/socket.h>\nint main(void) { return yield_to_others(socket(AF_INET, SOCK_DGRAM, 0)); }\n";
    format!("{function}{call}")
}

#[test]
fn the_function_of_the_book_reports_what_a_socket_got() {
    if let Some(reason) = missing() {
        eprintln!("SKIPPED: a program in C: {reason}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("book.c");
    std::fs::write(&source, of_the_book()).unwrap();
    let program = compile(&source, folder.path());
    let output = run(Command::new(program).env("LD_LIBRARY_PATH", folder.path()));
    assert!(output.starts_with("this upload sends by its program's own rule, marked LE"), "{output}");
}

#[test]
fn a_c_program_sends_as_background_traffic() {
    if let Some(reason) = missing() {
        eprintln!("SKIPPED: a program in C: {reason}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/upload.c");
    let program = compile(&source, folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let receiver = std::thread::spawn(move || {
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        received.len()
    });
    let output = run(Command::new(program)
        .args(["127.0.0.1", &port, "1000000"])
        .env("LD_LIBRARY_PATH", folder.path()));
    assert_eq!(receiver.join().unwrap(), 1_000_000);
    assert!(output.starts_with("this upload ") && output.contains(", marked LE"), "{output}");
}
