//! A bad case of each controller, measured: runs of the files in `scenarios/bad-cases`.
//!
//! A file's first comment is the caption: what to see in the figure.

use super::root;
use afteryou_plot::{Data, Figure};
use afteryou_scenario::{Flow, Outcome, Traffic};
use afteryou_scenario_file::Experiment;
use std::fmt::Write;
use std::ops::ControlFlow;

/// A measured bad case of a controller.
pub struct BadCase {
    page: String,
    caption: String,
    outcome: Outcome,
}

impl BadCase {
    /// Runs the file of the controller whose page has this name.
    pub fn new(page: &str) -> BadCase {
        let path = root().join(format!("scenarios/bad-cases/{page}.toml"));
        let text = super::text(&path).unwrap_or_else(|| panic!("{} is there", path.display()));
        let comments = text.lines().map_while(|line| line.strip_prefix("# "));
        let experiment = Experiment::read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let planned = &experiment.runs(None, Some(1)).expect("a run")[0];
        let outcome = afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()));
        let outcome = outcome.unwrap_or_else(|error| panic!("{page}: {error}"));
        BadCase { page: page.to_owned(), caption: comments.collect::<Vec<_>>().join("\n"), outcome }
    }

    /// Returns the section of the controller's page.
    pub fn section(&self) -> String {
        let BadCase { page, caption, outcome } = self;
        format!(
            "\n## A bad case, measured\n\n{caption}\n\n![{}](gallery/{page}-bad-case.svg)\n\n{}\n\
             Run it: `afteryou sim scenarios/bad-cases/{page}.toml`\n",
            outcome.scenario.name,
            self.table(),
        )
    }

    /// Returns the figure: goodput of each flow, or the queuing delay where a call is there to measure it.
    pub fn picture(&self) -> String {
        let is_call = |flow: &Flow| matches!(flow.traffic, Traffic::Cbr { .. });
        let has_call = self.outcome.scenario.flow.iter().any(is_call);
        let y = if has_call { "queuing_delay" } else { "goodput" };
        let title = Some(self.outcome.scenario.name.clone());
        let figure = Figure { y: y.to_owned(), title, ..Figure::default() };
        let drawn = Data::of(&self.outcome).and_then(|data| figure.draw_of(data));
        drawn.unwrap_or_else(|error| panic!("{}: {error}", self.page))
    }

    fn table(&self) -> String {
        let flows = &self.outcome.scenario.flow;
        let names: String = flows.iter().map(|flow| format!(" {}, Mbit/s |", flow.name)).collect();
        let mut table = format!(
            "| window | link used |{names} mean queuing delay |\n|---|--:|{}--:|\n",
            "--:|".repeat(flows.len())
        );
        for window in &self.outcome.run.windows {
            let link = &window.links[0];
            let rates: String =
                window.flows.iter().map(|flow| format!(" {:.2} |", flow.goodput_bit_s / 1e6)).collect();
            let delay =
                link.queuing_delay.map_or("–".to_owned(), |delay| format!("{:.0} ms", delay.mean_ms));
            let used = 100.0 * link.utilisation;
            let _ = writeln!(table, "| {} | {used:.0} % |{rates} {delay} |", window.window);
        }
        table
    }
}
