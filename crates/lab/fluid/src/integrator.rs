//! The classical Runge-Kutta method of the fourth order, in fixed steps, with delays.
//!
//! Steps are fixed so that a run is the same everywhere and events lie on edges. Delays must be as long as a step or
//! longer: then every stage reads what is past. Delayed values are read from the [history](crate::history) by cubics,
//! so a smooth delayed system is solved to the fourth order, too. Where a right-hand side has a kink inside a step, the
//! order across it is two; where it jumps, one. The network's tests measure both.

use crate::history::{Edge, History, Past};

/// A right-hand side.
pub trait System {
    /// Its values of the past at one time.
    type Echo: Default;

    /// Reads it. Two stages of a step are at one time, and what is past depends on nothing else.
    fn look_back(&self, t_s: f64, history: &History, echo: &mut Self::Echo);

    /// Writes dy/dt at state `y`. Returns the loss there.
    fn slope(&self, y: &[f64], echo: &Self::Echo, dy: &mut [f64]) -> f64;

    /// Brings a state that a step has left outside its bounds back to them.
    fn restrain(&self, _y: &mut [f64]) {}
}

/// A system's state as time passes.
pub struct Integrator<S: System> {
    step_s: f64,
    y: Vec<f64>,
    slope: Vec<f64>,
    loss: f64,
    echo: S::Echo,
    history: History,
    scratch: Scratch<S::Echo>,
}

struct Scratch<Echo> {
    k: [Vec<f64>; 3],
    stage: Vec<f64>,
    end: Vec<f64>,
    end_slope: Vec<f64>,
    middle: Echo,
}

impl<S: System> Integrator<S> {
    /// Creates an integrator at time zero in state `y`, with delays of at most `longest_delay_s`.
    pub fn new(system: &S, y: Vec<f64>, step_s: f64, longest_delay_s: f64, past: Past) -> Integrator<S> {
        let zeros = || vec![0.0; y.len()];
        let scratch = Scratch {
            k: [zeros(), zeros(), zeros()],
            stage: zeros(),
            end: zeros(),
            end_slope: zeros(),
            middle: S::Echo::default(),
        };
        let history = History::new(y.len(), step_s, longest_delay_s, past);
        let mut echo = S::Echo::default();
        system.look_back(0.0, &history, &mut echo);
        let mut integrator = Integrator { step_s, slope: zeros(), loss: 0.0, echo, history, scratch, y };
        integrator.settle(system);
        integrator
    }

    /// Returns the time.
    pub fn t_s(&self) -> f64 {
        self.history.steps() as f64 * self.step_s
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.history.steps()
    }

    /// Returns the state.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Returns the derivative of the state.
    pub fn slope(&self) -> &[f64] {
        &self.slope
    }

    /// Returns the loss now.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Returns the values of the past that count now.
    pub fn echo(&self) -> &S::Echo {
        &self.echo
    }

    /// Returns the state, to change it at an event; [`Integrator::settle`] must follow.
    pub fn y_mut(&mut self) -> &mut [f64] {
        &mut self.y
    }

    /// Settles the derivative after an event: it is another one now.
    pub fn settle(&mut self, system: &S) {
        self.loss = system.slope(&self.y, &self.echo, &mut self.slope);
    }

    /// Integrates one step.
    pub fn step(&mut self, system: &S) {
        let (t, h) = (self.t_s(), self.step_s);
        let Integrator { y, slope, loss, echo, history, scratch, .. } = self;
        let Scratch { k: [k2, k3, k4], stage, end, end_slope, middle } = scratch;
        let ahead = |stage: &mut [f64], k: &[f64], by: f64| {
            for ((stage, y), k) in stage.iter_mut().zip(&*y).zip(k) {
                *stage = y + by * k;
            }
        };
        system.look_back(t + h / 2.0, history, middle);
        system.look_back(t + h, history, echo);
        ahead(stage, slope, h / 2.0);
        system.slope(stage, middle, k2);
        ahead(stage, k2, h / 2.0);
        system.slope(stage, middle, k3);
        ahead(stage, k3, h);
        system.slope(stage, echo, k4);
        for i in 0..y.len() {
            end[i] = y[i] + h / 6.0 * (slope[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
        }
        system.restrain(end);
        let end_loss = system.slope(end, echo, end_slope);
        history.push(
            Edge { state: y, slope, loss: *loss },
            Edge { state: end, slope: end_slope, loss: end_loss },
        );
        std::mem::swap(y, end);
        std::mem::swap(slope, end_slope);
        *loss = end_loss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y' = a · y(t − 1), whose solutions are exponentials: λ = a · e^(−λ).
    struct Delayed {
        a: f64,
    }

    impl System for Delayed {
        type Echo = f64;

        fn look_back(&self, t_s: f64, history: &History, echo: &mut f64) {
            *echo = history.read(&history.at(t_s - 1.0), 0);
        }

        fn slope(&self, _: &[f64], echo: &f64, dy: &mut [f64]) -> f64 {
            dy[0] = self.a * echo;
            0.0
        }
    }

    /// y'' = −y, or with a kink where y passes zero: y'' = −max(y, 0) − y/10; or with a jump there.
    enum Spring {
        Smooth,
        Kink,
        Jump,
    }

    impl System for Spring {
        type Echo = ();

        fn look_back(&self, _: f64, _: &History, _: &mut ()) {}

        fn slope(&self, y: &[f64], _: &(), dy: &mut [f64]) -> f64 {
            dy[0] = y[1];
            dy[1] = match self {
                Spring::Smooth => -y[0],
                Spring::Kink => -y[0].max(0.0) - y[0] / 10.0,
                Spring::Jump if y[0] > 0.0 => -1.0,
                Spring::Jump => 0.5,
            };
            0.0
        }
    }

    /// Returns the end of a run of `to_s` in steps of `h`.
    fn end(system: &impl System, start: &[f64], h: f64, to_s: f64, past: Past) -> Vec<f64> {
        let mut integrator = Integrator::new(system, start.to_vec(), h, 1.0, past);
        (0..(to_s / h).round() as u64).for_each(|_| integrator.step(system));
        integrator.y().to_vec()
    }

    fn no_past() -> Past {
        Box::new(|_, _| 0.0)
    }

    /// Returns the error's fall when the step is halved, as a power of two. It is the mean over many starts, because the
    /// place of a kink within a step is chance.
    fn order(system: &impl System, h: f64) -> f64 {
        let error = |h: f64| {
            let of = |i: u32| {
                let start = [1.0 + f64::from(i) / 40.0, 0.3];
                let (coarse, fine) =
                    (end(system, &start, h, 8.0, no_past()), end(system, &start, h / 32.0, 8.0, no_past()));
                (coarse[0] - fine[0]).abs() + (coarse[1] - fine[1]).abs()
            };
            (0..40).map(of).sum::<f64>()
        };
        libm::log2(error(h) / error(h / 2.0))
    }

    #[test]
    fn a_smooth_system_is_solved_to_the_fourth_order() {
        let exact = |t: f64| libm::cos(t);
        let error = |h: f64| (end(&Spring::Smooth, &[1.0, 0.0], h, 8.0, no_past())[0] - exact(8.0)).abs();
        let order = libm::log2(error(0.1) / error(0.05));
        assert!((3.9..4.1).contains(&order), "{order}");
    }

    #[test]
    fn a_smooth_delayed_system_is_solved_to_the_fourth_order() {
        for lambda in [-0.5f64, 0.3, 0.8] {
            let system = Delayed { a: lambda * libm::exp(lambda) };
            let exact = move |t: f64| libm::exp(lambda * t);
            let run = |h: f64| end(&system, &[1.0], h, 4.0, Box::new(move |t, _| exact(t)))[0];
            // The delay of 1 s is 6.5 steps or 19.5: what is read lies between edges, and at the same place in both.
            let error = |h: f64| (run(h) / exact(4.0) - 1.0).abs();
            let order = libm::log(error(4.0 / 26.0) / error(4.0 / 78.0)) / libm::log(3.0);
            assert!((3.8..4.3).contains(&order), "λ = {lambda}: {order}");
        }
    }

    #[test]
    fn across_a_kink_the_order_is_two_and_across_a_jump_one() {
        let (kink, jump) = (order(&Spring::Kink, 0.02), order(&Spring::Jump, 0.02));
        assert!((1.8..2.3).contains(&kink), "{kink}");
        assert!((0.8..1.3).contains(&jump), "{jump}");
    }
}
