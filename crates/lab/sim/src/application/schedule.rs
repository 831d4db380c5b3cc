//! When an application is at work.

use afteryou_base::{Span, Time};
use afteryou_scenario::{Flow, Traffic};

/// A flow's time table.
#[derive(Clone, Debug)]
pub struct Schedule {
    start: Time,
    /// From here on it is over.
    stop: Time,
    active: Vec<(Time, Time)>,
    on_off: Option<(Span, Span)>,
}

impl Schedule {
    /// Reads the time table of a flow in a run that ends at `end`.
    pub fn new(flow: &Flow, end: Time) -> Schedule {
        let time = |at: afteryou_scenario::Duration| Time(at.0 .0);
        let on_off = match flow.traffic {
            Traffic::OnOff { on, off } => Some((on.0, off.0)),
            _ => None,
        };
        Schedule {
            start: time(flow.start),
            stop: flow.stop.map_or(end, time).min(end),
            active: flow.active.iter().map(|[from, to]| (time(*from), time(*to))).collect(),
            on_off,
        }
    }

    /// Returns when it is over.
    pub fn stop(&self) -> Time {
        self.stop
    }

    /// Returns whether the application is active.
    pub fn is_on(&self, at: Time) -> bool {
        if at < self.start || at >= self.stop {
            return false;
        }
        let listed =
            self.active.is_empty() || self.active.iter().any(|(from, to)| (*from..*to).contains(&at));
        let phase = self.on_off.is_none_or(|(on, off)| at.since(self.start).0 % (on.0 + off.0) < on.0);
        listed && phase
    }

    /// Returns the next instant after `at` at which that may change.
    pub fn next_change(&self, at: Time) -> Option<Time> {
        let edges = self.active.iter().flat_map(|(from, to)| [*from, *to]);
        let edges = edges.chain([self.start, self.stop]).chain(self.next_phase(at));
        edges.filter(|edge| *edge > at && *edge <= self.stop).min()
    }

    fn next_phase(&self, at: Time) -> Option<Time> {
        let (on, off) = self.on_off?;
        if at < self.start {
            return None;
        }
        let into = at.since(self.start).0 % (on.0 + off.0);
        let left = if into < on.0 { on.0 - into } else { on.0 + off.0 - into };
        Some(at + Span(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Role};

    fn changes(flow: &Flow, end_s: u64) -> Vec<(u64, bool)> {
        let schedule = Schedule::new(flow, Time::from_millis(end_s * 1000));
        let mut at = Time::ZERO;
        let mut seen = vec![(0, schedule.is_on(at))];
        while let Some(next) = schedule.next_change(at) {
            at = next;
            seen.push((at.as_micros() / 1_000_000, schedule.is_on(at)));
        }
        seen
    }

    #[test]
    fn every_form_of_activity_begins_and_ends_when_it_says() {
        let s = |s: u64| Duration::from_millis(s * 1000);
        let flow = |traffic| Flow { traffic, ..Flow::new("a", Role::Foreground, "cubic", s(0)) };
        let bulk = Flow { start: s(2), stop: Some(s(5)), ..flow(Traffic::Bulk) };
        assert_eq!(changes(&bulk, 9), [(0, false), (2, true), (5, false)]);
        let listed = Flow { active: vec![[s(0), s(1)], [s(3), s(4)]], ..flow(Traffic::Bulk) };
        assert_eq!(changes(&listed, 9), [(0, true), (1, false), (3, true), (4, false), (9, false)]);
        let on_off = Flow { start: s(1), ..flow(Traffic::OnOff { on: s(2), off: s(3) }) };
        assert_eq!(
            changes(&on_off, 9),
            [(0, false), (1, true), (3, false), (6, true), (8, false), (9, false)]
        );
    }
}
