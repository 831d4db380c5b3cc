//! Patterns beside git: generated lists and trees, for each of which git and the filter leave out the same files.
//!
//! Names and patterns are made of the same few pieces, and most patterns are made from a path of the tree, so that many match.
//! `AFTERYOU_GIT_LISTS=10000 cargo test -p afteryou-transfer --test all git` compares ten thousand lists in each of the two ways.

use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::filter::{Filter, Filters, Patterns};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

type Files = BTreeSet<Vec<u8>>;

/// Lists of patterns in each of the two ways.
const LISTS: usize = 120;

/// The file with the patterns for its directory.
const PATTERNS: &str = ".patterns";

const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"ab",
    b"ba",
    b"abc",
    b"aa",
    b"bab",
    b"a.b",
    b".a",
    b"1",
    b"a1",
    b"{a}",
    b"{a,b}",
    b"[",
    b"]",
    b"[a",
    b"*",
    b"?",
    b"\\",
    b"\\a",
    b" ",
    b"a ",
    b"#a",
    b"#",
    b"!a",
    b"\t",
    b"a\t",
    b"\xff",
    b"\xc3\xa9",
    b"-",
    b"^",
    b":",
    b"a-b",
    b"A",
    b"[ab]",
    b"**",
    b"a*b",
    b"a\r",
    b"\r",
    b"b c",
    b"{",
    b",",
];

const PIECES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"ab",
    b"*",
    b"*",
    b"**",
    b"***",
    b"/",
    b"/",
    b"/",
    b"**/",
    b"/**",
    b"/**/",
    b"?",
    b"?",
    b"[ab]",
    b"[!a]",
    b"[^b]",
    b"[a-c]",
    b"[]a]",
    b"[!]a]",
    b"[[:alpha:]]",
    b"[[:digit:]]",
    b"[![:space:]]",
    b"[[:none:]]",
    b"[",
    b"]",
    b"[a",
    b"[a-",
    b"[a-]",
    b"[\\]]",
    b"[\\a-\\c]",
    b"[--0]",
    b"[[:digit:]a-c]",
    b"[[:]",
    b"[[::]]",
    b"[[:alpha]",
    b"-",
    b"\\a",
    b"\\*",
    b"\\?",
    b"\\[",
    b"\\\\",
    b"\\",
    b"\\/",
    b"{a}",
    b"{a,b}",
    b"{",
    b"}",
    b",",
    b" ",
    b"\\ ",
    b"\t",
    b"#",
    b"!",
    b".",
    b"..",
    b"1",
    b"\xff",
    b"\xc3\xa9",
    b"^",
    b":",
    b"\r",
    b"A",
];

/// Makes names, trees and patterns.
struct Maker(Pcg64Mcg);

impl Maker {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn pick<'a>(&mut self, all: &[&'a [u8]]) -> &'a [u8] {
        all[self.below(all.len())]
    }

    /// Makes files, of which some are deep.
    fn tree(&mut self, most: usize) -> Files {
        let (mut directories, mut files, mut all) = (vec![Vec::new()], Files::new(), Files::new());
        for index in 0..most {
            let parent = &directories[self.below(directories.len())];
            let slash = if parent.is_empty() { &b""[..] } else { b"/" };
            let path = [parent, slash, self.pick(NAMES)].concat();
            if !all.insert(path.clone()) {
                continue;
            }
            match index < most / 3 {
                true => directories.push(path),
                false => _ = files.insert(path),
            }
        }
        files
    }

    /// Makes a pattern: a path of the tree, a part of one, or none, with pieces of patterns in it.
    fn pattern(&mut self, files: &Files) -> Vec<u8> {
        let mut pattern = Vec::new();
        if self.one_in(7) {
            pattern.push(b'!');
        }
        if self.one_in(6) {
            pattern.push(b'/');
        }
        if files.is_empty() || self.one_in(3) {
            (0..=self.below(6)).for_each(|_| pattern.extend(self.pick(PIECES)));
        } else {
            let path = files.iter().nth(self.below(files.len())).unwrap();
            let mut components: Vec<_> = path.split(|&byte| byte == b'/').collect();
            components.truncate(1 + self.below(components.len()));
            components.drain(..self.below(components.len()));
            components.join(&b'/').into_iter().for_each(|byte| self.instead_of(byte, &mut pattern));
        }
        if self.one_in(7) {
            pattern.push(b'/');
        }
        pattern
    }

    fn instead_of(&mut self, byte: u8, pattern: &mut Vec<u8>) {
        match self.below(14) {
            0 => pattern.push(b'?'),
            1 => pattern.push(b'*'),
            2 => pattern.extend(b"**"),
            3 => pattern.extend([b'\\', byte]),
            4 => pattern.extend([b'[', byte, b']']),
            5 => pattern.extend([b'[', b'!', byte, b']']),
            6 => pattern.extend(b"[[:alpha:]]"),
            7 => pattern.extend([self.pick(PIECES), &[byte]].concat()),
            8 => {}
            _ => pattern.push(byte),
        }
    }

    fn list(&mut self, files: &Files) -> Vec<Vec<u8>> {
        let more = if self.one_in(2) { self.below(3) } else { 0 };
        (0..=more).map(|_| self.pattern(files)).collect()
    }

    /// Makes a file of patterns, with all that a file may have beside them.
    fn file(&mut self, files: &Files) -> Vec<u8> {
        let mut text = if self.one_in(20) { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        for pattern in self.list(files) {
            text.extend(pattern);
            if self.one_in(8) {
                text.extend(self.pick(&[b"\r", b" ", b"  \t", b"\\ ", b"\\", b"\0a", b"\n"]));
            }
            text.push(b'\n');
        }
        if self.one_in(10) {
            text.pop();
        }
        text
    }
}

fn make(root: &Path, files: &Files) {
    for file in files {
        let path = root.join(OsStr::from_bytes(file));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, b"").unwrap();
    }
}

/// Makes a repository without content. `None`: there is no git here.
fn repository(seed: u64) -> Option<(tempfile::TempDir, Maker)> {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "-q", "--template="]).arg(dir.path()).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: `git init` fails here");
        return None;
    }
    Some((dir, Maker(Pcg64Mcg::seed_from_u64(seed))))
}

/// Returns the files that git keeps.
fn git_keeps<'a>(root: &Path, excluding: impl IntoIterator<Item = &'a OsStr>) -> Files {
    let output = Command::new("git")
        .current_dir(root)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .args(["ls-files", "-o", "-z"])
        .args(excluding)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Returns the files that a filter keeps, looked at as a walk does.
fn filter_keeps(patterns: Patterns, files: &Files) -> Files {
    let own = Filter::new(patterns, 0).unwrap();
    let filters = Filters::new(EntryPath::default(), own, Filter::default());
    let is_excluded = |path: &[u8], is_directory| filters.exclude(&EntryPath(path.to_vec()), is_directory);
    let keeps = |path: &&Vec<u8>| {
        let mut ends = (0..path.len()).filter(|&at| path[at] == b'/');
        !ends.any(|end| is_excluded(&path[..end], true)) && !is_excluded(path, false)
    };
    files.iter().filter(keeps).cloned().collect()
}

fn assert_same(list: &[u8], git: &Files, ours: &Files) {
    let differ = git.symmetric_difference(ours).map(|path| path.escape_ascii().to_string());
    let differ: Vec<_> = differ.collect();
    assert!(differ.is_empty(), "\"{}\": git and the filter differ about {differ:?}", list.escape_ascii());
}

fn lists() -> usize {
    std::env::var("AFTERYOU_GIT_LISTS").map_or(LISTS, |lists| lists.parse().expect("a number of lists"))
}

#[test]
fn the_command_line_means_what_git_takes_it_for() {
    let Some((dir, mut maker)) = repository(2) else { return };
    let files = maker.tree(90);
    make(dir.path(), &files);
    let (mut pairs, mut excluded) = (0, 0);
    for _ in 0..lists() {
        let list = maker.list(&files);
        let options = list.iter().flat_map(|pattern| [OsStr::new("-x"), OsStr::from_bytes(pattern)]);
        let git = git_keeps(dir.path(), options);
        let ours = filter_keeps(list.iter().collect(), &files);
        assert_same(&list.join(&b'\n'), &git, &ours);
        pairs += files.len();
        excluded += files.len() - ours.len();
    }
    assert!(pairs >= 5000 && excluded * 20 > pairs, "{pairs} pairs, {excluded} excluded: too few");
}

#[test]
fn a_file_of_patterns_means_what_git_takes_it_for() {
    let Some((dir, mut maker)) = repository(1) else { return };
    let (mut pairs, mut excluded, mut all) = (0, 0, Vec::new());
    for index in 0..lists() {
        let root = dir.path().join(index.to_string());
        std::fs::create_dir(&root).unwrap();
        let files = maker.tree(70);
        make(&root, &files);
        let text = maker.file(&files);
        std::fs::write(root.join(PATTERNS), &text).unwrap();
        let mut patterns = Patterns::default();
        patterns.read(&text);
        let ours = filter_keeps(patterns, &files);
        pairs += files.len();
        excluded += files.len() - ours.len();
        all.push((text, ours, Files::new()));
    }
    let option = format!("--exclude-per-directory={PATTERNS}");
    for path in git_keeps(dir.path(), [OsStr::new(&option)]) {
        let at = path.iter().position(|&byte| byte == b'/').unwrap();
        let index: usize = std::str::from_utf8(&path[..at]).unwrap().parse().unwrap();
        if &path[at + 1..] != PATTERNS.as_bytes() {
            all[index].2.insert(path[at + 1..].to_vec());
        }
    }
    all.iter().for_each(|(text, ours, git)| assert_same(text, git, ours));
    assert!(pairs >= 5000 && excluded * 20 > pairs, "{pairs} pairs, {excluded} excluded: too few");
}

#[test]
fn named_classes_have_the_bytes_that_git_has_in_them() {
    let Some((dir, _)) = repository(0) else { return };
    let files: Files = (1..=255).filter(|&byte| byte != b'/').map(|byte| vec![b'_', byte]).collect();
    make(dir.path(), &files);
    let names = ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space"];
    for name in names.into_iter().chain(["upper", "xdigit", "word", ""]) {
        let pattern = format!("_[[:{name}:]]");
        let git = git_keeps(dir.path(), [OsStr::new("-x"), OsStr::new(&pattern)]);
        assert_same(pattern.as_bytes(), &git, &filter_keeps([&pattern].into_iter().collect(), &files));
    }
}
