//! How much a link's queue may hold: packets, bytes or time, as written.

use afteryou_aqm::Limit;
use afteryou_notation::{Duration, Error, Form, Rate, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How much a link's queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub enum Buffer {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Size(Size),
    /// The link's capacity in this time.
    Time(Duration),
}

const PACKETS: Form = Form {
    what: "buffer",
    units: &[("packets", 1.0), ("packet", 1.0)],
    most: 1e15,
    valid: "1 packet to 1000000000000000 packets",
    example: "a number of packets, such as 100packets",
};

impl Buffer {
    /// Returns the limit of a queue before a link of rate `rate`.
    pub fn limit(self, rate: Rate) -> Limit {
        match self {
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Size(size) => Limit::Bytes(size.bytes()),
            Buffer::Time(time) => Limit::Time { time: time.0, bytes_per_second: rate.bytes_per_second() },
        }
    }
}

impl FromStr for Buffer {
    type Err = Error;
    fn from_str(text: &str) -> Result<Buffer, Error> {
        let unlike = || Error::Quantity {
            what: "buffer",
            text: text.to_owned(),
            example: "time, packets or bytes, such as 500ms, 100packets or 64KiB",
        };
        let whole = |packets: f64| match packets.fract() == 0.0 {
            true => Ok(Buffer::Packets(packets as u64)),
            false => Err(unlike()),
        };
        let forms = [
            PACKETS.parse(text).and_then(whole),
            text.parse().map(Buffer::Size),
            text.parse().map(Buffer::Time),
        ];
        // The unit decides, so at most one form is more than unlike it.
        let read = |form: &Result<Buffer, Error>| !matches!(form, Err(Error::Quantity { .. }));
        forms.into_iter().find(read).unwrap_or_else(|| Err(unlike()))
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Buffer::Packets(packets) => write!(f, "{packets} packets"),
            Buffer::Size(size) => size.fmt(f),
            Buffer::Time(time) => time.fmt(f),
        }
    }
}

impl From<Buffer> for String {
    fn from(buffer: Buffer) -> String {
        buffer.to_string()
    }
}

impl TryFrom<String> for Buffer {
    type Error = Error;

    fn try_from(text: String) -> Result<Buffer, Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_buffer_is_whole_packets_bytes_or_time() {
        assert_eq!("100 packets".parse::<Buffer>().unwrap(), Buffer::Packets(100));
        assert_eq!("500 ms".parse::<Buffer>().unwrap(), Buffer::Time(Duration::from_millis(500)));
        assert!("2.5 packets".parse::<Buffer>().is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Buffer>();
        }
    }
}
