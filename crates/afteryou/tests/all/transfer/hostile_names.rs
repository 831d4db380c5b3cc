//! One hostile name at every place that shows names: none of its characters reaches a terminal, a log or a page as it is.

use super::support::*;
use afteryou_base::shown::is_unfit;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Output;

/// It clears the screen, turns what follows, breaks the line, and hides a part of itself.
const HOSTILE: &str =
    "a\u{1b}[2J\u{7}\u{9b}m\n\t\u{7f}\u{200b}\u{200d}\u{202e}\u{2028}\u{2066}\u{ad}\u{3164}\u{fe0f}\u{feff}\u{fff9}\u{fffe}\u{e0041}z";

fn has_nothing_unfit(place: &str, shown: &str) {
    let unfit = shown.chars().find(|character| *character != '\n' && is_unfit(*character));
    assert_eq!(unfit, None, "{place}: {shown:?}");
}

/// Asserts that `shown` names the hostile name, and has nothing of it that is not to be seen.
fn is_fit(place: &str, shown: &str) {
    has_nothing_unfit(place, shown);
    assert!(shown.contains("\\u{1b}") && shown.contains("\\u{202e}"), "{place} does not name it: {shown}");
}

fn both(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_transfer_shows_no_character_of_a_name_that_steers_or_hides() {
    let place = Place::new();
    let name = |rest: &str| format!("{HOSTILE}{rest}");
    let here = name("");
    place.file(&format!("{here}/{}", name(".txt")), 1_000);
    let archive = name(" archive");
    let (receive, ticket) = place.listen(&["receive", &archive, "--allow-delete", "-vv", "--list"]);
    for words in [&["--dry-run"][..], &["-vv", "--list"], &["--json", "--list"], &["--list", "--stats"]] {
        let output = place.run(&[&["send", &here, &ticket], words].concat());
        assert_eq!(output.status.code(), Some(0), "{}", both(&output));
        is_fit(&format!("send {words:?}"), &both(&output));
    }
    fs::remove_file(place.path(&here).join(name(".txt"))).unwrap();
    place.file(&format!("{here}/b"), 10);
    let output = place.run(&["send", &here, &ticket, "--delete", "--exclude", &name("pattern")]);
    is_fit("send --delete", &both(&output));
    for words in [&["send", &*name("missing"), &ticket][..], &["receive", &format!("{here}/b")]] {
        let output = place.run(words);
        assert_ne!(output.status.code(), Some(0));
        is_fit(&format!("{words:?}"), &both(&output));
    }

    let pid = receive.child.id().to_string();
    is_fit("ctl", &place.ctl(&receive, &["status"]));
    is_fit("ctl --json", &text(&place.run(&["ctl", "--job", &pid, "--json"]).stdout));
    let socket = place.path(&format!("control/{pid}.sock"));
    let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).unwrap();
    is_fit("metrics", metrics.split_once("\r\n\r\n").unwrap().1);

    let (_serve, ticket) = place.listen(&["serve", &archive]);
    let output = place.run(&["get", &ticket, &name(" album"), "-vv", "--list"]);
    assert_eq!(output.status.code(), Some(0), "{}", both(&output));
    is_fit("get", &both(&output));
    let output = place.run(&["get", &format!("{ticket}/{}", name("missing")), "album"]);
    is_fit("get of what is not there", &both(&output));

    place.ctl(&receive, &["stop"]);
    let (_, _, said) = receive.end();
    is_fit("receive", &said);
}

/// Returns a string with TOML's escapes.
fn quoted(text: &str) -> String {
    let escaped: String = text.chars().map(|character| format!("\\U{:08X}", u32::from(character))).collect();
    format!("\"{escaped}\"")
}

#[test]
fn a_run_shows_no_character_of_a_name_that_steers_or_hides() {
    let place = Place::new();
    let file = format!("{HOSTILE}.toml");
    let scenario = |controller: &str| {
        format!(
            "duration = \"1 s\"\n[link]\nrate = \"5 Mbit/s\"\nbuffer = \"50 packets\"\n[[flow]]\nname = {}\n\
             controller = \"{controller}\"\nrtt = \"20 ms\"\n",
            quoted(HOSTILE)
        )
    };
    fs::write(place.path(&file), scenario("cubic")).unwrap();
    let output = place.run(&["sim", &file, "--verbose", "--out", "run"]);
    assert_eq!(output.status.code(), Some(0), "{}", both(&output));
    is_fit("sim", &both(&output));
    let files: Vec<_> = fs::read_dir(place.path("run")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let of_kind =
        |kind: &'static str| files.iter().filter(move |file| file.extension().is_some_and(|end| end == kind));
    assert!(of_kind("html").count() > 0 && of_kind("svg").count() > 0, "{files:?}");
    of_kind("html").for_each(|page| is_fit("the page", &without_scripts(page)));
    // Not every figure names its flows.
    of_kind("svg").for_each(|figure| has_nothing_unfit("a figure", &fs::read_to_string(figure).unwrap()));

    fs::write(place.path(&file), scenario("cubik")).unwrap();
    let output = place.run(&["sim", &file]);
    assert_eq!(output.status.code(), Some(2));
    is_fit("an error in a file", &both(&output));
    let raw = format!("duration = \"1 s\"\n{} = 1\r\n", HOSTILE.replace('\n', ""));
    fs::write(place.path(&file), raw).unwrap();
    is_fit("a line of a file", &both(&place.run(&["sim", &file])));
}

/// Returns the page's markup: a script's strings are data.
fn without_scripts(page: &Path) -> String {
    let page = fs::read_to_string(page).unwrap();
    page.split("<script").map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest)).collect()
}
