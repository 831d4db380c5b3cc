//! What libutp does with handshakes written by hand.

mod support;

use afteryou_interop::packet::{Kind, Packet};
use afteryou_interop::{Finish, Handle, Job, LibutpPeer, UtpFailure};
use support::{pattern, Hand, PATIENCE};

const ID: u16 = 500;
const SEQ: u16 = 7000;

fn accepting() -> (Handle, Hand) {
    let peer = LibutpPeer::accept_one(Job::default()).unwrap();
    let hand = Hand::talking_to(peer.local_addr());
    (peer, hand)
}

fn connecting(hand: &Hand, send: &[u8]) -> Handle {
    let job = Job { send: send.to_vec(), finish: Finish::Close, ..Job::default() };
    LibutpPeer::connect(hand.addr(), job).unwrap()
}

/// Takes the answer to the SYN and sends data, which must be acked.
fn go_on_after_syn(peer: Handle, mut hand: Hand) {
    let answer = hand.expect(Kind::State);
    assert_eq!(answer.encode()[0], 0x21);
    assert_eq!(answer.conn_id, ID, "answers carry the id of the syn");
    assert_eq!(answer.ack_nr, SEQ);
    assert_eq!(answer.window, 1 << 20);
    assert!(answer.extensions.is_empty() && answer.payload.is_empty());

    // The answer to the SYN takes up no sequence number: what has been
    // received is the one before.
    let ack = answer.seq_nr.wrapping_sub(1);
    hand.send(&Packet::new(Kind::Data, ID + 1, SEQ + 1, ack).with_payload(b"hello"));
    let acked = hand.expect(Kind::State);
    assert_eq!((acked.conn_id, acked.ack_nr), (ID, SEQ + 1));
    assert_eq!(acked.seq_nr, answer.seq_nr);

    hand.send(&Packet::new(Kind::Fin, ID + 1, SEQ + 2, ack));
    assert_eq!(hand.expect(Kind::State).ack_nr, SEQ + 2);
    let fin = hand.expect(Kind::Fin);
    assert_eq!(fin.seq_nr, answer.seq_nr);
    hand.send(&Packet::new(Kind::State, ID + 1, SEQ + 3, fin.seq_nr));
    let outcome = peer.join(PATIENCE).unwrap();
    assert_eq!(outcome.received, b"hello");
    assert!(outcome.got_eof && outcome.closed, "{outcome:?}");
}

/// Answers the SYN with these extensions and takes the data that follows.
fn answer_syn(extensions: &[(u8, Vec<u8>)]) {
    let mut hand = Hand::new();
    let data = pattern(1000);
    let peer = connecting(&hand, &data);
    let syn = hand.expect(Kind::Syn);
    assert_eq!(syn.encode().len(), 20);
    assert_eq!((syn.ack_nr, syn.timestamp_diff), (0, 0));

    let mut answer = Packet::new(Kind::State, syn.conn_id, SEQ, syn.seq_nr);
    answer.extensions = extensions.to_vec();
    hand.send(&answer);
    let got = hand.expect(Kind::Data);
    assert_eq!(got.conn_id, syn.conn_id + 1);
    assert_eq!(got.seq_nr, syn.seq_nr.wrapping_add(1));
    assert_eq!(got.ack_nr, SEQ - 1, "the next expected is our first data");
    assert_eq!(got.payload, data);

    hand.send(&Packet::new(Kind::State, syn.conn_id, SEQ, got.seq_nr));
    let fin = hand.expect(Kind::Fin);
    hand.send(&Packet::new(Kind::State, syn.conn_id, SEQ, fin.seq_nr));
    let outcome = peer.join(PATIENCE).unwrap();
    assert!(outcome.connected && outcome.closed, "{outcome:?}");
    assert_eq!(outcome.error, None);
}

#[test]
fn libutp_answers_a_plain_syn_and_takes_data() {
    let (peer, hand) = accepting();
    hand.send(&Packet::new(Kind::Syn, ID, SEQ, 0));
    go_on_after_syn(peer, hand);
}

#[test]
fn libutp_answers_a_syn_with_an_empty_selective_ack_and_takes_data() {
    let (peer, hand) = accepting();
    let syn = Packet::new(Kind::Syn, ID, SEQ, 0).with_sack(&[0; 8]);
    assert_eq!(syn.encode().len(), 30);
    hand.send(&syn);
    go_on_after_syn(peer, hand);
}

#[test]
fn libutp_sends_data_after_a_plain_answer_to_its_syn() {
    answer_syn(&[]);
}

#[test]
fn libutp_sends_data_after_an_answer_with_an_empty_selective_ack() {
    answer_syn(&[(1, vec![0; 8])]);
}

#[test]
fn libutp_skips_an_unknown_extension_that_is_not_the_first() {
    answer_syn(&[(1, vec![0; 8]), (9, vec![0xaa; 5])]);
}

#[test]
fn libutp_ignores_a_syn_whose_first_extension_is_unknown() {
    let (_peer, mut hand) = accepting();
    let mut syn = Packet::new(Kind::Syn, ID, SEQ, 0);
    syn.extensions.push((3, vec![0; 4]));
    hand.send(&syn);
    hand.expect_silence();
}

#[test]
fn libutp_answers_a_syn_only_once() {
    let (_peer, mut hand) = accepting();
    let syn = Packet::new(Kind::Syn, ID, SEQ, 0);
    hand.send(&syn);
    hand.expect(Kind::State);
    hand.send(&syn);
    hand.expect_silence();
    // A new connection id is a new attempt.
    hand.send(&Packet::new(Kind::Syn, ID + 10, SEQ, 0));
    assert_eq!(hand.expect(Kind::State).conn_id, ID + 10);
}

#[test]
fn libutp_drops_data_that_acks_its_answer_to_the_syn() {
    let (_peer, mut hand) = accepting();
    hand.send(&Packet::new(Kind::Syn, ID, SEQ, 0));
    let answer = hand.expect(Kind::State);
    let data = |ack| Packet::new(Kind::Data, ID + 1, SEQ + 1, ack).with_payload(b"x");
    hand.send(&data(answer.seq_nr));
    hand.expect_silence();
    hand.send(&data(answer.seq_nr.wrapping_sub(1)));
    assert_eq!(hand.expect(Kind::State).ack_nr, SEQ + 1);
}

#[test]
fn an_accepting_libutp_neither_sends_nor_takes_a_fin_before_the_first_data() {
    let job = Job { send: b"from libutp".to_vec(), ..Job::default() };
    let peer = LibutpPeer::accept_one(job).unwrap();
    let mut hand = Hand::talking_to(peer.local_addr());
    hand.send(&Packet::new(Kind::Syn, ID, SEQ, 0));
    let ack = hand.expect(Kind::State).seq_nr.wrapping_sub(1);
    hand.send(&Packet::new(Kind::State, ID + 1, SEQ + 1, ack));
    hand.expect_silence();
    hand.send(&Packet::new(Kind::Fin, ID + 1, SEQ + 1, ack));
    hand.expect_silence();
    hand.send(&Packet::new(Kind::Data, ID + 1, SEQ + 1, ack).with_payload(b"x"));
    let first = hand.expect(Kind::Data);
    assert_eq!(first.payload, b"from libutp");
    assert_eq!(first.ack_nr, SEQ + 1, "the data carries the ack");
}

#[test]
fn libutp_resets_a_connection_whose_syn_had_the_highest_id() {
    // It looks the data up under id 65536, which no packet can carry.
    let (_peer, mut hand) = accepting();
    hand.send(&Packet::new(Kind::Syn, 65_535, SEQ, 0));
    let ack = hand.expect(Kind::State).seq_nr.wrapping_sub(1);
    hand.send(&Packet::new(Kind::Data, 0, SEQ + 1, ack).with_payload(b"x"));
    assert_eq!(hand.expect(Kind::Reset).conn_id, 0);
}

#[test]
fn libutp_calls_a_reset_in_answer_to_its_syn_a_reset_too() {
    let mut hand = Hand::new();
    let peer = connecting(&hand, b"x");
    let syn = hand.expect(Kind::Syn);
    hand.send(&Packet::new(Kind::Reset, syn.conn_id, 1, syn.seq_nr));
    let outcome = peer.join(PATIENCE).unwrap();
    assert_eq!(outcome.error, Some(UtpFailure::Reset));
    assert!(!outcome.connected);
}
