//! Two machines on one cable without a router: all addresses are link-local or self-assigned. Network namespaces that end with the test.

use super::support::*;
use afteryou_transfer::ticket::Ticket;
use std::process::{Command, Stdio};

/// Namespaces of a receiver, a sender, and a machine that does not answer.
///
/// ```text
///   receiver eth0 ── eth1 sender eth0 ── eth0 other
/// ```
struct Cables(String);

fn ip(words: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let error = || format!("ip {words}: {}", text(&output.stderr).trim());
    output.status.success().then_some(()).ok_or_else(error)
}

fn is_up(namespace: &str, device: &str) -> bool {
    let output = Command::new("ip").args(["-n", namespace, "link", "show", device]).output();
    output.is_ok_and(|output| text(&output.stdout).contains("state UP"))
}

impl Cables {
    /// Lays cables. `name` is unique within the machine. `is_v6` if addresses are IPv6's.
    fn new(name: &str, is_v6: bool) -> Result<Cables, String> {
        let cables = Cables(format!("ay-{name}-{}", std::process::id()));
        let n = &cables.0;
        for end in ["r", "s", "o"] {
            ip(&format!("netns add {n}{end}"))?;
            ip(&format!("-n {n}{end} link set lo up"))?;
            if !is_v6 {
                cables.without_v6(end)?;
            }
        }
        ip(&format!("-n {n}s link add eth1 type veth peer name eth0 netns {n}r"))?;
        ip(&format!("-n {n}s link add eth0 type veth peer name eth0 netns {n}o"))?;
        for (end, device, number) in [("r", "eth0", 1), ("s", "eth1", 2), ("s", "eth0", 3), ("o", "eth0", 4)]
        {
            ip(&format!("-n {n}{end} link set {device} addrgenmode none"))?;
            ip(&format!("-n {n}{end} link set {device} up"))?;
            match is_v6 {
                true => ip(&format!("-n {n}{end} -6 addr add fe80::{number}/64 dev {device} nodad"))?,
                // Two cables with one network would need a route that names the cable.
                false if device == "eth0" && end == "s" => {}
                false => ip(&format!("-n {n}{end} addr add 169.254.7.{number}/16 dev {device}"))?,
            }
        }
        // The kernel looks at new cables about once a second.
        for (end, device) in [("r", "eth0"), ("s", "eth1"), ("s", "eth0")] {
            wait_until("a cable is up", || is_up(&format!("{n}{end}"), device));
        }
        Ok(cables)
    }

    fn without_v6(&self, end: &str) -> Result<(), String> {
        let script = "for of in all default; do echo 1 > /proc/sys/net/ipv6/conf/$of/disable_ipv6; done";
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}{end}", self.0), "sh", "-c", script]);
        command.status().map(drop).map_err(|error| format!("ip: {error}"))
    }

    fn command(&self, place: &Place, end: &str, words: &[&str]) -> Command {
        let inner = place.command(words);
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &format!("{}{end}", self.0)])
            .arg(inner.get_program())
            .args(inner.get_args());
        command.current_dir(place.0.path()).stdin(Stdio::null());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    fn listen(&self, place: &Place, words: &[&str]) -> (Running, Ticket, String) {
        let mut command = self.command(place, "r", words);
        let mut running =
            Running::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let line = running.line();
        (running, line.parse().expect("a ticket"), line)
    }
}

impl Drop for Cables {
    fn drop(&mut self) {
        for end in ["r", "s", "o"] {
            _ = ip(&format!("netns del {}{end}", self.0));
        }
    }
}

fn cables(name: &str, is_v6: bool) -> Option<Cables> {
    Cables::new(name, is_v6).map_err(|error| println!("SKIPPED: {error}")).ok()
}

fn arrives(cables: &Cables, place: &Place, ticket: &str, name: &str) {
    place.file(name, 300_000);
    let sent =
        cables.command(place, "s", &["send", name, ticket, "--give-up-after", "15s"]).output().unwrap();
    assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stderr));
    assert!(same(&place.path(name), &place.path(&format!("archive/{name}"))));
}

#[test]
fn link_local_addresses_are_found_over_whichever_interface_leads_there() {
    let Some(cables) = cables("v6", true) else { return };
    let place = Place::new();
    let (receive, ticket, line) = cables.listen(&place, &["receive", "archive"]);
    let addresses: Vec<_> = ticket.addresses.iter().map(ToString::to_string).collect();
    assert!(addresses.len() == 1 && addresses[0].starts_with("[fe80::1]:"), "{addresses:?}");
    arrives(&cables, &place, &line, "a");
    receive.kill();

    let (_receive, ticket, line) =
        cables.listen(&place, &["receive", "archive", "--listen", "[fe80::1%eth0]:4747"]);
    assert_eq!(ticket.addresses[0].to_string(), "[fe80::1]:4747", "the interface says nothing at the peer");
    arrives(&cables, &place, &line, "b");

    for (option, value) in [("--listen", "[fe80::1%eth9]:0"), ("--address", "[fe80::1%eth9]")] {
        let refused = cables.command(&place, "r", &["receive", "other", option, value]).output().unwrap();
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(2) && said.contains("no interface \"eth9\""), "{said}");
    }
    let silent =
        cables.command(&place, "o", &["send", "a", &line, "--give-up-after", "1s"]).output().unwrap();
    assert_eq!(silent.status.code(), Some(1), "{}", text(&silent.stderr));
}

#[test]
fn self_assigned_addresses_are_in_the_ticket_and_lead_there() {
    let Some(cables) = cables("v4", false) else { return };
    let place = Place::new();
    let (_receive, ticket, line) = cables.listen(&place, &["receive", "archive"]);
    let addresses: Vec<_> = ticket.addresses.iter().map(ToString::to_string).collect();
    assert!(addresses.len() == 1 && addresses[0].starts_with("169.254.7.1:"), "{addresses:?}");
    arrives(&cables, &place, &line, "a");
}
