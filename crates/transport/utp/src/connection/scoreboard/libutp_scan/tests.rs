use super::super::PACKET_THRESHOLD;
use super::*;
use crate::connection::scoreboard::{Body, Release};
use crate::numbers::SeqNr;
use afteryou_base::{Span, Time};
use afteryou_cc::Needs;

const BOTH: [Recovery; 2] = [Recovery::Libutp, Recovery::LibutpMod];

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Returns a scoreboard with packets 101 … 100 + n in flight.
fn sent(n: u64, recovery: Recovery) -> Scoreboard {
    let mut board = Scoreboard::new(SeqNr(101), recovery, Needs::ALL);
    send(&mut board, 0, n);
    board
}

fn send(board: &mut Scoreboard, ms: u64, n: u64) {
    (0..n).for_each(|_| _ = board.send_new(at(ms), Body::Zeros(100)));
}

/// Returns how often the controller gets a loss from an ack with the bitmap of these packets.
fn signals(board: &mut Scoreboard, ms: u64, ack_nr: u16, arrived: &[u16]) -> usize {
    let mut mask = [0; 20];
    for k in arrived.iter().map(|seq_nr| usize::from(seq_nr - ack_nr - 2)) {
        mask[k / 8] |= 1 << (k % 8);
    }
    let sack = (!arrived.is_empty()).then_some(Sack::new(&mask));
    board.take_ack(at(ms), ack_nr, sack, sack.map(|sack| sack.covers()), None);
    let (lost, _) = board.detect_losses(at(ms), PACKET_THRESHOLD, Span::ZERO);
    lost.iter().filter(|packet| packet.is_signal).count()
}

/// Sends what is to go at once.
fn resent(board: &mut Scoreboard, ms: u64) -> Vec<u16> {
    let go = |board: &mut Scoreboard| {
        board.next_lost().filter(|next| next.release == Release::Now)?;
        board.send_lost(at(ms))
    };
    std::iter::from_fn(|| go(board)).map(|seq_nr| seq_nr.0).collect()
}

#[test]
fn the_sheets_bitmaps_select_what_three_later_packets_prove_lost() {
    let selected = |recovery, mask: &[u8]| {
        let mut board = sent(12, recovery);
        let sack = Sack::new(mask);
        board.take_ack(at(50), 100, Some(sack), Some(sack.covers()), None);
        board.detect_losses(at(50), PACKET_THRESHOLD, Span::ZERO);
        resent(&mut board, 50)
    };
    for recovery in BOTH {
        assert_eq!(selected(recovery, &[0x07, 0, 0, 0]), [101]);
        assert_eq!(selected(recovery, &[0x6C, 0, 0, 0]), [101, 102, 103], "106 has two above it");
        assert_eq!(selected(recovery, &[0x03, 0, 0, 0]), [0u16; 0]);
        assert_eq!(selected(recovery, &[0, 0, 0, 0x80]), [0u16; 0], "bits beyond what was sent");
        assert_eq!(selected(recovery, &[0xFF; 252]), [101]);
    }
}

#[test]
fn packets_reordered_by_less_than_three_are_not_sent_again() {
    for recovery in BOTH {
        let mut board = sent(12, recovery);
        // 101 is overtaken by two, 104 by one, 106 by two.
        assert_eq!(signals(&mut board, 50, 100, &[102]), 0);
        assert_eq!(signals(&mut board, 51, 100, &[102, 103]), 0);
        assert_eq!(signals(&mut board, 52, 103, &[105]), 0);
        assert_eq!(signals(&mut board, 53, 105, &[107, 108]), 0);
        assert_eq!(signals(&mut board, 54, 112, &[]), 0);
        assert!(board.is_empty() && board.next_lost().is_none());
    }
}

#[test]
fn four_packets_go_for_each_bitmap_the_oldest_first() {
    let arrived: Vec<u16> = (110..=112).collect();
    let mut libutp = sent(12, Recovery::Libutp);
    assert_eq!(signals(&mut libutp, 50, 100, &arrived), 4);
    assert_eq!(resent(&mut libutp, 50), [101, 102, 103, 104]);
    // The same again, because a duplicate came: the next four, and then what is left.
    assert_eq!(signals(&mut libutp, 51, 100, &arrived), 4);
    assert_eq!(resent(&mut libutp, 51), [105, 106, 107, 108]);
    assert_eq!(signals(&mut libutp, 52, 100, &arrived), 1);
    assert_eq!(resent(&mut libutp, 52), [109]);
    assert_eq!(signals(&mut libutp, 53, 100, &arrived), 0);

    let mut modified = sent(12, Recovery::LibutpMod);
    assert_eq!(signals(&mut modified, 50, 100, &arrived), 4);
    assert_eq!(resent(&mut modified, 50), [101, 102, 103, 104]);
    assert_eq!(signals(&mut modified, 51, 100, &arrived), 0, "the first four count, although they do not go");
    assert_eq!(signals(&mut modified, 52, 102, &arrived), 2);
    assert_eq!(resent(&mut modified, 52), [105, 106]);
}

#[test]
fn libutp_sends_a_packet_again_at_once_only_once() {
    let mut board = sent(4, Recovery::Libutp);
    assert_eq!(signals(&mut board, 50, 100, &[102, 103, 104]), 1);
    assert_eq!(resent(&mut board, 50), [101]);
    send(&mut board, 50, 20);
    let arrived: Vec<u16> = (102..=124).collect();
    assert_eq!(signals(&mut board, 100, 100, &arrived), 0);
    assert!(board.next_lost().is_none());
}

/// Returns a scoreboard with a packet sent twice in the same millisecond as its neighbours: 105 before its retransmission,
/// 106 after it.
fn retransmitted() -> Scoreboard {
    let mut board = sent(4, Recovery::LibutpMod);
    assert_eq!(signals(&mut board, 50, 100, &[102, 103, 104]), 1);
    send(&mut board, 50, 1);
    assert_eq!(resent(&mut board, 50), [101]);
    send(&mut board, 50, 1);
    board
}

#[test]
fn libutp_mod_sends_a_retransmission_again_once_a_packet_sent_later_has_arrived_and_tells_nobody() {
    let mut board = retransmitted();
    signals(&mut board, 99, 100, &[102, 103, 104]);
    assert_eq!(resent(&mut board, 99), [0u16; 0], "nothing sent later has arrived");
    // The published code would send it again here: 105 left within the same tick, but before.
    signals(&mut board, 100, 100, &[102, 103, 104, 105]);
    assert_eq!(resent(&mut board, 100), [0u16; 0]);
    assert_eq!(signals(&mut board, 100, 100, &[102, 103, 104, 105, 106]), 0, "no further backoff");
    assert_eq!(resent(&mut board, 100), [101]);
    signals(&mut board, 101, 100, &[102, 103, 104, 105, 106]);
    assert_eq!(resent(&mut board, 101), [0u16; 0], "the third transmission is under way");
}

#[test]
fn libutp_mod_sends_what_was_sent_once_again_whatever_has_arrived() {
    let mut board = retransmitted();
    send(&mut board, 51, 1);
    // 107 is newer than all that arrives, its loss is not known; 105 is older, and three packets have overtaken it.
    send(&mut board, 52, 2);
    assert_eq!(signals(&mut board, 102, 104, &[106, 107]), 0);
    assert_eq!(signals(&mut board, 102, 104, &[106, 107, 108]), 1);
    assert_eq!(resent(&mut board, 102), [105]);
}

#[test]
fn one_packet_lost_three_times_is_found_three_times() {
    let mut board = sent(4, Recovery::LibutpMod);
    let mut told = signals(&mut board, 50, 100, &[102, 103, 104]);
    for round in 1..=3 {
        assert_eq!(resent(&mut board, 50 * round), [101]);
        send(&mut board, 50 * round, 1);
        let arrived: Vec<u16> = (102..=104 + round as u16).collect();
        told += signals(&mut board, 50 * round + 50, 100, &arrived);
    }
    assert_eq!(told, 1);
}

#[test]
fn after_a_timeout_each_ack_that_moves_on_sends_the_next_gap_at_once() {
    for recovery in BOTH {
        let mut board = sent(9, recovery);
        board.time_out(at(1000), Span::from_secs(10));
        assert_eq!(board.next_lost().unwrap().release, Release::Window);
        assert_eq!(board.send_lost(at(1000)), Some(SeqNr(101)));
        // 102 and 103 had arrived, 104 is missing; so is 106.
        assert_eq!(signals(&mut board, 1050, 103, &[105]), 0);
        assert_eq!(resent(&mut board, 1050), [104]);
        signals(&mut board, 1100, 105, &[]);
        assert_eq!(resent(&mut board, 1100), [106]);
        signals(&mut board, 1101, 105, &[]);
        assert_eq!(resent(&mut board, 1101), [0u16; 0], "an ack that does not move on ends it");
        signals(&mut board, 1150, 107, &[]);
        assert_eq!(board.next_lost().unwrap().release, Release::Window, "the rest goes as the window opens");
    }
}

#[test]
fn what_arrived_beyond_a_short_bitmap_before_a_timeout_is_no_spurious_loss() {
    let mut board = sent(60, Recovery::Libutp);
    // 101 is missing, and so is its retransmission; 102 … 131 are shown, the rest arrives unseen.
    let sack = Sack::new(&[0xFF, 0xFF, 0xFF, 0x3F]);
    board.take_ack(at(50), 100, Some(sack), Some(sack.covers()), None);
    board.detect_losses(at(50), PACKET_THRESHOLD, Span::ZERO);
    assert_eq!(resent(&mut board, 50), [101]);
    board.time_out(at(1000), Span::from_secs(10));
    assert_eq!(board.send_lost(at(1050)), Some(SeqNr(101)));
    let progress = board.take_ack(at(1100), 160, None, None, None);
    assert_eq!((progress.packets, progress.spurious), (30, 0));
}

#[test]
fn of_an_overtaken_acks_bitmap_only_what_is_still_outstanding_counts() {
    for recovery in BOTH {
        let mut board = sent(12, recovery);
        assert_eq!(signals(&mut board, 50, 104, &[]), 0);
        assert_eq!(signals(&mut board, 51, 101, &[103, 104, 106, 107]), 0);
        assert_eq!(signals(&mut board, 52, 101, &[103, 104, 106, 107, 108]), 1);
        assert_eq!(resent(&mut board, 52), [105]);
    }
}
