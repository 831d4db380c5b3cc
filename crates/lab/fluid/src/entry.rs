//! When a packet came to a queue that it leaves now.
//!
//! # Model
//! The packet that leaves at t came at the e with `e + q(e) = t`, q(e) its queuing delay. The left side never falls in
//! e, since no queue shrinks faster than its link empties it. Where it is constant nothing arrived, and any e of the
//! level will do. `t − q(t)` is e where the queue is constant, and a bound from below where it grows. From there a
//! bracket is found and narrowed by false position, the side that stays halved (the Illinois variant: faster than
//! bisection, and never outside).
//!
//! # Constants
//! The moment is found to a picosecond, so that steps of order four keep their order. Queues that move smoothly need four to
//! seven looks at the past.
//!
//! # Source
//! The bookkeeping is ours; Dowell and Jarratt, "A modified regula falsi method", BIT 11, 1971.

/// How exactly the moment is found, s; after so long a time that numbers are coarser, to some of their last bits.
const EXACT_S: f64 = 1e-12;
const LAST_BITS: f64 = 8.0 * f64::EPSILON;
/// Looks at the past at most. Bisection of a second comes as near in forty.
const MOST_LOOKS: usize = 50;
/// `e + q(e)` is taken to rise by this much at least when the bracket is sought.
const LEAST_RISE: f64 = 0.05;

/// Returns when what left at `left_s` came, with `queuing_s` the queuing delay of what comes at a time.
pub fn entered_s(left_s: f64, queuing_s: impl Fn(f64) -> f64) -> f64 {
    let late_s = |entered_s: f64| entered_s + queuing_s(entered_s) - left_s;
    let exact_s = EXACT_S.max(left_s.abs() * LAST_BITS);
    let (mut high, mut above) = (left_s, queuing_s(left_s));
    let (mut low, mut below) = (left_s - above, late_s(left_s - above));
    let mut looks = 2;
    // A queue that shrank: it was longer then, and what leaves now came earlier.
    while below > exact_s && looks < MOST_LOOKS {
        let rise = ((above - below) / (high - low)).max(LEAST_RISE);
        (high, above) = (low, below);
        low -= 1.5 * below / rise;
        below = late_s(low);
        looks += 1;
    }
    let mut next = low;
    let mut off = below;
    while off.abs() > exact_s && looks < MOST_LOOKS {
        next = high - above * (high - low) / (above - below);
        let previous = off;
        off = late_s(next);
        looks += 1;
        let same_side = (off > 0.0) == (previous > 0.0);
        if off > 0.0 {
            (high, above) = (next, off);
            below /= if same_side { 2.0 } else { 1.0 };
        } else {
            (low, below) = (next, off);
            above /= if same_side { 2.0 } else { 1.0 };
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A queuing delay as a function of time.
    type Queue = fn(f64) -> f64;

    /// Returns the moment, and how often it looked.
    fn found(left_s: f64, queuing_s: impl Fn(f64) -> f64) -> (f64, usize) {
        let looks = Cell::new(0);
        let counted = |at_s: f64| {
            looks.set(looks.get() + 1);
            queuing_s(at_s)
        };
        let entered = entered_s(left_s, counted);
        (entered, looks.get())
    }

    #[test]
    fn what_leaves_a_queue_that_stands_still_came_its_delay_ago() {
        assert_eq!(found(3.0, |_| 0.25), (2.75, 2));
        assert_eq!(found(3.0, |_| 0.0), (3.0, 2));
    }

    #[test]
    fn the_moment_is_exact_however_a_queue_moves() {
        // Slow start fills it with twice the rate of the link and more, silence empties it.
        let queues: [(&str, Queue); 6] = [
            ("grows", |t| 0.3 * t),
            ("grows with the link's own rate", |t| t),
            ("grows exponentially", |t| (0.01 * libm::exp(4.0 * t)).min(0.5)),
            ("shrinks", |t| (2.0 - 0.7 * t).max(0.0)),
            ("is drained", |t| (2.0 - t).max(0.0)),
            ("swings", |t| 0.1 + 0.09 * libm::sin(10.0 * t)),
        ];
        for (what, queuing_s) in queues {
            for i in 1..40 {
                let left_s = f64::from(i) * 0.075;
                let (entered, looks) = found(left_s, |t| queuing_s(t.max(0.0)));
                // Before the beginning the queue was what it was at the beginning.
                let off = entered + queuing_s(entered.max(0.0)) - left_s;
                assert!(off.abs() <= EXACT_S, "{what}, {left_s} s: {off} s off");
                assert!(looks <= 16, "{what}, {left_s} s: {looks} looks");
            }
        }
    }

    #[test]
    fn a_queue_that_jumps_is_no_endless_search() {
        let (entered, looks) = found(1.0, |t| if t < 0.7 { 0.1 } else { 0.5 });
        assert!((entered - 0.7).abs() < 1e-6, "{entered}");
        assert!(looks <= MOST_LOOKS);
    }
}
