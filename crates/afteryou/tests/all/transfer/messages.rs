//! Sources and places that cannot be what they are named for: the message has what is wrong, and what to do.

use super::support::*;
use std::fs;
use std::process::Command;

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_the_kernel_makes_when_it_is_read_is_named_as_one() {
    let place = Place::new();
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let output = place.run(&["send", "/proc/cpuinfo", &ticket]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let expected =
        "failed: cpuinfo: the kernel makes its content when it is read, so that its size is unknown before";
    assert!(said.contains(expected), "{said}");
    assert!(!place.path("archive/cpuinfo").exists());
}

#[test]
fn a_directory_that_is_a_link_to_nothing_is_named_as_one() {
    let place = Place::new();
    place.file("photos/a", 10);
    let (_serve, ticket) = place.listen(&["serve", "photos"]);
    std::os::unix::fs::symlink("nowhere", place.path("link")).unwrap();
    for words in [&["receive", "link"][..], &["get", &ticket, "link"], &["get", &ticket, "link", "--dry-run"]]
    {
        let output = place.run(words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("\"link\" is a link that leads nowhere: make the directory"), "{said}");
    }
}

#[test]
fn a_disk_without_inodes_is_told_from_one_without_room() {
    if !rustix::process::geteuid().is_root() {
        return println!("SKIPPED: a small file system can be mounted by root only");
    }
    let place = Place::new();
    for number in 0..30 {
        place.file(&format!("photos/{number}"), 100);
    }
    let small = place.path("small");
    fs::create_dir(&small).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=8m,nr_inodes=12", "none"]).arg(&small);
    if !mount.output().is_ok_and(|output| output.status.success()) {
        return println!("SKIPPED: nothing can be mounted here");
    }
    let (receive, ticket) = place.listen(&["receive", "small"]);
    let output = place.run(&["send", "photos", &ticket]);
    receive.kill();
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no inodes (`df -i`)"), "{said}");
}
