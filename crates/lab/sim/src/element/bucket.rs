//! A token bucket in place of a transmitter, as htb of Linux is one (`sch_htb.c`).
//!
//! The bucket fills at the link's rate up to its size. As long as it is not overdrawn the next packet leaves, whatever its size, and its
//! bytes are taken out. After a pause, packets therefore leave together, and a packet comes out as its time on the link begins.

use afteryou_base::{Span, Time};
use std::collections::BTreeMap;

/// A bucket. Its contents are counted in the time that the link takes for them.
#[derive(Clone, Debug)]
pub struct Bucket {
    bits_per_second: u64,
    size_ns: i64,
    contents_ns: i64,
    /// When that was.
    at: Time,
    /// Times at which the contents are noted, the next one last.
    looks: Vec<Time>,
    /// The contents at those that have passed.
    noted: BTreeMap<Time, Span>,
}

impl Bucket {
    /// Returns a full bucket of `bytes` bytes.
    pub fn new(bytes: u64, bits_per_second: u64) -> Bucket {
        let size_ns = nanos(bytes, bits_per_second);
        let (at, looks, noted) = (Time::ZERO, Vec::new(), BTreeMap::new());
        Bucket { bits_per_second, size_ns, contents_ns: size_ns, at, looks, noted }
    }

    /// Notes the contents at these times, of which none has passed.
    pub fn note_at(&mut self, mut times: Vec<Time>) {
        times.sort_by(|a, b| b.cmp(a));
        times.dedup();
        self.looks = times;
    }

    /// Returns the contents at one of these times, as the time that the link takes for them; nothing if it is overdrawn.
    pub fn contents(&self, at: Time) -> Span {
        self.noted.get(&at).copied().unwrap_or_else(|| self.filled(at))
    }

    fn filled(&self, at: Time) -> Span {
        let filled_ns = nanos_of(at.since(self.at)).saturating_add(self.contents_ns).min(self.size_ns);
        Span(filled_ns.max(0).unsigned_abs())
    }

    fn note(&mut self, now: Time) {
        while let Some(at) = self.looks.pop_if(|at| *at <= now) {
            self.noted.insert(at, self.filled(at));
        }
    }

    /// Sends a packet; returns when the next one may leave.
    pub fn send(&mut self, now: Time, size: u32) -> Time {
        self.note(now);
        let filled = nanos_of(now.since(self.at)).saturating_add(self.contents_ns).min(self.size_ns);
        self.contents_ns = filled.saturating_sub(nanos(size.into(), self.bits_per_second));
        self.at = now;
        // Never no time at all, or a run might not get on.
        now + Span(self.contents_ns.min(-1).unsigned_abs())
    }
}

/// Returns the time that a link takes for `bytes`, ns.
fn nanos(bytes: u64, bits_per_second: u64) -> i64 {
    nanos_of(Span::of_bytes(8 * bytes, bits_per_second))
}

fn nanos_of(span: Span) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured at htb of Linux 6.18 with 10 Mbit/s and 1600 B, packets of 1500 B: the second leaves 0.03 ms after the first, the third
    /// 1.14 ms later.
    #[test]
    fn after_a_pause_two_packets_leave_together_and_the_others_follow_at_the_rate() {
        let mut bucket = Bucket::new(1600, 10_000_000);
        let mut now = Time::from_millis(1000);
        let gaps: Vec<u64> = (0..4)
            .map(|_| {
                let next = bucket.send(now, 1500);
                let gap = next.since(now).0;
                now = next;
                (gap + 500) / 1000
            })
            .collect();
        assert_eq!(gaps, [0, 1120, 1200, 1200], "µs");
        // In a pause as long as a packet takes the bucket fills by a packet, and no further than its size in a longer one.
        let gap = |bucket: &mut Bucket, now| (bucket.send(now, 1500).since(now).0 + 500) / 1000;
        assert_eq!(gap(&mut bucket, now + Span::from_micros(1200)), 0);
        assert_eq!(gap(&mut bucket, now + Span::from_micros(1200)), 1200);
        let later = now + Span::from_secs(9);
        assert_eq!([gap(&mut bucket, later), gap(&mut bucket, later)], [0, 1120]);
    }
    #[test]
    fn the_contents_are_those_of_the_time_asked_for_whatever_is_sent_afterwards() {
        let mut bucket = Bucket::new(12_500, 10_000_000); // 10 ms of the link
        let at = |us: u64| Time::from_micros(us);
        bucket.note_at(vec![at(5000), at(900), at(20_000)]);
        bucket.send(at(1000), 12_500);
        assert_eq!(bucket.contents(at(900)), Span::from_millis(10));
        bucket.send(at(6000), 1250);
        assert_eq!(bucket.contents(at(5000)), Span::from_millis(4));
        // Not reached yet: what it will be if nothing is sent.
        assert_eq!(bucket.contents(at(20_000)), Span::from_millis(10));
        bucket.send(at(6000), 12_500);
        assert_eq!(bucket.contents(at(7000)), Span::ZERO, "overdrawn");
    }
}
