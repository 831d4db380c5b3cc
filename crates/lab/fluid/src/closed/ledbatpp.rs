//! LEDBAT++ in closed form: what slowdowns cost, and what long paths do to it.
//!
//! # Model
//! **Nine tenths** (Bagnulo 2022, eq. 7-9). Between slowdowns the window is `W = C·(R + q)`, q the queue that is kept. A
//! slowdown is two round trips at two packets and a ramp of `T = log₂(W/2)` round trips; the wait is nine ramps:
//!
//! ```text
//!   sent / could have been sent = (4 + 2·W + 9·T·W) / (2·C·R + 10·T·W)
//! ```
//! It tends to 0.9 from above. By the draft the wait is nine times the slowdown with its two round trips ([`Wait`]).
//!
//! **With the gain and the queue's cover** (ours). With GAIN < 1 the ramp takes longer. Until the queue has drained,
//! and again as soon as the window has reached `C·R`, the link is busy. With `g = ln(1 + GAIN)`, windows in packets:
//!
//! ```text
//!   lost   = C·(2·R + q) − 4 + (C·R·ln(C·R/2) − (C·R − 2))/g
//!   length = 2·(R + q) + R·ln(C·R/2)/g + q/g                          utilisation = 1 − lost/(10·length·C)
//! ```
//!
//! **Long paths** (eq. 10-14, GAIN = 1). The last round of a ramp doubles a window that fits to one that does not. The
//! excess over the largest power of two below s queues, `d = (s − 2^⌊log₂ s⌋)·packet/C`, and congestion avoidance takes
//! it for congestion. So `1 − β` of the window is lost, `β = (2·TARGET − d)/TARGET`. In the steady state that is what
//! nine ramps of growth bring back:
//!
//! ```text
//!   s·(1 − β) = 9·log₂ s
//! ```
//! The left side starts anew with each power of two, so there is a root in every octave. The window before decides at
//! which one a flow settles. The link is not filled where `β·s·packet < C·R`.
//!
//! A flow that grows from below stays in the lowest octave that it cannot cross (ours). Up to `w = 2^k + C·TARGET` it
//! loses nothing, so one wait takes it to `w + 9·log₂ w` at most. Below `2^(k+1)` that octave is a trap, whatever the
//! round trip. The simulator without pacing at 20 Mbit/s: some 345 packets on all paths of 300 ms to 1 s, where k = 8
//! and s = 374. With pacing, and at rates where the initial slow start goes further, a flow rests in a higher octave.
//!
//! # Source
//! Bagnulo and García-Martínez, "An experimental evaluation of LEDBAT++", 2022, appendix. Its A.1 counts the ramp from two
//! packets and its A.2 from one ([`Ramp`]); its eq. 11 drops GAIN and the bound of W/2 on a decrease, which roots with
//! β < 1/2 violate ([`Root::is_bounded`]); its eq. 12 adds nothing at a power of two, where the text says half the window.

use crate::model::ledbatpp::{FLOOR, FREEZE_ROUNDS, WAIT};
use crate::model::LedbatPp;

/// The wait between slowdowns is nine times this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The ramp: the paper.
    Ramp,
    /// The whole slowdown: draft-01 §4.4.
    Slowdown,
}

/// Where a ramp is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ramp {
    /// One packet: the paper's A.2.
    FromOne,
    /// Two packets, where it begins.
    FromTwo,
}

/// Alone on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// The link's capacity, packets/s.
    pub capacity: f64,
    /// Base round-trip time, s.
    pub rtt_s: f64,
    /// Queue that is kept between slowdowns, s: TARGET, or the buffer if that is shorter.
    pub queuing_s: f64,
}

impl Alone {
    /// Returns the part of the link that is used, by the 9/10 model.
    pub fn nine_tenths(&self, wait: Wait) -> f64 {
        let window = self.capacity * (self.rtt_s + self.queuing_s);
        let ramp = libm::log2(window / FLOOR);
        let rounds = match wait {
            Wait::Ramp => WAIT * ramp,
            Wait::Slowdown => WAIT * (ramp + FREEZE_ROUNDS),
        };
        let slowdown = FREEZE_ROUNDS * (FLOOR + window);
        let could = FREEZE_ROUNDS * self.capacity * self.rtt_s + (ramp + rounds) * window;
        (slowdown + rounds * window) / could
    }

    /// Returns the part of the link that is used, with the ramp's real length and what the queue covers.
    pub fn utilisation(&self, rule: &LedbatPp) -> f64 {
        let Alone { capacity, rtt_s, queuing_s } = *self;
        let growth = libm::log1p(rule.gain(rtt_s));
        let pipe = (capacity * rtt_s).max(FLOOR);
        let rounds = libm::log(pipe / FLOOR) / growth;
        let frozen = capacity * (FREEZE_ROUNDS * (rtt_s + queuing_s) - queuing_s) - FREEZE_ROUNDS * FLOOR;
        let lost = frozen.max(0.0) + pipe * rounds - (pipe - FLOOR) / growth;
        let length_s = FREEZE_ROUNDS * (rtt_s + queuing_s) + rtt_s * rounds + queuing_s / growth;
        1.0 - lost / ((WAIT + 1.0) * length_s * capacity)
    }
}

/// A slowdown of one flow while others keep the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    /// Its window before, packets.
    pub window: f64,
    /// A round trip with the queue, s.
    pub round_trip_s: f64,
    /// GAIN.
    pub gain: f64,
}

impl Slowdown {
    /// Returns the length of two round trips at the floor and the ramp, s.
    pub fn length_s(&self) -> f64 {
        let ramp = libm::log((self.window / FLOOR).max(1.0)) / libm::log1p(self.gain);
        (FREEZE_ROUNDS + ramp) * self.round_trip_s
    }

    /// Returns the time from one to the next, s.
    pub fn period_s(&self) -> f64 {
        (WAIT + 1.0) * self.length_s()
    }

    /// Returns the packets that it takes out of the queue: all in flight beyond the path is queued.
    pub fn taken(&self) -> f64 {
        (self.window - FLOOR).max(0.0)
    }
}

/// Long paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongPath {
    /// The link's capacity, packets/s.
    pub capacity: f64,
    /// TARGET, s.
    pub target_s: f64,
    /// How ramps are counted.
    pub ramp: Ramp,
}

/// A window that slowdowns bring back to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// s, packets: before a slowdown, and after its ramp.
    pub window: f64,
    /// The share of the window that remains after the overshoot.
    pub beta: f64,
    /// Round trip up to which it fills the link, s.
    pub threshold_s: f64,
}

impl Root {
    /// Returns whether it respects the rule that a decrease takes half the window at most.
    pub fn is_bounded(&self) -> bool {
        self.beta >= 0.5
    }

    /// Returns the part of a link with this bandwidth-delay product that it uses, if it does not fill it. Its window swings
    /// between β·s and s, and slowdowns take a tenth.
    pub fn utilisation(&self, bdp: f64) -> f64 {
        0.9 * (1.0 + self.beta) / 2.0 * self.window / bdp
    }
}

impl LongPath {
    /// Returns the root in the octave from 2^`octave` packets, if there is one.
    pub fn root(&self, octave: u32) -> Option<Root> {
        let from = power_of_two(octave);
        let skipped = self.skipped();
        let over = |s: f64| (s - from) / self.capacity / self.target_s - 1.0;
        // s·(1 − β) − 9·log₂ s, which rises throughout the octave as far as it is positive.
        let left_over = |s: f64| s * over(s) - WAIT * (libm::log2(s) - skipped);
        let (mut low, mut high) = (from, 2.0 * from);
        if left_over(high) <= 0.0 {
            return None;
        }
        // Halved until there is nothing between the two.
        loop {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if left_over(middle) > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        let beta = 1.0 - over(low);
        (beta > 0.0).then(|| Root { window: low, beta, threshold_s: beta * low / self.capacity })
    }

    /// Returns the lowest octave that a flow which grows cannot leave.
    pub fn lowest_trap(&self) -> Option<u32> {
        let is_trap = |octave: &u32| {
            let unharmed = power_of_two(*octave) + self.capacity * self.target_s;
            let largest = unharmed + WAIT * (libm::log2(unharmed) - self.skipped());
            largest < power_of_two(octave + 1)
        };
        (1..30).find(is_trap)
    }

    /// Returns the number of doublings of a ramp that it does without.
    fn skipped(&self) -> f64 {
        match self.ramp {
            Ramp::FromOne => 0.0,
            Ramp::FromTwo => 1.0,
        }
    }

    /// Returns all roots with windows up to 2^30 packets, ascending.
    pub fn roots(&self) -> Vec<Root> {
        (1..30).filter_map(|octave| self.root(octave)).collect()
    }
}

fn power_of_two(exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |power, _| 2.0 * power)
}

/// Returns the long-run share of one of two flows, as its gain and another's at equal loss: √GAIN (draft-01 §4.2).
pub fn share_at_equal_loss(gain: f64) -> f64 {
    libm::sqrt(gain)
}

/// Returns the share of the first of two flows that hold a queue of one target together. Rates are as `GAIN/(R + q)`, since
/// windows settle in proportion to gains (draft-01 §4.2-4.3).
pub fn share_of_two(rule: &LedbatPp, rtt_s: f64, other_rtt_s: f64) -> f64 {
    let rate = |rtt_s: f64| rule.gain(rtt_s) / (rtt_s + rule.target_s);
    rate(rtt_s) / (rate(rtt_s) + rate(other_rtt_s))
}
