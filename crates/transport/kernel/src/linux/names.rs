//! The names of the controllers, and files of the system.

/// The names of the controllers, for `TCP_CONGESTION`.
pub const NAMES: [&str; 4] = ["afteryou", "ay_ledbat", "ay_fledbat", "ay_ledbatpp"];

/// The name of a job's controller is this and eight hexadecimal digits.
pub(crate) const OF_A_JOB: &str = "ay_";

/// Returns whether a controller is one of [`NAMES`] or a job's, such as that of an `afteryou run`.
pub fn is_ours(name: &str) -> bool {
    let is_job = |digits: &str| digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    NAMES.contains(&name) || name.strip_prefix(OF_A_JOB).is_some_and(is_job)
}

/// Where bpffs is mounted if it is not.
pub const BPFFS: &str = "/sys/fs/bpf";

/// The folder of the pins, which only its owner may enter.
pub const FOLDER: &str = "/sys/fs/bpf/afteryou";

/// The running kernel's description of its types, which the loader adapts the programs to.
pub const BTF: &str = "/sys/kernel/btf/vmlinux";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_jobs_are_ours_and_other_names_are_not() {
        for name in ["afteryou", "ay_ledbat", "ay_0a1b2c3d"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["cubic", "ay_", "ay_0a1b2c3", "ay_0a1b2c3g", "ay_ledbatt"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
