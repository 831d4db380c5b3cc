//! `[fluid]`: settings of the fluid engine alone.

use crate::error::Problem;
use crate::keys::{BASE, FEEDBACK, FLUID, PACING, RTT, SLOWDOWNS};
use crate::limits::MOST_TRIALS;
use crate::read::{at, check_keys, count, optional, pair, table, text, wanted, Result};
use crate::tree::{Node, Value};
use afteryou_notation::unknown;
use afteryou_scenario::fluid::{Base, Feedback, Fluid, Pacing, RoundTrip, Slowdowns, FLOORS};
use afteryou_scenario::random::{stream, uniform};

/// Most packets that a flow or the queue begins with: more are no network.
const MOST_PACKETS: f64 = 1e9;

/// Reads the section; the windows of `flows` are drawn from streams of `seed` that belong to their names.
pub(crate) fn fluid<'a>(node: &Node, flows: impl Iterator<Item = &'a str>, seed: u64) -> Result<Fluid> {
    let fields = table(node)?;
    check_keys(fields, "fluid", FLUID)?;
    trials(node)?;
    let word =
        |name: &str, words: &[&str]| fields.get(name).map(|node| one_of(node, name, words)).transpose();
    let window = fields.get("window").map(window).transpose()?;
    let draw = |(from, to): (f64, f64)| {
        let draw =
            |name: &str| from + (to - from) * uniform(&mut stream(seed, &format!("flow {name} window")));
        flows.map(draw).collect()
    };
    Ok(Fluid {
        rtt: word("rtt", RTT)?
            .map_or(RoundTrip::default(), |i| [RoundTrip::Constant, RoundTrip::WithQueue][i]),
        feedback: word("feedback", FEEDBACK)?
            .map_or(Feedback::default(), |i| [Feedback::AtOnce, Feedback::Delayed][i]),
        base: word("base", BASE)?.map_or(Base::default(), |i| [Base::Known, Base::Measured][i]),
        slowdowns: word("slowdowns", SLOWDOWNS)?
            .map_or(Slowdowns::default(), |i| [Slowdowns::Events, Slowdowns::Mean][i]),
        pacing: word("pacing", PACING)?.map_or(Pacing::default(), |i| [Pacing::All, Pacing::ByTransport][i]),
        floor: fields.get("floor").map(floor).transpose()?,
        step: optional(fields, "step")?,
        windows: window.map(draw).unwrap_or_default(),
        queue: fields.get("queue").map(packets).transpose()?,
    })
}

/// Reads how often the section asks to be run, with start values drawn anew each time.
pub(crate) fn trials(node: &Node) -> Result<Option<u32>> {
    let trials = table(node)?.get("trials");
    trials.map(|node| count(node, 1..=MOST_TRIALS).map(|trials| trials as u32)).transpose()
}

fn one_of(node: &Node, what: &str, words: &[&str]) -> Result<usize> {
    let word = text(node)?;
    let place = words.iter().position(|known| *known == word);
    place.map_or_else(|| at(node, Err(unknown(format!("{what} of [fluid]"), word, words))), Ok)
}

/// Reads a window, or a range of windows.
fn window(node: &Node) -> Result<(f64, f64)> {
    let Value::Table(fields) = &node.value else { return packets(node).map(|window| (window, window)) };
    let [(key, range)] = fields.entries.as_slice() else { return Err(not_a_window(node)) };
    if key.name != "uniform" {
        return Err(not_a_window(node));
    }
    let [from, to] = pair(range)?;
    match (packets(from)?, packets(to)?) {
        (from, to) if from <= to => Ok((from, to)),
        _ => Err(Problem::new(&range.place, "the first value is larger than the second: swap them")),
    }
}

fn not_a_window(node: &Node) -> Problem {
    wanted(node, "packets, such as \"10 packets\", or { uniform = [\"1 packet\", \"100 packets\"] }")
}

fn packets(node: &Node) -> Result<f64> {
    packets_within(node, 0.0..=MOST_PACKETS, "packets, such as \"10 packets\"")
}

/// Reads the smallest window.
fn floor(node: &Node) -> Result<f64> {
    packets_within(node, FLOORS, "0.001 to 1000 packets, such as \"0.1 packets\"")
}

fn packets_within(node: &Node, range: std::ops::RangeInclusive<f64>, expected: &str) -> Result<f64> {
    let refused = || wanted(node, expected);
    let Value::Text(written) = &node.value else { return Err(refused()) };
    let number = written.trim().strip_suffix("packets").or(written.trim().strip_suffix("packet"));
    let number: f64 = number.and_then(|number| number.trim().parse().ok()).ok_or_else(refused)?;
    match range.contains(&number) {
        true => Ok(number),
        false => Err(refused()),
    }
}
