//! Bounds that no file of good will meets. Without them a short file could ask for all memory and all time. Each table
//! is copied for each flow, and each flow for each run.

use afteryou_scenario::scenario::Scenario;

/// Largest file that is read, bytes.
pub(crate) const LARGEST_FILE: u64 = 4 << 20;
/// Most runs that a file may stand for.
pub(crate) const MOST_RUNS: u64 = 100_000;
/// Most runs with start values drawn anew.
pub(crate) const MOST_TRIALS: u64 = MOST_RUNS;
/// Most flows of a run.
pub(crate) const MOST_FLOWS: u64 = 20_000;
/// Most parts of all runs together: flows, times of activity, windows, scripted packets.
pub(crate) const MOST_PARTS: u64 = 1_000_000;
/// Most links of a run.
pub(crate) use afteryou_scenario::network::MOST_LINKS;
/// Most windows of a run.
pub(crate) const MOST_WINDOWS: usize = 1000;
/// Most times of activity of a flow.
pub(crate) const MOST_INTERVALS: usize = 1000;
/// Most settings that vary: each doubles the number of runs at least.
pub(crate) const MOST_AXES: usize = 20;
/// Longest word, number or key, bytes.
pub(crate) const LONGEST_TEXT: usize = 500;

/// Returns the number of a scenario's parts.
pub(crate) fn parts(scenario: &Scenario) -> u64 {
    let Scenario { flow, measure, drop, delay, route_change, further_links, .. } = scenario;
    let hosts: usize = scenario.hosts.iter().map(|hosts| hosts.host.len()).sum();
    let intervals: usize = flow.iter().map(|flow| flow.active.len()).sum();
    let paths = flow.iter().filter_map(|flow| flow.path.as_ref());
    let hops: usize = paths.map(|path| path.forward.len() + path.reverse.len()).sum();
    (flow.len()
        + intervals
        + hops
        + measure.len()
        + drop.len()
        + delay.len()
        + route_change.len()
        + further_links.len()
        + hosts) as u64
}
