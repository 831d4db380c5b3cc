use super::model::inflight_at_loss;
use super::phases::State;
use super::*;
use crate::event::{DeliveryRate, Totals};

const MSS: u32 = 1000;
const PACKET: f64 = MSS as f64;
/// A path of 10 Mbit/s and 40 ms holds 50 packets.
const RATE: f64 = 1.25;
const RTT_MS: u64 = 40;

fn new() -> Bbr3 {
    Bbr3::new(&Settings::defaults(PARAMS), &Setup { seed: 1, ..Setup::of(MSS) })
}

/// Returns an ack of one packet that left a round trip ago, at a delivery rate in MB/s.
fn ack(now_ms: u64, rate: f64, in_flight: f64) -> Ack {
    let rtt = Span::from_millis(RTT_MS);
    Ack {
        now: Time::from_millis(now_ms),
        newly_acked: 1000,
        flightsize: in_flight as u64,
        in_flight: in_flight as u64,
        sent_at: Time::from_millis(now_ms - RTT_MS),
        packet_number: now_ms,
        rtt: Some(rtt),
        smoothed_rtt: Some(rtt),
        delivery: Some(DeliveryRate {
            delivered: (rate * 1e3) as u64 * RTT_MS,
            interval: rtt,
            in_flight_at_send: in_flight as u64,
            app_limited: false,
        }),
        ..Ack::default()
    }
}

/// Returns the loss of a packet that left with `in_flight` bytes in flight, when `lost` bytes had been lost.
fn lost(now_ms: u64, sent_ms: u64, in_flight: u64, lost: u64) -> Loss {
    let sent = Sent {
        now: Time::from_millis(sent_ms),
        bytes: 1000,
        packet_number: 2 * sent_ms,
        in_flight,
        totals: Totals { lost, ..Totals::default() },
        ..Sent::default()
    };
    Loss { now: Time::from_millis(now_ms), sent, flightsize: in_flight, ..Loss::default() }
}

/// Returns a controller in this state on the path of 50 packets at 1000 ms, with a window of 90 packets.
fn in_state(state: State) -> Bbr3 {
    let mut bbr = new();
    for ms in (RTT_MS..=1000).step_by(5) {
        bbr.on_ack(&ack(ms, RATE, 60_000.0));
    }
    assert!(bbr.phases.full.reached, "{bbr:?}");
    bbr.start_down(Time::from_millis(1000));
    bbr.phases.state = state;
    bbr.control.cwnd = 90.0 * PACKET;
    bbr
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    for (rates, rounds) in [([1.0, 2.0, 4.0, 8.0], 4), ([1.0, 2.0, 2.5, 3.1], 3), ([1.0, 1.2, 1.25, 1.5], 3)]
    {
        let mut bbr = new();
        let left_after = (1..20).find(|round| {
            bbr.on_ack(&ack(RTT_MS * round, rates[(*round as usize - 1).min(3)], 900_000.0));
            bbr.phases.state == State::Drain
        });
        assert_eq!(left_after, Some(rounds + 3), "{rates:?}");
    }
}

#[test]
fn startup_ends_by_six_ranges_of_losses_above_two_percent_after_a_round_of_recovery() {
    let state_after = |ranges: u64| {
        let mut bbr = new();
        for (i, rate) in [1.0, 2.0, 4.0, 8.0].into_iter().enumerate() {
            bbr.on_ack(&ack(RTT_MS * (i as u64 + 1), rate, 100_000.0));
        }
        // The recovery begins at 206 ms; its first packet is acknowledged at 250 ms.
        (0..ranges).for_each(|i| bbr.on_loss(&lost(206, 166 + i, 100_000, 0)));
        for ms in [230, 250, 295] {
            bbr.on_delivered(&Delivered {
                sent: Sent { packet_number: ms, ..Sent::default() },
                ..Delivered::default()
            });
            bbr.on_ack(&ack(ms, 32.0, 100_000.0));
            assert!(ms >= 250 || !bbr.phases.full.reached, "the round is not over");
        }
        (bbr.phases.full.reached, bbr.model.inflight_longterm.is_finite())
    };
    assert_eq!([state_after(5), state_after(6)], [(false, false), (true, true)]);
}

#[test]
fn gains_are_those_of_the_drafts_table() {
    let table = [
        (State::Startup, 2.77, 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRtt, 1.0, 0.5),
    ];
    for (state, pacing, cwnd) in table {
        let mut bbr = in_state(state);
        bbr.set_pacing_rate(bbr.pacing_gain(), None);
        assert!((bbr.control.pacing_rate / (0.99 * RATE * 1e6) - pacing).abs() < 1e-9, "{state:?}");
        bbr.control.cwnd = 1e6;
        bbr.set_cwnd(0.0);
        let up = if state == State::Up { 2.0 } else { 0.0 };
        let expected = 50.0 * cwnd + up + if state == State::ProbeRtt { 0.0 } else { 1.0 };
        // One packet of room for batches of one.
        assert!((bbr.control.cwnd / PACKET - expected).abs() < 1e-6, "{state:?}: {}", bbr.control.cwnd);
    }
}

#[test]
fn a_quantum_is_a_millisecond_at_least_two_packets_at_most_64_kb() {
    let quantum = |mbit_s: f64| {
        let mut bbr = new();
        bbr.control.pacing_rate = mbit_s * 125_000.0;
        bbr.quantum()
    };
    assert_eq!([1.0, 10.0, 100.0, 1000.0].map(quantum), [2000.0, 2000.0, 12_500.0, 65_536.0]);
}

#[test]
fn the_prefix_at_which_losses_exceed_the_threshold_solves_the_drafts_equation() {
    for (in_flight, lost) in [(100_000.0, 3_000.0), (50_000.0, 2_000.0), (400_000.0, 8_500.0)] {
        let at_loss = inflight_at_loss(in_flight, lost, 1000.0, 0.02);
        let prefix = at_loss - (in_flight - 1000.0);
        let part = (lost - 1000.0 + prefix) / at_loss;
        assert!((part - 0.02).abs() < 1e-12, "{part}");
    }
}

#[test]
fn a_probe_that_loses_more_than_two_percent_sets_the_long_term_bound_once() {
    let mut bbr = in_state(State::Up);
    bbr.phases.is_probe_sample = true;
    bbr.on_loss(&lost(1010, 970, 80_000, 0));
    assert!(bbr.model.inflight_longterm.is_infinite(), "1 of 80 packets");
    bbr.on_loss(&lost(1010, 971, 80_000, 0));
    // 2 of 80: 79 packets before it with 1 lost; (0.02 · 79 − 1)/0.98 of it.
    let expected = 79_000.0 + 580.0 / 0.98;
    assert!((bbr.model.inflight_longterm - expected).abs() < 1.0, "{}", bbr.model.inflight_longterm);
    assert_eq!(bbr.phases.state, State::Down);
    bbr.on_loss(&lost(1010, 972, 40_000, 0));
    assert!((bbr.model.inflight_longterm - expected).abs() < 1.0, "once a probe");
}

#[test]
fn the_long_term_bound_falls_to_no_less_than_seven_tenths_of_what_it_wants_in_flight() {
    let mut bbr = in_state(State::Refill);
    bbr.phases.is_probe_sample = true;
    bbr.on_loss(&lost(1010, 970, 10_000, 0));
    assert!((bbr.model.inflight_longterm - 35_000.0).abs() < 1.0, "{}", bbr.model.inflight_longterm);
    assert_eq!(bbr.phases.state, State::Refill, "only the state up ends");
}

#[test]
fn the_long_term_bound_grows_by_one_two_four_packets_a_round_while_it_probes() {
    let mut bbr = in_state(State::Refill);
    bbr.model.inflight_longterm = 60_000.0;
    bbr.control.cwnd = 60_000.0;
    let mut bounds = Vec::new();
    for ms in 1040..1200 {
        let bound = bbr.model.inflight_longterm;
        bbr.on_sent(&Sent { in_flight: bound as u64, ..Sent::default() });
        let mut ack = ack(ms, RATE, bound);
        // 60 packets in a round trip, and nothing larger in flight than the bound.
        ack.newly_acked = 1500;
        ack.delivery.as_mut().expect("a rate").in_flight_at_send = 50_000;
        bbr.on_ack(&ack);
        if (ms - 1040) % 40 == 39 {
            bounds.push((bbr.model.inflight_longterm / PACKET).round());
        }
    }
    assert_eq!(bbr.phases.state, State::Up, "limited by the bound, it finds no plateau");
    let growth: Vec<f64> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(growth.windows(2).all(|pair| pair[1] > pair[0]), "{bounds:?}");
    assert!(growth[2] >= 3.0 && growth[2] <= 8.0, "{bounds:?}");
}

#[test]
fn a_round_with_loss_shrinks_the_short_term_bounds_to_what_was_delivered() {
    for (rate, bw) in [(1.0, 1.0e6), (0.5, 0.875e6)] {
        let mut bbr = in_state(State::Cruise);
        bbr.on_loss(&lost(1001, 961, 60_000, 0));
        bbr.model.reset_congestion();
        bbr.on_loss(&lost(1001, 961, 60_000, 0));
        for ms in (1002..1050).step_by(4) {
            bbr.on_ack(&ack(ms, rate, 50_000.0));
        }
        // Largest rate of the round with the loss, or seven tenths of 1.25 MB/s.
        assert!((bbr.model.bandwidth() - bw).abs() < 1.0, "{}", bbr.model.bandwidth());
        bbr.start_refill(Time::from_millis(1100));
        assert_eq!(bbr.model.bandwidth(), RATE * 1e6, "the next probe forgets it");
    }
}

#[test]
fn the_largest_rate_is_forgotten_after_two_cycles() {
    let mut bbr = in_state(State::Cruise);
    let mut after = |rate: f64| {
        bbr.model.take_rate(&RateSample { rate, delivered: 1.0, in_flight_at_send: 1.0, app_limited: false });
        bbr.model.advance_cycle();
        bbr.model.max_bandwidth()
    };
    assert_eq!([after(1e6), after(0.8e6), after(0.7e6)], [1.25e6, 0.8e6, 0.7e6]);
}

#[test]
fn a_cycle_goes_from_down_to_cruise_to_refill_to_up_and_down_again() {
    let mut bbr = in_state(State::Down);
    let mut states = vec![(State::Down, 1000)];
    for ms in (1005..8000).step_by(5) {
        let in_flight = if bbr.phases.state == State::Up { 65_000.0 } else { 50_000.0 };
        let mut ack = ack(ms, RATE, in_flight);
        ack.rtt = Some(Span::from_millis(if ms % 500 == 0 { 39 } else { 40 }));
        bbr.on_ack(&ack);
        if states.last().is_none_or(|(state, _)| *state != bbr.phases.state) {
            states.push((bbr.phases.state, ms));
        }
    }
    let names: Vec<State> = states.iter().map(|(state, _)| *state).collect();
    assert_eq!(names[..5], [State::Down, State::Cruise, State::Refill, State::Up, State::Down], "{states:?}");
    // 50 packets are 50 rounds of 40 ms or, of a round less, 1.96 s; then one round, then three without growth.
    let [began, refill, up, down] = [0, 2, 3, 4].map(|i| states[i].1);
    assert!((1900..=2100).contains(&(refill - began)), "{states:?}");
    assert!((40..=50).contains(&(up - refill)) && (120..=175).contains(&(down - up)), "{states:?}");
}

#[test]
fn five_seconds_without_a_smaller_round_trip_lead_to_half_a_bdp_for_200_ms() {
    let mut bbr = in_state(State::Cruise);
    let longer = |ms, in_flight| Ack { rtt: Some(Span::from_millis(44)), ..ack(ms, RATE, in_flight) };
    let enters = (1005..9000).step_by(5).find(|ms| {
        bbr.on_ack(&longer(*ms, 50_000.0));
        bbr.phases.state == State::ProbeRtt
    });
    let enters = enters.expect("a probe");
    assert!((5040..=6005).contains(&enters), "{enters}");
    assert_eq!(bbr.directive().cwnd, 25_000);
    let leaves = (enters + 5..enters + 500).step_by(5).find(|ms| {
        bbr.on_ack(&longer(*ms, 26_000.0));
        bbr.phases.state != State::ProbeRtt
    });
    assert_eq!((leaves, bbr.phases.state), (Some(enters + 205), State::Cruise));
}

#[test]
fn a_needless_loss_gives_bounds_and_state_back() {
    let mut bbr = in_state(State::Up);
    bbr.phases.is_probe_sample = true;
    bbr.on_loss(&lost(1010, 970, 20_000, 0));
    assert_eq!(bbr.phases.state, State::Down);
    let now = Time::from_millis(1020);
    bbr.on_spurious_loss(&SpuriousLoss { now, undo: true, ..SpuriousLoss::default() });
    assert_eq!(bbr.phases.state, State::Refill);
    assert!(bbr.model.inflight_longterm.is_infinite() && bbr.directive().cwnd == 90_000);
}

#[test]
fn a_timeout_leaves_a_packet_and_the_repair_gives_the_window_back() {
    let mut bbr = in_state(State::Cruise);
    bbr.on_timeout(&Timeout { now: Time::from_millis(1300), flightsize: 20_000, consecutive: 1 });
    assert_eq!(bbr.directive().cwnd, 1000);
    for i in 0..20 {
        bbr.on_ack(&ack(1341 + i, RATE, 10_000.0));
    }
    assert!(bbr.directive().cwnd >= 90_000, "{}", bbr.directive().cwnd);
}
