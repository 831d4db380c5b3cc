//! The state's past: the last steps of a run, and values between their edges.
//!
//! Delayed feedback asks for the state at times that lie between steps. Each step keeps the state and its derivative at
//! both of its ends. Between them the cubic through these four (Hermite) is exact to the fourth order, as the steps
//! are. Both ends are kept because events lie on edges: what a step ends with need not be what the next one begins
//! with.
//!
//! Before the beginning the past is a function, constant as a rule.

/// The state before the beginning: of time (negative) and component.
pub type Past = Box<dyn Fn(f64, usize) -> f64>;

/// The last steps of a run.
pub struct History {
    dimension: usize,
    step_s: f64,
    past: Past,
    /// A ring of steps: state and derivative at the beginning, then at the end, then the loss at both. It grows to its
    /// capacity only in runs that are that long.
    ring: Vec<f64>,
    capacity: u64,
    steps: u64,
}

/// A time at which several components are read.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    at_s: f64,
    /// Where the step begins in the ring; none before the beginning.
    offset: Option<usize>,
    /// Part of the step that has passed.
    theta: f64,
    /// Of the state at the beginning, of its derivative, of the state at the end, of its derivative.
    weights: [f64; 4],
}

/// The edge of a step.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    /// State.
    pub state: &'a [f64],
    /// The derivative of the state.
    pub slope: &'a [f64],
    /// Part of the arriving packets that is lost. Not part of the state: it jumps, and is read on straight lines.
    pub loss: f64,
}

impl History {
    /// Creates an empty history of `dimension` components that reaches back `longest_s` at least.
    pub fn new(dimension: usize, step_s: f64, longest_s: f64, past: Past) -> History {
        let capacity = ((longest_s / step_s).ceil() as u64).saturating_add(4);
        History { dimension, step_s, past, ring: Vec::new(), capacity, steps: 0 }
    }

    /// Returns the numbers that a step of `dimension` components takes.
    pub fn numbers_per_step(dimension: usize) -> u64 {
        4 * dimension as u64 + 2
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Adds one more step.
    pub fn push(&mut self, begin: Edge<'_>, end: Edge<'_>) {
        let stride = 4 * self.dimension + 2;
        let offset = (self.steps % self.capacity) as usize * stride;
        let n = self.dimension;
        if self.ring.len() < offset + stride {
            self.ring.resize(offset + stride, 0.0);
        }
        let slot = &mut self.ring[offset..offset + stride];
        slot[..n].copy_from_slice(begin.state);
        slot[n..2 * n].copy_from_slice(begin.slope);
        slot[2 * n..3 * n].copy_from_slice(end.state);
        slot[3 * n..4 * n].copy_from_slice(end.slope);
        (slot[4 * n], slot[4 * n + 1]) = (begin.loss, end.loss);
        self.steps += 1;
    }

    /// Returns the spot at time `at_s`. A time after the last step or before the oldest one takes the value of the nearest
    /// step.
    pub fn at(&self, at_s: f64) -> Spot {
        let (mut offset, mut theta) = (None, 0.0);
        if at_s >= 0.0 && self.steps > 0 {
            let position = at_s / self.step_s;
            let oldest = self.steps.saturating_sub(self.capacity);
            let index = (position as u64).clamp(oldest, self.steps - 1);
            theta = (position - index as f64).clamp(0.0, 1.0);
            offset = Some((index % self.capacity) as usize * (4 * self.dimension + 2));
        }
        let (t, rest) = (theta, 1.0 - theta);
        let weights = [
            (1.0 + 2.0 * t) * rest * rest,
            t * rest * rest * self.step_s,
            t * t * (3.0 - 2.0 * t),
            -t * t * rest * self.step_s,
        ];
        Spot { at_s, offset, theta, weights }
    }

    /// Returns the component at the spot.
    pub fn read(&self, spot: &Spot, component: usize) -> f64 {
        let Some(offset) = spot.offset else { return (self.past)(spot.at_s.min(0.0), component) };
        let [begin, begin_slope, end, end_slope] = spot.weights;
        let at = |part: usize| self.ring[offset + part * self.dimension + component];
        begin * at(0) + begin_slope * at(1) + end * at(2) + end_slope * at(3)
    }

    /// Returns the loss at the spot; 0 before the beginning.
    pub fn loss(&self, spot: &Spot) -> f64 {
        let Some(offset) = spot.offset else { return 0.0 };
        let at = |end: usize| self.ring[offset + 4 * self.dimension + end];
        (1.0 - spot.theta) * at(0) + spot.theta * at(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_read_exactly_between_edges_and_the_past_before_the_first() {
        let cubic = |t: f64| ((t - 2.0) * t + 3.0) * t - 1.0;
        let slope = |t: f64| (3.0 * t - 4.0) * t + 3.0;
        let mut history = History::new(1, 0.5, 2.0, Box::new(|t, _| 7.0 - t));
        assert_eq!(history.read(&history.at(-1.0), 0), 8.0);
        for n in 0..20 {
            let (t0, t1) = (f64::from(n) * 0.5, f64::from(n + 1) * 0.5);
            let begin = Edge { state: &[cubic(t0)], slope: &[slope(t0)], loss: t0 };
            let end = Edge { state: &[cubic(t1)], slope: &[slope(t1)], loss: t1 };
            history.push(begin, end);
        }
        for t in [8.0, 8.1, 8.7, 9.25, 10.0] {
            let spot = history.at(t);
            assert!((history.read(&spot, 0) - cubic(t)).abs() < 1e-10 * cubic(t), "{t}");
            assert!((history.loss(&spot) - t).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_forgotten_or_still_to_come_is_taken_at_the_nearest_step() {
        let mut history = History::new(1, 1.0, 2.0, Box::new(|_, _| 0.0));
        for n in 0..20 {
            let [from, to] = [f64::from(n), f64::from(n + 1)];
            history.push(
                Edge { state: &[from * from], slope: &[2.0 * from], loss: 0.0 },
                Edge { state: &[to * to], slope: &[2.0 * to], loss: 0.0 },
            );
        }
        // Six steps are remembered.
        let at = |t: f64| history.read(&history.at(t), 0);
        assert_eq!((at(3.0), at(13.5), at(14.0), at(20.0), at(21.0)), (196.0, 196.0, 196.0, 400.0, 400.0));
    }

    #[test]
    fn a_jump_at_an_edge_stays_a_jump() {
        let mut history = History::new(1, 1.0, 2.0, Box::new(|_, _| 0.0));
        let flat = |state: &'static [f64]| Edge { state, slope: &[0.0], loss: 0.0 };
        history.push(flat(&[1.0]), flat(&[1.0]));
        history.push(flat(&[5.0]), flat(&[5.0]));
        assert_eq!(history.read(&history.at(0.999), 0), 1.0);
        assert_eq!(history.read(&history.at(1.0), 0), 5.0);
    }
}
