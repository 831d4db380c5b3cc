//! Man pages, completions, units and recipes of packages: valid, with every option, and made of commands that exist.

use afteryou::cli::Cli;
use afteryou::manual::man_pages;
use afteryou_words::Manual;
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns what the program prints to stdout.
fn printed(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_afteryou")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the options of each command, by the name of its page.
fn options() -> BTreeMap<String, Vec<String>> {
    fn add(name: String, command: &clap::Command, all: &mut BTreeMap<String, Vec<String>>) {
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let long = shown.filter_map(|arg| arg.get_long()).filter(|long| *long != "help");
        all.insert(format!("{name}.1"), long.map(str::to_owned).collect());
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            add(format!("{name}-{}", subcommand.get_name()), subcommand, all);
        }
    }
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut all = BTreeMap::new();
    add("afteryou".to_owned(), &command, &mut all);
    all
}

/// Asserts that `program` reads the file and finds nothing wrong, where this machine has it.
fn accepted_by(program: &str, words: &[&str], file: &Path) {
    let Ok(output) = Command::new(program).args(words).arg(file).output() else {
        return eprintln!("SKIPPED: {program} is not here, which would read {}", file.display());
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.is_empty(), "{program}, {}: {said}", file.display());
}

#[test]
fn man_pages_are_valid_and_name_every_option() {
    let folder = tempfile::tempdir().unwrap();
    printed(&["man", "--out", folder.path().to_str().unwrap()]);
    let made =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut made: Vec<String> = made.collect();
    made.sort();
    let options = options();
    let mut names: Vec<&String> = options.keys().collect();
    names.sort();
    assert_eq!(made.iter().collect::<Vec<_>>(), names);
    for name in ["afteryou.1", "afteryou-send.1", "afteryou-ctl-rate.1", "afteryou-demo.1"] {
        assert!(options.contains_key(name), "{names:?}");
    }
    for (name, options) in &options {
        let file = folder.path().join(name);
        let page = fs::read_to_string(&file).unwrap().replace('\\', "");
        let missing: Vec<_> =
            options.iter().filter(|option| !page.contains(&format!("--{option}"))).collect();
        assert!(missing.is_empty(), "{name} lacks {missing:?}");
        accepted_by("groff", &["-Kutf8", "-man", "-Tutf8", "-ww", "-z"], &file);
        accepted_by("mandoc", &["-Tlint", "-Werror"], &file);
    }
}

#[test]
fn help_keeps_the_rules_of_prose() {
    let pages = man_pages(Cli::command()).unwrap();
    let pages = pages.iter().map(|(name, page)| Manual { name, text: std::str::from_utf8(page).unwrap() });
    let report = afteryou_words::check_manual(pages);
    assert!(report.sentences > 100, "only {} sentences were found", report.sentences);
    assert_eq!(report.faults(), Vec::<String>::new());
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
fn completions_are_valid_and_name_every_option() {
    let folder = tempfile::tempdir().unwrap();
    for shell in Shell::value_variants() {
        let script = printed(&["completions", &shell.to_string()]);
        for (name, options) in options() {
            // In the script for fish, `-l` is before an option's name.
            let is_there = |option: &String| {
                script.contains(&format!("--{option}")) || script.contains(&format!(" -l {option} "))
            };
            let missing: Vec<_> = options.iter().filter(|option| !is_there(option)).collect();
            assert!(missing.is_empty(), "{shell}, {name}: {missing:?}");
        }
        let file = folder.path().join(shell.to_string());
        fs::write(&file, script).unwrap();
        match shell {
            Shell::Bash => accepted_by("bash", &["-n"], &file),
            Shell::Elvish => accepted_by("elvish", &["-compileonly"], &file),
            Shell::Fish => accepted_by("fish", &["--no-execute"], &file),
            Shell::Zsh => accepted_by("zsh", &["-n"], &file),
            // PowerShell has no option for that.
            _ => {}
        }
    }
}

#[test]
fn a_page_does_not_depend_on_the_environment() {
    // The value of a ticket in the environment must not get into help or pages.
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

/// Asserts that `program` reads the file, where this machine has it.
fn read_by(program: &str, words: &[&str], file: &Path) {
    let Ok(output) = Command::new(program).args(words).arg(file).output() else {
        return eprintln!("SKIPPED: {program} is not here, which would read {}", file.display());
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}, {}: {said}", file.display());
}

#[test]
fn recipes_of_packages_can_be_read_and_the_test_of_the_formula_passes() {
    let packaging = root().join("packaging");
    let formula = packaging.join("homebrew/afteryou.rb");
    read_by("bash", &["-n"], &packaging.join("build"));
    read_by("ruby", &["-c"], &formula);
    read_by("nix-instantiate", &["--parse"], &packaging.join("nix/flake.nix"));
    let text = fs::read_to_string(&formula).unwrap();
    let (_, scenario) = text.split_once("<<~EOS\n").unwrap();
    let (scenario, _) = scenario.split_once("EOS\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    fs::write(path("one.toml"), scenario).unwrap();
    printed(&["sim", &path("one.toml"), "--out", &path("out")]);
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
