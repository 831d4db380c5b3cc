//! Closed forms of a group of flows.

use super::says::Says;
use super::transfers::Transfers;
use super::Analysis;
use crate::closed::ledbatpp::{share_at_equal_loss, Alone, LongPath, Ramp, Root, Slowdown, Wait};
use crate::closed::together::{Law, Party};
use crate::closed::{fledbat, ledbat, Equilibrium, Link, Symmetric};
use crate::model::{Cubic, Decrease, Fledbat, Ledbat, LedbatPp, Model, Slowdowns};
use crate::network::Sender;
use crate::options::{Base, Feedback, Options, RoundTrip};
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
    /// Another group has the same kind, number and round trip: its first flow distinguishes it.
    pub has_namesake: bool,
    /// Bytes that its flows have to send, if all of them have an end.
    transfers: Option<Transfers>,
    options: Options,
}

/// Where the delay goes that a group steers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// The queuing delay at rest, s.
    pub queuing_s: f64,
    /// Whether the state settles there. If not, it swings around it.
    pub is_reached: bool,
}

/// Round trip from which LEDBAT++'s ramps overshoot: GAIN is 1 from twice TARGET on.
const LONG_PATH: f64 = 2.0;

/// Returns the window that a flow which halves has at this probability of loss, packets.
pub fn reno_window(loss: f64) -> f64 {
    libm::sqrt(2.0 / loss)
}

impl Group {
    /// Creates a group of one.
    pub fn new(flow: &Flow, sender: Sender, options: Options) -> Group {
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
            transfers: Transfers::of(flow),
            options,
        }
    }

    /// Adds one more flow.
    pub fn join(&mut self, flow: &Flow) {
        self.flows += 1;
        self.together &= flow.start == self.start;
        self.transfers = self.transfers.zip(Transfers::of(flow)).map(|(all, one)| all.and(one));
    }

    /// Returns the load of transfers that come and go, as a part of the link. They are too short and too few to fill it all
    /// the time. The closed forms are for flows that always have something to send, and do not apply to them.
    pub fn passing_load(&self, link: &Link) -> Option<f64> {
        self.transfers.and_then(|transfers| transfers.passing_load(link))
    }

    fn has_constant_round_trips(&self) -> bool {
        self.options.round_trip == RoundTrip::Constant
    }

    /// Returns whether it fills the buffer although packets are lost at random with this probability.
    pub fn fills_buffer(&self, link: &Link, loss: f64) -> bool {
        let window = match &self.sender.model {
            Model::NewReno(_) => reno_window(loss),
            Model::Cubic(rule) => rule.window_at(loss, link.rtt_s).max(reno_window(loss)),
            _ => return false,
        };
        // A queue that lengthens no round trip thins out no rate: any window above the path fills it in the end.
        let room = if self.has_constant_round_trips() { link.bdp() } else { link.buffer + link.bdp() };
        f64::from(self.flows) * window > room
    }

    /// Returns where the queuing delay goes; `None` if it steers to none.
    pub fn rest(&self, link: &Link) -> Option<Rest> {
        let (steered_s, is_reached) = match &self.sender.model {
            // Without the queue in the round trip nothing damps it.
            Model::Ledbat(rule) => (rule.target_s, !self.has_constant_round_trips()),
            Model::LedbatPp(rule) => self.rest_of(&fledbat::Closed::between_slowdowns(self.at(link), rule)),
            Model::Fledbat(rule) => self.rest_of(&fledbat::Closed::of(self.at(link), rule)),
            Model::NewReno(_) | Model::Cubic(_) | Model::Constant(_) => return None,
        };
        Some(Rest { queuing_s: steered_s.max(self.floor_s(link)), is_reached })
    }

    /// Returns the delay at rest, s, and whether it is reached. With the queue in the round trip a limit cycle is small;
    /// with constant round trips it empties the queue.
    fn rest_of(&self, closed: &fledbat::Closed) -> (f64, bool) {
        let at_once = self.options.feedback == Feedback::AtOnce;
        let is_reached = !self.has_constant_round_trips() || at_once || closed.delayed().is_stable();
        (
            self.equilibrium(closed).queuing_s,
            is_reached && !(self.has_constant_round_trips() && self.slows_down()),
        )
    }

    fn equilibrium(&self, closed: &fledbat::Closed) -> Equilibrium {
        match self.options.round_trip {
            RoundTrip::Constant => closed.equilibrium(),
            RoundTrip::WithQueue => closed.equilibrium_with_queue(),
        }
    }

    /// Returns the share of the link that a group without a rule takes.
    pub fn constant_rate(&self) -> Option<f64> {
        let Model::Constant(rate) = self.sender.model else { return None };
        Some(f64::from(self.flows) * rate * self.sender.size)
    }

    /// Returns the group as a party that settles beside others; `None` if losses hold it.
    pub fn party(&self) -> Option<Party> {
        let Sender { model, rtt_s, size, least, most, .. } = self.sender.clone();
        let law = match &model {
            Model::Ledbat(rule) => Law::At(rule.target_s),
            Model::Fledbat(Fledbat { target_s, alpha, zeta, .. }) => {
                Law::Above { target_s: *target_s, alpha: *alpha, zeta: *zeta }
            }
            Model::LedbatPp(rule) => {
                Law::Above { target_s: rule.target_s, alpha: rule.gain(rtt_s), zeta: rule.constant }
            }
            Model::Constant(rate) => Law::Constant(*rate),
            Model::NewReno(_) | Model::Cubic(_) => return None,
        };
        Some(Party { flows: self.flows, rtt_s, size, floor: least, most, law })
    }

    /// Returns when all of its flows start, if that is one time.
    pub fn common_start(&self) -> Option<Duration> {
        self.together.then_some(self.start)
    }

    /// Returns whether it slows down now and then.
    pub fn slows_down(&self) -> bool {
        matches!(&self.sender.model, Model::LedbatPp(rule) if rule.slowdowns != Slowdowns::None)
    }

    /// Returns the queue that the smallest windows of all its flows keep, s; nothing if the path holds them.
    fn floor_s(&self, link: &Link) -> f64 {
        let packets = f64::from(self.flows) * self.sender.least;
        let beyond_s = packets / link.capacity() - link.rtt_s;
        match self.has_constant_round_trips() && beyond_s > 0.0 {
            true => link.buffer_s(),
            false => beyond_s.max(0.0),
        }
    }

    /// Returns the part of the link that a lone flow uses, where that is less than all and the closed form holds. It holds
    /// if the queue is part of the round trip and the path not too long.
    pub fn utilisation_alone(&self, link: &Link) -> Option<f64> {
        let Model::LedbatPp(rule) = &self.sender.model else { return None };
        if self.has_constant_round_trips() || self.path_is_too_long(link) {
            return None;
        }
        let alone = Alone { capacity: link.capacity(), rtt_s: link.rtt_s, queuing_s: rule.target_s };
        (self.flows == 1).then(|| alone.utilisation(rule)).filter(|utilisation| utilisation.is_finite())
    }

    /// Returns whether LEDBAT++'s ramps may end its growth before the link is full.
    pub fn path_is_too_long(&self, link: &Link) -> bool {
        let Model::LedbatPp(rule) = &self.sender.model else { return false };
        self.flows == 1 && long_path(rule, link).is_some_and(|root| link.rtt_s > root.threshold_s)
    }

    /// Returns the group's name.
    pub fn name(&self) -> String {
        let name = format!("{} × {}, {}", self.kind, self.flows, self.rtt);
        if self.has_namesake {
            return format!("{name} ({})", self.first);
        }
        name
    }

    /// Adds the statements about it.
    pub fn explain(&self, link: &Link, options: &Options, analysis: &mut Analysis) {
        let mut says = Says { of: self.name(), analysis };
        says.number("bandwidth-delay product", link.bdp(), "packets", "C·R");
        if let Some(load) = self.passing_load(link) {
            says.number("load", load, "", "bytes of all transfers/(C·time in which they start)");
            return;
        }
        match &self.sender.model {
            Model::Fledbat(rule) => self.fledbat(rule, link, options, &mut says),
            Model::Ledbat(rule) => self.ledbat(rule, link, options, &mut says),
            Model::LedbatPp(rule) => self.ledbatpp(rule, link, options, &mut says),
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
        self.latecomers(rule.target_s, link, options, says);
        self.settles(&fledbat::Closed::of(self.at(link), rule), link, says);
    }

    /// Describes the behaviour of fLEDBAT's law, with any α and ζ.
    fn settles(&self, closed: &fledbat::Closed, link: &Link, says: &mut Says<'_>) {
        says.at_rest(&closed.equilibrium(), &closed.equilibrium_with_queue());
        says.number("damping of differences, a", closed.a(), "1/s", "N·α/(C·R²)");
        let formula = "ζ·(q/τ − 1)/(R + q)";
        says.number("damping of differences, R + q", closed.a_with_queue(), "1/s", formula);
        says.number("ζ*", closed.critical_zeta(), "", "N²·α²·τ/(4·C²·R³): below it nothing oscillates");
        says.number("slowest rate of approach", closed.rate(), "1/s", "Θ of λ² + a·λ + ζ/(R·τ)");
        if let Some(period_s) = closed.pair().period_s() {
            says.number("period", period_s, "s", "2π/√(ζ/(R·τ) − a²/4)");
        }
        says.number("damping ratio", closed.pair().damping(), "", "a/(2·ω₀)");
        let rests = self.can_rest(self.equilibrium(closed).queuing_s, link, says);
        says.delayed(&closed.delayed(), &closed.delayed_with_queue(), rests, &self.options);
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
        says.delayed(&closed.delayed(), &closed.delayed_with_queue(), rests, &self.options);
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
        // Slowdowns show the path sooner or later.
        let mistaken = options.base == Base::Measured && !self.together && !self.slows_down();
        if mistaken && self.flows > 1 && f64::from(self.flows) < fit {
            says.note(
                "they start at different times and the buffer holds a target for each: latecomers take the queue for \
                 the path, and starve the earlier ones",
            );
        }
    }

    /// Returns whether the queue can be where the closed forms have it. If not, a note gives the rule that applies instead.
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

    fn ledbatpp(&self, rule: &LedbatPp, link: &Link, options: &Options, says: &mut Says<'_>) {
        let gain = rule.gain(link.rtt_s);
        let queuing_s = rule.target_s.min(link.buffer_s());
        let alone = Alone { capacity: link.capacity(), rtt_s: link.rtt_s, queuing_s };
        self.latecomers(rule.target_s, link, options, says);
        says.number("GAIN", gain, "packets per round trip", "1/min(16, ⌈2·TARGET/R⌉)");
        says.number("rate beside Reno at equal loss", share_at_equal_loss(gain), "", "√GAIN");
        let nine = "(4 + 2·W + 9·(T + 2)·W)/(2·C·R + T·W + 9·(T + 2)·W), T = log₂(W/2), W = C·(R + q)";
        // Ramps shorter than a round trip are not in the model: it yields then more than all, or less than nothing.
        let used = Some(alone.nine_tenths(Wait::Slowdown)).filter(|used| (0.0..=1.0).contains(used));
        let holds = !self.path_is_too_long(link) && !self.has_constant_round_trips();
        if holds {
            says.number("utilisation alone, the 9/10 model", used.unwrap_or(f64::NAN), "", nine);
            let printed = Some(alone.nine_tenths(Wait::Ramp)).filter(|used| (0.0..=1.0).contains(used));
            let formula = "(4 + 2·W + 9·T·W)/(2·C·R + 10·T·W): the wait is nine ramps, not nine slowdowns";
            says.number("the same as printed, Bagnulo 2022 eq. 9", printed.unwrap_or(f64::NAN), "", formula);
            let covered = "1 − lost/(10·length·C), with GAIN's ramp and what the queue covers";
            says.number("utilisation alone", alone.utilisation(rule), "", covered);
        }
        if let Some(root) = long_path(rule, link) {
            says.number(
                "window that slowdowns return to",
                root.window,
                "packets",
                "s·(1 − β) = 9·(log₂ s − 1)",
            );
            if let Some(printed) = long_path_as(rule, link, Ramp::FromOne) {
                let formula = "s·(1 − β) = 9·log₂ s: the ramp begins at one packet, not at two";
                says.number("the same as printed, Bagnulo 2022 eq. 13", printed.window, "packets", formula);
            }
            let threshold = "β·s/C: the link is filled up to this round trip";
            says.number("longest round trip that is filled", root.threshold_s * 1e3, "ms", threshold);
        }
        if let Some(root) = long_path(rule, link).filter(|_| self.path_is_too_long(link)) {
            let least = root.utilisation(link.bdp());
            says.number("least utilisation alone", least, "", "0.9·(1 + β)/2·s/(C·R)");
            says.note(format!(
                "the path is so long that the ramps' own queue may end the growth before the link is full: alone it may leave a \
                 part of the link unused, and use as little as {:.0} % where its ramps are not paced",
                least * 100.0
            ));
        }
        let closed = fledbat::Closed::between_slowdowns(self.at(link), rule);
        self.settles(&closed, link, says);
        if rule.slowdowns == Slowdowns::None {
            return;
        }
        says.note("the statements about its rest hold between slowdowns, with GAIN for α and Constant for ζ");
        if self.flows > 1 {
            self.slowdowns(gain, &self.equilibrium(&closed), says);
        }
    }

    /// Describes the effect of slowdowns on several flows that hold a queue together.
    fn slowdowns(&self, gain: f64, settled: &Equilibrium, says: &mut Says<'_>) {
        let queued_s = if self.has_constant_round_trips() { 0.0 } else { settled.queuing_s };
        let slowdown =
            Slowdown { window: settled.window, round_trip_s: self.rtt.as_secs_f64() + queued_s, gain };
        let formula = "(2 + ln(W/2)/ln(1 + GAIN))·(R + q)";
        says.number("length of a slowdown", slowdown.length_s(), "s", formula);
        says.number("taken out of the queue by one", slowdown.taken(), "packets", "W − 2");
        let covers = if slowdown.taken() <= settled.queue {
            "the queue covers that, and the link stays full unless several fall together"
        } else {
            "that is more than the queue holds, and a part of the link is unused until it is back"
        };
        says.note(format!(
            "every flow slows down for {:.1} s in some {:.0} s, and takes {:.0} of {:.0} packets out of the queue: {covers}; \
             meanwhile each of the others grows by {gain:.2} packets in a round trip",
            slowdown.length_s(),
            slowdown.period_s(),
            slowdown.taken(),
            settled.queue
        ));
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

/// Returns the window that LEDBAT++'s slowdowns return to on a long path, in the lowest octave that a flow which grows
/// cannot leave. One that its initial slow start takes further rests higher.
fn long_path(rule: &LedbatPp, link: &Link) -> Option<Root> {
    long_path_as(rule, link, Ramp::FromTwo)
}

/// Returns that window with ramps that are counted from one packet or from two.
fn long_path_as(rule: &LedbatPp, link: &Link, ramp: Ramp) -> Option<Root> {
    if rule.slowdowns == Slowdowns::None || link.rtt_s < LONG_PATH * rule.target_s {
        return None;
    }
    let path = LongPath { capacity: link.capacity(), target_s: rule.target_s, ramp };
    path.root(path.lowest_trap()?).filter(Root::is_bounded)
}
