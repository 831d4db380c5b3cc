//! BBR version 3: the bottleneck's rate and the path's round-trip time, bounded by what losses show.
//!
//! # Model
//! As [BBR v1](crate::bbr), it sends at the bottleneck's rate. It also reacts to loss, on two time scales:
//!
//! ```text
//!   max_bw        largest delivery rate of two cycles of probing
//!   min_rtt       smallest RTT of 10 s; measured anew with half a BDP in flight if nothing as small was seen for 5 s
//!   long term     inflight_longterm: bytes in flight at which more than 2 % of a round was lost while it probed
//!   short term    bw_shortterm, inflight_shortterm: what was delivered in rounds with loss since the latest probe
//!   bw = min(max_bw, bw_shortterm)           pacing = gain · bw · 0.99
//!   most in flight = gain · bw · min_rtt + extra, at least 3 quanta and 4 packets, + 2 packets while it probes up
//!   window = min(window + acked, most in flight, both bounds on the flight)
//!   quantum = what 1 ms carries, at least 2 packets, at most 64 kB
//! ```
//! `extra` is the room for [batches of acks](crate::ack_aggregation).
//!
//! # States
//! ```text
//!   startup ──3 rounds without 25 % more, or loss──▶ drain ──in flight ≤ BDP, or 3 rounds──▶ down ◀────────────┐
//!                                                                                             │  in flight ≤ BDP
//!                                                      2 to 3 s, or as many rounds as the BDP ▼  and headroom  │
//!                                           up ◀──a round── refill ◀──has packets, up to 63── cruise           │
//!                                            └──3 rounds without 25 % more, or loss above 2 %──────────────────┘
//!   probe RTT: from any state; after it cruise
//! ```
//! | state | pacing gain | window gain | bound on the flight |
//! |---|---|---|---|
//! | startup | 2.77 | 2 | none |
//! | drain | 0.5 | 2 | short term |
//! | down | 0.9 | 2 | long and short term |
//! | cruise | 1 | 2 | 85 % of the long term; short term |
//! | refill | 1 | 2 | long term |
//! | up | 1.25 | 2.25 | long term, which grows by 1, 2, 4, … packets in a round |
//! | probe RTT | 1 | 0.5, and the window at most that | 85 % of the long term; short term |
//!
//! After a probe that lost too much, the next one ends where the long-term bound is reached. If a round trip later nothing is lost, another
//! one follows at once, without this limit.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | gain of startup | 2.77 = 4 ln 2 | smallest that doubles the rate in each round with a window of two BDP |
//! | tolerated loss | 2 % | what shallow buffers lose to a probe |
//! | beta | 0.7 | no bound falls faster than CUBIC's window |
//! | headroom | 15 % | room for flows that join |
//! | wait between probes | 2 s and up to 1 s at random | Reno at 25 Mbit/s and 30 ms can refill its window |
//! | rounds between probes | 63 | as long as Reno's sawtooth on such a path |
//! | age of min_rtt, of a probe | 10 s, 5 s | a window of the first contains a probe |
//! | duration of probe RTT | 200 ms | flows with other round-trip times meet in it |
//! | loss in startup | 6 ranges in a round | a burst is not a full pipe |
//! | least window | 4 packets | delayed acks come for two packets at a time |
//!
//! # Source
//! draft-ietf-ccwg-bbr-06 (July 2026), sections at each rule; its pseudo-code is followed line by line. Where it calls `BDPMultiple` both
//! with a gain and with a rate and a gain, the rate is `bw`, and `max_bw` for the end of the state down. The rate of loss in startup is that
//! of the round of the newest acknowledged packet. The differences between stacks:
//!
//! | | here | quinn (`bbr3`) |
//! |---|---|---|
//! | version of the draft | 06 | 05 |
//! | gain of startup | 2.77 | 2.773 |
//! | quantum | 1 ms, at least 2 packets | 1 or 2 packets below 1.2 and 24 Mbit/s |
//! | who paces | the transport, at the rule's rate | quinn, by the window |
//!
//! The room for batches is at most what the rate carries in 100 ms, as in Linux. The draft bounds it by the window alone. A queue that
//! drains while the rate is lowered would then count as a batch. Over 250 ms with 0.1 % of loss the mean queue was one BDP with that
//! bound.
//!
//! The draft's working copy after version 06 measures min_rtt every 10 s: `probe_rtt_interval = 10 s`.
//!
//! # Not implemented
//! Marks (ECN) are ignored: the draft has no rule for them. Nothing says when a recovery is over. It ends with the ack of a packet that
//! left after the last loss of a packet of before. Losses that an ack shows count from the next ack on, since they are reported after it.
//!
//! # Known bad cases
//! Random loss above 2 % looks like a full buffer: at 5 % most of a link stays unused. Below that, each round with a loss between two
//! probes takes at least the pacing margin from the rate, 1 %. No more was delivered than was sent. On a path of 200 packets, 0.1 % costs
//! 5 to 7 % of the link, and 1 % up to 17 %. While it probes up, the queue grows by a quarter of a BDP in a round, three rounds or more.
//! Its mean is below a third of a BDP, its 99th percentile between 0.8 and 1.3.
//! Beside CUBIC in deep buffers it gets less than its share. Between probes a rate that rises stays unused for 2 to 3 s.

mod control;
mod model;
mod phases;

use crate::ack_aggregation::AckAggregation;
use crate::bbr::Recovery;
use crate::controller::{Controller, Directive, Needs, Pacing, RecoveryWindow, Setup, Snapshot};
use crate::delivery_rounds::{DeliveryRounds, RateSample};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Delivered, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::slow_start::{initial_window, INITIAL_WINDOW};
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;
use control::Control;
use model::Model;
use phases::Phases;

params! {
    /// Parameters.
    pub table PARAMS;

    const STARTUP_GAIN: Key<f64> = Key::number("startup_gain", "", 2.77, (1.5, 4.0))
        .explained("pacing gain of startup", "draft-ietf-ccwg-bbr-06 §5.3.1");
    const CWND_GAIN: Key<f64> = Key::number("cwnd_gain", "", 2.0, (1.0, 4.0))
        .explained("window over BDP; an eighth more while it probes up", "draft-ietf-ccwg-bbr-06 §5.6.1");
    const LOSS_THRESHOLD: Key<f64> = Key::number("loss_threshold", "", 0.02, (0.0, 0.5))
        .explained("part of a round that a probe may lose", "draft-ietf-ccwg-bbr-06 §5.5.10.2");
    const BETA: Key<f64> = Key::number("beta", "", 0.7, (0.1, 1.0))
        .explained("part of a bound that a round with loss leaves at least", "draft-ietf-ccwg-bbr-06 §5.5.10.3");
    const HEADROOM: Key<f64> = Key::number("headroom", "", 0.15, (0.0, 0.9))
        .explained("part of the long-term bound that is left to others", "draft-ietf-ccwg-bbr-06 §5.3.3.1");
    const PROBE_WAIT: Key<Span> = Key::millis("probe_wait", 2000, (0, 60_000))
        .explained("time between two probes, and up to half of it more at random", "draft-ietf-ccwg-bbr-06 §5.3.3.5");
    const PROBE_ROUNDS: Key<u64> = Key::count("probe_rounds", "rounds", 63, (1, 10_000))
        .explained("most rounds between two probes", "draft-ietf-ccwg-bbr-06 §5.3.3.5");
    const MIN_RTT_AGE: Key<Span> = Key::millis("min_rtt_age", 10_000, (1000, 60_000))
        .explained("how long the smallest round-trip time counts", "draft-ietf-ccwg-bbr-06 §5.5.7.2");
    const PROBE_RTT_INTERVAL: Key<Span> = Key::millis("probe_rtt_interval", 5000, (1000, 60_000))
        .explained("time after which it is measured anew", "draft-ietf-ccwg-bbr-06 §5.3.4");
    const PROBE_RTT_TIME: Key<Span> = Key::millis("probe_rtt_time", 200, (0, 1000))
        .explained("how long it stays at half a BDP to measure the path", "draft-ietf-ccwg-bbr-06 §5.3.4");
    use INITIAL_WINDOW;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "bbr3",
        summary: "sends at the bottleneck's rate within bounds that losses set: BBR version 3",
        source: "draft-ietf-ccwg-bbr-06",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Foreground,
    make: |settings, setup| alloc::boxed::Box::new(Bbr3::new(settings, setup)),
};

/// The settings.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    startup_gain: f64,
    cwnd_gain: f64,
    loss_threshold: f64,
    beta: f64,
    headroom: f64,
    probe_wait: Span,
    probe_rounds: u64,
    min_rtt_age: Span,
    probe_rtt_interval: Span,
    probe_rtt_time: Span,
}

/// An ack as the rules see it: RS of the draft, and what follows from it for rounds.
#[derive(Clone, Copy, Debug)]
struct Signals {
    now: Time,
    acked: f64,
    sent_at: Time,
    rtt: Option<Span>,
    round_begins: bool,
    sample: Option<RateSample>,
    /// Bytes lost between the newest packet's departure and its ack (RS.lost).
    lost: f64,
}

impl Signals {
    /// Returns RS.tx_in_flight, bytes.
    fn in_flight_at_send(&self) -> f64 {
        self.sample.map_or(0.0, |sample| sample.in_flight_at_send)
    }

    fn is_app_limited(&self) -> bool {
        self.sample.is_none_or(|sample| sample.app_limited)
    }
}

/// A BBR v3 controller.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    tuning: Tuning,
    mss: f64,
    rounds: DeliveryRounds,
    model: Model,
    phases: Phases,
    aggregation: AckAggregation,
    recovery: Recovery,
    control: Control,
    in_flight: f64,
    /// Bytes found lost (C.lost).
    lost: f64,
    /// Bytes that had been found lost when the newest packet of this ack left (P.lost).
    lost_before: Option<(u64, f64)>,
    latest_rtt: Option<Span>,
    idle_restart: bool,
}

impl Bbr3 {
    /// Creates a controller.
    pub fn new(settings: &Settings<'_>, setup: &Setup) -> Bbr3 {
        let mss = f64::from(setup.mss);
        let initial_window = initial_window(settings.get(&INITIAL_WINDOW), setup.mss) as f64;
        Bbr3 {
            tuning: Tuning {
                startup_gain: settings.get(&STARTUP_GAIN),
                cwnd_gain: settings.get(&CWND_GAIN),
                loss_threshold: settings.get(&LOSS_THRESHOLD),
                beta: settings.get(&BETA),
                headroom: settings.get(&HEADROOM),
                probe_wait: settings.get(&PROBE_WAIT),
                probe_rounds: settings.get(&PROBE_ROUNDS),
                min_rtt_age: settings.get(&MIN_RTT_AGE),
                probe_rtt_interval: settings.get(&PROBE_RTT_INTERVAL),
                probe_rtt_time: settings.get(&PROBE_RTT_TIME),
            },
            mss,
            rounds: DeliveryRounds::default(),
            model: Model::default(),
            phases: Phases::new(setup.seed),
            aggregation: AckAggregation::default(),
            recovery: Recovery::default(),
            control: Control::new(initial_window),
            in_flight: 0.0,
            lost: 0.0,
            lost_before: None,
            latest_rtt: None,
            idle_restart: false,
        }
    }

    fn signals(&mut self, ack: &Ack) -> Signals {
        let before = self.lost_before.take().filter(|(number, _)| *number == ack.packet_number);
        Signals {
            now: ack.now,
            acked: ack.delivered() as f64,
            sent_at: ack.sent_at,
            rtt: ack.rtt,
            round_begins: self.rounds.on_ack(ack),
            sample: self.rounds.sample(ack),
            lost: before.map_or(0.0, |(_, before)| (self.lost - before).max(0.0)),
        }
    }

    /// Updates the model and the state (§5.2.3, UpdateModelAndState).
    fn update_model(&mut self, signals: &Signals) {
        self.model.update_latest(signals);
        self.update_congestion(signals);
        let (rate, cwnd) = (self.model.bandwidth(), self.control.cwnd);
        self.aggregation.on_ack(signals.now, signals.acked, rate, cwnd, self.rounds.count());
        self.phases.full.on_ack(signals);
        self.check_startup(signals);
        self.check_drain(signals.now);
        self.update_cycle(signals);
        self.model.update_min_rtt(signals, &self.tuning);
        self.check_probe_rtt(signals);
        self.model.advance_latest(signals);
    }

    /// Takes in losses of a round at its end (§5.5.10.3, UpdateCongestionSignals).
    fn update_congestion(&mut self, signals: &Signals) {
        if let Some(sample) = &signals.sample {
            self.model.take_rate(sample);
        }
        if self.model.ends_loss_round() {
            if !self.phases.is_probing_bandwidth() {
                self.model.adapt_to_loss(self.control.cwnd, self.tuning.beta);
            }
            self.model.begin_loss_round();
        }
    }

    /// Shrinks the window to a packet: everything in flight is taken for lost (§5.6.4.4, OnEnterRTO).
    fn collapse(&mut self, now: Time, flightsize: u64) {
        self.save_cwnd();
        self.model.save_for_undo(&mut self.phases);
        self.recovery = Recovery::after_timeout(now, flightsize);
        self.in_flight = 0.0;
        self.control.cwnd = self.control.cwnd.min(self.mss);
    }
}

impl Controller for Bbr3 {
    fn needs(&self) -> Needs {
        Needs { delivery_rates: true, per_packet: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.in_flight = sent.in_flight as f64;
        self.lost = sent.totals.lost as f64;
        self.control.note_flight(self.in_flight, self.mss);
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        let Sent { packet_number, totals, .. } = delivered.sent;
        if self.lost_before.is_none_or(|(newest, _)| packet_number >= newest) {
            self.lost_before = Some((packet_number, totals.lost as f64));
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.in_flight = ack.in_flight.saturating_sub(ack.delivered()) as f64;
        self.latest_rtt = ack.rtt.or(self.latest_rtt);
        let signals = self.signals(ack);
        self.control.begin_ack(&signals);
        self.update_model(&signals);
        if self.recovery.on_ack(ack, signals.round_begins) {
            self.control.restore_cwnd();
        }
        self.set_pacing_rate(self.pacing_gain(), ack.smoothed_rtt);
        self.set_cwnd(signals.acked);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let bytes = loss.sent.bytes as f64;
        self.in_flight = (self.in_flight - bytes).max(0.0);
        self.lost += bytes;
        if self.recovery.is_on() {
            self.recovery.extend(loss);
        } else {
            self.save_cwnd();
            self.recovery = Recovery::after_loss(loss.now);
        }
        self.note_loss(loss);
        if loss.persistent {
            self.collapse(loss.now, loss.flightsize);
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if self.recovery.is_needless(spurious) {
            self.recovery = Recovery::default();
            self.control.restore_cwnd();
            self.undo_loss(spurious.now);
            self.limit_cwnd();
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.collapse(timeout.now, timeout.flightsize);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.idle_restart = true;
        self.aggregation.restart(idle.now);
        if self.phases.is_in_cycle() {
            self.set_pacing_rate(1.0, None);
        }
        self.end_probe_rtt(idle.now);
        self.limit_cwnd();
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = f64::from(mss);
        self.control.cwnd = self.control.cwnd.max(self.mss);
    }

    fn directive(&self) -> Directive {
        let rate = self.control.pacing_rate;
        let pacing = match rate > 0.0 {
            true => Pacing::Rate((rate as u64).max(1)),
            false => Pacing::GrowingWindow,
        };
        Directive {
            pacing,
            send_quantum: if rate > 0.0 { self.quantum() as u64 } else { 0 },
            recovery: RecoveryWindow::Controller,
            ..Directive::window(self.control.cwnd as u64)
        }
    }

    fn snapshot(&self) -> Snapshot {
        let base = self.model.min_rtt();
        let longterm = self.model.inflight_longterm;
        Snapshot {
            phase: self.phases.name(),
            cwnd: self.control.cwnd as u64,
            base_delay: base,
            queuing_delay: self.latest_rtt.zip(base).map(|(rtt, base)| rtt.saturating_sub(base)),
            extra: [
                Some(("bandwidth_bit_s", 8.0 * self.model.bandwidth())),
                Some(("pacing_gain", self.pacing_gain())),
                Some(("bdp", self.bdp(self.model.bandwidth(), 1.0))),
                longterm.is_finite().then_some(("inflight_longterm", longterm)),
            ],
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
