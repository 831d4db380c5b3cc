//! Ebb in Rust, with parameters and answers as columns of integers.

use super::event::{Event, Kind};
use afteryou_base::param::Settings;
use afteryou_cc::ebb::{parameters, PARAMS};
use afteryou_cc::ebb_core::{Params, Spread, State};

/// Columns of the answer.
pub const WINDOW: usize = 0;
pub const RATE: usize = 1;
pub const EVERY_US: usize = 2;
pub const PHASE: usize = 3;

/// Returns the parameters that the vectors and the programs in the kernel have.
pub fn defaults(mss: u64) -> Params {
    Params { mss, ..parameters(&Settings::defaults(PARAMS), 0) }
}

/// Returns the parameters as the program in C reads them, with the initial window in packets.
pub fn numbers(p: &Params, initial_packets: u64) -> Vec<u64> {
    let first =
        [p.mss, initial_packets, p.target_us, p.target_packets, p.own, p.ceiling_us, p.ceiling_packets];
    let ratios = [p.slack, p.gain, p.obey, p.patience.into(), p.switches.into(), p.floor];
    let last = [p.hold_us, p.hold_most_us, p.again_us, p.low, p.lossy, p.growth];
    [&first[..], &ratios, &last].concat()
}

/// A connection.
pub struct Ebb {
    pub params: Params,
    initial_packets: u64,
    state: State,
}

impl Ebb {
    /// Returns the rule at the start of a connection.
    pub fn new(params: Params, initial_packets: u64) -> Ebb {
        let state = State::new(initial_packets.max(2) * params.mss);
        Ebb { params, initial_packets, state }
    }

    /// Applies an event.
    pub fn apply(&mut self, Event { kind, ack }: &Event) {
        let (p, state) = (&mut self.params, &mut self.state);
        match kind {
            Kind::Sent => state.on_sent(ack.number),
            Kind::Ack => state.on_ack(ack, p),
            Kind::Loss => state.on_loss(ack.now, ack.sent_at, p),
            Kind::Timeout => state.on_timeout(ack.now, p),
            Kind::Idle => state.on_idle(ack.now, self.initial_packets.max(2) * p.mss),
            Kind::Mtu => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
        }
    }

    /// Returns whether a train is sent or awaited.
    pub fn has_train(&self) -> bool {
        self.state.burst().is_on()
    }

    /// Returns all columns.
    pub fn columns(&self) -> Vec<u64> {
        let (p, state) = (&self.params, &self.state);
        let (rate, every_us, apart_us) = match state.spread(p) {
            Spread::Unknown => (0, 0, 0),
            Spread::Rate(rate) => (rate, 0, 0),
            Spread::Pairs { apart_us, every_us } => (0, every_us, apart_us),
        };
        let base_us = state.path.base_us();
        let measured = |us: u64| if base_us > 0 { us } else { 0 };
        vec![
            state.window(p),
            rate,
            every_us,
            state.phase as u64,
            base_us,
            measured(state.queue_us()),
            measured(state.target_us(p)),
            state.capacity.get(),
            state.noise_us(),
            state.cwnd,
            state.rate,
            apart_us.into(),
        ]
    }
}
