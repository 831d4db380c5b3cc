//! Kuhn et al. (2014): arithmetic of table I, and of the schedule in table III as our scenario has it.

use super::Function;
use crate::papers;
use afteryou_scenario_file::Experiment;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "reduction_points",
        help: "share before and after, per cent: the reduction in points",
        inputs: 2,
        compute: |inputs| inputs[0] - inputs[1],
    },
    Function {
        name: "reduction_percent",
        help: "share before and after, per cent: the reduction relative to the first, per cent",
        inputs: 2,
        compute: |inputs| (inputs[0] - inputs[1]) / inputs[0] * 100.0,
    },
    Function {
        name: "foreground_active",
        help: "from and to, s: the time between them in which a flow of group B or C of the scenario is active, s",
        inputs: 2,
        compute: |inputs| foreground_active(inputs[0], inputs[1]),
    },
    Function {
        name: "foreground_idle",
        help: "from and to, s: the time between them in which none is, s",
        inputs: 2,
        compute: |inputs| inputs[1] - inputs[0] - foreground_active(inputs[0], inputs[1]),
    },
];

/// Returns the union of the windows of the flows of groups "b" and "c" in `kuhn-k3.toml`, between two times, s. Not a number
/// if the file is wrong.
fn foreground_active(from_s: f64, to_s: f64) -> f64 {
    let text = papers::scenario("kuhn-k3.toml").unwrap_or_default();
    let runs = Experiment::parse(text, "kuhn-k3.toml", &[]).and_then(|file| file.runs(None, Some(1)));
    let Some(run) = runs.ok().and_then(|runs| runs.into_iter().next()) else { return f64::NAN };
    let is_foreground = |group: Option<&str>| matches!(group, Some("b" | "c"));
    let flows = run.scenario.flow.iter().filter(|flow| is_foreground(flow.group.as_deref()));
    let mut windows: Vec<[f64; 2]> = flows
        .flat_map(|flow| &flow.active)
        .map(|[start, stop]| [start.0.as_secs_f64().max(from_s), stop.0.as_secs_f64().min(to_s)])
        .filter(|[start, stop]| start < stop)
        .collect();
    windows.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let (mut active, mut until) = (0.0, from_s);
    for [start, stop] in windows {
        active += (stop - start.max(until)).max(0.0);
        until = until.max(stop);
    }
    active
}
