//! The statements of Carofiglio 2013 that equations alone decide, as functions from parameters to numbers.
//!
//! # Model
//! Each function integrates the paper's equations, eq. 3-4 or eq. 8-9 ([`Options::PAPERS`], or with the queue inside the
//! round trip), from a start, and measures the [orbit](crate::orbit). The [closed forms](crate::closed) for the same
//! parameters are beside it, so a reader compares two independent computations.
//!
//! # Constants
//! Windows may shrink to a thousandth of a packet: the paper's equations have no floor. Steps are the network's own, a
//! tenth of a round trip or less. They are 1 ms where a period is measured, and 0.1 ms where a derivative is.
//!
//! # Source
//! Carofiglio, Muscariello, Rossi, Testa and Valenti, "Rethinking the low extra delay background transport (LEDBAT) protocol",
//! Computer Networks 57(8), 2013: obs. 4.3, prop. 5.1, 5.3, 5.5, 5.7, obs. 5.9, fig. 2.
//!
//! # Not included
//! Prop. 4.1, which losses decide: ask the simulator.

use crate::closed::lyapunov::Lyapunov;
use crate::closed::{fledbat, ledbat, Equilibrium, Symmetric};
use crate::curve::Curve;
use crate::model::{Fledbat, Ledbat, Model};
use crate::network::{Network, Sender};
use crate::options::{Options, RoundTrip};
use crate::orbit::{Axis, Orbit, Point};
use crate::trajectory::Trajectory;

/// Returns the common setting of section 6: 10 Mbit/s in packets of 1500 bytes, a round trip of 50 ms.
pub const fn common(flows: u32) -> Symmetric {
    Symmetric { flows, capacity: 1e7 / 12_000.0, rtt_s: 0.050 }
}

/// Section 6: the target, s.
pub const TARGET_S: f64 = 0.025;

/// Fine enough for the period and the peaks of a swing, s.
const SWING_STEP_S: f64 = 1e-3;
/// Fine enough for a derivative of V, s.
const SLOPE_STEP_S: f64 = 1e-4;
/// Smallest window, packets.
const FLOOR: f64 = 1e-3;
/// V has thirteen digits.
const V_DIGITS: f64 = 1e-13;
/// A numeric derivative is compared where rounding takes less of it than this.
const RESOLVED: f64 = 1e-5;
/// Swings that are watched, in periods: after that an envelope of half a second is a few thousandths.
const SWING_PERIODS: f64 = 10.0;

impl fledbat::Closed {
    /// Returns the flows as a network: eq. 8-9 with [`Options::PAPERS`].
    pub fn network(&self, options: Options) -> Network {
        let rule = Fledbat::new(self.target_s, self.alpha, self.zeta);
        network(&self.at, Model::Fledbat(rule), options)
    }
}

impl ledbat::Closed {
    /// Returns the flows as a network: eq. 3-4 with [`Options::PAPERS`].
    pub fn network(&self, options: Options) -> Network {
        network(&self.at, Model::Ledbat(Ledbat::new(self.target_s, self.gain)), options)
    }
}

fn network(at: &Symmetric, model: Model, options: Options) -> Network {
    let sender = Sender { least: FLOOR, ..Sender::new(model, at.rtt_s) };
    Network::new(at.capacity, options, vec![sender; at.flows as usize])
}

/// Two flows of one rule, and how their swing continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Undamped {
    /// Period of the queue, s.
    pub period_s: f64,
    /// How much the last peak is higher than the first one, as a part of it.
    pub amplitude_change: f64,
    /// How much the difference between the first flow's window and the last one's has changed, as a part of it.
    pub difference_change: f64,
}

/// Follows LEDBAT near its equilibrium, for `periods` periods (obs. 4.3). The queue begins in its equilibrium, windows `off`
/// (a part) above theirs, with as much between the first and the last flow. None if there is no swing to measure.
pub fn undamped(closed: &ledbat::Closed, off: f64, periods: u32) -> Option<Undamped> {
    let settled = closed.equilibrium();
    let mut start = Point::off(&settled, closed.at.flows, 1.0 + off);
    let last = start.windows.len().checked_sub(1)?;
    start.windows[0] += settled.window * off / 2.0;
    start.windows[last] -= settled.window * off / 2.0;
    let to_s = (f64::from(periods) + 2.0) * closed.pair().period_s()?;
    let orbit = Orbit::from(&closed.network(Options::PAPERS), &start, to_s, SWING_STEP_S, 1);
    let difference = orbit.curve(Axis::Window(0)).minus(&orbit.curve(Axis::Window(last))).values;
    let above: Vec<f64> =
        orbit.queue.peaks(settled.queue).iter().map(|peak| peak.off).filter(|off| *off > 0.0).collect();
    let change = |first: f64, last: f64| (last / first - 1.0).abs();
    Some(Undamped {
        period_s: orbit.queue.period_s(settled.queue)?,
        amplitude_change: change(*above.first()?, *above.get(periods as usize)?),
        difference_change: change(*difference.first()?, *difference.last()?),
    })
}

/// Prop. 5.1, obs. 5.9: where fLEDBAT's flows are after a time, and where they settle.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Where the closed form has them settle.
    pub expected: Equilibrium,
    /// Queue of the equations, packets.
    pub queue: f64,
    /// Rates of the equations, packets/s.
    pub rates: Vec<f64>,
    /// The largest relative difference between the two, of queue and windows.
    pub off: f64,
}

/// Integrates fLEDBAT's equations from a start to a time (Prop. 5.1, obs. 5.9). It compares the end with eq. 10, or with its
/// form for round trips with the queue inside.
pub fn settled(closed: &fledbat::Closed, round_trip: RoundTrip, start: &Point, at_s: f64) -> Settled {
    let network = closed.network(Options { round_trip, ..Options::PAPERS });
    let expected = match round_trip {
        RoundTrip::Constant => closed.equilibrium(),
        RoundTrip::WithQueue => closed.equilibrium_with_queue(),
    };
    let step_s = network.step_s();
    let mut trajectory = Trajectory::running(network, start.queue, &start.windows, step_s);
    trajectory.run_to(at_s);
    let rates = (0..start.windows.len()).map(|flow| trajectory.rate(flow)).collect();
    Settled { expected, queue: trajectory.queue(), rates, off: Point::of(&trajectory).distance(&expected) }
}

/// Returns V along an orbit.
pub fn lyapunov_along(lyapunov: &Lyapunov, orbit: &Orbit) -> Curve {
    let value = |(index, queue): (usize, &f64)| lyapunov.value(&orbit.rates_at(index), *queue);
    let values = orbit.queue.values.iter().enumerate().map(value).collect();
    Curve { values, ..orbit.queue }
}

/// Prop. 5.3: what V does along an orbit while the queue is at the target or above.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fall {
    /// Steps there.
    pub steps: u64,
    /// Steps there in which V rises by more than rounding.
    pub rises: u64,
    /// Points there whose numeric derivative has the digits for a comparison with the formula.
    pub compared: u64,
    /// The largest relative difference between the numeric dV/dt and the formula's.
    pub worst: f64,
}

/// Follows fLEDBAT's equations from a start to a time, and V along them (Prop. 5.3).
pub fn fall(closed: &fledbat::Closed, start: &Point, to_s: f64) -> Fall {
    let lyapunov = Lyapunov { of: *closed };
    let orbit = Orbit::from(&closed.network(Options::PAPERS), start, to_s, SLOPE_STEP_S, 1);
    let value = lyapunov_along(&lyapunov, &orbit);
    let above = |index: usize| orbit.queue.values[index] >= closed.at.capacity * closed.target_s;
    let mut fall = Fall::default();
    for (index, pair) in value.values.windows(2).enumerate() {
        if above(index) && above(index + 1) {
            fall.steps += 1;
            fall.rises += u64::from(pair[1] > pair[0] + V_DIGITS * (1.0 + pair[0]));
        }
    }
    for (offset, numeric) in value.derivative().values.iter().enumerate() {
        let index = offset + 2;
        let formula = lyapunov.slope(&orbit.rates_at(index));
        let rounding = V_DIGITS * (1.0 + value.values[index]) / SLOPE_STEP_S;
        if (offset..offset + 5).all(above) && rounding < RESOLVED * formula.abs() {
            fall.compared += 1;
            fall.worst = fall.worst.max((numeric / formula - 1.0).abs());
        }
    }
    fall
}

/// Prop. 5.5 and 5.7: how fLEDBAT's flows come back to their equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// Period of the queue, s.
    pub period_s: f64,
    /// Rate at which its swings die away, 1/s.
    pub envelope_rate: f64,
    /// Rate at which the difference between the first flow and the last one dies away, 1/s.
    pub difference_rate: f64,
}

/// Disturbs the equilibrium by `off` (a part of the windows), once all flows alike and once the first against the last
/// (Prop. 5.5 and 5.7). Then it measures. None for a single flow, or where nothing oscillates.
pub fn swing(closed: &fledbat::Closed, off: f64) -> Option<Swing> {
    let (settled, flows) = (closed.equilibrium(), closed.at.flows);
    let network = closed.network(Options::PAPERS);
    let to_s = SWING_PERIODS * closed.pair().period_s()?;
    let together = Point::off(&settled, flows, 1.0 + off);
    let queue = Orbit::from(&network, &together, to_s, SWING_STEP_S, 1).queue;
    let mut apart = Point::off(&settled, flows, 1.0);
    let last = apart.windows.len().checked_sub(1).filter(|last| *last > 0)?;
    apart.windows[0] += settled.window * off;
    apart.windows[last] -= settled.window * off;
    let apart = Orbit::from(&network, &apart, to_s, SWING_STEP_S, 1);
    let difference = apart.curve(Axis::Window(0)).minus(&apart.curve(Axis::Window(last)));
    Some(Swing {
        period_s: queue.period_s(settled.queue)?,
        envelope_rate: queue.envelope_rate(settled.queue)?,
        difference_rate: difference.decay_rate()?,
    })
}

/// Returns the orbit of Fig. 2: flows that start one after the other, each with a window of one packet, `gap_s` apart.
pub fn staggered(closed: &fledbat::Closed, options: Options, gap_s: f64, to_s: f64) -> Orbit {
    let network = closed.network(options);
    let step_s = network.step_s();
    let mut trajectory = Trajectory::idle(network, step_s);
    for flow in 0..closed.at.flows {
        trajectory.run_to(f64::from(flow) * gap_s);
        trajectory.start(flow as usize);
    }
    Orbit::follow(&mut trajectory, to_s, 1)
}
