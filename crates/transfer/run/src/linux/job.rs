//! The program's connections as a job in the kernel, where this process may make one.

#[cfg(all(feature = "kernel", target_endian = "little"))]
use afteryou_base::Dscp;

/// Reason why uploads do not follow the rule in the kernel, in one sentence.
pub const WITHOUT: &str = match cfg!(all(feature = "kernel", target_endian = "little")) {
    true => "uploads are steered from outside; as root, or after `sudo afteryou kernel load --allow-users`, they follow the rule in the kernel",
    false => "uploads are steered from outside; as root, a build with the kernel part (cargo build --release --features kernel) sends them by the rule in the kernel",
};

/// The byte of TOS and traffic class that marks background traffic.
#[cfg(all(feature = "kernel", target_endian = "little"))]
const MARK: u8 = Dscp::LE.tos(0);

#[cfg(all(feature = "kernel", target_endian = "little"))]
pub use in_kernel::{begin, repair, Job};

#[cfg(not(all(feature = "kernel", target_endian = "little")))]
pub use nowhere::{begin, repair, Job};

#[cfg(all(feature = "kernel", target_endian = "little"))]
mod in_kernel {
    use super::MARK;
    use afteryou_terminal::output;
    use rustix::thread::{capabilities, CapabilitySet};
    use std::path::PathBuf;

    /// A job, as long as this exists.
    #[derive(Debug)]
    pub struct Job(afteryou_kernel::Job);

    /// Makes a job, or returns `None` and prints why there is none if this process has the rights for one.
    pub fn begin() -> Option<Job> {
        let required = CapabilitySet::BPF | CapabilitySet::PERFMON | CapabilitySet::NET_ADMIN;
        if !capabilities(None).is_ok_and(|sets| sets.effective.contains(required)) {
            return None;
        }
        match afteryou_kernel::Job::new(MARK) {
            Ok(job) => Some(Job(job)),
            Err(error) => {
                output::complain(&format!("afteryou: uploads are steered from outside: {error}\n"));
                None
            }
        }
    }

    impl Job {
        /// Returns the name of its controller.
        pub fn name(&self) -> &str {
            self.0.name()
        }

        /// Returns the file that takes a process into it.
        pub fn members(&self) -> PathBuf {
            self.0.members()
        }

        /// Returns in words how many connections it has had.
        pub fn covered(&self) -> String {
            let counts = self.0.counts();
            let many = |count: u64| if count == 1 { "connection" } else { "connections" };
            let mut words =
                format!("{} {} sent by the rule in the kernel", counts.covered, many(counts.covered));
            for (count, what) in
                [(counts.local, "within this machine"), (counts.refused, "refused by the kernel")]
            {
                if count > 0 {
                    words += &format!(", {count} {what}");
                }
            }
            words
        }
    }

    /// Removes what a process that was killed has left of its job.
    pub fn repair() {
        afteryou_kernel::repair();
    }
}

#[cfg(not(all(feature = "kernel", target_endian = "little")))]
mod nowhere {
    use std::path::PathBuf;

    /// There is none.
    #[derive(Debug)]
    pub enum Job {}

    /// Returns `None`.
    pub fn begin() -> Option<Job> {
        None
    }

    impl Job {
        /// Returns the name of its controller.
        pub fn name(&self) -> &str {
            match *self {}
        }

        /// Returns the file that takes a process into it.
        pub fn members(&self) -> PathBuf {
            match *self {}
        }

        /// Returns in words how many connections it has had.
        pub fn covered(&self) -> String {
            match *self {}
        }
    }

    /// Does nothing.
    pub fn repair() {}
}
