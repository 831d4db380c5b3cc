//! The trains of a sender that does not pace, and the queue that their growth makes.
//!
//! # Model
//! Acknowledgements come as far apart as the link lets packets through. A sender that answers each at once sends its
//! window as one train per round trip. The silence between two trains does not end as long as the path has room. In
//! slow start an acknowledgement releases more than one packet, so a train arrives at `(1 + gain)` times the link's
//! rate. Its growth since its first packet is queued, however much room the path has. For a packet sent at u, in the
//! round trip that began at u₀:
//!
//! ```text
//!   burst = (W(u) − W(u₀)) · size / C          at least 0, at most what the buffer has room for
//! ```
//! Its sender measures the longer of this and of the queue of the equations: once the path is full, growth beyond it is
//! in both. The next train is spaced by the link, so the burst is gone a round trip later. The excess over the buffer
//! is lost, and ends slow start as any loss does.
//!
//! A paced sender spreads its window over the round trip. It queues only what is beyond the path, as the equations do.
//!
//! # Source
//! Ours, from the packet train of slow start (Jacobson, "Congestion avoidance and control", SIGCOMM 1988). Also Bagnulo
//! and García-Martínez 2022, appendix A.2, whose `d = (s − 2^k)·packet/C` is the burst of the last round of a ramp to
//! s.
//!
//! # Not modelled
//! Other flows in the burst's queue, and the burst in theirs: the recorded queue is that of the equations. Losses of later
//! trains before the first one is known. Growth within a round trip is smooth, although a train's acknowledgements come together: a
//! ramp is half a round trip shorter than in the simulator. The pacing of real senders, which is twice the window per round trip in slow start.
//!
//! # Known bad cases
//! Traffic of others closes the gaps between packets and opens those between trains: with a standing queue there are no
//! trains. A window that grows by less than a packet has no burst worth the name.

use crate::options::Feedback;

/// Rounds of a sender that does not pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Train {
    /// When the round trip under way began, s.
    from_s: f64,
    /// The windows with which this round trip and the one before began, packets.
    windows: [f64; 2],
    /// The last edge of a step, s, and the window there, packets.
    seen: (f64, f64),
}

impl Train {
    /// Creates a train whose first round trip begins.
    pub const fn new(window: f64, t_s: f64) -> Train {
        Train { from_s: t_s, windows: [window, window], seen: (t_s, window) }
    }

    /// Begins another round trip at the edge of a step if one is over. It was over between the edges, as a rule. The window
    /// there is read on a straight line, so rounding to steps does not add up.
    pub fn at_edge(&mut self, window: f64, rtt_s: f64, t_s: f64) {
        let (seen_s, seen) = self.seen;
        self.seen = (t_s, window);
        let over_s = self.from_s + rtt_s;
        if t_s < over_s {
            return;
        }
        // A round trip that has become shorter may have been over before the last edge.
        let part = ((over_s - seen_s) / (t_s - seen_s)).clamp(0.0, 1.0);
        self.windows = [seen + part * (window - seen), self.windows[0]];
        self.from_s = over_s.max(seen_s);
    }

    /// Returns the train's growth at the packet whose signal arrives now, packets. The window was `then`, in the last round
    /// trip, or in this one if feedback is at once.
    pub fn growth(&self, then: f64, feedback: Feedback) -> f64 {
        let [this, last] = self.windows;
        let began_with = match feedback {
            Feedback::AtOnce => this,
            Feedback::Delayed => last,
        };
        (then - began_with).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_grows_from_the_beginning_of_its_round_trip() {
        let mut train = Train::new(4.0, 0.0);
        assert_eq!(train.growth(7.0, Feedback::AtOnce), 3.0);
        train.at_edge(7.9, 0.1, 0.09);
        assert_eq!(train.growth(7.9, Feedback::AtOnce), 7.9 - 4.0);
        train.at_edge(8.0, 0.1, 0.1);
        assert_eq!((train.growth(12.0, Feedback::AtOnce), train.growth(8.0, Feedback::Delayed)), (4.0, 4.0));
        train.at_edge(15.0, 0.1, 0.19);
        assert_eq!((train.growth(12.0, Feedback::AtOnce), train.growth(8.0, Feedback::Delayed)), (4.0, 4.0));
        train.at_edge(17.0, 0.1, 0.21);
        assert_eq!((train.growth(12.0, Feedback::Delayed), train.growth(5.0, Feedback::Delayed)), (4.0, 0.0));
        // The round trip was over between the edges.
        assert!((train.growth(20.0, Feedback::AtOnce) - 4.0).abs() < 1e-9);
    }
}
