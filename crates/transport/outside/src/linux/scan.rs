//! Finds the connections of a process tree.
//!
//! A look at all descriptors takes longer the more there are, so looks are as far apart as keeps their time below [`SHARE`] of a core.

use super::original::Place;
use super::socket::{self, Kind, Process};
use super::tree;
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Looks follow each other after this at least …
const APART_MIN: Duration = Duration::from_millis(10);
/// … and this many times of what the last one took: 1.25 % of a core.
const SHARE: u32 = 80;

/// A connection that was not known.
#[derive(Debug)]
pub struct Found {
    /// Process and descriptor.
    pub place: Place,
    /// The other end, if it is connected.
    pub peer: Option<IpAddr>,
}

/// The processes of a tree.
#[derive(Debug, Default)]
pub struct Scan {
    processes: HashMap<i32, Process>,
    next: Option<Instant>,
    /// Sockets that are none of ours to touch.
    excluded: HashSet<u64>,
    /// Its own sockets count, too.
    has_own: bool,
    /// Nothing is looked for.
    is_off: bool,
    /// A connection that does not use TCP was seen.
    pub has_udp: bool,
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
        let mut scan = Scan::default();
        let sockets = tree::sockets(own_pid())
            .into_iter()
            .filter_map(|fd| socket::duplicate(&Process::Own, fd, None).ok());
        scan.excluded.extend(sockets.filter_map(|socket| socket::cookie(socket.as_fd()).ok()));
        scan
    }

    /// Returns a duplicate of the socket at a place, if it is there still.
    ///
    /// # Errors
    /// As [`socket::duplicate`].
    pub fn duplicate(&self, place: &Place) -> io::Result<OwnedFd> {
        let process = self.processes.get(&place.pid).ok_or(io::ErrorKind::NotFound)?;
        socket::duplicate(process, place.fd, Some(place.cookie))
    }

    /// Looks for connections that are not `known`, if it is time.
    pub fn look(&mut self, now: Instant, root: i32, known: impl Fn(u64) -> bool) -> Vec<Found> {
        if self.is_off || self.next.is_some_and(|next| now < next) {
            return Vec::new();
        }
        let found = self.look_at_all(root, known);
        self.next = Some(Instant::now() + (now.elapsed() * SHARE).max(APART_MIN));
        found
    }

    fn look_at_all(&mut self, root: i32, known: impl Fn(u64) -> bool) -> Vec<Found> {
        let tree = tree::descendants(root);
        self.processes.retain(|pid, _| tree.contains(pid));
        let own = own_pid();
        let mut found: Vec<Found> = Vec::new();
        let has_own = self.has_own;
        for pid in tree.into_iter().filter(|pid| has_own || *pid != own) {
            for fd in tree::sockets(pid) {
                let Ok(socket) = self.duplicate_new(pid, fd) else { continue };
                let Ok(cookie) = socket::cookie(socket.as_fd()) else { continue };
                if known(cookie)
                    || self.excluded.contains(&cookie)
                    || found.iter().any(|found| found.place.cookie == cookie)
                {
                    continue;
                }
                match socket::kind(socket.as_fd()) {
                    Kind::Tcp(peer) => found.push(Found { place: Place { pid, fd, cookie }, peer }),
                    Kind::Udp(_) => self.has_udp = true,
                    Kind::Other => {}
                }
            }
        }
        found
    }

    fn duplicate_new(&mut self, pid: i32, fd: i32) -> io::Result<OwnedFd> {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.processes.entry(pid) {
            entry.insert(match pid == own_pid() {
                true => Process::Own,
                false => {
                    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
                    Process::Other(pidfd_open(pid, PidfdFlags::empty())?)
                }
            });
        }
        let socket = socket::duplicate(&self.processes[&pid], fd, None);
        if socket.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
            self.refused = Some(pid);
        }
        socket
    }
}

fn own_pid() -> i32 {
    std::process::id() as i32
}
