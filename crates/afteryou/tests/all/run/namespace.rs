//! A network namespace of a test's own.
//!
//! The test's program runs again as the parts of a script: with `AFTERYOU_PART`, the beginning of the same test is a server or a client. They
//! use an address that is not loopback's, since connections within a machine are left alone.

use super::run;
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const ADDRESS: &str = "192.0.2.1:7000";

/// A part of a script: its name, and what it does.
pub type Part = (&'static str, fn());

/// The first line of a script in a namespace.
const INSIDE: &str = "a namespace was made";

/// Runs a part and returns true in a process that is one.
pub fn is_a_part(parts: &[Part]) -> bool {
    let Ok(name) = std::env::var("AFTERYOU_PART") else { return false };
    let part = parts.iter().find(|(other, _)| *other == name).expect("a part of this name");
    part.1();
    true
}

/// Runs a script in a namespace and returns its output; `PART` runs a part, `RUN` one under `afteryou run`, and `CTL` is `afteryou ctl`. `None`:
/// no namespace can be made.
pub fn in_namespace(test: &str, script: &str) -> Option<String> {
    let own = std::env::current_exe().expect("a path");
    let part = format!("'{}' {test} --exact --nocapture", own.display());
    let folder = tempfile::tempdir().expect("a folder");
    let program = run(&[]).get_program().to_string_lossy().into_owned();
    let whole = format!(
        "ip link set lo up && ip address add 192.0.2.1/32 dev lo || exit 77\n\
         echo {INSIDE}\n\
         PART() {{ AFTERYOU_PART=$1 {part}; }}\n\
         CTL() {{ '{program}' ctl --control-dir \"$AFTERYOU_CONTROL_DIR\"; }}\n\
         RUN() {{ AFTERYOU_PART=$1 exec '{program}' run $2 -- {part}; }}\n{script}"
    );
    for private in [
        &["--net", "--pid", "--fork", "--kill-child", "--mount-proc"][..],
        &["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"],
    ] {
        let mut command = Command::new("unshare");
        command.args(private).args(["sh", "-c", &whole]).env("AFTERYOU_CONTROL_DIR", folder.path());
        command.env("AFTERYOU", &program).env("TESTS", &own).env("TEST", test);
        let Ok(output) = command.output() else { continue };
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            return Some(said);
        }
        assert!(!said.contains(INSIDE), "{said}");
    }
    println!("SKIPPED: this user may not make a network namespace, or ip is not here");
    None
}

/// Returns the numbers behind a word in a text, in its order.
pub fn numbers(said: &str, word: &str) -> Vec<f64> {
    let marked = format!("{word}=");
    said.split(marked.as_str())
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next()?.parse().ok())
        .collect()
}

pub fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

pub fn connect() -> TcpStream {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        match TcpStream::connect(ADDRESS) {
            Ok(stream) => return stream,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}
