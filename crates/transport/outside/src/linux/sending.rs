//! The rate of connections whose rule is in the kernel, and their state together.

use super::status::Status;
use super::system::{TcpInfo, NO_RTT};
use afteryou_base::Span;
use std::time::{Duration, Instant};

/// Packets of a window at the floor of the rule.
const FLOOR_PACKETS: u32 = 4;
/// Rates are of this much time.
const ROUND: Duration = Duration::from_millis(500);

/// How much connections send whose rule is in the kernel.
#[derive(Debug, Default)]
pub struct Sending {
    bytes: u64,
    /// When the round began, and the bytes by then.
    round: Option<(Instant, u64)>,
    /// Of the round before, bytes a second.
    rate: f64,
}

impl Sending {
    /// Adds bytes that have arrived.
    pub fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Ends a round if it is over.
    pub fn tick(&mut self, now: Instant) {
        let (began, before) = *self.round.get_or_insert((now, self.bytes));
        let passed = now.duration_since(began);
        if passed >= ROUND {
            self.rate = (self.bytes - before) as f64 / passed.as_secs_f64();
            self.round = Some((now, self.bytes));
        }
    }

    /// Returns the state of what the connections send together. One at the floor yields, and has no place.
    pub fn status<'a>(&self, infos: impl Iterator<Item = &'a TcpInfo>) -> Status {
        let busy: Vec<&TcpInfo> = infos.filter(|info| info.unacked > 0 && info.min_rtt != NO_RTT).collect();
        let us = |us: u32| Span::from_micros(u64::from(us));
        let active = busy.iter().filter(|info| info.snd_cwnd > FLOOR_PACKETS).count();
        Status {
            active,
            wanting: busy.len(),
            queue: busy.iter().map(|info| us(info.rtt.saturating_sub(info.min_rtt))).max(),
            base: busy.iter().map(|info| us(info.min_rtt)).min(),
            rate: self.rate,
            is_yielding: active == 0 && !busy.is_empty(),
        }
    }
}
