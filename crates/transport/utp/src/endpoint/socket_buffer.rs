//! The socket's receive buffer, shared by the connections that data arrives for.
//!
//! # Model
//! The system counts memory, not bytes of payload. [`memory`] assumes the memory of a packet that came alone from a network card.
//! Packets that came as one batch over loopback or a virtual link take little more than their bytes. So the memory of all waiting
//! packets is asked for every few readings, before they are read, and compared with all that is read until nothing is left. Packets that
//! come meanwhile make the result too small, so the largest of one to two [periods](PERIOD) counts. It is never less than the
//! bytes themselves.
//!
//! Linux counts what has been read as taken until it is a quarter of the buffer or the buffer is empty (`udp_rmem_release`), so a quarter
//! is not given to senders. A batch of more than that is not counted any longer than it waits: the default buffer of 208 KiB, of which
//! it is almost a third, then holds three of them.
//!
//! A sender that may have little in flight stalls while much of it is read without an acknowledgement. So from a small
//! buffer less is read in one [turn](SocketBuffer::turn). Both ends also often have nothing to do for less time than it takes to wake a
//! processor. After a full train they [poll](SocketBuffer::busy_polls) the socket a few times more before they sleep.

use crate::connection::flight_limit::{memory, SocketShare};
use afteryou_base::{Span, Time};

/// A connection without data for one to two of these no longer has a part of the buffer.
const PERIOD: Span = Span::from_secs(1);

/// One of this many readings of an empty buffer is preceded by a look at its memory: a call for some microseconds of work.
const LOOK: u32 = 8;
/// A look counts if so large a part of the buffer is in use. Few packets are little evidence of a full buffer.
const IN_USE: u64 = 8;
/// Read before acknowledgements leave. More in a turn cost less time each.
const TURN: Turn = Turn { datagrams: 64, bytes: usize::MAX };
/// The same for a small buffer: one full batch of 1472 bytes each, as Linux hands it over. Two batches are most of what the default
/// buffer admits, and cost a sixth of the goodput over loopback.
const SHORT_TURN: Turn = Turn { datagrams: 44, bytes: 44 * 1472 };
/// Times that a socket with a small buffer is polled again after a full train, together some 40 µs. Over loopback they are worth a tenth
/// of the goodput. A train is full from 65 MB/s on. A full turn of reading counts as one, so slower connections pay only where many of
/// them make one together.
const BUSY_POLLS: u32 = 10;
/// A smaller buffer is a small one, bytes of memory. Of what a larger one admits two batches are an eighth at most.
const SMALL: u64 = 1024 * 1024;
/// Linux may count one part of this many of the buffer as taken after it has been read.
const KEPT: u64 = 4;
/// The unit of [`Sample`].
const WHOLE: u64 = 1024;

/// A turn of reading ends at either limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub datagrams: usize,
    pub bytes: usize,
}

/// The buffer.
#[derive(Debug, Default)]
pub(super) struct SocketBuffer {
    /// Memory that the system has granted, bytes as it counts them; none if that is not known.
    granted: Option<u64>,
    empty_at: Time,
    period: u64,
    /// Connections with data in this period, and in the one before.
    active: u64,
    active_before: u64,
    /// Measurements of this period and of the one before.
    samples: [Option<Sample>; 2],
    look: Option<Look>,
    looks: u32,
}

/// A look at the buffer, before what lay in it was read.
#[derive(Clone, Copy, Debug)]
struct Look {
    memory: u64,
    /// Bytes that have been read since.
    bytes: u64,
    /// Those of them that came in readings of less than what Linux keeps at most.
    in_small: u64,
    assumed: u64,
}

/// How packets take memory, in parts of [`WHOLE`].
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Of the assumed memory.
    taken: u64,
    /// Of the quarter that Linux may keep.
    kept: u64,
}

impl Sample {
    fn max(self, other: Sample) -> Sample {
        Sample { taken: self.taken.max(other.taken), kept: self.kept.max(other.kept) }
    }
}

/// The latest period in which a connection had data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity(u64);

impl SocketBuffer {
    /// Creates a buffer of as many bytes as the system has granted, if that is known.
    pub(super) fn new(granted: Option<u64>) -> SocketBuffer {
        SocketBuffer { granted, ..SocketBuffer::default() }
    }

    /// Returns the limits of reading before sending gets its turn.
    pub(super) fn turn(&self) -> Turn {
        match self.granted {
            Some(..SMALL) => SHORT_TURN,
            _ => TURN,
        }
    }

    /// Returns how often the driver polls the socket again before it sleeps, after a full train has come or left.
    pub(super) fn busy_polls(&self) -> u32 {
        match self.granted {
            Some(..SMALL) => BUSY_POLLS,
            _ => 0,
        }
    }

    /// Notes that datagrams which came since the buffer was empty are about to be read. `waiting` is their memory, as the
    /// system counts it.
    pub(super) fn about_to_read(&mut self, waiting: impl FnOnce() -> Option<u32>) {
        self.looks = (self.looks + 1) % LOOK;
        let (0, Some(granted)) = (self.looks, self.granted) else { return };
        let memory = waiting().map(u64::from).filter(|memory| *memory >= granted / IN_USE);
        self.look = memory.map(|memory| Look { memory, bytes: 0, in_small: 0, assumed: 0 });
    }

    /// Notes that datagrams of these lengths were read in one call.
    pub(super) fn read(&mut self, datagrams: impl Iterator<Item = usize>) {
        let (Some(look), Some(granted)) = (&mut self.look, self.granted) else { return };
        let mut bytes = 0;
        for len in datagrams {
            bytes += len as u64;
            look.assumed += memory(len as u64);
        }
        look.bytes += bytes;
        look.in_small += if bytes < granted / KEPT { bytes } else { 0 };
    }

    /// Notes that nothing was left to read.
    pub(super) fn emptied(&mut self, now: Time) {
        self.empty_at = now;
        if let Some(look) = self.look.take().filter(|look| look.assumed > 0) {
            let taken = look.memory.max(look.bytes) * WHOLE / look.assumed;
            let sample = Sample { taken, kept: look.in_small * WHOLE / look.bytes.max(1) };
            self.samples[0] = Some(self.samples[0].map_or(sample, |before| before.max(sample)));
        }
    }

    /// Returns when nothing was left to read for the last time.
    pub(super) fn empty_at(&self) -> Time {
        self.empty_at
    }

    /// Notes that a connection has data, and returns its part.
    pub(super) fn share(&mut self, now: Time, activity: &mut Activity) -> Option<SocketShare> {
        let period = now.since(Time::ZERO).as_nanos() / PERIOD.as_nanos() + 1;
        if period != self.period {
            let is_next = period == self.period + 1;
            self.active_before = if is_next { self.active } else { 0 };
            self.samples = [None, self.samples[0].filter(|_| is_next)];
            (self.period, self.active) = (period, 0);
        }
        if activity.0 != period {
            activity.0 = period;
            self.active += 1;
        }
        self.part_of(self.active.max(self.active_before))
    }

    /// Returns the part of a connection that has no data yet.
    pub(super) fn newcomers_share(&self) -> Option<SocketShare> {
        self.part_of(self.active.max(self.active_before) + 1)
    }

    fn part_of(&self, connections: u64) -> Option<SocketShare> {
        let sample = self.samples.into_iter().flatten().reduce(Sample::max);
        let Sample { taken, kept } = sample.unwrap_or(Sample { taken: WHOLE, kept: WHOLE });
        let capacity = self.granted? - self.granted? / KEPT * kept / WHOLE;
        let memory = capacity * WHOLE / taken.max(1) / connections;
        Some(SocketShare { memory, empty_at: self.empty_at })
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

    /// Reads `count` datagrams of 1472 bytes that take `each` bytes of memory, and those that come meanwhile.
    fn read(buffer: &mut SocketBuffer, ms: u64, each: u32, [count, meanwhile]: [u32; 2]) {
        for _ in 0..LOOK {
            buffer.about_to_read(|| Some(each * count));
        }
        for _ in 0..count + meanwhile {
            buffer.read([1472].into_iter());
        }
        buffer.emptied(Time::from_millis(ms));
    }

    #[test]
    fn less_is_read_in_a_turn_from_a_small_buffer() {
        let turn = |granted| SocketBuffer::new(granted).turn();
        let polls = |granted| SocketBuffer::new(granted).busy_polls();
        assert_eq!((polls(Some(212_992)), polls(Some(8 << 20)), polls(None)), (BUSY_POLLS, 0, 0));
        assert_eq!((turn(Some(212_992)), turn(Some(8 << 20)), turn(None)), (SHORT_TURN, TURN, TURN));
    }

    #[test]
    fn the_default_buffer_holds_three_batches_of_64_kib_but_not_as_many_packets_that_are_read_one_by_one() {
        let packets = |per_call: usize| {
            let (mut buffer, mut one) = (SocketBuffer::new(Some(212_992)), Activity::default());
            memory(&mut buffer, 10, &mut one);
            for _ in 0..LOOK {
                buffer.about_to_read(|| Some(44 * 1500));
            }
            (0..44 / per_call).for_each(|_| buffer.read(std::iter::repeat_n(1472, per_call)));
            buffer.emptied(Time::from_millis(20));
            memory(&mut buffer, 30, &mut one) / crate::connection::flight_limit::memory(1472)
        };
        assert!((3 * 44..4 * 44).contains(&packets(44)), "{}", packets(44));
        assert!(packets(1) < 110, "{}", packets(1));
    }

    #[test]
    fn a_share_grows_where_packets_take_less_memory_than_assumed_and_shrinks_where_they_take_more() {
        let mut buffer = SocketBuffer::new(Some(200_000));
        let mut one = Activity::default();
        assert_eq!(memory(&mut buffer, 10, &mut one), 150_000);
        // In batches over loopback: what came meanwhile does not make a packet smaller than it is.
        read(&mut buffer, 10, 1500, [44, 0]);
        read(&mut buffer, 20, 1500, [44, 500]);
        let assumed = crate::connection::flight_limit::memory(1472);
        let grown = memory(&mut buffer, 30, &mut one);
        assert!(grown.abs_diff(150_000 * assumed / 1500) < 1000, "{grown}");
        // A card that spends a page on each packet; few of them are no evidence.
        read(&mut buffer, 40, 4864, [3, 0]);
        assert_eq!(memory(&mut buffer, 50, &mut one), grown);
        read(&mut buffer, 60, 4864, [30, 0]);
        let shrunk = memory(&mut buffer, 70, &mut one);
        assert!(shrunk.abs_diff(150_000 * assumed / 4864) < 1000, "{shrunk}");
        // Nothing was measured for more than a period.
        assert_eq!(memory(&mut buffer, 3_000, &mut one), 150_000);
    }
}
