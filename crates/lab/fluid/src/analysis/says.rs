//! Numbers and sentences about a group.

use super::Analysis;
use crate::closed::{DelayLoop, Equilibrium};
use crate::options::{Feedback, Options, RoundTrip};
use std::fmt::Display;

/// The analysis that gets numbers and sentences about a group.
pub struct Says<'a> {
    /// The subject of the sentences.
    pub of: String,
    /// The analysis that gets them.
    pub analysis: &'a mut Analysis,
}

impl Says<'_> {
    /// Adds a number, unless the form does not apply: a window of nothing has no logarithm.
    pub fn number(&mut self, what: &'static str, value: f64, unit: &'static str, formula: &'static str) {
        if value.is_finite() {
            self.analysis.add(&self.of, what, value, unit, formula);
        }
    }

    /// Adds a sentence.
    pub fn note(&mut self, sentence: impl Display) {
        self.analysis.notes.push(format!("{}: {sentence}", self.of));
    }

    /// Adds the sentences about the equilibrium.
    pub fn at_rest(&mut self, constant: &Equilibrium, with_queue: &Equilibrium) {
        self.number("rate of a flow", constant.rate, "packets/s", "C/N");
        let formula = "Q*, as in the paper";
        self.number("queue at rest, constant round trips", constant.queue, "packets", formula);
        self.number("delay at rest, constant round trips", constant.queuing_s * 1e3, "ms", "Q*/C");
        let formula = "Q* with R + q for R";
        self.number("queue at rest", with_queue.queue, "packets", formula);
        self.number("delay at rest", with_queue.queuing_s * 1e3, "ms", "Q*/C");
        self.number("window at rest", with_queue.window, "packets", "C/N·(R + q)");
    }

    /// Describes the effect of the delay on the loop that `options` have; in words only if the queue `rests`.
    pub fn delayed(&mut self, constant: &DelayLoop, with_queue: &DelayLoop, rests: bool, options: &Options) {
        let at_once = constant.margin_at_once();
        let margins = [
            ("phase margin with feedback at once", at_once, "π − ∠, constant round trips"),
            ("phase margin with delay", constant.phase_margin(), "less ω_c·R, constant round trips"),
            ("phase margin with delay, R + q", with_queue.phase_margin(), "less ω_c·(R + q)"),
        ];
        for (what, margin, formula) in margins {
            if let Some(margin) = margin {
                self.number(what, margin, "rad", formula);
            }
        }
        if !rests || options.feedback == Feedback::AtOnce {
            return;
        }
        if options.round_trip == RoundTrip::Constant {
            if !constant.is_stable() {
                self.note("with its delay and constant round trips the loop is unstable: expect a limit cycle that empties the queue");
            }
            return;
        }
        if !with_queue.is_stable() {
            self.note("with its delay the loop is unstable: expect a limit cycle around the queue at rest");
        } else if !constant.is_stable() {
            self.note(
                "with its delay the loop is stable only because a longer queue thins out the rate; with constant round \
                 trips it would circle around the queue at rest",
            );
        }
    }
}
