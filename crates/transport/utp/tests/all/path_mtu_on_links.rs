//! The search for the path MTU over real links in network namespaces: a router with a narrow link, with and without its ICMP.

use afteryou_utp::{Endpoint, EndpointConfig, Statistics};
use nix::sched::{setns, CloneFlags};
use std::fs::File;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// IP packets that the router's second link takes, bytes.
const NARROW: u32 = 1300;
const BYTES: usize = 3_000_000;

/// A sender, a router and a receiver, in namespaces that end with it.
///
/// ```text
///   sender ──1500── router ──1300── receiver
/// ```
struct Links(String);

fn ip(words: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    let error = || format!("ip {words}: {}", String::from_utf8_lossy(&output.stderr).trim());
    output.status.success().then_some(()).ok_or_else(error)
}

impl Links {
    /// Makes the links. `name` is unique within the machine.
    fn new(name: &str, icmp_arrives: bool, second_mtu: u32) -> Result<Links, String> {
        let links = Links(format!("ay-{name}-{}", std::process::id()));
        let n = &links.0;
        for end in ["s", "r", "d"] {
            ip(&format!("netns add {n}{end}"))?;
            ip(&format!("-n {n}{end} link set lo up"))?;
        }
        ip(&format!("-n {n}s link add a type veth peer name b netns {n}r"))?;
        ip(&format!("-n {n}r link add c type veth peer name d netns {n}d"))?;
        links.set_narrow(second_mtu)?;
        for (end, device) in [("s", "a"), ("r", "b"), ("r", "c"), ("d", "d")] {
            ip(&format!("-n {n}{end} link set {device} up"))?;
        }
        // Without its ICMP: the sender has no route to the router's address, so the kernel drops what comes from there.
        let prefix = if icmp_arrives { 24 } else { 32 };
        ip(&format!("-n {n}s addr add 10.78.0.1/{prefix} dev a"))?;
        ip(&format!("-n {n}s route add 10.78.1.0/24 via 10.78.0.2 dev a onlink"))?;
        ip(&format!("-n {n}r addr add 10.78.0.2/24 dev b"))?;
        ip(&format!("-n {n}r addr add 10.78.1.2/24 dev c"))?;
        ip(&format!("-n {n}d addr add 10.78.1.1/24 dev d"))?;
        ip(&format!("-n {n}d route add default via 10.78.1.2"))?;
        for (end, device, address) in
            [("s", "a", "fd78::1"), ("r", "b", "fd78::2"), ("r", "c", "fd78:1::2"), ("d", "d", "fd78:1::1")]
        {
            ip(&format!("-n {n}{end} -6 addr add {address}/64 dev {device} nodad"))?;
        }
        ip(&format!("-n {n}s -6 route add fd78:1::/64 via fd78::2"))?;
        ip(&format!("-n {n}d -6 route add default via fd78:1::2"))?;
        links.set("r", "net/ipv4/ip_forward", "1")?;
        links.set("r", "net/ipv6/conf/all/forwarding", "1")?;
        links.set("s", "net/ipv4/conf/all/rp_filter", "1")?;
        Ok(links)
    }

    fn set_narrow(&self, mtu: u32) -> Result<(), String> {
        ip(&format!("-n {}r link set c mtu {mtu}", self.0))?;
        ip(&format!("-n {}d link set d mtu {mtu}", self.0))
    }

    fn set(&self, end: &str, key: &str, value: &str) -> Result<(), String> {
        let (name, path, value) = (format!("{}{end}", self.0), format!("/proc/sys/{key}"), value.to_owned());
        thread::spawn(move || {
            enter(&name)?;
            std::fs::write(&path, value).map_err(|error| format!("{path}: {error}"))
        })
        .join()
        .map_err(|_| "a thread has failed".to_owned())?
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        for end in ["s", "r", "d"] {
            _ = ip(&format!("netns del {}{end}", self.0));
        }
    }
}

/// Moves this thread to a namespace: its sockets belong there.
fn enter(name: &str) -> Result<(), String> {
    let file = File::open(format!("/run/netns/{name}")).map_err(|error| format!("{name}: {error}"))?;
    setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| format!("{name}: {error}"))
}

/// Runs `work` on a runtime whose thread is in the namespace.
fn run_in<T>(name: &str, work: impl Future<Output = T>) -> T {
    enter(name).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), work).await }).unwrap()
}

/// Sends over the links to `to`; `halfway` is done when half is written. The sender's statistics in the end.
fn transfer(links: &Links, to: IpAddr, halfway: impl FnOnce() + Send) -> Statistics {
    let data = &(0..BYTES).map(|i| (i * 31) as u8).collect::<Vec<u8>>();
    let (tell, address) = channel();
    thread::scope(|scope| {
        let receiving = scope.spawn(|| {
            run_in(&format!("{}d", links.0), async move {
                let endpoint = Endpoint::bind(SocketAddr::new(to, 0), EndpointConfig::foreground()).unwrap();
                tell.send(endpoint.local_addr().unwrap()).unwrap();
                let (mut stream, mut received) = (endpoint.accept().await.unwrap(), Vec::new());
                stream.read_to_end(&mut received).await.unwrap();
                stream.shutdown().await.unwrap();
                endpoint.close().await;
                received
            })
        });
        let sending = scope.spawn(move || {
            let peer = address.recv().unwrap();
            run_in(&format!("{}s", links.0), async {
                let any = if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let endpoint = Endpoint::bind(any.parse().unwrap(), EndpointConfig::foreground()).unwrap();
                let mut stream = endpoint.connect(peer).await.unwrap();
                let (first, second) = data.split_at(BYTES / 2);
                stream.write_all(first).await.unwrap();
                halfway();
                stream.write_all(second).await.unwrap();
                stream.shutdown().await.unwrap();
                stream.statistics()
            })
        });
        let statistics = sending.join().unwrap();
        assert!(receiving.join().unwrap() == *data, "other bytes have arrived");
        statistics
    })
}

/// Makes the links, or returns `None` after a word about the reason.
fn links(name: &str, icmp_arrives: bool, second_mtu: u32) -> Option<Links> {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return None;
    }
    let links = Links::new(name, icmp_arrives, second_mtu);
    links.inspect_err(|reason| eprintln!("skipped: {reason}")).ok()
}

fn v4() -> IpAddr {
    "10.78.1.1".parse().unwrap()
}

fn v6() -> IpAddr {
    "fd78:1::1".parse().unwrap()
}

#[test]
fn a_routers_icmp_shows_the_length_that_its_link_takes_over_ipv4_and_ipv6() {
    let Some(links) = links("icmp", true, NARROW) else { return };
    let payload = |to| transfer(&links, to, || ()).payload;
    assert_eq!(payload(v4()), NARROW - 28 - 20);
    assert_eq!(payload(v6()), NARROW - 48 - 20);
}

#[test]
fn without_icmp_the_length_is_found_by_probes() {
    let Some(links) = links("hole", false, NARROW) else { return };
    let found = transfer(&links, v4(), || ()).payload;
    assert!((NARROW - 48 - 32..=NARROW - 48).contains(&found), "{found}");
}

#[test]
fn a_link_that_becomes_narrow_and_says_nothing_does_not_end_the_stream() {
    let Some(links) = links("shrinks", false, 1500) else { return };
    let statistics = transfer(&links, v4(), || links.set_narrow(NARROW).unwrap());
    assert!(statistics.payload <= NARROW - 48, "{}", statistics.payload);
}

#[test]
fn over_wide_links_packets_are_as_long_as_on_ethernet() {
    let Some(links) = links("wide", true, 1500) else { return };
    assert_eq!(transfer(&links, v4(), || ()).payload, 1452);
    assert_eq!(transfer(&links, v6(), || ()).payload, 1432);
}
