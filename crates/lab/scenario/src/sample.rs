//! The step of curves, which a scenario may choose.

use crate::scenario::Scenario;
use afteryou_base::Span;
use afteryou_notation::{Duration, Error};

/// Most points of a curve.
const MOST_SAMPLES: u64 = 100_000;
/// Shortest time between two points of a curve.
const SHORTEST_SAMPLE: Span = Span::from_millis(1);

impl Scenario {
    /// Checks the sampling step: the points of a curve are bounded, since each flow has several curves.
    ///
    /// # Errors
    /// A step longer than the run, or so short that the curves would have too many points.
    pub fn check_sample(&self) -> Result<(), Error> {
        let Some(sample) = self.sample else { return Ok(()) };
        let least = Duration((self.duration.0 / MOST_SAMPLES).max(SHORTEST_SAMPLE));
        match (least..=self.duration).contains(&sample) {
            true => Ok(()),
            false => Err(Error::Contradiction(format!(
                "sample = {sample} is no step for curves of {}: use {least} to {}",
                self.duration, self.duration
            ))),
        }
    }
}
