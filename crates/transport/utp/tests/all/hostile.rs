//! Packets that nobody honest would send: nothing panics, nothing grows without bound, nothing spins.

use crate::connection::{forged, Forged, Machine, Number, Op, Setup, Start, MAX_PAYLOAD, STARTS};
use crate::packet;
use afteryou_base::Span;
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::sack::Sack;
use afteryou_utp::Error;
use proptest::prelude::*;
use proptest::sample::{select, Index};

fn kinds() -> impl Strategy<Value = Kind> {
    // A reset in the window ends the story, so it is rare.
    prop_oneof![
        8 => Just(Kind::Data),
        6 => Just(Kind::State),
        2 => Just(Kind::Fin),
        1 => Just(Kind::Reset),
        1 => Just(Kind::Syn),
    ]
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        4 => Just(Number::Near(0)),
        4 => (-40i16..40).prop_map(Number::Near),
        1 => any::<i16>().prop_map(Number::Near),
        1 => any::<u16>().prop_map(Number::Exactly),
    ]
}

fn sacks() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![
        4 => Just(None),
        1 => prop::collection::vec(any::<u8>(), 0..=255).prop_map(Some),
        1 => prop::collection::vec(any::<u8>(), 4).prop_map(Some),
        1 => prop::collection::vec(Just(0xFF), 0..=255).prop_map(Some),
    ]
}

prop_compose! {
    fn packets()(
        kind in kinds(),
        numbers in (numbers(), numbers()),
        sack in sacks(),
        marks in prop_oneof![3 => Just(None), 1 => (0u32..3000).prop_map(Some), 1 => any::<u32>().prop_map(Some)],
        wnd_size in prop_oneof![Just(0), Just(u32::MAX), 0u32..3000, any::<u32>()],
        payload in prop_oneof![Just(0), Just(MAX_PAYLOAD), 0..=MAX_PAYLOAD],
        timestamps: (u32, u32),
    ) -> Forged {
        Forged {
            kind,
            seq_nr: numbers.0,
            ack_nr: numbers.1,
            sack,
            marks,
            wnd_size,
            payload,
            timestamp_us: timestamps.0,
            timestamp_difference_us: timestamps.1,
        }
    }
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        16 => packets().prop_map(Op::Packet),
        2 => (0u64..5_000_000).prop_map(|ns| Op::Pass(Span(ns))),
        2 => (0u64..5_000).prop_map(|ms| Op::Pass(Span::from_millis(ms))),
        1 => Just(Op::Pass(Span::from_secs(3600))),
        1 => (0u64..3_700_000).prop_map(|ms| Op::Back(Span::from_millis(ms))),
        4 => Just(Op::Tick),
        4 => Just(Op::Deadline),
        4 => (0u16..20_000).prop_map(Op::Write),
        2 => (0u16..5_000).prop_map(Op::Read),
        1 => Just(Op::Discard),
        1 => Just(Op::Flush),
        1 => prop::bool::weighted(0.3).prop_map(|end| if end { Op::Finish } else { Op::Flush }),
        1 => prop::bool::weighted(0.1).prop_map(|end| if end { Op::Abort } else { Op::Tick }),
    ]
}

fn setups() -> impl Strategy<Value = Setup> {
    let seq_nr = prop_oneof![any::<u16>(), 65_500u16..=65_535];
    (any::<u8>(), select(&STARTS[..]), any::<u8>(), seq_nr)
        .prop_map(|(controller, start, options, seq_nr)| Setup { controller, start, options, seq_nr })
}

proptest! {
    #[test]
    fn any_bytes_are_a_packet_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        packet::run(&bytes);
    }

    #[test]
    fn any_mangled_packet_is_a_packet_or_refused(
        forged in packets(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..6),
        len: Option<Index>,
        extension in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let payload = vec![1; usize::from(forged.payload)];
        let sack = forged.sack.as_deref().map(Sack::new);
        let mut bytes = Vec::new();
        Packet { header: forged.packet_header(1, 2), sack, marks: forged.marks, payload: &payload }.encode(&mut bytes);
        packet::run(&bytes);
        bytes.splice(20..20, extension);
        for (at, value) in changes {
            // Most of what can go wrong is decided by the first bytes.
            let at = at.index(bytes.len().min(64));
            bytes[at] = value;
        }
        bytes.truncate(len.map_or(bytes.len(), |len| len.index(bytes.len() + 1)));
        packet::run(&bytes);
    }

    #[test]
    fn whatever_peer_clock_and_application_do_a_connection_keeps_its_bounds(
        setup in setups(),
        ops in prop::collection::vec(ops(), 0..60),
    ) {
        let mut machine = Machine::new(setup);
        ops.iter().for_each(|op| machine.run(op));
        machine.end();
    }
}

/// Opens a connection with the default settings.
fn machine(start: Start) -> Machine {
    Machine::new(Setup { controller: 3, start, options: 0, seq_nr: 65_530 })
}

fn receive(machine: &mut Machine, forged: Forged) {
    machine.run(&Op::Packet(forged));
}

fn data(offset: i16, payload: u16) -> Forged {
    Forged { seq_nr: Number::Near(offset), payload, ..forged(Kind::Data) }
}

/// Runs from deadline to deadline until the connection is closed; how long that took, s.
fn close_by_itself(machine: &mut Machine) -> f64 {
    let began = machine.now;
    for _ in 0..10_000 {
        if machine.connection.is_closed() {
            return (machine.now - began).as_secs_f64();
        }
        machine.run(&Op::Deadline);
    }
    panic!("it never ends: {:?}", machine.connection);
}

#[test]
fn a_peer_that_acknowledges_what_was_never_sent_is_not_believed() {
    for start in STARTS {
        let mut machine = machine(start);
        let before = machine.connection.statistics();
        for offset in [1, 2, 3, 100, 10_000, 32_000, -32_000, -10_000] {
            let ack_nr = Number::Near(offset);
            receive(&mut machine, Forged { ack_nr, sack: Some(vec![0xFF; 252]), ..forged(Kind::State) });
            receive(&mut machine, Forged { ack_nr, payload: 100, ..forged(Kind::Data) });
            receive(&mut machine, Forged { ack_nr, ..forged(Kind::Fin) });
        }
        let after = machine.connection.statistics();
        assert_eq!(after.bytes_delivered, before.bytes_delivered, "{start:?}");
        assert_eq!(after.bytes_received, before.bytes_received, "{start:?}");
    }
}

#[test]
fn a_peer_that_sacks_everything_but_the_first_packet_is_given_up() {
    let mut machine = machine(Start::Sending);
    let oldest = machine.connection.statistics().max_packets_outstanding as i16;
    for _ in 0..2_000 {
        machine.run(&Op::Write(60_000));
        let ack_nr = Number::Near(-(machine.connection.statistics().max_packets_outstanding as i16));
        receive(&mut machine, Forged { ack_nr, sack: Some(vec![0xFF; 255]), ..forged(Kind::State) });
        machine.run(&Op::Pass(Span::from_millis(20)));
        machine.run(&Op::Tick);
    }
    let outstanding = machine.connection.statistics().max_packets_outstanding;
    assert!(outstanding > oldest as u64 && outstanding <= 8192, "{outstanding}");
    assert!(close_by_itself(&mut machine) < 200.0);
    assert_eq!(machine.connection.error(), Some(Error::TimedOut));
}

#[test]
fn a_peer_that_closes_its_window_gets_a_few_probes_and_no_flood() {
    let mut machine = machine(Start::Sending);
    let closed = || Forged { wnd_size: 0, ..forged(Kind::State) };
    for _ in 0..20 {
        machine.run(&Op::Write(60_000));
        receive(&mut machine, closed());
    }
    let before = machine.connection.statistics().packets_sent;
    for _ in 0..1_000 {
        machine.run(&Op::Pass(Span::from_millis(100)));
        machine.run(&Op::Tick);
        let ack_nr = Number::Near(-1); // has not taken the probe
        receive(&mut machine, Forged { ack_nr, ..closed() });
    }
    let probes = machine.connection.statistics().packets_sent - before;
    assert!((3..60).contains(&probes), "{probes} packets into a closed window");
}

#[test]
fn the_first_fin_is_the_end_whatever_others_say() {
    for (first, others) in [(5i16, [3i16, 4, 9]), (5, [9, 3, 0]), (2, [1, 200, -5])] {
        let mut machine = machine(Start::Receiving);
        let base = machine.connection.statistics().bytes_received;
        // Data up to and beyond the end, then several ends, then what fills the gap.
        for offset in (1..8).filter(|offset| *offset != first) {
            receive(&mut machine, data(offset, 10));
        }
        for offset in std::iter::once(first).chain(others) {
            receive(&mut machine, Forged { seq_nr: Number::Near(offset), ..forged(Kind::Fin) });
        }
        for offset in [8, 0] {
            receive(&mut machine, data(offset, 10));
        }
        let received = machine.connection.statistics().bytes_received - base;
        machine.run(&Op::Read(60_000));
        assert!(machine.connection.is_at_end(), "FIN {first}, then {others:?}");
        assert!(received <= 50, "FIN {first}, then {others:?}: {received} bytes");
        for offset in -10..10 {
            receive(&mut machine, data(offset, 10));
            assert!(
                machine.connection.is_at_end()
                    && machine.connection.statistics().bytes_received == base + received
            );
        }
    }
}

#[test]
fn what_follows_the_window_is_not_taken_while_something_waits_far_ahead() {
    let mut machine = Machine::new(Setup { controller: 3, start: Start::Receiving, options: 1, seq_nr: 0 });
    receive(&mut machine, data(10_000, 1));
    for _ in 0..9_000 {
        receive(&mut machine, data(0, MAX_PAYLOAD)); // checks that the unread bytes stay within the buffer
    }
    machine.run(&Op::Read(60_000));
    receive(&mut machine, data(0, 100));
    assert!(machine.connection.is_readable(), "reading makes room again");
}

#[test]
fn every_sequence_number_at_once_stays_within_the_buffer() {
    for payload in [0, 1, 100, MAX_PAYLOAD] {
        let mut machine = machine(Start::Receiving);
        for seq_nr in (0..=u16::MAX).rev() {
            receive(&mut machine, Forged { seq_nr: Number::Exactly(seq_nr), payload, ..forged(Kind::Data) });
        }
        machine.end();
    }
}

#[test]
fn a_connection_that_is_being_opened_does_not_spin_on_its_keepalive() {
    let mut machine =
        Machine::new(Setup { controller: 0, start: Start::SynSent, options: 1 << 2, seq_nr: 1 });
    assert!(close_by_itself(&mut machine) < 30.0);
    assert_eq!(machine.connection.error(), Some(Error::Unreachable));
    assert_eq!(machine.connection.statistics().packets_sent, 3);
}

#[test]
fn before_the_first_round_trip_sample_no_controller_spins() {
    for controller in 0..4 {
        let options = 1 << 3 | 1 << 4; // payloads of 100 bytes, no waiting for full ones
        let mut machine = Machine::new(Setup { controller, start: Start::Accepted, options, seq_nr: 1 });
        for op in [Op::Write(150), Op::Finish, Op::Pass(Span::from_secs(4)), Op::Tick] {
            machine.run(&op);
        }
        // Everything was sent twice, so no ack has a round-trip time.
        let ack_nr = Number::Near(-2);
        receive(&mut machine, Forged { ack_nr, ..forged(Kind::State) });
        receive(&mut machine, Forged { ack_nr, sack: Some(vec![1, 0, 0, 0]), ..forged(Kind::State) });
        machine.run(&Op::Tick);
        assert_eq!(machine.connection.statistics().smoothed_rtt, None);
    }
}

#[test]
fn acks_that_arrive_as_soon_as_the_packet_leaves_make_no_controller_spin() {
    for controller in 0..4 {
        let options = 1 << 3 | 1 << 4;
        let mut machine = Machine::new(Setup { controller, start: Start::Accepted, options, seq_nr: 1 });
        machine.run(&Op::Write(101));
        // The second packet is reported, the first is lost by that, and no time at all has passed.
        let sack = Some(vec![1, 0, 0, 0]);
        receive(&mut machine, Forged { ack_nr: Number::Near(-2), sack, ..forged(Kind::State) });
        machine.run(&Op::Tick);
        assert!(machine.connection.statistics().smoothed_rtt.is_some());
    }
}
