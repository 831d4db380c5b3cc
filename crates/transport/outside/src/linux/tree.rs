//! A process, its descendants, and their sockets, from /proc.

use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Returns a process and its descendants, as far as they can be seen.
pub fn descendants(root: i32) -> Vec<i32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        next += 1;
        for child in children(pid) {
            if !found.contains(&child) {
                found.push(child);
            }
        }
    }
    found
}

/// Returns the children of a process, each of which one of its threads has started.
fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// Returns the descriptors of a process that are sockets; none if the process may not be looked at.
pub fn sockets(pid: i32) -> Vec<i32> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    descriptors
        .flatten()
        .filter(|entry| {
            fs::read_link(entry.path()).is_ok_and(|what| what.as_os_str().as_bytes().starts_with(b"socket:"))
        })
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;
    use std::process::Command;

    #[test]
    fn a_process_has_its_sockets_and_its_children() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = std::process::id() as i32;
        assert!(sockets(own).contains(&listener.as_raw_fd()));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = descendants(own);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&(child.id() as i32)));
    }
}
