//! Files that a scenario names.

use super::*;
use std::fs;
use std::path::Path;

const TRACE: &str = "0,5 Mbit/s\n1,1 Mbit/s\n";
const SECRET: &str = "secret-word\n";

/// Makes a folder `own` with a scenario that names a trace there, and a trace and a secret beside that folder.
fn place(named: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let own = place.path().join("own");
    fs::create_dir_all(own.join("traces")).unwrap();
    fs::write(own.join("traces/inside.csv"), TRACE).unwrap();
    fs::write(place.path().join("outside.csv"), TRACE).unwrap();
    fs::write(place.path().join("secret"), SECRET).unwrap();
    fs::write(own.join("scenario.toml"), text(named)).unwrap();
    place
}

fn text(named: &str) -> String {
    let link = format!("[link]\nbuffer = \"100 packets\"\nrate = {{ trace = {named:?} }}\n");
    format!("duration = \"60 s\"\n{link}{}", flow(""))
}

type Reader = fn(&Path, &[String]) -> std::result::Result<Experiment, FileError>;

fn read(reader: Reader, place: &tempfile::TempDir) -> std::result::Result<Experiment, String> {
    reader(&place.path().join("own/scenario.toml"), &[]).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(place: &tempfile::TempDir) {
    let error = read(Experiment::read_untrusted, place).unwrap_err();
    assert!(error.contains("may name no other") && error.contains("scenario.toml:4:"), "{error}");
}

#[test]
fn a_scenario_from_elsewhere_names_files_below_its_own_folder_alone() {
    for inside in ["traces/inside.csv", "./traces/inside.csv", "traces/../traces/inside.csv"] {
        let place = place(inside);
        assert_eq!(read(Experiment::read_untrusted, &place).unwrap().files()[inside], TRACE);
    }
    for outside in ["../outside.csv", "traces/../../outside.csv", "../own/traces/inside.csv"] {
        let place = place(outside);
        assert!(read(Experiment::read, &place).is_ok(), "one's own scenario may: {outside}");
        refused(&place);
    }
    let absolute = tempfile::NamedTempFile::new().unwrap();
    fs::write(absolute.path(), TRACE).unwrap();
    let place = place(absolute.path().to_str().unwrap());
    assert!(read(Experiment::read, &place).is_ok());
    refused(&place);
}

#[test]
fn whether_a_file_exists_elsewhere_cannot_be_learned() {
    let message = |named: &str| {
        let error = read(Experiment::read_untrusted, &place(named)).unwrap_err();
        error.replace(named, "NAME").lines().last().unwrap().trim_start_matches([' ', '|', '^']).to_owned()
    };
    let words = message("../secret");
    for other in ["../nothing", "/etc/passwd", "/nothing/at/all", "nothing"] {
        assert_eq!(message(other), words, "{other}");
    }
}

#[test]
fn files_elsewhere_are_refused_in_assignments_and_sweeps_too() {
    let place = place("traces/inside.csv");
    let path = place.path().join("own/scenario.toml");
    let sets = [r#"link.rate={ trace = "../outside.csv" }"#.to_owned()];
    assert!(Experiment::read(&path, &sets).is_ok());
    assert!(Experiment::read_untrusted(&path, &sets).unwrap_err().to_string().contains("may name no other"));
    let swept =
        "\n[sweep]\n\"link.rate\" = [{ trace = \"traces/inside.csv\" }, { trace = \"../outside.csv\" }]\n";
    fs::write(&path, text("traces/inside.csv") + swept).unwrap();
    assert!(Experiment::read(&path, &[]).is_ok());
    assert!(Experiment::read_untrusted(&path, &[]).unwrap_err().to_string().contains("may name no other"));
}

#[test]
fn a_scenario_from_elsewhere_starts_no_program() {
    let place = place("traces/inside.csv");
    let path = place.path().join("own/scenario.toml");
    let written = text("traces/inside.csv");
    let link = written.split("[[flow]]").next().unwrap();
    let flow =
        "[[flow]]\nname = \"a\"\nrtt = \"40 ms\"\ntraffic = { command = [\"true\"], server = [\"true\"] }\n";
    fs::write(&path, format!("{link}{flow}")).unwrap();
    let set = ["flow.a.traffic={ command = [\"false\"] }".to_owned()];
    let read = Experiment::read(&path, &set);
    assert!(read.is_ok(), "{}", read.unwrap_err());
    for sets in [&set[..], &[]] {
        let error = Experiment::read_untrusted(&path, sets).unwrap_err().to_string();
        assert!(error.contains("may start no program"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn symbolic_links_count_where_they_lead() {
    use std::os::unix::fs::symlink;
    let leads = |to: &str| {
        let place = place("link.csv");
        symlink(to, place.path().join("own/link.csv")).unwrap();
        place
    };
    assert!(read(Experiment::read_untrusted, &leads("traces/inside.csv")).is_ok());
    assert!(read(Experiment::read_untrusted, &leads("../own/traces/inside.csv")).is_ok());
    for outside in ["../outside.csv", "/etc/passwd", "../nothing"] {
        refused(&leads(outside));
    }
    // A folder on the way may be the link.
    let place = place("way/outside.csv");
    symlink("..", place.path().join("own/way")).unwrap();
    assert!(read(Experiment::read, &place).is_ok());
    refused(&place);
}

#[cfg(unix)]
#[test]
fn a_scenario_that_is_a_link_to_a_file_elsewhere_is_not_quoted() {
    let place = place("traces/inside.csv");
    let path = place.path().join("own/scenario.toml");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("../secret", &path).unwrap();
    assert!(read(Experiment::read, &place).unwrap_err().contains("secret-word"));
    let error = read(Experiment::read_untrusted, &place).unwrap_err();
    assert!(error.contains("may name no other") && !error.contains("secret-word"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_file_is_regular_wherever_the_scenario_comes_from() {
    let place = place("socket");
    let _listens = std::os::unix::net::UnixListener::bind(place.path().join("own/socket")).unwrap();
    for reader in [Experiment::read, Experiment::read_untrusted] as [Reader; 2] {
        let error = read(reader, &place).unwrap_err();
        assert!(error.contains("no regular file"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_is_switched_all_the_time_opens_nothing_outside() {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = place("way/inside.csv");
    fs::create_dir(place.path().join("elsewhere")).unwrap();
    fs::write(place.path().join("elsewhere/inside.csv"), "0,9 Mbit/s\n1,9 Mbit/s\n").unwrap();
    let own = place.path().join("own");
    symlink("traces", own.join("way")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in (0_u32..).take_while(|_| !done.load(Ordering::Relaxed)) {
                let to = if turn % 2 == 0 { "../elsewhere" } else { "traces" };
                symlink(to, own.join("next")).unwrap();
                fs::rename(own.join("next"), own.join("way")).unwrap();
            }
        });
        let read = |_| read(Experiment::read_untrusted, &place).ok();
        let texts: Vec<String> =
            (0..500).filter_map(read).map(|file| file.files()["way/inside.csv"].clone()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(!texts.is_empty() && texts.iter().all(|text| text == TRACE), "{texts:?}");
    });
}
