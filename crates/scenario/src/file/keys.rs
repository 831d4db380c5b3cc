//! Every key of a scenario file: what it takes, what it does. The checker's known words, the JSON schema and the manual
//! are made from these tables.

use crate::record::Record;

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it does, one sentence.
    pub help: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Any text.
    Text,
    /// A rate: "20 Mbit/s".
    Rate,
    /// A size: "260 kB", "64 KiB".
    Size,
    /// A time: "40 ms".
    Time,
    /// A time, or a number of the flow's round-trip times: "3 rtt".
    TimeOrRounds,
    /// A moment of the run: "20 s", "last start + 10 s", "end - 30 s".
    Moment,
    /// Packets, bytes or time: "100 packets", "64 KiB", "500 ms".
    Buffer,
    /// "1 %".
    Probability,
    /// A code point: "le", "default", "cs1", 46.
    Dscp,
    /// "10 packets".
    Packets,
    /// "10 packets" or `{ uniform = [from, to] }`.
    Window,
    /// A whole number.
    Count,
    /// true or false.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of some words.
    Words(&'static [&'static str]),
    /// One of some words, or true or false.
    WordOrFlag(&'static [&'static str]),
    /// A controller of the list, with its parameters.
    Controller,
    /// A queue discipline of the list, with its parameters.
    Queue,
    /// A transport of the list, with its settings.
    Transport,
    /// "bulk", or a table that says how much.
    Traffic,
    /// A time, or a distribution of times.
    Distribution,
    /// A time, `{ every = … }` or `{ uniform = [from, to] }`.
    Start,
    /// Pairs of times.
    Intervals,
    /// A table with these keys.
    Table(&'static [Key]),
    /// Tables with these keys, or one of them.
    Tables(&'static [Key]),
    /// One table with the first keys, or a list of tables with the second.
    TableOrList(&'static [Key], &'static [Key]),
    /// A list of names.
    Names,
    /// Values to vary.
    Sweep,
}

const fn key(name: &'static str, takes: Takes, help: &'static str) -> Key {
    Key { name, takes, help }
}

/// The file.
pub const ROOT: &[Key] = &[
    key("name", Takes::Text, "what it shows, one line"),
    key("duration", Takes::Time, "how long it runs"),
    key("seed", Takes::Count, "seed of every random choice; 1 if not said"),
    key("repeat", Takes::Count, "how many times, each with the next seed; once if not said"),
    key("measure", Takes::Tables(WINDOW), "intervals that get figures of their own"),
    key(
        "sample",
        Takes::Time,
        "time between the points of curves, for goodput two of them in some engines; by the run's length if not said",
    ),
    key(
        "record",
        Takes::Words(Record::WORDS),
        "measures beyond the usual figures: each queue's length and shares, each sender's state at each ack, exact events",
    ),
    key(
        "baseline",
        Takes::WordOrFlag(&["without background", "none"]),
        "run it again without the background flows",
    ),
    key("link", Takes::TableOrList(LINK, NAMED_LINK), "the bottleneck; in [[link]], all links, with names"),
    key("flow", Takes::Tables(FLOW), "the flows"),
    key("drop", Takes::Tables(DROP), "packets to drop before they reach the queue"),
    key("delay", Takes::Tables(DELAY), "packets to hold back, so that others overtake them"),
    key("fluid", Takes::Table(FLUID), "what only the fluid engine needs to be told"),
    key(
        "sweep",
        Takes::Sweep,
        "settings to vary, each with a list of values or a range: every combination is a run",
    ),
];

/// A range of `[sweep]` at equal steps.
pub const RANGE: &[Key] = &[
    key("from", Takes::Text, "the first value"),
    key("to", Takes::Text, "the last value, if a step comes there"),
    key("step", Takes::Text, "from one value to the next"),
];

/// A range of `[sweep]` at equal ratios.
pub const LOG: &[Key] = &[
    key("log", Takes::Text, "[from, to]: the first value and the last one, if a ratio comes there"),
    key("per_decade", Takes::Count, "values within a factor of ten"),
];

/// Words of `[fluid]`.
pub(crate) const RTT: &[&str] = &["constant", "with-queue"];
pub(crate) const FEEDBACK: &[&str] = &["at-once", "delayed"];
pub(crate) const BASE: &[&str] = &["known", "measured"];
pub(crate) const SLOWDOWNS: &[&str] = &["events", "mean"];

/// `[fluid]`.
pub const FLUID: &[Key] = &[
    key(
        "rtt",
        Takes::Word(RTT),
        "what a round trip takes: the empty path's time, or the queue's, too; with-queue if not said",
    ),
    key("feedback", Takes::Word(FEEDBACK), "when a sender learns of the queue; delayed if not said"),
    key(
        "base",
        Takes::Word(BASE),
        "what a sender takes for the empty path: it, or the shortest delay it has seen; measured if not said",
    ),
    key(
        "slowdowns",
        Takes::Word(SLOWDOWNS),
        "what LEDBAT++'s slowdowns are: events, or their mean as a factor; events if not said",
    ),
    key("step", Takes::Time, "length of a step at most"),
    key("window", Takes::Window, "each flow's window when it starts; by its controller if not said"),
    key("queue", Takes::Packets, "what the queue holds at the beginning; nothing if not said"),
    key("trials", Takes::Count, "how many times, each with start values drawn anew; once if not said"),
];

/// `[[measure]]`.
pub const WINDOW: &[Key] = &[
    key("name", Takes::Text, "its name; \"measured\" if not said"),
    key("from", Takes::Moment, "when it begins"),
    key("to", Takes::Moment, "when it ends; at the end of the run if not said"),
];

/// `[link]`.
pub const LINK: &[Key] = &[
    key("rate", Takes::Rate, "rate, counted in IP packets (headers included)"),
    key("buffer", Takes::Buffer, "how much its queue may hold"),
    key("queue", Takes::Queue, "queue discipline; droptail if not said"),
    key(
        "loss",
        Takes::Probability,
        "probability that a packet is lost at random, in each direction; 0 % if not said",
    ),
    key("reverse", Takes::Table(REVERSE), "the reverse direction, where it differs"),
];

/// `[[link]]`.
pub const NAMED_LINK: &[Key] = &[
    key("name", Takes::Text, "its name, by which paths refer to it; the link goes one way"),
    key("rate", Takes::Rate, "rate, counted in IP packets (headers included)"),
    key("buffer", Takes::Buffer, "how much its queue may hold"),
    key("queue", Takes::Queue, "queue discipline; droptail if not said"),
    key("loss", Takes::Probability, "probability that a packet is lost at random; 0 % if not said"),
];

/// `link.reverse`.
pub const REVERSE: &[Key] = &[
    key("rate", Takes::Rate, "its rate"),
    key("buffer", Takes::Buffer, "how much its queue may hold"),
    key("queue", Takes::Queue, "its queue discipline"),
    key("loss", Takes::Probability, "probability that a packet is lost at random"),
];

/// `[[flow]]`.
pub const FLOW: &[Key] = &[
    key("name", Takes::Text, "its name; the controller's if not said"),
    key("group", Takes::Text, "name of the flows that it was written together with"),
    key(
        "role",
        Takes::Word(&["foreground", "background"]),
        "who must not notice whom; foreground if not said",
    ),
    key("controller", Takes::Controller, "congestion controller; cbr traffic takes none"),
    key("transport", Takes::Transport, "protocol; tcp if not said, udp for cbr traffic"),
    key(
        "rtt",
        Takes::Distribution,
        "round-trip time of the empty path; twice path.delay if only that is said",
    ),
    key(
        "direction",
        Takes::Word(&["up", "down"]),
        "with [link]: down if data cross link.reverse and acknowledgements link; up if not said",
    ),
    key("path", Takes::Table(PATH), "with [[link]]: the links that its packets cross"),
    key("start", Takes::Start, "when it starts; at once if not said"),
    key("stop", Takes::TimeOrRounds, "when it stops; at the end of the run if not said"),
    key("active", Takes::Intervals, "when it has something to send; all the time if not said"),
    key("reconnect", Takes::Flag, "each time of activity has a connection of its own"),
    key("traffic", Takes::Traffic, "what it sends; bulk if not said"),
    key("packet", Takes::Table(PACKET), "sizes of its packets; the transport's own if not said"),
    key(
        "dscp",
        Takes::Dscp,
        "class of its packets: le, default, cs1 or a number; le for background flows if not said",
    ),
    key("count", Takes::Count, "so many flows like this"),
];

/// `path` of a flow.
pub const PATH: &[Key] = &[
    key("forward", Takes::Names, "names of the links that data cross, in order"),
    key("reverse", Takes::Names, "names of the links that acknowledgements cross, in order"),
    key("delay", Takes::Time, "propagation delay of the forward path; half the rtt if not said"),
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

/// `[[drop]]`.
pub const DROP: &[Key] = &[
    key("flow", Takes::Text, "whose; anybody's if not said"),
    key("packet", Takes::Count, "number of the data packet, from 1, in order of their first transmission"),
    key("transmission", Takes::Count, "which of its transmissions, from 1; the first if not said"),
    key("at", Takes::Time, "from this time on"),
    key("until", Takes::Time, "until this time: an outage"),
    key("count", Takes::Count, "how many packets in a row; one if neither this nor until is said"),
];

/// `[[delay]]`.
pub const DELAY: &[Key] = &[
    key("flow", Takes::Text, "whose"),
    key("packet", Takes::Count, "number of the data packet, from 1, in order of their first transmission"),
    key("transmission", Takes::Count, "which of its transmissions, from 1; the first if not said"),
    key("by", Takes::Time, "for how long"),
];

/// Words of the language that nothing understands yet: they are refused, not ignored.
pub(crate) const NOT_YET_KEYS: &[&str] =
    &["route", "hosts", "jitter", "route_change", "swarm", "web", "trace", "steps", "markov", "reorder"];
/// Controllers that are planned.
pub(crate) const NOT_YET_CONTROLLERS: &[&str] =
    &["bbr", "bbrv1", "bbrv2", "bbrv3", "proteus", "proteus-s", "rledbat"];
/// Queue disciplines that are planned.
pub(crate) const NOT_YET_QUEUES: &[&str] = &["cake"];
/// Transports that are planned.
pub(crate) const NOT_YET_TRANSPORTS: &[&str] = &["quic"];
