//! Finds the connections of a process tree.
//!
//! A look at all descriptors takes longer the more there are. So it is made in parts, which are as far apart as keeps their time below
//! [`SHARE`] of a core; a few processes are one part. A descriptor's name in /proc has the inode of its socket: one that was looked at before
//! is not duplicated again.

use super::original::Place;
use super::socket::{self, Kind, Process};
use super::system::processor_time;
use super::tree;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// A part takes this processor time, and one process at least.
const PART: Duration = Duration::from_micros(100);
/// Parts follow each other after this at least …
const APART_MIN: Duration = Duration::from_millis(10);
/// … and this many times of the processor time that the last one took: 0.7 % of a core.
const SHARE: u32 = 140;

/// A connection that was not known.
#[derive(Debug)]
pub struct Found {
    /// Process and descriptor.
    pub place: Place,
    /// Inode of the socket.
    pub inode: u64,
    /// The other end, if it is connected.
    pub peer: Option<IpAddr>,
}

/// The processes of a tree.
#[derive(Debug, Default)]
pub struct Scan {
    /// Those that have a socket that was looked at.
    processes: HashMap<i32, Process>,
    /// Processes of the last round.
    tree: HashSet<i32>,
    /// Processes of this round …
    seen: HashSet<i32>,
    /// … those of them that it has still to visit …
    left: Vec<i32>,
    /// … and the inodes of their sockets.
    present: HashSet<u64>,
    rounds: u64,
    next: Option<Instant>,
    /// Inodes of sockets that need no other look: they are steered, or will never be.
    settled: HashSet<u64>,
    /// Inodes of sockets that are none of ours to touch.
    excluded: HashSet<u64>,
    /// Its own sockets count, too.
    has_own: bool,
    /// Nothing is looked for.
    is_off: bool,
    /// Connections that were seen and do not use TCP.
    pub udp: u64,
    /// A process whose sockets may not be touched.
    pub refused: Option<i32>,
}

impl Scan {
    /// Creates a scan that includes the sockets of the process itself.
    pub fn with_own() -> Scan {
        Scan { has_own: true, ..Scan::default() }
    }

    /// Creates a scan that looks for nothing.
    pub fn off() -> Scan {
        Scan { is_off: true, ..Scan::default() }
    }

    /// Creates a scan that leaves the sockets alone that the caller itself has: the tree's processes may have inherited them, and others use
    /// them, too.
    pub fn without_own() -> Scan {
        Scan { excluded: tree::sockets(own_pid()).map(|(_, inode)| inode).collect(), ..Scan::default() }
    }

    /// Returns a duplicate of the socket at a place, if it is there still.
    ///
    /// # Errors
    /// As [`socket::duplicate`].
    pub fn duplicate(&self, place: &Place) -> io::Result<OwnedFd> {
        let process = self.processes.get(&place.pid).ok_or(io::ErrorKind::NotFound)?;
        socket::duplicate(process, place.fd, Some(place.cookie))
    }

    /// Returns the processes of the last round.
    pub fn tree(&self) -> &HashSet<i32> {
        &self.tree
    }

    /// Notes that a socket needs no other look.
    pub fn settle(&mut self, inode: u64) {
        self.settled.insert(inode);
    }

    /// Notes that a socket is none of ours to touch.
    pub fn exclude(&mut self, inode: u64) {
        self.excluded.insert(inode);
    }

    /// Notes that a socket is no longer where it was: the next look may find it elsewhere.
    pub fn unsettle(&mut self, inode: u64) {
        self.settled.remove(&inode);
    }

    /// Returns the number of complete rounds.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Looks on for connections that are not settled, if it is time.
    pub fn look(&mut self, now: Instant, root: i32) -> Vec<Found> {
        if self.is_off || self.next.is_some_and(|next| now < next) {
            return Vec::new();
        }
        let began = processor_time();
        let spent = || processor_time().saturating_sub(began);
        if self.left.is_empty() {
            self.begin_round(root);
        }
        let mut found = Vec::new();
        while let Some(pid) = self.left.pop() {
            self.visit(pid, &mut found);
            if spent() >= PART {
                break;
            }
        }
        if self.left.is_empty() {
            self.end_round();
        }
        self.next = Some(Instant::now() + (spent() * SHARE).max(APART_MIN));
        found
    }

    fn begin_round(&mut self, root: i32) {
        self.forget_the_dead();
        // One whose parent has ended is no descendant any more.
        self.seen = self.processes.keys().copied().chain([root]).collect();
        self.left = self.seen.iter().copied().collect();
        self.present.clear();
    }

    fn end_round(&mut self) {
        self.rounds += 1;
        self.tree = std::mem::take(&mut self.seen);
        let present = &self.present;
        self.settled.retain(|inode| present.contains(inode));
    }

    /// Looks at a process: its children are next, and its sockets may be new.
    fn visit(&mut self, pid: i32, found: &mut Vec<Found>) {
        let seen = &mut self.seen;
        self.left.extend(tree::children(pid).into_iter().filter(|child| seen.insert(*child)));
        if !self.has_own && pid == std::process::id() as i32 {
            return;
        }
        for (fd, inode) in tree::sockets(pid) {
            let is_new = self.present.insert(inode) && !self.settled.contains(&inode);
            if is_new && !self.excluded.contains(&inode) {
                found.extend(self.examine(pid, fd, inode));
            }
        }
    }

    /// Forgets processes that have ended. Others may have their numbers.
    fn forget_the_dead(&mut self) {
        let others = || {
            self.processes.iter().filter_map(|(pid, process)| match process {
                Process::Own => None,
                Process::Other(process) => Some((*pid, process)),
            })
        };
        let mut asked: Vec<PollFd<'_>> =
            others().map(|(_, process)| PollFd::new(process, PollFlags::IN)).collect();
        if poll(&mut asked, Some(&Timespec::default())).is_err() {
            return;
        }
        let ended = others().zip(&asked).filter(|(_, asked)| !asked.revents().is_empty());
        let ended: Vec<i32> = ended.map(|((pid, _), _)| pid).collect();
        ended.iter().for_each(|pid| drop(self.processes.remove(pid)));
    }

    /// Looks at a socket.
    fn examine(&mut self, pid: i32, fd: i32, inode: u64) -> Option<Found> {
        let socket = self.duplicate_new(pid, fd).ok()?;
        let cookie = socket::cookie(socket.as_fd()).ok()?;
        match socket::kind(socket.as_fd()) {
            Kind::Tcp(peer) => return Some(Found { place: Place { pid, fd, cookie }, inode, peer }),
            Kind::Udp(_) => self.udp += 1,
            // It may get a peer.
            Kind::UdpAlone => return None,
            Kind::Other => {}
        }
        self.settle(inode);
        None
    }

    fn duplicate_new(&mut self, pid: i32, fd: i32) -> io::Result<OwnedFd> {
        if let Entry::Vacant(entry) = self.processes.entry(pid) {
            entry.insert(match pid == own_pid() {
                true => Process::Own,
                false => {
                    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
                    Process::Other(pidfd_open(pid, PidfdFlags::empty())?)
                }
            });
        }
        let socket = socket::duplicate(&self.processes[&pid], fd, None);
        match &socket {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.refused = Some(pid),
            // It has ended, and another one may have its number by now.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => drop(self.processes.remove(&pid)),
            _ => {}
        }
        socket
    }
}

fn own_pid() -> i32 {
    std::process::id() as i32
}
