//! What happens in an experiment.

use crate::algorithm::Algorithm;
use crate::error::Error;
use crate::units::{Buffer, Duration, Probability, Rate, Size};
use serde::{Deserialize, Serialize};

/// One experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// What it shows, one line.
    pub name: String,
    /// How long it runs.
    pub duration: Duration,
    /// Seed of every random choice.
    pub seed: u64,
    /// Intervals that get figures of their own.
    pub measure: Vec<Window>,
    /// Run it a second time without the background flows, and compare.
    pub baseline: bool,
    /// The bottleneck.
    pub link: Link,
    /// The flows.
    pub flow: Vec<Flow>,
}

/// The bottleneck link, the same in each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Rate, counted in IP packets (headers included).
    pub rate: Rate,
    /// How much its queue may hold.
    pub buffer: Buffer,
    /// Queue discipline.
    pub queue: Algorithm,
    /// Probability that a packet is lost at random, in each direction.
    pub loss: Probability,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Its name, unique in the scenario.
    pub name: String,
    /// Who must not notice whom.
    pub role: Role,
    /// Congestion controller; none for traffic at a constant rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub controller: Option<Algorithm>,
    /// Protocol.
    pub transport: Transport,
    /// Round-trip time of the empty path.
    pub rtt: Duration,
    /// When it starts.
    pub start: Duration,
    /// When it stops; at the end of the run if not said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop: Option<Duration>,
    /// What it sends.
    pub traffic: Traffic,
}

/// Who must not notice whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Must not notice.
    Foreground,
    /// Must not be noticed.
    Background,
}

/// Protocol of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// uTP over UDP (BEP 29).
    Utp,
    /// Bare datagrams.
    Udp,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// As much as it can while it is on.
    Bulk,
    /// This many bytes, then it ends.
    Size(Size),
    /// Packets of `payload` bytes at a constant rate (payload per second): a call.
    Cbr {
        /// Payload rate.
        rate: Rate,
        /// Payload of a packet.
        payload: Size,
    },
}

/// An interval that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Its name, unique in the scenario.
    pub name: String,
    /// From.
    pub from: Duration,
    /// Until.
    pub to: Duration,
}

impl Scenario {
    /// Is it one? If not, the first thing that is wrong.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |message: String| Err(Error::Scenario(message));
        if self.link.rate.bytes_per_second() == 0 {
            return wrong(format!("link.rate = {} carries nothing: use at least 8 bit/s", self.link.rate));
        }
        self.link.queue.queue()?;
        for window in &self.measure {
            if window.from >= window.to || window.to > self.duration {
                let Window { name, from, to } = window;
                return wrong(format!("window {name:?} ({from} to {to}) is empty or ends after the run"));
            }
        }
        for (i, flow) in self.flow.iter().enumerate() {
            if self.flow[..i].iter().any(|other| other.name == flow.name) {
                return wrong(format!("two flows are named {:?}: rename one", flow.name));
            }
            flow.check()?;
        }
        Ok(())
    }

    /// The same experiment without its background flows.
    pub fn without_background(&self) -> Scenario {
        let flow = self.flow.iter().filter(|flow| flow.role == Role::Foreground).cloned().collect();
        Scenario { name: format!("{}, without background", self.name), baseline: false, flow, ..self.clone() }
    }
}

impl Flow {
    fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Scenario(format!("flow {:?} {what}", self.name)));
        match (&self.controller, &self.transport, &self.traffic) {
            (None, Transport::Udp, Traffic::Cbr { rate, payload }) => {
                if rate.bytes_per_second() == 0 || payload.bytes() < 16 || payload.bytes() > 1400 {
                    return wrong("needs a rate above zero and a payload of 16 B to 1400 B");
                }
            }
            (None, ..) => return wrong("needs a controller: only cbr traffic goes without"),
            (Some(_), _, Traffic::Cbr { .. }) => return wrong("has a controller: cbr traffic takes none"),
            (Some(_), Transport::Udp, _) => return wrong("has a controller: bare udp takes none, use utp"),
            (Some(controller), Transport::Utp, _) => {
                controller.controller()?;
            }
        }
        if self.stop.is_some_and(|stop| stop <= self.start) {
            return wrong("stops before it starts");
        }
        Ok(())
    }
}
