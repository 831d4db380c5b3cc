//! rLEDBAT: LEDBAT++ at the receiver of a TCP connection, whose sender is any standard one.
//!
//! # Model
//! A receiver limits its sender by the window that it announces. It measures round trips by timestamps, takes retransmissions
//! for losses, and runs LEDBAT++ on the bytes that arrive. The result, `rl`, is the most that may be in flight:
//!
//! ```text
//!   data segment ──▶ round trip, loss ──▶ LEDBAT++ ──▶ rl ──▶ min(rl, fc) ──▶ right edge ──▶ acknowledgement
//!                    (timestamps)         (bytes received)     fc: flow control
//! ```
//! The sender keeps to the smaller of this window and its own, so it is never more aggressive than by itself. The
//! rule is that of [`crate::ledbatpp`], with "bytes received" in place of "bytes acknowledged".
//!
//! The receiver does not know the sender's window. Where the sender fills less than half of `rl` in a round trip, `rl` does not
//! grow: otherwise it would have to fall far before it had an effect. A window that falls at once, by a loss or a slowdown, takes a
//! round trip to get there, and the queue shows it one later. Until then the delay decreases nothing.
//!
//! # States
//! ```text
//!   open ──q > ¾ TARGET, or loss──▶ the states of LEDBAT++
//! ```
//! While it is open the receiver measures, and the sender's own slow start rules. The window is three times what arrived in a round
//! trip: never a limit of a slow start that doubles, and not more than that, since nothing can be taken back. Receivers of
//! today size their buffers alike. It then takes over with the bytes of the last round trip. With an initial window it is
//! never open.
//!
//! # Constants
//! | name | rfc | apple | uc3m | why |
//! |---|---|---|---|---|
//! | TARGET | 60 ms | 40 ms | 60 ms | as LEDBAT++; Apple: below the delay that calls notice |
//! | open window | 3 × a round's bytes, 65 535 B at least | – | – | above; a window without scale |
//! | initial window | open | 2 packets | 1 packet | §4.1: the maximum; the others begin with a slow start of their own |
//! | base history | 3 min | 10 min | 16 min | appendix A: 180 s; the prototype never forgets, 16 min is the most here |
//! | current filter | 4 | 4 | 10 | appendix A; the prototype takes ten |
//! | increase | GAIN | a packet | GAIN | of a packet for each `rl` bytes |
//! | slowdowns | 9 × | 60 s | 9 × | the prototype follows the draft |
//! | hold | 1 RTT | 2 RTT | 1 RTT | no second decrease before the first one can have shown |
//! | window scale | 7 | 7 | 7 | a unit of 128 bytes, below a packet (§4.1.2) |
//!
//! # Source
//! RFC 9840 §4 and appendix A; the rule is draft-irtf-iccrg-ledbat-plus-plus-01's. Presets: xnu-11417 `tcp_rledbat.c`, and
//! the prototype of Universidad Carlos III de Madrid. Where the RFC is silent: the window with which an open receiver takes over,
//! the growth of a window that is not filled, and when a slowdown's steps happen. They happen at arrivals.
//!
//! # Not implemented
//! One-way delays (§4.2.2), which need the rate of the sender's clock. Data of this end as probes. Apple's ramps that end at
//! twice TARGET, its longer wait after such a ramp and the limit of its growth. The prototype's target of at most the base
//! delay. ECN marks are left to the sender.
//!
//! # Known bad cases
//! A queue on the reverse path looks like one on the forward path. After a pause of the application the first round trip
//! contains the pause, and the filter must drop it. A sender that paces delays the echo by its spacing. The last packets of a flight may be
//! lost without a trace. The window takes a round trip to fall, a slowdown that much longer.

mod announced;
mod retransmissions;
mod round_trips;
#[cfg(test)]
mod tests;

pub use announced::{Announced, MOST_SCALE};
pub use retransmissions::Retransmissions;
pub use round_trips::{Echo, RoundTrips};

use crate::controller::{Controller, Snapshot};
use crate::event::{Ack, Loss, Sent};
use crate::ledbatpp::{self, LedbatPp};
use crate::rtt::RttEstimator;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::units::{Span, Time};
use afteryou_base::{params, About};

params! {
    /// Parameters.
    pub table PARAMS;

    pub const PRESET: Key<&'static str> = Key::word("preset", &["rfc", "apple", "uc3m"])
        .explained("whose values", "RFC 9840 appendix A; xnu-11417; draft-irtf-iccrg-rledbat-02");
    pub const INITIAL_WINDOW: Key<u64> = Key::count("initial_window", "packets", 0, (0, 1000))
        .explained("window until the first measurement; 0: none, the sender's slow start rules until a queue or a loss shows", "RFC 9840 §4.1");
    pub const WINDOW_SCALE: Key<u64> = Key::count("window_scale", "", 7, (0, MOST_SCALE))
        .explained("the window is announced in units of 2 to the power of this, bytes", "RFC 9840 §4.1.2");
    pub const HOLD: Key<u64> = Key::count("hold", "round trips", 1, (0, 16))
        .explained("no further decrease for this long after a loss", "RFC 9840 §4.3");
    use all ledbatpp::PARAMS;
}

/// Whose values there are.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "rfc",
        help: "appendix A of the RFC: the sender's slow start rules until a queue or a loss shows",
        rows: &[("base_history", Value::Count(3))],
    },
    Preset {
        name: "apple",
        help: "Apple's kernel: 40 ms, whole packets, a slowdown a minute",
        rows: &[
            ("initial_window", Value::Count(2)),
            ("target", Value::Time(Span::from_millis(40))),
            ("increase", Value::Choice("packet")),
            ("decrease_with_gain", Value::Flag(false)),
            ("step", Value::Choice("round")),
            ("slowdown_gap", Value::Time(Span::from_secs(60))),
            ("defer", Value::Time(Span::from_secs(60))),
            ("hold", Value::Count(2)),
        ],
    },
    Preset {
        name: "uc3m",
        help: "the prototype of the RFC's authors: 60 ms, from one packet",
        rows: &[
            ("initial_window", Value::Count(1)),
            ("base_history", Value::Count(16)),
            ("current_filter", Value::Count(10)),
        ],
    },
];

/// Its name and parameters.
pub const ABOUT: About = About {
    name: "rledbat",
    summary: "LEDBAT++ at the receiver: limits any sender by the window that it announces",
    source: "RFC 9840",
    params: PARAMS,
    presets: PRESETS,
};

/// A data segment that arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// When.
    pub now: Time,
    /// The receiver's own clock then, µs: an acknowledgement that leaves now carries it.
    pub clock: u32,
    /// Its place in the connection's data, in bytes or in segments.
    pub position: u64,
    /// Payload that arrives for the first time, bytes.
    pub received: u64,
    /// The sender's clock when it left (TSval).
    pub tsval: u32,
    /// The receiver's clock that it echoes (TSecr).
    pub tsecr: u32,
}

/// While it is open the window is this many times what arrived in a round trip. With `w` bytes in the last round and `p` of the
/// present one, a sender that doubles has `2 w + p` in flight, which is at most `3 · max(w, p)`.
const OPEN_ROUNDS: u64 = 3;
/// The least open window, bytes: the largest without a scale, as in a SYN.
const OPEN_LEAST: u64 = 65_535;

/// Bytes that arrived in a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    last: u64,
    present: u64,
}

impl Rounds {
    fn take(&mut self, received: u64, starts: bool) {
        if starts {
            (self.last, self.present) = (self.present, 0);
        }
        self.present = self.present.saturating_add(received);
    }

    /// Returns the most that the sender is known to have in flight.
    fn flight(&self) -> u64 {
        self.last.max(self.present)
    }
}

/// A receiver that limits its sender.
#[derive(Clone, Debug)]
pub struct Rledbat {
    rule: LedbatPp,
    announced: Announced,
    round_trips: RoundTrips,
    retransmissions: Retransmissions,
    rtt: RttEstimator,
    rounds: Rounds,
    /// The sender's slow start rules.
    is_open: bool,
    /// Window before the first segment, bytes, unless it is open.
    initial: u64,
    has_received: bool,
    hold: u64,
    /// No decrease before that.
    held_until: Time,
}

impl Rledbat {
    /// Creates the receiver of a connection whose segments have `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Rledbat {
        let settings = settings.with_preset(PRESETS);
        let packets = settings.get(&INITIAL_WINDOW);
        let (is_open, initial) = (packets == 0, packets * u64::from(mss));
        let mut rule = LedbatPp::new(&settings, mss);
        if !is_open {
            rule.set_window(initial);
        }
        Rledbat {
            rule,
            announced: Announced::new(settings.get(&WINDOW_SCALE)),
            round_trips: RoundTrips::default(),
            retransmissions: Retransmissions::default(),
            rtt: RttEstimator::default(),
            rounds: Rounds::default(),
            is_open,
            initial,
            has_received: false,
            hold: settings.get(&HOLD),
            held_until: Time::ZERO,
        }
    }

    /// Returns `rl`, the most that may be in flight, bytes.
    pub fn window(&self) -> u64 {
        match (self.is_open, self.has_received) {
            (true, _) => self.rounds.flight().saturating_mul(OPEN_ROUNDS).max(OPEN_LEAST),
            (false, false) => self.initial,
            (false, true) => self.rule.directive().cwnd,
        }
    }

    /// Takes in a data segment, whether it arrived before or not.
    pub fn on_segment(&mut self, segment: &Segment) {
        self.has_received = true;
        let Echo { rtt, round_start } = self.round_trips.arrived(segment.clock, segment.tsecr);
        if let Some(rtt) = rtt {
            self.rtt.update(rtt);
        }
        self.rounds.take(segment.received, round_start);
        if self.retransmissions.is_one(segment.position, segment.tsval) {
            self.on_loss(segment.now);
        }
        let ack = Ack {
            now: segment.now,
            newly_acked: segment.received,
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            sent_at: Time(segment.now.0.saturating_sub(self.smoothed_rtt().0)),
            round_start,
            app_limited: self.is_open || self.rounds.flight() < self.rule.directive().cwnd / 2,
            ..Ack::default()
        };
        self.apply(&ack);
    }

    fn apply(&mut self, ack: &Ack) {
        let is_held = ack.now < self.held_until || (self.round_trips.is_blind() && ack.rtt.is_none());
        if is_held && self.rule.is_above_target() {
            // The rule could only decrease, and would do so for a queue that the last decrease may have emptied.
            return;
        }
        self.rule.on_ack(ack);
        if self.is_open && self.rule.leaves_slow_start() {
            self.take_over();
        }
    }

    /// Limits the sender from now on, to what arrived in a round trip.
    fn take_over(&mut self) {
        self.is_open = false;
        self.rule.set_window(self.rounds.flight());
    }

    /// Answers a retransmission that arrives: one in a round trip counts.
    fn on_loss(&mut self, now: Time) {
        if now < self.held_until {
            return;
        }
        if self.is_open {
            self.take_over();
        }
        self.held_until = now + self.smoothed_rtt() * self.hold;
        self.rule.on_loss(&Loss { now, sent: Sent { now, ..Sent::default() }, ..Loss::default() });
    }

    fn smoothed_rtt(&self) -> Span {
        self.rtt.smoothed().unwrap_or_default()
    }

    /// Returns the window of an acknowledgement of `in_order` bytes that leaves when the clock says `clock`, bytes. `flow_control`
    /// is the window that a receiver without this rule would announce.
    pub fn announce(&mut self, in_order: u64, clock: u32, flow_control: u64) -> u64 {
        let limit = self.window();
        self.round_trips.sent(clock, self.announced.exceeds(in_order, limit));
        self.announced.announce(in_order, limit, flow_control)
    }

    /// Returns the right edge of what has been announced.
    pub fn edge(&self) -> u64 {
        self.announced.edge()
    }

    /// Returns the state of the rule, whose window counts once it is not open any more.
    pub fn snapshot(&self) -> Snapshot {
        let snapshot = self.rule.snapshot();
        Snapshot { phase: if self.is_open { "open" } else { snapshot.phase }, ..snapshot }
    }
}
