//! Runs with too many flows to list: flows that were written together are shown together.

use afteryou_scenario::outcome::{FlowFigures, Totals};
use afteryou_scenario::{Role, Scenario};
use std::borrow::Cow;

/// More flows than this are shown as groups.
const MOST_ROWS: usize = 24;

/// Under which name a flow is shown.
fn shown_as<'a>(scenario: &'a Scenario, name: &'a str) -> &'a str {
    let flow = scenario.flow.iter().find(|flow| flow.name == name);
    match flow.map(|flow| (flow.group.as_deref(), flow.role)) {
        Some((Some(group), _)) => group,
        Some((None, Role::Foreground)) => "foreground",
        Some((None, Role::Background)) => "background",
        None => name,
    }
}

/// Groups in the order of their first members.
fn grouped<'a, T>(
    scenario: &'a Scenario,
    items: &'a [T],
    name: fn(&T) -> &str,
) -> Vec<(&'a str, Vec<&'a T>)> {
    let mut groups: Vec<(&str, Vec<&T>)> = Vec::new();
    for item in items {
        let shown = shown_as(scenario, name(item));
        match groups.iter_mut().find(|(known, _)| *known == shown) {
            Some((_, members)) => members.push(item),
            None => groups.push((shown, vec![item])),
        }
    }
    groups
}

/// Figures of flows, or of groups of them: rates and shares are sums.
pub fn figures<'a>(scenario: &'a Scenario, flows: &'a [FlowFigures]) -> Cow<'a, [FlowFigures]> {
    if flows.len() <= MOST_ROWS {
        return Cow::Borrowed(flows);
    }
    let sum = |(name, members): (&str, Vec<&FlowFigures>)| FlowFigures {
        flow: format!("{name} ({} flows)", members.len()),
        role: members[0].role,
        goodput_bit_s: members.iter().map(|flow| flow.goodput_bit_s).sum(),
        share_of_payload_capacity: members.iter().map(|flow| flow.share_of_payload_capacity).sum(),
        queuing_delay: None,
    };
    grouped(scenario, flows, |flow| &flow.flow).into_iter().map(sum).collect()
}

/// What flows did in all, or groups of them: everything is summed but the time to completion, which is the longest.
pub fn totals<'a>(scenario: &'a Scenario, totals: &'a [Totals]) -> Cow<'a, [Totals]> {
    if totals.len() <= MOST_ROWS {
        return Cow::Borrowed(totals);
    }
    let sum = |(name, members): (&str, Vec<&Totals>)| {
        let of = |pick: fn(&Totals) -> u64| members.iter().map(|totals| pick(totals)).sum();
        Totals {
            flow: format!("{name} ({} flows)", members.len()),
            packets: of(|totals| totals.packets),
            retransmissions: of(|totals| totals.retransmissions),
            losses: of(|totals| totals.losses),
            spurious: of(|totals| totals.spurious),
            timeouts: of(|totals| totals.timeouts),
            received_bytes: of(|totals| totals.received_bytes),
            completed_in_s: members.iter().filter_map(|totals| totals.completed_in_s).max_by(f64::total_cmp),
        }
    };
    grouped(scenario, totals, |totals| &totals.flow).into_iter().map(sum).collect()
}
