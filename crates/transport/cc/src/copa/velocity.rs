//! The velocity: how many steps the window takes at once, after it has moved the same way for a while.
//!
//! ```text
//!   once a round:   the same direction as in the round before?   no: v = 1
//!                   for more than three rounds?                  yes: v = 2 v, at most a window's worth
//!   at once:        the rate has crossed the target:             v = 1
//! ```
//! In equilibrium the direction stays for two and a half rounds, so v stays 1 there (§2.1).

/// Rounds in one direction before the velocity doubles (§2.1).
const STEADY_ROUNDS: u32 = 3;

/// The way that the window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// The velocity and what it follows from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Velocity {
    factor: f64,
    direction: Option<Direction>,
    /// Rounds in this direction.
    rounds: u32,
    /// The window when the round began, bytes.
    cwnd_then: f64,
}

impl Velocity {
    /// Begins with a velocity of 1 at this window, bytes.
    pub(super) fn from(cwnd: f64) -> Velocity {
        Velocity { factor: 1.0, direction: None, rounds: 0, cwnd_then: cwnd }
    }

    pub(super) fn get(&self) -> f64 {
        self.factor
    }

    /// Takes note of the way that the window is about to move: a velocity of the other way is over (mvfst).
    pub(super) fn turn(&mut self, up: bool, cwnd: f64) {
        let direction = Some(if up { Direction::Up } else { Direction::Down });
        if self.factor > 1.0 && self.direction != direction {
            *self = Velocity { direction, ..Velocity::from(cwnd) };
        }
    }

    /// Ends a round with this window, bytes; `most` is the largest velocity.
    pub(super) fn on_round(&mut self, cwnd: f64, most: f64) {
        let direction = match cwnd - core::mem::replace(&mut self.cwnd_then, cwnd) {
            moved if moved > 0.0 => Some(Direction::Up),
            moved if moved < 0.0 => Some(Direction::Down),
            _ => None,
        };
        let is_same = direction.is_some() && direction == self.direction;
        self.direction = direction;
        self.rounds = if is_same { self.rounds.saturating_add(1) } else { 1 };
        self.factor = match self.rounds > STEADY_ROUNDS {
            true => (2.0 * self.factor).min(most).max(1.0),
            false => 1.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the velocities after rounds that move the window by these steps.
    fn velocities(steps: &[f64], most: f64) -> Vec<f64> {
        let (mut velocity, mut cwnd) = (Velocity::from(1000.0), 1000.0);
        let mut after = |step: &f64| {
            cwnd += step;
            velocity.on_round(cwnd, most);
            velocity.get()
        };
        steps.iter().map(&mut after).collect()
    }

    #[test]
    fn it_doubles_after_three_rounds_in_one_direction_and_starts_again_with_another() {
        let steps = [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, -8.0, -1.0, -1.0, -1.0, 1.0];
        let expected = [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0, 1.0, 2.0, 1.0];
        assert_eq!(velocities(&steps, 100.0), expected);
    }

    #[test]
    fn at_a_turn_it_starts_again_and_counts_whole_rounds_of_the_new_direction() {
        let mut velocity = Velocity::from(0.0);
        (1..=6).for_each(|i| velocity.on_round(f64::from(i), 100.0));
        velocity.turn(true, 6.0);
        assert_eq!(velocity.get(), 8.0);
        velocity.turn(false, 6.0);
        assert_eq!(velocity.get(), 1.0);
        let rounds = (1..=5).map(|i| {
            velocity.on_round(6.0 - f64::from(i), 100.0);
            velocity.get()
        });
        assert_eq!(rounds.collect::<Vec<_>>(), [1.0, 1.0, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn a_window_that_stays_has_no_direction() {
        assert_eq!(velocities(&[0.0; 10], 100.0), [1.0; 10]);
    }

    #[test]
    fn it_stays_below_the_most() {
        assert_eq!(velocities(&[1.0; 7], 5.0)[3..], [2.0, 4.0, 5.0, 5.0]);
        assert_eq!(velocities(&[1.0; 7], 0.5), [1.0; 7]);
    }
}
