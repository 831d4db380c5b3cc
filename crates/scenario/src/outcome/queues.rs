//! What queues did with the packets of each class.

use super::{round, Quantiles};
use afteryou_aqm::{Class, Counters, Statistics};
use afteryou_cc::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a queue did in the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueFigures {
    /// The link it stands at.
    pub link: String,
    /// The discipline.
    pub discipline: String,
    /// Each class of which packets came.
    pub classes: Vec<ClassCounts>,
}

/// What a queue did with the packets of a class: `arrived = dequeued + dropped_full + dropped_early + dropped_head +
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

/// The packets of one class in a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassFigures {
    /// "best effort" or "lower effort".
    pub class: String,
    /// Time that its packets spent in the bottleneck's queue.
    pub queuing_delay: Option<Quantiles>,
    /// Mean number of its packets in the queue over time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_packets: Option<f64>,
}

/// A class as outcomes call it.
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::BestEffort => "best effort",
        Class::LowerEffort => "lower effort",
    }
}

impl QueueFigures {
    /// From what a queue counted.
    pub fn new(link: &str, discipline: &str, statistics: &Statistics) -> QueueFigures {
        let came = |class: &Class| statistics.of(*class).arrived() > 0;
        let classes = Class::BOTH.into_iter().filter(came);
        QueueFigures {
            link: link.to_owned(),
            discipline: discipline.to_owned(),
            classes: classes.map(|class| ClassCounts::new(class, statistics.of(class))).collect(),
        }
    }
}

impl ClassCounts {
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
