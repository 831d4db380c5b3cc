//! Sockets that processes outside the tree have, too: a program may have received one from another that still uses it.
//!
//! Nothing but a look at all other processes finds them. Such a look is made in small parts, a part a tick, and only while there are
//! connections that it has not asked about.

use super::tree;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// A part of a look takes this long, and one process at least: 0.5 % of a core at a hundred parts a second.
const PART: Duration = Duration::from_micros(50);
/// Looks follow each other after this at least.
const APART_MIN: Duration = Duration::from_secs(1);

/// The look.
#[derive(Debug, Default)]
pub struct Shared {
    /// Processes that this look has still to visit.
    left: Vec<i32>,
    /// Inodes that it looks for.
    asked: HashSet<u64>,
    /// Inodes for the next one.
    new: HashSet<u64>,
    next: Option<Instant>,
}

impl Shared {
    /// Asks about a socket.
    pub fn ask(&mut self, inode: u64) {
        self.new.insert(inode);
    }

    /// Looks on, and returns inodes that a process outside the tree has, too.
    pub fn look(&mut self, now: Instant, tree: &HashSet<i32>) -> Vec<u64> {
        if self.left.is_empty() && !self.new.is_empty() && self.next.is_none_or(|next| now >= next) {
            self.next = Some(now + APART_MIN);
            self.asked = std::mem::take(&mut self.new);
            self.left = tree::all();
        }
        let began = Instant::now();
        let own = std::process::id() as i32;
        let mut found = Vec::new();
        while let Some(pid) = self.left.pop() {
            if pid == own || tree.contains(&pid) {
                continue;
            }
            // A process that the tree has started since is in it, too.
            let has: Vec<u64> = tree::sockets(pid)
                .map(|(_, inode)| inode)
                .filter(|inode| self.asked.contains(inode))
                .collect();
            if !has.is_empty() && !tree::has_above(pid, |pid| pid == own || tree.contains(&pid)) {
                found.extend(has);
            }
            if began.elapsed() >= PART {
                break;
            }
        }
        found
    }
}
