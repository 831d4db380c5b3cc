//! Ebb's arithmetic over plain integers, which a kernel or another language can run line by line.
//!
//! ```text
//!   Ebb (the shell)      parameters by name, times and windows of the interface, directives, snapshots
//!     │ AckEvent, loss, timeout, idle, sent: integers only
//!     ▼
//!   State                cruise · ramp · floor: the states      round · path · capacity · noise: the signals
//!                        losses · burst · evidence: the judges
//! ```
//! The state has `u64`, `u32` and `u16` in the layout of C, no pointer and no `Option`; parameters are apart. There is no floating point.
//! Times are µs, windows bytes, rates bytes per second, ratios have 16 fractional bits. A span of time has 32 bits: 71 minutes at most.

pub mod burst;
pub mod cap;
pub mod capacity;
mod cruise;
pub mod evidence;
mod floor;
pub mod losses;
pub mod noise;
pub mod params;
pub mod path;
mod ramp;
pub mod recent;
pub mod round;
mod together;
pub mod units;

pub use params::{switches, Params};

use burst::{Burst, Question};
use cap::Cap;
use capacity::Capacity;
use cruise::Law;
use evidence::Evidence;
use floor::Floor;
use losses::Losses;
use noise::Noise;
use path::Path;
use recent::Recent;
use round::Round;
use together::Together;
use units::{bytes_in, part, ratio, saturated, time_of, Ratio16, FOR_EVER_US};

/// [`AckEvent::flags`]: there is a round-trip time.
pub const HAS_RTT: u32 = 1;
/// [`AckEvent::flags`]: there is a reverse delay.
pub const HAS_REVERSE: u32 = 2;
/// [`AckEvent::flags`]: the application limits the sender.
pub const APP_LIMITED: u32 = 4;
/// [`AckEvent::flags`]: a packet was marked Congestion Experienced.
pub const MARKED: u32 = 8;
/// [`AckEvent::flags`]: the delays may have a receiver's waiting in them.
pub const MAY_HAVE_WAITED: u32 = 16;

/// Time between the packets of a pair, µs. The second one would wait for the first, which on a link that has become slow looks like a queue.
/// A receiver waits longer before it acknowledges a lone packet.
const PAIR_APART_US: u16 = 20_000;
/// For that long after a sample without waiting, samples that may have waited do not count, µs.
const PROMPT_US: u64 = 1_000_000;
const PROMPT_ROUNDS: u64 = 4;
/// Largest window, bytes.
const MAX_WINDOW: u64 = 1 << 40;
/// Largest rate, bytes per second: what the memory of C holds. Products of it and a ratio fit.
const MAX_RATE: u64 = 1 << 40;
/// Weight of the noise in the allowance, in packets of a quarter of the window.
const NOISE_WEIGHT: u64 = 6;

/// An acknowledgement in plain integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckEvent {
    /// When it arrived, µs.
    pub now: u64,
    /// When the newest packet that it acknowledges was sent, µs.
    pub sent_at: u64,
    /// Number of that packet.
    pub number: u64,
    /// Bytes that it reports as delivered for the first time.
    pub delivered: u64,
    /// Bytes in flight before it.
    pub in_flight: u64,
    /// Delivery rate, bytes per second; zero without a sample.
    pub rate: u64,
    /// Round-trip time, µs.
    pub rtt_us: u32,
    /// Smoothed round-trip time, µs; zero before the first sample.
    pub smoothed_us: u32,
    /// One-way delay of the ack, µs modulo 2^32.
    pub reverse_us: u32,
    /// [`HAS_RTT`], [`HAS_REVERSE`], [`APP_LIMITED`], [`MARKED`].
    pub flags: u32,
}

impl AckEvent {
    /// Returns whether this flag is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// A state of the diagram.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Doubles each round trip.
    Ramp,
    /// Keeps a short queue.
    Cruise,
    /// Pairs of packets at the floor.
    Yield,
}

/// State of the rule.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// When the latest ack arrived, µs.
    now: u64,
    /// Window, bytes.
    pub cwnd: u64,
    /// Delivery rate of the latest sample, bytes per second.
    pub rate: u64,
    /// When the ramp began. After it, when it ended: losses of packets that left before then are the ramp's.
    ramp_at: u64,
    /// Until then samples that may have waited do not count.
    prompt_until: u64,
    /// Base delays, and the queue ahead.
    pub path: Path,
    /// C.
    pub capacity: Capacity,
    /// n.
    pub noise: Noise,
    recent: Recent,
    together: Together,
    round: Round,
    law: Law,
    cap: Cap,
    losses: Losses,
    evidence: Evidence,
    floor: Floor,
    burst: Burst,
    /// Latest and smoothed round-trip time, µs: the smaller one.
    rtt_us: u32,
    /// Latest and smoothed round-trip time, µs: the larger one.
    longer_us: u32,
    /// Time of a packet at C, µs: each ack asks for it. `u32::MAX` before the first rate.
    packet_us: u32,
    /// The state of the diagram.
    pub phase: Phase,
    /// The transport samples delivery rates.
    has_rates: u16,
}

impl State {
    /// Returns the state of a new connection with that many bytes for a window.
    pub fn new(window: u64) -> State {
        State {
            now: 0,
            cwnd: window,
            rate: 0,
            ramp_at: 0,
            prompt_until: 0,
            path: Path::UNKNOWN,
            capacity: Capacity::default(),
            noise: Noise::default(),
            recent: Recent::default(),
            together: Together::NONE,
            round: Round::begins(0),
            law: Law::default(),
            cap: Cap::NONE,
            losses: Losses::default(),
            evidence: Evidence::default(),
            floor: Floor::default(),
            burst: Burst::NONE,
            rtt_us: 0,
            longer_us: 0,
            packet_us: u32::MAX,
            phase: Phase::Ramp,
            has_rates: 0,
        }
    }

    /// Reacts to an acknowledgement.
    pub fn on_ack(&mut self, ack: &AckEvent, params: &Params) {
        let packets = (ack.delivered / params.mss).max(1).min(u32::MAX.into()) as u32;
        self.round.delivered(packets, ack.has(APP_LIMITED));
        self.losses.delivered(packets);
        self.recent.delivered(ack.now, ack.delivered, packets, self.rtt_us());
        self.now = ack.now;
        let is_measured = self.measure(ack, params);
        if ack.has(MARKED) {
            self.on_mark(ack, params);
        }
        match self.phase {
            Phase::Ramp => self.ramp(ack, params),
            Phase::Cruise => self.cruise(ack, params),
            Phase::Yield if is_measured => self.wait(ack, params),
            Phase::Yield => {}
        }
    }

    /// Takes in the samples of an ack. Returns whether its delay is a sample.
    fn measure(&mut self, ack: &AckEvent, params: &Params) -> bool {
        let is_first = self.together.ack(ack.now, self.packet_us());
        self.measure_rate(ack);
        if !ack.has(HAS_RTT) || self.may_mislead(ack) {
            return false;
        }
        if self.phase != Phase::Yield && is_first {
            self.noise.update(self.queue_us());
        }
        let reverse_us = ack.has(HAS_REVERSE).then_some(ack.reverse_us);
        let queue_us = self.path.measure(ack.now, ack.rtt_us, reverse_us, self.phase != Phase::Yield);
        self.path.queue_us = self.together.queue(queue_us);
        self.longer_us = ack.rtt_us.max(ack.smoothed_us);
        let shorter_us = if ack.smoothed_us == 0 { ack.rtt_us } else { ack.rtt_us.min(ack.smoothed_us) };
        self.rtt_us = shorter_us.max(1);
        self.round.sample(ack.now, ack.sent_at, self.path.queue_us, ack.rtt_us, is_first);
        if self.burst.sample(ack.number, queue_us, ack.rtt_us) {
            self.on_train(ack, params);
        } else if self.burst.is_late(ack.now) {
            self.burst = Burst::NONE;
        }
        true
    }

    fn measure_rate(&mut self, ack: &AckEvent) {
        if ack.has(APP_LIMITED) && ack.rate < self.rate {
            // The path would have carried more.
        } else if ack.rate > 0 {
            (self.rate, self.has_rates) = (self.together.rate(ack.rate.min(MAX_RATE)), 1);
        } else if self.has_rates == 0 {
            // A transport without delivery rates: counted ones, which are later.
            self.rate = self.recent.rate(ack.now).min(MAX_RATE);
        }
    }

    /// Returns whether the ack's delays may be those of a receiver that waits, and there are better ones.
    fn may_mislead(&mut self, ack: &AckEvent) -> bool {
        if !ack.has(MAY_HAVE_WAITED) {
            self.prompt_until = ack.now.saturating_add(PROMPT_US.max(PROMPT_ROUNDS * self.rtt_us()));
        }
        ack.has(MAY_HAVE_WAITED) && ack.now < self.prompt_until
    }

    /// Takes note of a packet that was sent.
    pub fn on_sent(&mut self, number: u64) {
        self.burst.sent(number);
    }

    /// Reacts to the loss of a packet that left at `sent_at`.
    pub fn on_loss(&mut self, now: u64, sent_at: u64, params: &Params) {
        self.round.lost();
        if self.burst.question == Question::Route {
            // The buffer may be full, and a full one grows no further.
            self.burst = Burst::NONE;
        }
        let is_forgiven = sent_at < self.ramp_at;
        let due = !is_forgiven && self.losses.lost(now, sent_at);
        match self.phase {
            Phase::Ramp => self.ramp_loss(now, params),
            Phase::Cruise if due => self.cruise_loss(now, params),
            Phase::Cruise | Phase::Yield => {}
        }
    }

    /// Reacts to a timeout: nothing gets through.
    pub fn on_timeout(&mut self, now: u64, params: &Params) {
        self.restart(now, 2 * params.mss);
    }

    /// Starts anew after an idle time, with a window of `window` bytes at most.
    pub fn on_idle(&mut self, now: u64, window: u64) {
        self.restart(now, window.min(self.cwnd.max(window / 2)));
    }

    /// Begins a ramp; at the floor only evidence ends the yield, and here is none.
    fn restart(&mut self, now: u64, window: u64) {
        self.losses.abandon();
        self.burst = Burst::NONE;
        self.recent = Recent::default();
        if self.phase == Phase::Yield {
            return self.floor.wait_anew(now);
        }
        self.begin_ramp(now, window);
    }

    /// Reacts to a mark, once a round trip.
    fn on_mark(&mut self, ack: &AckEvent, params: &Params) {
        if self.phase == Phase::Yield || ack.sent_at < self.evidence.answered_at() {
            return;
        }
        if self.phase == Phase::Ramp {
            self.leave_ramp(ack.now, self.cwnd / 2, params);
        }
        self.congested(ack.now, params);
    }

    /// Takes in another size of packets.
    pub fn on_mtu(&mut self, params: &Params) {
        self.cwnd = self.cwnd.max(2 * params.mss);
        self.packet_us = saturated(self.capacity.packet_us(params.mss));
    }

    /// Takes in a rate of the link, bytes per second.
    fn learn(&mut self, now: u64, rate: u64, params: &Params) {
        self.capacity.update(now, rate);
        self.packet_us = saturated(self.capacity.packet_us(params.mss));
    }

    /// Returns the time of a packet on the link, µs.
    pub fn packet_us(&self) -> u64 {
        if self.packet_us == u32::MAX {
            return FOR_EVER_US;
        }
        self.packet_us.into()
    }

    /// Returns the queue ahead by the latest sample, µs.
    pub fn queue_us(&self) -> u64 {
        self.path.queue_us.into()
    }

    fn rtt_us(&self) -> u64 {
        self.rtt_us.into()
    }

    /// Returns n, µs.
    pub fn noise_us(&self) -> u64 {
        self.noise.get(self.packet_us())
    }

    /// Returns `T(x)`, µs.
    pub fn target_us(&self, params: &Params) -> u64 {
        let packets = (self.cwnd / (4 * params.mss)).max(4);
        let target = params.target(self.rate, self.packet_us(), self.path.base_us());
        let target = if params.has(switches::CAP) { target.min(self.cap.get(self.now)) } else { target };
        target + NOISE_WEIGHT * self.noise_us() / packets
    }

    /// Returns what the link carries in the base round-trip time and `extra_us` at the latest rate, bytes.
    fn carried(&self, extra_us: u64) -> u64 {
        bytes_in(self.rate, self.path.base_us() + extra_us)
    }

    /// Returns the rate of the last moments, bytes per second. Where delays are noisy, and without a queue, that depends on chance: the
    /// rate of a round trip takes its place.
    fn rate_now(&self, now: u64, params: &Params) -> u64 {
        let is_queue = self.queue_us() > params.least_target(self.packet_us());
        let rate = if is_queue && self.noise_us() == 0 { self.recent.rate(now) } else { 0 };
        if rate == 0 {
            return self.rate;
        }
        rate.min(MAX_RATE)
    }

    /// Starts a train.
    fn ask(&mut self, question: Question, packets: u64, now: u64, standing_us: Option<u64>, params: &Params) {
        let lasts = time_of(packets * params.mss, question.rate(self.capacity.get()));
        let until = now.saturating_add(2 * lasts + 3 * self.rtt_us() + 1_000_000);
        self.burst = Burst::new(question, packets, until, standing_us);
    }

    /// Answers the question of a train whose last packet has arrived.
    fn on_train(&mut self, ack: &AckEvent, params: &Params) {
        let burst = core::mem::replace(&mut self.burst, Burst::NONE);
        match burst.question {
            Question::None => {}
            Question::Route => self.on_route_train(&burst, ack.now, params),
            Question::Share => self.on_share_train(&burst, ack.now, params),
        }
    }

    /// Returns the train that is sent or awaited.
    pub fn burst(&self) -> &Burst {
        &self.burst
    }

    /// Returns the window with the packets of a train.
    pub fn window(&self, params: &Params) -> u64 {
        if self.burst.leaves() {
            return (self.cwnd + self.burst.packets() * params.mss).min(MAX_WINDOW);
        }
        self.cwnd
    }

    /// Returns how packets are to be spread.
    pub fn spread(&self, params: &Params) -> Spread {
        if self.burst.leaves() {
            return Spread::Rate(self.burst.question.rate(self.capacity.get()));
        }
        if self.phase == Phase::Yield {
            let every_us = self.pairs_every(params);
            return Spread::Pairs { apart_us: u64::from(PAIR_APART_US).min(every_us / 2) as u16, every_us };
        }
        if self.rtt_us() == 0 {
            return Spread::Unknown;
        }
        const RAMP: Ratio16 = ratio(2.0);
        const CRUISE: Ratio16 = ratio(1.1);
        let gain = if self.phase == Phase::Ramp { RAMP } else { CRUISE };
        Spread::Rate(units::rate_of(part(self.cwnd, gain), self.rtt_us()).max(1))
    }
}

/// How packets are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// There is no round-trip time yet.
    Unknown,
    /// Bytes per second.
    Rate(u64),
    /// Two packets.
    Pairs {
        /// From the first to the second one, µs.
        apart_us: u16,
        /// From one pair to the next, µs.
        every_us: u64,
    },
}
