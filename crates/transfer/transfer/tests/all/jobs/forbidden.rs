//! Modes that forbid the owner to look into directories or to read files. To root they mean nothing, so the tests continue as another user.

use super::support::{options, Far};
use crate::alone;
use crate::disk::common::{content, entry, file, link, names, Pair};
use afteryou_transfer::entry::{Entry, Kind};
use afteryou_transfer::job::{send, JobOptions, Service};
use afteryou_transfer::store::{Allow, Kept, Store, StoreOptions, Verdict};
use afteryou_transfer::wire::{Change, Wishes};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

/// Starts this test in a process whose user is not root; `None` if there can be none.
fn as_another_user(test: &str) -> Option<Command> {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return Some(alone::again(test, ""));
    }
    if let Err(error) = Command::new("setpriv").arg("--version").output() {
        println!("SKIPPED: setpriv: {error}");
        return None;
    }
    let mut other = Command::new("setpriv");
    other.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    other.arg(std::env::current_exe().unwrap());
    Some(alone::through(other, test, ""))
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns entries as a source offers them, what is in a directory before it, with their content.
fn offers() -> Vec<(Entry, Vec<u8>)> {
    let large = content(300_000, 1);
    let file = |path: &str, bytes: &[u8], mode: u32| {
        let (entry, encoded) = file(path.as_bytes(), bytes);
        (Entry { mode: Some(mode), ..entry }, encoded)
    };
    let directory = |path: &str, mode: u32| {
        (Entry { mode: Some(mode), ..entry(path.as_bytes(), Kind::Directory) }, Vec::new())
    };
    vec![
        file("d000/in/x", b"x", 0o000),
        directory("d000/in", 0o300),
        file("d000/large", &large, 0o000),
        directory("d000", 0o000),
        file("d100/x", b"x", 0o200),
        directory("d100", 0o100),
        file("d300/x", b"x", 0o644),
        directory("d300", 0o300),
        file("d400/x", b"x", 0o444),
        directory("d400", 0o400),
        file("d500/x", b"x", 0o400),
        directory("d500", 0o500),
        file("f000", &large, 0o000),
        file("f200", b"x", 0o200),
        (link(b"link", b"d000/in/x"), Vec::new()),
    ]
}

/// Returns the answers that are not "had", by path.
fn run(store: &Store, offers: &[(Entry, Vec<u8>)]) -> Vec<(String, String)> {
    let mut answers = Vec::new();
    for (entry, encoded) in offers {
        let answer = match store.consider(entry) {
            Ok(Verdict::Have(Kept::All)) => continue,
            Ok(Verdict::Want(reception)) => format!("{:?}", reception.receive(&encoded[..], &mut |_, _| {})),
            // Nothing of the older version is used.
            Ok(Verdict::Describe(delta)) => match delta.described(std::io::repeat(0)) {
                Ok(_) => "described".to_owned(),
                Err(why) => format!("{why:?}"),
            },
            other => format!("{other:?}"),
        };
        answers.push((entry.path.to_string(), answer));
    }
    answers
}

/// Asserts that all modes are those that were offered. Looks from the top and leaves everything as it was.
fn assert_modes(dir: &Path) {
    let offers = offers();
    let offered =
        |name: &str| offers.iter().find(|(entry, _)| entry.path.to_string() == name).unwrap().0.mode;
    for (entry, _) in offers.iter().filter(|(entry, _)| !matches!(entry.kind, Kind::Symlink { .. })) {
        let name = entry.path.to_string();
        let above: Vec<_> = name.match_indices('/').map(|(at, _)| &name[..at]).collect();
        above.iter().for_each(|above| mode(&dir.join(above), 0o700));
        let found = std::fs::metadata(dir.join(&name)).unwrap().mode() & 0o7777;
        above.iter().rev().for_each(|above| mode(&dir.join(above), offered(above).unwrap()));
        assert_eq!(format!("{name}: {found:o}"), format!("{name}: {:o}", entry.mode.unwrap()));
    }
}

fn open(pair: &Pair) -> Store {
    let mut all = StoreOptions::default();
    all.allow = Allow::all();
    Store::open(&pair.to(), all).unwrap()
}

/// Tidies up, so that the directory can be removed.
fn tidy(pair: &Pair) {
    for (entry, _) in offers().iter().rev().filter(|(entry, _)| entry.kind == Kind::Directory) {
        _ = std::fs::set_permissions(
            pair.to().join(entry.path.to_string()),
            PermissionsExt::from_mode(0o700),
        );
    }
}

#[test]
fn what_its_owner_may_not_read_is_there_in_the_second_run_and_can_change() {
    if alone::part().is_none() {
        let test = "jobs::forbidden::what_its_owner_may_not_read_is_there_in_the_second_run_and_can_change";
        return as_another_user(test).into_iter().for_each(alone::assert_passes);
    }
    let pair = Pair::new();
    let (store, offers) = (open(&pair), offers());
    run(&store, &offers);
    assert_modes(&pair.to());
    for store in [&store, &open(&pair)] {
        assert_eq!(run(store, &offers), []);
        assert_modes(&pair.to());
    }
    // A dry run looks, too, and changes nothing.
    let dry = store.for_job(Wishes { dry_run: true, ..Wishes::default() }).unwrap();
    assert_eq!(run(&dry, &offers), []);
    let (new, _) = file(b"d000/in/x", b"another");
    assert!(matches!(dry.consider(&new), Ok(Verdict::Would(Change::Replace))));
    assert_modes(&pair.to());
    // Something new in each of them, and something else in place of what cannot be read, which is kept.
    let wishes = Wishes { backup: Some(entry(b"d000/kept", Kind::Directory).path), ..Wishes::default() };
    let job = store.for_job(wishes).unwrap();
    for name in ["d000/in/x", "d000/in/new", "d100/x", "d100/new", "d300/new", "d400/new", "d500/new", "f200"]
    {
        let answers = run(&job, &[file(name.as_bytes(), b"another")]);
        assert_eq!(answers, [(name.to_owned(), "Ok(All)".to_owned())]);
    }
    let directories: Vec<_> =
        offers.iter().filter(|(entry, _)| entry.kind == Kind::Directory).cloned().collect();
    run(&store, &directories);
    mode(&pair.to().join("d000"), 0o700);
    assert_eq!(names(&pair.to().join("d000/kept")), ["d000", "d100", "f200"]);
    assert_eq!(pair.leftovers(), Vec::<String>::new());
    assert!(!pair.to().join(".afteryou").exists());
    tidy(&pair);
}

#[test]
fn a_kill_leaves_modes_that_the_next_start_puts_back() {
    const TEST: &str = "jobs::forbidden::a_kill_leaves_modes_that_the_next_start_puts_back";
    let Some(part) = alone::part() else {
        return as_another_user(TEST).into_iter().for_each(alone::assert_passes);
    };
    if !part.is_empty() {
        // Ends while it receives a file.
        let store = Store::open(Path::new(&part), StoreOptions::default()).unwrap();
        let Ok(Verdict::Want(_reception)) = store.consider(&file(b"d000/in/new", b"new").0) else { panic!() };
        std::process::exit(7);
    }
    let pair = Pair::new();
    run(&open(&pair), &offers());
    let killed = alone::again(TEST, pair.to()).output().unwrap();
    assert_eq!(killed.status.code(), Some(7), "{killed:?}");
    let now = std::fs::metadata(pair.to().join("d000")).unwrap().mode() & 0o7777;
    assert_eq!(
        (now, pair.leftovers().len()),
        (0o700, 1),
        "it was opened for its owner, and a note of that is left"
    );
    // A directory whose mode somebody has changed since keeps that mode.
    mode(&pair.to().join("d000/in"), 0o711);
    drop(open(&pair));
    mode(&pair.to().join("d000"), 0o700);
    assert_eq!(std::fs::metadata(pair.to().join("d000/in")).unwrap().mode() & 0o7777, 0o711);
    mode(&pair.to().join("d000/in"), 0o300);
    mode(&pair.to().join("d000"), 0o000);
    assert_modes(&pair.to());
    assert!(!pair.to().join(".afteryou").exists());
    tidy(&pair);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn extraneous_directories_that_their_owner_may_not_enter_are_removed() {
    if alone::part().is_none() {
        let test = "jobs::forbidden::extraneous_directories_that_their_owner_may_not_enter_are_removed";
        return as_another_user(test).into_iter().for_each(alone::assert_passes);
    }
    let pair = Pair::new();
    pair.write("d/kept", b"content");
    run(&open(&pair), &offers());
    for name in ["d/more/deep/x", "d/kept"] {
        run(&open(&pair), &[file(name.as_bytes(), b"content")]);
    }
    mode(&pair.to().join("d/more/deep"), 0o000);
    mode(&pair.to().join("d/more"), 0o300);
    mode(&pair.to().join("d"), 0o000);
    let far = Far::start(Service::Receive(open(&pair)));
    for dry_run in [true, false] {
        let wishes = Wishes { delete: true, dry_run, ..Wishes::default() };
        let (events, job) = options();
        let summary = send(far.dialer(), pair.source(), JobOptions { wishes, ..job }).await.unwrap();
        assert_eq!(summary.failed, 0, "{:?}", events.all());
        let removed = if dry_run { summary.would_remove } else { summary.removed };
        assert_eq!(removed as usize, offers().len() + 3, "{:?}", events.all());
    }
    far.stop().await;
    pair.assert_same();
    assert_eq!(std::fs::metadata(pair.to().join("d")).unwrap().mode() & 0o7777, 0o755);
}
