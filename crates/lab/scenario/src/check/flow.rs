//! Checks of a flow by itself.

use crate::scenario::{Flow, PacketFormat};
use crate::traffic::Traffic;
use crate::transport::{Protocol, TransportKind};
use afteryou_notation::{Duration, Error};

/// A setting of a flow that is wrong.
#[derive(Debug)]
pub(super) struct WrongSetting {
    pub(super) key: &'static str,
    pub(super) error: Error,
}

impl WrongSetting {
    /// Returns the error of a whole scenario, which names the flow.
    pub(super) fn of_flow(self, flow: &Flow) -> Error {
        match self.error {
            Error::Contradiction(why) => {
                Error::Contradiction(format!("flow {:?}: {}: {why}", flow.name, self.key))
            }
            other => other,
        }
    }
}

fn wrong(key: &'static str, why: impl Into<String>) -> Result<(), WrongSetting> {
    Err(WrongSetting { key, error: Error::Contradiction(why.into()) })
}

/// The largest IP packet, bytes.
const LARGEST_PAYLOAD: u64 = 65_000;
const LARGEST_OVERHEAD: u64 = 500;

impl Flow {
    /// Checks the flow alone. Returns the first fault, with the setting that is to blame.
    pub(super) fn check_settings(&self, duration: Duration) -> Result<(), WrongSetting> {
        self.check_controller()?;
        self.check_ends()?;
        self.check_times()?;
        self.traffic.check(duration).map_err(|error| WrongSetting { key: "traffic", error })?;
        self.check_hosts()?;
        self.check_sizes()
    }

    fn check_controller(&self) -> Result<(), WrongSetting> {
        let of = |key| move |error| WrongSetting { key, error };
        match (&self.controller, self.transport.protocol().map_err(of("transport"))?, &self.traffic) {
            (None, Protocol::Udp, Traffic::Cbr { .. }) | (None, _, Traffic::Command(_)) => Ok(()),
            (Some(_), _, Traffic::Command(_)) => {
                wrong("controller", "a program of yours has its own congestion control: leave it out")
            }
            (None, ..) => {
                wrong("traffic", "it needs a controller: only cbr traffic over udp and commands go without")
            }
            (Some(_), _, Traffic::Cbr { .. }) => wrong("controller", "cbr traffic takes none: leave it out"),
            (Some(_), Protocol::Udp, _) => {
                wrong("transport", "bare udp takes no controller: use utp, quic or tcp")
            }
            (Some(controller), ..) => controller.controller().map(drop).map_err(of("controller")),
        }
    }

    fn check_ends(&self) -> Result<(), WrongSetting> {
        let key = match (&self.receiver, &self.sender) {
            (None, None) => return Ok(()),
            (Some(_), Some(_)) => {
                return wrong("sender", "the receiver limits the flow already: leave one of the two out")
            }
            (Some(_), None) => "receiver",
            (None, Some(_)) => "sender",
        };
        if self.transport.kind != TransportKind::Tcp || self.traffic.is_command() {
            return wrong(key, format!("only the {key} of a tcp flow limits it: leave it out"));
        }
        let receiver = self.receiver.iter().map(|rule| rule.at_receiver().map(drop));
        let mut both = receiver.chain(self.sender.iter().map(|rule| rule.at_sender().map(drop)));
        both.try_for_each(|result| result.map_err(|error| WrongSetting { key, error }))
    }

    fn check_times(&self) -> Result<(), WrongSetting> {
        if let Some(stop) = self.stop.filter(|stop| *stop <= self.start) {
            let start = self.start;
            return wrong("stop", format!("{stop} is not after the start: use a time after {start}"));
        }
        let times = self.active.iter().flatten();
        if !times.clone().zip(times.skip(1)).all(|(earlier, later)| earlier < later) {
            let advice = "write [from, to] with from below to, each after the one before";
            return wrong("active", format!("times are empty, overlap or go backwards: {advice}"));
        }
        if !self.traffic.has_transfers() && !self.traffic.is_command() {
            return Ok(());
        }
        let advice = "the traffic opens connections by itself: leave active and reconnect out";
        match (self.active.is_empty(), self.reconnect) {
            (false, _) => wrong("active", advice),
            (true, true) => wrong("reconnect", advice),
            (true, false) => Ok(()),
        }
    }

    fn check_hosts(&self) -> Result<(), WrongSetting> {
        match (self.traffic.needs_hosts(), &self.hosts) {
            (true, None) => wrong("traffic", "it needs hosts: write hosts = … and [[hosts]]"),
            (false, Some(_)) => wrong("hosts", "the flow runs on hosts, which only a swarm and downloads do"),
            _ => Ok(()),
        }
    }

    fn check_sizes(&self) -> Result<(), WrongSetting> {
        let PacketFormat { payload, overhead } = self.packet_format();
        if !(1..=LARGEST_PAYLOAD).contains(&payload.bytes()) || overhead.bytes() > LARGEST_OVERHEAD {
            let sizes = format!("{payload} of payload and {overhead} of headers make no packet");
            let valid = format!("1 B to {LARGEST_PAYLOAD} B, and 0 B to {LARGEST_OVERHEAD} B");
            return wrong("packet", format!("{sizes}: use {valid}"));
        }
        Ok(())
    }
}
