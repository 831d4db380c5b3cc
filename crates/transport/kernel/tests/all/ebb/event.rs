//! An event of ebb as both take it.

use crate::event::NUMBERS;
use crate::recorded::Line;
use afteryou_cc::ebb_core::AckEvent;

/// A kind of event, in the order of `tests/c/ebb_run.h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Sent,
    Ack,
    Loss,
    Timeout,
    Idle,
    Mtu,
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
            "sent" => Kind::Sent,
            "ack" => Kind::Ack,
            "loss" => Kind::Loss,
            "timeout" => Kind::Timeout,
            "idle" => Kind::Idle,
            "mtu" => Kind::Mtu,
            other => panic!("no event {other:?}"),
        };
        let ack = AckEvent {
            now: event[0],
            sent_at: event[1],
            number: event[2],
            delivered: event[3],
            in_flight: event[4],
            rate: event[5],
            rtt_us: event[6] as u32,
            smoothed_us: event[7] as u32,
            reverse_us: event[8] as u32,
            flags: event[9] as u32,
        };
        Event { kind, ack }
    }

    /// Returns the event as the program in C reads it.
    pub fn numbers(&self) -> [u64; NUMBERS] {
        let AckEvent {
            now,
            sent_at,
            number,
            delivered,
            in_flight,
            rate,
            rtt_us,
            smoothed_us,
            reverse_us,
            flags,
        } = self.ack;
        let [rtt_us, smoothed_us, reverse_us, flags] =
            [rtt_us, smoothed_us, reverse_us, flags].map(u64::from);
        let kind = self.kind as u64;
        [kind, now, sent_at, number, delivered, in_flight, rate, rtt_us, smoothed_us, reverse_us, flags]
    }
}
