//! Sizes of packets on the line behind the shaper, and schedules by them.
//!
//! # Model
//! A packet takes more of a DSL or cable line than its size: headers of each frame, and of ATM whole cells. The shaper counts
//! those bytes. A schedule is the time at which the next packet may leave; a packet moves it by its time at the rate.
//! There is no bucket of tokens, so nothing leaves faster than the rate.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | cell | 53 B for 48 B | ATM; a frame's last cell is padded |
//! | PTM | 1 B for each 64 B | VDSL2's coding, rounded up as in Linux |
//! | least rate | 512 bit/s | Linux: no schedule is too far ahead |
//!
//! # Source
//! Linux `sch_cake.c`, `man tc-cake`.

use afteryou_base::{Span, Time};

/// The least rate of a schedule, bit/s.
const LEAST: u64 = 512;

/// Bytes that the line adds to frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Nothing.
    Plain,
    /// Cells.
    Atm,
    /// A byte for each 64.
    Ptm,
}

impl Coding {
    /// The words for them.
    pub const WORDS: &'static [&'static str] = &["noatm", "atm", "ptm"];
    /// Their meanings.
    pub const MEANINGS: &'static [Coding] = &[Coding::Plain, Coding::Atm, Coding::Ptm];
}

/// The size of a packet on the line.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub(crate) overhead: u64,
    pub(crate) least: u64,
    pub(crate) coding: Coding,
}

impl Framing {
    /// Returns the bytes that a packet of `size` takes.
    pub fn bytes(&self, size: u32) -> u64 {
        let framed = (u64::from(size) + self.overhead).max(self.least);
        match self.coding {
            Coding::Plain => framed,
            Coding::Atm => framed.div_ceil(48) * 53,
            Coding::Ptm => framed + framed.div_ceil(64),
        }
    }
}

/// When a tin is due.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    bits_per_second: u64,
    next: Time,
}

impl Schedule {
    /// Creates a schedule by that rate, due at once.
    pub fn new(bits_per_second: u64) -> Schedule {
        Schedule { bits_per_second: bits_per_second.max(LEAST), next: Time::ZERO }
    }

    /// Returns when the next packet is due.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Forgets the time that passed without a packet.
    pub fn catch_up(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    fn time_of(&self, bytes: u64) -> Span {
        Span::of_bytes(8 * bytes, self.bits_per_second)
    }

    /// Counts a packet that leaves now. A tin that was due saves what it has missed; one that was not is never due later than a packet's
    /// time from now, unless it already is.
    pub fn charge(&mut self, now: Time, bytes: u64) {
        let time = self.time_of(bytes);
        self.next = if self.next < now { self.next + time } else { self.next.max(now + time) };
    }
}

/// The shaper: holds packets back so that the line behind it is never full.
#[derive(Clone, Copy, Debug)]
pub struct Shaper {
    schedule: Schedule,
    /// Where dropped packets count, the time by which one leaves all the same: two thirds of the rate.
    failsafe: Time,
}

impl Shaper {
    /// Creates a shaper of that rate.
    pub fn new(bits_per_second: u64) -> Shaper {
        Shaper { schedule: Schedule::new(bits_per_second), failsafe: Time::ZERO }
    }

    /// Forgets the time that passed without a packet; to be called when one arrives at an empty queue.
    pub fn catch_up(&mut self, now: Time) {
        if self.schedule.next < now {
            (self.schedule.next, self.failsafe) = (now, now);
        }
    }

    /// Counts a packet that leaves, or one that was dropped and counts.
    pub fn charge(&mut self, bytes: u64, is_dropped: bool) {
        let time = self.schedule.time_of(bytes);
        self.schedule.next += time;
        if !is_dropped {
            self.failsafe += time + time / 2;
        }
    }

    /// Returns when the next packet may leave.
    pub fn next(&self) -> Time {
        self.schedule.next.min(self.failsafe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_take_the_bytes_that_the_manual_page_says() {
        let bytes = |overhead, least, coding, size| Framing { overhead, least, coding }.bytes(size);
        assert_eq!(bytes(0, 0, Coding::Plain, 1500), 1500);
        assert_eq!(bytes(18, 64, Coding::Plain, 40), 64, "Ethernet's least frame");
        // PPPoE over ATM with LLC: 40 bytes more, in 33 cells; an acknowledgement is in two.
        assert_eq!(bytes(40, 0, Coding::Atm, 1500), 33 * 53);
        assert_eq!(bytes(40, 0, Coding::Atm, 40), 2 * 53);
        assert_eq!(bytes(22, 0, Coding::Ptm, 1500), 1522 + 24);
    }

    #[test]
    fn a_tin_that_sends_more_than_its_rate_is_never_due_later_than_one_packet() {
        let mut schedule = Schedule::new(1_000_000);
        (0..10).for_each(|_| schedule.charge(Time::from_millis(5), 1250));
        assert_eq!(schedule.next(), Time::from_millis(15));
    }
}
