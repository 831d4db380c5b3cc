//! The path of a network from one state on, sampled, and the phase planes that such orbits make.
//!
//! # Example
//! ```
//! use afteryou_fluid::closed::{fledbat, Symmetric};
//! use afteryou_fluid::orbit::{plane, spread, Axis};
//! use afteryou_fluid::Options;
//!
//! let at = Symmetric { flows: 2, capacity: 833.333, rtt_s: 0.050 };
//! let closed = fledbat::Closed { at, target_s: 0.025, alpha: 1.0, zeta: 0.1 };
//! let starts = spread(&closed.equilibrium(), 2, 5, 1);
//! for orbit in plane(&closed.network(Options::PAPERS), &starts, 20.0, 0.1) {
//!     let shares = orbit.points(Axis::Rate(0), Axis::Rate(1));
//!     let load = orbit.points(Axis::TotalRate, Axis::Queue);
//!     assert_eq!((shares.len(), load.len()), (201, 201));
//! }
//! ```

use crate::closed::Equilibrium;
use crate::curve::Curve;
use crate::network::Network;
use crate::trajectory::Trajectory;
use afteryou_scenario::random::{stream, uniform};

/// A queue and the windows of flows, all of them in congestion avoidance.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Queue.
    pub queue: f64,
    /// Window of each flow, packets.
    pub windows: Vec<f64>,
}

impl Point {
    /// Returns where a trajectory is.
    pub fn of(trajectory: &Trajectory) -> Point {
        let flows = trajectory.network().senders.len();
        Point { queue: trajectory.queue(), windows: (0..flows).map(|flow| trajectory.window(flow)).collect() }
    }

    /// Returns the equilibrium, with every window this many times as large.
    pub fn off(settled: &Equilibrium, flows: u32, times: f64) -> Point {
        Point { queue: settled.queue, windows: vec![settled.window * times; flows as usize] }
    }

    /// Returns the distance from an equilibrium: the largest of the relative differences of queue and windows.
    pub fn distance(&self, settled: &Equilibrium) -> f64 {
        let windows = self.windows.iter().map(|window| (window / settled.window - 1.0).abs());
        windows.fold((self.queue / settled.queue - 1.0).abs(), f64::max)
    }
}

/// Starts all over the phase plane, drawn at random. Windows are from a tenth to ten times the equilibrium's, on a
/// logarithmic scale, and queues from nothing to three times the equilibrium's.
pub fn spread(settled: &Equilibrium, flows: u32, starts: u32, seed: u64) -> Vec<Point> {
    let mut random = stream(seed, "fluid starts");
    let mut one = || {
        let queue = 3.0 * settled.queue * uniform(&mut random);
        let window = |_| settled.window * libm::pow(10.0, 2.0 * uniform(&mut random) - 1.0);
        Point { queue, windows: (0..flows).map(window).collect() }
    };
    (0..starts).map(|_| one()).collect()
}

/// A network's path, at equal steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// Queue.
    pub queue: Curve,
    /// Window of each flow, packets.
    pub windows: Vec<Curve>,
    /// Rate of each flow, packets/s.
    pub rates: Vec<Curve>,
}

/// The quantity on an axis of a phase plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Queue.
    Queue,
    /// Window of a flow, packets.
    Window(usize),
    /// Rate of a flow, packets/s.
    Rate(usize),
    /// Rates of all flows together, packets/s.
    TotalRate,
}

impl Orbit {
    /// Follows a trajectory to a time, and samples it each `every` of its steps, its present state first.
    pub fn follow(trajectory: &mut Trajectory, to_s: f64, every: u64) -> Orbit {
        let flows = trajectory.network().senders.len();
        let (from_s, every) = (trajectory.t_s(), every.max(1));
        let empty = || Curve { from_s, step_s: trajectory.step_s() * every as f64, values: Vec::new() };
        let curves = || (0..flows).map(|_| empty()).collect::<Vec<_>>();
        let mut orbit = Orbit { queue: empty(), windows: curves(), rates: curves() };
        let last = trajectory.step_at(to_s);
        let first = trajectory.steps();
        loop {
            if (trajectory.steps() - first).is_multiple_of(every) {
                orbit.push(trajectory);
            }
            if trajectory.steps() >= last {
                return orbit;
            }
            trajectory.step();
        }
    }

    /// Follows a network from a start on, in steps of `step_s`, each `every` of them.
    pub fn from(network: &Network, start: &Point, to_s: f64, step_s: f64, every: u64) -> Orbit {
        let mut trajectory = Trajectory::running(network.clone(), start.queue, &start.windows, step_s);
        Orbit::follow(&mut trajectory, to_s, every)
    }

    fn push(&mut self, trajectory: &Trajectory) {
        self.queue.values.push(trajectory.queue());
        for flow in 0..self.windows.len() {
            self.windows[flow].values.push(trajectory.window(flow));
            self.rates[flow].values.push(trajectory.rate(flow));
        }
    }

    /// Returns the rates at one of its points, packets/s.
    pub fn rates_at(&self, index: usize) -> Vec<f64> {
        self.rates.iter().map(|rate| rate.values[index]).collect()
    }

    /// Returns the curve of an axis; an empty one for a flow that there is not.
    pub fn curve(&self, axis: Axis) -> Curve {
        let empty = || Curve { values: Vec::new(), ..self.queue };
        match axis {
            Axis::Queue => self.queue.clone(),
            Axis::Window(flow) => self.windows.get(flow).cloned().unwrap_or_else(empty),
            Axis::Rate(flow) => self.rates.get(flow).cloned().unwrap_or_else(empty),
            Axis::TotalRate => {
                let sum = |index: usize| self.rates.iter().fold(0.0, |sum, rate| sum + rate.values[index]);
                Curve { values: (0..self.queue.values.len()).map(sum).collect(), ..self.queue }
            }
        }
    }

    /// Returns the orbit in a plane.
    pub fn points(&self, x: Axis, y: Axis) -> Vec<(f64, f64)> {
        let (x, y) = (self.curve(x).values, self.curve(y).values);
        x.into_iter().zip(y).collect()
    }
}

/// Returns the orbits of a phase plane: one from each start to `to_s`, a point each `every_s` or as often as the network's
/// steps allow.
pub fn plane(network: &Network, starts: &[Point], to_s: f64, every_s: f64) -> Vec<Orbit> {
    let parts = (every_s / network.step_s()).ceil().max(1.0);
    let step_s = every_s / parts;
    starts.iter().map(|start| Orbit::from(network, start, to_s, step_s, parts as u64)).collect()
}
