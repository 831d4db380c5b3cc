//! Bytes on the wire for a file that changed, or has another name.

use super::relay::{self, Passed};
use super::ssh::{send, sync, Server};
use super::support::{free_address, noise, program, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The age of what is at the receiver.
const AGE: Duration = Duration::from_secs(3600);
/// Most of what rsync needs.
const OF_RSYNC: f64 = 1.5;
const MEGABYTE: usize = 1_000_000;
/// Bytes of a changed block.
const BLOCK: usize = 4096;

/// A change of a file, and what ours may need for it beside [`OF_RSYNC`].
struct Change {
    name: &'static str,
    /// The new content; None: it is the old one under another name.
    change: fn(Vec<u8>) -> Vec<u8>,
    is_renamed: bool,
    most: Option<fn(f64) -> f64>,
}

fn appended(mut content: Vec<u8>) -> Vec<u8> {
    content.extend(noise(2, MEGABYTE));
    content
}

fn inserted(content: Vec<u8>) -> Vec<u8> {
    let middle = content.len() / 2;
    [&content[..middle], &noise(3, MEGABYTE), &content[middle..]].concat()
}

fn scattered(mut content: Vec<u8>) -> Vec<u8> {
    let new = noise(4, BLOCK);
    // Every hundredth, at places that no other size of block divides.
    for block in content.chunks_mut(100 * BLOCK + 512).filter(|block| block.len() >= BLOCK) {
        block[..BLOCK].copy_from_slice(&new);
    }
    content
}

/// Returns whether all bounds held.
pub fn measure(folder: &Path, megabytes: usize) -> Result<bool> {
    let changes = [
        Change {
            name: "1 MB appended",
            change: appended,
            is_renamed: false,
            most: Some(|size| 1e6 + 0.002 * size),
        },
        Change { name: "1 MB inserted in the middle", change: inserted, is_renamed: false, most: None },
        Change { name: "1 % of blocks changed", change: scattered, is_renamed: false, most: None },
        Change {
            name: "another name",
            change: |content| content,
            is_renamed: true,
            most: Some(|size| 0.001 * size),
        },
    ];
    let size = megabytes * MEGABYTE;
    println!(
        "{:<30} {:>12} {:>12} {:>8}",
        format!("{megabytes} MB: bytes on the wire"),
        "ours",
        "rsync",
        "ratio"
    );
    let mut held = true;
    for change in changes {
        let (ours, theirs) = one(folder, size, &change)?;
        let ratio = ours as f64 / theirs as f64;
        println!("{:<30} {ours:>12} {theirs:>12} {ratio:>8.3} (<= {OF_RSYNC})", change.name);
        held &= ratio <= OF_RSYNC;
        if let Some(most) = change.most.map(|most| most(size as f64)) {
            println!("{:<30} {:>12} at most {most:.0}", "", "");
            held &= ours as f64 <= most;
        }
    }
    Ok(held)
}

/// Returns the bytes that ours and rsync need.
fn one(folder: &Path, size: usize, change: &Change) -> Result<(u64, u64)> {
    let folder = tempfile::tempdir_in(folder)?;
    let folder = folder.path();
    let [from, ours, theirs] = ["from", "ours", "theirs"].map(|name| folder.join(name).join("tree"));
    for tree in [&from, &ours, &theirs] {
        std::fs::create_dir_all(tree)?;
    }
    let content = noise(1, size);
    for tree in [&ours, &theirs] {
        std::fs::write(tree.join("file.bin"), &content)?;
        // rsync takes a file of the same size from the same second for unchanged.
        std::fs::File::options()
            .write(true)
            .open(tree.join("file.bin"))?
            .set_modified(SystemTime::now() - AGE)?;
    }
    let name = if change.is_renamed { "renamed.bin" } else { "file.bin" };
    std::fs::write(from.join(name), (change.change)(content))?;
    let server = Server::start(folder)?;

    let passed = Passed::default();
    let ssh = server.ssh_to(relay::tcp(server.port(), &passed)?);
    let far = far_end(folder, &passed)?;
    send((&ssh, &far), &server.state(), &[], &from, &folder.join("ours"))?;
    let ours = (passed.bytes(), ours);

    let passed = Passed::default();
    let ssh = server.ssh_to(relay::tcp(server.port(), &passed)?);
    sync(&ssh, &["-a", "--no-whole-file"], &from, &folder.join("theirs"))?;
    let theirs = (passed.bytes(), theirs);

    let expected = std::fs::read(from.join(name))?;
    for (_, tree) in [&ours, &theirs] {
        if std::fs::read(tree.join(name))? != expected {
            return Err(format!("{} is not what was sent", tree.display()).into());
        }
    }
    Ok((ours.0, theirs.0))
}

/// Returns a command for the other end, which lets itself be reached through a relay.
fn far_end(folder: &Path, passed: &Passed) -> Result<PathBuf> {
    let listen = free_address()?;
    let relay = relay::udp(listen, passed)?;
    let (path, program) = (folder.join("far"), program()?);
    let addresses = format!("--listen {listen} --address {relay}");
    let script =
        format!("#!/bin/sh\ncommand=$1\nshift\nexec {} \"$command\" {addresses} \"$@\"\n", program.display());
    std::fs::write(&path, script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}
