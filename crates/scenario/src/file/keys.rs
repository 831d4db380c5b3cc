//! Every key of a scenario file: what it takes, what it does. The checker's known words, the JSON schema and the manual
//! are made from these tables.

use crate::record::Record;
use crate::traffic::Gaps;

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
    /// A number from the first to the second.
    Number(f64, f64),
    /// A rate, or a table of a law with these keys.
    ChangingRate(&'static [Key]),
    /// A word, or a chain with these keys.
    Markov(&'static [Key]),
    /// Names with numbers.
    Weights,
    /// Elements as a result has them.
    Elements,
    /// Pairs of a time and a rate.
    RateSteps,
    /// A time, or steps of it in a table with these keys.
    Propagation(&'static [Key]),
    /// A law of delays with these keys.
    Jitter(&'static [Key]),
    /// A table with these keys, or "none".
    OrNone(&'static [Key]),
    /// A whole number, or a time.
    CountOrTime,
    /// Pairs of a time and a delay.
    DelaySteps,
    /// A time, or two of them.
    UpTo,
    /// Two times, the second not before the first.
    Range,
    /// A list of times, with weights or without; or the name of a file.
    Samples,
    /// A probability, or a table of a law with these keys.
    Loss(&'static [Key]),
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
    /// A size, or a law of sizes.
    SizeLaw,
    /// A time, or a law of times.
    TimeLaw,
    /// A rate, or a law of rates.
    RateLaw,
    /// `{ poisson = "50 per s" }`, or a law of times.
    Arrivals,
    /// A number, or per cent.
    Ratio,
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
    /// A list of names, or "all".
    NamesOrAll,
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
    key("seed", Takes::Count, "seed of every random choice; 1 by default"),
    key("repeat", Takes::Count, "number of runs, each with the next seed; 1 by default"),
    key("measure", Takes::Tables(WINDOW), "intervals that get figures of their own"),
    key(
        "sample",
        Takes::Time,
        "time between the points of curves, for goodput two of them in some engines; by the run's length by default",
    ),
    key(
        "record",
        Takes::Words(Record::WORDS),
        "measures beyond the usual figures: each queue's length and shares, each sender's state at each ack, exact events, what follows a lost packet in sets of flows",
    ),
    key(
        "baseline",
        Takes::WordOrFlag(&["without background", "none"]),
        "run it again without the background flows",
    ),
    key("link", Takes::TableOrList(LINK, NAMED_LINK), "the bottleneck; in [[link]], all links, with names"),
    key("hosts", Takes::Tables(HOSTS), "hosts with access links of their own"),
    key("flow", Takes::Tables(FLOW), "the flows"),
    key(
        "noise",
        Takes::Word(&["none", "testbed", "ns2"]),
        "start and jitter of flows that say nothing themselves; none by default",
    ),
    key("drop", Takes::Tables(DROP), "packets to drop before they reach the queue"),
    key("delay", Takes::Tables(DELAY), "packets to hold back, so that others overtake them"),
    key(
        "route_change",
        Takes::Tables(ROUTE_CHANGE),
        "from a time on, packets take another route; those in flight stay on the old one",
    ),
    key("fluid", Takes::Table(FLUID), "settings of the fluid engine alone"),
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
pub(crate) const PACING: &[&str] = &["all", "by-transport"];

/// `[fluid]`.
pub const FLUID: &[Key] = &[
    key(
        "rtt",
        Takes::Word(RTT),
        "the time of a round trip: of the propagation delay alone, or with the queue's; with-queue by default",
    ),
    key("feedback", Takes::Word(FEEDBACK), "when a sender learns of the queue; delayed by default"),
    key(
        "base",
        Takes::Word(BASE),
        "a sender's base delay: the propagation delay, or the shortest delay it has measured; measured by default",
    ),
    key(
        "slowdowns",
        Takes::Word(SLOWDOWNS),
        "LEDBAT++'s slowdowns: events, or their mean as a factor; events by default",
    ),
    key(
        "pacing",
        Takes::Word(PACING),
        "the flows that spread their windows over the round trip: all, or those whose transport paces; by-transport by default",
    ),
    key(
        "floor",
        Takes::Packets,
        "the smallest window of every flow, 0.001 to 1000 packets; from its controller by default",
    ),
    key("step", Takes::Time, "length of a step at most"),
    key("window", Takes::Window, "each flow's window when it starts; from its controller by default"),
    key("queue", Takes::Packets, "the queue at the beginning; empty by default"),
    key("trials", Takes::Count, "number of runs, each with start values drawn anew; 1 by default"),
];

/// `[[measure]]`.
pub const WINDOW: &[Key] = &[
    key("name", Takes::Text, "its name; \"measured\" by default"),
    key("from", Takes::Moment, "when it begins"),
    key("to", Takes::Moment, "when it ends; at the end of the run by default"),
    key(
        "flows",
        Takes::NamesOrAll,
        "flows and groups that are measured together; all of them by default if role or controller is given",
    ),
    key("role", Takes::Word(&["foreground", "background"]), "of these, only flows with this role"),
    key("controller", Takes::Text, "of these, only flows with this controller"),
    key("step", Takes::Time, "rates over time are means over steps of this length; 1 s by default"),
    key(
        "stall",
        Takes::Time,
        "a longer time without progress of the cumulative ack is a stall; 200 ms by default",
    ),
    key("starved", Takes::Probability, "a flow below this part of its fair share starves; 10 % by default"),
    key(
        "reach",
        Takes::Probability,
        "the start-up lasts until this part of the capacity is reached; 90 % by default",
    ),
];

/// `[link]`.
pub const LINK: &[Key] = &[
    key(
        "rate",
        Takes::ChangingRate(RATE),
        "rate, counted in IP packets (headers included), or how it changes",
    ),
    key("buffer", Takes::Buffer, "how much its queue may hold"),
    key("queue", Takes::Queue, "queue discipline; droptail by default"),
    key(
        "loss",
        Takes::Loss(LOSS),
        "probability that a packet is lost, or a law, in each direction; 0 % by default",
    ),
    DUPLICATE,
    AS_IN_RESULTS,
    key("delay", Takes::Propagation(PROPAGATION), "propagation delay, beside that of paths; none by default"),
    key("jitter", Takes::Jitter(JITTER), "delay that differs from packet to packet; none by default"),
    key(
        "aggregate",
        Takes::OrNone(AGGREGATE),
        "acknowledgements wait before it and go on together; none by default",
    ),
    key("reverse", Takes::Table(REVERSE), "the reverse direction, where it differs"),
];

/// `[[link]]`.
pub const NAMED_LINK: &[Key] = &[
    key("name", Takes::Text, "its name, by which paths refer to it; the link goes one way"),
    key(
        "rate",
        Takes::ChangingRate(RATE),
        "rate, counted in IP packets (headers included), or how it changes",
    ),
    key("buffer", Takes::Buffer, "how much its queue may hold"),
    key("queue", Takes::Queue, "queue discipline; droptail by default"),
    key("loss", Takes::Loss(LOSS), "probability that a packet is lost, or a law; 0 % by default"),
    DUPLICATE,
    AS_IN_RESULTS,
    key("delay", Takes::Propagation(PROPAGATION), "propagation delay, beside that of paths; none by default"),
    key("jitter", Takes::Jitter(JITTER), "delay that differs from packet to packet; none by default"),
    key(
        "aggregate",
        Takes::OrNone(AGGREGATE),
        "acknowledgements wait before it and go on together; none by default",
    ),
];

/// `link.reverse`.
pub const REVERSE: &[Key] = &[
    key("rate", Takes::ChangingRate(RATE), "its rate, or how it changes"),
    key("buffer", Takes::Buffer, "how much its queue may hold"),
    key("queue", Takes::Queue, "its queue discipline"),
    key("loss", Takes::Loss(LOSS), "probability that a packet is lost, or a law"),
    DUPLICATE,
    AS_IN_RESULTS,
    key("delay", Takes::Propagation(PROPAGATION), "propagation delay, beside that of paths; none by default"),
    key("jitter", Takes::Jitter(JITTER), "delay that differs from packet to packet; none by default"),
    key(
        "aggregate",
        Takes::OrNone(AGGREGATE),
        "acknowledgements wait before it and go on together; none by default",
    ),
];

const AS_IN_RESULTS: Key = key(
    "elements",
    Takes::Elements,
    "all elements in the form of a result's scenario, in place of the other keys",
);

const DUPLICATE: Key = key(
    "duplicate",
    Takes::Probability,
    "probability that a packet which is not lost comes twice; 0 % by default",
);

/// `loss` of a link, if it is a table.
pub const LOSS: &[Key] = &[
    key("gilbert_elliott", Takes::Table(GILBERT_ELLIOTT), "losses in bursts"),
    key("every", Takes::Count, "loses every n-th packet"),
];

/// `rate` of a link, if it is a table: `steps`, or `trace`.
pub const RATE: &[Key] = &[
    key("steps", Takes::RateSteps, "from when, and which rate; 0 bit/s is an outage"),
    key(
        "trace",
        Takes::Text,
        "a file beside the scenario: Mahimahi's packet-delivery trace, or lines `time,rate`",
    ),
    key("loop", Takes::Flag, "the trace begins again when it is over"),
    key("markov", Takes::Markov(MARKOV), "a chain of states, drawn for each run, or the preset satellite"),
];

/// `rate.markov`, if it is a table.
pub const MARKOV: &[Key] = &[
    key("states", Takes::Tables(STATE), "its states, two at least"),
    key("arq", Takes::Table(ARQ), "repeat requests of the link layer; a packet is sent once by default"),
];

/// `rate.markov.states`.
pub const STATE: &[Key] = &[
    key("name", Takes::Text, "its name"),
    key("rate", Takes::Rate, "rate of the link in it; 0 bit/s if nothing gets through"),
    key("dwell", Takes::Time, "mean time in it"),
    key("error", Takes::Probability, "probability that a transmission fails in it; 0 % by default"),
    key("next", Takes::Weights, "how often each state follows; each other one as often by default"),
];

/// `rate.markov.arq`.
pub const ARQ: &[Key] = &[
    key("transmissions", Takes::Count, "a packet is sent at most so many times"),
    key("round", Takes::Time, "from a transmission that failed to the next"),
];

/// `delay` of a link, if it is a table.
pub const PROPAGATION: &[Key] = &[
    key("steps", Takes::DelaySteps, "from when, and how long"),
    key("reorder", Takes::Flag, "packets of a shorter route overtake; they wait by default"),
];

/// `jitter` of a link or a flow: one law.
pub const JITTER: &[Key] = &[
    key("uniform", Takes::UpTo, "anywhere up to a time, or between two"),
    key("normal", Takes::Table(NORMAL), "normal, with 0 in place of negative delays"),
    key("lognormal", Takes::Table(LOGNORMAL), "lognormal"),
    key("samples", Takes::Samples, "one of these"),
    key("reorder", Takes::Flag, "packets overtake one another; they keep their order by default"),
];

/// `aggregate` of a link.
pub const AGGREGATE: &[Key] = &[
    key("acks", Takes::Count, "so many go on together; any number by default"),
    key("time", Takes::Time, "none waits longer than this"),
];

/// `normal` of a distribution.
pub const NORMAL: &[Key] =
    &[key("mean", Takes::Time, "its mean"), key("deviation", Takes::Time, "its standard deviation")];

/// `lognormal` of a distribution: `median` or `mean`.
pub const LOGNORMAL: &[Key] = &[
    key("median", Takes::Time, "half of the times are below"),
    key("mean", Takes::Time, "their mean before they are clipped"),
    key("sigma", Takes::Number(0.0, 5.0), "standard deviation of the natural logarithm"),
    key("clip", Takes::Range, "times beyond these bounds are set to them"),
];

/// `loss.gilbert_elliott`: `mean` and `burst`, or the others.
pub const GILBERT_ELLIOTT: &[Key] = &[
    key("mean", Takes::Probability, "mean loss rate"),
    key("burst", Takes::Number(1.0, 1e6), "mean number of consecutive losses"),
    key("p", Takes::Probability, "probability of a change from good to bad, before each packet"),
    key("r", Takes::Probability, "probability of a change from bad to good, before each packet"),
    key("good", Takes::Probability, "loss rate in the good state; 0 % by default"),
    key("bad", Takes::Probability, "loss rate in the bad state; 100 % by default"),
];

/// `[[flow]]`.
pub const FLOW: &[Key] = &[
    key("name", Takes::Text, "its name; the controller's by default"),
    key("group", Takes::Text, "name of the flows that it was written together with"),
    key(
        "role",
        Takes::Word(&["foreground", "background"]),
        "background flows must not disturb foreground flows; foreground by default",
    ),
    key("controller", Takes::Controller, "congestion controller; cbr traffic takes none"),
    key("transport", Takes::Transport, "protocol; tcp by default, udp for cbr traffic"),
    key("rtt", Takes::Distribution, "round-trip time without queues; twice path.delay if only that is given"),
    key(
        "direction",
        Takes::Word(&["up", "down"]),
        "with [link]: down if data cross link.reverse and acknowledgements link; up by default",
    ),
    key("hosts", Takes::Text, "name of the hosts that it runs on: of a swarm or of downloads; with path, a flow from each host over its own links and the path"),
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
    key("count", Takes::Count, "so many flows like this; from hosts over a path, one for each host by default"),
    key(
        "loss",
        Takes::Loss(LOSS),
        "probability that one of its data packets is lost before its first link, or a law",
    ),
    DUPLICATE,
    AS_IN_RESULTS,
    key(
        "jitter",
        Takes::Jitter(JITTER),
        "delay of its data packets before their first link; none by default",
    ),
];

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
        "probability that a slot's next chunk goes to the same neighbour, after one round trip",
    ),
    key("uploaders", Takes::Count, "so many of the hosts upload, the others receive alone; all by default"),
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

/// `[[route_change]]`.
pub const ROUTE_CHANGE: &[Key] = &[
    key("at", Takes::Time, "from this time on"),
    key(
        "flow",
        Takes::Text,
        "the flow, or the name of several that were written together; all flows by default",
    ),
    key("path", Takes::Table(PATH), "with [[link]]: the new path; as before by default"),
    key(
        "rtt",
        Takes::Time,
        "the new round-trip time without queues; twice path.delay if only that is given, else as before",
    ),
];

/// `[[drop]]`.
pub const DROP: &[Key] = &[
    key("flow", Takes::Text, "the flow; any flow by default"),
    key("packet", Takes::Count, "number of the data packet, from 1, in order of their first transmission"),
    key("transmission", Takes::Count, "which of its transmissions, from 1; the first by default"),
    key("at", Takes::Time, "from this time on"),
    key("until", Takes::Time, "until this time: an outage"),
    key("every", Takes::CountOrTime, "only every n-th packet, or one in each interval of this length"),
    key("count", Takes::Count, "how many packets; one if neither this, until nor every is given"),
];

/// `[[delay]]`.
pub const DELAY: &[Key] = &[
    key("flow", Takes::Text, "the flow"),
    key("packet", Takes::Count, "number of the data packet, from 1, in order of their first transmission"),
    key("transmission", Takes::Count, "which of its transmissions, from 1; the first by default"),
    key("at", Takes::Time, "from this time on, in place of packet"),
    key("until", Takes::Time, "until this time"),
    key("every", Takes::CountOrTime, "only every n-th packet, or one in each interval of this length"),
    key("count", Takes::Count, "how many packets; one if neither this, until nor every is given"),
    key("by", Takes::Time, "the time to hold it back"),
];

/// Words of the language that nothing understands yet: they are refused, not ignored.
pub(crate) const NOT_YET_KEYS: &[&str] = &["route"];
/// Controllers that are planned.
pub(crate) const NOT_YET_CONTROLLERS: &[&str] =
    &["bbr", "bbrv1", "bbrv2", "bbrv3", "proteus", "proteus-s", "rledbat"];
/// Queue disciplines that are planned.
pub(crate) const NOT_YET_QUEUES: &[&str] = &["cake"];
/// Transports that are planned.
pub(crate) const NOT_YET_TRANSPORTS: &[&str] = &["quic"];
