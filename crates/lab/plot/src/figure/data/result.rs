//! The rows of a result: its curves, Jain's index over time, and the completion times of its transfers.

use super::transfers::{self, Transfers};
use super::Data;
use crate::error::Error;
use crate::names::{engine_in_words, link_in_words, title};
use crate::palette;
use afteryou_scenario::outcome::{jain, round, Series};
use afteryou_scenario::{Flow, Outcome, Role};
use std::path::Path;

/// The column that holds how many transfers a row stands for.
const TRANSFERS: &str = "transfers";
/// The columns: those of `series.csv`, then three more. Completion times are rows without a time.
const COLUMNS: [&str; 9] =
    ["run", "time_s", "of", super::QUANTITY, "unit", super::VALUE, "controller", "size", TRANSFERS];

/// Returns the rows of `outcome`, each flow and link with its own look; `path` is named in errors.
///
/// # Errors
/// A result in which nothing was measured over time.
pub fn data(outcome: &Outcome, path: &Path) -> Result<Data, Error> {
    let mut data = curves(outcome);
    for (name, run) in [("run", Some(&outcome.run)), ("baseline", outcome.baseline.as_ref())] {
        for transfers in run.into_iter().flat_map(|run| transfers::completed(outcome, run)) {
            let style = palette::style(&outcome.scenario, &transfers.of);
            data.looks.insert(transfers.of.clone(), style);
            data.rows.push(row(name, controller(outcome, &transfers.of), &transfers));
        }
    }
    if data.rows.is_empty() {
        let reason = "it has neither curves nor completion times".to_owned();
        return Err(Error::NotATable { path: path.to_owned(), reason });
    }
    let about = format!("{} · {}", link_in_words(outcome), engine_in_words(outcome));
    let marks = outcome.run.marks.iter().map(|mark| (mark.at_s, mark.what.clone())).collect();
    Ok(Data {
        run: Some([title(outcome).to_owned(), about]),
        marks,
        phases: outcome.run.phases.clone(),
        weight: Some(TRANSFERS),
        ..data
    })
}

/// Returns the curves and Jain's index, with a column for the controller of each and empty ones for what transfers have.
fn curves(outcome: &Outcome) -> Data {
    let names = outcome.run.series.iter().map(|series| &series.of);
    let looks = names.map(|name| (name.clone(), palette::style(&outcome.scenario, name))).collect();
    let fairness = fairness(outcome);
    let of_run = outcome.run.series.iter().chain(&fairness).map(|series| ("run", series));
    let of_baseline = outcome.baseline.iter().flat_map(|run| &run.series).map(|series| ("baseline", series));
    let rows = of_run.chain(of_baseline).flat_map(|(run, series)| points(outcome, run, series)).collect();
    Data { columns: COLUMNS.map(str::to_owned).into(), rows, looks, ..Data::default() }
}

/// Returns a row for each value of a curve. It is at the end of its step.
fn points(outcome: &Outcome, run: &str, series: &Series) -> Vec<Vec<String>> {
    let number = |value: f64| if value.is_finite() { value.to_string() } else { String::new() };
    let known = series.values.iter().enumerate().filter_map(|(i, value)| Some((i, (*value)?)));
    let row = |(i, value): (usize, f64)| {
        let at_s = number(round(series.start_s + (i + 1) as f64 * series.step_s, 6));
        let [of, quantity, unit] = [&series.of, &series.quantity, &series.unit].map(String::as_str);
        let cells = [run, &at_s, of, quantity, unit, &number(value), controller(outcome, of), "", ""];
        cells.map(str::to_owned).into()
    };
    known.map(row).collect()
}

/// Returns a row in the order of the columns.
fn row(run: &str, controller: &str, transfers: &Transfers) -> Vec<String> {
    let (took, number) = (transfers.took_s.to_string(), transfers.number.to_string());
    let (of, size) = (transfers.of.as_str(), transfers.size.as_str());
    [run, "", of, transfers::QUANTITY, transfers::UNIT, &took, controller, size, &number]
        .map(str::to_owned)
        .into()
}

/// Returns the controller of a flow, or of the flows with this name in common; nothing for a link.
fn controller<'a>(outcome: &'a Outcome, name: &str) -> &'a str {
    let mut flows = outcome.scenario.flow.iter();
    let flow = flows.find(|flow| flow.name == name || flow.group.as_deref() == Some(name));
    flow.and_then(|flow| flow.controller.as_ref()).map_or("", |controller| &controller.kind)
}

/// Returns Jain's index over time, of the goodputs of the flows of each role. A step counts the flows that may send during all of it, where
/// there are two or more and one of them has any goodput.
fn fairness(outcome: &Outcome) -> Vec<Series> {
    let of_role = |(role, name): (Role, &str)| {
        let flow_of = |name: &str| outcome.scenario.flow.iter().find(|flow| flow.name == name);
        let goodputs = outcome.run.series.iter().filter(|curve| curve.quantity == "goodput");
        let of_flows = goodputs.filter_map(|curve| Some((curve, flow_of(&curve.of)?)));
        let curves: Vec<(&Series, &Flow)> = of_flows.filter(|(_, flow)| flow.role == role).collect();
        let (first, _) = curves.first().filter(|_| curves.len() > 1)?;
        let index = |i: usize| {
            let present = curves.iter().filter(|(curve, flow)| is_present(flow, curve, i));
            let rates: Vec<f64> =
                present.filter_map(|(curve, _)| curve.values.get(i).copied().flatten()).collect();
            (rates.len() > 1 && rates.iter().any(|rate| *rate > 0.0)).then(|| jain(&rates))
        };
        let values = (0..first.values.len()).map(index).collect();
        let (quantity, unit) = ("fairness".to_owned(), String::new());
        Some(Series { of: name.to_owned(), quantity, unit, values, ..(*first).clone() })
    };
    let roles = [(Role::Foreground, "foreground flows"), (Role::Background, "background flows")];
    roles.into_iter().filter_map(of_role).collect()
}

/// Returns whether the flow has started by the beginning of step `i` and stays until the end.
fn is_present(flow: &Flow, curve: &Series, i: usize) -> bool {
    let at = |step: usize| curve.start_s + step as f64 * curve.step_s;
    let has_started = flow.start.as_secs_f64() <= at(i);
    has_started && flow.stop.is_none_or(|stop| at(i + 1) <= stop.as_secs_f64())
}
