//! Keys of links and of their elements.

use super::{key, Key, Takes};

/// Of each link.
const BURST: Key = key(
    "burst",
    Takes::Size,
    "size of a token bucket, as htb has it: packets may leave together; none by default",
);

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
    key(
        "delay",
        Takes::Propagation(PROPAGATION),
        "propagation delay in each direction, beside that of paths; none by default",
    ),
    key(
        "jitter",
        Takes::Jitter(JITTER),
        "delay that differs from packet to packet, in each direction; none by default",
    ),
    key(
        "aggregate",
        Takes::OrNone(AGGREGATE),
        "acknowledgements wait before it and leave together, in each direction; none by default",
    ),
    BURST,
    key(
        "reverse",
        Takes::Table(REVERSE),
        "the reverse direction, where it differs: what it leaves out is as in the link",
    ),
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
        "acknowledgements wait before it and leave together; none by default",
    ),
    BURST,
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
        "acknowledgements wait before it and leave together; none by default",
    ),
    BURST,
];

pub(super) const AS_IN_RESULTS: Key = key(
    "elements",
    Takes::Elements,
    "all elements in the form of a result's scenario, in place of the other keys",
);

pub(super) const DUPLICATE: Key = key(
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
        "a file beside the scenario (with `--untrusted`, below its folder): Mahimahi's packet-delivery trace, or lines `time,rate`",
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
    key("transmissions", Takes::Count, "most transmissions of a packet"),
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
    key("acks", Takes::Count, "number of acknowledgements that leave together; any number by default"),
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
