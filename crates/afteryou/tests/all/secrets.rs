//! A ticket in the wrong place is never printed back: every subcommand, every word and every option that takes a value,
//! found in the command line's own description.

use afteryou::cli::Cli;
use afteryou_base::lock::EvenPoisoned;
use afteryou_transfer::ticket::{Address, Fingerprint, Role, Secret, Ticket};
use clap::{Arg, Command, CommandFactory};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A command that accepts the ticket, say as the name of a directory, is ended after this time.
const LONG_ENOUGH: Duration = Duration::from_secs(3);

/// So many characters in a row of a ticket are more than chance.
const PIECE: usize = 10;

fn ticket() -> String {
    let address = Address::parse("127.0.0.1", 4747).unwrap();
    let secret = Secret::new(std::array::from_fn(|index| 0x5a ^ (index as u8 * 11)));
    let fingerprint = Fingerprint(std::array::from_fn(|index| index as u8 * 7));
    Ticket { role: Role::Receive, fingerprint, secret, addresses: vec![address] }.to_line().unwrap()
}

/// Returns the built command.
fn command(words: &[String], at: &Path, elsewhere: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(at);
    command.env("XDG_RUNTIME_DIR", elsewhere).env("XDG_STATE_HOME", elsewhere);
    command
}

/// Runs the command where it can create nothing.
fn run(words: &[String], variable: Option<(&str, &str)>) -> Output {
    let elsewhere = tempfile::tempdir().unwrap();
    let nowhere = Path::new("/proc");
    let at = if nowhere.is_dir() { nowhere } else { elsewhere.path() };
    let mut child = command(words, at, elsewhere.path()).envs(variable).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > LONG_ENOUGH {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Asserts that no piece of the ticket is in the command's output.
fn assert_hidden(output: &Output, ticket: &str, what: &str) {
    let said = text(&output.stdout) + &text(&output.stderr);
    let content = ticket.strip_prefix("afteryou1").unwrap();
    let low = said.to_ascii_lowercase();
    let piece = (0..=content.len() - PIECE).find(|at| low.contains(&content[*at..at + PIECE]));
    assert_eq!(piece, None, "{what} prints a ticket back:\n{said}");
}

/// Visits every command and its subcommands, with the words that lead there.
fn each(command: &Command, words: &[String], visit: &mut impl FnMut(&Command, &[String])) {
    visit(command, words);
    for subcommand in command.get_subcommands() {
        let deeper = [words, &[subcommand.get_name().to_owned()]].concat();
        each(subcommand, &deeper, visit);
    }
}

fn takes_values(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.takes_values())
}

/// Returns `--option TICKET`, `--option=TICKET`, and the other places of a ticket.
fn places(arg: &Arg, ticket: &str) -> Vec<Vec<String>> {
    let Some(long) = arg.get_long() else { return vec![vec![ticket.to_owned()]] };
    let values = arg.get_num_args().map_or(1, |count| count.min_values().max(1));
    let option = |value: &str| [vec![format!("--{long}")], vec![value.to_owned(); values]].concat();
    vec![
        option(ticket),
        option(&format!("{ticket}/photos")),
        option(&format!("x={ticket}")),
        vec![format!("--{long}={ticket}")],
    ]
}

#[test]
fn a_ticket_in_the_wrong_place_is_not_printed_back() {
    let ticket = ticket();
    let mut command = Cli::command();
    command.build();
    let mut tries = Vec::new();
    each(&command, &[], &mut |command, words| {
        let mut last = vec![
            vec![ticket.clone()],
            vec![format!("--{ticket}")],
            vec![ticket.to_uppercase(), "x".to_owned()],
        ];
        let args: Vec<&Arg> = command.get_arguments().filter(|arg| takes_values(arg)).collect();
        last.extend(args.iter().flat_map(|arg| places(arg, &ticket)));
        // A flag that is given a value.
        let flags = command.get_arguments().filter(|arg| !takes_values(arg));
        last.extend(flags.filter_map(|arg| Some(vec![format!("--{}={ticket}", arg.get_long()?)])));
        tries.extend(last.iter().map(|last| ([words, last].concat(), None)));
        let variables = args.iter().filter_map(|arg| arg.get_env()?.to_str());
        let variables = variables.filter(|name| *name != "AFTERYOU_TICKET").map(str::to_owned);
        tries.extend(variables.map(|variable| (words.to_vec(), Some(variable))));
    });
    assert!(tries.len() > 300, "{}", tries.len());
    // Some wait for a peer until they are ended.
    let next = Mutex::new(tries.iter());
    let take = || next.lock().even_poisoned().next();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((words, variable)) = take() {
                    let variable = variable.as_deref();
                    let output = run(words, variable.map(|name| (name, &*ticket)));
                    assert_hidden(&output, &ticket, &format!("{variable:?} {}", words.join(" ")));
                }
            });
        }
    });
}

#[test]
fn a_ticket_with_a_slip_in_it_is_not_printed_back() {
    let ticket = ticket();
    let slips = [
        ticket.replace("afteryou1", "aftreyou1"),
        ticket[3..].to_owned(),
        ticket.replace("afteryou1", "afteryou2"),
    ];
    for slip in slips {
        for words in [
            vec![slip.as_str()],
            vec!["send", "/proc/version", &slip],
            vec!["get", &slip],
            vec!["demo", "--rate", &slip],
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_hidden(&run(&words, None), &ticket, &words.join(" "));
        }
    }
}

/// It is in a path that the command creates.
#[test]
fn a_ticket_that_becomes_a_name_is_not_printed_back() {
    let ticket = ticket();
    let folder = tempfile::tempdir().unwrap();
    let at = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        command(&words, folder.path(), folder.path())
    };
    let into = format!("./{ticket}");
    let receive = ["receive", &into, "--listen", "127.0.0.1:0", "--ticket-file", "ready"];
    let mut receive = at(&receive).spawn().unwrap();
    while !folder.path().join("ready").exists() {
        assert_eq!(receive.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(10));
    }
    for words in [vec!["ctl"], vec!["ctl", "--json"], vec!["ctl", "pause"], vec!["ctl", "stop"]] {
        let output = at(&words).output().unwrap();
        assert!(text(&output.stdout).contains("afteryou1…"), "{}", text(&output.stderr));
        assert_hidden(&output, &ticket, &words.join(" "));
    }
    let output = receive.wait_with_output().unwrap();
    assert!(text(&output.stderr).contains("put them into ./afteryou1…"), "{}", text(&output.stderr));
    assert_hidden(&output, &ticket, "receive");
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/home-uplink.toml");
    let output = at(&["sim", scenario, "--out", &ticket]).output().unwrap();
    assert!(text(&output.stdout).contains("Report: afteryou1…"), "{}", text(&output.stderr));
    assert_hidden(&output, &ticket, "sim");
}
