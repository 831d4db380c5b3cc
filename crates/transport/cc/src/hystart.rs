//! HyStart++: leave slow start when the round-trip time begins to rise, before a whole window is lost.
//!
//! # Model
//! Slow start doubles the window until the queue overflows, and then loses about as much as it has in flight. A queue
//! shows first in the delay. When the smallest round-trip time of a round exceeds that of the round before by an
//! eighth, the path is probably full. Probably is not surely, so growth first only slows down (conservative slow
//! start); if the delay falls again, it was noise.
//!
//! ```text
//!   rise = clamp(last round's minimum / 8, 4 ms, 16 ms)
//! ```
//!
//! # States
//! ```text
//!              minimum of this round ≥ last + rise
//!   slow start ──────────────────────────────────▶ conservative ──5 rounds──▶ leave: congestion avoidance
//!        ▲                                            │
//!        └──minimum of this round < that at entry─────┘
//! ```
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | MIN_RTT_THRESH | 4 ms | §4.3: below it is jitter |
//! | MAX_RTT_THRESH | 16 ms | §4.3: on long paths an eighth would be a large queue |
//! | MIN_RTT_DIVISOR | 8 | §4.3 |
//! | N_RTT_SAMPLE | 8 | §4.3: with fewer samples the minimum says little |
//! | CSS_GROWTH_DIVISOR | 4 | §4.3 |
//! | CSS_ROUNDS | 5 | §4.3; the round in which it began counts |
//!
//! # Source
//! RFC 9406 (May 2023), sections at each rule. A controller uses it in its initial slow start only (§4.3, SHOULD) and
//! drops it at the first congestion event.
//!
//! # Not implemented
//! The limit L on what one ack may add (§4.2): transports here pace, for which §4.3 lifts it.
//!
//! # Known bad cases
//! A reverse path that fills up looks the same. Fewer than eight samples in a round, as with small windows or an
//! application that limits the sender, never leave.

use crate::event::Ack;
use afteryou_base::units::Span;

pub mod linux;

/// Least rise of the round-trip time that counts (§4.3).
pub const MIN_RTT_THRESH: Span = Span::from_millis(4);
/// A rise that counts on any path (§4.3).
pub const MAX_RTT_THRESH: Span = Span::from_millis(16);
/// Between the two, this part of the round-trip time (§4.3).
pub const MIN_RTT_DIVISOR: u64 = 8;
/// Samples that make a round's minimum credible (§4.3).
pub const N_RTT_SAMPLE: u32 = 8;
/// Conservative slow start grows this many times more slowly (§4.3).
pub const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start (§4.3).
pub const CSS_ROUNDS: u32 = 5;

/// The action of slow start on an ack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// Add the acknowledged bytes, divided by this.
    Grow {
        /// 1 in slow start, 4 in conservative slow start.
        divisor: f64,
    },
    /// Slow start is over.
    Leave,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Conservative {
    /// The smallest round-trip time of the round in which it began.
    baseline: Span,
    /// Rounds that have ended in it.
    rounds: u32,
}

/// Watches the round-trip times of a slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HyStart {
    last_min: Option<Span>,
    current_min: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Returns the distance of a round's minimum above `last_min` from which it counts as a queue (§4.2).
pub fn rtt_threshold(last_min: Span) -> Span {
    (last_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

impl HyStart {
    /// Takes in an ack and returns how the window may grow by it.
    pub fn on_ack(&mut self, ack: &Ack) -> Advice {
        if ack.round_start && self.end_round() {
            return Advice::Leave;
        }
        // §4.2 grows first and looks afterwards: the ack that changes the phase counts for the old one.
        let divisor = if self.is_conservative() { CSS_GROWTH_DIVISOR } else { 1.0 };
        if let Some(rtt) = ack.rtt {
            self.current_min = Some(self.current_min.map_or(rtt, |min| min.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
        self.compare();
        Advice::Grow { divisor }
    }

    /// Returns whether growth has slowed down.
    pub fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }

    /// Shifts the minima by a round (§4.2); returns `true` after the last round of conservative slow start.
    fn end_round(&mut self) -> bool {
        self.last_min = self.current_min.take();
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else {
            return false;
        };
        conservative.rounds += 1;
        conservative.rounds >= CSS_ROUNDS
    }

    /// Checks whether the delay has risen, or whether the rise was a mistake (§4.2).
    fn compare(&mut self) {
        let Some(current) = self.current_min.filter(|_| self.samples >= N_RTT_SAMPLE) else {
            return;
        };
        if let Some(conservative) = self.conservative {
            if current < conservative.baseline {
                self.conservative = None;
            }
            return;
        }
        if self.last_min.is_some_and(|last| current >= last + rtt_threshold(last)) {
            self.conservative = Some(Conservative { baseline: current, rounds: 0 });
        }
    }
}

#[cfg(test)]
mod tests;
