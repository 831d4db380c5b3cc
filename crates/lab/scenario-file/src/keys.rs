//! Every key of a scenario file: what it takes, what it does. The checker's known words, the JSON schema and the manual
//! are made from these tables.

mod flows;
mod links;

pub use flows::*;
pub use links::*;

use crate::key::key;
pub use crate::key::{Key, Takes};
use afteryou_scenario::flow_set::Among;
use afteryou_scenario::record::Record;

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
        "default start and jitter of flows; none by default",
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
    key(
        "among",
        Takes::Word(Among::WORDS),
        "an index of fairness over time is one of all connections, or the mean of one for the upload slots of each host; connections by default",
    ),
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

/// Controllers that are planned.
pub(crate) const NOT_YET_CONTROLLERS: &[&str] = &["bbrv2"];
