//! The log has the right lines at each level, and never a ticket.

use super::support::*;
use afteryou_transfer::ticket::Ticket;

/// Returns the log of `words` on stderr while one file moves; the variable is AFTERYOU_LOG.
fn logged(words: &[&str], variable: &str) -> (String, String) {
    let place = Place::new();
    place.file("photos/a", 40_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let mut command = place.command(&[&["send", "photos", &ticket], words].concat());
    let output = command.env("AFTERYOU_LOG", variable).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn v_raises_the_level_and_json_keeps_stdout() {
    let (stdout, stderr) = logged(&["--json"], "");
    assert_eq!(stderr, "", "nothing went wrong");
    events(&stdout);
    let (stdout, stderr) = logged(&["--json", "-v"], "warn");
    assert!(events(&stdout).iter().any(|event| event["event"] == "finished"));
    assert!(
        stderr.contains(" INFO ") && stderr.contains("connected") && !stderr.contains("DEBUG"),
        "{stderr}"
    );
    let (stdout, stderr) = logged(&["--json", "-vv"], "warn");
    events(&stdout);
    for expected in ["both sides are authenticated", "settled path=photos/a", "the session ended"] {
        assert!(stderr.contains(expected), "no {expected:?} in {stderr}");
    }
    assert!(stderr.lines().all(|line| line.contains(" afteryou")), "only our own parts: {stderr}");
}

#[test]
fn the_environment_names_levels_of_parts() {
    let (_, stderr) = logged(&["--json"], "afteryou_transfer::dial=debug");
    assert!(
        stderr.contains("DEBUG") && stderr.lines().all(|line| line.contains("afteryou_transfer::dial")),
        "{stderr}"
    );
    let place = Place::new();
    let output = place.command(&["ctl"]).env("AFTERYOU_LOG", "afteryou=loud").output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("afteryou: --log: ") && said.contains("write a level, such as debug"), "{said}");
}

#[test]
fn a_list_names_every_file_and_what_became_of_it() {
    let place = Place::new();
    place.file("photos/a", 1_000);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let said = |words: &[&str]| text(&place.run(&[&["send", "photos", &ticket], words].concat()).stderr);
    assert!(said(&["--list"]).contains("\ndone: photos/a\n"));
    assert!(said(&["--list"]).contains("\nthere already: photos/a\n"));
    assert!(!said(&[]).contains("photos/a"));
}

#[test]
fn no_ticket_gets_into_a_log_at_any_level() {
    let place = Place::new();
    place.file("photos/a", 40_000);
    let trace = ["--log", "trace", "--list"];
    let (receive, into) = place.listen(&[&["receive", "archive"], &trace[..]].concat());
    let (serve, from) = place.listen(&[&["serve", "photos"], &trace[..]].concat());
    let secrets = [&into, &from].map(|line| line.parse::<Ticket>().unwrap().secret);
    let mut said = Vec::new();
    for words in [
        vec!["send", "photos", &into],
        vec!["send", "photos", "--ticket", &into],
        vec!["get", &from, "album"],
        vec!["get", &into, "album"],
        vec!["send", "photos", &from],
        vec!["get", &format!("{from}/a/no/such"), "album"],
        vec!["ctl"],
    ] {
        let words: Vec<&str> = words
            .iter()
            .copied()
            .chain(trace.iter().copied().take(if words[0] == "ctl" { 2 } else { 3 }))
            .collect();
        said.push(text(&place.run(&words).stderr));
    }
    place.ctl(&receive, &["stop"]);
    place.ctl(&serve, &["stop"]);
    said.extend([receive.end().2, serve.end().2]);
    assert!(said.iter().all(|said| said.contains("afteryou")) && said[0].contains("TRACE"), "{said:?}");
    for said in &said {
        for line in [&into, &from] {
            let content = &line["afteryou1".len()..];
            let piece =
                (0..content.len() - 12).find(|at| said.to_lowercase().contains(&content[*at..at + 12]));
            assert_eq!(piece, None, "a ticket in the log: {said}");
        }
        for secret in &secrets {
            let bytes = secret.expose();
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let list = bytes.map(|byte| byte.to_string()).join(", ");
            assert!(
                !said.to_lowercase().contains(&hex[..16]) && !said.contains(&list),
                "a secret in the log: {said}"
            );
        }
    }
}

#[test]
fn attempts_retries_and_the_end_of_patience_are_logged() {
    let place = Place::new();
    place.file("a", 1_000);
    let (_port, ticket) = place.silent();
    let output = place.run(&["send", "a", &ticket, "--give-up-after", "11s", "-vv", "--json"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for expected in ["trying address=", "no connection", "giving up"] {
        assert!(said.contains(expected), "no {expected:?} in {said}");
    }
}
