//! Figures for other programs: tidy CSV, one observation in a line.

use super::Brief;
use afteryou_scenario::outcome::{Comparison, Outcome, Quantiles, Run};
use afteryou_scenario::Role;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A field: quoted where it has to be. What a spreadsheet would take for a formula gets an apostrophe before it.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The curves of an outcome: `run,time_s,of,quantity,unit,value`.
pub fn series_csv(outcome: &Outcome) -> String {
    let mut text = "run,time_s,of,quantity,unit,value\n".to_owned();
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
                let _ = writeln!(text, "{name},{time},{of},{quantity},{unit},{value}");
            }
        }
    }
    text
}

/// Every run, window and flow in a line.
pub fn runs_csv(briefs: &[Brief]) -> String {
    let keys: BTreeSet<&String> = briefs.iter().flat_map(|brief| brief.point.keys()).collect();
    let mut heads: Vec<String> = keys.iter().map(|key| field(key)).collect();
    heads.extend(HEADS.iter().map(|head| (*head).to_owned()));
    let mut text = heads.join(",") + "\n";
    for (run, brief) in briefs.iter().enumerate() {
        let point: Vec<String> =
            keys.iter().map(|key| field(brief.point.get(*key).map_or("", String::as_str))).collect();
        for line in lines(brief) {
            let mut fields = point.clone();
            // Numbered as the folders are.
            fields.extend([(run + 1).to_string(), brief.repetition.to_string(), brief.seed.to_string()]);
            fields.extend(line);
            let _ = writeln!(text, "{}", fields.join(","));
        }
    }
    text
}

const HEADS: &[&str] = &[
    "run",
    "repetition",
    "seed",
    "window",
    "from_s",
    "to_s",
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

/// A line for each window and flow.
fn lines(brief: &Brief) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for window in &brief.windows {
        let delay = |of: fn(&Quantiles) -> f64| number(window.queuing_delay.as_ref().map(of));
        let of_link = vec![
            field(&window.window),
            window.from_s.to_string(),
            window.to_s.to_string(),
            window.utilisation.to_string(),
            delay(|q| q.mean_ms),
            delay(|q| q.p50_ms),
            delay(|q| q.p95_ms),
            delay(|q| q.p99_ms),
            delay(|q| q.max_ms),
            number(window.queue_packets),
            number(window.fairness),
            number(window.foreground_fairness),
            number(window.harvest),
            number(window.foreground_share),
        ];
        let of_window = brief.comparison.iter().filter(|compared| compared.window == window.window);
        let compared: BTreeMap<&str, &Comparison> =
            of_window.map(|compared| (compared.flow.as_str(), compared)).collect();
        for flow in &window.flows {
            let delay = |of: fn(&Quantiles) -> f64| number(flow.queuing_delay.as_ref().map(of));
            let compared = compared.get(flow.flow.as_str());
            let [completed_in_s, without] = brief.completed_in_s.get(&flow.flow).copied().unwrap_or_default();
            let role = if flow.role == Role::Foreground { "foreground" } else { "background" };
            let mut line = of_link.clone();
            line.extend([
                field(&flow.flow),
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
        let fields = ["plain", "a, b", "say \"hi\"", "=1+1", "-3.5", "+cmd"].map(field);
        assert_eq!(fields, ["plain", "\"a, b\"", "\"say \"\"hi\"\"\"", "'=1+1", "-3.5", "'+cmd"]);
    }
}
