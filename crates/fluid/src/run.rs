//! A scenario to an outcome.

use crate::error::Error;
use crate::options::Options;
use afteryou_scenario::outcome::{Outcome, Run};
use afteryou_scenario::Scenario;

/// What has happened in a run so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time in the run, s.
    pub at_s: f64,
    /// Of so many.
    pub of_s: f64,
}

/// Integrates the equations of `scenario`, and once more without its background flows if it asks for that. `watch` is
/// called now and then with how far the run is; it ends everything by returning false.
///
/// # Errors
/// A scenario that contradicts itself, anything in it that has no fluid model, a run of too many steps, an interruption.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Outcome, Error> {
    scenario.check()?;
    let run = integrate(scenario, options, watch)?;
    let baseline = match scenario.baseline {
        true => Some(integrate(&scenario.without_background(), options, watch)?),
        false => None,
    };
    Ok(Outcome::new("fluid", env!("CARGO_PKG_VERSION"), scenario.clone(), run, baseline))
}

fn integrate(
    scenario: &Scenario,
    _options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Run, Error> {
    let of_s = scenario.duration.as_secs_f64();
    match watch(Progress { at_s: of_s, of_s }) {
        true => Ok(Run { duration_s: of_s, ..Run::default() }),
        false => Err(Error::Interrupted),
    }
}
