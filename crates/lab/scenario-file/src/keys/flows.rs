//! Keys of flows, of their traffic and of their hosts.

use super::links::AS_IN_RESULTS;
use crate::element::{keys_of, KeysOf, DELAY, LOSS, RATE};
use crate::key::{joined, key, Key, Takes};
use afteryou_scenario::traffic::Gaps;

/// `[[flow]]`.
pub const FLOW: &[Key] = joined!(
    &[
    key("name", Takes::Text, "its name; the controller's by default"),
    key("group", Takes::Text, "name of the flows that it was written together with"),
    key(
        "role",
        Takes::Word(&["foreground", "background"]),
        "background flows must not disturb foreground flows; foreground by default",
    ),
    key("controller", Takes::Controller, "congestion controller; cbr traffic takes none"),
    key("transport", Takes::Transport, "protocol; tcp by default, udp for cbr traffic"),
    key(
        "receiver",
        Takes::Receiver,
        "over tcp: congestion control at the receiver, which limits the sender by the window that it announces; none by default",
    ),
    key(
        "sender",
        Takes::Sender,
        "over tcp: a rule that limits the sender's rate from outside; flows written together are one job; none by default",
    ),
    key("rtt", Takes::Distribution, "round-trip time without queues; twice path.delay if only that is given"),
    key(
        "direction",
        Takes::Word(&["up", "down"]),
        "with [link]: down if data cross link.reverse and acknowledgements link; up by default",
    ),
    key("hosts", Takes::Text, "name of the hosts that it runs on: of a swarm or of downloads; with path, a flow from each host over its own links and the path"),
    key(
        "host",
        Takes::Text,
        "name of the host before the bottleneck, for queues that keep hosts apart (cake): with direction = \"down\" it receives, else it sends; one of its own by default",
    ),
    key("path", Takes::Table(PATH), "with [[link]]: the links that its packets cross"),
    key("start", Takes::Start, "when it starts; at once by default"),
    key("stop", Takes::TimeOrRounds, "when it stops; at the end of the run by default"),
    key("active", Takes::Intervals, "when it has data to send; all the time by default"),
    key("reconnect", Takes::Flag, "each time of activity has a connection of its own"),
    key("traffic", Takes::Traffic, "its data; bulk by default"),
    key("packet", Takes::Table(PACKET), "sizes of its packets; the transport's own by default"),
    key(
        "dscp",
        Takes::Dscp,
        "class of its packets: le, default, cs1 or a number; le for background flows by default",
    ),
    key("count", Takes::Count, "number of flows like this; from hosts over a path, one for each host by default"),
    ],
    keys_of!(LOSS, KeysOf::Flow),
    &[AS_IN_RESULTS],
    keys_of!(DELAY, KeysOf::Flow),
    keys_of!(RATE, KeysOf::Flow),
);

/// `path` of a flow.
pub const PATH: &[Key] = &[
    key("forward", Takes::Names, "names of the links that data cross, in order"),
    key("reverse", Takes::Names, "names of the links that acknowledgements cross, in order"),
    key("delay", Takes::Time, "propagation delay of the forward path; half the rtt by default"),
];

/// `[[hosts]]`.
pub const HOSTS: &[Key] = &[
    key("name", Takes::Text, "name of the group of hosts, by which flows refer to it"),
    key("count", Takes::Count, "how many, 1 to 1000; 1 by default"),
    key("up", Takes::RateLaw, "rate of each one's uplink; a law is drawn for each"),
    key("down", Takes::RateLaw, "rate of each one's downlink; a law is drawn for each"),
    key("queue", Takes::Buffer, "how much each link's queue may hold"),
    key(
        "rtt",
        Takes::TimeLaw,
        "drawn for each; the round-trip time between two hosts is the mean of theirs, to a server its own",
    ),
    key("delay", Takes::TimeLaw, "in place of rtt: half of it, the delay one way"),
];

/// `swarm` of a flow's traffic.
pub const SWARM: &[Key] = &[
    key("chunk", Takes::Size, "bytes of a chunk"),
    key("slots", Takes::Count, "uploads of a peer at a time; 5 by default"),
    key("neighbours", Takes::Count, "peers that a peer may upload to; 10 by default"),
    key(
        "persist",
        Takes::Ratio,
        "probability that a slot's next chunk goes to the same neighbour, as soon as the last one is acknowledged",
    ),
    key(
        "idle_rtts",
        Takes::Number(0.0, 100.0),
        "base round-trip times that a slot waits before the next chunk to the same neighbour; 0 by default",
    ),
    key("uploaders", Takes::Count, "number of hosts that upload, the others only receive; all by default"),
    key(
        "tit_for_tat",
        Takes::Flag,
        "in place of persist: peers upload to those neighbours that upload most to them, as in BitTorrent; false by default",
    ),
];

/// `packet` of a flow.
pub const PACKET: &[Key] = &[
    key("payload", Takes::Size, "payload of a full packet"),
    key(
        "overhead",
        Takes::Size,
        "headers, as far as the link's rate counts them; an acknowledgement is this long",
    ),
];

/// `traffic` of a flow: some of these together.
pub const TRAFFIC: &[Key] = &[
    key("size", Takes::SizeLaw, "bytes of a transfer, of each transfer (arrivals), or of a segment (every)"),
    key("chunk", Takes::Size, "bytes of a chunk"),
    key("pause", Takes::TimeOrRounds, "time between two chunks to the same peer"),
    key(
        "persist",
        Takes::Ratio,
        "probability that the next chunk goes to the same peer; otherwise a new connection is opened",
    ),
    key("on", Takes::Time, "time on"),
    key("off", Takes::Time, "time off"),
    key("cbr", Takes::Rate, "rate of constant-rate traffic"),
    key("payload", Takes::Size, "payload of a packet of constant-rate traffic; 160 B by default"),
    key(
        "gaps",
        Takes::Word(Gaps::WORDS),
        "times between packets of constant-rate traffic: equal, or exponential with the same mean; equal by default",
    ),
    key("arrivals", Takes::Arrivals, "times between transfers, each over a connection of its own"),
    key("web", Takes::Table(WEB), "users who fetch pages"),
    key("swarm", Takes::Table(SWARM), "peers that upload to each other; needs hosts"),
    key(
        "downloads",
        Takes::Count,
        "hosts that download at any time from a server that is no bottleneck; needs hosts",
    ),
    key("every", Takes::TimeOrRounds, "time between two segments of a video"),
    key("command", Takes::Names, "your program that sends, and its arguments; in the testbed only"),
    key("server", Takes::Names, "your program that receives, and its arguments; none by default"),
];

/// `web` of a flow's traffic.
pub const WEB: &[Key] = &[
    key("users", Takes::Count, "how many, 1 to 10000"),
    key("think", Takes::TimeLaw, "time from the end of a page to the next one"),
    key("objects", Takes::Count, "objects of a page; 1 by default"),
    key("size", Takes::SizeLaw, "bytes of an object"),
    key("connections", Takes::Count, "most connections of a user at a time; 6 by default"),
];

/// `lognormal` of a law.
pub const LAW_LOGNORMAL: &[Key] = &[
    key("median", Takes::Text, "half of the values are below; this or mean"),
    key("mean", Takes::Text, "mean before clip is applied; this or median"),
    key("sigma", Takes::Ratio, "standard deviation of the natural logarithm, 0 to 5"),
    key("clip", Takes::Names, "values outside [from, to] are moved to the nearer end"),
];

/// `pareto` of a law.
pub const PARETO: &[Key] = &[
    key("shape", Takes::Ratio, "the exponent, 0.1 to 100"),
    key("min", Takes::Text, "the least value"),
    key("cap", Takes::Text, "larger values are moved to this one"),
];
