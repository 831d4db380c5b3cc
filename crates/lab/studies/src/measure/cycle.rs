//! Measures of the slow-downs of LEDBAT++: `flow` names the sender, `from` and `to` bound the beginnings of slow-downs, s, and
//! `last` takes only that number of them, the last ones. The scenario must record senders and events; windows and delays are read from
//! the curves, so that `sample` of the scenario must be short beside a round trip.
//!
//! ```text
//!   began          ramped                ended                                    next
//!     |-- freeze -----|------ ramp ---------|--- drop --- lowest --- growth ---------|-- freeze …
//! ```

use super::curve::points_of;
use super::{is, known, nothing, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{Outcome, PhaseSpan};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "slowdown_period",
        help: "mean time from a slow-down to the next one over the slow-down's own length",
        take: period,
    },
    Measure {
        name: "slowdown_variation",
        help: "coefficient of variation of the times from a slow-down to the next one",
        take: variation,
    },
    Measure {
        name: "slowdown_peaks",
        help: "spread of the largest windows of the cycles over their mean",
        take: peaks,
    },
    Measure { name: "ramp_drop", help: "part of the window that is lost right after a ramp", take: drop },
    Measure {
        name: "ramp_gain",
        help: "growth of the window after that drop, until the next slow-down, over the drop",
        take: gain,
    },
    Measure {
        name: "ramp_rtt",
        help: "the smallest of the cycles' largest round-trip times from the ramp until the window is lowest, ms",
        take: ramp_rtt,
    },
    Measure {
        name: "linear_rtt",
        help: "round-trip time while the window grows linearly, ms: `part` of the time it is not longer",
        take: linear_rtt,
    },
    Measure {
        name: "ramps_cut",
        help: "part of the ramps in which a packet is dropped before the saved window is reached",
        take: ramps_cut,
    },
    Measure {
        name: "least_in_slowdown",
        help: "least payload that arrives in a round trip of a slow-down, packets; its mean over the slow-downs",
        take: least_in_slowdown,
    },
];

/// A slow-down and the time until the next one.
struct Cycle {
    began: f64,
    ramped: f64,
    ended: f64,
    next: f64,
}

fn phases<'a>(
    outcome: &'a Outcome,
    args: &'a Args,
    phase: &'a str,
) -> Result<impl Iterator<Item = &'a PhaseSpan>> {
    let flow = args.needed_text("flow")?;
    let phases = outcome.run.phases.iter();
    Ok(phases.filter(move |span| span.phase == phase && is(outcome, &span.flow, flow)))
}

/// Returns the cycles that a later slow-down ends.
fn cycles(outcome: &Outcome, args: &Args) -> Result<Vec<Cycle>> {
    let freezes: Vec<&PhaseSpan> = phases(outcome, args, "slowdown freeze")?.collect();
    let ramps: Vec<&PhaseSpan> = phases(outcome, args, "slowdown ramp")?.collect();
    let (from, to) = (args.number("from").unwrap_or(0.0), args.number("to").unwrap_or(f64::INFINITY));
    let cycle = |pair: &[&PhaseSpan]| {
        let (began, next) = (pair[0].from_s, pair[1].from_s);
        let ramp = ramps.iter().find(|ramp| (began..next).contains(&ramp.from_s))?;
        Some(Cycle { began, ramped: ramp.from_s, ended: ramp.to_s, next })
    };
    let whole = freezes.windows(2).filter_map(cycle);
    let mut found: Vec<Cycle> = whole.filter(|cycle| (from..=to).contains(&cycle.began)).collect();
    let last = args.number("last").map_or(found.len(), |last| last as usize);
    found.drain(..found.len().saturating_sub(last));
    match found.is_empty() {
        false => Ok(found),
        true => Err(nothing("the run has no slow-down with another one after it in that time")),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn period(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let cycles = cycles(outcome, args)?;
    let periods = cycles.iter().map(|cycle| (cycle.next - cycle.began) / (cycle.ended - cycle.began));
    Ok(mean(&periods.collect::<Vec<_>>()).into())
}

fn variation(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let times: Vec<f64> = cycles(outcome, args)?.iter().map(|cycle| cycle.next - cycle.began).collect();
    let mean = mean(&times);
    let squares = times.iter().map(|time| (time - mean) * (time - mean)).sum::<f64>();
    Ok(((squares / times.len() as f64).sqrt() / mean).into())
}

/// Returns the points of a curve from `from` until `to`; there is one at least. A point holds until the next one, so that
/// the last one before `to` belongs to what follows.
fn between(curve: &[[f64; 2]], from: f64, to: f64) -> Result<&[[f64; 2]]> {
    let begin = curve.partition_point(|[at, _]| *at < from);
    let end = curve.partition_point(|[at, _]| *at < to).saturating_sub(1);
    let part = curve.get(begin..end).filter(|part| !part.is_empty());
    part.ok_or_else(|| nothing("a phase is shorter than the curve's step"))
}

fn largest(points: &[[f64; 2]]) -> f64 {
    points.iter().map(|[_, y]| *y).fold(f64::NEG_INFINITY, f64::max)
}

/// The window of a cycle at its turning points, kB.
struct Swing {
    peak: f64,
    lowest: f64,
    lowest_at: f64,
    saved: f64,
}

fn swing(windows: &[[f64; 2]], cycle: &Cycle) -> Result<Swing> {
    let after = between(windows, cycle.ended, cycle.next)?;
    let [lowest_at, lowest] = after
        .iter()
        .copied()
        .reduce(|low, next| if next[1] < low[1] { next } else { low })
        .unwrap_or(after[0]);
    let saved = after[after.len() - 1][1];
    let peak = largest(between(windows, cycle.ramped, cycle.next)?);
    Ok(Swing { peak, lowest, lowest_at, saved })
}

fn swings(outcome: &Outcome, args: &Args) -> Result<Vec<Swing>> {
    let windows = points_of(outcome, args.needed_text("flow")?, "cwnd")?;
    cycles(outcome, args)?.iter().map(|cycle| swing(&windows, cycle)).collect()
}

fn peaks(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let peaks: Vec<f64> = swings(outcome, args)?.iter().map(|swing| swing.peak).collect();
    let least = peaks.iter().copied().fold(f64::INFINITY, f64::min);
    let most = peaks.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok(((most - least) / mean(&peaks)).into())
}

fn drop(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let swings = swings(outcome, args)?;
    Ok(mean(&swings.iter().map(|s| (s.peak - s.lowest) / s.peak).collect::<Vec<_>>()).into())
}

fn gain(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let swings = swings(outcome, args)?;
    Ok(mean(&swings.iter().map(|s| (s.saved - s.lowest) / (s.peak - s.lowest)).collect::<Vec<_>>()).into())
}

/// Returns the round-trip time over time, ms: the least base delay of `flow` and the bottleneck's queue.
fn round_trips(outcome: &Outcome, args: &Args) -> Result<Vec<[f64; 2]>> {
    let bases = points_of(outcome, args.needed_text("flow")?, "base_delay")?;
    let base = bases.iter().map(|[_, y]| *y).fold(f64::INFINITY, f64::min);
    Ok(points_of(outcome, "link", "queuing_delay")?
        .into_iter()
        .map(|[at, delay]| [at, base + delay])
        .collect())
}

fn ramp_rtt(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (times, swings) = (round_trips(outcome, args)?, swings(outcome, args)?);
    let peak = |(cycle, swing): (&Cycle, &Swing)| {
        Ok(largest(between(&times, cycle.ramped, swing.lowest_at.max(cycle.ended + times[0][1] / 1e3))?))
    };
    let peaks: Vec<f64> = cycles(outcome, args)?.iter().zip(&swings).map(peak).collect::<Result<_>>()?;
    Ok(peaks.into_iter().fold(f64::INFINITY, f64::min).into())
}

/// Returns the round-trip time of the linear growth. That is taken from two round trips after the lowest window, when the
/// queue of the ramp is gone.
fn linear_rtt(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (times, swings) = (round_trips(outcome, args)?, swings(outcome, args)?);
    let mut linear = Vec::new();
    for (cycle, swing) in cycles(outcome, args)?.iter().zip(&swings) {
        let settled = swing.lowest_at + 2.0 * times[0][1] / 1e3;
        linear.extend(between(&times, settled, cycle.next)?.iter().map(|[_, y]| *y));
    }
    linear.sort_by(f64::total_cmp);
    let rank = (args.needed_number("part")? * linear.len() as f64).ceil() as usize;
    Ok(linear[rank.clamp(1, linear.len()) - 1].into())
}

fn ramps_cut(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (flow, cycles) = (args.needed_text("flow")?, cycles(outcome, args)?);
    let losses: Vec<f64> = (outcome.run.events.iter())
        .filter(|event| event.what == "drop" && is(outcome, &event.flow, flow))
        .map(|event| event.at_s)
        .collect();
    let is_cut = |cycle: &&Cycle| losses.iter().any(|at| (cycle.ramped..=cycle.ended).contains(at));
    Ok((cycles.iter().filter(is_cut).count() as f64 / cycles.len() as f64).into())
}

/// Returns the least payload in flight in a slow-down: by Little's law it is the payload that arrives in a round trip.
fn least_in_slowdown(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let flow = args.needed_text("flow")?;
    let rates = points_of(outcome, flow, "goodput")?;
    let payload = known(outcome, flow)?.packet_format().payload.bytes() as f64;
    let rtt =
        points_of(outcome, flow, "base_delay")?.iter().map(|[_, y]| *y / 1e3).fold(f64::INFINITY, f64::min);
    let step = rates.get(1).map_or(f64::INFINITY, |next| next[0] - rates[0][0]);
    let steps = (rtt / step).ceil().max(1.0) as usize;
    let least = |cycle: &Cycle| -> Result<f64> {
        // What was sent at the floor arrives half a round trip later, at the end of the freeze and at the ramp's beginning.
        let arriving = between(&rates, cycle.began, cycle.ramped + rtt)?;
        let bits = arriving
            .windows(steps.min(arriving.len()))
            .map(|part| part.iter().map(|[_, rate]| rate * 1e6 * step).sum::<f64>());
        Ok(bits.fold(f64::INFINITY, f64::min) / 8.0 / payload)
    };
    let all: Vec<f64> = cycles(outcome, args)?.iter().map(least).collect::<Result<_>>()?;
    Ok(mean(&all).into())
}

#[cfg(test)]
mod tests;
