//! `afteryou fluid --explain`: what follows from a scenario without running it.

use crate::list::wrap::wrap;
use crate::run_args::RunArgs;
use afteryou_fluid::{Analysis, Options, Quantity};
use afteryou_scenario_file::Experiment;
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A point of a file's sweep for programs: every number with all its digits.
#[derive(Serialize)]
struct Explained<'a> {
    name: &'a str,
    point: &'a BTreeMap<String, String>,
    conclusions: &'a [String],
    quantities: Vec<Number<'a>>,
}

#[derive(Serialize)]
struct Number<'a> {
    of: &'a str,
    what: &'a str,
    value: f64,
    unit: &'a str,
    formula: &'a str,
}

impl<'a> Number<'a> {
    fn of(quantity: &'a Quantity) -> Number<'a> {
        let Quantity { of, what, value, unit, formula } = quantity;
        Number { of, what, value: *value, unit, formula }
    }
}

/// Prints it for every point of a file's sweep; repetitions follow from the same equations.
pub fn explain(name: &str, experiment: &Experiment, args: &RunArgs) -> Result<(), Failure> {
    for run in experiment.runs(args.seed, Some(1)).map_err(Failure::usage)? {
        let analysis = afteryou_fluid::explain(&run.scenario, &Options::of(&run.scenario));
        // All that the closed forms refuse is in the file.
        let analysis = analysis.map_err(|error| match error {
            afteryou_fluid::Error::Unsupported(what) => Failure::usage(experiment.refused(&run, &what)),
            other => Failure::usage(other),
        })?;
        if args.json {
            output::print(&json(name, &run.point, &analysis)?)?;
            continue;
        }
        let point = run.point.iter().map(|(setting, value)| format!(", {setting} = {value}"));
        output::print(&words(&format!("{name}{}", point.collect::<String>()), &analysis))?;
    }
    Ok(())
}

fn json(name: &str, point: &BTreeMap<String, String>, analysis: &Analysis) -> Result<String, Failure> {
    let quantities = analysis.quantities.iter().map(Number::of).collect();
    let explained = Explained { name, point, conclusions: &analysis.notes, quantities };
    Ok(serde_json::to_string(&explained)? + "\n")
}

/// Returns the conclusions, and below them the numbers from which they follow.
fn words(title: &str, analysis: &Analysis) -> String {
    let mut text = format!("{title}\n");
    if !analysis.notes.is_empty() {
        text.push('\n');
    }
    for note in &analysis.notes {
        for (i, line) in wrap(note, output::width().saturating_sub(2)).iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if i == 0 { "- " } else { "  " });
        }
    }
    let mut of = "";
    let widest = analysis.quantities.iter().map(|quantity| quantity.what.chars().count()).max().unwrap_or(0);
    for quantity in &analysis.quantities {
        if quantity.of != of {
            of = &quantity.of;
            let _ = writeln!(text, "\n{of}");
        }
        let _ = writeln!(text, "  {:<widest$}  {:<16}  {}", quantity.what, value(quantity), quantity.formula);
    }
    text.push('\n');
    text
}

/// Formats a value with four significant digits.
fn value(quantity: &Quantity) -> String {
    let number = significant(quantity.value);
    format!("{number} {}", quantity.unit).trim_end().to_owned()
}

/// Formats a value with four significant digits and without an exponent.
fn significant(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    format!("{value:.*}", usize::try_from(3 - magnitude).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (0.0, "0.000"),
            (833.3333, "833.3"),
            (0.000288, "0.0002880"),
            (41666.7, "41667"),
            (-1.5, "-1.500"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn conclusions_stand_above_the_quantities_and_those_below_what_they_are_about() {
        let quantity = |of: &str, what: &'static str| Quantity {
            of: of.to_owned(),
            what,
            value: 2.5,
            unit: "ms",
            formula: "a / b",
        };
        let quantities =
            vec![quantity("link", "delay"), quantity("link", "time constant"), quantity("a", "delay")];
        let analysis = Analysis { quantities, notes: vec!["It is stable.".to_owned()] };
        let expected = "t\n\n- It is stable.\n\nlink\n  delay          2.500 ms          a / b\n  time constant  2.500 ms          \
                        a / b\n\na\n  delay          2.500 ms          a / b\n\n";
        assert_eq!(words("t", &analysis), expected);
        let json: serde_json::Value =
            serde_json::from_str(&json("t", &BTreeMap::new(), &analysis).unwrap()).unwrap();
        assert_eq!(json["conclusions"][0], "It is stable.");
        assert_eq!(
            (&json["quantities"][2]["of"], &json["quantities"][2]["value"]),
            (&"a".into(), &2.5.into())
        );
    }
}
