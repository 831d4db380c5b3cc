//! The names of the controllers, and files of the system.

/// The names of the controllers, for `TCP_CONGESTION`.
pub const NAMES: [&str; 4] = ["afteryou", "ay_ledbat", "ay_fledbat", "ay_ledbatpp"];

/// Where bpffs is mounted if it is not.
pub const BPFFS: &str = "/sys/fs/bpf";

/// The folder of the pins, which only its owner may enter.
pub const FOLDER: &str = "/sys/fs/bpf/afteryou";

/// The running kernel's description of its types, which the loader adapts the programs to.
pub const BTF: &str = "/sys/kernel/btf/vmlinux";
