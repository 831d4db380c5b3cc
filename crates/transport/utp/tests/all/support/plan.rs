//! The path that flows share, and what each of them does.

use super::Side;
use afteryou_aqm::Limit;
use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::group::Shared;
use afteryou_utp::{Config, Host};

/// The shared path.
pub struct Path {
    pub bits_per_second: u64,
    pub buffer: Limit,
    /// Random loss in each direction.
    pub loss: f64,
    pub seed: u64,
}

impl Path {
    /// Returns a path of `mbit` Mbit/s with a DropTail buffer of `buffer_ms`.
    pub fn new(mbit: u64, buffer_ms: u64) -> Path {
        let bits_per_second = mbit * 1_000_000;
        let time = Span::from_millis(buffer_ms);
        let buffer = Limit::Time { time, bytes_per_second: bits_per_second / 8 };
        Path { bits_per_second, buffer, loss: 0.0, seed: 1 }
    }

    pub fn lossy(self, loss: f64) -> Path {
        Path { loss, ..self }
    }
}

/// What a flow does.
pub struct Plan {
    pub controller: &'static str,
    pub overrides: Vec<(&'static str, Value)>,
    /// The group that the sender joins; it decides instead of `controller`.
    pub group: Option<Shared>,
    pub rtt_ms: u64,
    pub start_ms: u64,
    pub stop_ms: Option<u64>,
    /// Bytes to send; none: as much as it can.
    pub bytes: Option<u64>,
    pub config: Config,
    /// The receiving end's settings, if they differ.
    pub server: Option<Config>,
    /// Bytes per second that the receiving application reads; none: all at once.
    pub read_rate: Option<u64>,
    /// The sender's host runs no more often than this: to read its socket, to send, for its deadlines; zero: at once.
    pub look_us: u64,
    /// Payloads have content; if not, they are zeros that no connection ever sees.
    pub content: bool,
    /// The host of both ends.
    pub host: Host,
}

impl Plan {
    pub fn bulk(controller: &'static str, rtt_ms: u64) -> Plan {
        Plan {
            controller,
            overrides: Vec::new(),
            group: None,
            rtt_ms,
            start_ms: 0,
            stop_ms: None,
            bytes: None,
            config: Config::default(),
            server: None,
            read_rate: None,
            look_us: 0,
            content: true,
            host: Host::REAL,
        }
    }

    /// Returns the plan of ends that keep no payload.
    pub fn without_content(self) -> Plan {
        let host = Host { keeps_received: false, ..Host::REAL };
        Plan { content: false, host, ..self }
    }

    pub fn in_group(self, group: &Shared) -> Plan {
        Plan { group: Some(group.clone()), ..self }
    }

    pub fn sending(self, bytes: u64) -> Plan {
        Plan { bytes: Some(bytes), ..self }
    }

    pub fn active(self, start_ms: u64, stop_ms: u64) -> Plan {
        Plan { start_ms, stop_ms: Some(stop_ms), ..self }
    }

    /// Returns when a host that something wakes at `at` runs.
    pub(super) fn wakes_at(&self, side: Side, at: Time) -> Time {
        if side == Side::Server || self.look_us == 0 {
            return at;
        }
        Time::from_micros(at.as_micros().next_multiple_of(self.look_us)).max(at)
    }
}
