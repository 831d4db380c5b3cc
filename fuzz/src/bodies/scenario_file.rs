//! Any bytes as a scenario file.

use afteryou_scenario_file::Experiment;

/// Most runs that are made of one input: a sweep may have many.
const MOST_RUNS: usize = 200;

/// Checks that what is accepted makes runs, and baselines with the network that a check makes, and that what is refused has a reason.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let experiment = match Experiment::parse(text, "fuzz.toml", &[]) {
        Ok(experiment) => experiment,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let Ok(runs) = experiment.runs(None, Some(2)) else {
        return;
    };
    for planned in runs.iter().take(MOST_RUNS) {
        let baseline = planned.scenario.without_background();
        let again = baseline.clone().into_scenario().checked().expect("so is its baseline");
        assert_eq!(baseline, again);
    }
}
