//! When a run is over.

use crate::error::Error;
use afteryou_base::Span;
use afteryou_scenario::{Flow, Scenario, Traffic};

/// When a run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// With the scenario's duration, as in the simulator.
    #[default]
    Duration,
    /// With the last flow of a given size, if there is one; the duration is a limit then. A file is sent so.
    Sizes,
}

impl End {
    /// Returns whether sizes end a run of `scenario`.
    pub(crate) fn is_by_sizes(self, scenario: &Scenario) -> bool {
        self == End::Sizes && scenario.flow.iter().any(is_sized)
    }

    /// Returns whether a run of `scenario` is over at the time `now`. `is_finished` answers for the flow of a given size with an index.
    ///
    /// # Errors
    /// A flow of a given size that is not finished when its time is up.
    pub(crate) fn is_over(
        self,
        scenario: &Scenario,
        now: Span,
        mut is_finished: impl FnMut(usize) -> bool,
    ) -> Result<bool, Error> {
        let timed_out = now >= scenario.duration.0;
        if !timed_out && !self.is_by_sizes(scenario) {
            return Ok(false);
        }
        let mut sized = scenario.flow.iter().enumerate().filter(|(_, flow)| is_sized(flow));
        match sized.find(|(index, _)| !is_finished(*index)) {
            None => Ok(true),
            Some((_, flow)) if timed_out => {
                Err(Error::Unfinished { flow: flow.name.clone(), seconds: scenario.duration.as_secs_f64() })
            }
            Some(_) => Ok(false),
        }
    }
}

fn is_sized(flow: &Flow) -> bool {
    matches!(flow.traffic, Traffic::Size(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Link, Role, Size};

    /// Returns a scenario of a call of 4 s and `files` files.
    fn scenario(files: usize) -> Scenario {
        let link = Link::new("5 Mbit/s".parse().unwrap(), "100 ms".parse().unwrap());
        let flow = |traffic| Flow {
            traffic,
            ..Flow::new("a", Role::Foreground, "cubic", Duration::from_millis(40))
        };
        let file = flow(Traffic::Size(Size::from_bytes(20_000)));
        let flows = [vec![flow(Traffic::Bulk)], vec![file; files]].concat();
        Scenario { flow: flows, ..Scenario::new("", Duration::from_millis(4000), link) }
    }

    #[test]
    fn a_run_lasts_for_the_scenarios_duration_whatever_its_files_do() {
        for files in 0..3 {
            let over = |ms| End::Duration.is_over(&scenario(files), Span::from_millis(ms), |_| true).unwrap();
            assert_eq!([0, 500, 3999, 4000].map(over), [false, false, false, true], "{files}");
        }
    }

    #[test]
    fn where_sizes_end_a_run_it_is_over_with_the_last_and_without_any_with_its_duration() {
        let over = |files, ms, finished: usize| {
            let (scenario, now) = (scenario(files), Span::from_millis(ms));
            End::Sizes.is_over(&scenario, now, |index| index <= finished).unwrap()
        };
        assert!(!over(2, 500, 1) && over(2, 500, 2));
        assert!(!over(0, 500, 0) && over(0, 4000, 0));
    }

    #[test]
    fn a_file_that_is_not_finished_in_time_is_named() {
        for end in [End::Duration, End::Sizes] {
            let error = end.is_over(&scenario(1), Span::from_millis(4000), |_| false).unwrap_err();
            assert!(error.to_string().contains("was not finished after 4 s"), "{error}");
        }
    }
}
