//! LEDBAT++'s rule, and the places where others do something else.

use super::{AckEvent, Delay, Kept, APP_LIMITED, HAS_DELAY, MARKED, ROUND_START};
use crate::fixed::Bytes16;
use crate::loss_gate::LossGate;
use crate::slowdown::{first_due, next_due, thaw, NEVER};
use afteryou_base::Time;

/// Initial window and floor, packets (§4.1, §4.3: MUST NOT go below).
pub const FLOOR_PACKETS: u64 = 2;

/// Parameters; ratios have 16 fractional bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// TARGET, µs.
    pub target_us: u64,
    /// Largest divisor of GAIN.
    pub divisor_max: u64,
    /// Constant of the decrease.
    pub constant16: u64,
    /// Queuing delay that ends the initial slow start, µs.
    pub exit_us: u64,
    /// Payload of a packet, bytes.
    pub mss: u64,
    /// BASE_HISTORY and CURRENT_FILTER.
    pub kept: Kept,
    /// 0: no slowdowns.
    pub slowdowns: u32,
}

/// A state of the diagram.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Initial slow start, or that after idle: ends at the delay exit.
    SlowStart,
    /// The climb after a timeout, up to ssthresh.
    Climb,
    /// Congestion avoidance, until the next slowdown is due.
    Avoidance,
    /// A slowdown at the floor.
    Freeze,
    /// The climb from a slowdown back to ssthresh.
    Ramp,
    /// Slow start by the restart rule: as the initial one, but it counts as a slowdown.
    Restart,
}

impl Phase {
    /// Returns whether the phase is one of exponential growth.
    pub fn is_slow_start(self) -> bool {
        !matches!(self, Phase::Avoidance | Phase::Freeze)
    }

    /// Returns whether the queue, too, ends this slow start (§4.1: not that of ramps).
    fn has_delay_exit(self) -> bool {
        matches!(self, Phase::SlowStart | Phase::Restart)
    }

    /// Returns whether the wait for the next slowdown is counted from this one.
    fn is_slowdown(self) -> bool {
        matches!(self, Phase::Freeze | Phase::Ramp | Phase::Restart)
    }
}

/// The state that a loss or a timeout changes. The owner keeps it while the loss may turn out to be none.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Window.
    pub cwnd: Bytes16,
    /// Slow-start threshold.
    pub ssthresh: Bytes16,
    /// Losses and marks once per round trip.
    pub gate: LossGate,
    /// When the slowdown under way began, ns.
    pub began: u64,
    /// When the next slowdown begins, or this one leaves the floor, ns.
    pub due: u64,
    /// The state of the diagram.
    pub phase: Phase,
    /// Slowdowns begun.
    pub slowdowns: u32,
}

impl Before {
    /// Notes a decrease by delay since the cut, which is not undone.
    pub fn lower(&mut self, by: Bytes16) {
        match self.phase {
            Phase::Freeze | Phase::Ramp => self.ssthresh = self.ssthresh.minus(by),
            _ => self.cwnd = self.cwnd.minus(by),
        }
    }

    /// Returns the window outside slowdowns.
    fn window(&self) -> Bytes16 {
        match self.phase {
            Phase::Freeze | Phase::Ramp => self.cwnd.max(self.ssthresh),
            _ => self.cwnd,
        }
    }
}

/// State of a LEDBAT++ sender.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<const MINUTES: usize, const SAMPLES: usize> {
    /// Window.
    pub cwnd: Bytes16,
    /// Slow-start threshold; [`Bytes16::MAX`]: none.
    pub ssthresh: Bytes16,
    /// Window at the start of the round: the rule's W.
    pub round_cwnd: Bytes16,
    /// Bytes that may still count in this round.
    pub round_left: Bytes16,
    /// Losses and marks once per round trip.
    pub gate: LossGate,
    /// Smoothed round-trip time, ns.
    pub smoothed_rtt: u64,
    /// When the slowdown under way began, ns.
    pub began: u64,
    /// When the next slowdown begins, or this one leaves the floor, ns; [`NEVER`]: not at all.
    pub due: u64,
    /// Base delay and present delay; samples of any age count.
    pub delay: Delay<MINUTES, SAMPLES, 0>,
    /// The current state.
    pub phase: Phase,
    /// Slowdowns begun.
    pub slowdowns: u32,
}

/// The state with the draft's ten minutes and four samples.
pub type Compact = State<10, 4>;
const _: () = assert!(size_of::<Compact>() == 144);

/// Deviations of other implementations, by the rule that they change. Each default is the draft's.
pub trait Variant {
    /// Returns the base round-trip time that GAIN depends on, µs; `measured_us` is the base of the samples.
    fn base_rtt_us(&self, measured_us: Option<u32>) -> Option<u32> {
        measured_us
    }

    /// Returns the growth of a round trip in congestion avoidance, where GAIN of a packet is `by_gain`.
    fn increase(&self, by_gain: Bytes16, _mss: u64) -> Bytes16 {
        by_gain
    }

    /// Returns the growth that continues above TARGET (§4.3).
    fn increase_above_target(&self, increase: Bytes16) -> Bytes16 {
        increase
    }

    /// Returns how many of `acked` bytes count in a round with `window`, if the rule is applied once a window.
    fn counted_at_once(&mut self, _acked: u64, _window: Bytes16) -> Option<Bytes16> {
        None
    }

    /// Returns the queuing delay that ends a ramp, µs, and lets the slowdown count twice as long.
    fn ramp_exit_us(&self, _target_us: u64) -> u64 {
        u64::MAX
    }

    /// Returns when the slowdown that is due at `due` begins after a decrease, ns.
    fn due_after_decrease(&self, due: u64, _now: u64) -> u64 {
        due
    }

    /// Returns whether the wait for the next slowdown is nine times the ramp alone: the time at the floor does not count.
    fn counts_ramp_alone(&self) -> bool {
        false
    }

    /// Returns when the next slowdown begins after one that ends now, ns, given the draft's instant.
    fn due_after_slowdown(&self, due: u64, _now: u64) -> u64 {
        due
    }

    /// Notes the end of the freeze. Returns true if the window is restored at once, instead of by a ramp.
    fn restore(&mut self, _now: u64) -> bool {
        false
    }

    /// Notes that congestion avoidance begins. Returns true if the delays measured until now shall be forgotten.
    fn entered_avoidance(&mut self, _now: u64, _smoothed_rtt: u64, _after_slowdown: bool) -> bool {
        false
    }

    /// Notes that delay has driven the window to its floor.
    fn at_floor(&mut self) {}

    /// Notes a loss, a mark or a timeout.
    fn congested(&mut self) {}

    /// Notes that the flow is in its initial slow start again.
    fn started_over(&mut self) {}

    /// Notes an ack. Returns since when the path has been quiet, ns, if the flow shall start over. `avoiding`: in congestion
    /// avoidance; elsewhere the queue empties by itself.
    fn quiet_since(
        &mut self,
        _ack: &AckEvent,
        _queuing_us: u32,
        _avoiding: bool,
        _room: Room,
    ) -> Option<u64> {
        None
    }
}

/// A window and its floor.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Window.
    pub cwnd: Bytes16,
    /// Floor.
    pub floor: Bytes16,
}

/// The draft, as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draft;

impl Variant for Draft {}

impl<const MINUTES: usize, const SAMPLES: usize> State<MINUTES, SAMPLES> {
    /// Returns the state at the start of a connection.
    pub fn new(p: &Params) -> Self {
        let cwnd = Bytes16::from_bytes(FLOOR_PACKETS * p.mss);
        State {
            cwnd,
            ssthresh: Bytes16::MAX,
            round_cwnd: cwnd,
            round_left: cwnd,
            gate: LossGate::default(),
            smoothed_rtt: 0,
            began: 0,
            due: NEVER,
            delay: Delay::NEW,
            phase: Phase::SlowStart,
            slowdowns: 0,
        }
    }

    /// Returns the window's floor, two packets.
    #[inline]
    pub fn floor(&self, p: &Params) -> Bytes16 {
        Bytes16::from_bytes(FLOOR_PACKETS * p.mss)
    }

    /// Returns the divisor of §4.2: `1 / GAIN = min(16, ⌈2 · TARGET / base⌉)`.
    #[inline]
    pub fn gain_divisor(&self, p: &Params, v: &impl Variant) -> u64 {
        let base_us = v.base_rtt_us(self.delay.base_us(&p.kept)).map_or(0, u64::from).max(1);
        (2 * p.target_us).div_ceil(base_us).clamp(1, p.divisor_max)
    }

    /// Applies an ack.
    pub fn on_ack(&mut self, p: &Params, ack: &AckEvent, v: &mut impl Variant) {
        if ack.has(HAS_DELAY) {
            self.delay.take(&p.kept, ack.now, ack.delay_us);
        }
        let queuing_us = self.delay.queuing_us(&p.kept, ack.now, u64::MAX);
        self.respond(p, ack, queuing_us, v);
    }

    /// Answers an ack whose delay has been taken in.
    #[inline]
    pub fn respond(&mut self, p: &Params, ack: &AckEvent, queuing_us: Option<u32>, v: &mut impl Variant) {
        self.smoothed_rtt = ack.smoothed_rtt;
        if ack.has(MARKED) && self.gate.admit(Time(ack.sent_at), Time(ack.now)) {
            self.reduce(p, ack.now, v);
            return;
        }
        self.run_slowdown(p, ack.now, v);
        let queuing_us = queuing_us.filter(|_| self.delay.count > 0);
        let room = Room { cwnd: self.cwnd, floor: self.floor(p) };
        let quiet_since =
            queuing_us.and_then(|us| v.quiet_since(ack, us, self.phase == Phase::Avoidance, room));
        if let Some(quiet_since) = quiet_since {
            self.start_over(v);
            (self.phase, self.began) = (Phase::Restart, quiet_since);
        }
        if ack.has(ROUND_START) {
            self.begin_round();
        }
        match self.phase {
            Phase::Freeze => return,
            Phase::Avoidance => {
                if let Some(queuing_us) = queuing_us.map(u64::from) {
                    if !ack.has(APP_LIMITED) || queuing_us > p.target_us {
                        self.steer(p, ack, queuing_us, v);
                    }
                }
            }
            _ if ack.has(APP_LIMITED) => {}
            _ => self.grow_exponentially(p, ack, queuing_us.map_or(0, u64::from), v),
        }
        self.cwnd = self.cwnd.max(self.floor(p));
    }

    /// Adds GAIN bytes for each acknowledged byte (§4.1).
    fn grow_exponentially(&mut self, p: &Params, ack: &AckEvent, queuing_us: u64, v: &mut impl Variant) {
        if self.phase.has_delay_exit() && queuing_us > p.exit_us {
            return self.enter_avoidance(p, ack.now, v);
        }
        if self.phase == Phase::Ramp && queuing_us > v.ramp_exit_us(p.target_us) {
            self.began = self.began.saturating_sub(ack.now.saturating_sub(self.began));
            return self.enter_avoidance(p, ack.now, v);
        }
        let grown = self.cwnd.plus(Bytes16::from_bytes(ack.delivered).times(1, self.gain_divisor(p, v)));
        self.cwnd = grown.min(self.cwnd.max(self.ssthresh));
        if self.cwnd >= self.ssthresh {
            self.enter_avoidance(p, ack.now, v);
        }
    }

    /// Begins a round: the rule's W is the window now.
    pub fn begin_round(&mut self) {
        self.round_cwnd = self.cwnd;
        self.round_left = self.cwnd;
    }

    /// Returns how many of the `acked` bytes the rule counts: no more than a window in a round.
    fn counted(&mut self, acked: u64, v: &mut impl Variant) -> Bytes16 {
        if let Some(at_once) = v.counted_at_once(acked, self.round_cwnd) {
            return at_once;
        }
        let counted = Bytes16::from_bytes(acked).min(self.round_left);
        self.round_left = self.round_left.minus(counted);
        counted
    }

    /// Applies this ack's share of the round's change (§4.2, §4.3).
    fn steer(&mut self, p: &Params, ack: &AckEvent, queuing_us: u64, v: &mut impl Variant) {
        let counted = self.counted(ack.delivered, v);
        let round_cwnd = self.round_cwnd;
        let share = |change: Bytes16| change.times(counted.0, round_cwnd.0);
        let by_gain = Bytes16::from_bytes(p.mss).times(1, self.gain_divisor(p, v));
        let increase = v.increase(by_gain, p.mss);
        if queuing_us <= p.target_us {
            self.cwnd = self.cwnd.plus(share(increase));
            return;
        }
        // Twice TARGET is past the cap of W/2 already (Constant ≥ ½), and keeps the product small.
        let excess_us = (queuing_us - p.target_us).min(64 * p.target_us);
        let decrease = round_cwnd.times(excess_us, p.target_us).times(p.constant16, 1 << 16);
        let increase = v.increase_above_target(increase);
        if decrease <= increase {
            self.cwnd = self.cwnd.plus(share(increase.minus(decrease)));
            return;
        }
        let decrease = decrease.minus(increase).min(Bytes16(round_cwnd.0 / 2));
        self.cwnd = self.cwnd.minus(share(decrease));
        if self.due != NEVER {
            self.due = v.due_after_decrease(self.due, ack.now);
        }
        if self.cwnd <= self.floor(p) {
            self.cwnd = self.floor(p);
            v.at_floor();
        }
    }

    /// Ends slow start, a ramp or a timeout's climb.
    fn enter_avoidance(&mut self, p: &Params, now: u64, v: &mut impl Variant) {
        let was_slowdown = self.phase.is_slowdown();
        self.phase = Phase::Avoidance;
        self.begin_round();
        self.due = match was_slowdown {
            _ if p.slowdowns == 0 => NEVER,
            true => v.due_after_slowdown(next_due(self.began, now), now),
            false => first_due(now, self.smoothed_rtt),
        };
        if v.entered_avoidance(now, self.smoothed_rtt, was_slowdown) {
            self.delay.forget_present();
        }
    }

    /// Begins slow start with the delay exit: at the beginning, after idle, by the restart rule.
    fn start_over(&mut self, v: &mut impl Variant) {
        self.ssthresh = Bytes16::MAX;
        (self.phase, self.due) = (Phase::SlowStart, NEVER);
        v.started_over();
    }

    /// Advances the slowdown if its time has come (§4.4).
    pub fn run_slowdown(&mut self, p: &Params, now: u64, v: &mut impl Variant) {
        if now < self.due || self.due == NEVER {
            return;
        }
        if self.phase == Phase::Avoidance {
            self.ssthresh = self.cwnd;
            self.cwnd = self.floor(p);
            (self.phase, self.began, self.due) = (Phase::Freeze, now, thaw(now, self.smoothed_rtt));
            self.slowdowns += 1;
            return;
        }
        if v.restore(now) {
            self.cwnd = self.ssthresh.max(self.floor(p));
            return self.enter_avoidance(p, now, v);
        }
        if v.counts_ramp_alone() {
            self.began = now;
        }
        (self.phase, self.due) = (Phase::Ramp, NEVER);
        if self.cwnd >= self.ssthresh {
            self.enter_avoidance(p, now, v);
        }
    }

    /// Halves the window for a loss or mark, once per round trip, as standard TCP does (§1).
    fn reduce(&mut self, p: &Params, now: u64, v: &mut impl Variant) {
        v.congested();
        if self.phase == Phase::Freeze {
            // The window is at its floor already: the window after the slowdown is halved instead.
            self.ssthresh = Bytes16(self.ssthresh.0 / 2).max(self.floor(p));
            return;
        }
        self.cwnd = self.cwnd.min(Bytes16(self.cwnd.0 / 2).max(self.floor(p)));
        self.ssthresh = self.cwnd;
        self.rescale_round();
        if self.phase != Phase::Avoidance {
            self.enter_avoidance(p, now, v);
        }
    }

    /// Rescales a round within which the window has changed: the rule counts as much of the new one as was left of the old
    /// one.
    fn rescale_round(&mut self) {
        let left = self.round_left.times(self.cwnd.0, self.round_cwnd.0);
        self.begin_round();
        self.round_left = left.min(self.cwnd);
    }

    /// Reacts to the loss of a packet that was sent at `sent_at` ns. Returns true if it counts.
    pub fn on_loss(&mut self, p: &Params, sent_at: u64, now: u64, v: &mut impl Variant) -> bool {
        let counts = self.gate.admit(Time(sent_at), Time(now));
        if counts {
            self.reduce(p, now, v);
        }
        counts
    }

    /// Reacts to the expiry of the retransmission timer, for the `consecutive`-th time in a row.
    pub fn on_timeout(
        &mut self,
        p: &Params,
        now: u64,
        flightsize: u64,
        consecutive: u32,
        v: &mut impl Variant,
    ) {
        // RFC 5681 §3.1: only the first expiry sets ssthresh, or an outage would erase it.
        // At the floor of a slowdown the window to come back to is halved.
        if consecutive == 1 && self.phase == Phase::Freeze {
            self.ssthresh = Bytes16(self.ssthresh.0 / 2).max(self.floor(p));
        } else if consecutive == 1 {
            let flight = flightsize.min(self.cwnd.to_bytes());
            self.ssthresh = Bytes16::from_bytes(flight / 2).max(self.floor(p));
        }
        self.cwnd = Bytes16::from_bytes(p.mss);
        self.begin_round();
        (self.phase, self.due) = (Phase::Climb, NEVER);
        self.gate.close(Time(now));
        v.congested();
    }

    /// Returns the state that a loss or a timeout is about to change.
    pub fn before(&self) -> Before {
        let State { cwnd, ssthresh, gate, began, due, phase, slowdowns, .. } = *self;
        Before { cwnd, ssthresh, gate, began, due, phase, slowdowns }
    }

    /// Takes back a reduction whose loss or timeout was none (RFC 4015 §3.2; the draft has nothing of the kind). Never takes
    /// anything away. A slow start, ramp or slowdown that it ended continues. A slowdown that began since continues, too,
    /// and returns to the earlier window.
    pub fn undo(&mut self, before: &Before) {
        self.gate = before.gate; // other losses of that flight, if they are real, were not answered either
        let has_moved_on = self.slowdowns != before.slowdowns || self.phase == Phase::Restart;
        match self.phase {
            Phase::Freeze | Phase::Ramp if has_moved_on => {
                self.ssthresh = self.ssthresh.max(before.window());
                return;
            }
            _ if has_moved_on => self.cwnd = self.cwnd.max(before.window()),
            phase => {
                self.cwnd = self.cwnd.max(before.cwnd);
                self.ssthresh = before.ssthresh;
                if phase != before.phase {
                    (self.phase, self.began, self.due) = (before.phase, before.began, before.due);
                }
            }
        }
        self.rescale_round();
    }

    /// Starts over from the floor: sending starts again after more than a timeout with nothing in flight.
    pub fn on_idle(&mut self, p: &Params, v: &mut impl Variant) {
        self.cwnd = self.floor(p);
        self.delay.forget_present();
        self.start_over(v);
    }

    /// Adapts the window to a payload of `p.mss`.
    pub fn on_mtu(&mut self, p: &Params) {
        self.cwnd = self.cwnd.max(self.floor(p));
    }
}
