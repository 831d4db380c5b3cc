use super::*;
use crate::event::{Marks, Sent, SpuriousLoss};
use afteryou_base::param::Value;
use afteryou_base::units::Span;

const MSS: u64 = 1460;

fn newreno(overrides: &[(&'static str, Value)]) -> NewReno {
    NewReno::new(&Settings::new(PARAMS, overrides).unwrap(), MSS as u32)
}

/// Returns a controller in congestion avoidance with a window of `cwnd` bytes.
fn avoiding(cwnd: u64) -> NewReno {
    let mut controller = newreno(&[]);
    controller.window.cwnd = cwnd as f64;
    controller.window.ssthresh = cwnd as f64;
    controller
}

/// Returns an ack at `now_ms` for a packet sent 50 ms before.
fn ack(now_ms: u64, acked: u64) -> Ack {
    Ack {
        now: Time::from_millis(now_ms),
        newly_acked: acked,
        newly_sacked: 0,
        flightsize: 100 * MSS,
        in_flight: 100 * MSS,
        sent_at: Time::from_millis(now_ms.saturating_sub(50)),
        packet_number: 1,
        rtt: Some(Span::from_millis(50)),
        smoothed_rtt: Some(Span::from_millis(50)),
        one_way_delay: None,
        reverse_delay: None,
        delivery: None,
        round_start: false,
        ..Ack::default()
    }
}

fn loss(sent_ms: u64, now_ms: u64, flightsize: u64) -> Loss {
    Loss {
        now: Time::from_millis(now_ms),
        sent: Sent { now: Time::from_millis(sent_ms), bytes: MSS, packet_number: 1, ..Sent::default() },
        flightsize,
        ..Loss::default()
    }
}

fn timeout(now_ms: u64, flightsize: u64, consecutive: u32) -> Timeout {
    Timeout { now: Time::from_millis(now_ms), flightsize, consecutive }
}

fn idle(now_ms: u64, idle_ms: u64) -> Idle {
    Idle { now: Time::from_millis(now_ms), idle_for: Span::from_millis(idle_ms), rto: Span::from_millis(300) }
}

/// Returns the event that the last loss of a recovery has turned out to be none.
fn undo_at(now: Time) -> SpuriousLoss {
    SpuriousLoss { now, undo: true, ..SpuriousLoss::default() }
}

#[test]
fn the_initial_window_is_ten_packets_or_that_of_rfc_5681() {
    assert_eq!(newreno(&[]).directive().cwnd, 10 * MSS);
    assert_eq!(newreno(&[("initial_window", Value::Count(3))]).directive().cwnd, 3 * MSS);
    assert_eq!(newreno(&[("initial_window", Value::Count(0))]).directive().cwnd, 4380);
}

#[test]
fn congestion_avoidance_adds_146_bytes_per_packet_at_ten_packets() {
    let mut controller = avoiding(14_600);
    controller.on_ack(&ack(100, 1460));
    assert_eq!(controller.directive().cwnd, 14_746);
}

#[test]
fn one_ack_adds_at_most_one_packet_in_congestion_avoidance() {
    let mut controller = avoiding(10 * MSS);
    controller.on_ack(&ack(100, 1000 * MSS));
    assert_eq!(controller.directive().cwnd, 11 * MSS);
}

#[test]
fn slow_start_doubles_in_a_round_trip_however_the_acks_come() {
    for acks in [1, 2, 10] {
        let mut controller = newreno(&[]);
        (0..acks).for_each(|_| controller.on_ack(&ack(100, 10 * MSS / acks)));
        assert_eq!(controller.directive().cwnd, 20 * MSS);
        assert_eq!(controller.snapshot().phase, "slow start");
    }
}

#[test]
fn an_ack_that_crosses_the_threshold_goes_on_in_congestion_avoidance() {
    let mut controller = newreno(&[]);
    controller.window.ssthresh = (12 * MSS) as f64;
    controller.on_ack(&ack(100, 8 * MSS));
    assert_eq!(
        controller.directive().cwnd,
        12 * MSS + MSS / 2,
        "2 packets to the threshold, then 6 twelfths"
    );
    assert_eq!(controller.snapshot().phase, "congestion avoidance");
}

#[test]
fn bytes_reported_by_sack_count_as_acknowledged() {
    let mut controller = newreno(&[]);
    controller.on_ack(&Ack { newly_sacked: 2 * MSS, ..ack(100, MSS) });
    assert_eq!(controller.directive().cwnd, 13 * MSS);
}

#[test]
fn an_application_limited_window_does_not_grow() {
    for mut controller in [newreno(&[]), avoiding(10 * MSS)] {
        controller.on_ack(&Ack { app_limited: true, ..ack(100, 10 * MSS) });
        assert_eq!(controller.directive().cwnd, 10 * MSS);
    }
}

#[test]
fn a_loss_halves_what_is_in_flight_once_per_round_trip() {
    let mut controller = avoiding(100 * MSS);
    controller.on_loss(&loss(50, 100, 100 * MSS));
    assert_eq!(controller.directive().cwnd, 50 * MSS);
    assert_eq!(controller.snapshot().ssthresh, Some(50 * MSS));
    controller.on_loss(&loss(90, 120, 100 * MSS));
    assert_eq!(controller.directive().cwnd, 50 * MSS, "of the same flight");
    controller.on_loss(&loss(101, 151, 100 * MSS));
    assert_eq!(
        controller.directive().cwnd,
        25 * MSS,
        "lost bytes still in FlightSize do not soften the next reduction"
    );
    controller.on_loss(&loss(152, 202, 10 * MSS));
    assert_eq!(controller.directive().cwnd, 5 * MSS, "a window that was not in use is not kept");
}

#[test]
fn a_loss_leaves_two_packets_and_never_enlarges_a_window() {
    let mut controller = avoiding(3 * MSS);
    controller.on_loss(&loss(50, 100, 3 * MSS));
    assert_eq!(controller.directive().cwnd, 2 * MSS);
    controller.on_timeout(&timeout(500, 2 * MSS, 1));
    controller.on_loss(&loss(501, 600, MSS));
    assert_eq!(controller.directive().cwnd, MSS);
    assert_eq!(controller.snapshot().ssthresh, Some(2 * MSS));
}

#[test]
fn the_window_stands_still_until_a_packet_sent_after_the_loss_is_acknowledged() {
    let mut controller = avoiding(100 * MSS);
    controller.on_loss(&loss(50, 100, 100 * MSS));
    controller.on_ack(&ack(150, 10 * MSS));
    assert_eq!(controller.directive().cwnd, 50 * MSS, "sent at 100 ms");
    controller.on_ack(&ack(151, 10 * MSS));
    assert_eq!(controller.directive().cwnd, 50 * MSS + MSS / 5);
}

#[test]
fn a_mark_counts_as_a_loss() {
    let mut controller = avoiding(100 * MSS);
    let marked = Ack { marks: Marks::Count(1), ..ack(100, MSS) };
    controller.on_ack(&marked);
    assert_eq!(controller.directive().cwnd, 50 * MSS);
    controller.on_ack(&Ack { marks: Marks::Count(3), ..ack(110, MSS) });
    controller.on_loss(&loss(60, 120, 100 * MSS));
    assert_eq!(controller.directive().cwnd, 50 * MSS, "once per round trip, whichever comes first");
}

#[test]
fn a_timeout_leaves_one_packet_and_an_outage_keeps_the_threshold() {
    let mut controller = avoiding(80 * MSS);
    for consecutive in 1..=4 {
        let flightsize = if consecutive == 1 { 80 * MSS } else { MSS };
        controller.on_timeout(&timeout(1000 << consecutive, flightsize, consecutive));
        assert_eq!(controller.directive().cwnd, MSS);
    }
    assert!(controller.directive().is_growing());
    assert_eq!(controller.snapshot().ssthresh, Some(40 * MSS));
    controller.on_ack(&ack(17_000, MSS));
    assert_eq!(controller.directive().cwnd, 2 * MSS, "slow start again");
}

#[test]
fn a_timeout_in_recovery_does_not_halve_the_threshold_again() {
    let mut controller = avoiding(80 * MSS);
    controller.on_loss(&loss(50, 100, 80 * MSS));
    controller.on_timeout(&timeout(400, 40 * MSS, 1));
    assert_eq!(controller.directive().cwnd, MSS);
    assert_eq!(controller.snapshot().ssthresh, Some(40 * MSS));

    let mut controller = avoiding(80 * MSS);
    controller.on_loss(&loss(50, 100, 80 * MSS));
    controller.on_ack(&ack(200, 10 * MSS));
    controller.on_timeout(&timeout(600, 40 * MSS, 1));
    assert_eq!(controller.snapshot().ssthresh, Some(20 * MSS), "recovery was over");

    let mut controller = avoiding(80 * MSS);
    controller.on_loss(&loss(50, 100, 80 * MSS));
    controller.on_idle(&idle(200, 20));
    controller.on_timeout(&timeout(600, 40 * MSS, 1));
    assert_eq!(controller.snapshot().ssthresh, Some(20 * MSS), "with nothing in flight it was over too");
}

#[test]
fn idle_longer_than_the_timeout_restarts_from_the_initial_window() {
    for (window, idle_ms, after) in [(100, 300, 100), (100, 301, 10), (4, 301, 4)] {
        let mut controller = avoiding(window * MSS);
        controller.on_idle(&idle(1000, idle_ms));
        assert_eq!(controller.directive().cwnd, after * MSS);
        assert_eq!(controller.directive().is_growing(), after < window);
    }
}

#[test]
fn a_spurious_loss_gives_the_window_back() {
    let mut controller = avoiding(100 * MSS);
    controller.window.ssthresh = (70 * MSS) as f64;
    controller.on_loss(&loss(50, 100, 100 * MSS));
    controller.on_spurious_loss(&undo_at(Time::from_millis(110)));
    assert_eq!((controller.directive().cwnd, controller.snapshot().ssthresh), (100 * MSS, Some(70 * MSS)));
    controller.on_spurious_loss(&undo_at(Time::from_millis(111)));
    assert_eq!(controller.directive().cwnd, 100 * MSS);
    controller.on_loss(&loss(60, 120, 100 * MSS));
    assert_eq!(controller.directive().cwnd, 50 * MSS, "another loss of that flight still counts");
}

#[test]
fn a_reduction_that_a_mark_caused_or_confirmed_is_not_taken_back() {
    let marked = |sent_ms, now_ms| Ack {
        sent_at: Time::from_millis(sent_ms),
        marks: Marks::Count(1),
        ..ack(now_ms, MSS)
    };
    let mut controller = avoiding(100 * MSS);
    controller.on_ack(&marked(50, 100));
    assert_eq!(controller.directive().cwnd, 50 * MSS);
    controller.on_spurious_loss(&undo_at(Time::from_millis(110)));
    assert_eq!(controller.directive().cwnd, 50 * MSS, "a mark is no loss");

    let mut controller = avoiding(100 * MSS);
    controller.on_loss(&loss(50, 100, 100 * MSS));
    controller.on_ack(&marked(60, 105));
    controller.on_spurious_loss(&undo_at(Time::from_millis(110)));
    assert_eq!(controller.directive().cwnd, 50 * MSS, "the mark of the same flight is congestion");
}

#[test]
fn a_reduction_is_taken_back_for_two_round_trips_only() {
    for (rounds, packets) in [(2, 100), (3, 50)] {
        let mut controller = avoiding(100 * MSS);
        controller.on_loss(&loss(50, 100, 100 * MSS));
        for _ in 0..rounds {
            // Of a packet sent before the reduction, so that nothing grows.
            let sent_at = Time::from_millis(60);
            controller.on_ack(&Ack { round_start: true, sent_at, ..ack(110, MSS) });
        }
        controller.on_spurious_loss(&undo_at(Time::from_millis(400)));
        assert_eq!(controller.directive().cwnd, packets * MSS, "{rounds} rounds later");
    }
}

#[test]
fn a_needless_timeout_gives_back_the_window_before_the_first_expiry() {
    for expiries in [1, 3] {
        let mut controller = avoiding(100 * MSS);
        controller.on_loss(&loss(50, 100, 100 * MSS));
        (1..=expiries).for_each(|consecutive| controller.on_timeout(&timeout(400, 50 * MSS, consecutive)));
        assert_eq!(controller.directive().cwnd, MSS);
        controller.on_spurious_loss(&SpuriousLoss {
            since: Time::from_millis(400),
            ..undo_at(Time::from_millis(410))
        });
        assert_eq!(controller.directive().cwnd, 50 * MSS, "the loss before it stays answered");
        controller.on_spurious_loss(&undo_at(Time::from_millis(420)));
        assert_eq!(controller.directive().cwnd, 100 * MSS, "until it was none, too");
    }
}

#[test]
fn nothing_is_given_back_after_idle() {
    let mut controller = avoiding(100 * MSS);
    controller.on_loss(&loss(50, 100, 100 * MSS));
    controller.on_idle(&idle(1000, 800));
    controller.on_spurious_loss(&undo_at(Time::from_millis(1010)));
    assert_eq!(controller.directive().cwnd, 10 * MSS);
}

#[test]
fn a_dead_path_leaves_the_floor() {
    let mut controller = avoiding(100 * MSS);
    controller.on_loss(&Loss { persistent: true, ..loss(50, 100, 100 * MSS) });
    assert_eq!(controller.directive().cwnd, 2 * MSS);
    assert_eq!(controller.snapshot().ssthresh, Some(50 * MSS));
}

#[test]
fn a_larger_packet_never_leaves_less_than_one_in_the_window() {
    let mut controller = avoiding(100 * MSS);
    controller.on_timeout(&timeout(400, 50 * MSS, 1));
    controller.on_mtu(9000);
    assert_eq!(controller.directive().cwnd, 9000);
}

/// Acknowledges a round of eight packets that measure `rtt_ms`; returns window in packets and phase after it.
fn round(controller: &mut NewReno, now_ms: u64, rtt_ms: u64) -> (u64, &'static str) {
    for sample in 0..8 {
        let rtt = Some(Span::from_millis(rtt_ms));
        controller.on_ack(&Ack { rtt, round_start: sample == 0, ..ack(now_ms, MSS) });
    }
    (controller.directive().cwnd / MSS, controller.snapshot().phase)
}

#[test]
fn with_hystart_a_rising_delay_slows_growth_and_then_ends_slow_start() {
    let mut controller = newreno(&[("hystart", Value::Flag(true))]);
    assert_eq!(round(&mut controller, 100, 40), (18, "slow start"));
    assert_eq!(round(&mut controller, 100, 45), (26, "conservative slow start"));
    for round_number in 1..=4 {
        let expected = (26 + 2 * round_number, "conservative slow start");
        assert_eq!(round(&mut controller, 100, 46), expected);
    }
    assert_eq!(round(&mut controller, 100, 46), (34, "congestion avoidance"));
    assert_eq!(controller.snapshot().ssthresh, Some(34 * MSS));
}

#[test]
fn hystart_measures_anew_after_idle_and_not_at_all_after_a_loss() {
    let mut controller = newreno(&[("hystart", Value::Flag(true))]);
    round(&mut controller, 100, 40);
    round(&mut controller, 100, 45);
    controller.on_idle(&idle(1000, 400));
    assert_eq!(controller.snapshot().phase, "slow start");
    assert_eq!(round(&mut controller, 1100, 80), (18, "slow start"), "nothing to compare with");

    controller.on_loss(&loss(1150, 1200, 100 * MSS));
    controller.window.ssthresh = (100 * MSS) as f64;
    round(&mut controller, 1300, 40);
    assert_eq!(round(&mut controller, 1300, 90).1, "slow start");
}
