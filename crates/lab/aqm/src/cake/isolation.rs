//! Which packets share a queue, and which queues share a turn: isolation of flows and of hosts.

use crate::buckets::mix;
use crate::packet::Hosts;
use std::collections::BTreeMap;

/// The ends that are kept apart, flows among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isolation {
    by_flow: bool,
    by_source: bool,
    by_destination: bool,
}

impl Isolation {
    /// The words of CAKE for them, the default first.
    pub const WORDS: &'static [&'static str] = &[
        "triple-isolate",
        "dual-srchost",
        "dual-dsthost",
        "flows",
        "hosts",
        "srchost",
        "dsthost",
        "flowblind",
    ];
    /// The meaning of each word.
    pub const MEANINGS: &'static [Isolation] = &[
        Isolation::of(true, true, true),
        Isolation::of(true, true, false),
        Isolation::of(true, false, true),
        Isolation::of(true, false, false),
        Isolation::of(false, true, true),
        Isolation::of(false, true, false),
        Isolation::of(false, false, true),
        Isolation::of(false, false, false),
    ];

    const fn of(by_flow: bool, by_source: bool, by_destination: bool) -> Isolation {
        Isolation { by_flow, by_source, by_destination }
    }

    /// Returns whether queues share the turns of their hosts, by source and by destination.
    pub fn shares_turns(self) -> [bool; 2] {
        [self.by_flow && self.by_source, self.by_flow && self.by_destination]
    }
}

/// Hashes of a flow: which queue it has, and which hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    pub(crate) queue: u32,
    /// Source and destination.
    pub(crate) hosts: [u32; 2],
}

/// The hosts of flows, and a salted hash of both.
#[derive(Clone, Debug)]
pub struct Directory {
    isolation: Isolation,
    salt: u64,
    hosts: BTreeMap<u32, Hosts>,
}

/// Kinds of numbers that are hashed: a flow, a host, and an end of a flow whose host is not known.
const FLOW: u64 = 0;
const HOST: u64 = 1;
const END: u64 = 2;

impl Directory {
    /// Creates a directory without hosts.
    pub fn new(isolation: Isolation, salt: u64) -> Directory {
        Directory { isolation, salt, hosts: BTreeMap::new() }
    }

    /// Notes the hosts of a flow.
    pub fn note(&mut self, flow: u32, hosts: Hosts) {
        self.hosts.insert(flow, hosts);
    }

    fn hash(&self, kind: u64, number: u32) -> u32 {
        (mix(self.salt, kind << 32 | u64::from(number)) >> 32) as u32
    }

    /// Returns the hashes of a flow. An end of it whose host is not known is a host of its own.
    pub fn of(&self, flow: u32) -> Hashes {
        let Isolation { by_flow, by_source, by_destination } = self.isolation;
        if by_flow && !by_source && !by_destination {
            return Hashes { queue: self.hash(FLOW, flow), hosts: [0; 2] };
        }
        let Hosts { source, destination } = self.hosts.get(&flow).copied().unwrap_or_default();
        let host = |host: Option<u32>| match host {
            Some(host) => self.hash(HOST, host),
            None => self.hash(END, flow),
        };
        let hosts = [host(source), host(destination)];
        let queue = match (by_flow, by_source, by_destination) {
            (true, ..) => self.hash(FLOW, flow),
            // Added and not combined by exclusive or, by which two ends of one hash would be no host at all.
            (false, true, true) => hosts[0].wrapping_add(hosts[1]),
            (false, true, false) => hosts[0],
            (false, false, true) => hosts[1],
            (false, false, false) => 0,
        };
        Hashes { queue, hosts }
    }
}
