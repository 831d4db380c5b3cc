//! Ebb: almost no queue of one's own; ask whether a longer one obeys, and wait at a floor if it does not.
//!
//! # Model
//! Alone the sender keeps a queue of a few milliseconds. A longer queue is its own, that of other Ebb flows, or a foreground's. An experiment
//! decides. The sender removes exactly the excess that would be there if all of the queue were its own, and looks a round trip later.
//!
//! ```text
//!   q    = RTT − B − (R − R₀)                 B: least RTT; R: one-way delay of the ack, R₀: its least
//!   T_lo = max(min(2.5 ms, B/8), 1 ms, 1.5 packets)     times of packets on the link, by C, the largest delivery rate of minutes
//!   T    = min(T_lo + 1.5 MSS / rate, T_hi, cap) + allowance for jitter          T_hi = max(2 T_lo of time, T_lo + 4 packets)
//!
//!   round, q > T + slack:   W = rate · (B + T)        obeyed: q falls below 0.7 of what it was; the third time not: yield
//!   round, otherwise:       W += W · g · (T − q) / (B + q)        faster where q stays low
//! ```
//! - **Equal shares.** The target contains 1.5 own packets. A slow sender's packets take longer to follow each other, so its target is longer
//!   until the rates are equal.
//! - **Queue of a round.** It is the least of the second half of a round trip, among packets that left after the last reduction. Acks that
//!   arrive together are one sample.
//! - **Losses.** The sender steps back to 0.9 of its window for six round trips. If the path is empty in fewer than half of the rounds, or
//!   losses become rarer than by chance, they were congestion. Otherwise they were random, and further ones are ignored for some seconds.
//! - **Evidence.** Three congested events within seconds, marks included, lead to the yield. Two suffice below 0.9 of C.
//! - **Yield.** Pairs of packets, about 1 % of C, probe the path. A single packet's delayed ack would look like a queue.
//! - **Trains.** If the delay at the floor is steady, a train leaves at C/8. If its queue does not grow, nobody else sends, and the route is
//!   longer. At a half or a third of C in cruise, a train at C shows by its growth whether the queue is a fair one. Behind one the sender yields.
//!
//! # States
//! ```text
//!   ramp ──queue, losses, mark──▶ cruise ──third reduction in vain; congested events; fair queue──▶ yield
//!    ▲                              │                                                               │
//!    ├──timeout, idle───────────────┘                                                               │
//!    └──queue gone and hold over; train that meets nobody───────────────────────────────────────────┘
//! ```
//! In cruise each round grows or reduces the window. A loss there begins a step back, and a train suspends the rounds.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | T_lo | 2.5 ms, 1.5 packets | keeps a link full with paced packets and delayed acks; packets for slow links |
//! | T_lo of short paths | B/8, 1 ms | a queue as long as the path costs others half of their goodput where losses limit them |
//! | own packets | 1.5 | equal shares; more lengthen the queue of many flows |
//! | T_hi | 5 ms or twice T_lo, T_lo + 4 packets | without it a share beside a CUBIC that grows slowly would last |
//! | slack | 0.6 T, 2 packets | own granularity is no excess |
//! | gain g | 0.5 a round | half of the distance: its effect shows a round later |
//! | obey | 0.7 | a queue above this part of the one that caused the reduction has not obeyed |
//! | patience | 3 reductions | with fewer, other Ebb flows look like a foreground |
//! | floor | 1 % of C, 6 packets/s | probes that take nothing, and still show the end of a queue |
//! | hold | 200 ms, doubling to 2 s | short gaps of a foreground start no contest; doubles if a return ends within 3 s |
//! | step back | 0.9 W for 6 round trips, 150 ms | the queue empties if it is the own one, and some rounds show it |
//! | losses ignored | 1 s; random: 2 to 16 s | fewer step backs on a lossy path |
//! | lossy | 10 % of a round | more losses are congestion on every path |
//! | growth | 5 % a round | beyond what the path has carried; up to that it is 50 % |
//! | cap | half of a queue that overflowed, + 2 %/s | leaves room to others in a short buffer |
//! | memory of C | 200 s | a shorter one would take the sender's share for the link |
//! | R₀ | least of 20 to 30 s | a skew of 100 ppm moves it by 3 ms; it does not forget in the yield |
//! | round | 8 ms, 4 samples; with jitter 8 | a single delay is chance |
//! | jitter | 1.5 × mean difference of successive samples | queues move slowly; below 1.2 ms or 1.5 packets it is the own packets' |
//! | route train | 16–64 packets, 3 ms at C | after 3 s and 10 round trips of steady delay |
//! | share train | 12–100 packets, 8 ms at C | after 1 s and 8 round trips of that share, the mean of rounds, at most every 3 s |
//! | hold of a share | 2, 4, 8, 16 s | a fair queue stays one |
//! | pacing | 2 W/RTT in the ramp, then 1.1 | doubles in a round trip; afterwards the window governs |
//!
//! # Source
//! Ours. `docs/ebb.md` specifies the rule for other languages, with all constants. The arithmetic is in [`crate::ebb_core`], in integers; this
//! file has the parameters and the interface. `vectors/ebb.csv` has recorded events and answers.
//!
//! # Not implemented
//! The base falls only with a smaller round-trip time and rises only by a train: there is no periodic drain. Losses and timeouts that prove
//! to be none are not undone. A mark counts once in a round trip, whatever the number of marked packets.
//!
//! # Known bad cases
//! - Jitter of several milliseconds at the floor looks like a queue, and is not measured there. Jitter that keeps the order of packets grows
//!   with the rate, as a queue does.
//! - Batches of acks over more than a few milliseconds raise queue and jitter, and a share train may have no sample of its beginning.
//! - Several Ebb flows behind a fair queue take each other for greedy flows, and yield in turn.
//! - A fair queue is found only by a sender that has seen all of the link. On paths above 100 ms it is found late, and left too early.
//! - Buffers of a few milliseconds, and queues that drop early: a foreground loses packets without a queue, and the path looks empty.
//! - Round trips of several hundred milliseconds: ramp and step back take many seconds. At the floor a broken pair leaves lone packets, and
//!   their delayed acks look like a queue until a train ends that.
//! - Over uTP, losses of 5 % beyond a few milliseconds leave a quarter of the link unused.
//! - Where the window is a few packets and a twentieth of them is lost, one loss in a round is congestion. The growth after it is slow.
//! - A host with more work than processors is late by several milliseconds, which look like a queue: at a load of eight on two processors it
//!   has 0.64 of 20 Mbit/s alone, and LEDBAT++ 0.92.
//! - A download that never pauses becomes part of R₀ after half a minute.
//! - Skewed clocks in a long yield: R₀ does not move there, and R − R₀ drifts. A drift of 100 ppm hides a queue of 50 ms after 500 s, and the
//!   sender comes back too early.

use crate::controller::{Controller, Directive, Needs, Pacing, RecoveryWindow, Setup, Snapshot};
use crate::delay_signal::rtt_us;
use crate::ebb_core::units::ratio;
use crate::ebb_core::{switches, AckEvent, Params, Phase, Spread, State};
use crate::ebb_core::{APP_LIMITED, HAS_REVERSE, HAS_RTT, MARKED, MAY_HAVE_WAITED};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, Sent, Timeout};
use crate::slow_start::{initial_window, INITIAL_WINDOW};
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::Span;
#[cfg(feature = "alloc")]
use afteryou_base::About;

params! {
    /// Parameters.
    pub table PARAMS;

    const TARGET: Key<Span> = Key::micros("target", 2500, (100, 1_000_000))
        .explained("queue that it keeps alone", "afteryou");
    const TARGET_PACKETS: Key<f64> = Key::number("target_packets", "packets", 1.5, (0.0, 100.0))
        .explained("the same on slow links: times of a packet", "afteryou");
    const OWN: Key<f64> = Key::number("own", "packets", 1.5, (0.0, 100.0))
        .explained("own packets in the queue on top, which make shares equal", "afteryou");
    const CEILING: Key<Span> = Key::micros("ceiling", 5000, (100, 1_000_000))
        .explained("own packets lift the target no further", "afteryou");
    const CEILING_PACKETS: Key<f64> = Key::number("ceiling_packets", "packets", 4.0, (0.0, 100.0))
        .explained("the same on slow links: times of a packet above the target", "afteryou");
    const SLACK: Key<f64> = Key::number("slack", "", 0.6, (0.0, 10.0))
        .explained("part of the target by which the queue may be above it", "afteryou");
    const GAIN: Key<f64> = Key::number("gain", "", 0.5, (0.01, 2.0)).explained("gain of a round", "afteryou");
    const OBEY: Key<f64> = Key::number("obey", "", 0.7, (0.0, 1.0))
        .explained("a queue that stays above this part of itself after a reduction has not obeyed", "afteryou");
    const PATIENCE: Key<u64> = Key::count("patience", "reductions", 3, (1, 1000))
        .explained("that the queue need not obey before the rule yields", "afteryou");
    const FLOOR: Key<f64> = Key::number("floor", "", 0.01, (0.0001, 0.5))
        .explained("part of the link's rate that it keeps while it yields", "afteryou");
    const HOLD: Key<Span> = Key::millis("hold", 200, (0, 60_000))
        .explained("calm time before it comes back", "afteryou");
    const HOLD_MOST: Key<Span> = Key::millis("hold_most", 2000, (0, 60_000))
        .explained("the same after returns that ended soon", "afteryou");
    const AGAIN: Key<Span> = Key::millis("again", 3000, (0, 60_000))
        .explained("a return that ends within this time doubles the hold", "afteryou");
    const LOW: Key<f64> = Key::number("low", "", 0.9, (0.1, 1.0))
        .explained("part of the window that it steps back to after a loss", "afteryou");
    const LOSSY: Key<f64> = Key::number("lossy", "", 0.1, (0.0, 1.0))
        .explained("part of a round's packets whose loss is congestion on every path", "afteryou");
    const GROWTH: Key<f64> = Key::number("growth", "", 0.05, (0.01, 1.0)).explained("most growth of a round beyond what the path has carried", "afteryou");
    const STEP_BACK: Key<bool> = Key::choice("losses", &["step-back", "delay"], &[true, false])
        .explained("after a loss: step back and look, or judge by the delay", "afteryou");
    const SHARE_TEST: Key<bool> = Key::flag("share_test", true)
        .explained("ask by a train whether the queue is a fair one, and yield there", "afteryou");
    const TRAIN: Key<bool> = Key::flag("train", true)
        .explained("ask by a train whether a standing queue is a longer route", "afteryou");
    const EARLY: Key<bool> = Key::flag("early", true)
        .explained("react within a round trip", "afteryou");
    const CAP: Key<bool> = Key::flag("cap", true)
        .explained("keep no more than half of a queue that has overflowed", "afteryou");
    const REVERSE: Key<bool> = Key::choice("signal", &["one-way", "rtt"], &[true, false])
        .explained("take the queue on the way back off the round-trip time, or not", "afteryou");
    use INITIAL_WINDOW;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "ebb",
        summary: "keeps almost no queue, and asks of a longer one whether it obeys",
        source: "afteryou",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Ebb::new(settings, setup)),
};

/// An ebb controller.
#[derive(Clone, Debug)]
pub struct Ebb {
    params: Params,
    uses_reverse: bool,
    initial_packets: u64,
    state: State,
}

/// Returns settings as the integers of the core. `mss` in bytes.
pub fn parameters(settings: &Settings<'_>, mss: u32) -> Params {
    let switch = |key, bit| if settings.get(key) { bit } else { 0 };
    Params {
        mss: mss.into(),
        target_us: settings.get(&TARGET).as_micros(),
        target_packets: ratio(settings.get(&TARGET_PACKETS)),
        own: ratio(settings.get(&OWN)),
        ceiling_us: settings.get(&CEILING).as_micros(),
        ceiling_packets: ratio(settings.get(&CEILING_PACKETS)),
        slack: ratio(settings.get(&SLACK)),
        gain: ratio(settings.get(&GAIN)),
        obey: ratio(settings.get(&OBEY)),
        patience: settings.get(&PATIENCE) as u32,
        floor: ratio(settings.get(&FLOOR)),
        hold_us: settings.get(&HOLD).as_micros(),
        hold_most_us: settings.get(&HOLD_MOST).as_micros(),
        again_us: settings.get(&AGAIN).as_micros(),
        low: ratio(settings.get(&LOW)),
        lossy: ratio(settings.get(&LOSSY)),
        growth: ratio(settings.get(&GROWTH)),
        switches: switch(&STEP_BACK, switches::STEP_BACK)
            | switch(&SHARE_TEST, switches::SHARE_TEST)
            | switch(&TRAIN, switches::TRAIN)
            | switch(&EARLY, switches::EARLY)
            | switch(&CAP, switches::CAP),
    }
}

impl Ebb {
    /// Creates a controller.
    pub fn new(settings: &Settings<'_>, setup: &Setup) -> Ebb {
        let (initial_packets, mss) = (settings.get(&INITIAL_WINDOW), setup.mss.max(1));
        Ebb {
            params: parameters(settings, mss),
            uses_reverse: settings.get(&REVERSE),
            initial_packets,
            // Two packets are the least that it ever has: no loss widens a window.
            state: State::new(initial_window(initial_packets, mss).max(2 * u64::from(mss))),
        }
    }

    fn event(&self, ack: &Ack) -> AckEvent {
        let reverse = self.reverse_us(ack);
        let rate = ack.delivery.filter(|delivery| delivery.interval > Span::ZERO);
        AckEvent {
            now: ack.now.as_micros(),
            sent_at: ack.sent_at.as_micros(),
            number: ack.packet_number,
            delivered: ack.delivered(),
            in_flight: ack.in_flight,
            rate: rate.map_or(0, |sample| {
                crate::fixed::mul_div(sample.delivered, 1_000_000_000, sample.interval.0)
            }),
            rtt_us: rtt_us(ack).unwrap_or(0),
            smoothed_us: ack.smoothed_rtt.map_or(0, |rtt| rtt.as_micros().min(u32::MAX.into()) as u32),
            reverse_us: reverse.unwrap_or(0),
            flags: (u32::from(ack.rtt.is_some()) * HAS_RTT)
                | (u32::from(reverse.is_some()) * HAS_REVERSE)
                | (u32::from(ack.app_limited) * APP_LIMITED)
                | (u32::from(ack.marks.any()) * MARKED)
                | (u32::from(ack.may_have_waited) * MAY_HAVE_WAITED),
        }
    }

    /// Returns the one-way delay of the ack, or what the forward one leaves of the round trip.
    fn reverse_us(&self, ack: &Ack) -> Option<u32> {
        if !self.uses_reverse {
            return None;
        }
        ack.reverse_delay.or_else(|| Some(rtt_us(ack)?.wrapping_sub(crate::delay_signal::one_way_us(ack)?)))
    }
}

impl Controller for Ebb {
    fn needs(&self) -> Needs {
        Needs { delivery_rates: true, per_packet: false }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.state.on_sent(sent.packet_number);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let event = self.event(ack);
        self.state.on_ack(&event, &self.params);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.state.on_loss(loss.now.as_micros(), loss.sent.now.as_micros(), &self.params);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.state.on_timeout(timeout.now.as_micros(), &self.params);
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            let window = initial_window(self.initial_packets, self.params.mss as u32);
            self.state.on_idle(idle.now.as_micros(), window.max(2 * self.params.mss));
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.params.mss = mss.max(1).into();
        self.state.on_mtu(&self.params);
    }

    fn directive(&self) -> Directive {
        let pacing = match self.state.spread(&self.params) {
            Spread::Unknown => Pacing::GrowingWindow,
            Spread::Rate(rate) => Pacing::Rate(rate),
            Spread::Pairs { apart_us, every_us } => {
                Pacing::Together { packets: 2, apart_us, every: Span::from_micros(every_us) }
            }
        };
        let cwnd = self.state.window(&self.params);
        let train = (cwnd - self.state.cwnd.min(cwnd)).min(u32::MAX.into()) as u32;
        Directive { pacing, recovery: RecoveryWindow::Controller, train, ..Directive::window(cwnd) }
    }

    fn snapshot(&self) -> Snapshot {
        let State { phase, ref capacity, .. } = self.state;
        let base_us = self.state.path.base_us();
        Snapshot {
            phase: match phase {
                Phase::Ramp => "ramp",
                Phase::Cruise => "cruise",
                Phase::Yield => "yield",
            },
            cwnd: self.state.window(&self.params),
            base_delay: Span::from_micros(base_us).nonzero(),
            queuing_delay: (base_us > 0).then_some(Span::from_micros(self.state.queue_us())),
            target: (base_us > 0).then(|| Span::from_micros(self.state.target_us(&self.params))),
            extra: [
                Some(("capacity_bit_s", 8.0 * capacity.get() as f64)),
                Some(("noise_ms", self.state.noise_us() as f64 / 1000.0)),
                None,
                None,
            ],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
