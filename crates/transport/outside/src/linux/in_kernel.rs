//! Background rules in the kernel, which decide what a connection sends: then only its downloads are steered from here.

use std::fs;
use std::path::Path;

/// The rule that `afteryou kernel load` registers.
pub const RULE: &str = "afteryou";
/// The settings whose controllers everybody may choose, and root.
const ALLOWED: &str = "tcp_allowed_congestion_control";
const AVAILABLE: &str = "tcp_available_congestion_control";

/// The controller of new connections.
const DEFAULT: &str = "tcp_congestion_control";
/// Names of a run's own controllers begin with this.
const OF_A_RUN: &str = "ay_";

/// Controllers in the kernel for this run.
#[derive(Clone, Debug, Default)]
pub struct InKernel {
    /// The controller that the run's connections begin with, and the one that they would have without.
    job: Option<(String, String)>,
    /// The rule may be chosen for others.
    is_offered: bool,
}

impl InKernel {
    /// Returns what this process may choose in its network namespace.
    pub fn of_this_process() -> InKernel {
        let names = setting(if rustix::process::geteuid().is_root() { AVAILABLE } else { ALLOWED });
        InKernel { job: None, is_offered: names.split_whitespace().any(|name| name == RULE) }
    }

    /// Adds the controller that the connections begin with.
    pub fn with_job(self, name: Option<&str>) -> InKernel {
        InKernel { job: name.map(|name| (name.to_owned(), setting(DEFAULT).trim().to_owned())), ..self }
    }

    /// Returns whether a controller is the background rule for all.
    pub fn has(&self, name: &str) -> bool {
        name == RULE
    }

    /// Returns what a connection of the run would have instead of this controller, if that is the run's.
    pub fn instead_of(&self, name: &str) -> Option<&str> {
        self.job.as_ref().filter(|(own, _)| own == name).map(|(_, default)| default.as_str())
    }

    /// Returns the rule that a connection without one is to have.
    pub fn offered(&self) -> Option<&str> {
        self.is_offered.then_some(RULE)
    }
}

/// Returns whether a controller is a background rule that a run has given to a connection.
pub fn is_of_a_run(name: &str) -> bool {
    name == RULE || name.starts_with(OF_A_RUN)
}

fn setting(name: &str) -> String {
    fs::read_to_string(Path::new("/proc/sys/net/ipv4").join(name)).unwrap_or_default()
}
