//! Sliders and menus for the settings of a text, made from the text itself and from the tables of parameters.
//!
//! A setting that is written as a law (`{ uniform = … }`) or comes from a sweep has no slider: the text has it.

mod dial;

use crate::edit::{document, Step};
use crate::error::{json, Error};
use crate::run::Written;
use afteryou_aqm::list::QUEUES;
use afteryou_base::param::Param;
use afteryou_engines::{find, Choices, Lineup};
use afteryou_notation::{catalogue, Overrides};
use afteryou_scenario::{discipline, Buffer, Flow, Link, Role, Scenario};
use dial::{Dial, Form};
use serde::Serialize;
use toml_edit::Item;

/// All controls.
#[derive(Serialize)]
struct Controls {
    duration_s: f64,
    groups: Vec<Group>,
}

/// Controls of one link or one flow.
#[derive(Serialize)]
struct Group {
    /// "link" or "flow".
    kind: &'static str,
    name: String,
    /// Where it is in the text.
    path: Vec<Step>,
    dials: Vec<Dial>,
    /// A flow's time, and whether it yields.
    #[serde(skip_serializing_if = "Option::is_none")]
    stay: Option<Stay>,
}

/// When a flow is there.
#[derive(Serialize)]
struct Stay {
    background: bool,
    controller: String,
    start_s: f64,
    stop_s: f64,
    /// Whether the page can move the two times. Drawn times are the text's.
    moves: bool,
}

/// Answers with the groups of controls, the scenario's name and its length.
///
/// # Errors
/// A text that is no scenario, or none that the simulator runs.
pub fn answer(written: &Written) -> Result<String, Error> {
    let experiment = written.experiment()?;
    let lineup = Lineup::new(find("sim")?, &experiment, Choices::default())?;
    let scenario = lineup.point(0)?.scenario;
    let written = document(&written.text)?;
    let mut groups = Vec::new();
    for (index, (path, item)) in entries(written.get("link"), "link").into_iter().enumerate() {
        if let Some(link) = scenario.links().nth(index) {
            groups.push(of_link(link, path, item));
        }
    }
    for (path, item) in entries(written.get("flow"), "flow") {
        let name = item.get("name").and_then(Item::as_str).unwrap_or_default();
        let is_it = |flow: &&Flow| flow.group.as_deref().unwrap_or(&flow.name) == name;
        if let Some(flow) = scenario.flow.iter().find(is_it) {
            groups.push(of_flow(&scenario, flow, name, path, item));
        }
    }
    json(&Controls { duration_s: scenario.duration.as_secs_f64(), groups })
}

/// Returns the tables under `key` with their paths: one table, an array of tables or an array of inline tables.
fn entries<'a>(item: Option<&'a Item>, key: &str) -> Vec<(Vec<Step>, &'a Item)> {
    let Some(item) = item else { return Vec::new() };
    let root = || vec![Step::Name(key.to_owned())];
    if item.is_table_like() {
        return vec![(root(), item)];
    }
    let at = |place: usize| item.get(place).map(|entry| ([root(), vec![Step::Place(place)]].concat(), entry));
    (0..).map_while(at).collect()
}

fn of_link(link: &Link, path: Vec<Step>, item: &Item) -> Group {
    let rate = link.rate.bits_per_second() as f64 / 1e6;
    let (buffer, unit, range) = match link.buffer {
        Buffer::Packets(packets) => (packets as f64, "packets", (1.0, 5000.0)),
        Buffer::Size(size) => (size.bytes() as f64 / 1e3, "kB", (2.0, 10_000.0)),
        Buffer::Time(time) => (time.as_secs_f64() * 1e3, "ms", (1.0, 5000.0)),
    };
    let mut dials = Dials { path: &path, item, dials: Vec::new() };
    dials.slide("rate", "Rate", rate, "Mbit/s", (0.1, 1000.0), Form::Log);
    dials.slide("buffer", "Buffer", buffer, unit, range, Form::Log);
    let kinds: Vec<_> = QUEUES.iter().map(|entry| (entry.about.name, entry.about.summary)).collect();
    dials.algorithm("queue", "Queue discipline", &link.queue.kind, kinds);
    if let Ok((entry, overrides)) = discipline(&link.queue) {
        dials.parameters("queue", entry.about.params, &overrides);
    }
    if link.elements.loss.is_none() {
        dials.slide("loss", "Random loss", link.loss.ratio() * 100.0, "%", (0.0, 10.0), Form::Linear);
    }
    dials.jitter();
    let name = link.name.clone().unwrap_or_else(|| "link".to_owned());
    let dials = dials.dials;
    Group { kind: "link", name, path, dials, stay: None }
}

fn of_flow(scenario: &Scenario, flow: &Flow, name: &str, path: Vec<Step>, item: &Item) -> Group {
    let mut dials = Dials { path: &path, item, dials: Vec::new() };
    if let Some(controller) = &flow.controller {
        let known = catalogue::controllers();
        let kinds: Vec<_> = known.iter().map(|entry| (entry.about.name, entry.about.summary)).collect();
        dials.algorithm("controller", "Controller", &controller.kind, kinds);
    }
    dials.slide("rtt", "Round-trip time", flow.rtt.as_secs_f64() * 1e3, "ms", (1.0, 1000.0), Form::Log);
    if let Some(Ok((entry, overrides))) = flow.controller.as_ref().map(|controller| controller.controller()) {
        dials.parameters("controller", entry.about.params, &overrides);
    }
    let end = scenario.duration.as_secs_f64();
    let plain = |key| item.get(key).is_none_or(Item::is_str);
    let stay = Stay {
        background: flow.role == Role::Background,
        controller: flow
            .controller
            .as_ref()
            .map_or("constant rate", |controller| &controller.kind)
            .to_owned(),
        start_s: flow.start.as_secs_f64(),
        stop_s: flow.stop.map_or(end, |stop| stop.as_secs_f64()).min(end),
        moves: plain("start") && plain("stop") && flow.active.is_empty(),
    };
    let dials = dials.dials;
    Group { kind: "flow", name: name.to_owned(), path, dials, stay: Some(stay) }
}

/// The dials of one table of the text.
struct Dials<'a> {
    path: &'a [Step],
    item: &'a Item,
    dials: Vec<Dial>,
}

impl Dials<'_> {
    fn path(&self, keys: &[&str]) -> Vec<Step> {
        let below = keys.iter().map(|key| Step::Name((*key).to_owned()));
        self.path.iter().cloned().chain(below).collect()
    }

    /// Adds a slider, unless the text has a law where a number would be.
    fn slide(
        &mut self,
        key: &str,
        label: &str,
        value: f64,
        unit: &'static str,
        range: (f64, f64),
        form: Form,
    ) {
        if self.item.get(key).is_none_or(Item::is_str) {
            self.dials.push(Dial::slider(self.path(&[key]), label, value, unit, range, form));
        }
    }

    fn algorithm(&mut self, key: &str, label: &str, kind: &str, kinds: Vec<(&str, &str)>) {
        let Some(item) = self.item.get(key) else {
            self.dials.push(Dial::menu(self.path(&[key]), label, kind, kinds));
            return;
        };
        // A menu replaces the whole table: parameters of the one algorithm mean nothing to another.
        if item.is_str() || item.is_table_like() {
            self.dials.push(Dial::menu(self.path(&[key]), label, kind, kinds));
        }
    }

    fn parameters(&mut self, key: &str, params: &'static [Param], overrides: &Overrides) {
        // A default that the text does not name has no table yet.
        if self.item.get(key).is_none() {
            return;
        }
        for param in params {
            let set = overrides.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            let path = self.path(&[key, param.name]);
            self.dials.push(Dial::parameter(path, param, set.unwrap_or(param.default)));
        }
    }

    /// Adds a uniform jitter from 0 ms; other laws stay in the text.
    fn jitter(&mut self) {
        let law = self.item.get("jitter");
        let most = law.and_then(|law| law.get("uniform")).and_then(Item::as_str);
        let most = most.and_then(|most| most.parse::<afteryou_scenario::Duration>().ok());
        let value = match (law, most) {
            (None, _) => 0.0,
            (Some(_), Some(most)) => most.as_secs_f64() * 1e3,
            (Some(_), None) => return,
        };
        let path = self.path(&["jitter"]);
        self.dials.push(Dial::slider(path, "Jitter", value, "ms", (0.0, 50.0), Form::Uniform));
    }
}
