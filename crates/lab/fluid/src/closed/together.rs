//! Flows of several rules at one bottleneck: their common equilibrium.
//!
//! # Model
//! All see the same queuing delay q, and each rule has one window at rest for it:
//!
//! ```text
//!   LEDBAT          any W at q = τ                   grows without end below, sinks to its floor above
//!   fLEDBAT         W = α/(ζ·(q/τ − 1)) above τ      grows without end below
//!   LEDBAT++        the same with GAIN and Constant for α and ζ, between slowdowns
//!   constant rate   W/(R + q) is given
//! ```
//! kept between the floor and the largest window. The longer the queue, the smaller the windows and the longer the
//! round trips: `Σ W/(R + q)` falls in q. So there is one q at which it is the link's capacity. If that is the target
//! of a LEDBAT, the sum jumps there, and LEDBAT takes the rest. Several LEDBATs divide it by how they began.
//!
//! So the highest target decides. A flow with less demand has the window of its rule at that delay, the floor as a
//! rule. A LEDBAT beside a fLEDBAT or LEDBAT++ of the same target sinks to its floor. Those always add and keep the
//! queue a little above the target. Two LEDBAT++ of one target have rates as `GAIN/(R + q)`
//! ([`share_of_two`](super::ledbatpp::share_of_two)).
//!
//! # Source
//! Ours, from the rules in [`model`](crate::model).
//!
//! # Not modelled
//! Slowdowns. The base delay that a flow assumes if it starts late. Whether the rest is stable
//! ([`DelayLoop`](super::DelayLoop)).
//!
//! # Known bad cases
//! - A rest beyond the buffer is never reached: losses rule.
//! - LEDBAT++ holds the queue above its target by less than a packet, so single packets decide. Shares of different
//!   paths: on 10 Mbit/s the simulator gives a path of 100 ms 52 % beside one of 200 ms and 54 % beside one of 20 ms.
//!   The closed form gives 45 and 60. LEDBAT beside it with the same target should sink to 2 % and stays at 19 %.
//!   fLEDBAT with ζ = 0.1 is some packets above; the closed form and the simulator agree there.
//! - In slowdowns the queue is below the target, and a LEDBAT of the same target wins back some: 24 %.

/// A flow's window at a queuing delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// LEDBAT: its window is constant only at this delay, s.
    At(f64),
    /// fLEDBAT and LEDBAT++: constant growth against a decrease in proportion to window and excess.
    Above {
        /// τ, s.
        target_s: f64,
        /// α, packets per round trip.
        alpha: f64,
        /// ζ.
        zeta: f64,
    },
    /// A constant rate, packets per second.
    Constant(f64),
}

/// Flows of one rule, one round trip and one packet size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Party {
    /// The number of flows.
    pub flows: u32,
    /// Base round-trip time, s.
    pub rtt_s: f64,
    /// The share of the link that one packet takes.
    pub size: f64,
    /// Smallest window, packets.
    pub floor: f64,
    /// Largest window, packets.
    pub most: f64,
    /// The rule.
    pub law: Law,
}

impl Party {
    /// Returns the target of a rule that always adds, s.
    pub fn always_adds(&self) -> Option<f64> {
        match self.law {
            Law::Above { target_s, .. } => Some(target_s),
            Law::At(_) | Law::Constant(_) => None,
        }
    }

    /// Returns the window at this queuing delay, packets; without end below a target.
    fn window(&self, queuing_s: f64) -> f64 {
        let steered = match self.law {
            Law::Constant(rate) => return rate * (self.rtt_s + queuing_s),
            Law::At(target_s) if queuing_s > target_s => 0.0,
            Law::Above { target_s, alpha, zeta } if queuing_s > target_s => {
                alpha / (zeta * (queuing_s / target_s - 1.0))
            }
            Law::At(_) | Law::Above { .. } => f64::INFINITY,
        };
        steered.max(self.floor).min(self.most)
    }

    /// Returns the share of the link that its flows take at this queuing delay.
    fn demand(&self, queuing_s: f64) -> f64 {
        let rate = match self.law {
            Law::Constant(rate) => rate,
            _ => self.window(queuing_s) / (self.rtt_s + queuing_s),
        };
        f64::from(self.flows) * self.size * rate
    }
}

/// A party's share at the equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// Each flow has this window, packets.
    Window(f64),
    /// The party's smallest window.
    Floor(f64),
    /// It divides what the others leave with all that have this share, by how they began.
    Rest,
}

/// The parties' equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// Queuing delay, s; nothing if they do not fill the link.
    pub queuing_s: f64,
    /// Of each party.
    pub shares: Vec<Share>,
    /// Part of the link that is left for those that divide the rest.
    pub left_over: f64,
}

/// Constant rates that leave next to nothing have no rest worth looking for beyond this queue, s.
const LONGEST_S: f64 = 1e9;
/// Halvings of the interval that holds the delay: down to the last bit.
const ROUNDS: u32 = 200;

impl Together {
    /// Returns the equilibrium of parties that fill a link of this capacity; none if their constant rates alone fill
    /// it.
    pub fn of(parties: &[Party], capacity: f64) -> Option<Together> {
        let demand = |queuing_s: f64| parties.iter().fold(0.0, |sum, party| sum + party.demand(queuing_s));
        let constant = parties.iter().filter(|party| matches!(party.law, Law::Constant(_)));
        if constant.fold(0.0, |sum, party| sum + party.demand(0.0)) >= capacity {
            return None;
        }
        let fits = |queuing_s: f64| demand(queuing_s) <= capacity;
        // Too much is asked for at `low`, and no more than fits at `high`.
        let (mut low, mut high) = (0.0, 0.0);
        if !fits(0.0) {
            high = 1.0;
            while !fits(high) && high < LONGEST_S {
                (low, high) = (high, 2.0 * high);
            }
            for _ in 0..ROUNDS {
                let middle = low + (high - low) / 2.0;
                if middle <= low || middle >= high {
                    break;
                }
                *(if fits(middle) { &mut high } else { &mut low }) = middle;
            }
        }
        let share = |party: &Party| match party.law {
            Law::At(target_s) if low < high && (low..=high).contains(&target_s) => Share::Rest,
            _ if party.floor < party.most && party.window(high) <= party.floor => Share::Floor(party.floor),
            _ => Share::Window(party.window(high)),
        };
        let shares: Vec<Share> = parties.iter().map(share).collect();
        let taken = parties.iter().zip(&shares).filter(|(_, share)| **share != Share::Rest);
        let taken = taken.fold(0.0, |sum, (party, _)| sum + party.demand(high));
        Some(Together { queuing_s: high, shares, left_over: 1.0 - taken / capacity })
    }
}
