//! Measures: functions from one run to numbers, by name.
//!
//! | module | measures |
//! |---|---|
//! | `link` | a link in a window: utilisation, its queue |
//! | `flow` | rates and shares of flows and of sets of flows |
//! | `sender` | windows, delays and stalls of a sender |
//! | `curve` | curves of a run: values at times, extremes, and points for figures |
//! | `event` | exact events of senders |
//! | `cycle` | slow-downs of LEDBAT++: their times, and windows and round-trip times between them |
//!
//! Every measure takes `window`, the name of a `[[measure]]` of the scenario; without it the first one is meant.

mod curve;
mod cycle;
mod event;
mod flow;
mod link;
mod sender;

use crate::entry::{Args, Call};
use crate::error::{Error, Result};
use crate::reading::Reading;
use afteryou_scenario::outcome::{Outcome, SetFigures, WindowFigures};
use afteryou_scenario::Flow;

/// A measure.
#[derive(Clone, Copy)]
pub struct Measure {
    /// Its name in the papers' files.
    pub name: &'static str,
    /// Its meaning, unit and arguments in one sentence.
    pub help: &'static str,
    /// Takes it of a run.
    pub take: fn(&Outcome, &Args) -> Result<Reading>,
}

/// Returns every measure, module by module.
pub fn all() -> impl Iterator<Item = &'static Measure> {
    let modules: [&[Measure]; 6] =
        [link::MEASURES, flow::MEASURES, sender::MEASURES, curve::MEASURES, event::MEASURES, cycle::MEASURES];
    modules.into_iter().flatten()
}

/// Takes the measure that `call` names.
///
/// # Errors
/// An unknown measure, a missing argument, or a run that has nothing to measure.
pub fn take(outcome: &Outcome, call: &Call) -> Result<Reading> {
    let measure = find(&call.name)?;
    (measure.take)(outcome, &call.with)
        .map_err(|error| Error::NoReading(format!("measure {}: {error}", call.name)))
}

/// Returns the measure with this name.
///
/// # Errors
/// [`Error::NoReading`] if there is none.
pub fn find(name: &str) -> Result<&'static Measure> {
    all()
        .find(|measure| measure.name == name)
        .ok_or_else(|| Error::NoReading(format!("there is no measure {name:?}")))
}

/// Returns the window that the arguments name, or the first one.
fn window<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a WindowFigures> {
    let windows = &outcome.run.windows;
    let found = match args.text("window") {
        None => windows.first(),
        Some(name) => windows.iter().find(|window| window.window == name),
    };
    found.ok_or_else(|| {
        Error::NoReading(format!("the run has no window {:?}", args.text("window").unwrap_or("at all")))
    })
}

/// Returns the figures of the set of flows that a `[[measure]]` names.
fn set<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a SetFigures> {
    let sets = &outcome.run.sets;
    let found = match args.text("window") {
        None => sets.first(),
        Some(name) => sets.iter().find(|set| set.window == name),
    };
    found.ok_or_else(|| nothing("no [[measure]] of the scenario names flows"))
}

/// Returns whether `flow` is the flow with this name, or one of the table that stands for several.
fn is(outcome: &Outcome, flow: &str, name: &str) -> bool {
    let of_group = |known: &&Flow| known.name == flow && known.group.as_deref() == Some(name);
    flow == name || outcome.scenario.flow.iter().any(|known| of_group(&known))
}

/// Returns the flow of the scenario with this name, or the first of a table with several flows.
fn known<'a>(outcome: &'a Outcome, name: &str) -> Result<&'a Flow> {
    let known = outcome.scenario.flow.iter().find(|known| is(outcome, &known.name, name));
    known.ok_or_else(|| nothing(format!("the scenario has no flow {name:?}")))
}

fn nothing(what: impl Into<String>) -> Error {
    Error::NoReading(what.into())
}
