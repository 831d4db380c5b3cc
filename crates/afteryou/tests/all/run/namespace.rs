//! Scripts in a network namespace, whose parts are the test's own program.

use super::run;
use std::process::Command;

/// Runs a script in a namespace and returns its output; `PART` runs a part, `RUN` one under `afteryou run`. `None`: no namespace can be made.
pub fn in_namespace(test: &str, script: &str) -> Option<String> {
    let own = std::env::current_exe().expect("a path");
    let part = format!("'{}' {test} --exact --nocapture", own.display());
    let program = run(&[]).get_program().to_string_lossy().into_owned();
    let whole = format!(
        "ip link set lo up && ip address add 192.0.2.1/32 dev lo || exit 77\n\
         PART() {{ AFTERYOU_PART=$1 {part}; }}\n\
         RUN() {{ AFTERYOU_PART=$1 exec '{program}' run $2 -- {part}; }}\n{script}"
    );
    for private in [
        &["--net", "--pid", "--fork", "--kill-child", "--mount-proc"][..],
        &["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"],
    ] {
        let Ok(output) = Command::new("unshare").args(private).args(["sh", "-c", &whole]).output() else {
            continue;
        };
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            return Some(said);
        }
        assert!(!said.contains("panicked"), "{said}");
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
