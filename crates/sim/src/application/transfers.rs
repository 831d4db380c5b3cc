//! Transfers of an application: how many, and how long they took. Its size does not depend on their number.

use crate::record::Delays;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{Completions, Offered, SizeClass, SIZE_CLASSES};

/// A transfer that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) began: Time,
    pub(super) bytes: u64,
}

/// All transfers that began.
#[derive(Default)]
pub(super) struct Transfers {
    pub(super) begun: u64,
    pub(super) connections: u64,
    /// Segments that came too late, for an application that has segments.
    pub(super) late: Option<u64>,
    completed: u64,
    /// Of all sizes, then of each class; made with the first transfer.
    times: Vec<Delays>,
}

impl Transfers {
    /// A transfer begins.
    pub(super) fn begin(&mut self, now: Time, bytes: u64) -> Transfer {
        self.begun += 1;
        Transfer { began: now, bytes }
    }

    /// The last byte of a transfer has arrived. Returns how long it took.
    pub(super) fn complete(&mut self, now: Time, transfer: Transfer) -> Span {
        self.completed += 1;
        let took = now.since(transfer.began);
        self.times.resize_with(SIZE_CLASSES.len() + 2, Delays::default);
        let class = SIZE_CLASSES.partition_point(|to| *to <= transfer.bytes);
        self.times[0].record(took);
        self.times[class + 1].record(took);
        took
    }

    /// What came of them; `bytes` are the application's books.
    pub(super) fn completions(&self, bytes: Offered) -> Completions {
        let class = |(class, times): (usize, &Delays)| {
            let from_bytes = class.checked_sub(1).map_or(0, |before| SIZE_CLASSES[before]);
            let to_bytes = SIZE_CLASSES.get(class).copied();
            Some(SizeClass { from_bytes, to_bytes, time: times.quantiles()? })
        };
        Completions {
            begun: self.begun,
            completed: self.completed,
            time: self.times.first().and_then(Delays::quantiles),
            classes: self.times.iter().skip(1).enumerate().filter_map(class).collect(),
            late: self.late,
            connections: self.connections,
            bytes,
        }
    }
}
