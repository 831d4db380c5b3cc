//! Ebb: almost no queue of one's own; ask whether a longer one obeys, and wait at a floor if it does not.

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
        .explained("ask by a train whether a queue that stands is a longer route", "afteryou");
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

fn parameters(settings: &Settings<'_>, mss: u32) -> Params {
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
            Spread::Pairs { every_us } => Pacing::Together { packets: 2, every: Span::from_micros(every_us) },
        };
        let cwnd = self.state.window(&self.params);
        let train = cwnd - self.state.cwnd.min(cwnd);
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
