//! What a source finds, leaves out and remembers.

use super::common::{content, encode, move_all, names, Outcome, Pair};
use afteryou_transfer::entry::{Kind, Wanted};
use afteryou_transfer::source::{EncodeError, Item, Prepared, Source, SourceOptions, Symlinks};
use afteryou_transfer::store::Verdict;
use afteryou_transfer::wire::Why;
use afteryou_transfer::Error;
use std::path::PathBuf;

/// Returns the paths that are offered, in order, and what is left out with the reason.
fn list(source: &Source) -> (Vec<String>, Vec<(String, String)>) {
    let (mut offered, mut skipped) = (Vec::new(), Vec::new());
    for item in source.entries() {
        match item {
            Item::Entry(prepared) => offered.push(prepared.entry().path.to_string()),
            Item::Skipped { path, reason } | Item::Failed { path, reason } => {
                skipped.push((path.to_string(), reason))
            }
        }
    }
    (offered, skipped)
}

/// Returns whether the temporary files are where no hash is kept.
fn nothing_is_remembered() -> bool {
    #[cfg(target_os = "linux")]
    {
        let system = rustix::fs::statfs(std::env::temp_dir()).expect("a file system");
        // ext2 to ext4, XFS, Btrfs, F2FS.
        if ![0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010].contains(&(system.f_type as u32)) {
            println!("SKIPPED: set TMPDIR to a directory on a disk, for no hash is kept of files in memory");
            return true;
        }
    }
    false
}

fn options(symlinks: Symlinks) -> SourceOptions {
    let mut options = SourceOptions::default();
    options.symlinks = symlinks;
    options
}

#[test]
fn each_path_arrives_under_its_last_component_sorted_with_directories_after_their_content() {
    let pair = Pair::new();
    pair.write("z/b/2", b"22");
    pair.write("z/b/1", b"1");
    pair.write("z/a", b"333");
    pair.write("deep/er/single", b"4444");
    let paths = [pair.from().join("z/"), pair.from().join("deep/er/single")];
    let source = Source::of(&paths, SourceOptions::default()).expect("a source");
    let (offered, skipped) = list(&source);
    assert_eq!(offered, ["single", "z/a", "z/b/1", "z/b/2", "z/b", "z"]);
    assert_eq!(skipped, []);
    let totals = source.scan();
    assert_eq!((totals.entries, totals.bytes), (6, 10));
}

#[test]
fn paths_that_could_not_be_told_apart_or_have_no_name_are_refused() {
    let pair = Pair::new();
    pair.write("a/same", b"1");
    pair.write("b/same", b"2");
    let of = |paths: &[PathBuf]| Source::of(paths, SourceOptions::default()).map(|source| list(&source).0);
    let twice = of(&[pair.from().join("a/same"), pair.from().join("b/same")]);
    assert!(matches!(twice, Err(Error::Paths(words)) if words.contains("same")));
    assert!(matches!(of(&["/".into()]), Err(Error::Paths(_))));
    assert!(matches!(of(&[pair.from().join("nothing")]), Err(Error::File { .. })));
    assert_eq!(of(&[pair.from().join("a/..")]).expect("a source").last().map(String::as_str), Some("from"));
}

#[cfg(unix)]
#[test]
fn what_cannot_travel_is_left_out_with_a_reason() {
    let pair = Pair::new();
    pair.write("d/file", b"1");
    let _socket = std::os::unix::net::UnixListener::bind(pair.from().join("d/socket")).expect("a socket");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        pair.from().join("d/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .expect("a pipe");
    let (offered, skipped) = list(&pair.source());
    assert_eq!(offered, ["d/file", "d"]);
    let said: Vec<_> = skipped.iter().map(|(path, reason)| (path.as_str(), reason.as_str())).collect();
    assert_eq!(said, [("d/pipe", "it is a named pipe"), ("d/socket", "it is a socket")]);
}

#[cfg(unix)]
#[test]
fn links_obey_the_policy() {
    use std::os::unix::fs::symlink;
    let pair = Pair::new();
    pair.write("d/sub/file", b"content");
    pair.write("outside", b"outside");
    let d = pair.from().join("d");
    symlink("sub/file", d.join("good")).expect("a link");
    symlink("../file", d.join("sub/dangling")).expect("a link");
    symlink("../outside", d.join("out")).expect("a link");
    symlink(pair.from().join("outside"), d.join("absolute")).expect("a link");
    symlink("..", d.join("sub/loop")).expect("a link");
    let of = |policy| Source::of(std::slice::from_ref(&d), options(policy)).expect("a source");

    let (offered, skipped) = list(&of(Symlinks::Keep));
    assert_eq!(offered, ["d/good", "d/sub/dangling", "d/sub/file", "d/sub/loop", "d/sub", "d"]);
    assert_eq!(skipped.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["d/absolute", "d/out"]);
    assert!(skipped[1].1.contains("not sent"), "{skipped:?}");

    let (offered, skipped) = list(&of(Symlinks::Skip));
    assert_eq!(offered, ["d/sub/file", "d/sub", "d"]);
    assert_eq!(skipped.len(), 5);

    let (offered, skipped) = list(&of(Symlinks::Follow));
    assert_eq!(offered, ["d/absolute", "d/good", "d/out", "d/sub/file", "d/sub", "d"]);
    let skipped: Vec<_> = skipped.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(skipped, ["d/sub/dangling", "d/sub/loop"]);

    // Sent together with what it leads to, a link is fine.
    let both =
        Source::of(&[d.clone(), pair.from().join("outside")], options(Symlinks::Keep)).expect("a source");
    assert!(list(&both).0.contains(&"d/out".to_owned()));
    // What the user names is meant, though it is a link.
    let named = Source::of(&[d.join("good")], options(Symlinks::Skip)).expect("a source");
    assert_eq!(list(&named).0, ["good"]);

    for policy in [Symlinks::Keep, Symlinks::Skip, Symlinks::Follow] {
        let fresh = Pair::new();
        for (path, outcome) in move_all(&of(policy), &fresh.store()) {
            assert!(!matches!(outcome, Outcome::Failed(_)), "{path}: {outcome:?}");
        }
        assert_eq!(std::fs::read(fresh.to().join("d/sub/file")).expect("it is there"), b"content");
    }
}

#[cfg(unix)]
#[test]
fn a_served_directory_cannot_be_left() {
    use std::os::unix::fs::symlink;
    let pair = Pair::new();
    pair.write("d/file", b"content");
    let beside = pair.base.path().join("beside");
    symlink(&beside, pair.from().join("absolute")).expect("a link");
    symlink("../beside", pair.from().join("relative")).expect("a link");
    symlink("../../beside", pair.from().join("d/deep")).expect("a link");
    symlink("d", pair.from().join("inside")).expect("a link");
    for policy in [Symlinks::Keep, Symlinks::Skip, Symlinks::Follow] {
        let below =
            |path: &[u8]| Source::below(&pair.from(), path, options(policy)).map(|source| list(&source).0);
        for path in [
            &b".."[..],
            b"../beside",
            b"/etc",
            b"d/../..",
            b"absolute",
            b"absolute/canary",
            b"relative/canary",
            b"d/deep/canary",
            b"nothing",
            b".afteryou",
            b"d/.afteryou",
            b"a\0",
            b"d//file",
        ] {
            assert!(below(path).is_err(), "{}", String::from_utf8_lossy(path));
        }
        assert_eq!(below(b"d/file").expect("a source"), ["file"]);
        assert_eq!(below(b"d").expect("a source"), ["d/file", "d"]);
        assert_eq!(below(b"inside/file").expect("a source"), ["file"]);
        let all = below(b"").expect("a source");
        assert!(!all.iter().any(|path| path.contains("canary") || path.contains("deep")), "{all:?}");
        assert!(all.contains(&"d/file".to_owned()));
    }
}

/// Returns a name that a store gives.
fn partial(end: &str) -> String {
    format!(".afteryou/{}-{}.{end}", "0123456789abcdef".repeat(2), "fedcba9876543210".repeat(2))
}

#[test]
fn partial_files_are_not_sent_however_deep_they_lie() {
    let pair = Pair::new();
    pair.write("file", b"content");
    for end in ["part", "tree", "link"] {
        pair.write(&partial(end), b"partial");
        pair.write(&format!("d/{}", partial(end)), b"partial");
    }
    let (offered, skipped) = list(&pair.source());
    assert_eq!(offered, ["d", "file"]);
    assert_eq!(skipped.len(), 0, "{skipped:?}");
    let source = Source::of(&[pair.from()], SourceOptions::default()).expect("a source");
    let (offered, skipped) = list(&source);
    assert_eq!(offered, ["from/d", "from/file", "from"]);
    assert_eq!(skipped.len(), 0);
}

#[test]
fn what_only_has_the_name_of_partial_files_is_sent_where_the_sink_takes_it() {
    let pair = Pair::new();
    pair.write(".afteryou/notes", b"mine");
    pair.write("d/.afteryou/notes", b"mine");
    pair.write("e/.AfterYou", b"a file");
    let (offered, skipped) = list(&pair.source());
    assert_eq!(offered, ["d/.afteryou/notes", "d/.afteryou", "d", "e/.AfterYou", "e"]);
    let [(path, reason)] = &skipped[..] else { panic!("one is named: {skipped:?}") };
    assert!(path == ".afteryou" && reason.contains("rename"), "{path}: {reason}");
    for (path, outcome) in move_all(&pair.source(), &pair.store()) {
        assert!(!matches!(outcome, Outcome::Failed(_)), "{path}: {outcome:?}");
    }
    assert_eq!(std::fs::read(pair.to().join("d/.afteryou/notes")).expect("it is there"), b"mine");
}

/// A large file in a served directory, its root as it is offered, and a cache.
struct Large {
    pair: Pair,
    bytes: Vec<u8>,
    cache: PathBuf,
    source: Source,
}

const LARGE: usize = 65 * 1024 * 1024;

impl Large {
    fn new() -> Self {
        let pair = Pair::new();
        let bytes = content(LARGE, 1);
        pair.write("large", &bytes);
        let cache = pair.base.path().join("to/cache");
        let mut options = SourceOptions::default();
        options.cache = Some(cache.clone());
        let source = Source::below(&pair.from(), b"", options).expect("a source");
        Self { pair, bytes, cache, source }
    }

    fn right(&self) -> [u8; 32] {
        *blake3::hash(&self.bytes).as_bytes()
    }

    fn offered(&self) -> ([u8; 32], Prepared) {
        let Some(Item::Entry(prepared)) = self.source.entries().next() else { panic!("a file") };
        let Kind::File { root, .. } = prepared.entry().kind else { panic!("a file") };
        (root, prepared)
    }

    /// Changes a byte; size and time of modification do not change.
    fn edit_unseen(&mut self, at: usize) {
        use std::io::{Seek, SeekFrom, Write};
        let mut options = std::fs::File::options();
        let mut file = options.write(true).open(self.pair.from().join("large")).expect("opens");
        let time = file.metadata().expect("metadata").modified().expect("a time");
        self.bytes[at] ^= 1;
        file.seek(SeekFrom::Start(at as u64)).expect("seeks");
        file.write_all(&self.bytes[at..=at]).expect("writes");
        file.set_modified(time).expect("a time");
    }
}

/// Waits until the times of a file count.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(2100));
}

#[cfg(unix)]
#[test]
fn a_file_edited_in_place_with_its_old_time_is_hashed_anew() {
    if nothing_is_remembered() {
        return;
    }
    let mut large = Large::new();
    settle();
    assert_eq!(large.offered().0, large.right());
    assert_eq!(names(&large.cache).len(), 1, "it is remembered");
    let (_, prepared) = large.offered();
    large.edit_unseen(LARGE / 2);
    let (root, _) = large.offered();
    assert_eq!(root, large.right());
    // Neither is what was prepared before sent any more.
    assert!(prepared.encode(&Wanted(vec![(0, LARGE as u64)]), std::io::sink()).is_err());
}

#[test]
fn a_file_that_just_changed_is_not_remembered() {
    let mut large = Large::new();
    assert_eq!(large.offered().0, large.right());
    assert_eq!(names(&large.cache), Vec::<String>::new());
    large.edit_unseen(LARGE / 3);
    let (root, prepared) = large.offered();
    assert_eq!(root, large.right());
    prepared.encode(&Wanted(vec![(0, LARGE as u64)]), std::io::sink()).expect("encodes");
}

#[test]
fn trees_of_large_files_are_remembered_and_a_spoilt_memory_is_harmless() {
    if nothing_is_remembered() {
        return;
    }
    let mut large = Large::new();
    settle();
    let whole = Wanted(vec![(0, LARGE as u64)]);
    let (first, prepared) = large.offered();
    assert_eq!(first, large.right());
    prepared.encode(&whole, std::io::sink()).expect("encodes");
    let [kept] = names(&large.cache).try_into().expect("one file");
    let kept = large.cache.join(kept);

    // It is used: a tree that looks right and is another content's is offered, found out, and the file is hashed anew.
    let mine = std::fs::read(&kept).expect("it is there");
    let mut other = mine.clone();
    other[16] ^= 1;
    let sum = *blake3::Hasher::new().update(&other[16..48]).update(&other[80..]).finalize().as_bytes();
    other[48..80].copy_from_slice(&sum);
    std::fs::write(&kept, &other).expect("writes");
    let (second, prepared) = large.offered();
    assert_eq!(second, other[16..48], "the cache was not used");
    let store = large.pair.store();
    let Ok(Verdict::Want(reception)) = store.consider(prepared.entry()) else { panic!("wanted") };
    let encoded = encode(&prepared, reception.wanted());
    assert_eq!(reception.receive(&encoded[..], &mut |_, _| {}), Err(Why::Mismatch));
    let Item::Entry(prepared) = prepared.again() else { panic!("prepared") };
    let right = large.right();
    assert!(matches!(prepared.entry().kind, Kind::File { root, .. } if root == right));
    prepared.encode(&whole, std::io::sink()).expect("encodes");

    // Damaged, cut short, something else entirely.
    let whole_tree = std::fs::read(&kept).expect("it is there");
    for damage in 0..5 {
        let mut tree = whole_tree.clone();
        let length = tree.len();
        match damage {
            0 => tree[length / 2] ^= 1,
            1 => tree[20] ^= 1,
            2 => tree.truncate(100),
            3 => tree.clear(),
            _ => tree = content(length, 9),
        }
        std::fs::write(&kept, tree).expect("writes");
        let (root, prepared) = large.offered();
        assert_eq!(root, right, "damage {damage}");
        prepared.encode(&whole, std::io::sink()).expect("encodes");
    }

    // A changed file has a tree of its own.
    large.bytes[7] ^= 1;
    large.pair.write("large", &large.bytes);
    settle();
    assert_eq!(large.offered().0, large.right());
    assert_eq!(names(&large.cache).len(), 2);

    // Nobody used them for long.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(31 * 24 * 3600);
    let made_up = large.cache.join("0123.tree");
    std::fs::write(&made_up, b"").expect("writes");
    for name in names(&large.cache) {
        let file = std::fs::File::options().write(true).open(large.cache.join(name)).expect("opens");
        file.set_modified(old).expect("a time");
    }
    std::fs::remove_file(large.pair.from().join("large")).expect("removes");
    assert_eq!(large.source.entries().count(), 0);
    assert_eq!(names(&large.cache), Vec::<String>::new());
}

/// Small files in a served directory, and a cache.
#[cfg(unix)]
struct Smalls {
    pair: Pair,
    cache: PathBuf,
    source: Source,
}

#[cfg(unix)]
impl Smalls {
    /// Returns `empty`, `d/one` and `d/two`, of which the second is sent in several groups.
    fn settled() -> Self {
        let pair = Pair::new();
        pair.write("empty", b"");
        pair.write("d/one", &content(5_000, 1));
        pair.write("d/two", &content(300_000, 2));
        settle();
        let cache = pair.base.path().join("to/cache");
        let mut options = SourceOptions::default();
        options.cache = Some(cache.clone());
        let source = Source::below(&pair.from(), b"", options).expect("a source");
        Self { pair, cache, source }
    }

    fn offered(&self) -> Vec<Prepared> {
        let prepared = |item| match item {
            Item::Entry(prepared) => Some(prepared),
            _ => None,
        };
        let is_file = |prepared: &Prepared| matches!(prepared.entry().kind, Kind::File { .. });
        self.source.entries().filter_map(prepared).filter(is_file).collect()
    }

    /// Asserts that the offered roots are those of what is on the disk.
    fn assert_right(&self) {
        for prepared in self.offered() {
            let Kind::File { root, .. } = prepared.entry().kind else { panic!("a file") };
            let path = self.pair.from().join(prepared.entry().path.to_string());
            assert_eq!(root, *blake3::hash(&std::fs::read(path).expect("reads")).as_bytes());
        }
    }

    /// Exchanges the root of `d/two` in the records for another, with a check that agrees.
    fn lie(&self) -> [u8; 32] {
        use std::os::unix::fs::MetadataExt;
        let [kept] = names(&self.cache).try_into().expect("one file");
        let kept = self.cache.join(kept);
        let mut records = std::fs::read(&kept).expect("reads");
        let name = b"d/two";
        let at = records.windows(name.len()).position(|bytes| bytes == name).expect("a record") + name.len();
        records[at] ^= 1;
        let root: [u8; 32] = records[at..at + 32].try_into().expect("32 bytes");
        let file = std::fs::metadata(self.pair.from().join("d/two")).expect("metadata");
        let mut hasher = blake3::Hasher::new();
        for number in [file.dev(), file.ino(), file.size()] {
            hasher.update(&number.to_le_bytes());
        }
        for (seconds, nanos) in [(file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec())] {
            hasher.update(&seconds.to_le_bytes()).update(&(nanos as u32).to_le_bytes());
        }
        hasher.update(&root).update(name);
        records[at + 32..at + 48].copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        std::fs::write(kept, records).expect("writes");
        root
    }
}

#[cfg(unix)]
#[test]
fn roots_of_small_files_are_remembered_until_a_file_changes_with_its_old_time_too() {
    if nothing_is_remembered() {
        return;
    }
    let smalls = Smalls::settled();
    smalls.assert_right();
    assert_eq!(names(&smalls.cache).len(), 1, "they are remembered");
    for prepared in smalls.offered() {
        let Kind::File { size, .. } = prepared.entry().kind else { panic!("a file") };
        prepared.encode(&Wanted(vec![(0, size)]), std::io::sink()).expect("encodes");
    }
    let path = smalls.pair.from().join("d/one");
    let time = std::fs::metadata(&path).expect("metadata").modified().expect("a time");
    std::fs::write(&path, content(5_000, 7)).expect("writes");
    std::fs::File::options().write(true).open(&path).expect("opens").set_modified(time).expect("a time");
    smalls.assert_right();
    std::fs::remove_file(smalls.pair.from().join("empty")).expect("removes");
    smalls.pair.write("a/new", b"new");
    smalls.assert_right();
    smalls.assert_right();
}

#[cfg(unix)]
#[test]
fn a_remembered_root_that_is_wrong_is_found_out_by_the_sink_and_forgotten() {
    if nothing_is_remembered() {
        return;
    }
    let smalls = Smalls::settled();
    smalls.assert_right();
    let lie = smalls.lie();
    let is_two = |prepared: &Prepared| prepared.entry().path.0 == b"d/two";
    let prepared = smalls.offered().into_iter().find(is_two).expect("it is there");
    let Kind::File { root, .. } = prepared.entry().kind else { panic!("a file") };
    assert_eq!(root, lie, "the records were not used");
    // Its hashes are made when it is requested, and do not agree.
    let whole = Wanted(vec![(0, 300_000)]);
    assert!(matches!(prepared.encode(&whole, std::io::sink()), Err(EncodeError::Changed)));
    let Item::Entry(prepared) = prepared.again() else { panic!("prepared") };
    prepared.encode(&whole, std::io::sink()).expect("encodes");
    assert_eq!(names(&smalls.cache), Vec::<String>::new());
    smalls.assert_right();
}
