//! How much faster the receiver's clock runs than ours, from the reverse path's smallest delays over minutes.
//!
//! # Model
//! An ack's own one-way delay is our clock less the receiver's. A steady skew tilts its lower envelope; queues lift
//! single samples off the envelope, and a standing queue shifts it by a step:
//!
//! ```text
//!   reverse delay = propagation + queue ≥ 0 − offset − skew · t
//!
//!   window ──min──▶ point        skew = −slope between a point and the one two windows later
//!   believed: the mean of the slopes within 20 ppm of their median, if these are ¾ of all and 300 ppm at most
//! ```
//! Forward samples are corrected by `skew · elapsed`, in both directions of time: the delays in the base history are
//! carried forward by the clock's gain since then. The forward delay itself is no input. A sender's own queue, which
//! slowly raises its base (LEDBAT's latency drift), is therefore never taken for a skew. A reverse queue that comes or
//! goes spoils two slopes. Where slopes disagree the latest accepted skew is kept: clocks keep their rate, queues do not.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | window | 1 s, doubling up to 64 s as the points fill up | six windows give the first answer, longer ones a finer |
//! | points | 16 | 17 minutes at the longest window; a crystal's rate changes by less than 1 ppm in them |
//! | largest skew | 300 ppm | two crystals of 100 ppm each, and some room; slewing by NTP is beyond |
//! | agreement | 20 ppm | noisy minima disagree until the windows are long enough: 1.3 ms at 64 s |
//!
//! # Source
//! None; ours. RFC 6817 §A.2 names the problem and leaves the cure open. The lower envelope is that of Moon, Skelly and
//! Towsley, "Estimation and removal of clock skew from network delay measurements" (1999).
//!
//! # Known bad cases
//! Before the first answer, after 6 s at the earliest, a skew acts as it would without this. Two senders on one path,
//! one in each direction, that both hold their measured delay constant from the start. The clocks' drift moves queue
//! from one direction to the other, no clock shows it, and nothing is corrected. A reverse queue whose floor rises by
//! less than 300 ppm for minutes looks like a slow clock.

use crate::base_delay::difference;
use crate::delay_signal::one_way_us;
use crate::event::Ack;
use afteryou_base::units::{Span, Time};

const FIRST_WINDOW: Span = Span::from_secs(1);
const LAST_WINDOW: Span = Span::from_secs(64);
const POINTS: usize = 16;
/// A slope spans this number of points: at least one whole window, however close two neighbours are.
const LAG: usize = 2;
/// Fewer slopes answer nothing.
const MIN_SLOPES: usize = 4;
const LARGEST: Gain = Gain::from_ppm(300);
const AGREEMENT: Gain = Gain::from_ppm(20);

/// Rate at which one clock gains on another: µs per µs, with 32 fractional bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gain(i64);

impl Gain {
    /// Returns a gain of `ppm` parts in a million.
    pub const fn from_ppm(ppm: i64) -> Gain {
        Gain((ppm << 32) / 1_000_000)
    }

    /// Returns the time gained in `span`, µs.
    pub fn over(self, span: Span) -> i64 {
        // 2^40 µs are 12 days, and 300 ppm 2^21.
        (self.0 * span.as_micros().min(1 << 40) as i64) >> 32
    }

    /// Returns the gain of a reverse delay that changes by `change_us` in `span`.
    fn of(change_us: i32, span: Span) -> Gain {
        let size = (u64::from(change_us.unsigned_abs()) << 32) / span.as_micros().max(1);
        let size = size.min(1 << 40) as i64;
        Gain(if change_us > 0 { -size } else { size })
    }

    fn is_within(self, limit: Gain, of: Gain) -> bool {
        (self.0 - of.0).abs() <= limit.0
    }
}

/// The smallest reverse delay of a window.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: Time,
    us: u32,
}

impl Point {
    fn smaller(self, other: Point) -> Point {
        if difference(other.us, self.us) < 0 {
            other
        } else {
            self
        }
    }
}

/// Estimates the skew of the receiver's clock, and what it has gained by now.
#[derive(Clone, Debug)]
// In this order: one line of the cache holds what every ack needs.
#[repr(C, align(64))]
pub struct ClockDrift {
    window: Span,
    window_began: Time,
    lowest: Option<Point>,
    gain: Gain,
    /// Gained until `since`, µs.
    gained_us: i64,
    since: Time,
    len: usize,
    /// Of windows that are over, oldest first.
    points: [Point; POINTS],
}

impl Default for ClockDrift {
    fn default() -> ClockDrift {
        ClockDrift {
            window: FIRST_WINDOW,
            window_began: Time::ZERO,
            lowest: None,
            points: [Point { at: Time::ZERO, us: 0 }; POINTS],
            len: 0,
            gain: Gain::default(),
            gained_us: 0,
            since: Time::ZERO,
        }
    }
}

impl ClockDrift {
    /// Takes in an ack. Returns its one-way delay without the gain of the receiver's clock, and the change of the
    /// estimate, if it has changed. The caller raises the delays in its history by their age's gain.
    pub fn correct(&mut self, ack: &Ack) -> (Option<u32>, Option<Gain>) {
        let change = ack.reverse_delay.and_then(|reverse_us| self.update(ack.now, reverse_us));
        (one_way_us(ack).map(|delay_us| delay_us.wrapping_sub(self.gained(ack.now))), change)
    }

    /// Takes in an ack's own one-way delay. Returns by how much the estimate has changed, if it has.
    fn update(&mut self, now: Time, reverse_us: u32) -> Option<Gain> {
        let sample = Point { at: now, us: reverse_us };
        match self.lowest {
            Some(lowest) if now.since(self.window_began) < self.window => {
                self.lowest = Some(lowest.smaller(sample));
                return None;
            }
            Some(lowest) => self.push(lowest),
            None => self.since = now,
        }
        (self.window_began, self.lowest) = (now, Some(sample));
        let gain = self.estimate()?;
        self.gained_us = self.gained_us(now);
        self.since = now;
        let change = Gain(gain.0 - self.gain.0);
        self.gain = gain;
        Some(change)
    }

    /// Returns the time that the receiver's clock has gained since the first sample, µs modulo 2^32.
    fn gained(&self, now: Time) -> u32 {
        self.gained_us(now) as u32
    }

    fn gained_us(&self, now: Time) -> i64 {
        self.gained_us.wrapping_add(self.gain.over(now.since(self.since)))
    }

    /// Keeps a point. When all places are taken, two neighbours become one of a window twice as long; from the longest
    /// window on, the oldest leaves.
    fn push(&mut self, point: Point) {
        if self.len == POINTS && self.window < LAST_WINDOW {
            (0..POINTS / 2).for_each(|i| self.points[i] = self.points[2 * i].smaller(self.points[2 * i + 1]));
            self.len = POINTS / 2;
            self.window = self.window * 2;
        } else if self.len == POINTS {
            self.points.rotate_left(1);
            self.len -= 1;
        }
        self.points[self.len] = point;
        self.len += 1;
    }

    /// Returns the skew that enough slopes agree on.
    fn estimate(&self) -> Option<Gain> {
        let mut slopes = [Gain::default(); POINTS - LAG];
        let count = self.len.saturating_sub(LAG);
        if count < MIN_SLOPES {
            return None;
        }
        for (slope, ends) in slopes.iter_mut().zip(self.points[..self.len].windows(LAG + 1)) {
            *slope = Gain::of(difference(ends[LAG].us, ends[0].us), ends[LAG].at.since(ends[0].at));
        }
        let slopes = &mut slopes[..count];
        slopes.sort_unstable();
        let median = slopes[count / 2];
        let agreeing = slopes.iter().filter(|slope| slope.is_within(AGREEMENT, median));
        let (sum, agree) = agreeing.fold((0, 0), |(sum, agree), slope| (sum + slope.0, agree + 1));
        let mean = Gain(sum / agree);
        (4 * agree as usize >= 3 * count && mean.is_within(LARGEST, Gain::default())).then_some(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the estimate, ppm, after `seconds` of a sample every 100 ms with a reverse queue of `queue_us(ms)`, and the
    /// drift gained by then, ms.
    fn estimate(ppm: i64, seconds: u64, queue_us: impl Fn(u64) -> i64) -> (f64, f64) {
        let mut drift = ClockDrift::default();
        let now = |ms: u64| Time::from_millis(7_000_000 + ms);
        for ms in (0..seconds * 1000).step_by(100) {
            let reverse_us = 20_000 - ppm * ms as i64 / 1000 + queue_us(ms);
            drift.update(now(ms), (reverse_us + 4_294_967_000) as u32);
        }
        (drift.gain.0 as f64 * 1e6 / 65536.0 / 65536.0, drift.gained_us(now(seconds * 1000)) as f64 / 1000.0)
    }

    #[test]
    fn six_seconds_show_a_skew_of_either_sign() {
        for ppm in [-299, -200, -1, 0, 1, 100, 299] {
            let (found, _) = estimate(ppm, 7, |_| 0);
            assert!((found - ppm as f64).abs() < 0.2, "{found} for {ppm}");
            assert_eq!(estimate(ppm, 6, |_| 0).0, 0.0, "too early for {ppm}");
        }
    }

    #[test]
    fn what_no_crystal_does_is_not_believed() {
        for ppm in [-301, 320, 5000, -100_000] {
            assert_eq!(estimate(ppm, 900, |_| 0), (0.0, 0.0), "{ppm} ppm");
        }
    }

    #[test]
    fn queues_that_come_and_go_leave_the_envelope() {
        let noise = |ms: u64| i64::from((ms as u32).wrapping_mul(2_654_435_761) % 40_000);
        for ppm in [-150, 0, 150] {
            let step = |ms: u64| if ms > 200_000 { 100_000 } else { 0 };
            for (name, (found, _)) in [
                ("noise of 40 ms", estimate(ppm, 1200, noise)),
                ("a step of 100 ms", estimate(ppm, 1200, step)),
                ("one that goes", estimate(ppm, 1200, |ms| 100_000 - step(ms))),
                ("the two together", estimate(ppm, 1200, |ms| step(ms) + noise(ms))),
            ] {
                assert!((found - ppm as f64).abs() < 5.0, "{name}: {found} for {ppm}");
            }
        }
    }

    #[test]
    fn a_skew_once_found_outlasts_a_reverse_path_that_never_comes_to_rest() {
        let saw = |ms: u64| if ms < 120_000 { 0 } else { (ms % 33_000 * 2) as i64 };
        let (found, _) = estimate(100, 3600, saw);
        assert!((found - 100.0).abs() < 10.0, "{found}");
        assert_eq!(estimate(0, 3600, |ms| saw(ms + 120_000)).0, 0.0);
    }

    #[test]
    fn hours_without_a_sample_are_bridged() {
        let mut drift = ClockDrift::default();
        let reverse = |s: u64| 0u32.wrapping_sub(50 * s as u32);
        let mut feed = |s: u64| drift.update(Time::from_millis(1000 * s), reverse(s));
        (0..100).for_each(|s| _ = feed(s));
        (20_000..20_100).for_each(|s| _ = feed(s));
        assert!((drift.gained(Time::from_millis(20_100_000)) as i32 - 20_100 * 50).abs() < 500);
    }
}
