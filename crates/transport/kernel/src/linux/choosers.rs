//! Other parts of the system that choose congestion controllers.

use super::netlink::{attributes, list, text, u32_at};
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::ProgramType;
use std::io;
use std::net::IpAddr;

const RTM_GETROUTE: u16 = 26;
/// Length of `rtmsg` (linux/rtnetlink.h).
const ROUTE: usize = 12;
const RTA_DST: u16 = 1;
const RTA_METRICS: u16 = 8;
const RTA_TABLE: u16 = 15;
const RTAX_CC_ALGO: u16 = 16;

/// A route that chooses a controller for the connections over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Destination and length of its prefix, as `ip route` prints it.
    pub to: String,
    /// Number of its table.
    pub table: u32,
    /// Name of the controller.
    pub controller: String,
}

/// Returns the routes of this network namespace that choose a controller (`congctl`).
///
/// # Errors
/// The kernel's.
pub fn routes() -> io::Result<Vec<Route>> {
    let mut found = Vec::new();
    list(None, RTM_GETROUTE, &[0; ROUTE], |answer| found.extend(route(answer)))?;
    Ok(found)
}

fn route(answer: &[u8]) -> Option<Route> {
    let (head, rest) = answer.split_at_checked(ROUTE)?;
    let (mut to, mut table, mut controller) = (None, head[4].into(), None);
    for (kind, value) in attributes(rest) {
        match kind {
            RTA_DST => to = address(value),
            RTA_TABLE => table = u32_at(value, 0),
            RTA_METRICS => {
                let mut metrics = attributes(value);
                controller = metrics.find(|(metric, _)| *metric == RTAX_CC_ALGO).map(|(_, name)| text(name));
            }
            _ => {}
        }
    }
    let to = to.map_or_else(|| "default".to_owned(), |to| format!("{to}/{}", head[1]));
    Some(Route { to, table, controller: controller? })
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

/// Returns the names of the loaded programs of type `sock_ops`, which may choose a controller for each socket of a cgroup. Without
/// CAP_SYS_ADMIN there are none to be seen.
pub fn programs() -> Vec<String> {
    let programs = ProgInfoIter::default().filter(|program| program.ty == ProgramType::SockOps);
    programs.map(|program| program.name.to_string_lossy().into_owned()).collect()
}

/// Returns whether a process of this name runs, such as `bpftune`, which tunes controllers.
pub fn runs(name: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path().join("comm"))
        .any(|comm| std::fs::read_to_string(comm).is_ok_and(|found| found.trim_end() == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::netlink::attribute;

    #[test]
    fn a_route_that_chooses_is_told_from_one_that_does_not() {
        let head = [2, 24, 0, 0, 254, 0, 0, 0, 0, 0, 0, 0];
        let to = attribute(RTA_DST, &[192, 0, 2, 0]);
        let metrics = attribute(RTA_METRICS, &attribute(RTAX_CC_ALGO, b"ay_ledbat\0"));
        let found = route(&[&head[..], &to, &metrics].concat()).unwrap();
        assert_eq!(found, Route { to: "192.0.2.0/24".into(), table: 254, controller: "ay_ledbat".into() });
        assert_eq!(route(&[&head[..], &to].concat()), None);
        assert_eq!(route(&[&head[..], &metrics].concat()).unwrap().to, "default");
        assert_eq!(route(&head[..4]), None);
    }
}
