//! Closed forms of a group of flows.

use super::{Analysis, Quantity};
use crate::closed::ledbatpp::{share_at_equal_loss, Alone, LongPath, Ramp, Root, Wait};
use crate::closed::{fledbat, ledbat, DelayLoop, Equilibrium, Link, Symmetric};
use crate::model::{Cubic, Decrease, Fledbat, Ledbat, LedbatPp, Model, Slowdowns};
use crate::network::Sender;
use crate::options::{Base, Options};
use afteryou_scenario::{Duration, Flow};

/// Flows of one rule, one round trip and one packet size.
pub struct Group {
    /// One of them.
    pub sender: Sender,
    kind: String,
    rtt: Duration,
    flows: u32,
    start: Duration,
    together: bool,
    /// The flow or `count` of flows that it began with.
    first: String,
    /// Another group has the same kind, number and round trip: its first flow tells it apart.
    pub has_namesake: bool,
}

/// Round trip from which LEDBAT++'s ramps overshoot: GAIN is 1 from twice TARGET on.
const LONG_PATH: f64 = 2.0;

/// The window that a flow which halves has at this probability of loss, packets.
pub fn reno_window(loss: f64) -> f64 {
    libm::sqrt(2.0 / loss)
}

impl Group {
    /// A group of one.
    pub fn new(flow: &Flow, sender: Sender) -> Group {
        let kind = flow.controller.as_ref().map_or("cbr", |controller| &controller.kind);
        let (rtt, start) = (flow.rtt, flow.start);
        let first = flow.group.as_ref().unwrap_or(&flow.name).clone();
        Group {
            sender,
            kind: kind.to_owned(),
            rtt,
            flows: 1,
            start,
            together: true,
            first,
            has_namesake: false,
        }
    }

    /// One more.
    pub fn join(&mut self, flow: &Flow) {
        self.flows += 1;
        self.together &= flow.start == self.start;
    }

    /// Does it fill the buffer although packets are lost at random with this probability?
    pub fn fills_buffer(&self, link: &Link, loss: f64) -> bool {
        let window = match &self.sender.model {
            Model::NewReno(_) => reno_window(loss),
            Model::Cubic(rule) => rule.window_at(loss, link.rtt_s).max(reno_window(loss)),
            _ => return false,
        };
        f64::from(self.flows) * window > link.buffer + link.bdp()
    }

    /// The queuing delay that it comes to rest at, s; none if it steers to none.
    pub fn rest_s(&self, link: &Link) -> Option<f64> {
        let steered_s = match &self.sender.model {
            Model::Ledbat(rule) => rule.target_s,
            Model::LedbatPp(rule) => rule.target_s,
            Model::Fledbat(rule) => {
                fledbat::Closed::of(self.at(link), rule).equilibrium_with_queue().queuing_s
            }
            Model::NewReno(_) | Model::Cubic(_) | Model::Constant(_) => return None,
        };
        Some(steered_s.max(self.floor_s(link)))
    }

    /// The queue that the smallest windows of all its flows keep, s; nothing if the path holds them.
    fn floor_s(&self, link: &Link) -> f64 {
        let packets = f64::from(self.flows) * self.sender.model.floor();
        (packets / link.capacity() - link.rtt_s).max(0.0)
    }

    /// The part of the link that a lone flow uses, where that is less than all.
    pub fn utilisation_alone(&self, link: &Link) -> Option<f64> {
        let Model::LedbatPp(rule) = &self.sender.model else { return None };
        let alone = Alone { capacity: link.capacity(), rtt_s: link.rtt_s, queuing_s: rule.target_s };
        (self.flows == 1).then(|| alone.utilisation(rule)).filter(|utilisation| utilisation.is_finite())
    }

    /// Do LEDBAT++'s ramps end its growth before the link is full?
    pub fn path_is_too_long(&self, link: &Link) -> bool {
        let Model::LedbatPp(rule) = &self.sender.model else { return false };
        self.flows == 1 && long_path(rule, link).is_some_and(|root| link.rtt_s > root.threshold_s)
    }

    /// What it is called.
    pub fn name(&self) -> String {
        let name = format!("{} × {}, {}", self.kind, self.flows, self.rtt);
        if self.has_namesake {
            return format!("{name} ({})", self.first);
        }
        name
    }

    /// Adds what can be said of it.
    pub fn explain(&self, link: &Link, options: &Options, analysis: &mut Analysis) {
        let mut says = Says { of: self.name(), analysis };
        says.number("bandwidth-delay product", link.bdp(), "packets", "C·R");
        match &self.sender.model {
            Model::Fledbat(rule) => self.fledbat(rule, link, options, &mut says),
            Model::Ledbat(rule) => self.ledbat(rule, link, options, &mut says),
            Model::LedbatPp(rule) => self.ledbatpp(rule, link, &mut says),
            Model::NewReno(_) => self.newreno(link, &mut says),
            Model::Cubic(rule) => self.cubic(rule, link, &mut says),
            Model::Constant(rate) => {
                let load = f64::from(self.flows) * rate / link.capacity();
                says.number("load", load, "", "N·rate/C");
            }
        }
    }

    fn at(&self, link: &Link) -> Symmetric {
        Symmetric { flows: self.flows, capacity: link.capacity(), rtt_s: link.rtt_s }
    }

    fn fledbat(&self, rule: &Fledbat, link: &Link, options: &Options, says: &mut Says<'_>) {
        let closed = fledbat::Closed::of(self.at(link), rule);
        self.latecomers(rule.target_s, link, options, says);
        says.at_rest(&closed.equilibrium(), &closed.equilibrium_with_queue());
        says.number("damping of differences, a", closed.a(), "1/s", "N·α/(C·R²)");
        says.number("ζ*", closed.critical_zeta(), "", "N²·α²·τ/(4·C²·R³): below it nothing oscillates");
        says.number("slowest rate of approach", closed.rate(), "1/s", "Θ of λ² + a·λ + ζ/(R·τ)");
        if let Some(period_s) = closed.pair().period_s() {
            says.number("period", period_s, "s", "2π/√(ζ/(R·τ) − a²/4)");
        }
        says.number("damping ratio", closed.pair().damping(), "", "a/(2·ω₀)");
        let rests = self.can_rest(closed.equilibrium_with_queue().queuing_s, link, says);
        says.delayed(&closed.delayed(), &closed.delayed_with_queue(), rests);
    }

    fn ledbat(&self, rule: &Ledbat, link: &Link, options: &Options, says: &mut Says<'_>) {
        self.latecomers(rule.target_s, link, options, says);
        let closed = ledbat::Closed { at: self.at(link), target_s: rule.target_s, gain: rule.gain };
        says.at_rest(&closed.equilibrium(), &closed.equilibrium_with_queue());
        if let Some(period_s) = closed.pair().period_s() {
            says.number("period, constant round trips", period_s, "s", "2π·R·√(C·τ/(N·GAIN)); undamped");
        }
        says.number(
            "slowest rate of approach, R + q",
            closed.pair_with_queue().rate(),
            "1/s",
            "of λ² + λ/(R + τ) + N·GAIN/(C·τ·(R + τ)²)",
        );
        let rests = self.can_rest(rule.target_s, link, says);
        says.delayed(&closed.delayed(), &closed.delayed_with_queue(), rests);
        if self.flows > 1 {
            says.note("windows never forget what they differ by: there is no force towards equal shares");
        }
        if rule.decrease != Decrease::Proportional(rule.gain) {
            says.note("above the target it does not follow the law below it: the numbers hold below only");
        }
    }

    fn latecomers(&self, target_s: f64, link: &Link, options: &Options, says: &mut Says<'_>) {
        let fit = link.targets_in_buffer(target_s);
        says.number("target", link.packets_in(target_s), "packets", "C·τ");
        says.number("targets in the buffer", fit, "", "B/(C·τ)");
        let mistaken = options.base == Base::Measured && !self.together;
        if mistaken && self.flows > 1 && f64::from(self.flows) < fit {
            says.note(
                "they start at different times and the buffer holds a target for each: latecomers take the queue for \
                 the path, and starve the earlier ones",
            );
        }
    }

    /// Can the queue be where the closed forms have it? If not, a note says what rules instead.
    fn can_rest(&self, queuing_s: f64, link: &Link, says: &mut Says<'_>) -> bool {
        if self.floor_s(link) > queuing_s {
            says.note(
                "the smallest windows of its flows keep a longer queue than the one at rest, or fill the buffer: they rule, \
                 not the delay",
            );
            return false;
        }
        if queuing_s >= link.buffer_s() {
            says.note("the queue at rest does not fit into the buffer: losses rule, not the delay");
            return false;
        }
        true
    }

    fn ledbatpp(&self, rule: &LedbatPp, link: &Link, says: &mut Says<'_>) {
        let gain = rule.gain(link.rtt_s);
        let queuing_s = rule.target_s.min(link.buffer_s());
        let alone = Alone { capacity: link.capacity(), rtt_s: link.rtt_s, queuing_s };
        says.number("target", link.packets_in(rule.target_s), "packets", "C·TARGET");
        says.number("GAIN", gain, "packets per round trip", "1/min(16, ⌈2·TARGET/R⌉)");
        says.number("rate beside Reno at equal loss", share_at_equal_loss(gain), "", "√GAIN");
        let nine = "(4 + 2·W + 9·(T + 2)·W)/(2·C·R + T·W + 9·(T + 2)·W), T = log₂(W/2), W = C·(R + q)";
        // Ramps shorter than a round trip are not in the model: it says then that more than all is used, or less than nothing.
        let used = Some(alone.nine_tenths(Wait::Slowdown)).filter(|used| (0.0..=1.0).contains(used));
        says.number("utilisation alone, the 9/10 model", used.unwrap_or(f64::NAN), "", nine);
        let covered = "1 − lost/(10·length·C), with GAIN's ramp and what the queue covers";
        says.number("utilisation alone", alone.utilisation(rule), "", covered);
        if let Some(root) = long_path(rule, link) {
            says.number(
                "window that slowdowns return to",
                root.window,
                "packets",
                "s·(1 − β) = 9·(log₂ s − 1)",
            );
            let threshold = "β·s/C: the link is filled up to this round trip";
            says.number("longest round trip that is filled", root.threshold_s * 1e3, "ms", threshold);
        }
        if self.path_is_too_long(link) {
            says.note(
                "the path is so long that the ramps' own queue ends the growth before the link is full: alone it leaves \
                 a part of the link unused",
            );
        }
        self.can_rest(rule.target_s, link, says);
    }

    fn newreno(&self, link: &Link, says: &mut Says<'_>) {
        says.number("loss probability", link.reno_loss(self.flows), "", "2·N²/(B + C·R)²");
        let mean = "¾·(B + C·R) − C·R: all lose at once";
        says.number("mean queue in step", link.sawtooth_queue(0.5), "packets", mean);
        says.number(
            "mean queue out of step",
            link.buffer,
            "packets",
            "B: where the model stays with feedback at once",
        );
    }

    fn cubic(&self, rule: &Cubic, link: &Link, says: &mut Says<'_>) {
        let window = (link.buffer + link.bdp()) / f64::from(self.flows);
        says.number("window at a loss", window, "packets", "(B + C·R)/N");
        says.number("time back to it", rule.k_s(window), "s", "K = ∛((1 − β)·W/C)");
        let mean = "(1 + β)/2·(B + C·R) − C·R: all lose at once, saw with straight teeth";
        says.number("mean queue in step", link.sawtooth_queue(rule.beta), "packets", mean);
    }
}

/// The window that LEDBAT++'s slowdowns return to on a long path: the root in the octave of the window before a slowdown.
fn long_path(rule: &LedbatPp, link: &Link) -> Option<Root> {
    if rule.slowdowns == Slowdowns::None || link.rtt_s < LONG_PATH * rule.target_s {
        return None;
    }
    let path = LongPath { capacity: link.capacity(), target_s: rule.target_s, ramp: Ramp::FromTwo };
    let octave = libm::log2(link.capacity() * (link.rtt_s + rule.target_s)).max(1.0) as u32;
    path.root(octave).filter(|root| root.is_bounded())
}

/// Where numbers and sentences about a group go.
struct Says<'a> {
    of: String,
    analysis: &'a mut Analysis,
}

impl Says<'_> {
    fn number(&mut self, what: &'static str, value: f64, unit: &'static str, formula: &'static str) {
        // A window of nothing has no logarithm: where a form does not apply there is no number.
        if value.is_finite() {
            self.analysis.quantities.push(Quantity { of: self.of.clone(), what, value, unit, formula });
        }
    }

    fn note(&mut self, sentence: &str) {
        self.analysis.notes.push(format!("{}: {sentence}", self.of));
    }

    fn at_rest(&mut self, constant: &Equilibrium, with_queue: &Equilibrium) {
        self.number("rate of a flow", constant.rate, "packets/s", "C/N");
        let formula = "Q*, as in the paper";
        self.number("queue at rest, constant round trips", constant.queue, "packets", formula);
        self.number("delay at rest, constant round trips", constant.queuing_s * 1e3, "ms", "Q*/C");
        let formula = "Q* with R + q for R";
        self.number("queue at rest", with_queue.queue, "packets", formula);
        self.number("delay at rest", with_queue.queuing_s * 1e3, "ms", "Q*/C");
        self.number("window at rest", with_queue.window, "packets", "C/N·(R + q)");
    }

    /// What the delay does to the loop; in words only if the queue `rests`.
    fn delayed(&mut self, constant: &DelayLoop, with_queue: &DelayLoop, rests: bool) {
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
        if !rests {
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
