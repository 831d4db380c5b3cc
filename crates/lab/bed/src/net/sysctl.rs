//! Settings of a namespace's network stack, below /proc/sys.

use super::address::Family;
use super::plan::Plan;
use crate::error::Error;
use std::fs;
use std::path::Path;

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name below /proc/sys, with slashes.
    pub name: &'static str,
    /// The setting's value.
    pub value: String,
}

/// Returns the settings of both namespaces.
pub fn settings(plan: &Plan) -> Vec<Setting> {
    let set = |name: &'static str, value: &str| Setting { name, value: value.to_owned() };
    let buffers = |middle: u32| format!("4096 {middle} {}", plan.socket_buffer);
    vec![
        // A connection learns nothing from those before it.
        set("net/ipv4/tcp_no_metrics_save", "1"),
        set("net/ipv4/tcp_timestamps", "1"),
        set("net/ipv4/tcp_sack", "1"),
        // ECN where the flow's route asks for it.
        set("net/ipv4/tcp_ecn", "2"),
        set("net/ipv4/tcp_rmem", &buffers(131_072)),
        set("net/ipv4/tcp_wmem", &buffers(16_384)),
        // Addresses come from elsewhere than the device's only neighbour.
        set("net/ipv4/conf/all/rp_filter", "0"),
        set("net/ipv4/conf/default/rp_filter", "0"),
        // The device is quiet: no duplicate address detection, no solicitations.
        set("net/ipv6/conf/default/disable_ipv6", "0"),
        set("net/ipv6/conf/default/accept_dad", "0"),
        set("net/ipv6/conf/default/router_solicitations", "0"),
        set("net/ipv6/conf/default/addr_gen_mode", "1"),
        // Root of the namespace may send echoes.
        set("net/ipv4/ping_group_range", "0 0"),
    ]
}

/// Returns the settings of a namespace that forwards what comes from its only device back to it.
pub fn of_router() -> Vec<Setting> {
    let set = |name: &'static str, value: &str| Setting { name, value: value.to_owned() };
    vec![
        set("net/ipv4/ip_forward", "1"),
        set("net/ipv6/conf/all/forwarding", "1"),
        set("net/ipv4/conf/all/rp_filter", "0"),
        set("net/ipv4/conf/default/rp_filter", "0"),
        // Packets leave by the device that they came from, and nobody gets a redirect to a shorter way.
        set("net/ipv4/conf/all/send_redirects", "0"),
        set("net/ipv4/conf/default/send_redirects", "0"),
        set("net/ipv6/conf/default/disable_ipv6", "0"),
        set("net/ipv6/conf/default/accept_dad", "0"),
        set("net/ipv6/conf/default/router_solicitations", "0"),
        set("net/ipv6/conf/default/addr_gen_mode", "1"),
    ]
}

/// Returns the address families that the kernel has. One that was built or started without IPv6 (`ipv6.disable=1`) has no settings of it.
pub fn families() -> Vec<Family> {
    let has = |family: &Family| *family == Family::V4 || Path::new("/proc/sys/net/ipv6").exists();
    Family::BOTH.into_iter().filter(has).collect()
}

/// Sets what there is in the calling thread's namespace; returns what was set.
///
/// # Errors
/// A setting that is there and cannot be written.
pub fn apply(settings: Vec<Setting>) -> Result<Vec<Setting>, Error> {
    let there = settings.into_iter().filter(|setting| path(setting).exists());
    there
        .map(|setting| match fs::write(path(&setting), &setting.value) {
            Ok(()) => Ok(setting),
            Err(source) => Err(Error::Sysctl { name: setting.name, source }),
        })
        .collect()
}

fn path(setting: &Setting) -> std::path::PathBuf {
    Path::new("/proc/sys").join(setting.name)
}
