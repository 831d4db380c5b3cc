use super::*;
use crate::event::DeliveryRate;

const MSS: u32 = 1000;
const PACKET: f64 = MSS as f64;

fn with_seed(seed: u64) -> Bbr {
    Bbr::new(&Settings::defaults(PARAMS), &Setup { seed, ..Setup::of(MSS) })
}

/// Returns an ack of one packet that left `rtt_ms` ago, at a delivery rate in MB/s.
fn ack(now_ms: u64, rtt_ms: u64, rate: f64, in_flight: f64) -> Ack {
    let rtt = Span::from_millis(rtt_ms);
    Ack {
        now: Time::from_millis(now_ms),
        newly_acked: 1000,
        flightsize: in_flight as u64,
        in_flight: in_flight as u64,
        sent_at: Time::from_millis(now_ms - rtt_ms),
        rtt: Some(rtt),
        smoothed_rtt: Some(rtt),
        delivery: Some(DeliveryRate {
            delivered: (rate * 1e3) as u64 * rtt_ms,
            interval: rtt,
            in_flight_at_send: in_flight as u64,
            app_limited: false,
        }),
        ..Ack::default()
    }
}

fn lost(now_ms: u64, sent_ms: u64) -> Loss {
    let sent = Sent { now: Time::from_millis(sent_ms), bytes: 1000, ..Sent::default() };
    Loss { now: Time::from_millis(now_ms), sent, flightsize: 60_000, ..Loss::default() }
}

/// Asserts that packets leave at this rate, bytes per second, to the rounding.
#[track_caller]
fn assert_paced(bbr: &Bbr, rate: u64) {
    let Pacing::Rate(paced) = bbr.directive().pacing else { panic!("{bbr:?}") };
    assert!(paced.abs_diff(rate) <= 1, "{paced}, not {rate}");
}

/// Returns a controller that probes for bandwidth on a path of 10 Mbit/s and 40 ms, which holds 50 packets, at 1000 ms.
fn cruising() -> Bbr {
    let mut bbr = with_seed(1);
    for ms in (40..1000).step_by(5) {
        bbr.on_ack(&ack(ms, 40, 1.25, 60_000.0));
    }
    bbr.on_ack(&ack(1000, 40, 1.25, 50_000.0));
    assert!(matches!(bbr.state, State::ProbeBandwidth { .. }), "{bbr:?}");
    bbr
}

fn in_phase(phase: u8, began_ms: u64) -> Bbr {
    Bbr { state: State::ProbeBandwidth { phase, began: Time::from_millis(began_ms) }, ..cruising() }
}

fn phase(bbr: &Bbr) -> u8 {
    match bbr.state {
        State::ProbeBandwidth { phase, .. } => phase,
        _ => panic!("{bbr:?}"),
    }
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    // The last of the rounds grows by a quarter, by less, and not at all.
    for (rates, rounds) in [([1.0, 2.0, 4.0, 8.0], 4), ([1.0, 2.0, 2.5, 3.1], 3), ([1.0, 1.2, 1.25, 1.5], 3)]
    {
        let mut bbr = with_seed(1);
        let left_after = (1..20).find(|round| {
            let rate = rates[(*round as usize - 1).min(3)];
            bbr.on_ack(&ack(50 * round, 50, rate, 900_000.0));
            bbr.state == State::Drain
        });
        assert_eq!(left_after, Some(rounds + 3), "{rates:?}");
    }
}

#[test]
fn packets_leave_at_the_states_gain_less_one_percent() {
    let mut bbr = with_seed(1);
    assert_eq!(bbr.directive().pacing, Pacing::GrowingWindow, "nothing is known");
    bbr.on_ack(&ack(50, 50, 0.02, 10_000.0));
    // The initial window in a round trip, until more is measured: 0.99 · 2.885 · 10 packets in 50 ms.
    assert_paced(&bbr, 571_230);
    bbr.on_ack(&ack(100, 50, 1.0, 20_000.0));
    assert_paced(&bbr, 2_856_150);
    bbr.on_ack(&ack(150, 50, 0.5, 20_000.0));
    assert_paced(&bbr, 2_856_150); // startup does not slow down
    for (phase, rate) in [(0, 1_546_875), (1, 928_125), (2, 1_237_500), (7, 1_237_500)] {
        let mut bbr = in_phase(phase, 999);
        bbr.on_ack(&ack(1001, 40, 1.25, 60_000.0));
        assert_paced(&bbr, rate);
    }
}

#[test]
fn targets_are_even_packets_with_three_quanta_on_top() {
    // 50 packets of BDP; a quantum of two packets; two more in the phase of 1.25.
    let bbr = in_phase(2, 1000);
    assert_eq!(bbr.quantum(), 2.0 * PACKET);
    assert_eq!([1.0, 2.0].map(|gain| bbr.inflight(gain) / PACKET), [56.0, 106.0]);
    assert_eq!(in_phase(0, 1000).inflight(1.25) / PACKET, 72.0, "62.5 + 6, even, + 2");
}

#[test]
fn a_quantum_is_what_a_millisecond_carries() {
    // Linux: rate / 1024, at least one packet below 1.2 Mbit/s, else two; less than 64 kB.
    for (mbit_s, packets) in [(1.0, 1.0), (1.3, 2.0), (10.0, 2.0), (100.0, 12.0), (1000.0, 65.0)] {
        let bbr = Bbr { pacing_rate: mbit_s * 125_000.0, ..with_seed(1) };
        assert_eq!(bbr.quantum() / PACKET, packets, "{mbit_s} Mbit/s");
    }
}

#[test]
fn the_window_grows_by_what_is_delivered_up_to_its_target() {
    let mut bbr = in_phase(2, 1000);
    bbr.cwnd = 60.0 * PACKET;
    bbr.on_ack(&ack(1001, 40, 1.25, 60_000.0));
    assert_eq!(bbr.directive().cwnd, 61_000);
    bbr.cwnd = 200.0 * PACKET;
    bbr.on_ack(&ack(1002, 40, 1.25, 60_000.0));
    let target = bbr.target();
    assert!(
        bbr.directive().cwnd as f64 == target && (106.0..=112.0).contains(&(target / PACKET)),
        "{target}"
    );
}

#[test]
fn each_phase_lasts_a_round_trip_and_the_first_two_by_what_is_in_flight() {
    let after = |from: u8, in_flight: f64, ms: u64| {
        let mut bbr = in_phase(from, 1000);
        bbr.on_ack(&ack(1000 + ms, 40, 1.25, in_flight));
        phase(&bbr)
    };
    // Cruising: time alone.
    assert_eq!([after(3, 50_000.0, 40), after(3, 50_000.0, 41), after(7, 50_000.0, 41)], [3, 4, 0]);
    // Up: 72 packets, of which a quantum of 2 is about to leave.
    assert_eq!([after(0, 69_000.0, 100), after(0, 70_000.0, 40), after(0, 70_000.0, 41)], [0, 0, 1]);
    // Down: 56 packets end it early.
    assert_eq!([after(1, 57_000.0, 20), after(1, 56_000.0, 20), after(1, 57_000.0, 41)], [1, 2, 2]);
}

#[test]
fn a_loss_ends_the_phase_that_probes_upwards() {
    let mut bbr = in_phase(0, 1000);
    bbr.on_loss(&lost(1030, 990));
    bbr.on_ack(&ack(1041, 40, 1.25, 60_000.0));
    assert_eq!(phase(&bbr), DRAINING);
}

#[test]
fn bandwidth_is_probed_from_any_phase_but_the_one_that_drains() {
    let first = |seed| {
        let mut bbr = with_seed(seed);
        bbr.probe_bandwidth(Time::ZERO);
        phase(&bbr)
    };
    let mut counts = [0; CYCLE.len()];
    (0..7000).for_each(|seed| counts[usize::from(first(seed))] += 1);
    assert_eq!(counts[usize::from(DRAINING)], 0);
    assert!(counts.iter().enumerate().all(|(i, n)| i == 1 || (850..1150).contains(n)), "{counts:?}");
}

#[test]
fn a_rate_below_the_bandwidth_counts_only_if_the_application_was_not_the_limit() {
    let limited = |rate: f64, is_limited: bool| {
        let mut bbr = cruising();
        for ms in (1001..2000).step_by(5) {
            let mut ack = ack(ms, 40, rate, 50_000.0);
            ack.delivery.as_mut().expect("a rate").app_limited = is_limited;
            bbr.on_ack(&ack);
        }
        bbr.bandwidth.get()
    };
    assert_eq!([limited(0.5, true), limited(2.0, true), limited(0.5, false)], [1.25e6, 2e6, 0.5e6]);
}

#[test]
fn ten_seconds_without_a_smaller_round_trip_lead_to_four_packets_for_200_ms_and_a_round() {
    let mut bbr = cruising();
    let before = bbr.cwnd;
    let mut enters = 0;
    for ms in (1001..12_000).step_by(7) {
        bbr.on_ack(&ack(ms, 45, 1.25, 60_000.0));
        if matches!(bbr.state, State::ProbeRtt { .. }) {
            enters = ms;
            break;
        }
    }
    assert!((11_001..11_008).contains(&enters), "at {enters} ms");
    assert_eq!(bbr.directive().cwnd, 4000);
    // The flight drains for 60 ms; only then time counts. Rates are low and do not matter.
    let mut ends = 0;
    for ms in (enters + 5..enters + 1000).step_by(5) {
        let in_flight = if ms < enters + 60 { 20_000.0 } else { 5000.0 };
        bbr.on_ack(&ack(ms, 42, 0.1, in_flight));
        if matches!(bbr.state, State::ProbeBandwidth { .. }) {
            ends = ms;
            break;
        }
    }
    assert_eq!(ends - enters, 260);
    assert_eq!(bbr.bandwidth.get(), 1.25e6);
    assert!(bbr.cwnd >= before.min(bbr.target()), "{} of {before}", bbr.cwnd);
    assert_eq!(bbr.min_rtt.map(|min| min.rtt), Some(Span::from_millis(42)));
}

#[test]
fn a_restart_after_idle_does_not_begin_a_probe_of_the_round_trip() {
    let mut bbr = cruising();
    let now = Time::from_millis(30_000);
    bbr.on_idle(&Idle { now, idle_for: Span::from_secs(29), rto: Span::from_secs(1) });
    assert_paced(&bbr, 1_237_500); // at the bandwidth, whatever the phase
    bbr.on_ack(&ack(30_045, 45, 1.25, 50_000.0));
    assert!(matches!(bbr.state, State::ProbeBandwidth { .. }));
    assert_eq!(bbr.min_rtt.map(|min| min.rtt), Some(Span::from_millis(45)), "the old one has expired");
}

#[test]
fn a_recovery_releases_what_is_delivered_then_twice_that_and_gives_the_window_back() {
    let mut bbr = in_phase(2, 1000);
    bbr.cwnd = 100.0 * PACKET;
    bbr.on_ack(&ack(1001, 40, 1.25, 60_000.0));
    let before = bbr.cwnd;
    bbr.on_loss(&lost(1001, 961));
    // 60 packets before the ack, one delivered, one lost; the one delivered may be replaced.
    assert_eq!(bbr.directive().cwnd, 59_000);
    bbr.on_loss(&lost(1001, 962));
    assert_eq!(bbr.directive().cwnd, 58_000, "each loss takes its bytes");
    bbr.on_ack(&ack(1011, 40, 1.25, 58_000.0));
    assert_eq!(bbr.directive().cwnd, 58_000, "conserving");
    // A second loss of before, found 30 ms later: a round trip from there on. The first round is over at 1041 ms.
    bbr.on_loss(&lost(1031, 991));
    bbr.on_ack(&ack(1041, 40, 1.25, 57_000.0));
    bbr.on_ack(&ack(1051, 40, 1.25, 57_000.0));
    assert_eq!(bbr.directive().cwnd, 59_000, "57 and one for each of two acks");
    bbr.on_ack(&ack(1071, 40, 1.25, 57_000.0));
    assert_eq!(bbr.directive().cwnd as f64, (before + PACKET).min(bbr.target()));
    assert_eq!(bbr.bandwidth.get(), 1.25e6);
}

#[test]
fn a_timeout_leaves_a_packet_until_everything_is_repaired() {
    let mut bbr = in_phase(2, 1000);
    let before = bbr.cwnd;
    let timeout = |ms| Timeout { now: Time::from_millis(ms), flightsize: 60_000, consecutive: 1 };
    bbr.on_timeout(&timeout(1300));
    assert_eq!(bbr.directive().cwnd, 1000);
    let windows: Vec<u64> = (0..60)
        .map(|i| {
            bbr.on_ack(&ack(1341 + i, 40, 1.25, 1000.0));
            bbr.directive().cwnd
        })
        .collect();
    assert_eq!(windows[..3], [4000, 5000, 6000]);
    assert!(
        windows[58] as f64 <= 0.7 * before && windows[59] as f64 >= before.min(bbr.target()),
        "{windows:?}"
    );
}

#[test]
fn a_needless_recovery_gives_the_window_back_at_once() {
    let mut bbr = cruising();
    let before = bbr.directive().cwnd;
    bbr.on_loss(&lost(1010, 970));
    assert!(bbr.directive().cwnd < before);
    bbr.on_spurious_loss(&SpuriousLoss { undo: true, ..SpuriousLoss::default() });
    assert_eq!(bbr.directive().cwnd, before);
}

#[test]
fn a_later_loss_that_was_none_leaves_an_earlier_recovery_alone() {
    let mut bbr = cruising();
    bbr.on_loss(&lost(1010, 970));
    let cut = bbr.directive().cwnd;
    let since = Time::from_millis(1011);
    bbr.on_spurious_loss(&SpuriousLoss { undo: true, since, ..SpuriousLoss::default() });
    assert_eq!(bbr.directive().cwnd, cut);
}
