//! Figures that `afteryou plot` draws of one result.

use super::root;
use afteryou_plot::{Data, Figure};
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;

/// A file in `scenarios/gallery` and what is drawn of its run.
pub struct Drawn {
    file: &'static str,
    y: &'static str,
    by: &'static [&'static str],
}

/// All of them.
pub const FIGURES: &[Drawn] = &[
    Drawn { file: "phases", y: "cwnd", by: &[] },
    Drawn { file: "fairness", y: "fairness", by: &[] },
    Drawn { file: "completion-times", y: "completion", by: &["size"] },
];

impl Drawn {
    /// Returns the name of its file.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Returns the figure.
    pub fn picture(&self, title: &str) -> String {
        let path = root().join(format!("scenarios/gallery/{}.toml", self.file));
        let experiment = Experiment::read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let planned = &experiment.runs(None, Some(1)).expect("a run")[0];
        let outcome = afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()));
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", self.file));
        let figure = Figure {
            y: self.y.to_owned(),
            by: self.by.iter().map(|name| (*name).to_owned()).collect(),
            title: Some(title.to_owned()),
            ..Figure::default()
        };
        let drawn = Data::of(&outcome).and_then(|data| figure.draw_of(data));
        drawn.unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }
}
