//! A radio channel as a chain of states, each with a rate and an error rate, with repeat requests of the link layer.
//!
//! Model: the channel stays in a state for an exponential time and changes to another by fixed probabilities. In a
//! state it has a rate, and each transmission of a packet fails with the state's error rate. The link layer sends a
//! packet that failed again, one round later, up to this many times. Then the packet is lost (RFC 3366 §2:
//! persistence). Packets are delivered in order, so those behind wait.
//!
//! Source: the three states of a land mobile satellite channel are those of Fontán et al., "Statistical modeling of the LMS
//! channel", IEEE Trans. Veh. Technol. 50(6), 2001: line of sight, shadowed, blocked. The preset stands in for the private
//! 4G satellite trace of Kuhn et al. 2014 (S-band, suburban, 60 km/h, mean 2.3 Mbit/s). Its dwell times and error rates are our
//! choice, not fitted to that trace.
//!
//! The draws at a scenario's making: the chain is drawn then, and the scenario carries rate and error rate by steps. A
//! result is therefore a trace that can be replayed.
//!
//! Closed form: with mean dwell times dᵢ and visits vᵢ (the stationary law of the jumps), state i holds vᵢdᵢ/Σvd of the time.

use super::steps::Steps;
use afteryou_base::Span;
use afteryou_notation::{Duration, Probability, Rate};
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A state of the channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelState {
    /// The state's name.
    pub name: String,
    /// Its rate; 0 if nothing gets through.
    pub rate: Rate,
    /// Mean time in it.
    pub dwell: Duration,
    /// Probability that a transmission fails in it.
    pub error: Probability,
    /// How often each state follows it, relative to one another.
    pub next: Vec<f64>,
}

/// A chain of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Markov {
    states: Vec<ChannelState>,
    /// Share of the time in each.
    occupancy: Vec<f64>,
}

/// Repeat requests of the link layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arq {
    /// Probability that a transmission fails, from each time on.
    pub error: Steps<Probability>,
    /// Most transmissions of a packet.
    pub transmissions: u32,
    /// From a transmission that failed to the next.
    pub round: Duration,
}

/// Most states of a chain.
pub const MOST_STATES: usize = 16;
/// Most changes of state that are drawn.
const MOST_CHANGES: f64 = 1e6;
/// Rounds of iteration for the stationary law: its error shrinks at least with the chain's second eigenvalue.
const ITERATIONS: usize = 10_000;

impl Markov {
    /// Creates the chain of these states. The error names a state by its index and has the reason.
    ///
    /// # Errors
    /// A dwell time below 1 ms, and a state that no other one follows.
    pub fn new(states: Vec<ChannelState>) -> Result<Markov, (usize, String)> {
        for (i, state) in states.iter().enumerate() {
            if state.dwell.0 < Span::from_millis(1) {
                return Err((i, format!("a dwell time of {} is too short: use 1 ms or more", state.dwell)));
            }
            let others = state.next.iter().enumerate().filter(|(other, _)| *other != i);
            if others.map(|(_, weight)| weight).sum::<f64>() <= 0.0 {
                return Err((i, "no other state follows this one: write next = { … }".to_owned()));
            }
        }
        let mut markov = Markov { states, occupancy: Vec::new() };
        markov.occupancy = markov.stationary();
        Ok(markov)
    }

    /// Returns the channel of the preset `satellite`: mean 2.3 Mbit/s.
    pub fn satellite() -> Option<Markov> {
        let state = |name: &str, kbit: u64, dwell_ms, error, next: [f64; 3]| {
            Some(ChannelState {
                name: name.to_owned(),
                rate: Rate::from_bits(kbit * 1000),
                dwell: Duration::from_millis(dwell_ms),
                error: Probability::from_ratio(error)?,
                next: next.to_vec(),
            })
        };
        let states = vec![
            state("good", 2638, 3000, 0.001, [0.0, 1.0, 0.0])?,
            state("shadowed", 1319, 600, 0.1, [0.75, 0.0, 0.25])?,
            state("blocked", 0, 300, 1.0, [0.0, 1.0, 0.0])?,
        ];
        Markov::new(states).ok()
    }

    /// Returns the chain's states.
    pub fn states(&self) -> &[ChannelState] {
        &self.states
    }

    /// Returns the share of the time in each state.
    pub fn occupancy(&self) -> &[f64] {
        &self.occupancy
    }

    /// Returns the mean rate, bit/s.
    pub fn mean_rate(&self) -> f64 {
        let of = |(state, share): (&ChannelState, &f64)| state.rate.bits_per_second() as f64 * share;
        self.states.iter().zip(&self.occupancy).map(of).sum()
    }

    /// Returns the stationary law by iteration of the jumps; each second jump stays, so that chains that alternate settle,
    /// too.
    fn stationary(&self) -> Vec<f64> {
        let n = self.states.len();
        let mut visits = vec![1.0 / n as f64; n];
        for _ in 0..ITERATIONS {
            let mut after: Vec<f64> = visits.iter().map(|visit| visit / 2.0).collect();
            for (state, visit) in self.states.iter().zip(&visits) {
                let sum: f64 = state.next.iter().sum();
                for (after, weight) in after.iter_mut().zip(&state.next) {
                    *after += visit / 2.0 * weight / sum;
                }
            }
            let change: f64 = after.iter().zip(&visits).map(|(a, b)| (a - b).abs()).sum();
            visits = after;
            if change < 1e-14 {
                break;
            }
        }
        let times = self.states.iter().zip(&visits).map(|(state, visit)| visit * state.dwell.as_secs_f64());
        let times: Vec<f64> = times.collect();
        let sum: f64 = times.iter().sum();
        times.into_iter().map(|time| time / sum).collect()
    }

    /// Returns whether the duration has more changes of state than a scenario can sensibly have.
    pub fn is_too_long(&self, duration: Duration) -> bool {
        let shortest =
            self.states.iter().map(|state| state.dwell.as_secs_f64()).fold(f64::INFINITY, f64::min);
        duration.as_secs_f64() / shortest > MOST_CHANGES
    }

    /// Returns when the channel is in which state, drawn for a run of this duration; it begins in its stationary law.
    pub fn drawn(&self, duration: Duration, random: &mut Pcg64) -> Vec<(Duration, usize)> {
        let mut state = choose(&self.occupancy, random);
        let (mut at, mut visits) = (Duration::default(), Vec::new());
        while at < duration {
            visits.push((at, state));
            // In (0, 1], so that the logarithm exists.
            let left = 1.0 - crate::random::uniform(random);
            let stay = Span::from_secs_f64(-libm::log(left) * self.states[state].dwell.as_secs_f64());
            at = Duration(at.0 + stay.max(Span(1)));
            state = choose(&self.states[state].next, random);
        }
        visits
    }
}

/// Returns an index, drawn by weight.
fn choose(weights: &[f64], random: &mut Pcg64) -> usize {
    let sum: f64 = weights.iter().sum();
    let mut at = crate::random::uniform(random) * sum;
    for (i, weight) in weights.iter().enumerate() {
        at -= weight;
        if at < 0.0 {
            return i;
        }
    }
    weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const HOURS: u64 = 100;

    /// Returns the seconds in each state, of each hour.
    fn hours(markov: &Markov) -> Vec<Vec<f64>> {
        (0..HOURS)
            .map(|hour| {
                let end = Duration::from_millis(3_600_000);
                let visits = markov.drawn(end, &mut stream(hour, "test"));
                let mut times = vec![0.0; markov.states().len()];
                let ends = visits.iter().skip(1).map(|(at, _)| *at).chain([end]);
                for ((from, state), to) in visits.iter().zip(ends) {
                    times[*state] += (to.0 - from.0).as_secs_f64();
                }
                times
            })
            .collect()
    }

    #[test]
    fn the_satellite_is_in_each_state_as_long_as_the_closed_form_says() {
        let markov = Markov::satellite().unwrap();
        // Visits 0.75 : 1 : 0.25, times 3, 0.6, 0.3 s.
        let expected = [2.25 / 2.925, 0.6 / 2.925, 0.075 / 2.925];
        for (share, expected) in markov.occupancy().iter().zip(expected) {
            assert!((share - expected).abs() < 1e-12, "{share} {expected}");
        }
        assert!((markov.mean_rate() / 2.3e6 - 1.0).abs() < 2e-4, "{}", markov.mean_rate());
        let hours = hours(&markov);
        for (state, expected) in expected.into_iter().enumerate() {
            let shares: Vec<f64> = hours.iter().map(|times| times[state] / 3600.0).collect();
            let mean = shares.iter().sum::<f64>() / HOURS as f64;
            let variance = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>();
            let error = (variance / (HOURS * (HOURS - 1)) as f64).sqrt();
            assert!((mean - expected).abs() < 4.0 * error, "{mean} of {expected} ± {error}");
        }
    }

    #[test]
    fn times_in_a_state_are_exponential() {
        let visits =
            Markov::satellite().unwrap().drawn(Duration::from_millis(36_000_000), &mut stream(1, "test"));
        let pairs = visits.windows(2).filter(|pair| pair[0].1 == 0);
        let times: Vec<f64> = pairs.map(|pair| (pair[1].0 .0 - pair[0].0 .0).as_secs_f64()).collect();
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        assert!((mean - 3.0).abs() < 4.0 * 3.0 / n.sqrt(), "{mean} ± {}", 3.0 / n.sqrt());
        let beyond = times.iter().filter(|time| **time > 6.0).count() as f64 / n;
        let expected = libm::exp(-2.0);
        assert!((beyond - expected).abs() < 4.0 * (expected / n).sqrt(), "{beyond} of {expected}");
    }

    #[test]
    fn a_chain_that_goes_nowhere_is_refused() {
        let state = |dwell, next: [f64; 2]| ChannelState {
            name: String::new(),
            rate: Rate::from_mbit(1),
            dwell: Duration::from_millis(dwell),
            error: Probability::default(),
            next: next.to_vec(),
        };
        assert_eq!(Markov::new(vec![state(9, [0.0, 1.0]), state(9, [0.0, 1.0])]).unwrap_err().0, 1);
        assert_eq!(Markov::new(vec![state(0, [0.0, 1.0]), state(9, [1.0, 0.0])]).unwrap_err().0, 0);
        let even = Markov::new(vec![state(10, [0.0, 1.0]), state(30, [1.0, 0.0])]).unwrap();
        assert!((even.occupancy()[0] - 0.25).abs() < 1e-12);
    }
}
