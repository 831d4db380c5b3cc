//! A link in the whole run: packets, bytes, and what its queue did with each class.

use super::round;
use afteryou_aqm::{Class, Counters, Statistics};
use afteryou_base::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link in the whole run. A link goes one way: the short form of a scenario has two, "bottleneck" and "reverse path".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkTotals {
    /// The link's name, unique in the run.
    pub link: String,
    /// Its rate, headers included, bit/s.
    pub capacity_bit_s: f64,
    /// The queue discipline.
    pub discipline: String,
    /// Its packets, where the engine counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packets: Option<Packets>,
    /// Every byte accounted for, where the engine does so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ledger: Option<Ledger>,
    /// Counters of the queue for each class with packets, where the engine has them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<ClassCounts>,
    /// The kernel's release and its queue in the words of tc, if the kernel has queued its packets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queued_by: Option<String>,
}

/// Packets at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Packets {
    /// Arrived.
    pub arrived: u64,
    /// Sent on.
    pub delivered: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Lost at random.
    pub lost: u64,
    /// Still queued or on the wire at the end.
    pub unfinished: u64,
    /// Copies that the link made: they come to those that arrived.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub duplicated: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Every byte on a link: `arrived + duplicated = delivered + dropped + lost + queued + in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Bytes that came to it.
    pub arrived: u64,
    /// Bytes that reached the link's end.
    pub delivered: u64,
    /// Bytes that its queue dropped.
    pub dropped: u64,
    /// Bytes lost at random or by the scenario's script.
    pub lost: u64,
    /// Bytes still in the queue.
    pub queued: u64,
    /// Bytes still on the wire.
    pub in_flight: u64,
    /// Bytes of copies that the link made.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub duplicated: u64,
}

impl Ledger {
    /// Returns whether every byte is accounted for.
    pub fn balances(&self) -> bool {
        self.arrived + self.duplicated
            == self.delivered + self.dropped + self.lost + self.queued + self.in_flight
    }
}

/// A queue's treatment of the packets of a class: `arrived = dequeued + dropped_full + dropped_early + dropped_head +
/// backlog_packets`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassCounts {
    /// "best effort" or "lower effort".
    pub class: String,
    /// Packets that came.
    pub arrived: u64,
    /// Of them, those that were put into the queue.
    pub enqueued: u64,
    /// Packets sent on.
    pub dequeued: u64,
    /// Packets dropped because there was no room.
    pub dropped_full: u64,
    /// Packets dropped by choice as a packet arrived.
    pub dropped_early: u64,
    /// Packets dropped by choice at the head.
    pub dropped_head: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets in the queue at the end.
    pub backlog_packets: u64,
    /// Bytes in the queue at the end.
    pub backlog_bytes: u64,
    /// How long the packets sent on had waited: from (ms), to (ms, exclusive), how many.
    pub sojourns: Vec<(f64, f64, u64)>,
}

/// Returns a class as outcomes call it.
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::BestEffort => "best effort",
        Class::LowerEffort => "lower effort",
    }
}

impl ClassCounts {
    /// Returns each class of which packets came, from what a queue counted.
    pub fn of(statistics: &Statistics) -> Vec<ClassCounts> {
        let came = |class: &Class| statistics.of(*class).arrived() > 0;
        let classes = Class::BOTH.into_iter().filter(came);
        classes.map(|class| ClassCounts::new(class, statistics.of(class))).collect()
    }

    fn new(class: Class, counters: &Counters) -> ClassCounts {
        let ms = |span: Span| round(span.as_millis_f64(), 4);
        ClassCounts {
            class: class_name(class).to_owned(),
            arrived: counters.arrived(),
            enqueued: counters.enqueued,
            dequeued: counters.dequeued,
            dropped_full: counters.dropped_full,
            dropped_early: counters.dropped_early,
            dropped_head: counters.dropped_head,
            marked: counters.marked,
            backlog_packets: counters.backlog.packets,
            backlog_bytes: counters.backlog.bytes,
            sojourns: counters.sojourns.bins().map(|(from, to, count)| (ms(from), ms(to), count)).collect(),
        }
    }
}
