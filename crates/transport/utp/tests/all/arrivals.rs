//! Delay samples of packets whose time of arrival the system has noted.

use afteryou_base::Time;
use afteryou_cc::cubic::{self, Cubic};
use afteryou_cc::Controller;
use afteryou_utp::connection::{Arrival, Connection};
use afteryou_utp::packet::{Header, Kind, Packet};
use afteryou_utp::Config;
use afteryou_utp::{ConnectionId, Micros, SeqNr};

fn controller() -> Box<dyn Controller> {
    let settings = afteryou_base::param::Settings::defaults(cubic::PARAMS);
    Box::new(Cubic::new(&settings, 1000))
}

/// Returns a data packet that left at `sent_us` by the peer's clock.
fn data(seq_nr: u16, sent_us: u32) -> Packet<'static> {
    let header = Header {
        kind: Kind::Data,
        connection_id: ConnectionId(8),
        timestamp: Micros(sent_us),
        timestamp_difference: Micros(0),
        wnd_size: 1 << 20,
        ack_nr: SeqNr(99),
        seq_nr: SeqNr(seq_nr),
    };
    Packet { header, sack: None, marks: None, payload: b"hello" }
}

/// Returns an endpoint's side of a connection that a peer has opened with a SYN numbered 1.
fn accepted() -> Connection {
    let mut syn = data(1, 0);
    (syn.header.kind, syn.header.connection_id, syn.payload) = (Kind::Syn, ConnectionId(7), b"");
    Connection::accept(Config::default(), controller(), Time::ZERO, &syn, SeqNr(100))
}

/// Returns the delay in the acknowledgement that leaves now, µs.
fn reported(connection: &mut Connection, now: Time) -> u32 {
    let mut datagram = Vec::new();
    assert!(connection.poll_transmit(now, &mut datagram));
    Packet::decode(&datagram).unwrap().header.timestamp_difference.0
}

#[test]
fn a_delay_ends_when_the_system_received_the_packet_and_not_when_it_was_read() {
    let mut connection = accepted();
    let (now, stamp) = (Time::from_micros(9_000), Time::from_micros(3_000));
    connection.handle(Arrival { now, stamp: Some(stamp), is_marked: false }, &data(2, 1_000));
    assert_eq!(reported(&mut connection, now), 2_000);
}

#[test]
fn of_a_batch_with_one_stamp_the_first_packet_alone_is_a_sample() {
    let mut connection = accepted();
    let at = |stamp_us| Arrival {
        now: Time::from_micros(9_000),
        stamp: Some(Time::from_micros(stamp_us)),
        is_marked: false,
    };
    connection.handle(at(3_000), &data(2, 1_000));
    // Left 500 µs later, and arrived later than the stamp of the batch: 1 500 µs would be too short a delay.
    connection.handle(at(3_000), &data(3, 1_500));
    assert_eq!(reported(&mut connection, Time::from_micros(9_000)), 2_000);
    // The next batch has a stamp of its own.
    connection.handle(at(6_000), &data(4, 4_500));
    assert_eq!(reported(&mut connection, Time::from_micros(9_000)), 1_500);
}
