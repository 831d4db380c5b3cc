//! How much of reality a run takes in.

/// What a round trip takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundTrip {
    /// The empty path's time, whatever the queue: as in the papers, where the closed forms are exact.
    Constant,
    /// The empty path's time and the queue's.
    #[default]
    WithQueue,
}

/// When a sender learns of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// At once: as in the papers.
    AtOnce,
    /// When the acknowledgement of a packet that met it is back.
    #[default]
    Delayed,
}

/// What a sender takes for the empty path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The empty path: as in the papers.
    Known,
    /// The shortest delay that it has seen since it started: a latecomer takes the standing queue for the path.
    #[default]
    Measured,
}

/// How a run is done. The default is as close to reality as the models come; [`Options::PAPERS`] is what the closed forms
/// speak of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// What a round trip takes.
    pub round_trip: RoundTrip,
    /// When a sender learns of the queue.
    pub feedback: Feedback,
    /// What a sender takes for the empty path.
    pub base: Base,
    /// LEDBAT++'s slowdowns are a factor on its rate instead of events.
    pub mean_slowdowns: bool,
    /// Length of a step at most, s; a tenth of the shortest round trip, or less, if not said.
    pub step_s: Option<f64>,
}

impl Options {
    /// The assumptions of the papers: constant round trips, feedback at once, the empty path known.
    pub const PAPERS: Options = Options {
        round_trip: RoundTrip::Constant,
        feedback: Feedback::AtOnce,
        base: Base::Known,
        mean_slowdowns: false,
        step_s: None,
    };
}
