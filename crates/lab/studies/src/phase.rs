//! Tracks of the fluid model of two fLEDBAT flows through its states (Carofiglio et al. 2013, section 5).

use afteryou_fluid::carofiglio::{common, TARGET_S};
use afteryou_fluid::closed::fledbat::Closed;
use afteryou_fluid::model::Fledbat;
use afteryou_fluid::orbit::{plane, Axis, Point};
use afteryou_fluid::Options;
use afteryou_plot::given::{Line, Spot};

/// zeta of the paper's figure of both engines.
const ZETA: f64 = 0.1;
/// Long enough for every track to settle, and fine enough for a smooth line, s.
const UNTIL_S: f64 = 20.0;
const EVERY_S: f64 = 0.01;
/// Starts: windows of both flows and the queue, as parts of the equilibrium's.
const STARTS: [[f64; 3]; 6] =
    [[0.2, 1.8, 0.0], [1.8, 0.2, 0.0], [0.3, 0.3, 0.0], [2.0, 1.6, 2.0], [0.5, 2.5, 1.5], [2.5, 1.0, 0.5]];

/// Returns the tracks from several starts: rate of one flow against the rate of the other, in parts of the capacity.
pub fn tracks() -> Vec<Line> {
    let at = common(2);
    let closed = Closed::of(at, &Fledbat::new(TARGET_S, 1.0, ZETA));
    let settled = closed.equilibrium();
    let start = |[one, other, queue]: [f64; 3]| Point {
        queue: settled.queue * queue,
        windows: vec![settled.window * one, settled.window * other],
    };
    let network = closed.network(Options::PAPERS);
    let orbits = plane(&network, &STARTS.map(start), UNTIL_S, EVERY_S);
    let line = |(orbit, [one, other, queue]): (_, [f64; 3])| {
        let orbit: &afteryou_fluid::orbit::Orbit = orbit;
        let points = orbit.points(Axis::Rate(0), Axis::Rate(1)).into_iter();
        let spot = |(x, y): (f64, f64)| Spot { x: x / at.capacity, y: y / at.capacity, ..Spot::default() };
        Line {
            name: format!("W {one}, {other}; Q {queue}"),
            controller: None,
            spots: points.map(spot).collect(),
        }
    };
    orbits.iter().zip(STARTS).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_track_ends_at_half_the_capacity_each() {
        for line in tracks() {
            let last = line.spots.last().unwrap();
            assert!((last.x - 0.5).abs() < 1e-3 && (last.y - 0.5).abs() < 1e-3, "{}: {last:?}", line.name);
        }
    }
}
