use super::*;
use crate::event::Sent;
use afteryou_base::param::Value;

const MSS: u32 = 1000;

fn copa() -> Copa {
    Copa::new(&Settings::defaults(PARAMS), &Setup::of(MSS))
}

fn packets(copa: &Copa) -> f64 {
    copa.cwnd / f64::from(MSS)
}

/// Returns an ack of two packets, with a smoothed round-trip time of 100 ms.
fn ack(now_ms: u64, rtt_ms: u64, round_start: bool) -> Ack {
    Ack {
        now: Time::from_millis(now_ms),
        newly_acked: 2 * u64::from(MSS),
        in_flight: 1 << 30,
        rtt: Some(Span::from_millis(rtt_ms)),
        smoothed_rtt: Some(Span::from_millis(100)),
        round_start,
        ..Ack::for_tests()
    }
}

/// Returns a controller that steers, with a window of this number of packets, a base of 90 ms and 100 ms now, at 1000 ms.
fn steering(packets: f64) -> Copa {
    let mut copa = copa();
    copa.on_ack(&ack(500, 90, true));
    copa.on_ack(&ack(1000, 100, false));
    copa.slow_start = false;
    copa.cwnd = packets * f64::from(MSS);
    copa.velocity = Velocity::from(copa.cwnd);
    copa
}

#[test]
fn the_window_rests_where_two_of_its_packets_are_in_the_queue() {
    // λ = λt: cwnd = RTTstanding / (δ · d) = 100 / (0.5 · 10) = 20 packets, of which a tenth waits.
    for (packets, may_grow) in [(19.9, true), (20.1, false)] {
        assert_eq!(steering(packets).may_grow(), may_grow, "{packets} packets");
    }
    let (rate, target) = {
        let copa = steering(20.0);
        copa.rates(copa.delays().unwrap())
    };
    assert!((rate - 200e3).abs() < 1e-6 && (target.unwrap() - 200e3).abs() < 1e-6, "{rate}, {target:?}");
}

#[test]
fn a_round_trip_moves_the_window_by_two_packets_either_way() {
    for (start, expected) in [(10.0, 12.0), (40.0, 38.0)] {
        let mut copa = steering(start);
        let acks = (start / 2.0) as u64;
        (0..acks).for_each(|i| copa.on_ack(&ack(1001 + i, 100, false)));
        assert!((packets(&copa) - expected).abs() < 0.2, "{start} to {}", packets(&copa));
    }
}

#[test]
fn packets_leave_at_twice_the_window_in_a_standing_round_trip() {
    assert_eq!(copa().directive().pacing, Pacing::GrowingWindow, "nothing is known");
    assert_eq!(steering(20.0).directive().pacing, Pacing::Rate(400_000));
}

/// Windows after each of 45 rounds, packets, where a velocity ends with the direction.
#[rustfmt::skip]
const AT_ONCE: [f64; 45] = [
    30.0, 50.0, 70.0, 90.0, 99.7998, 99.3983, 98.9952, 98.5903, 97.7759,
    96.127, 92.7445, 85.5959, 69.2352, 45.614, 18.2974, 8.331, 8.4595, 8.5826,
    8.7033, 8.8291, 12.6258, 15.4997, 17.9115, 21.9653, 28.4014, 38.1607, 52.5072,
    69.9128, 79.146, 78.6391, 78.129, 77.6155, 76.5786, 74.4629, 70.0476, 70.6166,
    71.181, 71.741, 72.2966, 73.3956, 74.2103, 73.6695, 73.1247, 72.5759, 71.4659,
];

/// The same where it ends with the round.
#[rustfmt::skip]
const BY_ROUND: [f64; 45] = [
    30.0, 50.0, 70.0, 90.0, 99.7998, 99.3983, 98.9952, 98.5903, 97.7759,
    96.127, 92.7445, 85.5959, 69.2352, 45.614, 18.2974, 5.0412, 9.0968, 8.3005,
    8.4304, 8.5546, 12.4382, 15.3479, 19.942, 26.88, 37.0537, 51.7174, 69.0927,
    87.0042, 87.2106, 64.5669, 63.9447, 63.3164, 62.6818, 61.3936, 58.7357, 63.9736,
    64.5962, 65.2128, 65.8236, 67.029, 67.0332, 62.0958, 61.4486, 60.7945, 60.1333,
];

/// The numbers are from a calculation of thirty lines in another language. It keeps all round-trip times and searches their minima anew at
/// each ack, and finds the velocity in the list of all directions.
#[test]
fn a_queue_in_steps_gives_the_windows_of_an_independent_calculation() {
    let queue_ms = |ms: u64| match ms {
        0..400 => 0,
        400..1000 => 5,
        1000..2000 => 30,
        2000..2800 => 2,
        2800..3500 => 10,
        3500..4000 => 0,
        _ => 40,
    };
    for (reversal, windows) in [("at-once", AT_ONCE), ("round", BY_ROUND)] {
        let overrides = [("reversal", Value::Choice(reversal))];
        let mut copa = Copa::new(&Settings::new(PARAMS, &overrides).unwrap(), &Setup::of(MSS));
        for (round, expected) in (0..).zip(windows) {
            for i in 0..10 {
                let now_ms = 100 * round + 10 * i;
                copa.on_ack(&ack(now_ms, 100 + queue_ms(now_ms), i == 0));
            }
            let window = packets(&copa);
            assert!(
                (window - expected).abs() < 1e-3,
                "{reversal}, round {round}: {window} packets, not {expected}"
            );
        }
    }
}

#[test]
fn a_single_late_ack_is_no_queue_and_a_late_half_round_trip_is() {
    let mut copa = steering(20.0);
    copa.on_ack(&ack(1010, 180, false));
    assert_eq!(copa.delays().unwrap().queuing(), Span::from_millis(10));
    (0..6).for_each(|i| copa.on_ack(&ack(1020 + 10 * i, 180, false)));
    assert_eq!(copa.delays().unwrap().queuing(), Span::from_millis(90));
}

#[test]
fn a_queue_that_stands_for_ten_seconds_is_taken_for_the_path() {
    let mut copa = steering(20.0);
    let queue_ms = |copa: &mut Copa, from_s: u64, to_s: u64| {
        (100 * from_s..100 * to_s).for_each(|i| copa.on_ack(&ack(10 * i, 150, i % 10 == 0)));
        copa.delays().unwrap().queuing().as_millis_f64()
    };
    assert_eq!(queue_ms(&mut copa, 2, 10), 60.0);
    assert_eq!(queue_ms(&mut copa, 10, 12), 0.0);
}

#[test]
fn losses_and_a_first_timeout_leave_the_window_and_a_second_one_begins_slow_start_at_the_floor() {
    let mut copa = steering(20.0);
    let now = Time::from_millis(1100);
    let sent = Sent { now: Time::from_millis(1000), bytes: MSS.into(), ..Sent::default() };
    copa.on_loss(&Loss { now, sent, flightsize: 20_000, ..Loss::default() });
    copa.on_timeout(&Timeout { now, flightsize: 20_000, consecutive: 1 });
    assert_eq!(packets(&copa), 20.0);
    copa.on_timeout(&Timeout { now, flightsize: 20_000, consecutive: 2 });
    assert_eq!((packets(&copa), copa.slow_start), (2.0, true));
    let spurious = SpuriousLoss { undo: true, since: Time::from_millis(900), ..SpuriousLoss::default() };
    copa.on_spurious_loss(&spurious);
    assert_eq!((packets(&copa), copa.slow_start), (20.0, false), "nothing was lost");
}

#[test]
fn a_window_that_is_not_used_shrinks_but_does_not_grow() {
    let mut copa = steering(10.0);
    copa.on_ack(&Ack { app_limited: true, ..ack(1001, 100, false) });
    assert_eq!(packets(&copa), 10.0);
    // The peer's window leaves five packets in flight for two rounds.
    let held_back = |now_ms, round_start| Ack { in_flight: 5000, ..ack(now_ms, 100, round_start) };
    copa.on_ack(&held_back(1100, true));
    copa.on_ack(&held_back(1200, true));
    let before = packets(&copa);
    copa.on_ack(&held_back(1210, false));
    assert_eq!(packets(&copa), before);
    let mut copa = steering(40.0);
    copa.on_ack(&Ack { app_limited: true, ..ack(1001, 100, false) });
    assert!(packets(&copa) < 40.0);
}

#[test]
fn the_window_never_shrinks_below_two_packets() {
    let mut copa = steering(3.0);
    (0..400).for_each(|i| copa.on_ack(&ack(1100 + 10 * i, 900, i % 2 == 0)));
    assert_eq!(packets(&copa), 2.0);
}
