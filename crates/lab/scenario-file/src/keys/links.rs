//! Keys of links. Those of their elements are in `element`.

use crate::element::{keys_of, KeysOf, DELAY, LOSS, RATE, RATE_LAW};
use crate::key::{joined, key, Key, Takes};

const RATE_HELP: &str = "rate, counted in IP packets (headers included), or how it changes";
const BUFFER: Key = key("buffer", Takes::Buffer, "how much its queue may hold");
const QUEUE: Key = key("queue", Takes::Queue, "queue discipline; droptail by default");

/// `[link]`.
pub const LINK: &[Key] = joined!(
    &[key("rate", Takes::ChangingRate(RATE_LAW), RATE_HELP), BUFFER, QUEUE],
    keys_of!(LOSS, KeysOf::Link),
    &[AS_IN_RESULTS],
    keys_of!(DELAY, KeysOf::Link),
    keys_of!(RATE, KeysOf::Link),
    &[key(
        "reverse",
        Takes::Table(REVERSE),
        "the reverse direction, where it differs: what it leaves out is as in the link",
    )],
);

/// `[[link]]`.
pub const NAMED_LINK: &[Key] = joined!(
    &[
        key("name", Takes::Text, "its name, by which paths refer to it; the link goes one way"),
        key("rate", Takes::ChangingRate(RATE_LAW), RATE_HELP),
        BUFFER,
        QUEUE,
    ],
    keys_of!(LOSS, KeysOf::NamedLink),
    &[AS_IN_RESULTS],
    keys_of!(DELAY, KeysOf::NamedLink),
    keys_of!(RATE, KeysOf::NamedLink),
);

/// `link.reverse`.
pub const REVERSE: &[Key] = joined!(
    &[
        key("rate", Takes::ChangingRate(RATE_LAW), "its rate, or how it changes"),
        BUFFER,
        key("queue", Takes::Queue, "its queue discipline"),
    ],
    keys_of!(LOSS, KeysOf::Reverse),
    &[AS_IN_RESULTS],
    keys_of!(DELAY, KeysOf::Reverse),
    keys_of!(RATE, KeysOf::Reverse),
);

pub(super) const AS_IN_RESULTS: Key = key(
    "elements",
    Takes::Elements,
    "all elements in the form of a result's scenario, in place of the other keys",
);
