//! The rows of a run.

use super::{figures, settings, Row};
use crate::completions::{completions, Completion};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::outcome::{
    Comparison, CompletionCost, DataLink, FlowFigures, LinkFigures, Outcome, Run, SetFigures, SizeClass,
    WindowFigures,
};
use afteryou_scenario::{Flow, Role};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The identity of a run among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its number in the sweep, from 1.
    pub run: u64,
    /// Its name, the same wherever the same program runs the same scenario with the same seed.
    pub key: ContentHash,
}

/// The rows of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The run: figures of the first link that data cross, sums over the flows. Where the scenario has several windows,
    /// the figures of each have the window's name and a dot before them.
    pub run: Row,
    /// Each flow in each window.
    pub flows: Vec<Row>,
    /// Each link that data cross in each window.
    pub links: Vec<Row>,
    /// Each set of flows that the scenario measures together, in its window.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sets: Vec<Row>,
}

/// Names that every row may have, beside figures; a setting with one of these names gets another.
const NAMES: &[&str] = &[
    "run",
    "repetition",
    "seed",
    "key",
    "engine",
    "name",
    "controller",
    "controller_parameters",
    "foreground_controller",
    "window",
    "from_s",
    "to_s",
    "flow",
    "flows",
    "group",
    "role",
    "link",
    "duration_s",
];

impl Rows {
    /// Returns the rows of `outcome`.
    pub fn of(outcome: &Outcome, identity: Identity) -> Rows {
        let rows = Maker { outcome, shared: shared(outcome, identity), data_links: outcome.data_links() };
        Rows { run: rows.run(), flows: rows.flows(), links: rows.links(), sets: rows.sets() }
    }
}

/// Returns the columns that all rows of a run begin with.
fn shared(outcome: &Outcome, Identity { run, key }: Identity) -> Row {
    let mut row = Row::default();
    settings::add(&mut row, &outcome.point, NAMES);
    row.add("run", run);
    row.add("repetition", u64::from(outcome.repetition));
    row.add("seed", outcome.scenario.seed);
    row.add("key", key.to_string().as_str());
    row.add("engine", outcome.engine.as_str());
    row
}

struct Maker<'a> {
    outcome: &'a Outcome,
    shared: Row,
    data_links: Vec<DataLink<'a>>,
}

impl Maker<'_> {
    fn run(&self) -> Row {
        let Outcome { scenario, run, .. } = self.outcome;
        let mut row = self.shared.clone();
        let [background, foreground] = [Role::Background, Role::Foreground]
            .map(|role| controllers(scenario.flow.iter().filter(|flow| flow.role == role)));
        match background.is_some() {
            true => {
                row.add("controller", background.as_deref());
                row.add("foreground_controller", foreground.as_deref());
            }
            false => row.add("controller", foreground.as_deref()),
        }
        row.add("duration_s", run.duration_s);
        self.add_completions(&mut row);
        for window in &run.windows {
            let prefix = if run.windows.len() > 1 { format!("{}.", window.window) } else { String::new() };
            self.add_window(&mut row, &prefix, window);
        }
        if !run.totals.is_empty() {
            let sum = |count: fn(&afteryou_scenario::outcome::Totals) -> u64| {
                run.totals.iter().map(count).sum::<u64>()
            };
            row.add("packets", sum(|totals| totals.packets));
            row.add("retransmissions", sum(|totals| totals.retransmissions));
            row.add("losses", sum(|totals| totals.losses));
            row.add("timeouts", sum(|totals| totals.timeouts));
            row.add("handshake_timeouts", sum(|totals| totals.handshake_timeouts));
        }
        row
    }

    /// Adds how long the transfers of the foreground took. Where several flows or tables of flows have any, the name of each
    /// and a dot precede its figures.
    fn add_completions(&self, row: &mut Row) {
        let is_foreground = |completion: &Completion| completion.role == Role::Foreground;
        let completions: Vec<Completion> =
            completions(self.outcome, true).into_iter().filter(is_foreground).collect();
        let several = completions.iter().any(|completion| completion.flow != completions[0].flow);
        for completion in &completions {
            let window = completion.window.as_ref().filter(|_| self.outcome.run.windows.len() > 1);
            let names = [window, Some(&completion.flow).filter(|_| several)];
            let prefix: String = names.into_iter().flatten().map(|name| format!("{name}.")).collect();
            figures::add(row, &prefix, &completion.cost(), &[]);
        }
    }

    /// Adds the sums over the flows of a window, and the figures of the first link that data cross.
    fn add_window(&self, row: &mut Row, prefix: &str, window: &WindowFigures) {
        for (role, name) in [(Role::Foreground, "foreground"), (Role::Background, "background")] {
            let mut of_role = window.flows.iter().filter(|flow| flow.role == role).peekable();
            if of_role.peek().is_some() {
                // From +0: the empty sum is −0.
                let goodput = of_role.fold(0.0, |sum, flow| sum + flow.goodput_bit_s);
                row.add(format!("{prefix}{name}_goodput_bit_s"), goodput);
            }
        }
        let first = self.data_links.first().and_then(|link| window.links.get(link.index));
        if let Some(link) = first {
            self.add_link(row, prefix, window, link);
        }
    }

    fn add_link(&self, row: &mut Row, prefix: &str, window: &WindowFigures, link: &LinkFigures) {
        figures::add(row, prefix, link, &["link"]);
        let mut compared = self.outcome.link_comparison.iter();
        if let Some(compared) =
            compared.find(|compared| compared.window == window.window && compared.link == link.link)
        {
            figures::add(row, prefix, compared, &["window", "link"]);
        }
    }

    fn links(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for window in &self.outcome.run.windows {
            for link in self.data_links.iter().filter_map(|link| window.links.get(link.index)) {
                let mut row = self.of_window(window);
                row.add("link", link.link.as_str());
                self.add_link(&mut row, "", window, link);
                rows.push(row);
            }
        }
        rows
    }

    fn flows(&self) -> Vec<Row> {
        let Outcome { scenario, run, baseline, .. } = self.outcome;
        let known: HashMap<&str, &Flow> =
            scenario.flow.iter().map(|flow| (flow.name.as_str(), flow)).collect();
        let (totals, without) = (by_flow(run), baseline.as_ref().map(by_flow).unwrap_or_default());
        let compared: HashMap<(&str, &str), _> = self
            .outcome
            .comparison
            .iter()
            .map(|compared| ((compared.window.as_str(), compared.flow.as_str()), compared))
            .collect();
        let completions = completions(self.outcome, false);
        let took: HashMap<(&str, Option<&str>), &Completion> =
            completions.iter().map(|one| ((one.flow.as_str(), one.window.as_deref()), one)).collect();
        let mut rows = Vec::new();
        for window in &run.windows {
            for flow in &window.flows {
                let (window_name, name) = (window.window.as_str(), flow.flow.as_str());
                let mut row = self.of_window(window);
                self.add_flow(&mut row, flow, known.get(name).copied());
                if let Some(took) = took.get(&(name, Some(window_name))).or_else(|| took.get(&(name, None))) {
                    figures::add(&mut row, "", &took.cost(), &[]);
                }
                figures::add(&mut row, "", flow, &["flow", "role"]);
                if let Some(compared) = compared.get(&(window_name, name)) {
                    let compared =
                        Comparison { completion: CompletionCost::default(), ..(*compared).clone() };
                    figures::add(&mut row, "", &compared, &["window", "flow"]);
                }
                if let Some(totals) = totals.get(flow.flow.as_str()) {
                    figures::add(&mut row, "run_", totals, &["flow"]);
                    let classes = totals.completions.iter().flat_map(|completions| &completions.classes);
                    add_classes(&mut row, "run_completions", classes);
                }
                if let Some(totals) = without.get(flow.flow.as_str()) {
                    row.add("baseline_completed_in_s", totals.completed_in_s);
                }
                rows.push(row);
            }
        }
        rows
    }

    fn add_flow(&self, row: &mut Row, figures: &FlowFigures, flow: Option<&Flow>) {
        row.add("flow", figures.flow.as_str());
        row.add("group", flow.and_then(|flow| flow.group.as_deref()));
        row.add("role", role(figures.role));
        let controller = flow.and_then(|flow| flow.controller.as_ref());
        row.add("controller", controller.map(|controller| controller.kind.as_str()));
        let parameters = controller.filter(|controller| !controller.params.is_empty()).map(|controller| {
            let words = controller.params.iter().map(|(name, value)| format!("{name}={value}"));
            words.collect::<Vec<_>>().join(",")
        });
        row.add("controller_parameters", parameters.as_deref());
        let mut crossed = self.data_links.iter().filter(|link| link.flows.contains(figures.flow.as_str()));
        let link = crossed.next().and_then(|link| self.outcome.run.links.get(link.index));
        row.add("link", link.map(|link| link.link.as_str()));
    }

    fn sets(&self) -> Vec<Row> {
        self.outcome.run.sets.iter().map(|set| self.of_set(set)).collect()
    }

    fn of_set(&self, set: &SetFigures) -> Row {
        let mut row = self.of_interval(&set.window, set.from_s, set.to_s);
        row.add("flows", set.flows.len() as u64);
        figures::add(&mut row, "", set, &["window", "from_s", "to_s", "flows"]);
        for link in &set.links {
            figures::add(&mut row, &format!("{}.", link.link), link, &["link"]);
        }
        let classes = set.transfers.iter().flat_map(|transfers| &transfers.classes);
        add_classes(&mut row, "transfers", classes);
        if let Some(after) = &set.after_loss {
            for (what, parts) in [("dropped", &after.dropped), ("retransmitted", &after.retransmitted)] {
                for (i, part) in parts.iter().enumerate() {
                    row.add(format!("after_loss_{what}_{}", i + 1), *part);
                }
            }
        }
        row
    }

    fn of_window(&self, window: &WindowFigures) -> Row {
        self.of_interval(&window.window, window.from_s, window.to_s)
    }

    fn of_interval(&self, window: &str, from_s: f64, to_s: f64) -> Row {
        let mut row = self.shared.clone();
        row.add("window", window);
        row.add("from_s", from_s);
        row.add("to_s", to_s);
        row
    }
}

/// Adds the times of transfers of each size class, under `prefix` and the class's smallest size.
fn add_classes<'a>(row: &mut Row, prefix: &str, classes: impl Iterator<Item = &'a SizeClass>) {
    for class in classes {
        figures::add(row, &format!("{prefix}_from_{}_B_", class.from_bytes), &class.time, &[]);
    }
}

impl Row {
    /// Returns the row of a flow with the background and without: its completion times first.
    pub fn of_comparison(compared: &Comparison) -> Row {
        let mut row = Row::default();
        row.add("window", compared.window.as_str());
        row.add("flow", compared.flow.as_str());
        figures::add(&mut row, "", &compared.completion, &[]);
        let rest = Comparison { completion: CompletionCost::default(), ..compared.clone() };
        figures::add(&mut row, "", &rest, &["window", "flow"]);
        row
    }
}

/// Returns the different controllers of `flows` in their order, joined by " + ".
fn controllers<'a>(flows: impl Iterator<Item = &'a Flow>) -> Option<String> {
    let mut kinds: Vec<&str> = Vec::new();
    for kind in flows.filter_map(|flow| flow.controller.as_ref()).map(|controller| controller.kind.as_str()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    (!kinds.is_empty()).then(|| kinds.join(" + "))
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Foreground => "foreground",
        Role::Background => "background",
    }
}

fn by_flow(run: &Run) -> HashMap<&str, &afteryou_scenario::outcome::Totals> {
    run.totals.iter().map(|totals| (totals.flow.as_str(), totals)).collect()
}
