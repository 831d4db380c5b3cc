use super::*;
use afteryou_sender::AckProgress;

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

impl Scoreboard {
    /// Takes in an acknowledgement that arrives at `now`.
    pub(super) fn take_ack(
        &mut self,
        now: Time,
        ack_nr: u16,
        sack: Option<Sack<'_>>,
        covers: Option<usize>,
        min_rtt: Option<Span>,
    ) -> AckProgress {
        let mut taken = self.begin_ack(now, min_rtt, None);
        self.acknowledge(SeqNr(ack_nr), sack, covers, &mut taken);
        taken.progress
    }
}

/// Returns a scoreboard with packets 101 … 100 + n in flight, 100 B each, sent 1 ms apart.
fn sent(n: u64) -> Scoreboard {
    let mut board = Scoreboard::new(SeqNr(101), Recovery::Modern, Needs::ALL);
    for i in 0..n {
        board.send_new(at(i), Body::Data(vec![0; 100]));
    }
    board
}

/// Returns the packets resent after an ack with this bitmap.
fn resent(board: &mut Scoreboard, now: Time, ack_nr: u16, mask: &[u8]) -> Vec<u16> {
    let sack = Sack::new(mask);
    board.take_ack(now, ack_nr, Some(sack), Some(sack.covers()), None);
    board.detect_losses(now, PACKET_THRESHOLD, Span::from_secs(10));
    std::iter::from_fn(|| board.send_lost(now)).map(|seq_nr| seq_nr.0).collect()
}

#[test]
fn the_sheets_bitmaps_resend_what_three_later_packets_prove_lost() {
    assert_eq!(resent(&mut sent(12), at(50), 100, &[0x07, 0, 0, 0]), [101]);
    assert_eq!(resent(&mut sent(12), at(50), 100, &[0x6C, 0, 0, 0]), [101, 102, 103]);
    assert_eq!(resent(&mut sent(12), at(50), 100, &[0x03, 0, 0, 0]), [0u16; 0]);
}

#[test]
fn each_loss_is_resent_once_until_its_retransmission_is_lost_too() {
    let mut board = sent(12);
    assert_eq!(resent(&mut board, at(50), 100, &[0x07, 0, 0, 0]), [101]);
    assert_eq!(resent(&mut board, at(51), 100, &[0x0F, 0, 0, 0]), [0u16; 0]);
    // Three packets sent after the retransmission arrive, the retransmission does not.
    for i in 0..4 {
        board.send_new(at(60 + i), Body::Data(vec![0; 100]));
    }
    assert_eq!(resent(&mut board, at(100), 100, &[0xFF, 0xFF, 0x00, 0x00]), [101]);
}

#[test]
fn what_a_short_bitmap_does_not_show_is_not_taken_for_lost() {
    let mut board = sent(100);
    // 30 packets after the gap are shown; the rest has arrived, too, but does not fit in.
    assert_eq!(resent(&mut board, at(200), 100, &[0xFF, 0xFF, 0xFF, 0x3F]), [101]);
    // The retransmission fills the gap up to the next one, at 150.
    let progress = board.take_ack(at(250), 149, Some(Sack::new(&[0x01, 0, 0, 0])), Some(2), None);
    assert!(progress.newly_acked > 0);
    let (lost, _) = board.detect_losses(at(250), PACKET_THRESHOLD, Span::from_secs(10));
    assert_eq!(lost.len(), 1, "150 was sent long before the retransmission of 101 that arrived");
    assert_eq!(board.send_lost(at(250)), Some(SeqNr(150)));
    assert!(board.send_lost(at(250)).is_none());
}

#[test]
fn a_packet_overtaken_for_too_long_is_lost_without_three_later_ones() {
    let mut board = sent(2);
    let sack = Sack::new(&[0x01, 0, 0, 0]);
    board.take_ack(at(50), 100, Some(sack), Some(sack.covers()), None);
    let (lost, look_again) = board.detect_losses(at(50), PACKET_THRESHOLD, Span::from_millis(60));
    assert!(lost.is_empty());
    assert_eq!(look_again, Some(at(60)));
    let (lost, _) = board.detect_losses(at(60), PACKET_THRESHOLD, Span::from_millis(60));
    let found = lost.iter().map(|packet| (packet.flight.number, packet.flight.sent_at, packet.flight.bytes));
    assert!(found.eq([(0, at(0), 100)]) && lost[0].is_signal, "{lost:?}");
}

#[test]
fn round_trip_times_come_from_packets_sent_once() {
    let mut board = sent(12);
    let progress = board.take_ack(at(50), 102, None, None, None);
    assert_eq!(progress.rtt, Some(Span::from_millis(49)));
    assert_eq!(progress.newest, (1, at(1)));
    resent(&mut board, at(60), 102, &[0x07, 0, 0, 0]);
    let progress = board.take_ack(at(110), 106, None, None, None);
    assert_eq!((progress.rtt, progress.newest), (None, (12, at(60))));
}

#[test]
fn an_original_that_arrives_after_all_is_told_from_its_retransmission() {
    let mut board = sent(12);
    resent(&mut board, at(60), 100, &[0x07, 0, 0, 0]);
    let progress = board.take_ack(at(65), 104, None, None, Some(Span::from_millis(40)));
    assert_eq!(progress.spurious, 1);
    let mut board = sent(12);
    board.time_out(at(60), Span::ZERO);
    assert_eq!(board.board().in_flight(), 0);
    assert_eq!(board.take_ack(at(65), 104, None, None, None).spurious, 4);
}

#[test]
fn a_probe_of_what_was_never_lost_makes_no_loss_spurious() {
    let mut board = sent(3);
    board.send_probe(at(50), true);
    let progress = board.take_ack(at(55), 103, None, None, Some(Span::from_millis(40)));
    assert_eq!(progress.spurious, 0, "the original of 103 was only late");
    // Nor does one of a retransmission: it may be the retransmission that arrived.
    let mut board = sent(4);
    assert_eq!(resent(&mut board, at(50), 100, &[0x07, 0, 0, 0]), [101]);
    board.send_probe(at(100), false);
    assert_eq!(board.take_ack(at(105), 104, None, None, Some(Span::from_millis(40))).spurious, 0);
}

#[test]
fn what_was_overtaken_unseen_before_a_timeout_is_no_spurious_loss() {
    let mut board = sent(100);
    // 101 is missing and 102 … 131 are shown; the rest arrives unseen.
    assert_eq!(resent(&mut board, at(200), 100, &[0xFF, 0xFF, 0xFF, 0x3F]), [101]);
    board.take_ack(at(250), 131, None, None, None);
    let (lost, _) = board.detect_losses(at(250), PACKET_THRESHOLD, Span::from_secs(10));
    assert_eq!(lost.len(), 1, "the ack says that 132 is missing");
    assert_eq!(board.board().in_flight(), 200, "the retransmission has overtaken all but the last two");
    board.time_out(at(900), Span::ZERO);
    let progress = board.take_ack(at(1_000), 198, None, None, None);
    assert_eq!((progress.packets, progress.spurious), (67, 1), "132 came late");
    assert_eq!(board.take_ack(at(1_001), 200, None, None, None).spurious, 2);
}

#[test]
fn bytes_are_booked_exactly_through_loss_sack_and_ack() {
    let mut board = sent(12);
    assert_eq!((board.board().in_flight(), board.board().outstanding()), (1200, 1200));
    let sack = Sack::new(&[0x07, 0, 0, 0]);
    let progress = board.take_ack(at(50), 100, Some(sack), Some(sack.covers()), None);
    assert_eq!((progress.newly_acked, progress.newly_sacked), (0, 300));
    board.detect_losses(at(50), PACKET_THRESHOLD, Span::from_secs(1));
    assert_eq!((board.board().in_flight(), board.board().outstanding()), (800, 1200));
    board.send_lost(at(50));
    assert_eq!(board.board().in_flight(), 900);
    let progress = board.take_ack(at(90), 112, None, None, None);
    assert_eq!((progress.newly_acked, progress.newly_sacked, progress.packets), (900, 0, 9));
    assert_eq!((board.board().in_flight(), board.board().outstanding()), (0, 0));
    assert_eq!(board.board().delivered(), 1200);
}

#[test]
fn the_delivery_rate_is_what_arrived_during_the_flight() {
    let mut board = sent(10);
    board.take_ack(at(50), 105, None, None, None);
    board.send_new(at(51), Body::Data(vec![0; 100]));
    board.take_ack(at(60), 110, None, None, None);
    let delivery = board.take_ack(at(100), 111, None, None, None).delivery.unwrap();
    assert_eq!(delivery.delivered, 600, "five that were in flight and itself");
    assert_eq!(delivery.interval, Span::from_millis(50));
}

#[test]
fn acks_from_outside_the_window_are_not_accepted() {
    let board = sent(12);
    assert!(board.accepts(SeqNr(112), 3) && board.accepts(SeqNr(100), 3) && board.accepts(SeqNr(97), 3));
    assert!(!board.accepts(SeqNr(113), 3) && !board.accepts(SeqNr(96), 3) && !board.accepts(SeqNr(60000), 3));
}

#[test]
fn an_overtaken_ack_neither_moves_back_nor_misplaces_its_bitmap() {
    let mut board = sent(12);
    board.take_ack(at(50), 104, None, None, None);
    // Sent before the ack above: gap at 102, then 103 … 105 received.
    let progress = board.take_ack(at(51), 101, Some(Sack::new(&[0x07, 0, 0, 0])), Some(4), None);
    assert_eq!(progress.newly_sacked, 100, "only 105 is new");
    assert_eq!(board.board().outstanding(), 800);
}

#[test]
fn sequence_numbers_wrap() {
    let mut board = Scoreboard::new(SeqNr(65_530), Recovery::Modern, Needs::ALL);
    for i in 0..12 {
        board.send_new(at(i), Body::Data(vec![0; 100]));
    }
    assert_eq!(board.next_seq(), SeqNr(6));
    assert_eq!(resent(&mut board, at(50), 65_533, &[0xFF, 0, 0, 0]), [65_534]);
    board.take_ack(at(90), 5, None, None, None);
    assert!(board.is_empty());
}

#[test]
fn a_probe_that_is_answered_too_soon_has_repaired_nothing() {
    for (rtt_ms, repaired) in [(39, 0), (40, 1)] {
        let mut board = sent(2);
        board.take_ack(at(40), 101, None, None, None);
        board.send_probe(at(100), true);
        board.send_new(at(101), Body::Data(vec![0; 100]));
        let min_rtt = Some(Span::from_millis(40));
        let mut lost = Vec::new();
        for (now, ack_nr) in [(100 + rtt_ms, 102), (150, 103)] {
            board.take_ack(at(now), ack_nr, None, None, min_rtt);
            let named = board.board().delivered_now()[0].flight.number;
            let found = board.detect_losses(at(now), PACKET_THRESHOLD, Span::from_secs(10)).0;
            assert!(found.iter().all(|packet| packet.flight.number != named));
            lost.extend(found.iter().map(|packet| packet.flight.number));
        }
        board.send_new(at(160), Body::Data(vec![0; 100]));
        board.take_ack(at(200), 104, None, None, min_rtt);
        lost.extend(
            board
                .detect_losses(at(200), PACKET_THRESHOLD, Span::from_secs(10))
                .0
                .iter()
                .map(|packet| packet.flight.number),
        );
        assert_eq!(lost.len(), repaired, "answered after {rtt_ms} ms: {lost:?}");
    }
}
