//! `afteryou fluid --explain`: what follows from a scenario without running it.

use crate::list::wrap::wrap;
use crate::run_args::RunArgs;
use afteryou_fluid::{Analysis, Options, Quantity};
use afteryou_scenario::Experiment;
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use std::fmt::Write;

/// Prints it for every point of a file's sweep; repetitions follow from the same equations.
pub fn explain(name: &str, experiment: &Experiment, args: &RunArgs) -> Result<(), Failure> {
    for run in experiment.runs(args.seed, Some(1)).map_err(Failure::usage)? {
        let analysis = afteryou_fluid::explain(&run.scenario, &Options::of(&run.scenario));
        // All that the closed forms refuse is in the file.
        let analysis = analysis.map_err(|error| match error {
            afteryou_fluid::Error::Unsupported(what) => Failure::usage(experiment.refused(&run, &what)),
            other => Failure::usage(other),
        })?;
        let point = run.point.iter().map(|(setting, value)| format!(", {setting} = {value}"));
        output::print(&words(&format!("{name}{}", point.collect::<String>()), &analysis))?;
    }
    Ok(())
}

fn words(title: &str, analysis: &Analysis) -> String {
    let mut text = format!("{title}\n");
    let mut of = "";
    let widest = analysis.quantities.iter().map(|quantity| quantity.what.chars().count()).max().unwrap_or(0);
    for quantity in &analysis.quantities {
        if quantity.of != of {
            of = &quantity.of;
            let _ = writeln!(text, "\n{of}");
        }
        let _ = writeln!(text, "  {:<widest$}  {:<16}  {}", quantity.what, value(quantity), quantity.formula);
    }
    if !analysis.notes.is_empty() {
        text.push('\n');
    }
    for note in &analysis.notes {
        for (i, line) in wrap(note, output::width().saturating_sub(2)).iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if i == 0 { "- " } else { "  " });
        }
    }
    text.push('\n');
    text
}

/// Four significant digits.
fn value(quantity: &Quantity) -> String {
    let number = significant(quantity.value);
    format!("{number} {}", quantity.unit).trim_end().to_owned()
}

/// Four significant digits without an exponent.
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
    fn quantities_stand_below_what_they_are_about_and_notes_below_all() {
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
        let expected = "t\n\nlink\n  delay          2.500 ms          a / b\n  time constant  2.500 ms          a / b\n\n\
                        a\n  delay          2.500 ms          a / b\n\n- It is stable.\n\n";
        assert_eq!(words("t", &analysis), expected);
    }
}
