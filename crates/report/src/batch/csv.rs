//! Figures for other programs: tidy CSV, one observation in a line.

use super::Brief;
use afteryou_scenario::outcome::{Comparison, LinkFigures, Outcome, Quantiles, Run, WindowFigures};
use afteryou_scenario::Role;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A field that no spreadsheet takes for a formula: what would be one gets an apostrophe before it.
fn field(text: &str) -> Cow<'_, str> {
    match text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err() {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// Lines of a file, quoted where they must be.
struct Lines(csv::Writer<Vec<u8>>);

impl Lines {
    fn new<T: AsRef<[u8]>>(heads: impl IntoIterator<Item = T>) -> Lines {
        let mut lines = Lines(csv::WriterBuilder::new().flexible(true).from_writer(Vec::new()));
        lines.add(heads);
        lines
    }

    fn add<T: AsRef<[u8]>>(&mut self, fields: impl IntoIterator<Item = T>) {
        // A vector takes everything, and lines of any length are allowed.
        _ = self.0.write_record(fields);
    }

    fn text(self) -> String {
        String::from_utf8(self.0.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The curves of an outcome: `run,time_s,of,quantity,unit,value`.
pub fn series_csv(outcome: &Outcome) -> String {
    let mut lines = Lines::new(["run", "time_s", "of", "quantity", "unit", "value"]);
    let runs: [(&str, Option<&Run>); 2] =
        [("run", Some(&outcome.run)), ("baseline", outcome.baseline.as_ref())];
    for (name, run) in runs {
        for series in run.iter().flat_map(|run| &run.series) {
            let (of, quantity, unit) = (field(&series.of), field(&series.quantity), field(&series.unit));
            for (i, value) in series.values.iter().enumerate() {
                let Some(value) = value else { continue };
                // Each value stands at the end of the step that it is of.
                let time =
                    afteryou_scenario::outcome::round(series.start_s + (i + 1) as f64 * series.step_s, 6);
                lines.add([name, &time.to_string(), &of, &quantity, &unit, &value.to_string()]);
            }
        }
    }
    lines.text()
}

/// Every run, window and flow in a line. Where data cross several links, a column says which link's figures the line has:
/// those of the first that the flow's data cross.
pub fn runs_csv(briefs: &[Brief]) -> String {
    let several = briefs.iter().any(|brief| brief.links.len() > 1);
    let heads = [WINDOW_HEADS, if several { &["link"] } else { &[] }, LINK_HEADS, FLOW_HEADS].concat();
    written(briefs, &heads, |brief| flow_lines(brief, several))
}

/// Every run, window and link that data cross in a line; none where no run has several such links.
pub fn links_csv(briefs: &[Brief]) -> Option<String> {
    let heads = [WINDOW_HEADS, &["link", "capacity_bit_s"], LINK_HEADS].concat();
    let several = briefs.iter().any(|brief| brief.links.len() > 1);
    several.then(|| written(briefs, &heads, link_lines))
}

const WINDOW_HEADS: &[&str] = &["window", "from_s", "to_s"];

const LINK_HEADS: &[&str] = &[
    "utilisation",
    "queue_mean_ms",
    "queue_p50_ms",
    "queue_p95_ms",
    "queue_p99_ms",
    "queue_max_ms",
    "queue_packets",
    "fairness",
    "foreground_fairness",
    "harvest",
    "foreground_share",
];

const FLOW_HEADS: &[&str] = &[
    "flow",
    "role",
    "goodput_bit_s",
    "share_of_payload_capacity",
    "delay_mean_ms",
    "delay_p95_ms",
    "delay_p99_ms",
    "kept",
    "added_delay_mean_ms",
    "added_delay_p95_ms",
    "completed_in_s",
    "completed_in_s_without",
];

/// A table with the lines of every run, each after the point of its run.
fn written(briefs: &[Brief], heads: &[&str], lines: impl Fn(&Brief) -> Vec<Vec<String>>) -> String {
    let keys: BTreeSet<&String> = briefs.iter().flat_map(|brief| brief.point.keys()).collect();
    let mut names: Vec<String> = keys.iter().map(|key| field(key).into_owned()).collect();
    names.extend(["run", "repetition", "seed"].iter().chain(heads).map(|head| (*head).to_owned()));
    let mut text = Lines::new(names);
    for (run, brief) in briefs.iter().enumerate() {
        let value = |key: &&String| field(brief.point.get(*key).map_or("", String::as_str)).into_owned();
        let point: Vec<String> = keys.iter().map(value).collect();
        for line in lines(brief) {
            // Numbered as the folders are.
            let run = [(run + 1).to_string(), brief.repetition.to_string(), brief.seed.to_string()];
            text.add(point.iter().chain(&run).chain(&line));
        }
    }
    text.text()
}

fn of_window(window: &WindowFigures) -> Vec<String> {
    vec![field(&window.window).into_owned(), window.from_s.to_string(), window.to_s.to_string()]
}

/// The figures of a link in a window; empty fields where there are none.
fn of_link(link: Option<&LinkFigures>) -> Vec<String> {
    let delays = link.and_then(|link| link.queuing_delay);
    let delay = |of: fn(&Quantiles) -> f64| number(delays.as_ref().map(of));
    let figure = |of: fn(&LinkFigures) -> Option<f64>| number(link.and_then(of));
    vec![
        figure(|link| Some(link.utilisation)),
        delay(|q| q.mean_ms),
        delay(|q| q.p50_ms),
        delay(|q| q.p95_ms),
        delay(|q| q.p99_ms),
        delay(|q| q.max_ms),
        figure(|link| link.queue_packets),
        figure(|link| link.fairness),
        figure(|link| link.foreground_fairness),
        figure(|link| link.harvest),
        figure(|link| link.foreground_share),
    ]
}

/// A line for each window and link.
fn link_lines(brief: &Brief) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for window in &brief.windows {
        for link in brief.links.iter().filter_map(|link| link.figures(window)) {
            let mut line = of_window(window);
            line.extend([field(&link.link).into_owned(), link.capacity_bit_s.to_string()]);
            line.extend(of_link(Some(link)));
            lines.push(line);
        }
    }
    lines
}

/// A line for each window and flow.
fn flow_lines(brief: &Brief, several: bool) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for window in &brief.windows {
        let here = brief.comparison.iter().filter(|compared| compared.window == window.window);
        let compared: BTreeMap<&str, &Comparison> =
            here.map(|compared| (compared.flow.as_str(), compared)).collect();
        for flow in &window.flows {
            let delay = |of: fn(&Quantiles) -> f64| number(flow.queuing_delay.as_ref().map(of));
            let compared = compared.get(flow.flow.as_str());
            let [completed_in_s, without] = brief.completed_in_s.get(&flow.flow).copied().unwrap_or_default();
            let role = if flow.role == Role::Foreground { "foreground" } else { "background" };
            let link = brief.links.iter().find(|link| link.carries(&flow.flow));
            let mut line = of_window(window);
            line.extend(several.then(|| field(link.map_or("", |link| &link.name)).into_owned()));
            line.extend(of_link(link.and_then(|link| link.figures(window))));
            line.extend([
                field(&flow.flow).into_owned(),
                role.to_owned(),
                flow.goodput_bit_s.to_string(),
                flow.share_of_payload_capacity.to_string(),
                delay(|q| q.mean_ms),
                delay(|q| q.p95_ms),
                delay(|q| q.p99_ms),
                number(compared.and_then(|compared| compared.kept)),
                number(compared.and_then(|compared| compared.added_delay_mean_ms)),
                number(compared.and_then(|compared| compared.added_delay_p95_ms)),
                number(completed_in_s),
                number(without),
            ]);
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_are_no_formulas() {
        let mut lines = Lines::new(
            ["plain", "a, b", "say \"hi\"", "two\nlines", ""].map(field).iter().map(|f| f.as_bytes()),
        );
        lines.add(["=1+1", "-3.5", "+cmd", "@x", "-x, y"].map(field).iter().map(|f| f.as_bytes()));
        let expected = "plain,\"a, b\",\"say \"\"hi\"\"\",\"two\nlines\",\n'=1+1,-3.5,'+cmd,'@x,\"'-x, y\"\n";
        assert_eq!(lines.text(), expected);
    }
}
