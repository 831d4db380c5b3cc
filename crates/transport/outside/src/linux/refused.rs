//! Whether sockets of children can be touched at all, found out before there is a child.

use rustix::io::Errno;
use rustix::process::{getpid, pidfd_getfd, pidfd_open, PidfdFlags, PidfdGetfdFlags};
use std::fs;

/// CAP_SYS_PTRACE.
const PTRACE: u32 = 19;
/// From this value of ptrace_scope on parents may not touch their children.
const CAPABLE_ONLY: u32 = 2;

/// Returns why the sockets of no child can be touched, in words, or `None` if nothing is known that forbids it.
pub fn refused() -> Option<&'static str> {
    // Of itself a process may duplicate descriptors whatever Yama says, so this shows what kernel and filters allow.
    let own = pidfd_open(getpid(), PidfdFlags::empty())
        .and_then(|own| pidfd_getfd(&own, own_number(&own), PidfdGetfdFlags::empty()));
    match own {
        Err(Errno::NOSYS) => return Some("the kernel has no pidfd_getfd, which is there since Linux 5.6"),
        Err(Errno::PERM | Errno::ACCESS) => return Some("a filter of system calls (seccomp) forbids it"),
        _ => {}
    }
    let text = |path| fs::read_to_string(path).unwrap_or_default();
    let scope = text("/proc/sys/kernel/yama/ptrace_scope").trim().parse().unwrap_or(0);
    is_forbidden(scope, &text("/proc/self/status")).then_some("the kernel's ptrace_scope (Yama) is 2 or more")
}

fn own_number(descriptor: &impl std::os::fd::AsRawFd) -> i32 {
    descriptor.as_raw_fd()
}

fn is_forbidden(scope: u32, status: &str) -> bool {
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    scope > CAPABLE_ONLY || (scope == CAPABLE_ONLY && capabilities & (1 << PTRACE) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yama_forbids_it_from_2_on_but_to_the_capable() {
        let (none, all) = ("Name:\tx\nCapEff:\t0000000000000000\n", "CapEff:\t000001ffffffffff\n");
        assert!(!is_forbidden(1, none) && is_forbidden(2, none) && !is_forbidden(2, all));
        assert!(is_forbidden(3, all), "3 forbids it to all");
    }
}
