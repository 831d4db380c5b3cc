//! Curves for other programs: a point of a curve in a line.

use crate::rows::field;
use afteryou_scenario::outcome::{round, Outcome, Run};

/// The curves of an outcome: `run,time_s,of,quantity,unit,value`.
pub fn series_csv(outcome: &Outcome) -> String {
    let mut lines = csv::Writer::from_writer(Vec::new());
    // A vector takes everything.
    _ = lines.write_record(["run", "time_s", "of", "quantity", "unit", "value"]);
    let runs: [(&str, Option<&Run>); 2] =
        [("run", Some(&outcome.run)), ("baseline", outcome.baseline.as_ref())];
    for (name, run) in runs {
        for series in run.iter().flat_map(|run| &run.series) {
            let (of, quantity, unit) = (field(&series.of), field(&series.quantity), field(&series.unit));
            for (i, value) in series.values.iter().enumerate() {
                let Some(value) = value else { continue };
                // Each value stands at the end of the step that it is of.
                let time = round(series.start_s + (i + 1) as f64 * series.step_s, 6);
                _ = lines.write_record([name, &time.to_string(), &of, &quantity, &unit, &value.to_string()]);
            }
        }
    }
    String::from_utf8(lines.into_inner().unwrap_or_default()).unwrap_or_default()
}
