//! Probing cells: further cells of kinds that are rare on the grid, or that it does not have. They serve slices, never the score, so that the
//! grid's recorded scores stay.

use super::cell::{Arrival, Drawn};
use super::foreground::Foreground;
use super::lots::log_between;
use super::queue::{self, Queue};
use super::stratum::{Phases, Stratum};
use super::trouble::Trouble;

/// A kind of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Flows of the background with two round-trip times up to 1:4, over a FIFO.
    Far,
    /// A transfer of this controller over a FIFO of 0.5 to 4 bandwidth-delay products.
    Fifo(&'static str),
    /// A transfer of this controller over a FIFO of 5 to 25 ms.
    Short(&'static str),
    /// A transfer of CUBIC behind this queue.
    Queue(&'static str),
    /// A foreground as it is.
    Beside(Foreground),
    /// A trouble as it is.
    Trouble(Trouble),
}

/// Every kind with its cells.
pub const SHARES: &[(Probe, f64)] = &[
    (Probe::Far, 24.0),
    (Probe::Fifo("bbr"), 12.0),
    (Probe::Fifo("bbr3"), 12.0),
    (Probe::Short("cubic"), 8.0),
    (Probe::Short("newreno"), 4.0),
    (Probe::Queue("fq_codel"), 6.0),
    (Probe::Queue("fq_pie"), 6.0),
    (Probe::Beside(Foreground::Constant), 12.0),
    (Probe::Trouble(Trouble::Jitter), 12.0),
    (Probe::Trouble(Trouble::Radio), 12.0),
    (Probe::Trouble(Trouble::ReverseLoad), 12.0),
    (Probe::Trouble(Trouble::RouteChange), 12.0),
    (Probe::Trouble(Trouble::Skew), 12.0),
];

/// Rates and round trips at which ten packets, the least buffer, are at most 25 ms and at most four bandwidth-delay products.
pub const STRATUM: Stratum = Stratum {
    name: "probing",
    cells: 144,
    long: 0,
    rate_mbit: (5.0, 50.0),
    rtt_ms: (20.0, 200.0),
    phases: Phases { alone_s: 15.0, together_s: 20.0, after_s: 10.0 },
};
/// Bandwidth-delay products of a buffer.
const PRODUCTS: (f64, f64) = (0.5, 4.0);
/// Times of a short buffer, ms.
const SHORT_MS: (f64, f64) = (5.0, 25.0);
/// The longest of the shorter round-trip times, ms, and the largest ratio to it.
const NEAR_MS: f64 = 100.0;
const RATIO: f64 = 4.0;
/// Most flows with two round-trip times.
const MOST_FLOWS: u32 = 5;

/// Where in the ranges of its kind a cell is: numbers in [0, 1).
pub struct Spot {
    /// The buffer.
    pub at: f64,
    /// The ratio of the round-trip times.
    pub far: f64,
}

impl Probe {
    /// Makes a drawn cell one of this kind; everything else stays as drawn.
    pub fn change(self, drawn: &mut Drawn, spot: &Spot) {
        match self {
            Probe::Far => far(drawn, spot.far),
            Probe::Fifo(controller) => {
                beside(drawn, Foreground::Bulk(controller), "droptail");
                let (from, to) = queue::PRODUCTS;
                drawn.buffer_by_time = false;
                drawn.buffer_at = place(from, to, log_between(PRODUCTS.0, PRODUCTS.1, spot.at));
            }
            Probe::Short(controller) => {
                beside(drawn, Foreground::Bulk(controller), "droptail");
                let (from, to) = queue::TIMES_MS;
                drawn.buffer_by_time = true;
                drawn.buffer_at = place(from, to, log_between(SHORT_MS.0, SHORT_MS.1, spot.at));
            }
            Probe::Queue(name) => beside(drawn, Foreground::Bulk("cubic"), name),
            Probe::Beside(foreground) => drawn.foreground = foreground,
            Probe::Trouble(trouble) => drawn.trouble = trouble,
        }
        if drawn.foreground != Foreground::Nobody && drawn.arrival == Arrival::Late {
            drawn.arrival = Arrival::Together;
        }
        drawn.phases = STRATUM.phases(drawn.rtt_ms.max(drawn.foreground_rtt_ms).max(drawn.far_rtt_ms), false);
    }
}

/// Puts a foreground with the background's round-trip time behind a queue.
fn beside(drawn: &mut Drawn, foreground: Foreground, queue: &str) {
    drawn.foreground = foreground;
    drawn.foreground_rtt_ms = drawn.rtt_ms;
    drawn.queue = named(queue);
}

/// Gives half of the background's flows a longer round trip.
fn far(drawn: &mut Drawn, at: f64) {
    drawn.foreground = Foreground::Nobody;
    drawn.queue = named("droptail");
    drawn.arrival = Arrival::Together;
    drawn.flows = drawn.flows.clamp(2, MOST_FLOWS);
    drawn.rtt_ms = drawn.rtt_ms.min(NEAR_MS);
    drawn.far_rtt_ms = drawn.rtt_ms * log_between(1.0, RATIO, at);
    drawn.foreground_rtt_ms = drawn.rtt_ms;
    // A new route would have the same round trip for all.
    if drawn.trouble == Trouble::RouteChange {
        drawn.trouble = Trouble::Plain;
    }
}

/// Returns the queue of this name; the first one if there is none.
fn named(name: &str) -> Queue {
    let found = queue::SHARES.iter().find(|(queue, _)| queue.name == name);
    found.map_or(queue::SHARES[0].0, |(queue, _)| *queue)
}

/// Returns where a value is between two ends, on a logarithmic scale.
fn place(from: f64, to: f64, value: f64) -> f64 {
    libm::log(value / from) / libm::log(to / from)
}

#[cfg(test)]
mod tests {
    use super::super::{probing, Set};
    use super::*;
    use crate::grid::queue::PACKET;

    #[test]
    fn each_kind_has_its_cells_and_every_seed_the_same_shares() {
        let all: f64 = SHARES.iter().map(|(_, cells)| cells).sum();
        assert_eq!(all, STRATUM.cells as f64);
        for (set, seed) in [(Set::Train, 1), (Set::Hold, 1), (Set::Hold, 77)] {
            let cells = probing(set, seed);
            let number =
                |is_of: &dyn Fn(&crate::Cell) -> bool| cells.iter().filter(|cell| is_of(cell)).count();
            assert_eq!(cells.len(), STRATUM.cells);
            assert_eq!(number(&|cell| cell.far_rtt_ms > cell.rtt_ms), 24);
            assert!(number(&|cell| cell.foreground == Foreground::Bulk("bbr3")) >= 12);
            assert!(number(&|cell| cell.trouble == Trouble::Skew) >= 12);
            assert!(cells.iter().all(|cell| cell.far_rtt_ms <= RATIO * cell.rtt_ms));
        }
        assert_ne!(probing(Set::Train, 1)[0].rate_bit_s, probing(Set::Hold, 1)[0].rate_bit_s);
        assert_ne!(probing(Set::Train, 1)[0].rate_bit_s, probing(Set::Train, 2)[0].rate_bit_s);
    }

    #[test]
    fn the_least_buffer_is_within_the_ranges_of_every_kind() {
        let slowest_ms = 10.0 * PACKET * 8.0 / (STRATUM.rate_mbit.0 * 1e3);
        assert!(slowest_ms <= SHORT_MS.1 && slowest_ms <= PRODUCTS.1 * STRATUM.rtt_ms.0, "{slowest_ms}");
        assert!((place(5.0, 500.0, 50.0) - 0.5).abs() < 1e-12);
    }
}
