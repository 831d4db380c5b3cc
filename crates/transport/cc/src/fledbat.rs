//! fLEDBAT: LEDBAT with a multiplicative decrease, so that latecomers and earlier flows converge.
//!
//! # Model
//! Plain LEDBAT increases and decreases additively, so an initial difference between two flows persists. fLEDBAT always
//! adds. Above the target it also subtracts in proportion to the window, like Reno's halving but more gently:
//!
//! ```text
//!   Δ = queuing delay − τ
//!   each acknowledged packet:   W += α/W                    Δ ≤ 0
//!                               W += α/W − (ζ/τ) · Δ        Δ > 0
//!   loss:                       W /= 2, once per round trip
//! ```
//! In a round trip that is +α always, and −ζ · W · Δ/τ above the target. N flows on a link of C packets/s settle at C/N
//! each and a queue of `C·τ + N·α·τ/(ζ·R)` packets. That is above the target, and rises with the number of flows and
//! with a smaller ζ.
//!
//! # States
//! ```text
//!   [slow start, if asked for] ──▶ congestion avoidance ◀──loss: halve
//!        ▲                              │
//!        └──timeout, if asked for───────┘
//! ```
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | τ (target) | 25 ms | the paper's simulations; 100 ms works as well |
//! | α | 1 packet per RTT | as fast as Reno at most |
//! | ζ | 0.1 | 0.01 to 0.5 all serve for 2 to 10 flows; below 0.001 it no longer yields, from 5 on it empties the queue |
//! | floor | 2 packets | the paper is silent: 1 is enough where acks are not delayed |
//!
//! # Source
//! Carofiglio, Muscariello, Rossi, Testa and Valenti, "Rethinking the low extra delay background transport (LEDBAT)
//! protocol", Computer Networks 57(8), 2013, eq. 5. There eq. 1 defines Δ as above, and eq. 2 uses it with another sign;
//! eq. 5 and the analysis agree with eq. 1, and so does the rule, which is in [`crate::ledbat_core::fledbat`]. The paper does not
//! cover a loss or timeout that proves to be none. Its halving is then undone by RFC 4015 §3.2.
//!
//! # Not implemented
//! Reset of the window when a peer changes (the paper's peer-to-peer scenarios): the application does that.
//!
//! # Known bad cases
//! A buffer smaller than the equilibrium queue (ten flows, ζ = 0.01, τ = 100 ms, 50 ms: 2000 packets) makes it
//! loss-controlled. The feedback loop is weakly damped and oscillates around the equilibrium with periods of about a
//! second. Growth from the start is one packet per round trip: 100 s at 250 ms for 20 Mbit/s, unless `slow_start` is on.

use crate::base_delay::MAX_BINS;
use crate::clock_skew::CLOCK_SKEW;
use crate::current_delay::MAX_SAMPLES;
use crate::delay_meter::{kept, DelayMeter, FILTER, HISTORY};
use crate::delay_signal::SIGNAL;
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::Ack;
use crate::fixed::{to_16, Bytes16};
use crate::ledbat::{INIT_CWND, MIN_CWND, MOST_TARGET};
use crate::ledbat_core::fledbat::{Params, State};
use crate::ledbat_core::{AckEvent, Before};
use crate::ledbat_shell::{Delays, Rule, Shell};
use crate::ledbat_slow_start::{SlowStart, SLOW_START, SLOW_START_EXIT};
use crate::route_change::ROUTE_CHANGE;
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::{Span, Time};
#[cfg(feature = "alloc")]
use afteryou_base::About;

params! {
    /// Parameters.
    pub table PARAMS;

    pub const TARGET: Key<Span> = Key::millis("target", 25, (1, 1000))
        .explained(
            "queuing delay above which it shrinks (τ); above 100 ms there is a warning",
            "Carofiglio 2013 §6",
        )
        .at_most_millis(100, MOST_TARGET);
    pub const ALPHA: Key<f64> = Key::number("alpha", "packets per RTT", 1.0, (0.001, 1.0))
        .explained("growth of a round trip", "Carofiglio 2013 eq. 5");
    pub const ZETA: Key<f64> = Key::number("zeta", "", 0.1, (0.0001, 100.0))
        .explained(
            "part of the window lost per round trip and target of excess delay",
            "Carofiglio 2013 eq. 5, §7",
        );
    use HISTORY, FILTER, INIT_CWND, MIN_CWND, SLOW_START, SLOW_START_EXIT, SIGNAL, CLOCK_SKEW, ROUTE_CHANGE;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "fledbat",
        summary:
            "LEDBAT with a multiplicative decrease: flows converge to equal shares, whichever came first",
        source: "Carofiglio 2013",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Fledbat::new(settings, setup.mss)),
};

/// An fLEDBAT controller.
pub type Fledbat = Shell<FairLedbat>;

/// The rule of fLEDBAT.
#[derive(Clone, Debug)]
pub struct FairLedbat {
    params: Params,
    state: State<MAX_BINS, MAX_SAMPLES, { MAX_SAMPLES - 1 }>,
}

impl Fledbat {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Fledbat {
        let params = Params {
            target_us: settings.get(&TARGET).as_micros(),
            alpha16: to_16(settings.get(&ALPHA)),
            zeta16: to_16(settings.get(&ZETA)),
            init_cwnd: settings.get(&INIT_CWND),
            min_cwnd: settings.get(&MIN_CWND),
            mss: u64::from(mss),
            kept: kept(settings),
        };
        let rule = FairLedbat { state: State::new(&params), params };
        Shell::around(rule, DelayMeter::new(settings), SlowStart::new(settings, &TARGET))
    }
}

impl Rule for FairLedbat {
    fn cwnd(&self) -> Bytes16 {
        self.state.cwnd
    }

    fn floor(&self) -> Bytes16 {
        self.state.floor(&self.params)
    }

    fn delays(&self) -> &Delays {
        &self.state.delay
    }

    fn delays_mut(&mut self) -> &mut Delays {
        &mut self.state.delay
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: &mut SlowStart, queuing_us: Option<u32>) -> bool {
        let (p, event) = (&self.params, AckEvent::of(ack));
        self.state.respond(p, &event, |state| match queuing_us {
            _ if slow_start.is_on() && ack.app_limited => {}
            queuing_us if slow_start.is_on() => {
                state.cwnd = slow_start.grow(state.cwnd, event.delivered, p.mss, queuing_us);
            }
            Some(queuing_us) => state.steer(p, &event, u64::from(queuing_us)),
            None => {} // no fresh sample: skip the delay-based step
        })
    }

    fn on_loss(&mut self, sent_at: Time, now: Time) -> bool {
        self.state.on_loss(&self.params, sent_at.0, now.0)
    }

    fn on_timeout(&mut self, now: Time) {
        self.state.on_timeout(&self.params, now.0);
    }

    fn on_idle(&mut self) {
        self.state.on_idle();
    }

    fn on_mtu(&mut self, mss: u64) {
        self.params.mss = mss;
        self.state.on_mtu(&self.params);
    }

    fn mss(&self) -> u64 {
        self.params.mss
    }

    fn before(&self) -> Before {
        self.state.before()
    }

    fn undo(&mut self, before: &Before) {
        self.state.undo(before);
    }

    fn target_us(&self) -> u64 {
        self.params.target_us
    }

    fn gain16(&self) -> u64 {
        self.params.alpha16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::delay_signal::DelaySignal;
    use crate::event::{Loss, Sent};

    /// 2^20 B packets make whole bytes a fine unit for windows given in packets.
    const MSS: u64 = 1 << 20;

    fn with_window(packets: f64, queuing_us: u32) -> Fledbat {
        let mut fledbat = Fledbat::new(&Settings::defaults(PARAMS), MSS as u32);
        fledbat.rule.state.cwnd = Bytes16((packets * MSS as f64 * 65536.0) as u64);
        fledbat.meter.preset(DelaySignal::OneWay, &mut fledbat.rule.state.delay, 50_000, queuing_us);
        fledbat
    }

    fn packets(fledbat: &Fledbat) -> f64 {
        fledbat.rule.state.cwnd.to_f64() / MSS as f64
    }

    fn ack(queuing_us: u32) -> Ack {
        let one_way_delay = Some(50_000 + queuing_us);
        Ack { newly_acked: MSS, one_way_delay, flightsize: 1 << 40, ..Ack::for_tests() }
    }

    #[test]
    fn each_packet_adds_its_part_and_above_target_takes_in_proportion() {
        let rows = [
            (50.0, 20_000, 50.02),
            (50.0, 25_000, 50.02),
            (50.0, 25_500, 50.018),
            (50.0, 35_000, 49.98),
            (20.0, 125_000, 19.65),
        ];
        for (window, queuing_us, expected) in rows {
            let mut fledbat = with_window(window, queuing_us);
            fledbat.on_ack(&ack(queuing_us));
            assert!((packets(&fledbat) - expected).abs() < 1e-5 * expected, "{window}, {queuing_us} us");
        }
    }

    #[test]
    fn a_loss_halves_once_per_round_trip() {
        let mut fledbat = with_window(50.0, 0);
        let loss = |sent_ms, now_ms| Loss {
            now: Time::from_millis(now_ms),
            sent: Sent { now: Time::from_millis(sent_ms), bytes: MSS, packet_number: 1, ..Sent::default() },
            flightsize: 50 * MSS,
            ..Loss::default()
        };
        fledbat.on_loss(&loss(50, 100));
        fledbat.on_loss(&loss(90, 110));
        assert_eq!(packets(&fledbat), 25.0);
        fledbat.on_loss(&loss(101, 200));
        assert_eq!(packets(&fledbat), 12.5);
    }

    #[test]
    fn an_ack_of_many_packets_counts_for_all_and_never_ends_below_the_floor() {
        let mut fledbat = with_window(50.0, 35_000);
        fledbat.on_ack(&Ack { newly_acked: 2 * MSS, ..ack(35_000) });
        assert!((packets(&fledbat) - 49.96).abs() < 1e-4);
        let mut fledbat = with_window(50.0, 4_000_000);
        fledbat.on_ack(&Ack { newly_acked: 50 * MSS, ..ack(4_000_000) });
        assert_eq!(packets(&fledbat), 2.0);
    }

    #[test]
    fn the_equilibrium_queue_is_where_growth_and_decrease_cancel() {
        // N flows, C packets/s, R s: Q* = C·τ + N·α·τ/(ζ·R) packets, W* = X*·R with X* = C/N.
        let (c, r) = (833.333_333, 0.05);
        for (n, tau, zeta, q_star) in
            [(2.0, 0.025, 0.1, 30.8333), (5.0, 0.1, 0.1, 183.333), (10.0, 0.1, 0.01, 2083.33)]
        {
            let excess: f64 = q_star / c - tau;
            let w = c / n * r;
            assert!((1.0 / w - zeta / tau * excess).abs() < 2e-5 / w, "N = {n}");
        }
        let mut fledbat = with_window(c / 2.0 * r, 37_000);
        fledbat.on_ack(&ack(37_000));
        assert!((packets(&fledbat) - c / 2.0 * r).abs() < 1e-5, "30.8333 packets are 37 ms at {c} packets/s");
    }
}
