//! Accepted arguments, and the messages about rejected ones.

use super::*;
use crate::TransferCommand as Command;
use afteryou_notation::Dscp;
use afteryou_transfer::ticket::{Address, Fingerprint, Role, Secret, Ticket};
use afteryou_transfer::wire::{MaxDelete, Wishes};
use std::path::PathBuf;

fn command(words: &[&str]) -> Command {
    let words = ["afteryou"].iter().chain(words).copied();
    crate::parsed(words).unwrap_or_else(|error| panic!("{error}"))
}

fn send(words: &[&str]) -> SendArgs {
    match command(&[&["send"], words].concat()) {
        Command::Send(args) => *args,
        other => panic!("{other:?}"),
    }
}

/// Reads the words of `get`.
pub fn get(words: &[&str]) -> GetArgs {
    match command(&[&["get"], words].concat()) {
        Command::Get(args) => *args,
        other => panic!("{other:?}"),
    }
}

/// Returns a ticket.
pub fn line(role: Role) -> String {
    let address = Address::parse("192.0.2.7", 4747).unwrap();
    let secret = Secret::new([7; Secret::BYTES]);
    let ticket = Ticket { role, fingerprint: Fingerprint([1; 32]), secret, addresses: vec![address] };
    ticket.to_line().unwrap()
}

/// Returns the path of a ticket, or "ssh" and the path.
fn path(target: Target) -> String {
    match target {
        Target::Ticket { path, .. } => path,
        Target::Ssh { path, .. } => format!("ssh {path}"),
    }
}

/// Returns the message of a usage error.
pub fn refusal<T: std::fmt::Debug>(read: Result<T, afteryou_terminal::Failure>) -> String {
    let failure = read.unwrap_err();
    assert_eq!(failure.code(), 2, "{failure}");
    failure.to_string()
}

#[test]
fn a_host_in_the_place_of_the_ticket_means_ssh() {
    let (paths, target) = send(&["/", "me@host:archive", "--delete"]).paths_and_target().unwrap();
    assert_eq!(paths, [PathBuf::from("/")]);
    let Target::Ssh { via, .. } = target else { panic!("{target:?}") };
    assert_eq!(
        via.remote_command(Role::Receive),
        "afteryou receive --once --ticket-only --allow-delete -- archive"
    );
    let (target, directory) = get(&["host:photos/2026", "album"]).target_and_directory().unwrap();
    assert_eq!((path(target), directory), ("ssh 2026".to_owned(), PathBuf::from("album")));
}

#[test]
fn what_empties_a_copy_deletes_and_a_limit_alone_asks_for_nothing() {
    let wishes = |option: &str| send(&["/", option, "afteryou1abc"]).wishes();
    assert_eq!((wishes("--delete-all").delete, wishes("--delete-all").delete_all), (true, true));
    assert_eq!((wishes("--delete").delete, wishes("--delete").delete_all), (true, false));
    assert_eq!(wishes("--max-delete=10%"), Wishes::default());
    let limited = send(&["/", "--delete", "--max-delete", "10%", "afteryou1abc"]).wishes();
    assert_eq!(limited.max_delete, Some(MaxDelete::Percent(10)));
    let (_, target) = send(&["/", "me@host:", "--delete-all"]).paths_and_target().unwrap();
    let Target::Ssh { via, .. } = target else { panic!("{target:?}") };
    assert!(via.remote_command(Role::Receive).contains("--allow-delete"));
}

#[test]
fn patterns_of_files_come_first_and_includes_take_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("patterns");
    std::fs::write(&file, "cache/\n# why\n!cache/keep\n").unwrap();
    let from = format!("--exclude-from={}", file.display());
    let args = send(&["/", "--include", "a.tmp", "--exclude=*.tmp", &from, "--exclude", "x", "afteryou1abc"]);
    let filter = args.choice.filter().unwrap();
    let patterns: Vec<_> = filter.patterns().iter().collect();
    assert_eq!(patterns, [&b"cache/"[..], b"!cache/keep", b"*.tmp", b"x", b"!a.tmp"]);
    let unmatched: Vec<_> = filter.unmatched().iter().map(ToString::to_string).collect();
    assert_eq!(unmatched, ["*.tmp", "x", "!a.tmp"]);
    let missing = send(&["/", "--exclude-from=/no/such/file", "afteryou1abc"]).choice.filter();
    assert_eq!(refusal(missing), "--exclude-from: cannot read \"/no/such/file\": there is no such file");
}

#[test]
fn saying_nothing_yields() {
    let common = send(&["x", "afteryou1abc"]).common;
    assert_eq!(common.controller().to_string(), "ledbat++,restart=true");
    assert_eq!((common.dscp, common.max_rate.is_none()), (Dscp::LE, true));
    let common = send(&["x", "afteryou1abc", "--controller", "ledbat++,restart=false", "--dscp=cs1"]).common;
    assert_eq!(common.controller().to_string(), "ledbat++,restart=false");
    assert_eq!(common.dscp.to_string(), "cs1");
}

#[test]
fn the_last_word_of_send_is_the_ticket() {
    let ticket = line(Role::Receive);
    let (paths, target) = send(&["/", ".", &ticket]).paths_and_target().unwrap();
    assert_eq!((paths, path(target)), (vec![PathBuf::from("/"), PathBuf::from(".")], String::new()));
    let (paths, _) = send(&["/", "--ticket", &ticket]).paths_and_target().unwrap();
    assert_eq!(paths, [PathBuf::from("/")]);
}

#[test]
fn send_says_what_is_missing() {
    assert!(refusal(send(&[]).paths_and_target()).starts_with("say what to send and where"));
    assert!(refusal(send(&[&line(Role::Receive)]).paths_and_target()).starts_with("there is nothing to send"));
    let said = refusal(send(&["."]).paths_and_target());
    assert!(said.starts_with("\".\" is a path, and the last word should be a ticket"), "{said}");
    let ticket = line(Role::Receive);
    let said = refusal(send(&[".", "/no/such/thing"]).paths_and_target());
    assert!(said.starts_with("\"/no/such/thing\" is neither a ticket nor a file"), "{said}");
    let said = refusal(send(&["/no/such/thing", &ticket]).paths_and_target());
    assert_eq!(said, "cannot read \"/no/such/thing\": there is no such file");
}

#[test]
fn a_ticket_with_a_slip_is_a_secret_still() {
    let secret = "xafteryou1secret";
    for said in [
        refusal(send(&["/", secret]).paths_and_target()),
        refusal(send(&["/", "xAFTERYOU1secret"]).paths_and_target()),
        refusal(send(&["/", secret, &line(Role::Receive)]).paths_and_target()),
    ] {
        assert!(!said.contains("secret") && said.contains("a word with a ticket in it"), "{said}");
    }
}

#[test]
fn ssh_takes_the_place_of_a_ticket() {
    let (paths, target) = send(&["--via", "ssh", "me@host:dir", "."]).paths_and_target().unwrap();
    assert_eq!((paths, path(target).as_str()), (vec![PathBuf::from(".")], "ssh "));
    let both = send(&["--via", "ssh", "host", ".", "afteryou1abc"]);
    assert_eq!(refusal(both.paths_and_target()), "--via and a ticket: use one of them");
    let said = refusal(send(&["--via", "rsh", "host", "."]).paths_and_target());
    assert!(said.starts_with("--via: there is no way \"rsh\""), "{said}");
    let named =
        send(&["--via", "ssh", "host", "--ssh-command", "ssh -p 2222", "--far-command", "/opt/a b", "."]);
    let Target::Ssh { via, .. } = named.paths_and_target().unwrap().1 else { panic!() };
    assert_eq!(via.ssh, ["ssh", "-p", "2222"]);
    assert!(via.remote_command(Role::Receive).starts_with("'/opt/a b' receive "));
}

#[test]
fn get_takes_a_path_behind_the_ticket_and_a_directory() {
    let ticket = line(Role::Serve);
    let read = |words: &[&str]| {
        let (target, directory) = get(words).target_and_directory().unwrap();
        (path(target), directory.to_str().unwrap().to_owned())
    };
    let is = |path: &str, directory: &str| (path.to_owned(), directory.to_owned());
    assert_eq!(read(&[&ticket]), is("", "."));
    let with_path = format!("{ticket}/a/b");
    assert_eq!(read(&[&with_path, "out"]), is("a/b", "out"));
    assert_eq!(read(&["--ticket", &with_path, "out"]), is("a/b", "out"));
    assert_eq!(read(&["--via", "ssh", "host:photos", "out"]), is("ssh photos", "out"));
}

#[test]
fn get_says_what_is_missing() {
    assert!(refusal(get(&[]).target_and_directory()).starts_with("name what to get"));
    assert!(refusal(get(&["/"]).target_and_directory()).contains("a path where a ticket is expected"));
    let said = refusal(get(&["--via", "ssh", "host"]).target_and_directory());
    assert_eq!(said, "--via: name what to get: write --via ssh host:PATH");
    let said = refusal(get(&["--via", "ssh", "host:x", "afteryou1abc"]).target_and_directory());
    assert!(said.contains("none with --via"), "{said}");
}

#[test]
fn a_word_is_a_ticket_by_its_beginning() {
    for (word, is) in
        [("afteryou1q", true), ("AFTERYOU1Q", true), ("@file", true), ("@", false), ("afteryou", false)]
    {
        assert_eq!(looks_like_ticket(word.as_ref()), is, "{word}");
    }
}
