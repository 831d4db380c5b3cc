//! A scenario to an outcome.

use crate::error::Error;
use crate::options::Options;
use crate::plan::Plan;
use crate::record::Recorder;
use crate::trajectory::Trajectory;
use afteryou_scenario::outcome::{Outcome, Run};
use afteryou_scenario::{Checked, Scenario};
use std::ops::ControlFlow;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidProgress {
    /// Time in the run, s.
    pub at_s: f64,
    /// Length of the whole run, s.
    pub of_s: f64,
}

/// Steps between two looks at the watcher's clock.
const WATCH_EVERY: u64 = 1 << 14;

/// Integrates the equations of `scenario`, and once more without its background flows if it asks for that. `watch` is
/// called now and then with how far the run is; it may break everything off.
///
/// # Errors
/// Anything in the scenario that has no fluid model, a run of too many steps, an interruption.
pub fn run(
    scenario: &Checked,
    options: &Options,
    watch: &mut dyn FnMut(FluidProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let run = integrate(scenario, options, watch)?;
    let baseline = match scenario.baseline {
        true => Some(integrate(&scenario.without_background(), options, watch)?),
        false => None,
    };
    Ok(Outcome::new("fluid", env!("CARGO_PKG_VERSION"), Scenario::clone(scenario), run, baseline))
}

fn integrate(
    scenario: &Scenario,
    options: &Options,
    watch: &mut dyn FnMut(FluidProgress) -> ControlFlow<()>,
) -> Result<Run, Error> {
    let Plan { network, step_s, steps, changes } = Plan::new(scenario, options)?;
    let of_s = scenario.duration.as_secs_f64();
    let mut trajectory = Trajectory::idle(network, step_s);
    let mut recorder = Recorder::new(scenario, step_s);
    let mut changes = changes.into_iter().peekable();
    let begin = scenario.fluid.as_ref();
    if let Some(packets) = begin.and_then(|fluid| fluid.queue) {
        let size = largest_packet(&trajectory);
        trajectory.fill_queue(packets * size);
        recorder.wait_first(trajectory.queue(), size);
    }
    let first_window = |flow: usize| begin.and_then(|fluid| fluid.windows.get(flow).copied());
    for step in 0..=steps {
        while let Some(change) = changes.next_if(|change| change.step == step) {
            match change.starts {
                true if !recorder.is_complete(change.flow) => {
                    match first_window(change.flow) {
                        Some(window) => trajectory.start_with(change.flow, window),
                        None => trajectory.start(change.flow),
                    }
                    recorder.mark(trajectory.t_s(), change.flow, "start");
                }
                true => {}
                false if trajectory.is_on(change.flow) => {
                    trajectory.stop(change.flow);
                    if scenario.flow[change.flow].reconnect {
                        trajectory.forget_path(change.flow);
                    }
                    recorder.mark(trajectory.t_s(), change.flow, "stop");
                }
                false => {}
            }
        }
        recorder.at_edge(step, &trajectory);
        if step == steps {
            break;
        }
        for flow in recorder.pass(&trajectory) {
            trajectory.stop(flow);
        }
        trajectory.step();
        if !trajectory.queue().is_finite() {
            return Err(Error::Diverged { at_s: trajectory.t_s() });
        }
        let progress = FluidProgress { at_s: trajectory.t_s(), of_s };
        if (step % WATCH_EVERY == 0 || step + 1 == steps) && watch(progress).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(recorder.finish())
}

/// Returns the size of a packet in the buffer, bytes: as where the buffer counts packets.
fn largest_packet(trajectory: &Trajectory) -> f64 {
    trajectory.network().senders.iter().map(|sender| sender.size).fold(1.0, f64::max)
}
