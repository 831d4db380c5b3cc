//! When windows begin and end, at each place.

use afteryou_base::{Span, Time};
use afteryou_scenario::{Network, Scenario, Window};

/// Returns when a window of a scenario begins and ends.
pub fn edges(window: &Window) -> (Time, Time) {
    (Time(window.from.0 .0), Time(window.to.0 .0))
}

/// Returns the instants at which windows begin or end, ascending.
pub fn edges_of(scenario: &Scenario) -> Vec<Time> {
    let edges = scenario.measure.iter().flat_map(|window| [window.from, window.to]);
    let mut edges: Vec<Time> = edges.map(|at| Time(at.0 .0)).collect();
    edges.sort();
    edges.dedup();
    edges
}

/// Returns when a link has sent what arrives at a time, after `delay`.
pub fn sent_at(arrives: Time, delay: Span) -> Time {
    Time(arrives.0.saturating_sub(delay.0))
}

/// Returns the times at which windows begin or end at a link: for itself, and for those to whom data come from it.
pub fn edges_at(scenario: &Scenario, network: &Network, link: usize) -> Vec<Time> {
    let routes = network.flows_on(link).flat_map(|flow| network.routes_of(flow));
    let mut delays: Vec<Span> = routes.map(|route| route.forward_delay).chain([Span::ZERO]).collect();
    delays.sort();
    delays.dedup();
    let windows = scenario.measure.iter().flat_map(|window| <[Time; 2]>::from(edges(window)));
    windows
        .flat_map(|from| delays.iter().map(move |delay| sent_at(from, *delay)).collect::<Vec<_>>())
        .collect()
}
