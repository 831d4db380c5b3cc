//! A run that its caller carries on piece by piece, for programs that take turns with a controller.

use super::{Looks, World};
use crate::error::Error;
use crate::supports;
use afteryou_base::Time;
use afteryou_scenario::Checked;
use std::ops::ControlFlow;

/// A run of a scenario without measurements: what a controller experiences is all that there is to see. Packets and times are
/// those of [`run`](crate::run).
pub struct Steps {
    world: World<'static>,
}

impl Steps {
    /// Creates the beginning of a run.
    ///
    /// # Errors
    /// A feature of the scenario that the simulator does not have.
    pub fn new(scenario: &Checked) -> Result<Steps, Error> {
        if let Some(reason) = supports(scenario).err().into_iter().flatten().next() {
            return Err(reason.into());
        }
        Ok(Steps { world: World::new(scenario, Looks::default())? })
    }

    /// Continues until `after_event`, called after each event, breaks. Returns the time; none at the end of the scenario.
    pub fn go_on(&mut self, after_event: &mut dyn FnMut() -> ControlFlow<()>) -> Option<Time> {
        while let Some((now, slot)) = self.world.net.calendar.next() {
            if now > self.world.end {
                return None;
            }
            self.world.handle(now, slot.kind(), slot.index());
            if after_event().is_break() {
                return Some(now);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Flow, Link, Role, Scenario};

    fn scenario() -> Checked {
        let link = Link::new("10 Mbit/s".parse().unwrap(), "50 packets".parse().unwrap());
        let flow = Flow::new("a", Role::Foreground, "cubic", Duration::from_millis(50));
        Scenario { flow: vec![flow], ..Scenario::new("", Duration::from_millis(10_000), link) }
            .checked()
            .unwrap()
    }

    #[test]
    fn pieces_make_the_same_run_as_a_whole() {
        let whole = crate::run(&scenario(), &mut |_| ControlFlow::Continue(())).unwrap();
        let (mut steps, mut before, mut pieces) = (Steps::new(&scenario()).unwrap(), Time::ZERO, 0);
        while let Some(now) = steps.go_on(&mut || ControlFlow::Break(())) {
            assert!(now >= before);
            (before, pieces) = (now, pieces + 1);
        }
        assert!(pieces > 10_000, "{pieces}");
        steps.world.net.catch_up(steps.world.end);
        assert_eq!(steps.world.net.totals(0), whole.run.links[0]);
        assert!(steps.go_on(&mut || ControlFlow::Break(())).is_none(), "the end stays the end");
    }
}
