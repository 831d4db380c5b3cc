//! A directory is exchanged for a symbolic link, or renamed away, while a source walks, hashes and encodes: nothing from
//! outside the tree is ever read.

use super::common::Pair;
use afteryou_transfer::entry::{Entry, EntryPath, Kind, Wanted};
use afteryou_transfer::source::{EncodeError, Item, Prepared, Source, SourceOptions, Symlinks};
use rustix::fs::{renameat_with, RenameFlags, CWD};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Of each kind, in each run.
const EXCHANGES: u64 = 10_000;
/// In each directory that is exchanged: one is read while others wait.
const FILES: usize = 20;
/// Larger than all that is in the tree together.
const OUTSIDE_BYTES: usize = 60_000;
const OUTSIDE: u8 = b'#';
/// A name that nothing in the tree has.
const SECRET: &str = "secret";
/// Files that are prepared again in each run: each takes half a second or more.
const AGAIN: usize = 1;

/// Entries that came from outside.
#[derive(Debug, Default, PartialEq, Eq)]
struct Leaks {
    /// Names that only exist outside.
    names: u64,
    /// Offered hashes, targets of links and totals.
    offers: u64,
    /// Encoded content.
    content: u64,
}

/// `from/d` is the tree, `beside` the outside.
struct Yard(Pair);

impl Yard {
    fn new() -> Yard {
        use std::os::unix::fs::symlink;
        let pair = Pair::new();
        for path in ["1", "deep/inner/1", "deep/inner/sub/1"] {
            pair.write(&format!("d/{path}"), b"inside");
        }
        for file in 0..FILES {
            pair.write(&format!("d/b/{file}"), b"inside");
            pair.write(&format!("d/c/sub/{file}"), b"inside");
        }
        // In the tree, unless `inner` was renamed away.
        symlink("../../../1", pair.from().join("d/deep/inner/sub/up")).expect("a link");
        let base = pair.base.path();
        let outside = [OUTSIDE; OUTSIDE_BYTES];
        std::fs::create_dir(base.join("away")).expect("a directory");
        for file in (0..FILES).map(|file| file.to_string()).chain([SECRET.to_owned()]) {
            std::fs::write(base.join("beside").join(file), outside).expect("a file");
        }
        std::fs::write(base.join("1"), outside).expect("a file");
        symlink("##", base.join("beside/link")).expect("a link");
        symlink(base.join("beside"), base.join("swap")).expect("a link");
        symlink("../../beside", base.join("swap-relative")).expect("a link");
        symlink("../beside", base.join("swap-tree")).expect("a link");
        Yard(pair)
    }

    fn tree(&self) -> PathBuf {
        self.0.from().join("d")
    }

    /// Exchanges and renames everything so often.
    fn exchange(&self) {
        let base = self.0.base.path();
        let [b, sub, inner] = ["b", "c/sub", "deep/inner"].map(|name| self.tree().join(name));
        let away = base.join("away/inner");
        let rename = |from: &Path, to: &Path| std::fs::rename(from, to).expect("renames");
        let exchange = |one: &Path, other: &Path| {
            renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).expect("exchanges")
        };
        for count in 0..EXCHANGES / 2 {
            // Twice each: everything is where it was.
            for _ in 0..2 {
                exchange(&b, &base.join("swap"));
                pause(count);
            }
            for _ in 0..2 {
                exchange(&sub, &base.join("swap-relative"));
                pause(count + 7);
            }
            // The tree itself, too.
            for _ in 0..2 {
                exchange(&self.tree(), &base.join("swap-tree"));
                pause(count + 11);
            }
            rename(&inner, &away);
            pause(count + 3);
            rename(&away, &inner);
            pause(count + 5);
        }
    }

    /// Looks at everything again and again while directories are exchanged.
    fn leaks(&self, source: &Source) -> Leaks {
        let done = AtomicBool::new(false);
        let mut leaks = Leaks::default();
        std::thread::scope(|scope| {
            let exchanging = scope.spawn(|| {
                self.exchange();
                done.store(true, Ordering::Relaxed);
            });
            let mut again = AGAIN;
            while !done.load(Ordering::Relaxed) {
                leaks.offers += u64::from(source.scan().bytes >= OUTSIDE_BYTES as u64);
                source.entries().for_each(|item| leaks.look_at(item, &mut again));
            }
            exchanging.join().expect("no panic");
        });
        leaks
    }
}

/// Pauses from nothing to 50 µs, in no rhythm.
fn pause(n: u64) {
    let spins = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53;
    for _ in 0..spins {
        std::hint::spin_loop();
    }
}

impl Leaks {
    fn look_at(&mut self, item: Item, again: &mut usize) {
        match item {
            Item::Skipped { path, .. } | Item::Failed { path, .. } => self.look_at_name(&path),
            Item::Entry(prepared) => {
                self.look_at_offer(prepared.entry());
                self.look_at_content(prepared, again);
            }
        }
    }

    fn look_at_name(&mut self, path: &EntryPath) {
        let is_secret = |name: &[u8]| name == SECRET.as_bytes() || name == b"link";
        self.names += u64::from(path.0.split(|&byte| byte == b'/').any(is_secret));
    }

    fn look_at_offer(&mut self, entry: &Entry) {
        self.look_at_name(&entry.path);
        self.offers += u64::from(match &entry.kind {
            Kind::File { size, .. } => *size == OUTSIDE_BYTES as u64,
            Kind::Symlink { target } => target.contains(&OUTSIDE),
            Kind::Directory => false,
        });
    }

    fn look_at_content(&mut self, prepared: Prepared, again: &mut usize) {
        let Kind::File { size, .. } = prepared.entry().kind else { return };
        let mut encoded = Vec::new();
        let result = prepared.encode(&Wanted(vec![(0, size)]), &mut encoded);
        self.content += u64::from(encoded.contains(&OUTSIDE));
        if matches!(result, Err(EncodeError::Changed | EncodeError::Gone)) && *again > 0 {
            *again -= 1;
            self.look_at(prepared.again(), again);
        }
    }
}

fn options(symlinks: Symlinks) -> SourceOptions {
    let mut options = SourceOptions::default();
    options.symlinks = symlinks;
    options
}

#[test]
fn what_is_sent_never_comes_from_outside_though_directories_become_links_meanwhile() {
    for symlinks in [Symlinks::Keep, Symlinks::Skip] {
        let yard = Yard::new();
        let source = Source::of(&[yard.tree()], options(symlinks)).expect("a source");
        assert_eq!(yard.leaks(&source), Leaks::default(), "send, {symlinks:?}");
    }
}

fn serve(symlinks: Symlinks, path: &str) {
    let yard = Yard::new();
    let source = Source::below(&yard.0.from(), path.as_bytes(), options(symlinks)).expect("a source");
    assert_eq!(yard.leaks(&source), Leaks::default(), "serve \"{path}\", {symlinks:?}");
}

#[test]
fn what_is_served_never_comes_from_outside_though_directories_become_links_meanwhile() {
    serve(Symlinks::Keep, "d");
    serve(Symlinks::Skip, "");
}

#[test]
fn what_is_served_with_links_followed_never_comes_from_outside() {
    serve(Symlinks::Follow, "d");
    serve(Symlinks::Follow, "");
}

/// The other tests could find something: a sender who follows links may leave the tree.
#[test]
fn what_is_sent_with_links_followed_may_come_from_outside() {
    let yard = Yard::new();
    let source = Source::of(&[yard.tree()], options(Symlinks::Follow)).expect("a source");
    let leaks = yard.leaks(&source);
    assert!(leaks.names > 0 && leaks.offers > 0 && leaks.content > 0, "{leaks:?}");
}
