//! Scripted faults: packets to drop, and packets to hold back.

use afteryou_notation::{Duration, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets to drop before the queue: one by its number, or some from a time on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drop {
    /// The flow; any flow by default (then `at` must be).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flow: Option<String>,
    /// Number of the data packet, from 1, in order of their first transmission.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packet: Option<u64>,
    /// Which of its transmissions, from 1; the first by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transmission: Option<u32>,
    /// From this time on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Duration>,
    /// Until this time: an outage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<Duration>,
    /// Only every n-th packet, or one in each interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub every: Option<Every>,
    /// The number of packets; one if neither this, `until` nor `every` is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
}

/// How a rule of the script repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Every {
    /// Every n-th packet.
    Packets(u64),
    /// One packet in each interval of this length: the first that comes in it.
    Time(Duration),
}

/// A packet to hold back before the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delay {
    /// Whose.
    pub flow: String,
    /// Number of the data packet, from 1, in order of their first transmission; none if `at` is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packet: Option<u64>,
    /// Which of its transmissions, from 1; the first by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transmission: Option<u32>,
    /// From this time on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Duration>,
    /// Until this time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<Duration>,
    /// Only every n-th packet, or one in each interval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub every: Option<Every>,
    /// The number of packets; one if neither this, `until` nor `every` is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    /// For how long.
    pub by: Duration,
}

impl Delay {
    /// Holds back the first transmission of a packet.
    pub fn of_packet(flow: impl Into<String>, packet: u64, by: Duration) -> Delay {
        let (transmission, at, until, every, count) = (None, None, None, None, None);
        Delay { flow: flow.into(), packet: Some(packet), transmission, at, until, every, count, by }
    }

    /// Returns the same packets, to be dropped.
    fn chosen(&self) -> Drop {
        let Delay { flow, packet, transmission, at, until, every, count, by: _ } = self.clone();
        Drop { flow: Some(flow), packet, transmission, at, until, every, count }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.chosen().check_as("a delay")
    }
}

impl Drop {
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_as("a drop")
    }

    fn check_as(&self, rule: &str) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Contradiction(format!("{rule} {what}")));
        if self.every.is_some() && self.at.is_none() {
            return wrong("repeats from no time on: say at = … beside every = …");
        }
        if matches!(self.every, Some(Every::Packets(0) | Every::Time(Duration(afteryou_base::Span::ZERO)))) {
            return wrong("repeats without a pause: use every = 1 or more, or a time above 0");
        }
        if self.until.is_some_and(|until| self.at.is_none_or(|at| at >= until)) {
            return wrong("ends before it begins: say at = … and a later until = …");
        }
        match (&self.flow, self.packet, self.at) {
            (_, None, Some(_)) if self.transmission.is_none() => Ok(()),
            (Some(_), Some(1..), None) => Ok(()),
            (_, Some(0), _) => wrong("names packet 0: packets count from 1"),
            (None, Some(_), _) => wrong("names a packet and no flow: say flow = …"),
            (_, None, None) => wrong("says neither a packet nor a time: say flow and packet, or at"),
            _ => wrong("says a packet (or a transmission) and a time: say one of them"),
        }
    }
}
