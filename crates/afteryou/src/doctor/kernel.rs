//! Linux: what the kernel is set to and has on board, read from /proc and /sys.

use super::{Check, Severity};
use crate::kernel::{HOW_TO_BUILD, IS_IN_THIS_BUILD};
use afteryou_bed::net::{is_root, opens_tun};
use afteryou_bed::testbed::Ready;
use afteryou_kernel::{is_older, OLDEST};
use afteryou_outside::linux::{reach, Reach};
use std::fs;
use std::net::UdpSocket;
use std::path::PathBuf;

/// 10 ms of 1 Gbit/s: as long as a process may have to wait for its turn.
const BUFFER_BYTES: u64 = 1_250_000;

/// Numbers of capabilities (linux/capability.h).
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

const USUAL_MTU: u64 = 1500;

/// Smallest that QUIC works over: 1200 bytes of payload, RFC 9000 §14, and the headers of IPv6 and UDP.
const LEAST_MTU: u64 = 1248;

/// Kernel features for background traffic or for comparison, each with its module.
const CONTROLLERS: [(&str, &str); 4] =
    [("lp", "tcp_lp"), ("cdg", "tcp_cdg"), ("vegas", "tcp_vegas"), ("bbr", "tcp_bbr")];

/// Runs all of these checks.
pub fn checks() -> Vec<Check> {
    let system = System { root: PathBuf::from("/") };
    vec![
        system.buffers(),
        mtu(&system),
        system.controllers(),
        system.background(IS_IN_THIS_BUILD),
        system.namespaces(),
        programs(&reach()),
        match is_root() {
            true => testbed(afteryou_bed::testbed::ready()),
            false => testbed_of_user(system.namespaces().state == Severity::Ok, opens_tun()),
        },
    ]
}

/// Judges whether `afteryou run` reaches the sockets of programs.
fn programs(reach: &Reach) -> Check {
    const NAME: &str = "sockets of programs, for afteryou run";
    let others = "afteryou get and afteryou proxy do without";
    match reach {
        Reach::Works => Check::ok(NAME, "can be reached: pidfd_getfd works with a child process"),
        Reach::OldKernel { release } => Check::warn(
            NAME,
            format!("cannot be reached: Linux {release} has no pidfd_getfd"),
            format!("use Linux 5.6 or newer; {others}"),
        ),
        Reach::Yama { scope } => Check::warn(
            NAME,
            format!("cannot be reached: kernel.yama.ptrace_scope is {scope}"),
            format!("sudo sysctl kernel.yama.ptrace_scope=1 (3 stays until the next boot), or run as root; {others}"),
        ),
        Reach::Seccomp => Check::warn(
            NAME,
            "cannot be reached: a seccomp filter forbids pidfd_getfd, as those of containers do",
            format!("allow it (docker run --cap-add SYS_PTRACE), or run outside of the container; {others}"),
        ),
        Reach::Failed(error) => Check::warn(
            NAME,
            format!("cannot be reached: {error}"),
            format!("look for a security module that forbids ptrace (SELinux: deny_ptrace); {others}"),
        ),
    }
}

const TESTBED: &str = "testbed with the kernel's TCP";
const FOR_THE_TESTBED: &str = "only for afteryou bed, not for transfers";

/// Checks whether `afteryou bed` can run the kernel's TCP. Root tries it.
fn testbed(tried: Result<Ready, afteryou_bed::Error>) -> Check {
    let ready = match tried {
        Ok(ready) => ready,
        // The message has the advice behind its last semicolon.
        Err(error) => {
            let text = error.to_string();
            let (seen, todo) = text.rsplit_once("; ").unwrap_or((&text, "run as root"));
            return Check::warn(TESTBED, seen, format!("{FOR_THE_TESTBED}: {todo}"));
        }
    };
    let without = if ready.has_ipv6 { "" } else { ", without IPv6" };
    let seen = format!("it can be built{without}; congestion controls: {}", ready.congestion_controls);
    match ready.is_real_time {
        true => Check::ok(TESTBED, seen),
        false => {
            let todo = "for round-trip times of 10 ms or less: run as root, or grant CAP_SYS_NICE";
            Check::warn(TESTBED, format!("{seen}; no real-time priority"), todo)
        }
    }
}

/// Judges the testbed without root. A run makes a user namespace before it does anything else, which cannot be tried here.
fn testbed_of_user(may_make_namespaces: bool, opens_tun: bool) -> Check {
    let todo = match (may_make_namespaces, opens_tun) {
        (true, true) => {
            return Check::ok(TESTBED, "runs without root; round-trip times of 10 ms or less take root")
        }
        (true, false) => {
            "run afteryou bed as root, or let users open the device: sudo chmod 666 /dev/net/tun"
        }
        (false, true) => "run afteryou bed as root, or allow user namespaces as described above",
        (false, false) => {
            "run afteryou bed as root, or allow user namespaces as described above and let users open the device: \
             sudo chmod 666 /dev/net/tun"
        }
    };
    Check::warn(TESTBED, "not without root", format!("{FOR_THE_TESTBED}: {todo}"))
}

/// Where /proc and /sys are: somewhere else in tests.
struct System {
    root: PathBuf,
}

impl System {
    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    fn words(&self, path: &str) -> Vec<String> {
        self.text(path).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    fn buffers(&self) -> Check {
        const NAME: &str = "UDP buffers";
        let limits = (self.number("proc/sys/net/core/rmem_max"), self.number("proc/sys/net/core/wmem_max"));
        let (Some(receive), Some(send)) = limits else {
            return Check::warn(
                NAME,
                "the limits cannot be read",
                "mount /proc/sys in this container to see them",
            );
        };
        let seen = format!("at most {} kB to receive, {} kB to send", receive / 1000, send / 1000);
        if receive.min(send) >= BUFFER_BYTES {
            return Check::ok(NAME, seen);
        }
        let todo = "only above some 200 Mbit/s: sudo sysctl -w net.core.rmem_max=2500000 net.core.wmem_max=2500000 (to keep it: a file in /etc/sysctl.d)";
        Check::warn(NAME, seen, todo)
    }

    fn interface_mtu(&self, interface: &str) -> Check {
        const NAME: &str = "MTU of the way out";
        let Some(mtu) = self.number(&format!("sys/class/net/{interface}/mtu")) else {
            return Check::warn(
                NAME,
                format!("the MTU of {interface} cannot be read"),
                "look at it with: ip link",
            );
        };
        let seen = format!("{mtu} bytes on {interface}");
        match mtu {
            USUAL_MTU.. => Check::ok(NAME, seen),
            LEAST_MTU.. => Check::ok(NAME, format!("{seen}, as in tunnels")),
            _ => Check::fail(
                NAME,
                seen,
                format!(
                    "QUIC needs {LEAST_MTU}: raise it (ip link set {interface} mtu 1500) or avoid the tunnel"
                ),
            ),
        }
    }

    fn controllers(&self) -> Check {
        const NAME: &str = "kernel congestion controllers";
        let available = self.words("proc/sys/net/ipv4/tcp_available_congestion_control");
        let allowed = self.words("proc/sys/net/ipv4/tcp_allowed_congestion_control");
        if available.is_empty() {
            return Check::warn(
                NAME,
                "the list cannot be read",
                "mount /proc/sys in this container to see it",
            );
        }
        let missing: Vec<_> = CONTROLLERS.iter().filter(|(name, _)| !contains(&available, name)).collect();
        let (loadable, absent): (Vec<_>, Vec<_>) =
            missing.into_iter().partition(|(_, module)| self.has_module(module));
        let not_allowed: Vec<_> = CONTROLLERS
            .iter()
            .filter(|(name, _)| contains(&available, name) && !contains(&allowed, name))
            .collect();
        let names = |list: &[&(&str, &str)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
        let mut seen = format!("available: {}; for everybody: {}", available.join(" "), allowed.join(" "));
        if !absent.is_empty() {
            seen += &format!("; not in this kernel: {}", names(&absent));
        }
        let mut todo = Vec::new();
        if !loadable.is_empty() {
            let modules: Vec<_> = loadable.iter().map(|(_, module)| *module).collect();
            todo.push(format!("to load what is there: sudo modprobe -a {}", modules.join(" ")));
        }
        if !not_allowed.is_empty() {
            let list = format!("{} {}", allowed.join(" "), names(&not_allowed));
            todo.push(format!(
                "to use {} without root: sudo sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{list}\"",
                names(&not_allowed)
            ));
        }
        match todo.is_empty() {
            true => Check::ok(NAME, seen),
            false => Check::warn(
                NAME,
                seen,
                format!("only for TCP experiments, not for transfers; {}", todo.join("; ")),
            ),
        }
    }

    /// Returns whether a file of the running kernel's modules lists the module.
    fn has_module(&self, module: &str) -> bool {
        let Some(release) = self.text("proc/sys/kernel/osrelease") else { return false };
        let directory = format!("lib/modules/{}", release.trim());
        let listed = |list: &str| {
            self.text(&format!("{directory}/{list}"))
                .is_some_and(|text| text.contains(&format!("/{module}.ko")))
        };
        listed("modules.dep") || listed("modules.builtin")
    }

    /// Judges whether `afteryou kernel load` works here.
    fn background(&self, has_part: bool) -> Check {
        const NAME: &str = "background controllers in the kernel";
        let release = self.text("proc/sys/kernel/osrelease").unwrap_or_default();
        let has_types = self.root.join("sys/kernel/btf/vmlinux").exists();
        let mounts = self.text("proc/mounts").unwrap_or_default();
        let has_bpffs = mounts.lines().any(|line| line.split_whitespace().nth(2) == Some("bpf"));
        let may_load = self.may_load_programs();
        let seen = [
            format!("Linux {}", release.trim()),
            format!("kernel types (BTF) {}", if has_types { "there" } else { "not there" }),
            (if has_bpffs { "bpffs mounted" } else { "bpffs not mounted, which loading does" }).to_owned(),
            (if may_load { "this process may load programs" } else { "loading requires root" }).to_owned(),
            format!("this build has {} kernel part", if has_part { "the" } else { "no" }),
        ];
        let seen = seen.join("; ");
        let mut todo = Vec::new();
        if is_older(&release) {
            todo.push(format!("use Linux {}.{} or newer", OLDEST.0, OLDEST.1));
        }
        if !has_types {
            todo.push("use a kernel with CONFIG_DEBUG_INFO_BTF".to_owned());
        }
        if !has_part {
            todo.push(HOW_TO_BUILD.to_owned());
        }
        let works = if may_load { "afteryou kernel load works" } else { "sudo afteryou kernel load works" };
        match todo.is_empty() {
            true => Check::ok(NAME, format!("{works}: {seen}")),
            false => {
                let todo = todo.join("; ");
                Check::warn(NAME, seen, format!("only for afteryou kernel, not for transfers: {todo}"))
            }
        }
    }

    /// Returns whether this process has what `afteryou kernel load` requires: the capabilities, in the first user namespace.
    fn may_load_programs(&self) -> bool {
        let status = self.text("proc/self/status").unwrap_or_default();
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let effective = effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
        let has = |capability: u32| effective & 1 << capability != 0;
        let may_load = has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON);
        let is_first = self.words("proc/self/uid_map") == ["0", "0", "4294967295"];
        may_load && has(CAP_NET_ADMIN) && is_first
    }

    fn namespaces(&self) -> Check {
        const NAME: &str = "network namespaces";
        let most = self.number("proc/sys/user/max_user_namespaces").unwrap_or(0);
        let forbidden = self.number("proc/sys/kernel/unprivileged_userns_clone") == Some(0);
        let restricted = self.number("proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1);
        let todo = "only for experiments with the kernel's TCP, not for transfers: ";
        if most == 0 {
            return Check::warn(
                NAME,
                "user namespaces are off",
                format!("{todo}sudo sysctl -w user.max_user_namespaces=10000"),
            );
        }
        if forbidden {
            return Check::warn(
                NAME,
                "only root may make them",
                format!("{todo}sudo sysctl -w kernel.unprivileged_userns_clone=1"),
            );
        }
        if restricted {
            let setting = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
            return Check::warn(NAME, "AppArmor restricts them to root", format!("{todo}{setting}"));
        }
        Check::ok(NAME, "may be made without root")
    }
}

fn contains(words: &[String], word: &str) -> bool {
    words.iter().any(|known| known == word)
}

fn mtu(system: &System) -> Check {
    match way_out() {
        Some(interface) => system.interface_mtu(&interface),
        None => Check::warn(
            "MTU of the way out",
            "no route to the internet",
            "nothing, if the peer is in this network",
        ),
    }
}

/// Returns the interface that packets to the internet would leave by. Connecting a UDP socket sends nothing.
fn way_out() -> Option<String> {
    // TEST-NET-1 and the documentation prefix: nobody is there.
    let local = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")].into_iter().find_map(
        |(from, to)| {
            let socket = UdpSocket::bind(from).ok()?;
            socket.connect(to).ok()?;
            Some(socket.local_addr().ok()?.ip())
        },
    )?;
    let interfaces = nix::ifaddrs::getifaddrs().ok()?;
    let has_it = |interface: &nix::ifaddrs::InterfaceAddress| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|address| address.ip().into());
        (v4.or_else(|| address.as_sockaddr_in6().map(|address| address.ip().into())) == Some(local))
            .then(|| interface.interface_name.clone())
    };
    interfaces.into_iter().find_map(|interface| has_it(&interface))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_comes_with_what_to_do() {
        assert_eq!(programs(&Reach::Works).state, Severity::Ok);
        let yama = programs(&Reach::Yama { scope: 2 });
        assert!(yama.seen.contains("is 2") && yama.todo.unwrap().contains("ptrace_scope=1"));
        let old = programs(&Reach::OldKernel { release: "5.4.0".into() });
        assert!(old.seen.contains("5.4.0") && old.todo.unwrap().contains("afteryou proxy"));
        assert!(programs(&Reach::Seccomp).todo.unwrap().contains("SYS_PTRACE"));
    }

    fn system(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let system = System { root: root.path().to_owned() };
        (root, system)
    }

    #[test]
    fn small_buffers_come_with_the_command_that_enlarges_them() {
        let limits = |bytes: &str| {
            system(&[("proc/sys/net/core/rmem_max", bytes), ("proc/sys/net/core/wmem_max", bytes)])
        };
        let (_root, small) = limits("212992\n");
        let check = small.buffers();
        assert!(check.state == Severity::Warn && check.todo.unwrap().contains("sysctl -w net.core.rmem_max"));
        let (_root, large) = limits("4194304\n");
        assert_eq!(large.buffers().state, Severity::Ok);
        assert_eq!(system(&[]).1.buffers().state, Severity::Warn);
    }

    #[test]
    fn an_mtu_below_what_quic_needs_fails() {
        let (_root, tunnel) = system(&[("sys/class/net/eth0/mtu", "1280\n")]);
        assert_eq!(tunnel.interface_mtu("eth0").state, Severity::Ok);
        let (_root, narrow) = system(&[("sys/class/net/eth0/mtu", "1000\n")]);
        assert_eq!(narrow.interface_mtu("eth0").state, Severity::Fail);
        assert_eq!(narrow.interface_mtu("eth1").state, Severity::Warn);
    }

    #[test]
    fn for_each_controller_it_says_whether_to_load_or_to_allow_it() {
        let (_root, kernel) = system(&[
            ("proc/sys/net/ipv4/tcp_available_congestion_control", "reno cubic bbr\n"),
            ("proc/sys/net/ipv4/tcp_allowed_congestion_control", "reno cubic\n"),
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            (
                "lib/modules/6.1.0/modules.dep",
                "kernel/net/ipv4/tcp_lp.ko.xz:\nkernel/net/ipv4/tcp_vegas.ko:\n",
            ),
        ]);
        let check = kernel.controllers();
        let todo = check.todo.unwrap();
        assert!(check.seen.ends_with("not in this kernel: cdg"), "{}", check.seen);
        assert!(todo.contains("modprobe -a tcp_lp tcp_vegas"), "{todo}");
        assert!(todo.contains("tcp_allowed_congestion_control=\"reno cubic bbr\""), "{todo}");
    }

    #[test]
    fn what_namespaces_lack_is_named() {
        assert_eq!(system(&[]).1.namespaces().state, Severity::Warn);
        let (_root, full) = system(&[("proc/sys/user/max_user_namespaces", "1000\n")]);
        assert_eq!(full.namespaces().state, Severity::Ok);
    }

    const ALL: &str = "CapEff:\t000001ffffffffff\n";
    const MAP: &str = "         0          0 4294967295\n";

    /// Returns a machine of this release, with BTF, the effective capabilities and the map of users.
    fn of_release(release: &str, status: &str, map: &str) -> (tempfile::TempDir, System) {
        system(&[
            ("proc/sys/kernel/osrelease", release),
            ("proc/mounts", "bpf /sys/fs/bpf bpf rw 0 0\n"),
            ("proc/self/status", status),
            ("proc/self/uid_map", map),
            ("sys/kernel/btf/vmlinux", ""),
        ])
    }

    #[test]
    fn what_the_kernel_part_lacks_is_named() {
        let (_root, old) = system(&[("proc/sys/kernel/osrelease", "6.1.0\n")]);
        let check = old.background(false);
        assert!(
            check.seen.starts_with("Linux 6.1.0; kernel types (BTF) not there; bpffs not"),
            "{}",
            check.seen
        );
        let todo = check.todo.unwrap();
        assert!(
            ["6.10 or newer", "BTF", "--features kernel"].iter().all(|word| todo.contains(word)),
            "{todo}"
        );
        let (_root, full) = of_release("6.18.0", ALL, MAP);
        assert!(full.background(false).todo.unwrap().ends_with("--features kernel"));
        let check = full.background(true);
        assert!(
            check.state == Severity::Ok && check.seen.starts_with("afteryou kernel load works"),
            "{check:?}"
        );
    }

    #[test]
    fn privileges_count_in_the_first_user_namespace_only() {
        let three = "CapEff:\t000000c000001000\n";
        for (status, map, may) in [
            (ALL, MAP, true),
            (three, MAP, true),
            ("CapEff:\t0000000000001000\n", MAP, false),
            ("CapEff:\t0000000000000000\n", MAP, false),
            (ALL, "0 1000 1\n", false),
        ] {
            let (_root, system) = of_release("6.18.0", status, map);
            assert_eq!(system.may_load_programs(), may, "{status}{map}");
            assert_eq!(system.background(true).seen.starts_with("sudo "), !may);
        }
    }

    #[test]
    fn a_user_without_root_reads_in_one_sentence_what_the_testbed_takes() {
        assert_eq!(testbed_of_user(true, true).state, Severity::Ok);
        for (namespaces, tun) in [(true, false), (false, true), (false, false)] {
            let todo = testbed_of_user(namespaces, tun).todo.unwrap();
            assert_eq!(todo.contains("chmod 666 /dev/net/tun"), !tun, "{todo}");
            assert_eq!(todo.contains("allow user namespaces"), !namespaces, "{todo}");
            assert!(todo.contains("run afteryou bed as root") && !todo.contains(". "), "{todo}");
        }
    }

    #[test]
    fn the_running_kernel_is_answered_for() {
        let checks = checks();
        assert_eq!(checks.len(), 7);
        assert!(checks.iter().all(|check| check.state == Severity::Ok || check.todo.is_some()), "{checks:?}");
    }
}
