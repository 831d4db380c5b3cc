//! Ebb's core under any events: numbers that no shell would pass, and paths on which they are honest for a while.
//!
//! The bytes of a fuzzer are read from the front, field by field, so that an input can be written by hand.

use afteryou_base::param::Settings;
use afteryou_cc::ebb::{parameters, PARAMS};
use afteryou_cc::ebb_core::burst::Question;
use afteryou_cc::ebb_core::{AckEvent, Params, Phase, Spread, State, HAS_RTT};
use arbitrary::{Result, Unstructured};

/// Largest window, bytes.
const MAX_WINDOW: u64 = 1 << 40;
/// Packets of the longest train.
const MAX_TRAIN: u64 = 100;
/// Round-trip time of an honest path, µs.
const BASE_US: u32 = 40_000;

/// Something happens.
enum Op {
    /// An ack with any numbers.
    Ack(AckEvent),
    Loss {
        now: u64,
        sent_at: u64,
    },
    Timeout(u64),
    Idle(u64),
    Sent(u64),
    Mtu(u16),
    /// Packets leave and are acknowledged, one after another, and all meet the same queue.
    Honest {
        packets: u16,
        every_us: u16,
        queue_us: u32,
        rate: u32,
    },
}

/// Runs the target: reads the parameters and [`Op`]s from `data` and runs them.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(mut machine) = Machine::read(&mut input) else { return };
    while !input.is_empty() {
        let Ok(op) = Op::read(&mut input) else { return };
        machine.run(&op);
    }
}

impl Op {
    fn read(input: &mut Unstructured<'_>) -> Result<Op> {
        Ok(match input.arbitrary::<u8>()? % 8 {
            0 => Op::Ack(AckEvent {
                now: input.arbitrary()?,
                sent_at: input.arbitrary()?,
                number: input.arbitrary()?,
                delivered: input.arbitrary()?,
                in_flight: input.arbitrary()?,
                rate: input.arbitrary()?,
                rtt_us: input.arbitrary()?,
                smoothed_us: input.arbitrary()?,
                reverse_us: input.arbitrary()?,
                flags: input.arbitrary()?,
            }),
            1 => Op::Loss { now: input.arbitrary()?, sent_at: input.arbitrary()? },
            2 => Op::Timeout(input.arbitrary()?),
            3 => Op::Idle(input.arbitrary()?),
            4 => Op::Sent(input.arbitrary()?),
            5 => Op::Mtu(input.arbitrary()?),
            _ => Op::Honest {
                packets: input.arbitrary::<u16>()? % 2048,
                every_us: input.arbitrary()?,
                queue_us: input.arbitrary()?,
                rate: input.arbitrary()?,
            },
        })
    }
}

/// The core, and what an honest sender keeps.
struct Machine {
    state: State,
    params: Params,
    now: u64,
    number: u64,
    /// Packets of the train that have left.
    of_train: u64,
}

impl Machine {
    fn read(input: &mut Unstructured<'_>) -> Result<Machine> {
        let mss = u64::from(input.arbitrary::<u16>()?.max(1));
        let params = params(mss, input.arbitrary::<u8>()?.into());
        Ok(Machine { state: State::new(10 * mss), params, now: 1_000_000, number: 0, of_train: 0 })
    }

    fn run(&mut self, op: &Op) {
        match *op {
            Op::Ack(ack) => self.ack(&ack),
            Op::Honest { packets, every_us, queue_us, rate } => {
                for _ in 0..packets {
                    self.honest(every_us.into(), queue_us, rate.into());
                }
            }
            Op::Sent(number) => self.sent(number),
            Op::Timeout(now) => self.state.on_timeout(now, &self.params),
            Op::Idle(now) => self.state.on_idle(now, 10 * self.params.mss),
            Op::Loss { now, sent_at } => {
                self.within_phase(|state, params| state.on_loss(now, sent_at, params))
            }
            Op::Mtu(mss) => {
                self.params.mss = mss.max(1).into();
                self.within_phase(|state, params| state.on_mtu(params));
            }
        }
        self.check();
    }

    fn honest(&mut self, every_us: u64, queue_us: u32, rate: u64) {
        self.sent(self.number);
        self.now = self.now.saturating_add(every_us);
        let rtt_us = BASE_US.saturating_add(queue_us);
        self.ack(&AckEvent {
            now: self.now,
            sent_at: self.now.saturating_sub(rtt_us.into()),
            number: self.number,
            delivered: self.params.mss,
            in_flight: self.state.cwnd,
            rate,
            rtt_us,
            smoothed_us: rtt_us,
            reverse_us: 0,
            flags: HAS_RTT,
        });
        self.number += 1;
        self.check();
    }

    fn sent(&mut self, number: u64) {
        self.of_train = if self.state.burst().leaves() { self.of_train + 1 } else { 0 };
        self.within_phase(|state, _| state.on_sent(number));
    }

    /// Checks that only a sample that is not high, or the answer of a train, ends the floor.
    fn ack(&mut self, ack: &AckEvent) {
        let (phase, question) = (self.state.phase, self.state.burst().question);
        // Another one may follow at once.
        if self.state.burst().is_late(ack.now) {
            self.of_train = 0;
        }
        self.state.on_ack(ack, &self.params);
        if phase != Phase::Yield || self.state.phase == Phase::Yield || question == Question::Route {
            return;
        }
        let high = self.params.high(self.state.packet_us(), self.state.noise_us());
        assert!(ack.has(HAS_RTT) && self.state.queue_us() <= high, "{} of {high} µs", self.state.queue_us());
    }

    /// Does what never ends the floor.
    fn within_phase(&mut self, event: impl FnOnce(&mut State, &Params)) {
        let phase = self.state.phase;
        event(&mut self.state, &self.params);
        assert!(phase != Phase::Yield || self.state.phase == Phase::Yield);
    }

    fn check(&mut self) {
        let (window, mss, burst) = (self.state.window(&self.params), self.params.mss, self.state.burst());
        assert!((2 * mss..=MAX_WINDOW).contains(&window), "{window} B");
        assert!(window - self.state.cwnd <= MAX_TRAIN * mss);
        assert_ne!(self.state.spread(&self.params), Spread::Rate(0));
        self.state.target_us(&self.params);
        if !burst.leaves() {
            self.of_train = 0;
            return;
        }
        assert!(self.of_train < burst.packets() && burst.packets() <= MAX_TRAIN);
    }
}

/// Returns ebb's defaults with these parts on.
fn params(mss: u64, switches: u32) -> Params {
    Params { mss, switches, ..parameters(&Settings::defaults(PARAMS), 0) }
}
