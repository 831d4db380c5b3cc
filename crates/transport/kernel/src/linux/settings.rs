//! Settings of the system about congestion controllers.

use super::error::Error;
use std::fs;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Returns the names that the kernel has.
pub fn available() -> Vec<String> {
    words(AVAILABLE)
}

/// Returns the names that users without privileges may choose.
pub fn allowed() -> Vec<String> {
    words(ALLOWED)
}

/// Returns the controller of this network namespace's sockets that choose none.
pub fn default_name() -> String {
    words(DEFAULT).concat()
}

/// Lets all users choose the names, beside those that they may choose. The kernel forgets a name when its controller is unloaded.
pub(crate) fn allow(names: &[&str]) -> Result<(), Error> {
    let mut all = allowed();
    all.extend(names.iter().map(|name| (*name).to_owned()));
    fs::write(ALLOWED, all.join(" ")).map_err(Error::system(format!("{ALLOWED} cannot be written")))
}

fn words(path: &str) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}
