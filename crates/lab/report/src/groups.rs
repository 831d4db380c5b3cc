//! Runs with too many flows to list: flows that were written together are shown together.

use afteryou_scenario::outcome::{Comparison, CompletionCost, FlowFigures, Outcome, Totals};
use afteryou_scenario::{Flow, Role, Scenario};
use std::borrow::Cow;
use std::collections::HashMap;

/// More flows than this are shown as groups.
pub const MOST_ROWS: usize = 24;

/// Under which name each flow of a scenario is shown with others.
struct Names<'a>(HashMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    fn of(scenario: &'a Scenario) -> Names<'a> {
        let shown = |flow: &'a Flow| match (flow.group.as_deref(), flow.role) {
            (Some(group), _) => group,
            (None, Role::Foreground) => "foreground",
            (None, Role::Background) => "background",
        };
        Names(scenario.flow.iter().map(|flow| (flow.name.as_str(), shown(flow))).collect())
    }

    fn shown_as(&self, flow: &'a str) -> &'a str {
        self.0.get(flow).copied().unwrap_or(flow)
    }
}

/// Returns the groups in the order of their first members.
fn grouped<'a, T>(
    scenario: &'a Scenario,
    items: &'a [T],
    name: fn(&T) -> &str,
) -> Vec<(&'a str, Vec<&'a T>)> {
    let names = Names::of(scenario);
    members(items, |item| names.shown_as(name(item)))
}

/// Returns items of one name together, in the order of their first members.
pub fn members<'a, T>(items: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<(&'a str, Vec<&'a T>)> {
    let mut groups: Vec<(&str, Vec<&T>)> = Vec::new();
    let mut places = HashMap::new();
    for item in items {
        let name = name(item);
        let place = *places.entry(name).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, members)) => members.push(item),
            None => groups.push((name, vec![item])),
        }
    }
    groups
}

/// Returns the figures of flows, or of groups of them: rates and shares are sums.
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
        sender: None,
    };
    grouped(scenario, flows, |flow| &flow.flow).into_iter().map(sum).collect()
}

/// Sums over flows, or over groups of them. Completion times have a table of their own.
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
            handshake_timeouts: of(|totals| totals.handshake_timeouts),
            received_bytes: of(|totals| totals.received_bytes),
            completed_in_s: None,
            completions: None,
        }
    };
    grouped(scenario, totals, |totals| &totals.flow).into_iter().map(sum).collect()
}

/// Returns the part that flows or groups kept in each window: means over those for which it is known.
pub fn comparison(outcome: &Outcome) -> Cow<'_, [Comparison]> {
    let compared = &outcome.comparison;
    let windows = || compared.chunk_by(|one, other| one.window == other.window);
    if windows().all(|window| window.len() <= MOST_ROWS) {
        return Cow::Borrowed(compared);
    }
    let mean = |(name, members): (&str, Vec<&Comparison>)| {
        let of = |pick: fn(&Comparison) -> Option<f64>| {
            let known: Vec<f64> = members.iter().filter_map(|compared| pick(compared)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        Comparison {
            window: members[0].window.clone(),
            flow: format!("{name} (mean of {} flows)", members.len()),
            completion: CompletionCost::together(
                &members.iter().map(|compared| compared.completion).collect::<Vec<_>>(),
            ),
            kept: of(|compared| compared.kept),
            added_delay_p95_ms: of(|compared| compared.added_delay_p95_ms),
            added_delay_mean_ms: of(|compared| compared.added_delay_mean_ms),
        }
    };
    windows()
        .flat_map(|window| grouped(&outcome.scenario, window, |compared| &compared.flow))
        .map(mean)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::outcome::Run;
    use afteryou_scenario::{Buffer, Duration, Link, Rate};

    /// Returns an outcome with `uploads` uploads of one table of the file, compared with runs without background in two
    /// windows.
    fn outcome(uploads: usize) -> Outcome {
        let link = Link::new(Rate::from_mbit(10), Buffer::Time(Duration::from_millis(100)));
        let flow = |i: usize| Flow {
            group: Some("upload".to_owned()),
            ..Flow::new(format!("upload-{i}"), Role::Foreground, "cubic", Duration::from_millis(40))
        };
        let flows = (0..uploads).map(flow).collect();
        let scenario = Scenario { flow: flows, ..Scenario::new("many", Duration::from_millis(1000), link) };
        let compared = |window: &str, i: usize| Comparison {
            window: window.to_owned(),
            flow: format!("upload-{i}"),
            completion: CompletionCost::default(),
            kept: (i > 0).then_some(if window == "early" { 0.5 } else { 1.0 }),
            added_delay_p95_ms: None,
            added_delay_mean_ms: None,
        };
        let windows = ["early", "late"].into_iter();
        let comparison = windows.flat_map(|window| (0..uploads).map(move |i| compared(window, i))).collect();
        Outcome { comparison, ..Outcome::new("sim", "1", scenario, Run::default(), None) }
    }

    #[test]
    fn many_flows_are_compared_as_groups_in_each_window_and_few_one_by_one() {
        let many = outcome(MOST_ROWS + 1);
        let told: Vec<_> =
            comparison(&many).iter().map(|c| (c.window.clone(), c.flow.clone(), c.kept)).collect();
        let name = "upload (mean of 25 flows)".to_owned();
        assert_eq!(
            told,
            [("early".to_owned(), name.clone(), Some(0.5)), ("late".to_owned(), name, Some(1.0))]
        );
        assert_eq!(comparison(&outcome(MOST_ROWS)).len(), 2 * MOST_ROWS);
    }
}
