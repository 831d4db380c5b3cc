//! A flow's traffic, and its notation.

use crate::law::Law;
use afteryou_base::Span;
use afteryou_notation::{Duration, Error, Probability, Rate, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of a packet of constant-rate traffic by default: 20 ms of a 64 kbit/s call.
pub const CBR_PAYLOAD: Size = Size::from_bytes(160);

/// Shorter times are not traffic but noise, and there could be too many of them.
const SHORTEST: Span = Span::from_millis(1);
/// Most transfers that a flow may begin in a run.
const MOST_TRANSFERS: f64 = 1e7;
/// Payloads of constant-rate traffic, bytes.
const CBR_PAYLOADS: std::ops::RangeInclusive<u64> = 16..=1400;
/// Most users, objects of a page, connections of a user.
const MOST_USERS: u32 = 10_000;

/// A flow's traffic. In files: `"bulk"`, `{ size = "260 kB" }`, `{ chunk = "250 kB" }`,
/// `{ on = "30 s", off = "30 s" }`, `{ cbr = "64 kbit/s", payload = "160 B" }`,
/// `{ arrivals = { poisson = "50 per s" }, size = "20 kB" }`, `{ chunk = "250 kB", pause = "1 rtt", persist = 0.9 }`,
/// `{ web = { users = 20, … } }`, `{ every = "4 s", size = "1.5 MB" }`, `{ command = ["iperf3", "-c", "{peer}"] }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Packets of `payload` bytes at a constant mean rate (payload per second): a call.
    Cbr {
        /// Payload rate.
        rate: Rate,
        /// Payload of a packet.
        payload: Size,
        /// Times between packets.
        gaps: Gaps,
    },
    /// Transfers that begin whether or not earlier ones have ended, each over a connection of its own.
    Arrivals {
        /// Time from one to the next.
        arrivals: Law<Duration>,
        /// Of each.
        size: Law<Size>,
    },
    /// Pieces of this size, as a peer sends them. Once one is acknowledged, the next one goes to the same peer after a
    /// pause, or to another one over a new connection.
    Peers {
        /// Of a piece.
        chunk: Size,
        /// Between two pieces to the same peer.
        pause: Duration,
        /// That the next piece goes to the same peer.
        persist: Probability,
    },
    /// Users who fetch a page, look at it, and fetch the next one.
    Web(Web),
    /// Peers that upload to each other.
    Swarm(Swarm),
    /// Hosts that download from a server that is no bottleneck: when one has its download, another one begins.
    Downloads {
        /// How many at any time.
        downloads: u32,
        /// Of each.
        size: Law<Size>,
    },
    /// A program of the user's, on real packets only.
    Command(Command),
    /// Segments of this size, one after each interval: adaptive video.
    Bursts {
        /// From one to the next.
        every: Duration,
        /// Of each.
        size: Size,
    },
}

/// Times between the packets of constant-rate traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gaps {
    /// All the same.
    #[default]
    Equal,
    /// Exponential with the same mean: packets arrive as a Poisson process.
    Exponential,
}

impl Gaps {
    /// The words of files.
    pub const WORDS: &'static [&'static str] = &["equal", "exponential"];

    /// Returns whether it is the default.
    fn is_equal(&self) -> bool {
        *self == Gaps::Equal
    }
}

/// A swarm of peers, after Carofiglio et al. (2013).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Swarm {
    /// Of a piece.
    pub chunk: Size,
    /// Uploads of a peer at a time.
    pub slots: u32,
    /// Peers that a peer may upload to.
    pub neighbours: u32,
    /// That a slot's next chunk goes to the same neighbour; without meaning with tit-for-tat.
    pub persist: Probability,
    /// Base round-trip times that a slot waits before it, after the last acknowledgement of a chunk.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub idle_rtts: f64,
    /// How many of the hosts upload, the first ones; all by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uploaders: Option<u32>,
    /// Peers upload to those neighbours that upload most to them.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub tit_for_tat: bool,
}

/// A program that sends, and one that receives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// The sender's program and its arguments.
    pub command: Vec<String>,
    /// The receiver's program and its arguments; none by default.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub server: Vec<String>,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Users of the web.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Web {
    /// The number of users.
    pub users: u32,
    /// Time from the end of a page to the next one.
    pub think: Law<Duration>,
    /// Objects of a page.
    pub objects: u32,
    /// Of an object.
    pub size: Law<Size>,
    /// Most connections that a user has at a time.
    pub connections: u32,
}

/// The forms of traffic in files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Word(String),
    // Those with more fields first: the others would ignore unknown fields.
    Arrivals {
        arrivals: Law<Duration>,
        size: Law<Size>,
    },
    Bursts {
        every: Duration,
        size: Size,
    },
    Command(Command),
    Peers {
        chunk: Size,
        pause: Duration,
        persist: Probability,
    },
    Web {
        web: Web,
    },
    Swarm {
        swarm: Swarm,
    },
    Downloads {
        downloads: u32,
        size: Law<Size>,
    },
    Size {
        size: Size,
    },
    Chunk {
        chunk: Size,
    },
    OnOff {
        on: Duration,
        off: Duration,
    },
    Cbr {
        cbr: Rate,
        payload: Option<Size>,
        #[serde(default, skip_serializing_if = "Gaps::is_equal")]
        gaps: Gaps,
    },
}

impl From<Traffic> for Written {
    fn from(traffic: Traffic) -> Written {
        match traffic {
            Traffic::Bulk => Written::Word("bulk".to_owned()),
            Traffic::Size(size) => Written::Size { size },
            Traffic::Chunk(chunk) => Written::Chunk { chunk },
            Traffic::OnOff { on, off } => Written::OnOff { on, off },
            Traffic::Arrivals { arrivals, size } => Written::Arrivals { arrivals, size },
            Traffic::Peers { chunk, pause, persist } => Written::Peers { chunk, pause, persist },
            Traffic::Web(web) => Written::Web { web },
            Traffic::Swarm(swarm) => Written::Swarm { swarm },
            Traffic::Downloads { downloads, size } => Written::Downloads { downloads, size },
            Traffic::Bursts { every, size } => Written::Bursts { every, size },
            Traffic::Command(command) => Written::Command(command),
            Traffic::Cbr { rate, payload, gaps } => Written::Cbr { cbr: rate, payload: Some(payload), gaps },
        }
    }
}

impl TryFrom<Written> for Traffic {
    type Error = Error;
    fn try_from(written: Written) -> Result<Traffic, Error> {
        Ok(match written {
            Written::Word(word) if word == "bulk" => Traffic::Bulk,
            Written::Word(word) => return Err(afteryou_notation::unknown("traffic", &word, &["bulk"])),
            Written::Arrivals { arrivals, size } => Traffic::Arrivals { arrivals, size },
            Written::Bursts { every, size } => Traffic::Bursts { every, size },
            Written::Command(command) => Traffic::Command(command),
            Written::Peers { chunk, pause, persist } => Traffic::Peers { chunk, pause, persist },
            Written::Web { web } => Traffic::Web(web),
            Written::Swarm { swarm } => Traffic::Swarm(swarm),
            Written::Downloads { downloads, size } => Traffic::Downloads { downloads, size },
            Written::Size { size } => Traffic::Size(size),
            Written::Chunk { chunk } => Traffic::Chunk(chunk),
            Written::OnOff { on, off } => Traffic::OnOff { on, off },
            Written::Cbr { cbr, payload, gaps } => {
                Traffic::Cbr { rate: cbr, payload: payload.unwrap_or(CBR_PAYLOAD), gaps }
            }
        })
    }
}

impl Traffic {
    /// Returns whether it runs without congestion control.
    pub fn is_cbr(&self) -> bool {
        matches!(self, Traffic::Cbr { .. })
    }

    /// Returns whether it is a program of the user's.
    pub fn is_command(&self) -> bool {
        matches!(self, Traffic::Command(_))
    }

    /// Returns whether its application sends transfers of its own accord, at other times than those of a timetable.
    pub fn has_transfers(&self) -> bool {
        matches!(
            self,
            Traffic::Arrivals { .. } | Traffic::Peers { .. } | Traffic::Web(_) | Traffic::Bursts { .. }
        ) || self.needs_hosts()
    }

    /// Returns whether an application makes transfers one after another whose times are worth counting. A flow with a size makes one.
    pub fn counts_transfers(&self) -> bool {
        self.has_transfers() || matches!(self, Traffic::Chunk(_))
    }

    /// Returns whether it has many connections at the same time.
    pub fn has_many_connections(&self) -> bool {
        matches!(self, Traffic::Arrivals { .. } | Traffic::Web(_)) || self.needs_hosts()
    }

    /// Returns whether an engine draws something for it while it runs.
    pub fn is_random(&self) -> bool {
        matches!(
            self,
            Traffic::Arrivals { .. }
                | Traffic::Peers { .. }
                | Traffic::Web(_)
                | Traffic::Cbr { gaps: Gaps::Exponential, .. }
        ) || self.needs_hosts()
    }

    /// Returns whether it runs on hosts with access links of their own.
    pub fn needs_hosts(&self) -> bool {
        matches!(self, Traffic::Swarm(_) | Traffic::Downloads { .. })
    }

    /// Checks that it is traffic. If not, returns what is wrong.
    pub(crate) fn check(&self, duration: Duration) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Contradiction(what.to_owned()));
        match self {
            Traffic::Size(size) | Traffic::Bursts { size, .. } if size.bytes() == 0 => {
                wrong("size is 0 B: use 1 B or more")
            }
            Traffic::Chunk(chunk) | Traffic::Peers { chunk, .. } if chunk.bytes() == 0 => {
                wrong("chunk is 0 B: use 1 B or more")
            }
            Traffic::OnOff { on, off } if on.0 < SHORTEST || off.0 < SHORTEST => {
                wrong("it goes on and off too fast: use 1 ms or more for each")
            }
            Traffic::Bursts { every, .. } if every.0 < SHORTEST => {
                wrong("every is too short: use 1 ms or more")
            }
            Traffic::Cbr { rate, .. } if rate.bytes_per_second() == 0 => {
                wrong("cbr is below a byte per second: use 8 bit/s or more")
            }
            Traffic::Cbr { payload, .. } if !CBR_PAYLOADS.contains(&payload.bytes()) => {
                wrong("payload of cbr traffic is out of range: use 16 B to 1400 B")
            }
            Traffic::Arrivals { arrivals, size } => {
                arrivals.check()?;
                check_sizes(size)?;
                let most = duration.0 .0 as f64 / MOST_TRANSFERS;
                match arrivals.mean().is_some_and(|mean| mean >= most.max(1.0)) {
                    true => Ok(()),
                    false => wrong("more than 10000000 arrivals, or arrivals without a mean: use longer times between them"),
                }
            }
            Traffic::Downloads { size, .. } => check_sizes(size),
            Traffic::Command(Command { command, server }) => {
                let words = || command.iter().chain(server);
                match (command.first(), words().any(|word| word.contains('\0'))) {
                    (None, _) => wrong("command is empty: write a program and its arguments"),
                    (Some(_), true) => wrong("an argument contains the character U+0000: leave it out"),
                    (Some(_), false) => Ok(()),
                }
            }
            Traffic::Swarm(Swarm { chunk, slots, neighbours, .. }) => {
                match (chunk.bytes(), slots <= neighbours) {
                    (0, _) => wrong("chunk is 0 B: use 1 B or more"),
                    (_, false) => wrong("a swarm has more slots than neighbours: use fewer slots"),
                    _ => Ok(()),
                }
            }
            Traffic::Web(web) => {
                web.think.check()?;
                check_sizes(&web.size)?;
                let counts = [web.users, web.objects, web.connections];
                let (most, least) = (counts.iter().max(), counts.iter().min());
                match (least, most) {
                    (Some(1..), Some(..=MOST_USERS)) => Ok(()),
                    _ => wrong("users, objects and connections go from 1 to 10000"),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether these are sizes of transfers.
fn check_sizes(law: &Law<Size>) -> Result<(), Error> {
    law.check()?;
    match law.mean() {
        Some(0.0) => Err(Error::Contradiction("every size is 0 B: use 1 B or more".to_owned())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Drawn;

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
                Traffic::Cbr { rate: Rate::from_bits(64_000), payload: CBR_PAYLOAD, gaps: Gaps::Equal },
                r#"{"cbr":"64 kbit/s","payload":"160 B"}"#,
            ),
            (
                Traffic::Cbr { rate: Rate::from_bits(64_000), payload: CBR_PAYLOAD, gaps: Gaps::Exponential },
                r#"{"cbr":"64 kbit/s","payload":"160 B","gaps":"exponential"}"#,
            ),
            (
                Traffic::Arrivals {
                    arrivals: Law::Drawn(Drawn::Exponential(Duration::from_millis(20))),
                    size: Law::Fixed(Size::from_bytes(20_000)),
                },
                r#"{"arrivals":{"exponential":"20 ms"},"size":"20 kB"}"#,
            ),
            (
                Traffic::Peers {
                    chunk: Size::from_bytes(250_000),
                    pause: Duration::from_millis(50),
                    persist: Probability::from_ratio(0.9).unwrap(),
                },
                r#"{"chunk":"250 kB","pause":"50 ms","persist":"90 %"}"#,
            ),
            (
                Traffic::Web(Web {
                    users: 20,
                    think: Law::Fixed(Duration::from_millis(5000)),
                    objects: 8,
                    size: Law::Drawn(Drawn::Uniform(Size::from_bytes(1000), Size::from_bytes(9000))),
                    connections: 6,
                }),
                r#"{"web":{"users":20,"think":"5 s","objects":8,"size":{"uniform":["1 kB","9 kB"]},"connections":6}}"#,
            ),
            (
                Traffic::Command(Command { command: vec!["iperf3".to_owned()], server: Vec::new() }),
                r#"{"command":["iperf3"]}"#,
            ),
            (
                Traffic::Bursts { every: Duration::from_millis(4000), size: Size::from_bytes(1_500_000) },
                r#"{"every":"4 s","size":"1.5 MB"}"#,
            ),
        ];
        for (traffic, json) in forms {
            assert_eq!(serde_json::to_string(&traffic).unwrap(), json);
            assert_eq!(serde_json::from_str::<Traffic>(json).unwrap(), traffic);
        }
    }
}
