//! The socket's receive buffer, shared by the connections that data arrives for.

use crate::connection::flight_limit::SocketShare;
use afteryou_base::{Span, Time};

/// A connection without data for one to two of these no longer has a part of the buffer.
const PERIOD: Span = Span::from_secs(1);

/// The buffer.
#[derive(Debug, Default)]
pub(super) struct SocketBuffer {
    /// Memory as the system counts it, bytes; none if it is not known.
    capacity: Option<u64>,
    empty_at: Time,
    period: u64,
    /// Connections with data in this period, and in the one before.
    active: u64,
    active_before: u64,
}

/// The latest period in which a connection had data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity(u64);

impl SocketBuffer {
    /// A buffer of as many bytes as the system has granted, if that is known.
    pub(super) fn new(granted: Option<u64>) -> SocketBuffer {
        // Linux counts up to a quarter as taken after it has been read (`udp_rmem_release`).
        let capacity = granted.map(|granted| granted - granted / 4);
        SocketBuffer { capacity, ..SocketBuffer::default() }
    }

    /// Nothing was left to read.
    pub(super) fn emptied(&mut self, now: Time) {
        self.empty_at = now;
    }

    /// When nothing was left to read for the last time.
    pub(super) fn empty_at(&self) -> Time {
        self.empty_at
    }

    /// Notes that a connection has data, and returns its part.
    pub(super) fn share(&mut self, now: Time, activity: &mut Activity) -> Option<SocketShare> {
        let period = now.since(Time::ZERO).as_nanos() / PERIOD.as_nanos() + 1;
        if period != self.period {
            self.active_before = if period == self.period + 1 { self.active } else { 0 };
            (self.period, self.active) = (period, 0);
        }
        if activity.0 != period {
            activity.0 = period;
            self.active += 1;
        }
        self.part_of(self.active.max(self.active_before))
    }

    /// The part of a connection that has no data yet.
    pub(super) fn newcomers_share(&self) -> Option<SocketShare> {
        self.part_of(self.active.max(self.active_before) + 1)
    }

    fn part_of(&self, connections: u64) -> Option<SocketShare> {
        Some(SocketShare { memory: self.capacity? / connections, empty_at: self.empty_at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(buffer: &mut SocketBuffer, ms: u64, activity: &mut Activity) -> u64 {
        buffer.share(Time::from_millis(ms), activity).map_or(0, |share| share.memory)
    }

    #[test]
    fn connections_with_data_share_the_buffer_evenly_and_those_without_leave_theirs() {
        let mut buffer = SocketBuffer::new(Some(4000));
        let [mut one, mut other] = [Activity::default(); 2];
        assert_eq!(memory(&mut buffer, 10, &mut one), 3000);
        assert_eq!(memory(&mut buffer, 20, &mut other), 1500);
        assert_eq!(memory(&mut buffer, 30, &mut one), 1500);
        // The other one is silent: it keeps its part until the next period is over.
        assert_eq!(memory(&mut buffer, 1_500, &mut one), 1500);
        assert_eq!(memory(&mut buffer, 2_500, &mut one), 3000);
        assert_eq!(memory(&mut buffer, 9_000, &mut one), 3000);
    }
}
