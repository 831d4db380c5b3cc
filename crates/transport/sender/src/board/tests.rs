use super::*;
use proptest::prelude::*;

const RATES: Needs = Needs { delivery_rates: true, per_packet: false };

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Returns a scoreboard with packets 0 … n − 1 in flight, 100 B each, sent 1 ms apart.
fn sent(n: u64) -> Board {
    let mut board = Board::new(Needs::ALL);
    for i in 0..n {
        board.send_new(at(i), 100);
    }
    board
}

fn ack(board: &mut Board, ms: u64, cumulative: u64, sacks: &[(u64, u64)]) -> AckProgress {
    board.acknowledge(cumulative, sacks, Timing { now: at(ms), ..Timing::default() })
}

/// Returns the packets that RACK without a reordering window takes for lost.
fn lost(board: &mut Board, ms: u64) -> Vec<u64> {
    let mut lost = Vec::new();
    board.detect_by_time(at(ms), Span::ZERO, &mut lost);
    lost.into_iter().map(|flight| flight.seq).collect()
}

#[test]
fn bytes_are_booked_exactly_through_loss_sack_and_ack() {
    let mut board = sent(12);
    assert_eq!((board.in_flight(), board.outstanding()), (1200, 1200));
    let progress = ack(&mut board, 50, 0, &[(1, 4)]);
    assert_eq!((progress.newly_acked, progress.newly_sacked, board.sacked_bytes()), (0, 300, 300));
    assert_eq!(lost(&mut board, 50), [0]);
    assert_eq!((board.in_flight(), board.outstanding(), board.next_lost()), (800, 1200, Some((0, 100))));
    board.send_again(at(50), 0);
    assert_eq!((board.in_flight(), board.has_lost()), (900, false));
    let progress = ack(&mut board, 90, 12, &[]);
    assert_eq!((progress.newly_acked, progress.newly_sacked, progress.packets), (900, 0, 9));
    assert_eq!((board.in_flight(), board.outstanding(), board.delivered()), (0, 0, 1200));
    assert!(board.is_empty() && !board.anything_in_flight());
}

#[test]
fn a_lost_retransmission_is_found_like_any_other_loss() {
    let mut board = sent(4);
    ack(&mut board, 50, 0, &[(1, 4)]);
    assert_eq!(lost(&mut board, 50), [0]);
    board.send_again(at(50), 0);
    board.send_new(at(60), 100);
    assert_eq!(lost(&mut board, 60), [0u64; 0]);
    ack(&mut board, 110, 0, &[(1, 5)]);
    assert_eq!(lost(&mut board, 110), [0]);
}

#[test]
fn packets_without_payload_are_in_flight_until_they_arrive() {
    let mut board = Board::new(Needs::NONE);
    board.send_new(at(0), 0);
    assert_eq!((board.in_flight(), board.anything_in_flight()), (0, true));
    board.lose_everything();
    assert!(!board.anything_in_flight());
    board.send_again(at(10), 0);
    assert!(board.anything_in_flight());
    ack(&mut board, 20, 1, &[]);
    assert!(!board.anything_in_flight());
}

#[test]
fn a_late_packet_is_named_and_has_its_own_number_and_time() {
    let mut board = sent(12);
    ack(&mut board, 50, 0, &[(2, 5)]);
    assert_eq!(lost(&mut board, 50), [0, 1]);
    let progress = ack(&mut board, 55, 0, &[(1, 5)]);
    assert_eq!((progress.spurious, board.late()), (1, &[1][..]));
    assert_eq!((progress.newest, progress.rtt), ((1, at(1)), Some(Span::from_millis(54))));
    assert_eq!(board.delivered_now()[0].flight.number, 1);
}

#[test]
fn what_is_set_aside_is_neither_in_flight_nor_lost_and_its_arrival_proves_no_loss_wrong() {
    let mut board = sent(4);
    board.set_aside(2);
    assert_eq!((board.in_flight(), board.has_lost()), (300, false));
    let progress = ack(&mut board, 50, 3, &[]);
    assert_eq!((progress.newly_acked, progress.spurious, board.in_flight()), (300, 0, 100));
    let mut board = sent(4);
    board.set_aside(2);
    let flight = board.lose(2, false).unwrap();
    assert_eq!((flight.number, flight.sent_at, board.next_lost()), (2, at(2), Some((2, 100))));
    assert_eq!(ack(&mut board, 50, 3, &[]).spurious, 0, "it was not known to be missing");
}

#[test]
fn a_probe_of_what_was_never_lost_makes_no_loss_spurious() {
    let timing = Timing { now: at(55), undo_within: Some(Span::from_millis(20)), ..Timing::default() };
    let mut board = sent(3);
    board.send_again(at(50), 2);
    assert_eq!(board.acknowledge(3, &[], timing).spurious, 0, "the original was only late");
    // Nor does a probe of a retransmission: it may be the retransmission that arrived.
    let mut board = sent(4);
    ack(&mut board, 40, 0, &[(1, 4)]);
    assert_eq!(lost(&mut board, 40), [0]);
    board.send_again(at(41), 0);
    board.send_again(at(50), 0);
    assert_eq!(board.acknowledge(4, &[], timing).spurious, 0);
}

#[test]
fn a_retransmission_answered_too_soon_shows_that_the_original_arrived() {
    let timing = Timing { now: at(65), undo_within: Some(Span::from_millis(20)), ..Timing::default() };
    let mut board = sent(12);
    ack(&mut board, 60, 0, &[(1, 4)]);
    assert_eq!(lost(&mut board, 60), [0]);
    board.send_again(at(60), 0);
    let progress = board.acknowledge(4, &[], timing);
    assert_eq!((progress.spurious, board.late(), progress.newest), (1, &[0][..], (0, at(0))));
}

#[test]
fn the_echo_of_a_time_before_the_retransmission_is_the_originals() {
    for (echoed, spurious) in [(0, 1), (60, 0)] {
        let mut board = sent(4);
        ack(&mut board, 60, 0, &[(1, 4)]);
        assert_eq!(lost(&mut board, 60), [0]);
        board.send_again(at(60), 0);
        let timing = Timing { now: at(100), echoed: Some(at(echoed)), ..Timing::default() };
        let progress = board.acknowledge(4, &[], timing);
        assert_eq!((progress.spurious, progress.rtt), (spurious, None));
        let arrived = if spurious == 1 { (0, at(0)) } else { (4, at(60)) };
        assert_eq!(progress.newest, arrived);
    }
}

#[test]
fn an_answer_to_what_left_before_the_retransmission_is_the_originals_and_a_held_one_decides_nothing() {
    for (answered_ms, spurious, arrived) in [(3, 1, (0, at(0))), (59, 1, (0, at(0))), (60, 0, (4, at(60)))] {
        let mut board = sent(4);
        ack(&mut board, 60, 0, &[(1, 4)]);
        assert_eq!(lost(&mut board, 60), [0]);
        board.send_again(at(60), 0);
        let answered_until = Some(at(answered_ms));
        let progress =
            board.acknowledge(4, &[], Timing { now: at(130), answered_until, ..Timing::default() });
        assert_eq!((progress.spurious, progress.newest), (spurious, arrived), "{answered_ms} ms");
    }
}

#[test]
fn of_three_copies_the_last_that_had_left_by_then_has_arrived() {
    for (answered_ms, arrived) in [(59, 0), (60, 4), (79, 4), (80, 5)] {
        let mut board = sent(4);
        ack(&mut board, 60, 0, &[(1, 4)]);
        assert_eq!(lost(&mut board, 60), [0]);
        board.send_again(at(60), 0);
        board.lose(0, true);
        board.send_again(at(80), 0);
        let answered_until = Some(at(answered_ms));
        let progress =
            board.acknowledge(4, &[], Timing { now: at(150), answered_until, ..Timing::default() });
        assert_eq!(progress.newest.0, arrived, "{answered_ms} ms");
    }
}

#[test]
fn after_a_needless_timeout_what_only_the_timer_took_for_lost_is_in_flight_again() {
    let mut board = sent(6);
    ack(&mut board, 60, 0, &[(1, 5)]);
    assert_eq!(lost(&mut board, 60), [0], "by what overtook it");
    board.send_again(at(60), 0);
    board.send_new(at(61), 100);
    board.lose_everything();
    assert_eq!((board.in_flight(), board.next_lost()), (0, Some((0, 100))));
    board.send_again(at(500), 0);
    board.find_unjudged();
    assert_eq!((board.in_flight(), board.has_lost()), (300, false));
    // It can be lost again.
    board.lose_everything();
    assert_eq!((board.in_flight(), board.next_lost()), (0, Some((0, 100))));
}

#[test]
fn round_trip_times_come_from_packets_sent_once() {
    let mut board = sent(12);
    let progress = ack(&mut board, 50, 2, &[]);
    assert_eq!((progress.rtt, progress.newest), (Some(Span::from_millis(49)), (1, at(1))));
    ack(&mut board, 60, 2, &[(3, 6)]);
    assert_eq!(lost(&mut board, 60), [2]);
    board.send_again(at(60), 2);
    let progress = ack(&mut board, 110, 6, &[]);
    assert_eq!((progress.rtt, progress.newest), (None, (12, at(60))));
    // The retransmission of 6 lets 7 be acknowledged, which has waited for it and is the newest.
    let mut board = sent(12);
    ack(&mut board, 50, 6, &[]);
    board.send_again(at(60), 6);
    board.send_new(at(61), 100);
    let progress = ack(&mut board, 120, 13, &[]);
    assert_eq!((progress.rtt, progress.newest), (None, (13, at(61))));
}

#[test]
fn delivery_rates_and_packets_one_by_one_are_there_only_if_needed() {
    for (needs, packets) in [(Needs::ALL, 3), (RATES, 0), (Needs::NONE, 0)] {
        let mut board = Board::new(needs);
        for i in 0..5 {
            if i == 2 {
                board.note_unused_window();
            }
            board.send_new(at(i), 100);
        }
        let progress = ack(&mut board, 50, 3, &[]);
        assert_eq!(
            (progress.delivery.is_some(), board.delivered_now().len()),
            (needs.delivery_rates, packets)
        );
        let rtts =
            board.delivered_now().iter().map(|packet| packet.rtt.unwrap_or_default().as_micros() / 1000);
        assert!(rtts.eq([50, 49, 48].into_iter().take(packets)), "each packet has its own round-trip time");
        assert!(progress.app_limited);
    }
}

#[test]
fn packets_of_one_ack_are_listed_in_order_of_transmission() {
    let mut board = sent(4);
    ack(&mut board, 50, 0, &[(1, 3)]);
    assert_eq!(lost(&mut board, 60), [0]);
    board.send_again(at(60), 0);
    ack(&mut board, 110, 4, &[]);
    let listed = board
        .delivered_now()
        .iter()
        .map(|packet| (packet.flight.seq, packet.flight.number, packet.delivered));
    assert_eq!(listed.collect::<Vec<_>>(), [(3, 3, 300), (0, 4, 400)]);
}

#[test]
fn the_delivery_rate_is_what_arrived_during_the_flight() {
    let mut board = sent(10);
    ack(&mut board, 50, 5, &[]);
    board.send_new(at(51), 100);
    ack(&mut board, 60, 10, &[]);
    let delivery = ack(&mut board, 100, 11, &[]).delivery.unwrap();
    assert_eq!(delivery.delivered, 600, "five that were in flight and itself");
    assert_eq!(delivery.interval, Span::from_millis(50));
}

#[test]
fn transmissions_are_kept_until_their_packet_arrives() {
    let mut board = sent(6);
    ack(&mut board, 50, 0, &[(2, 6)]);
    assert_eq!(lost(&mut board, 50), [0, 1]);
    assert_eq!(board.oldest_number(), 0);
    board.send_again(at(51), 0);
    ack(&mut board, 101, 1, &[]);
    assert_eq!((board.oldest_number(), board.flight(1).map(|flight| flight.sent_at)), (1, Some(at(1))));
    board.send_again(at(101), 1);
    assert_eq!((board.oldest_number(), board.flight(1).map(|flight| flight.sent_at)), (1, Some(at(101))));
    ack(&mut board, 151, 6, &[]);
    assert_eq!((board.oldest_number(), board.next_number()), (8, 8));
}

#[test]
fn what_a_needless_timeout_took_for_lost_is_in_flight_again_and_can_be_lost() {
    let mut board = Board::new(Needs::NONE);
    for ms in 0..5 {
        board.send_new(Time::from_millis(ms), 100);
    }
    assert_eq!(board.lose_first_and_old(Time::from_millis(300), Span::from_millis(298)).len(), 3);
    board.send_again(Time::from_millis(300), 0);
    // The first transmission of 0 arrives.
    let timing = |ms| Timing { now: Time::from_millis(ms), echoed: Some(Time::ZERO), ..Timing::default() };
    board.acknowledge(1, &[], timing(310));
    assert_eq!((board.next_lost(), board.in_flight()), (Some((1, 100)), 200));
    board.take_back_timeout();
    assert_eq!((board.next_lost(), board.in_flight(), board.packets_in_flight()), (None, 400, 4));
    // 1 and 2 are lost after all: 3 arrives.
    board.acknowledge(1, &[(3, 4)], timing(313));
    let mut lost = Vec::new();
    board.detect_by_time(Time::from_millis(313), Span::ZERO, &mut lost);
    assert_eq!(lost.iter().map(|flight| flight.seq).collect::<Vec<_>>(), [1, 2]);
}

proptest! {
    #[test]
    fn an_ack_that_is_taken_in_at_once_says_the_same_as_packet_by_packet(
        steps in prop::collection::vec((0u64..4, 0u64..4, any::<bool>(), 1u64..20), 1..100)
    ) {
        let (mut short, mut long, mut now) = (Board::new(RATES), Board::new(Needs::ALL), Time::from_millis(1));
        for (sent, acked, is_gap, ms) in steps {
            now += Span::from_millis(ms);
            let until = short.una() + acked;
            let sacks = [(until + 1, until + 2)];
            let sacks = if is_gap && until + 2 <= short.next_seq() { &sacks[..] } else { &[] };
            let timing = Timing { now, min_rtt: Some(Span::from_millis(5)), ..Timing::default() };
            let [one, other] = [&mut short, &mut long].map(|board| {
                let progress = board.acknowledge(until.min(board.next_seq()), sacks, timing);
                board.detect_by_time(now, Span::from_millis(2), &mut Vec::new());
                if let Some((seq, _)) = board.next_lost() {
                    board.send_again(now, seq);
                }
                (0..sent).for_each(|_| { board.send_new(now, 100); });
                progress
            });
            prop_assert_eq!(one, other);
            prop_assert_eq!(short.newest_stamp(), long.newest_stamp());
        }
    }
}
