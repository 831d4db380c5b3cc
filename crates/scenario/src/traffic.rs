//! What a flow sends, and how that is written.

use crate::error::Error;
use crate::units::{Duration, Rate, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of a packet of constant-rate traffic by default: 20 ms of a 64 kbit/s call.
pub const CBR_PAYLOAD: Size = Size::from_bytes(160);

/// What a flow sends. In files: `"bulk"`, `{ size = "260 kB" }`, `{ chunk = "250 kB" }`, `{ on = "30 s", off = "30 s" }`,
/// `{ cbr = "64 kbit/s", payload = "160 B" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Written", try_from = "Written")]
#[schemars(with = "Written")]
pub enum Traffic {
    /// As much as it can while it is on.
    Bulk,
    /// This many bytes, then it ends.
    Size(Size),
    /// Pieces of this size, the next one when the last one is acknowledged; the window is kept.
    Chunk(Size),
    /// As much as it can for a while, then nothing for a while, over one connection.
    OnOff {
        /// Time on.
        on: Duration,
        /// Time off.
        off: Duration,
    },
    /// Packets of `payload` bytes at a constant rate (payload per second): a call.
    Cbr {
        /// Payload rate.
        rate: Rate,
        /// Payload of a packet.
        payload: Size,
    },
}

/// The forms of traffic in files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Word(String),
    Size { size: Size },
    Chunk { chunk: Size },
    OnOff { on: Duration, off: Duration },
    Cbr { cbr: Rate, payload: Option<Size> },
}

impl From<Traffic> for Written {
    fn from(traffic: Traffic) -> Written {
        match traffic {
            Traffic::Bulk => Written::Word("bulk".to_owned()),
            Traffic::Size(size) => Written::Size { size },
            Traffic::Chunk(chunk) => Written::Chunk { chunk },
            Traffic::OnOff { on, off } => Written::OnOff { on, off },
            Traffic::Cbr { rate, payload } => Written::Cbr { cbr: rate, payload: Some(payload) },
        }
    }
}

impl TryFrom<Written> for Traffic {
    type Error = Error;
    fn try_from(written: Written) -> Result<Traffic, Error> {
        Ok(match written {
            Written::Word(word) if word == "bulk" => Traffic::Bulk,
            Written::Word(word) => return Err(crate::words::unknown("traffic", &word, &["bulk"])),
            Written::Size { size } => Traffic::Size(size),
            Written::Chunk { chunk } => Traffic::Chunk(chunk),
            Written::OnOff { on, off } => Traffic::OnOff { on, off },
            Written::Cbr { cbr, payload } => {
                Traffic::Cbr { rate: cbr, payload: payload.unwrap_or(CBR_PAYLOAD) }
            }
        })
    }
}

impl Traffic {
    /// Does it go without congestion control?
    pub fn is_cbr(&self) -> bool {
        matches!(self, Traffic::Cbr { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back() {
        let forms = [
            (Traffic::Bulk, r#""bulk""#),
            (Traffic::Size(Size::from_bytes(260_000)), r#"{"size":"260 kB"}"#),
            (Traffic::Chunk(Size::from_bytes(250_000)), r#"{"chunk":"250 kB"}"#),
            (
                Traffic::OnOff { on: Duration::from_millis(30_000), off: Duration::from_millis(500) },
                r#"{"on":"30 s","off":"500 ms"}"#,
            ),
            (
                Traffic::Cbr { rate: Rate::from_bits(64_000), payload: CBR_PAYLOAD },
                r#"{"cbr":"64 kbit/s","payload":"160 B"}"#,
            ),
        ];
        for (traffic, json) in forms {
            assert_eq!(serde_json::to_string(&traffic).unwrap(), json);
            assert_eq!(serde_json::from_str::<Traffic>(json).unwrap(), traffic);
        }
    }
}
