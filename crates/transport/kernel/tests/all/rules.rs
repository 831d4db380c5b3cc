//! The rules in Rust, with parameters and state as columns of integers.

use crate::event::{Event, Kind};
use afteryou_cc::fixed::Bytes16;
use afteryou_cc::ledbat_core::{fledbat, ledbat, ledbatpp, Delay, Kept};
use std::ops::RangeInclusive;

/// A parameter: its name in the vectors and the values that random tests draw.
pub type Param = (&'static str, RangeInclusive<u64>);

/// Parameters of a rule at most.
pub const PARAMS_MOST: usize = 19;
/// The largest packet, bytes.
pub const MSS_MAX: u64 = 65_535;
const MSS: Param = ("mss", 1..=MSS_MAX);
const MINUTES: Param = ("minutes", 1..=10);
const SAMPLES: Param = ("samples", 1..=4);

/// A rule beside its namesake in C.
pub trait Rule {
    /// Name of the rule, and of its vectors.
    const NAME: &'static str;
    /// The parameters, in the order of the C.
    const PARAMS: &'static [Param];

    /// Returns the rule at the start of a connection.
    fn new(params: &[u64]) -> Self;

    /// Applies an event. Returns true if it is a loss that counts.
    fn apply(&mut self, event: &Event) -> bool;

    /// Returns the state, in the order of the vectors.
    fn state(&self) -> Vec<u64>;

    /// Returns the state saved by [`Kind::Keep`].
    fn saved(&self) -> Vec<u64>;

    /// Applies an event and returns all columns after it.
    fn columns_after(&mut self, event: &Event) -> Vec<u64> {
        let counts = self.apply(event);
        [self.state(), self.saved(), vec![u64::from(counts)]].concat()
    }
}

fn kept(minutes: u64, samples: u64) -> Kept {
    Kept { minutes: minutes as u32, samples: samples as u32 }
}

fn delay_state<const M: usize, const S: usize, const O: usize>(delay: &Delay<M, S, O>) -> Vec<u64> {
    let small = delay.since.iter().chain(&delay.samples).chain(&delay.gaps).map(|us| u64::from(*us));
    let counts = [delay.count, delay.is_known].map(u64::from);
    std::iter::once(delay.sampled_at).chain(small).chain(counts).collect()
}

/// LEDBAT.
pub struct Rfc6817 {
    params: ledbat::Params,
    state: ledbat::Compact,
    saved: afteryou_cc::ledbat_core::Before,
}

impl Rule for Rfc6817 {
    const NAME: &'static str = "ledbat";
    const PARAMS: &'static [Param] = &[
        ("target_us", 1..=1_000_000),
        ("gain16", 0..=1 << 16),
        ("decrease_gain16", 0..=100 << 16),
        ("allowed_increase", 0..=1000),
        ("tether", 1..=16),
        ("init_cwnd", 1..=100),
        ("min_cwnd", 1..=10),
        MSS,
        MINUTES,
        SAMPLES,
    ];

    fn new(params: &[u64]) -> Rfc6817 {
        let &[target_us, gain16, decrease_gain16, allowed_increase, tether, init_cwnd, min_cwnd, mss, minutes, samples] =
            params
        else {
            panic!("{params:?}")
        };
        let kept = kept(minutes, samples);
        let params = ledbat::Params {
            target_us,
            gain16,
            decrease_gain16,
            allowed_increase,
            tether,
            init_cwnd,
            min_cwnd,
            mss,
            kept,
        };
        let state = ledbat::State::new(&params);
        Rfc6817 { saved: state.before(), state, params }
    }

    fn apply(&mut self, Event { kind, ack }: &Event) -> bool {
        let (p, state) = (&mut self.params, &mut self.state);
        match kind {
            Kind::Ack => state.on_ack(p, ack),
            Kind::Loss => return state.on_loss(p, ack.sent_at, ack.now),
            Kind::Timeout => state.on_timeout(p, ack.now),
            Kind::Idle => state.on_idle(p),
            Kind::Mtu => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
            Kind::Wake => {}
            Kind::Keep => self.saved = state.before(),
            Kind::Lower => self.saved.lower(Bytes16::from_bytes(ack.flightsize)),
            Kind::Undo => state.undo(&self.saved),
        }
        false
    }

    fn state(&self) -> Vec<u64> {
        let used = [self.state.window_use.round, self.state.window_use.previous].map(u64::from);
        [&[self.state.cwnd.0, self.state.gate.0][..], &delay_state(&self.state.delay), &used].concat()
    }

    fn saved(&self) -> Vec<u64> {
        vec![self.saved.cwnd.0, self.saved.gate.0]
    }
}

/// fLEDBAT.
pub struct Carofiglio {
    params: fledbat::Params,
    state: fledbat::Compact,
    saved: afteryou_cc::ledbat_core::Before,
}

impl Rule for Carofiglio {
    const NAME: &'static str = "fledbat";
    const PARAMS: &'static [Param] = &[
        ("target_us", 1..=1_000_000),
        ("alpha16", 0..=1 << 16),
        ("zeta16", 0..=100 << 16),
        ("init_cwnd", 1..=100),
        ("min_cwnd", 1..=10),
        MSS,
        MINUTES,
        SAMPLES,
    ];

    fn new(params: &[u64]) -> Carofiglio {
        let &[target_us, alpha16, zeta16, init_cwnd, min_cwnd, mss, minutes, samples] = params else {
            panic!("{params:?}")
        };
        let kept = kept(minutes, samples);
        let params = fledbat::Params { target_us, alpha16, zeta16, init_cwnd, min_cwnd, mss, kept };
        let state = fledbat::State::new(&params);
        Carofiglio { saved: state.before(), state, params }
    }

    fn apply(&mut self, Event { kind, ack }: &Event) -> bool {
        let (p, state) = (&mut self.params, &mut self.state);
        match kind {
            Kind::Ack => state.on_ack(p, ack),
            Kind::Loss => return state.on_loss(p, ack.sent_at, ack.now),
            Kind::Timeout => state.on_timeout(p, ack.now),
            Kind::Idle => state.on_idle(),
            Kind::Mtu => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
            Kind::Wake => {}
            Kind::Keep => self.saved = state.before(),
            Kind::Lower => self.saved.lower(Bytes16::from_bytes(ack.flightsize)),
            Kind::Undo => state.undo(&self.saved),
        }
        false
    }

    fn state(&self) -> Vec<u64> {
        [&[self.state.cwnd.0, self.state.gate.0][..], &delay_state(&self.state.delay)].concat()
    }

    fn saved(&self) -> Vec<u64> {
        vec![self.saved.cwnd.0, self.saved.gate.0]
    }
}

/// LEDBAT++.
pub struct PlusPlus {
    params: ledbatpp::Params,
    state: ledbatpp::Compact,
    saved: ledbatpp::Before,
}

impl PlusPlus {
    /// Column of the phase.
    pub const PHASE: usize = 8;
}

impl Rule for PlusPlus {
    const NAME: &'static str = "ledbatpp";
    const PARAMS: &'static [Param] = &[
        ("target_us", 1..=1_000_000),
        ("divisor_max", 1..=256),
        ("constant16", 0..=16 << 16),
        ("exit_us", 0..=1_000_000),
        MSS,
        MINUTES,
        SAMPLES,
        ("slowdowns", 0..=1),
    ];

    fn new(params: &[u64]) -> PlusPlus {
        let &[target_us, divisor_max, constant16, exit_us, mss, minutes, samples, slowdowns] = params else {
            panic!("{params:?}")
        };
        let (kept, slowdowns) = (kept(minutes, samples), slowdowns as u32);
        let params = ledbatpp::Params { target_us, divisor_max, constant16, exit_us, mss, kept, slowdowns };
        let state = ledbatpp::State::new(&params);
        PlusPlus { saved: state.before(), state, params }
    }

    fn apply(&mut self, Event { kind, ack }: &Event) -> bool {
        let (p, state, v) = (&mut self.params, &mut self.state, &mut ledbatpp::Draft);
        match kind {
            Kind::Ack => state.on_ack(p, ack, v),
            Kind::Loss => return state.on_loss(p, ack.sent_at, ack.now, v),
            Kind::Timeout => state.on_timeout(p, ack.now, ack.flightsize, ack.flags, v),
            Kind::Idle => state.on_idle(p, v),
            Kind::Mtu => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
            Kind::Wake => state.run_slowdown(p, ack.now, v),
            Kind::Keep => self.saved = state.before(),
            Kind::Lower => self.saved.lower(Bytes16::from_bytes(ack.flightsize)),
            Kind::Undo => state.undo(&self.saved),
        }
        false
    }

    fn state(&self) -> Vec<u64> {
        let s = &self.state;
        let windows = [s.cwnd, s.ssthresh, s.round_cwnd, s.round_left].map(|window| window.0);
        let times = [s.gate.0, s.smoothed_rtt, s.began, s.due, s.phase as u64, s.slowdowns.into()];
        [&windows[..], &times, &delay_state(&s.delay)].concat()
    }

    fn saved(&self) -> Vec<u64> {
        let ledbatpp::Before { cwnd, ssthresh, gate, began, due, phase, slowdowns } = self.saved;
        vec![cwnd.0, ssthresh.0, gate.0, began, due, phase as u64, slowdowns.into()]
    }
}
