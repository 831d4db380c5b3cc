//! Processes, their children and their sockets, from /proc.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A list of threads is read so often at most, if some are missing.
const LISTED: usize = 8;

/// Returns the children of a process, each of which one of its threads has started.
pub fn children(pid: i32) -> Vec<i32> {
    let threads = threads(pid).into_iter();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// Returns the folders of a process' threads. Linux leaves some out if others end meanwhile; the links of the folder count them all.
fn threads(pid: i32) -> Vec<PathBuf> {
    let folder = format!("/proc/{pid}/task");
    let count = || fs::metadata(&folder).map_or(0, |metadata| metadata.nlink().saturating_sub(2));
    let mut listed = Vec::new();
    for _ in 0..LISTED {
        let before = count();
        listed = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        if before == listed.len() as u64 && before == count() {
            break;
        }
    }
    listed
}

/// Returns whether `is_wanted` holds for a process or one of its ancestors.
pub fn has_above(pid: i32, is_wanted: impl Fn(i32) -> bool) -> bool {
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|pid| *pid > 0) {
        if is_wanted(pid) {
            return true;
        }
        next = parent(pid);
    }
    false
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the program's name, which may have anything in it: state and parent.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Returns all processes that can be seen.
pub fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the descriptors of a process that are sockets, with their inodes; none if the process may not be looked at.
pub fn sockets(pid: i32) -> impl Iterator<Item = (i32, u64)> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(|entry| {
        let name = fs::read_link(entry.path()).ok()?;
        let inode = name.as_os_str().as_bytes().strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
        Some((entry.file_name().to_str()?.parse().ok()?, std::str::from_utf8(inode).ok()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::process::Command;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn a_child_is_seen_however_many_threads_end_meanwhile() {
        const ENDING: usize = 64;
        let (own, begin) = (std::process::id() as i32, Barrier::new(ENDING + 1));
        let missed = |_| {
            thread::scope(|scope| {
                (0..ENDING).for_each(|_| drop(scope.spawn(|| begin.wait())));
                // Threads are listed by age, so this one comes behind those that end.
                let parent = scope.spawn(|| {
                    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
                    begin.wait();
                    let missed = (0..20).filter(|_| !children(own).contains(&(child.id() as i32))).count();
                    child.kill().unwrap();
                    child.wait().unwrap();
                    missed
                });
                parent.join().unwrap()
            })
        };
        assert_eq!((0..50).map(missed).sum::<usize>(), 0);
    }

    #[test]
    fn a_process_has_its_sockets_and_its_children() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = std::process::id() as i32;
        assert!(sockets(own).any(|(fd, _)| fd == listener.as_raw_fd()));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = children(own);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&(child.id() as i32)));
        assert!(all().contains(&own));
        assert!(has_above(child.id() as i32, |pid| pid == child.id() as i32));
        assert!(has_above(own, |pid| pid == 1) && !has_above(own, |pid| pid == i32::MAX));
    }
}
