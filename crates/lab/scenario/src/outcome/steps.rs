//! Rates over time: an index of fairness for each step, and how long flows starve.

use super::round;
use super::set::{SetFigures, ShortTerm, Starved};
use super::window::jain;
use crate::flow_set::FlowSet;

/// A flow of the set in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Its goodput over its payload capacity.
    pub share: f64,
    /// Its goodput over its fair share; none of flows that have no such share.
    pub of_fair_share: Option<f64>,
    /// It received something, or had data to send.
    pub is_active: bool,
}

/// The steps of a window of a set, taken in one after another.
#[derive(Clone, Debug)]
pub struct Steps {
    step_s: f64,
    starved: f64,
    reach: f64,
    /// Jain's index of each step that has one.
    indices: Vec<f64>,
    skipped: u64,
    /// Steps that each flow of the set has been below.
    below: Vec<u64>,
    /// Most of them, and the flow.
    longest: (u64, Option<usize>),
    /// The end of the step in which the capacity was reached, s.
    reached_s: Option<f64>,
}

impl Steps {
    /// Creates the account before the first step.
    pub fn new(set: &FlowSet) -> Steps {
        Steps {
            step_s: set.step.as_secs_f64(),
            starved: set.starved.ratio(),
            reach: set.reach.ratio(),
            indices: Vec::new(),
            skipped: 0,
            below: vec![0; set.flows.len()],
            longest: (0, None),
            reached_s: None,
        }
    }

    /// Takes in the step that ends at `end_s`: each flow of the set in order. Then the bytes of each active member of
    /// each group among which the step's index is made. It is the mean over the groups that have one.
    pub fn take(&mut self, end_s: f64, flows: &[Member], groups: &[Vec<f64>]) {
        let with_index =
            groups.iter().filter(|active| active.len() > 1 && active.iter().any(|bytes| *bytes > 0.0));
        let (sum, number) =
            with_index.fold((0.0, 0), |(sum, number), active| (sum + jain(active), number + 1));
        match number {
            0 => self.skipped += 1,
            number => self.indices.push(sum / f64::from(number)),
        }
        for (i, (below, flow)) in self.below.iter_mut().zip(flows).enumerate() {
            let starves = flow.is_active && flow.of_fair_share.is_some_and(|part| part < self.starved);
            *below = if starves { *below + 1 } else { 0 };
            if *below > self.longest.0 {
                self.longest = (*below, Some(i));
            }
        }
        let share = flows.iter().fold(0.0, |sum, flow| sum + flow.share);
        if self.reached_s.is_none() && !flows.is_empty() && share >= self.reach {
            self.reached_s = Some(end_s);
        }
    }

    /// Adds what the steps show to the figures of the set; `start_s` is when the first of its flows started, at the earliest
    /// with the window.
    pub fn fill(mut self, set: &FlowSet, start_s: f64, figures: &mut SetFigures) {
        let steps = self.indices.len();
        self.indices.sort_by(f64::total_cmp);
        let rank = (5 * steps).div_ceil(100).clamp(1, steps.max(1));
        figures.short_term = (steps > 0).then(|| ShortTerm {
            step_s: self.step_s,
            steps: steps as u64,
            skipped: self.skipped,
            mean: round(self.indices.iter().sum::<f64>() / steps as f64, 6),
            p5: round(self.indices[rank - 1], 6),
        });
        let (longest, flow) = self.longest;
        figures.starved = (steps as u64 + self.skipped > 0).then(|| Starved {
            below: self.starved,
            longest_s: round(longest as f64 * self.step_s, 6),
            flow: flow.map(|flow| set.flows[flow].clone()),
        });
        figures.start_up_s = self.reached_s.map(|reached_s| round((reached_s - start_s).max(0.0), 6));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(of_fair_share: f64) -> Member {
        Member { share: of_fair_share / 2.0, of_fair_share: Some(of_fair_share), is_active: true }
    }

    fn filled(steps: Steps, set: &FlowSet, start_s: f64) -> SetFigures {
        let mut figures = SetFigures::default();
        steps.fill(set, start_s, &mut figures);
        figures
    }

    fn set() -> FlowSet {
        FlowSet::new("all", vec!["one".to_owned(), "two".to_owned()])
    }

    /// Jain of (9, 1) is 100/164, of (10, 0) is 1/2, of (5, 5) is 1.
    #[test]
    fn the_index_of_steps_has_a_mean_and_a_fifth_percentile_and_steps_without_bytes_are_counted() {
        let mut steps = Steps::new(&set());
        for active in [[9.0, 1.0], [10.0, 0.0], [5.0, 5.0], [0.0, 0.0]] {
            steps.take(1.0, &[member(1.0), member(1.0)], &[active.to_vec()]);
        }
        steps.take(5.0, &[member(1.0), member(1.0)], &[vec![7.0]]);
        let short = filled(steps, &set(), 0.0).short_term.unwrap();
        assert_eq!((short.steps, short.skipped, short.p5), (3, 2, 0.5));
        assert_eq!(short.mean, round((100.0 / 164.0 + 0.5 + 1.0) / 3.0, 6));
    }

    /// Jain of (9, 1) is 100/164, of (5, 5) is 1; one member alone has none.
    #[test]
    fn the_index_of_a_step_is_the_mean_over_its_groups_that_have_one() {
        let mut steps = Steps::new(&set());
        steps.take(1.0, &[], &[vec![9.0, 1.0], vec![5.0, 5.0], vec![3.0], vec![0.0, 0.0]]);
        let short = filled(steps, &set(), 0.0).short_term.unwrap();
        assert_eq!((short.steps, short.mean), (1, round((100.0 / 164.0 + 1.0) / 2.0, 6)));
    }

    #[test]
    fn starvation_is_the_longest_run_of_steps_below_the_part_and_a_pause_ends_it() {
        let set = set();
        let mut steps = Steps::new(&set);
        let idle = Member { is_active: false, ..member(0.0) };
        let second = [0.05, 0.05, 0.2, 0.0, 0.09, 0.0].map(member);
        for (i, second) in second.into_iter().chain([idle, member(0.0)]).enumerate() {
            steps.take(i as f64 + 1.0, &[member(1.0), second], &[vec![1.0, 1.0]]);
        }
        let starved = filled(steps, &set, 0.0).starved.unwrap();
        assert_eq!((starved.longest_s, starved.flow.as_deref()), (3.0, Some("two")));
    }

    #[test]
    fn the_start_up_ends_with_the_first_step_that_reaches_the_part() {
        let set = set();
        let mut steps = Steps::new(&set);
        for (i, part) in [0.2, 0.5, 0.95, 0.5, 0.95].into_iter().enumerate() {
            steps.take(11.0 + i as f64, &[member(part), member(part)], &[vec![1.0, 1.0]]);
        }
        assert_eq!(filled(steps, &set, 10.5).start_up_s, Some(2.5));
        assert_eq!(filled(Steps::new(&set), &set, 0.0), SetFigures::default());
    }
}
