//! An event as both rules take it.

use crate::recorded::Line;
use afteryou_cc::ledbat_core::AckEvent;

/// Numbers of an event of any rule, its kind first.
pub const NUMBERS: usize = 11;

/// A kind of event, in the order of `tests/c/replay.c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Ack,
    Loss,
    Timeout,
    Idle,
    Mtu,
    Wake,
    /// Saves the state that a loss may change.
    Keep,
    /// Lowers the saved window by `flightsize` bytes.
    Lower,
    /// Returns to the saved state.
    Undo,
}

/// An event with its integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    pub kind: Kind,
    pub ack: AckEvent,
}

impl Event {
    /// Takes an event from a line of the vectors.
    pub fn of(Line { kind, event, .. }: &Line) -> Event {
        let kind = match kind.as_str() {
            "ack" => Kind::Ack,
            "loss" => Kind::Loss,
            "timeout" => Kind::Timeout,
            "idle" => Kind::Idle,
            "mtu" => Kind::Mtu,
            "wake" => Kind::Wake,
            other => panic!("no event {other:?}"),
        };
        let ack = AckEvent {
            now: event[0],
            sent_at: event[1],
            smoothed_rtt: event[2],
            delivered: event[3],
            flightsize: event[4],
            delay_us: event[5] as u32,
            flags: event[6] as u32,
        };
        Event { kind, ack }
    }

    /// Returns the event as the program in C reads it.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let AckEvent { now, sent_at, smoothed_rtt, delivered, flightsize, delay_us, flags } = self.ack;
        let small = [delay_us, flags].map(u64::from);
        [self.kind as u64, now, sent_at, smoothed_rtt, delivered, flightsize, small[0], small[1], 0, 0, 0]
    }
}
