//! A network's state as time passes.

use crate::integrator::Integrator;
use crate::model::Model;
use crate::network::{Network, Sender};
use crate::options::Base;
use crate::phase::{FlowState, News, Phase, Reset};
use crate::train::Train;

/// A network's state as time passes.
pub struct Trajectory {
    network: Network,
    integrator: Integrator<Network>,
    step_s: f64,
    /// Slowdowns that each flow has begun.
    slowdowns: Vec<u32>,
}

/// Queues are followed back in time up to this many bandwidth-delay products, where the buffer has no bound.
const DEEPEST_QUEUE: f64 = 100.0;

impl Trajectory {
    /// Creates an empty network in which nobody has started, in steps of `step_s`.
    pub fn idle(network: Network, step_s: f64) -> Trajectory {
        let y = vec![0.0; 1 + 2 * network.senders.len()];
        Trajectory::new(network, y, step_s, Box::new(|_, _| 0.0))
    }

    /// Creates a network with this queue, all of whose flows are in congestion avoidance with these windows, and always
    /// were.
    pub fn running(network: Network, queue: f64, windows: &[f64], step_s: f64) -> Trajectory {
        let windows = windows.to_vec();
        Trajectory::continuing(network, step_s, move |_| queue, move |_, flow| windows[flow])
    }

    /// Creates a network whose flows are all in congestion avoidance, and were before time zero. It has this queue at a time
    /// up to zero, and this window at a time of a flow, packets.
    pub fn continuing(
        mut network: Network,
        step_s: f64,
        queue: impl Fn(f64) -> f64 + 'static,
        window: impl Fn(f64, usize) -> f64 + 'static,
    ) -> Trajectory {
        for flow in &mut network.flows {
            *flow = FlowState::off();
            flow.phase = Phase::Avoidance;
        }
        for (flow, sender) in network.senders.iter().enumerate() {
            network.flows[flow].train = (!sender.paced).then(|| Train::new(window(0.0, flow), 0.0));
        }
        let models: Vec<Model> = network.senders.iter().map(|sender| sender.model).collect();
        let past = move |t_s: f64, component: usize| match component.checked_sub(1) {
            None => queue(t_s),
            Some(of) => models[of / 2].with_window(window(t_s, of / 2))[of % 2],
        };
        let y = (0..1 + 2 * network.senders.len()).map(|component| past(0.0, component)).collect();
        Trajectory::new(network, y, step_s, Box::new(past))
    }

    fn new(network: Network, y: Vec<f64>, step_s: f64, past: crate::history::Past) -> Trajectory {
        let rtt_s = network.senders.iter().map(|sender| sender.rtt_s).fold(0.0, f64::max);
        let deepest = DEEPEST_QUEUE * network.capacity * rtt_s;
        let queue = if network.buffer.is_finite() { network.buffer } else { deepest };
        let longest_s = network.longest_delay_s(queue) + step_s;
        let integrator = Integrator::new(&network, y, step_s, longest_s, past);
        let slowdowns = vec![0; network.senders.len()];
        Trajectory { network, integrator, step_s, slowdowns }
    }

    /// Returns the network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the time, s.
    pub fn t_s(&self) -> f64 {
        self.integrator.t_s()
    }

    /// Steps so far.
    pub fn steps(&self) -> u64 {
        self.integrator.steps()
    }

    /// Returns the length of a step, s.
    pub fn step_s(&self) -> f64 {
        self.step_s
    }

    /// Returns the queue.
    pub fn queue(&self) -> f64 {
        self.integrator.y()[0]
    }

    /// Returns the queue's derivative, 1/s.
    pub fn queue_slope(&self) -> f64 {
        self.integrator.slope()[0]
    }

    /// Returns the part of what arrives that is lost.
    pub fn loss(&self) -> f64 {
        self.integrator.loss()
    }

    /// Returns the window of a flow, packets.
    pub fn window(&self, flow: usize) -> f64 {
        self.network.window(self.integrator.y(), flow)
    }

    /// Returns the packets per second that a flow sends.
    pub fn rate(&self, flow: usize) -> f64 {
        self.network.rate(self.integrator.y(), flow)
    }

    /// Returns a flow's estimate of the empty queue, s; `None` if it has no sample yet.
    pub fn base_error_s(&self, flow: usize) -> Option<f64> {
        let base_s = self.network.flows[flow].base_s;
        match self.network.options.base {
            Base::Known => Some(0.0),
            Base::Measured => base_s.is_finite().then_some(base_s),
        }
    }

    /// Returns whether a flow is sending.
    pub fn is_on(&self, flow: usize) -> bool {
        self.network.flows[flow].phase != Phase::Off
    }

    /// Returns the number of slowdowns that a flow has begun.
    pub fn slowdowns(&self, flow: usize) -> u32 {
        self.slowdowns[flow]
    }

    /// Starts a flow, if it has not started.
    pub fn start(&mut self, flow: usize) {
        if self.is_on(flow) {
            return;
        }
        let Trajectory { network, integrator, .. } = self;
        let Sender { model, most, paced, .. } = &network.senders[flow];
        let window = model.initial_window().min(*most);
        network.flows[flow] = network.flows[flow].started(model);
        network.flows[flow].train = (!paced).then(|| Train::new(window, integrator.t_s()));
        Network::set_state(integrator.y_mut(), flow, model.with_window(window));
        integrator.settle(network);
    }

    /// Starts a flow with this window, in congestion avoidance, if it has not started.
    pub fn start_with(&mut self, flow: usize, window: f64) {
        if self.is_on(flow) {
            return;
        }
        let (t_s, queuing_s) = (self.t_s(), self.queue() / self.network.capacity);
        let Trajectory { network, integrator, .. } = self;
        let rtt_s = network.round_trip_s(flow, queuing_s);
        let Sender { model, least, most, paced, .. } = &network.senders[flow];
        network.flows[flow] = network.flows[flow].started_in_avoidance(model, t_s, rtt_s);
        let window = window.max(least.min(1.0)).min(*most);
        network.flows[flow].train = (!paced).then(|| Train::new(window, t_s));
        Network::set_state(integrator.y_mut(), flow, model.with_window(window));
        integrator.settle(network);
    }

    /// Lets a flow forget the path: it will be another connection.
    pub fn forget_path(&mut self, flow: usize) {
        self.network.flows[flow].base_s = f64::INFINITY;
    }

    /// Fills the queue up to `queue`, at most up to the buffer.
    pub fn fill_queue(&mut self, queue: f64) {
        self.integrator.y_mut()[0] = queue.min(self.network.buffer);
        self.integrator.settle(&self.network);
    }

    /// Stops a flow, if it has not stopped. Its bytes in the queue are served as the others' are.
    pub fn stop(&mut self, flow: usize) {
        let Trajectory { network, integrator, .. } = self;
        network.flows[flow].phase = Phase::Off;
        Network::set_state(integrator.y_mut(), flow, [0.0, 0.0]);
        integrator.settle(network);
    }

    /// Advances one step, and applies the changes at its end.
    pub fn step(&mut self) {
        self.integrator.step(&self.network);
        let mut changed = false;
        for flow in 0..self.network.senders.len() {
            changed |= self.at_edge(flow);
        }
        if changed {
            self.integrator.settle(&self.network);
        }
    }

    /// Returns the step whose edge is nearest to a time.
    pub fn step_at(&self, at_s: f64) -> u64 {
        (at_s / self.step_s).round() as u64
    }

    /// Advances by as many steps as bring it to `to_s`.
    pub fn run_to(&mut self, to_s: f64) {
        let last = self.step_at(to_s);
        while self.steps() < last {
            self.step();
        }
    }

    fn at_edge(&mut self, flow: usize) -> bool {
        let Trajectory { network, integrator, step_s, slowdowns } = self;
        let sender = &network.senders[flow];
        let phase = network.flows[flow].phase;
        let drifts_on = phase == Phase::Avoidance
            && sender.paced
            && !matches!(sender.model, Model::LedbatPp(_))
            && network.options.base == Base::Known;
        if drifts_on || phase == Phase::Off {
            return false;
        }
        let t_s = integrator.t_s();
        let signal = network.signal(flow, integrator.y(), integrator.loss(), integrator.echo());
        let mut window = None;
        let news = network.flows[flow].at_edge(&sender.model, &signal, t_s, *step_s, &mut window);
        if let Some(reset) = window {
            let state = match reset {
                Reset::To(window) => sender.model.with_window(window),
                Reset::LossAt(window) => sender.model.cut(window, sender.least),
            };
            Network::set_state(integrator.y_mut(), flow, state);
        }
        slowdowns[flow] += u32::from(news == News::Slowdown);
        news != News::None
    }
}
