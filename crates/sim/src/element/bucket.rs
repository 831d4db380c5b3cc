//! A token bucket in place of a transmitter, as htb of Linux is one (`sch_htb.c`).
//!
//! The bucket fills at the link's rate up to its size. As long as it is not overdrawn the next packet leaves, whatever its size, and its
//! bytes are taken out. After a pause, packets therefore leave together, and a packet comes out as its time on the link begins.

use afteryou_base::{Span, Time};

/// A bucket. Its contents are counted in the time that the link takes for them.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    bits_per_second: u64,
    size_ns: i64,
    contents_ns: i64,
    /// When that was.
    at: Time,
}

impl Bucket {
    /// A full bucket of so many bytes.
    pub fn new(bytes: u64, bits_per_second: u64) -> Bucket {
        let size_ns = nanos(bytes, bits_per_second);
        Bucket { bits_per_second, size_ns, contents_ns: size_ns, at: Time::ZERO }
    }

    /// A packet leaves; returns when the next one may.
    pub fn send(&mut self, now: Time, size: u32) -> Time {
        let filled = nanos_of(now.since(self.at)).saturating_add(self.contents_ns).min(self.size_ns);
        self.contents_ns = filled.saturating_sub(nanos(size.into(), self.bits_per_second));
        self.at = now;
        // Never no time at all, or a run might not get on.
        now + Span(self.contents_ns.min(-1).unsigned_abs())
    }
}

/// Time that a link takes for so many bytes, ns.
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
}
