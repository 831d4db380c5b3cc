//! Stratified draws: each axis of a stratum has exactly the shares that were asked for, in an order of its own.
//!
//! The axes of a product would need thousands of cells for a few values each. Here each axis is a column as long as the stratum: a column of
//! numbers has one in each of as many equal parts of its range, a column of choices has each as often as its weight says. Columns are
//! shuffled independently of each other (Latin hypercube sampling; McKay, Beckman and Conover 1979).

use afteryou_scenario::random::{self, uniform};
use rand_pcg::Pcg64;

/// The draws of one stratum.
pub struct Lots {
    seed: u64,
    /// The set and the stratum, part of the name of every stream.
    name: String,
    cells: usize,
}

impl Lots {
    /// Creates the draws of `cells` cells; `name` and `seed` decide all of them.
    pub fn new(seed: u64, name: String, cells: usize) -> Lots {
        Lots { seed, name, cells }
    }

    /// Returns a number in [0, 1) for each cell, one in each of as many equal parts.
    pub fn spread(&self, axis: &str) -> Vec<f64> {
        let mut random = self.stream(axis);
        let part = |i: usize, random: &mut Pcg64| (i as f64 + uniform(random)) / self.cells as f64;
        let mut column: Vec<f64> = (0..self.cells).map(|i| part(i, &mut random)).collect();
        shuffle(&mut column, &mut random);
        column
    }

    /// Returns a choice for each cell, each as often as its weight says, rounded.
    pub fn deal<T: Copy>(&self, axis: &str, choices: &[(T, f64)]) -> Vec<T> {
        let all: f64 = choices.iter().map(|(_, weight)| weight).sum();
        let chosen = |i: usize| {
            let mut left = (i as f64 + 0.5) / self.cells as f64 * all;
            let found = choices.iter().find(|(_, weight)| {
                left -= weight;
                left < 0.0
            });
            found.or(choices.last()).map(|(choice, _)| *choice)
        };
        let mut column: Vec<T> = (0..self.cells).filter_map(chosen).collect();
        shuffle(&mut column, &mut self.stream(axis));
        column
    }

    /// Returns a seed for each cell.
    pub fn seeds(&self) -> Vec<u64> {
        // Files hold no larger whole numbers.
        (0..self.cells)
            .map(|i| random::seed_of(self.seed, &format!("{} seed {i}", self.name)) >> 12)
            .collect()
    }

    fn stream(&self, axis: &str) -> Pcg64 {
        random::stream(self.seed, &format!("{} {axis}", self.name))
    }
}

/// Puts a column into a random order (Fisher and Yates).
fn shuffle<T>(column: &mut [T], random: &mut Pcg64) {
    for last in (1..column.len()).rev() {
        let other = (uniform(random) * (last + 1) as f64) as usize;
        column.swap(last, other.min(last));
    }
}

/// Returns the value at `at` of [0, 1) between two ends, on a logarithmic scale.
pub fn log_between(from: f64, to: f64, at: f64) -> f64 {
    from * libm::pow(to / from, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lots(seed: u64) -> Lots {
        Lots::new(seed, "test".to_owned(), 40)
    }

    #[test]
    fn each_part_of_a_range_has_one_number_and_each_choice_its_share() {
        let mut numbers = lots(1).spread("rate");
        numbers.sort_by(f64::total_cmp);
        for (i, number) in numbers.iter().enumerate() {
            assert_eq!((number * 40.0) as usize, i);
        }
        let dealt = lots(1).deal("queue", &[("a", 3.0), ("b", 1.0)]);
        assert_eq!(dealt.iter().filter(|choice| **choice == "a").count(), 30);
    }

    #[test]
    fn another_seed_and_another_axis_have_another_order() {
        assert_eq!(lots(1).spread("rate"), lots(1).spread("rate"));
        assert_ne!(lots(1).spread("rate"), lots(2).spread("rate"));
        let order = |axis| lots(1).deal(axis, &[(0, 1.0), (1, 1.0)]);
        assert_ne!(order("a"), order("b"));
    }

    #[test]
    fn a_logarithmic_range_has_its_ends_and_its_geometric_middle() {
        assert_eq!(log_between(1.0, 100.0, 0.0), 1.0);
        assert!((log_between(1.0, 100.0, 0.5) - 10.0).abs() < 1e-9);
    }
}
