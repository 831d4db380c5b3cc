//! The queue of a link in the kernel: a namespace of its own, in which the kernel forwards what is written to a TUN device back
//! to it, through htb and the link's queue discipline.
//!
//! ```text
//!   wire ──▶ TUN ──▶ the kernel forwards ──▶ htb at the link's rate ▶ queue discipline ──▶ TUN ──▶ wire
//! ```
//!
//! # Model
//! The packet comes from elsewhere, so no socket's limits apply to it, as in a router. htb has a bucket: after a pause it lets a
//! packet go at once, and the next as soon as the bucket is no longer overdrawn. A packet comes out as its time on the link
//! begins, so paths are shorter by the time of sending.
//!
//! # Known bad cases
//! Above some 100 Mbit/s the kernel's timers are late by more than a packet takes. The bucket holds a millisecond, so the rate is
//! right and packets come in groups.

use super::namespace::Namespace;
use super::netlink;
use super::qdisc::{self, Words};
use super::sysctl;
use super::tun::{self, Tun};
use crate::error::Error;
use afteryou_scenario::network::OneWay;
use afteryou_scenario::Size;
use serde::Deserialize;
use std::process::{Command, Stdio};

/// The program that sets queues up and reads their counters: iproute2's.
const TC: &str = "tc";
/// The bucket of htb, at least: tc's own default at low rates.
const BUCKET: u64 = 1600;
/// Bytes in a turn of htb: it has one class.
const QUANTUM: &str = "1514";
/// htb and the class of all packets.
const HTB: &str = "htb";
const CLASS: &str = "1:1";

/// A link's queue in the kernel. Dropping it removes it.
#[derive(Debug)]
pub struct KernelQueue {
    /// Index of the link.
    pub link: usize,
    namespace: Namespace,
    tun: Option<Tun>,
    htb: Words,
    queue: Words,
}

/// Counters of the kernel's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct QueueCounters {
    /// Packets dropped.
    pub drops: u64,
    /// Packets in the queue.
    #[serde(rename = "qlen")]
    pub packets: u64,
}

impl KernelQueue {
    /// Makes the queue of the link with this index. Its rate counts `framing` bytes for each packet beside it.
    ///
    /// # Errors
    /// A queue discipline that the kernel does not have, with those that it has; a user who may not; no program `tc`.
    pub fn new(link: usize, way: &OneWay, framing: u32, mtu: u32) -> Result<KernelQueue, Error> {
        let refused = |reason| Error::KernelQueue { link: way.name.clone(), reason };
        let queue = qdisc::words_of(&way.link).map_err(refused)?;
        let namespace = Namespace::new()?;
        let tun = namespace.run(|| -> Result<Tun, Error> {
            sysctl::apply(sysctl::of_router())?;
            let tun = Tun::open().map_err(Error::Tun)?;
            netlink::prepare_router(mtu)?;
            Ok(tun)
        })??;
        let burst = way.link.elements.burst.map(Size::bytes);
        let htb = htb(way.link.rate.bits_per_second(), burst, framing);
        let made = KernelQueue { link, namespace, tun: Some(tun), htb, queue };
        made.set_up(&way.name)?;
        Ok(made)
    }

    fn set_up(&self, link: &str) -> Result<(), Error> {
        self.tc(&["qdisc", "add", "dev", tun::NAME, "root", "handle", "1:", HTB, "default", "1"], &[])?;
        self.tc(&["class", "add", "dev", tun::NAME, "parent", "1:", "classid", CLASS], &self.htb)?;
        let set_up =
            self.tc(&["qdisc", "add", "dev", tun::NAME, "parent", CLASS, "handle", "10:"], &self.queue);
        set_up.map_err(|error| {
            let present = qdisc::KINDS.iter().filter(|kind| self.has(kind)).map(|kind| kind.0);
            let (kind, present) = (self.queue[0].clone(), present.collect::<Vec<_>>());
            match present.contains(&kind.as_str()) {
                true => error,
                false => Error::NoQdisc { link: link.to_owned(), kind, present: present.join(", ") },
            }
        })
    }

    /// Returns whether the kernel has this queue discipline. It is tried on a device that carries nothing.
    fn has(&self, (kind, needed): &(&str, &[&str])) -> bool {
        let needed: Vec<String> = needed.iter().map(|word| (*word).to_owned()).collect();
        self.tc(&["qdisc", "replace", "dev", "lo", "root", kind], &needed).is_ok()
    }

    /// Runs tc inside.
    fn tc(&self, words: &[&str], more: &[String]) -> Result<(), Error> {
        let words: Vec<&str> = words.iter().copied().chain(more.iter().map(String::as_str)).collect();
        self.output(&words).map(drop)
    }

    fn output(&self, words: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = Command::new(TC);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output =
            self.namespace.spawn(command).and_then(|child| child.wait_with_output()).map_err(Error::Tc)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let first = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let reason = first.trim().trim_start_matches("Error: ").trim_end_matches('.').to_owned();
        Err(Error::TcRefused { command: words.join(" "), reason })
    }

    /// Takes its device out, for the wire.
    pub fn take_tun(&mut self) -> Option<Tun> {
        self.tun.take()
    }

    /// Returns the kernel's release and the words of its queue, for results.
    pub fn description(&self) -> String {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        format!("Linux {}: {}, {}", release.trim(), self.htb.join(" "), self.queue.join(" "))
    }

    /// Reads its counters.
    ///
    /// # Errors
    /// tc, or what it prints, is not as it was.
    pub fn counters(&self) -> Result<QueueCounters, Error> {
        let words = ["-s", "-j", "qdisc", "show", "dev", tun::NAME, "parent", CLASS];
        let printed = self.output(&words)?;
        let wrong = |reason: String| Error::TcRefused { command: words.join(" "), reason };
        let all: Vec<QueueCounters> =
            serde_json::from_slice(&printed).map_err(|error| wrong(error.to_string()))?;
        all.into_iter().next_back().ok_or_else(|| wrong("it printed no queue".to_owned()))
    }
}

/// Returns the class that sends at the link's rate. Its bucket holds `burst` bytes, or what the link sends in a millisecond.
fn htb(bits_per_second: u64, burst: Option<u64>, framing: u32) -> Words {
    let rate = format!("{bits_per_second}bit");
    let bucket = format!("{}b", burst.unwrap_or((bits_per_second / 8000).max(BUCKET)));
    let words = [HTB, "rate", &rate, "ceil", &rate, "burst", &bucket, "cburst", &bucket, "quantum", QUANTUM];
    let framing = framing.to_string();
    let overhead = ["overhead", &framing, "linklayer", "ethernet"];
    let overhead = if framing == "0" { &[][..] } else { &overhead[..] };
    words.iter().chain(overhead).map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_a_millisecond_and_at_least_a_packet() {
        let words = |mbit: u64, framing| htb(mbit * 1_000_000, None, framing).join(" ");
        assert_eq!(
            words(10, 0),
            "htb rate 10000000bit ceil 10000000bit burst 1600b cburst 1600b quantum 1514"
        );
        assert_eq!(
            words(80, 14),
            "htb rate 80000000bit ceil 80000000bit burst 10000b cburst 10000b quantum 1514 overhead 14 linklayer ethernet"
        );
    }
}
