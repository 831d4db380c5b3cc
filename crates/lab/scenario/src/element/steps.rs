//! Values that change at given times.

use crate::points::Points;
use afteryou_notation::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value for each time: `[["0 s", "10 ms"], ["30 s", "4 ms"]]`. The first time is 0, and times ascend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[serde(bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>"))]
#[schemars(bound = "T: JsonSchema")]
pub struct Steps<T>(Points<(Duration, T)>);

impl<T: Copy> Steps<T> {
    /// Returns steps that always have the same value.
    pub fn constant(value: T) -> Steps<T> {
        Steps(vec![(Duration::default(), value)].into())
    }

    /// Creates the steps of `points`. The error has the index of the first point that is wrong and the reason.
    ///
    /// # Errors
    /// No points, a first one that is not at 0, times that do not ascend.
    pub fn new(points: Vec<(Duration, T)>) -> Result<Steps<T>, (usize, &'static str)> {
        let steps = Steps(points.into());
        steps.check().map(|()| steps)
    }

    /// Returns whether it begins at 0 with ascending times.
    ///
    /// # Errors
    /// No points, a first one that is not at 0, times that do not ascend; with the index of the point.
    pub fn check(&self) -> Result<(), (usize, &'static str)> {
        match self.0.first() {
            None => return Err((0, "there are no steps: write one at least")),
            Some((at, _)) if *at != Duration::default() => return Err((0, "the first step is at 0 s")),
            Some(_) => {}
        }
        match self.0.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            Some(at) => Err((at + 1, "times ascend from step to step")),
            None => Ok(()),
        }
    }

    /// Returns each step: from when, and its value.
    pub fn points(&self) -> &[(Duration, T)] {
        &self.0
    }

    /// Returns the value at a time.
    pub fn at(&self, time: Duration) -> Option<T> {
        let index = self.0.partition_point(|(from, _)| *from <= time);
        Some(self.0.get(index.checked_sub(1)?)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_until_the_next_one() {
        let s = |s: u64| Duration::from_millis(s * 1000);
        let steps = Steps::new(vec![(s(0), 1), (s(3), 2)]).unwrap();
        assert_eq!([0, 2, 3, 9].map(|at| steps.at(s(at)).unwrap()), [1, 1, 2, 2]);
        assert_eq!(Steps::new(vec![(s(0), 1), (s(3), 2), (s(3), 4)]).unwrap_err().0, 2);
        assert_eq!(Steps::new(vec![(s(1), 1)]).unwrap_err().0, 0);
        assert!(Steps::<u8>::new(Vec::new()).is_err());
    }
}
