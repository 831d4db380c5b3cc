//! The queue of transmissions finds what a look at the whole window would find.

use super::super::PACKET_THRESHOLD;
use super::*;
use crate::connection::scoreboard::probes::Probe;
use crate::connection::scoreboard::Body;
use crate::numbers::SeqNr;
use crate::recovery::Recovery;
use crate::sack::Sack;
use afteryou_cc::Needs;
use proptest::prelude::*;
use std::collections::HashSet;

#[derive(Clone, Debug)]
enum Op {
    Send(u8),
    /// A number of packets in order, then a bitmap, and whether the packet reports all others, too.
    Ack(u8, Option<Vec<u8>>, bool),
    Resend,
    Probe(bool),
    AckAgain,
    Timeout,
}

fn masks() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![
        2 => Just(None),
        3 => prop::collection::vec(any::<u8>(), 4).prop_map(Some),
        2 => prop::collection::vec(any::<u8>(), 8..=40).prop_map(Some),
        1 => prop::collection::vec(Just(0xFF), 4..=252).prop_map(Some),
    ]
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1u8..60).prop_map(Op::Send),
        8 => (0u8..30, masks(), any::<bool>()).prop_map(|(n, mask, all)| Op::Ack(n, mask, all)),
        8 => Just(Op::Resend),
        2 => any::<bool>().prop_map(Op::Probe),
        1 => Just(Op::AckAgain),
        1 => Just(Op::Timeout),
    ]
}

/// Applies the rule itself, packet by packet: what is lost, when to look again, what stays in flight.
fn whole_window(board: &Scoreboard, now: Time, patience: Span) -> (Vec<LostPacket>, Option<Time>, u64) {
    let (mut lost, mut look_again, mut in_flight) = (Vec::new(), None::<Time>, 0);
    for index in missing(board) {
        let flight = board.board.flight(index).expect("it is outstanding");
        let distance =
            board.board.newest_delivered().map_or(0, |newest| newest.saturating_sub(flight.number));
        let (is_visible, due) = (index < board.visible_until, flight.sent_at + patience);
        let has_left = distance >= PACKET_THRESHOLD || (distance > 0 && due <= now);
        if has_left && is_visible {
            lost.push(LostPacket { flight, is_signal: true });
        } else if !has_left {
            in_flight += flight.bytes;
            if distance > 0 {
                look_again = Some(look_again.map_or(due, |other| other.min(due)));
            }
        }
    }
    (lost, look_again, in_flight)
}

/// Returns the packets that have neither arrived nor been taken for lost.
fn missing(board: &Scoreboard) -> impl Iterator<Item = u64> + '_ {
    let is_missing = |index: &u64| !board.board.is_sacked(*index) && !board.board.is_lost(*index);
    (board.board.una()..board.board.next_seq()).filter(is_missing)
}

/// Returns the oldest lost packet, by a look at all.
fn oldest_lost(board: &Scoreboard) -> Option<u64> {
    (board.board.una()..board.board.next_seq()).find(|index| board.board.is_lost(*index))
}

/// Returns the losses that a probe has repaired for certain.
fn repaired(board: &Scoreboard) -> Vec<LostPacket> {
    let is_judged =
        |probe: &&Probe| probe.waited && Some(probe.packet_number) < board.board.newest_delivered();
    board.probes.iter().filter(is_judged).map(|probe| probe.repeats).collect()
}

const PATIENCE: Span = Span::from_millis(9);

fn run(board: &mut Scoreboard, now: Time, op: &Op) {
    match op {
        Op::Send(n) => {
            for _ in 0..*n {
                board.send_new(now, Body::Zeros(100));
            }
        }
        Op::Ack(in_order, mask, tells_all) => {
            let in_order = usize::from(*in_order).min(board.packets()) as u16;
            let ack_nr = board.first_seq.plus(in_order).prev().0;
            let sack = mask.as_deref().map(Sack::new);
            let covers = sack.map(|sack| sack.covers()).or(tells_all.then_some(usize::MAX));
            board.take_ack(now, ack_nr, sack, covers, Some(Span::from_millis(3)));
        }
        Op::Resend => _ = board.send_lost(now),
        Op::AckAgain => board.acknowledged_again(),
        Op::Probe(newest) => _ = board.send_probe(now, *newest),
        Op::Timeout => board.time_out(now, PATIENCE),
    }
}

proptest! {
    #[test]
    fn losses_are_those_that_a_look_at_the_whole_window_finds(
        first_seq: u16,
        ops in prop::collection::vec((ops(), 0u64..4, prop::bool::weighted(0.7)), 0..120),
    ) {
        let mut board = Scoreboard::new(SeqNr(first_seq), Recovery::Modern, Needs::ALL);
        let mut now = Time::from_millis(10);
        let mut reported = HashSet::new();
        for (op, pass, looks) in ops {
            now += Span::from_millis(pass);
            run(&mut board, now, &op);
            if looks {
                let (mut lost, look_again, in_flight) = whole_window(&board, now, PATIENCE);
                lost.extend(repaired(&board));
                for packet in &lost {
                    prop_assert!(reported.insert(packet.flight.number), "reported twice: {:?}", packet);
                }
                prop_assert_eq!(board.detect_losses(now, PACKET_THRESHOLD, PATIENCE), (lost, look_again));
                prop_assert_eq!(board.board().in_flight(), in_flight);
            }
            prop_assert_eq!(board.board.next_lost().map(|(index, _)| index), oldest_lost(&board));
        }
    }
    #[test]
    fn scans_keep_the_books_whatever_comes(
        first_seq: u16,
        is_mod: bool,
        ops in prop::collection::vec((ops(), 0u64..4, prop::bool::weighted(0.7)), 0..120),
    ) {
        let recovery = if is_mod { Recovery::LibutpMod } else { Recovery::Libutp };
        let mut board = Scoreboard::new(SeqNr(first_seq), recovery, Needs::ALL);
        let mut now = Time::from_millis(10);
        for (op, pass, looks) in ops {
            now += Span::from_millis(pass);
            run(&mut board, now, &op);
            let (found, look_again) = match looks {
                true => board.detect_losses(now, PACKET_THRESHOLD, Span::ZERO),
                false => (Vec::new(), None),
            };
            prop_assert!(found.len() <= 4 && look_again.is_none());
            prop_assert_eq!(board.board.next_lost().map(|(index, _)| index), oldest_lost(&board));
            prop_assert!(board.urgent.iter().all(|index| board.board.is_lost(*index)));
            let bytes: u64 = missing(&board).map(|index| board.payload_len(index)).sum();
            prop_assert_eq!(board.board().in_flight(), bytes);
        }
    }
}
