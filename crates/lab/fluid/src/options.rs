//! How much of reality a run takes in.

use afteryou_scenario::fluid::Slowdowns;
pub use afteryou_scenario::fluid::{Base, Feedback, Pacing, RoundTrip};
use afteryou_scenario::Scenario;

/// How a run is done. The default is as close to reality as the models come; [`Options::PAPERS`] is the case of the closed
/// forms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// The components of a round trip.
    pub round_trip: RoundTrip,
    /// When a sender learns of the queue.
    pub feedback: Feedback,
    /// The sender's source of the base delay.
    pub base: Base,
    /// LEDBAT++'s slowdowns are a factor on its rate instead of events.
    pub mean_slowdowns: bool,
    /// Which flows spread their windows over the round trip.
    pub pacing: Pacing,
    /// The smallest window of every flow, packets; by its model if there is none.
    pub floor: Option<f64>,
    /// Length of a step at most, s; a tenth of the shortest round trip, or less, by default.
    pub step_s: Option<f64>,
}

impl Options {
    /// The assumptions of the papers: constant round trips, feedback at once, the base delay known.
    pub const PAPERS: Options = Options {
        round_trip: RoundTrip::Constant,
        feedback: Feedback::AtOnce,
        base: Base::Known,
        mean_slowdowns: false,
        pacing: Pacing::All,
        floor: None,
        step_s: None,
    };

    /// Reads the scenario's section `[fluid]`.
    pub fn of(scenario: &Scenario) -> Options {
        let Some(fluid) = &scenario.fluid else { return Options::default() };
        Options {
            round_trip: fluid.rtt,
            feedback: fluid.feedback,
            base: fluid.base,
            mean_slowdowns: fluid.slowdowns == Slowdowns::Mean,
            pacing: fluid.pacing,
            floor: fluid.floor,
            step_s: fluid.step.map(|step| step.as_secs_f64()),
        }
    }
}
