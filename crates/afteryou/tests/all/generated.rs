//! Man pages, completions and units: what is committed is what the program makes, and what the service manager takes.
//!
//! `UPDATE_MAN=1 cargo test -p afteryou --test all generated` writes the man pages and completions.

use afteryou::cli::Cli;
use afteryou::manual::{completion, man_pages};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const UPDATE: &str = "UPDATE_MAN=1 cargo test -p afteryou --test all generated";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Asserts that the files of `folder` are exactly these; with UPDATE_MAN=1 they are made so.
fn assert_current(folder: &str, files: &[(String, Vec<u8>)]) {
    let folder = root().join(folder);
    let update = std::env::var_os("UPDATE_MAN").is_some();
    if update {
        fs::create_dir_all(&folder).unwrap();
    }
    for (name, content) in files {
        let path = folder.join(name);
        if update {
            fs::write(&path, content).unwrap();
        }
        // A checkout may have other line ends.
        let committed = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(committed.as_bytes() == content, "{} is not current: run {UPDATE}", path.display());
    }
    let names: BTreeSet<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let found = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let extra: Vec<_> = found.filter(|name| !names.contains(name)).collect();
    assert_eq!(extra, Vec::<String>::new(), "nobody makes these in {}: remove them", folder.display());
}

#[test]
fn man_pages_are_current() {
    let pages = man_pages(Cli::command()).unwrap();
    let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["afteryou.1", "afteryou-send.1", "afteryou-ctl-rate.1", "afteryou-demo.1"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert_current("docs/man", &pages);
}

/// Of a transfer.
const EXIT_CODES: [u8; 5] = [0, 1, 2, 3, 130];

#[test]
fn exit_codes_of_a_transfer_are_complete_wherever_they_are_listed() {
    let pages = man_pages(Cli::command()).unwrap();
    for name in ["afteryou.1", "afteryou-send.1", "afteryou-receive.1", "afteryou-serve.1", "afteryou-get.1"]
    {
        let (_, page) = pages.iter().find(|(page, _)| page == name).unwrap();
        let page = String::from_utf8_lossy(page);
        let (_, listed) = page.split_once("\nExit codes:\n").unwrap();
        let missing: Vec<_> = EXIT_CODES
            .iter()
            .filter(|code| !format!("\n{listed}").contains(&format!("\n  {code} ")))
            .collect();
        assert!(missing.is_empty(), "{name} does not list {missing:?}");
    }
    let book = fs::read_to_string(root().join("docs/src/send-receive.md")).unwrap();
    let (_, listed) = book.split_once("\nExit codes: ").unwrap();
    let (listed, _) = listed.split_once("`receive`").unwrap();
    let lists = |code: &u8| ["if", "means"].iter().any(|word| listed.contains(&format!("{code} {word} ")));
    let missing: Vec<_> = EXIT_CODES.iter().filter(|code| !lists(code)).collect();
    assert!(missing.is_empty(), "the book does not list {missing:?}");
}

#[test]
fn completions_are_current() {
    let scripts = Shell::value_variants().iter().map(|shell| {
        let name = clap_complete::Generator::file_name(shell, "afteryou");
        (name, completion(Cli::command(), *shell))
    });
    assert_current("completions", &scripts.collect::<Vec<_>>());
}

#[test]
fn a_page_does_not_depend_on_the_environment() {
    // What a ticket in the environment says must not get into help or pages.
    let pages = |ticket| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
        command.args(["man", "send"]).env("AFTERYOU_TICKET", ticket).env("AFTERYOU_MAX_RATE", "5Mbit/s");
        let output = command.output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(pages("afteryou1secret"), pages("afteryou1other"));
    let mut help = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    let output = help.args(["send", "--help"]).env("AFTERYOU_TICKET", "afteryou1secret").output().unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains("secret"));
}

/// Where systemd is, it reads the units; everywhere, their options are options of ours.
#[test]
fn units_are_what_systemd_and_we_understand() {
    let pages: String = man_pages(Cli::command())
        .unwrap()
        .iter()
        .map(|(_, page)| String::from_utf8_lossy(page).into_owned())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(root().join("packaging/systemd")).unwrap().map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap().replace('@', "@example");
        let text = fs::read_to_string(&file).unwrap();
        for word in text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')) {
            // The one variable that is the unit's own.
            if word.starts_with("AFTERYOU_") && word != "AFTERYOU_PATHS" {
                assert!(pages.contains(&format!("\\fB{word}\\fR")) || pages.contains(word), "{name}: {word}");
            }
        }
        // The program is not installed here, and neither are its settings.
        let text = text.replace("/usr/bin/afteryou", env!("CARGO_BIN_EXE_afteryou"));
        fs::write(folder.path().join(name), text.replace("=/etc/afteryou", "=-/etc/afteryou")).unwrap();
    }
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else {
        return eprintln!("SKIPPED: systemd-analyze is not here");
    };
    assert!(version.status.success());
    let units = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(units).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // It also complains about units of the machine.
    let ours: Vec<_> = said.lines().filter(|line| line.contains("afteryou-")).collect();
    assert_eq!(ours, Vec::<&str>::new(), "{said}");
}
