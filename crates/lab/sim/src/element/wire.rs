//! Delays behind a transmitter: propagation that changes at given times, and jitter.
//!
//! A packet that has been sent at t comes out of the element at t + propagation(t) + jitter. Unless packets may overtake one
//! another, it also waits for those before it: it comes out at the latest of these times so far. A packet in front that is very
//! late then holds up all behind it, so the delay of a packet has the law of the jitter only where gaps are longer than it.
//!
//! Closed forms: with reordering, delays have the law of the jitter, and among packets with a gap g and uniform jitter [0, J]
//! one overtakes the one before it with probability (J − g)²/2J². In order, consecutive gaps have the mean g.
//!
//! Not implemented: correlation from packet to packet (`tc netem`'s third parameter). Use a trace of samples instead.

use super::Exit;
use afteryou_base::{Span, Time};
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::Propagation;
use afteryou_scenario::Elements;
use rand_pcg::Pcg64;

/// A delay behind the transmitter.
trait Delay: Send {
    /// Returns the delay of a packet that has been sent at `sent`; these times ascend.
    fn of(&mut self, sent: Time) -> Span;
}

/// A delay, and whether packets may overtake one another by it.
type Part = (Box<dyn Delay>, bool);

/// The delays of a link or a flow.
pub struct Wire {
    delays: Vec<Box<dyn Delay>>,
    overtakes: bool,
    /// When the latest packet comes out.
    latest: Time,
}

impl Wire {
    /// Returns the delays of `spec`; none if there are none.
    pub fn new(spec: &Elements, stream: impl Fn(&str) -> Pcg64) -> Option<Wire> {
        let parts: Vec<Option<Part>> = vec![
            spec.delay.as_ref().map(|delay| -> Part { (Box::new(Route::new(delay)), delay.reorder) }),
            spec.jitter.as_ref().map(|jitter| -> Part {
                (Box::new(Noise { law: jitter.law.clone(), random: stream("jitter") }), jitter.reorder)
            }),
        ];
        let (delays, overtake): (Vec<_>, Vec<bool>) = parts.into_iter().flatten().unzip();
        let overtakes = overtake.contains(&true);
        (!delays.is_empty()).then_some(Wire { delays, overtakes, latest: Time::ZERO })
    }

    /// Returns no delay at all: packets that come late keep their order.
    pub fn in_order() -> Wire {
        Wire { delays: Vec::new(), overtakes: false, latest: Time::ZERO }
    }

    /// Decides when a packet that has been sent at `sent` comes out; times of sending ascend.
    pub fn exit(&mut self, sent: Time) -> Exit {
        let at = self.delays.iter_mut().fold(sent, |at, delay| at + delay.of(sent));
        if self.overtakes {
            return Exit::Alone(at);
        }
        self.latest = self.latest.max(at);
        Exit::InOrder(self.latest)
    }
}

/// Propagation that changes.
struct Route {
    /// The delay from each time on.
    steps: Vec<(Time, Span)>,
    /// Which of them holds now.
    step: usize,
}

impl Route {
    fn new(delay: &Propagation) -> Route {
        let steps = delay.steps.points().iter().map(|(at, delay)| (Time(at.0 .0), delay.0)).collect();
        Route { steps, step: 0 }
    }
}

impl Delay for Route {
    fn of(&mut self, sent: Time) -> Span {
        while self.steps.get(self.step + 1).is_some_and(|(from, _)| *from <= sent) {
            self.step += 1;
        }
        self.steps.get(self.step).map_or(Span::ZERO, |(_, delay)| *delay)
    }
}

/// Jitter.
struct Noise {
    law: Distribution,
    random: Pcg64,
}

impl Delay for Noise {
    fn of(&mut self, _sent: Time) -> Span {
        self.law.draw(&mut self.random).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::element::{Jitter, Steps};
    use afteryou_scenario::random::stream;
    use afteryou_scenario::Duration;

    const PACKETS: u64 = 100_000;

    fn jitter(law: Distribution, reorder: bool) -> Wire {
        let elements = Elements { jitter: Some(Jitter { law, reorder }), ..Elements::default() };
        Wire::new(&elements, |_| stream(5, "test")).unwrap()
    }

    fn uniform(ms: u64) -> Distribution {
        Distribution::Uniform(Duration::default(), Duration::from_millis(ms))
    }

    /// Returns the times in and out of packets that are `gap_us` µs apart.
    fn through(wire: &mut Wire, gap_us: u64) -> Vec<(Time, Time)> {
        let exit = |i: u64| {
            let done = Time::from_micros(i * gap_us);
            match wire.exit(done) {
                Exit::InOrder(at) | Exit::Alone(at) => (done, at),
                Exit::Lost => panic!("a wire loses nothing"),
            }
        };
        (0..PACKETS).map(exit).collect()
    }

    /// Returns the largest distance between the distribution of `values` and the one with this function.
    fn kolmogorov(mut values: Vec<f64>, function: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let distance = |(i, value): (usize, &f64)| {
            let expected = function(*value);
            (expected - i as f64 / n).abs().max(((i + 1) as f64 / n - expected).abs())
        };
        values.iter().enumerate().map(distance).fold(0.0, f64::max)
    }

    /// Returns the distance that 0.1 % of samples exceed (Kolmogorov): 1.95/√n.
    fn bound() -> f64 {
        1.95 / (PACKETS as f64).sqrt()
    }

    fn delays_ms(passed: &[(Time, Time)]) -> Vec<f64> {
        passed.iter().map(|(from, to)| to.since(*from).as_millis_f64()).collect()
    }

    #[test]
    fn delays_have_the_law_of_the_jitter() {
        let ms = Duration::from_millis;
        let normal_law = Distribution::Normal { mean: ms(50), deviation: ms(5) };
        let lognormal = Distribution::Lognormal { median: ms(10), sigma: 0.5, clip: None };
        let normal = |x: f64| 0.5 * (1.0 + libm::erf(x / std::f64::consts::SQRT_2));
        let cases: [(Distribution, &dyn Fn(f64) -> f64); 3] = [
            (uniform(4), &|x| (x / 4.0).clamp(0.0, 1.0)),
            (normal_law, &|x| normal((x - 50.0) / 5.0)),
            (lognormal, &|x| normal(libm::log(x / 10.0) / 0.5)),
        ];
        for (law, function) in cases {
            // The packets overtake one another; in order they are so far apart that none waits.
            for (reorder, gap_us) in [(true, 100), (false, 1_000_000)] {
                let passed = through(&mut jitter(law.clone(), reorder), gap_us);
                let distance = kolmogorov(delays_ms(&passed), function);
                assert!(distance < bound(), "{law:?}, reorder {reorder}: {distance}");
            }
        }
    }

    #[test]
    fn order_is_kept_unless_packets_may_overtake() {
        let passed = through(&mut jitter(uniform(4), false), 100);
        assert!(passed.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        assert!(passed.iter().all(|(from, to)| to.since(*from) < Span::from_millis(4)));
    }

    #[test]
    fn neighbours_change_places_as_often_as_theory_says_and_no_packet_falls_behind_farther_than_its_jitter() {
        let (gap_us, most_us) = (1000.0, 4000.0);
        let passed = through(&mut jitter(uniform(4), true), 1000);
        let overtaken = passed.windows(2).filter(|pair| pair[1].1 < pair[0].1).count() as f64;
        let expected = (most_us - gap_us) * (most_us - gap_us) / (2.0 * most_us * most_us);
        let share = overtaken / (PACKETS - 1) as f64;
        // Neighbouring pairs share a packet: at most twice the variance of independent ones.
        let error = (2.0 * expected * (1.0 - expected) / PACKETS as f64).sqrt();
        assert!((share - expected).abs() < 4.0 * error, "{share} of {expected} ± {error}");
        // Depth: packets sent later that come out earlier. In 4 ms there are three of them.
        let depth = |i: usize| {
            let behind = passed.iter().skip(i + 1).take(10);
            behind.filter(|(_, at)| *at < passed[i].1).count()
        };
        let deepest = (0..passed.len()).map(depth).max();
        assert_eq!(deepest, Some(3));
    }

    #[test]
    fn a_shorter_route_lets_packets_overtake_only_if_it_may() {
        let ms = Duration::from_millis;
        for reorder in [false, true] {
            let steps = Steps::new(vec![(ms(0), ms(30)), (ms(100), ms(5)), (ms(200), ms(40))]).unwrap();
            let delay = Some(Propagation { steps, reorder });
            let elements = Elements { delay, ..Elements::default() };
            let mut wire = Wire::new(&elements, |_| stream(1, "test")).unwrap();
            let mut at = |sent: u64| match wire.exit(Time::from_millis(sent)) {
                Exit::InOrder(at) | Exit::Alone(at) => at.as_micros() / 1000,
                Exit::Lost => panic!("a wire loses nothing"),
            };
            let expected = if reorder { [99 + 30, 105, 240] } else { [99 + 30, 129, 240] };
            assert_eq!([at(99), at(100), at(200)], expected);
        }
    }
}
