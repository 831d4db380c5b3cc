//! As root, the program's connections are a job in the kernel.

use super::ends::{begun, child_of};
use super::namespace::{connect, in_namespace, is_a_part, ADDRESS};
use super::run;
use nix::sys::signal::{kill, Signal};
use nix::unistd::{Pid, Uid};
use rustix::net::sockopt::{ip_tos, tcp_congestion};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

/// Processes of a run are killed this many times; the environment's `KILLS` has precedence.
const KILLS: u32 = 2;
/// A user without privileges.
const NOBODY: &str = "65534";

#[test]
fn sudo_run_runs_the_program_as_its_caller_unless_root_is_kept() {
    if !Uid::effective().is_root() {
        return println!("SKIPPED: only root can become another user");
    }
    let script = "id -u; id -g; echo $HOME; grep CapEff /proc/self/status";
    let output = |words: &[&str]| {
        let mut command = run(words);
        let output =
            command.args(["--", "sh", "-c", script]).env("SUDO_UID", NOBODY).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8_lossy(&output.stdout).into_owned(), errors, output.status.code())
    };
    let (said, errors, code) = output(&[]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((lines[0], code), (NOBODY, Some(0)), "{said}{errors}");
    assert!(lines[1] != "0" && lines[2] != "/root" && lines[3].ends_with("\t0000000000000000"), "{said}");
    assert!(errors.contains("runs as nobody"), "{errors}");
    let (said, errors, _) = output(&["--as-root"]);
    assert!(said.starts_with("0\n") && errors.is_empty(), "{said}{errors}");
    let failed = run(&["--", "/there/is/none"]).env("SUDO_UID", NOBODY).output().expect("it runs");
    assert_eq!(failed.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("there is no program /there/is/none"));
}

#[test]
fn an_upload_says_what_a_build_or_root_could_do_and_as_root_it_is_in_the_kernel() {
    let test = "run::job::an_upload_says_what_a_build_or_root_could_do_and_as_root_it_is_in_the_kernel";
    if is_a_part(&[("serve", serve), ("send", send)]) {
        return;
    }
    let Some(said) = in_namespace(test, "PART serve & sleep 0.5; (RUN send --verbose)") else { return };
    let seen = said.lines().find(|line| line.contains("controller=")).expect("it has sent");
    match seen.contains("controller=ay_") {
        true => {
            assert!(seen.ends_with("tos=4"), "{said}");
            assert!(said.contains("1 connection sent by the rule in the kernel"), "{said}");
            assert!(!said.contains("steered from outside"), "{said}");
        }
        false => {
            assert!(seen.ends_with("tos=0"), "{said}");
            assert!(said.contains("uploads are steered from outside"), "{said}");
        }
    }
    let has_part = cfg!(all(feature = "kernel", target_endian = "little"));
    assert!(has_part || said.contains("a build with the kernel part"), "{said}");
    let is_expected = has_part && Uid::effective().is_root() && afteryou_is_loadable();
    assert!(!is_expected || seen.contains("controller=ay_"), "{said}");
}

/// Returns whether this kernel has what a job needs, as far as that can be read.
fn afteryou_is_loadable() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    !afteryou_kernel::is_older(&release) && Path::new("/sys/kernel/btf/vmlinux").exists()
}

fn serve() {
    let listener = TcpListener::bind(ADDRESS).expect("a port");
    let mut peer = listener.accept().expect("a connection").0;
    std::io::copy(&mut peer, &mut std::io::sink()).expect("it arrives");
}

fn send() {
    let mut stream = connect();
    let controller = tcp_congestion(&stream).expect("a name");
    println!("\ncontroller={controller} tos={}", ip_tos(&stream).expect("a mark"));
    for _ in 0..30 {
        stream.write_all(&[0; 16_384]).expect("it is sent");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn nothing_is_left_in_the_kernel_whichever_process_is_killed() {
    let kills = std::env::var("KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"));
    for _ in 0..kills {
        for victim in ["front", "steering", "program"] {
            let (mut front, line) = begun("cat /proc/self/cgroup; exec sleep 30");
            let steering = child_of(front.id() as i32);
            let program = child_of(steering);
            let group = std::fs::read_to_string(format!("/proc/{program}/cgroup")).expect("it runs");
            let ours: Vec<&str> = group.lines().filter(|line| line.contains("afteryou-ay_")).collect();
            let name = ours.first().and_then(|line| Some(line.rsplit_once("afteryou-")?.1.to_owned()));
            if name.is_none() {
                println!("SKIPPED: no job in the kernel: {line}");
            }
            let victim = match victim {
                "front" => front.id() as i32,
                "steering" => steering,
                _ => program,
            };
            kill(Pid::from_raw(victim), Signal::SIGKILL).expect("it runs");
            let is_clean = || {
                std::thread::sleep(Duration::from_millis(20));
                let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                let is_registered = name.as_ref().is_some_and(|name| names.unwrap().contains(name.as_str()));
                let is_kept = name.as_ref().is_some_and(|name| {
                    let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
                    mounts.iter().any(|mount| mount.join(format!("afteryou-{name}")).exists())
                });
                let group = std::fs::read_to_string(format!("/proc/{program}/cgroup")).unwrap_or_default();
                !is_registered && !is_kept && !group.contains("afteryou-")
            };
            assert!((0..100).any(|_| is_clean()), "{victim} was killed: {name:?}, {group}");
            // It may have been the victim.
            _ = kill(Pid::from_raw(program), Signal::SIGKILL);
            front.wait().expect("it ends");
        }
    }
}
