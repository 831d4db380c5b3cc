//! One bottleneck and its flows as a system of equations.
//!
//! # Model
//! ```text
//!   rate of a flow    x = W / (R + q)            q = Q/C;  W / R if round trips are constant
//!   queue             dQ/dt = Σ size·x − C       held at 0 and at the buffer B
//!   loss at Q = B     p = (Σ size·x − C) / Σ size·x,  the same for every flow; random loss comes on top
//!   sender            sees q and p, and is acknowledged by x, as they were when the packet whose acknowledgement
//!                     arrives now came to the queue: at the e with e + q(e) + R = t, or now if feedback is at once
//! ```
//! The queue is at the sender's end of the path. Sizes, capacity and buffer have any unit of data: with size 1 all are
//! packets, as in the papers.
//!
//! # Constants
//! A step is a tenth of the shortest round trip, a fifth of a radian of the fastest rule, or 10 ms, whichever is
//! shortest. Delays must be longer than a step. Halving it changes none of the tested figures in the fourth digit.
//!
//! # Not modelled
//! Single packets, but for the trains of senders that do not pace (`train.rs`). The delay until a change of the window reaches the wire with the acknowledgements: here the rate follows at once.
//! The queue of the reverse path.
//!
//! # Known bad cases
//! The right-hand side has a kink where a queue crosses a target (order two across it). It jumps where the queue
//! becomes empty or full (order one).

use crate::entry::entered_s;
use crate::history::{History, Spot};
use crate::integrator::System;
use crate::model::{Model, ModelState, Signal, Slowdowns};
use crate::options::{Base, Feedback, Options, RoundTrip};
use crate::phase::{FlowState, Phase};

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    /// The sender's rule.
    pub model: Model,
    /// Base round-trip time, s.
    pub rtt_s: f64,
    /// The share of the link that one packet takes.
    pub size: f64,
    /// Smallest window, packets.
    pub least: f64,
    /// Largest window, packets.
    pub most: f64,
    /// It spreads its window over the round trip. Otherwise it sends trains: growth in slow start queues even where the path
    /// has room, and the sender measures that.
    pub paced: bool,
}

impl Sender {
    /// Creates a sender of paced packets of one unit, with no bound on the window but its rule's floor.
    pub fn new(model: Model, rtt_s: f64) -> Sender {
        Sender { model, rtt_s, size: 1.0, least: model.floor(), most: f64::INFINITY, paced: true }
    }
}

/// A bottleneck and its flows.
#[derive(Clone, Debug)]
pub struct Network {
    /// The link's capacity in a second.
    pub capacity: f64,
    /// Its queue's limit.
    pub buffer: f64,
    /// Probability that a packet is lost at random.
    pub loss: f64,
    /// The inflow.
    pub options: Options,
    /// The flows.
    pub senders: Vec<Sender>,
    /// The phase of each flow.
    pub(crate) flows: Vec<FlowState>,
}

/// The signal of an acknowledgement that arrives now, about the moment when its packet reached the queue.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    queuing_s: f64,
    loss: f64,
    /// The flow's window then, packets.
    window: f64,
}

/// Longest step, s.
const LONGEST_STEP_S: f64 = 0.01;
/// Steps in the shortest round trip.
const STEPS_PER_RTT: f64 = 10.0;
/// Longest part of a turn of the fastest rule in a step, rad.
const LONGEST_TURN: f64 = 0.2;

impl Network {
    /// Creates a network whose queue holds everything and that loses nothing.
    pub fn new(capacity: f64, options: Options, senders: Vec<Sender>) -> Network {
        let flows = vec![FlowState::off(); senders.len()];
        Network { capacity, buffer: f64::INFINITY, loss: 0.0, options, senders, flows }
    }

    /// Returns the same network with a buffer.
    pub fn with_buffer(self, buffer: f64) -> Network {
        Network { buffer, ..self }
    }

    /// Returns the same network with random loss.
    pub fn with_loss(self, loss: f64) -> Network {
        Network { loss, ..self }
    }

    /// Returns the longest step that is short enough, s.
    pub fn step_s(&self) -> f64 {
        let of = |sender: &Sender| {
            let turn = LONGEST_TURN / sender.model.fastest(sender.rtt_s).max(f64::MIN_POSITIVE);
            turn.min(sender.rtt_s / STEPS_PER_RTT)
        };
        self.senders.iter().map(of).fold(self.options.step_s.unwrap_or(LONGEST_STEP_S), f64::min)
    }

    /// Returns how far back senders see, s, with queues of at most `queue`.
    pub(crate) fn longest_delay_s(&self, queue: f64) -> f64 {
        let rtt_s = self.senders.iter().map(|sender| sender.rtt_s).fold(0.0, f64::max);
        match (self.options.feedback, self.options.round_trip) {
            (Feedback::AtOnce, _) => 0.0,
            (Feedback::Delayed, RoundTrip::Constant) => rtt_s,
            (Feedback::Delayed, RoundTrip::WithQueue) => rtt_s + queue / self.capacity,
        }
    }

    pub(crate) fn state_of(y: &[f64], flow: usize) -> ModelState {
        [y[1 + 2 * flow], y[2 + 2 * flow]]
    }

    pub(crate) fn set_state(y: &mut [f64], flow: usize, state: ModelState) {
        [y[1 + 2 * flow], y[2 + 2 * flow]] = state;
    }

    /// Returns the window of a flow, packets.
    pub(crate) fn window(&self, y: &[f64], flow: usize) -> f64 {
        let window = self.window_of(flow, Network::state_of(y, flow), self.queuing_s(y[0]));
        let Sender { least, most, .. } = self.senders[flow];
        match self.flows[flow].phase {
            Phase::Off => window,
            // A stage of a step may be below.
            _ => window.max(least.min(most)),
        }
    }

    /// Returns the window in this state, with this queuing delay. CUBIC's grows with time alone, so it is bounded here and
    /// not in its drift.
    fn window_of(&self, flow: usize, state: ModelState, queuing_s: f64) -> f64 {
        let sender = &self.senders[flow];
        sender.model.window(state, self.round_trip_s(flow, queuing_s)).clamp(0.0, sender.most)
    }

    /// Returns a round trip of a flow with this queuing delay, s.
    pub(crate) fn round_trip_s(&self, flow: usize, queuing_s: f64) -> f64 {
        let rtt_s = self.senders[flow].rtt_s;
        match self.options.round_trip {
            RoundTrip::Constant => rtt_s,
            RoundTrip::WithQueue => rtt_s + queuing_s,
        }
    }

    fn queuing_s(&self, queue: f64) -> f64 {
        queue.clamp(0.0, self.buffer) / self.capacity
    }

    /// Returns the packets per second that a flow sends with this window and queuing delay.
    fn rate_with(&self, flow: usize, window: f64, queuing_s: f64) -> f64 {
        let state = &self.flows[flow];
        match self.senders[flow].model {
            _ if state.phase == Phase::Off => 0.0,
            Model::Constant(rate) => rate,
            Model::LedbatPp(rule) if rule.slowdowns == Slowdowns::Mean => {
                let duty = rule.duty(window, self.senders[flow].rtt_s);
                duty * window / self.round_trip_s(flow, queuing_s)
            }
            _ => window / self.round_trip_s(flow, queuing_s),
        }
    }

    /// Returns the packets per second that a flow sends now.
    pub(crate) fn rate(&self, y: &[f64], flow: usize) -> f64 {
        self.rate_with(flow, self.window(y, flow), self.queuing_s(y[0]))
    }

    fn arrival(&self, y: &[f64]) -> f64 {
        let of = |(flow, sender): (usize, &Sender)| sender.size * self.rate(y, flow);
        self.senders.iter().enumerate().fold(0.0, |sum, flow| sum + of(flow))
    }

    /// Returns the part of `arrival` that a full queue loses.
    fn overflow(&self, queue: f64, arrival: f64) -> f64 {
        match queue >= self.buffer && arrival > self.capacity {
            true => 1.0 - self.capacity / arrival,
            false => 0.0,
        }
    }

    /// Returns a sender's inputs now, in a state with this loss at the queue. `heard` is empty if feedback is at once.
    pub(crate) fn signal(&self, flow: usize, y: &[f64], loss: f64, heard: &[Heard]) -> Signal {
        let (window, queuing_s) = (self.window(y, flow), self.queuing_s(y[0]));
        let heard = heard.get(flow).copied().unwrap_or(Heard { queuing_s, loss, window });
        let rtt_s = self.round_trip_s(flow, queuing_s);
        let ack_rate = self.rate_with(flow, heard.window, heard.queuing_s);
        let base_s = match self.options.base {
            Base::Known => 0.0,
            // Where nothing has been seen yet, what is seen now is the path.
            Base::Measured => self.flows[flow].base_s.min(heard.queuing_s),
        };
        // Losses are a Poisson process, and after each the sender is deaf to others for a round trip.
        let losses = heard.loss * ack_rate;
        let (burst_s, burst_lost) = self.burst(flow, &heard);
        Signal {
            window,
            rtt_s,
            ack_rate,
            queuing_s: heard.queuing_s.max(burst_s) - base_s,
            base_s,
            base_rtt_s: self.senders[flow].rtt_s + base_s,
            losses,
            loss_events: losses / (1.0 + losses * rtt_s),
            burst_lost,
        }
    }

    /// Returns the queue that the growth of a flow's train made, s, and what of it the buffer cannot hold, packets.
    fn burst(&self, flow: usize, heard: &Heard) -> (f64, f64) {
        let Some(train) = &self.flows[flow].train else { return (0.0, 0.0) };
        let size = self.senders[flow].size;
        let growth = train.growth(heard.window, self.options.feedback);
        let room = self.buffer / size;
        (growth.min(room) * size / self.capacity, (growth - room).max(0.0))
    }

    /// Returns the queue as the packet met it that left it at `left_s`: round trip, when, queuing delay, loss.
    fn look_at_queue(&self, left_s: f64, rtt_s: f64, history: &History) -> (f64, Spot, f64, f64) {
        let entered_s = match self.options.round_trip {
            RoundTrip::Constant => left_s,
            RoundTrip::WithQueue => {
                entered_s(left_s, |at_s| self.queuing_s(history.read(&history.at(at_s), 0)))
            }
        };
        let spot = history.at(entered_s);
        (rtt_s, spot, self.queuing_s(history.read(&spot, 0)), history.loss(&spot))
    }

    fn drift(&self, flow: usize, y: &[f64], signal: &Signal) -> ModelState {
        let (sender, state) = (&self.senders[flow], Network::state_of(y, flow));
        let model = &sender.model;
        let drift = match self.flows[flow].phase {
            Phase::Off | Phase::Freeze { .. } => return [0.0, 0.0],
            Phase::SlowStart | Phase::Ramp { .. } if signal.ack_rate == 0.0 => return [0.0, 0.0],
            Phase::SlowStart | Phase::Ramp { .. } => {
                let growth = libm::log1p(model.slow_start_gain(signal.base_rtt_s));
                [state[0] * growth / signal.rtt_s, 0.0]
            }
            Phase::Avoidance => model.drift(state, signal),
        };
        let at_floor = drift[0] < 0.0 && state[0] <= model.with_window(sender.least)[0];
        let at_most = drift[0] > 0.0 && signal.window >= sender.most;
        if at_floor || at_most {
            return [0.0, drift[1]];
        }
        drift
    }
}

impl System for Network {
    /// The delayed signal of each flow; nothing if feedback is at once.
    type Echo = Vec<Heard>;

    fn look_back(&self, t_s: f64, history: &History, heard: &mut Vec<Heard>) {
        heard.clear();
        if self.options.feedback == Feedback::AtOnce {
            return;
        }
        let mut last: Option<(f64, Spot, f64, f64)> = None;
        for (flow, sender) in self.senders.iter().enumerate() {
            // Flows of one round trip hear of the same queue.
            let (_, spot, queuing_s, loss) = match last {
                Some(last) if last.0 == sender.rtt_s => last,
                _ => *last.insert(self.look_at_queue(t_s - sender.rtt_s, sender.rtt_s, history)),
            };
            let at = |component: usize| history.read(&spot, component);
            let second = if matches!(sender.model, Model::Cubic(_)) { at(2 + 2 * flow) } else { 0.0 };
            let window = self.window_of(flow, [at(1 + 2 * flow), second], queuing_s);
            heard.push(Heard { queuing_s, loss, window });
        }
    }

    fn slope(&self, y: &[f64], heard: &Vec<Heard>, dy: &mut [f64]) -> f64 {
        let arrival = self.arrival(y);
        let overflow = self.overflow(y[0], arrival);
        let excess = arrival - self.capacity;
        dy[0] = match (y[0] <= 0.0, y[0] >= self.buffer) {
            (true, _) => excess.max(0.0),
            (_, true) => excess.min(0.0),
            _ => excess,
        };
        let loss = overflow + self.loss * (1.0 - overflow);
        for flow in 0..self.senders.len() {
            let drift = match self.flows[flow].phase {
                Phase::Off => [0.0, 0.0],
                _ => self.drift(flow, y, &self.signal(flow, y, loss, heard)),
            };
            Network::set_state(dy, flow, drift);
        }
        loss
    }

    fn restrain(&self, y: &mut [f64]) {
        y[0] = y[0].clamp(0.0, self.buffer);
        for (flow, sender) in self.senders.iter().enumerate() {
            let floor = sender.model.with_window(sender.least)[0];
            if self.flows[flow].phase != Phase::Off && y[1 + 2 * flow] < floor {
                y[1 + 2 * flow] = floor;
            }
        }
    }
}
