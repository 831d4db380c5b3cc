//! Peers that get a place, that lose theirs, and that are answered without one.

use super::*;

#[test]
fn ninety_seconds_after_three_thousand_peers_have_vanished_a_new_one_is_served_and_their_memory_is_free() {
    let mut table = Host::new();
    table.config.max_connections = 3000;
    for i in 0..3000 {
        assert!(table.connect(host(i), 1));
        send_data(&mut table, i, 1, 10, |n| n);
    }
    assert!(!table.connect(host(5000), 1), "there is room for more than the limit");
    table.pass(Span::from_secs(90));
    assert!(table.connect(host(5000), 1));
    assert_eq!((table.streams.len(), table.table.entries.len()), (1, 1));
    assert!(table.table.entries.capacity() <= MIN_CAPACITY);
}

#[test]
fn three_thousand_silent_peers_give_way_to_others_and_peers_that_have_just_sent_data_do_not() {
    let mut table = Host::new();
    assert!((0..1000).all(|i| table.connect(host(i), 1)));
    (0..1000).for_each(|i| send_data(&mut table, i, 1, 10, |n| n));
    assert!((1000..3000).all(|i| table.connect(host(i), 1)), "{:?}", table.statistics());
    assert_eq!(table.statistics().connections, 3000);
    assert!((0..2000).all(|i| table.connect(host(10_000 + i), 1)), "{:?}", table.statistics());
    let EndpointStatistics { connections, displaced, .. } = table.statistics();
    assert_eq!((connections, displaced), (3000, 2000));
    let stays = |i| table.table.entries.contains_key(&Key::new(host(i), ConnectionId(2)));
    assert!((0..1000).all(stays) && !(1000..3000).any(stays));
    let is_gone = |handle: &Handle| !table.table.entries.contains_key(&handle.key);
    assert!(!table.streams.iter().any(is_gone), "the application has not been informed");
}

/// Connects address `i` and sends 14 bytes; returns whether it got in.
fn connect_and_say(table: &mut Host, i: u32) -> bool {
    let gets_in = table.connect(host(i), 1);
    if gets_in {
        send_data(table, i, 1, 14, |n| n);
    }
    gets_in
}

/// Returns how long an honest peer takes to get in, which asks again as a libutp and this crate do.
fn time_to_connect(table: &mut Host, peer: SocketAddr) -> Option<Span> {
    let begin = table.now;
    let seq_nr = table.syn(peer, 1)?;
    for wait in [50, 500, 1000] {
        table.pass(Span::from_millis(wait));
        if table.confirm(peer, 1, seq_nr) {
            return Some(table.now.since(begin));
        }
    }
    None
}

#[test]
fn an_honest_peer_gets_in_within_two_seconds_beside_ten_thousand_addresses_that_each_sent_14_bytes() {
    for (apart, pause_s) in [(Span::ZERO, 0), (Span::from_micros(300), 0), (Span::from_millis(1), 5)] {
        let mut table = Host::new();
        for i in 0..10_000 {
            connect_and_say(&mut table, i);
            table.streams.clear(); // the application holds them and does nothing
            table.pass(apart);
        }
        table.pass(Span::from_secs(pause_s));
        assert_eq!(table.statistics().connections, 3000);
        for i in 0..100 {
            let took = time_to_connect(&mut table, host(20_000 + i));
            assert!(took <= Some(Span::from_secs(2)) && took.is_some(), "{apart:?} apart, {i}: {took:?}");
            send_data(&mut table, 20_000 + i, 1, 100, |n| n);
            table.streams.clear();
        }
        let stays = |i| table.table.entries.contains_key(&Key::new(host(i), ConnectionId(2)));
        assert!((20_000..20_100).all(stays), "{apart:?} apart: an honest one was displaced");
    }
}

#[test]
fn of_all_connections_the_one_silent_longest_gives_way_whatever_it_once_carried() {
    let mut table = Host::with(EndpointConfig { max_connections: 5, ..EndpointConfig::foreground() });
    let second = Span::from_secs(1);
    for i in 0..5 {
        assert!(table.connect(host(i), 1));
        send_data(&mut table, i, 1, 100_000 / 100, |n| n);
        table.pass(second);
    }
    // The first one speaks again, so the second has been silent longest.
    table.pass(second * 2);
    send_data_from(&mut table, 0, 1, 10);
    for (newcomer, gone) in [(10, 1), (11, 2), (12, 3)] {
        assert!(table.connect(host(newcomer), 1), "{newcomer}");
        let is_there = |i| table.table.entries.contains_key(&Key::new(host(i), ConnectionId(2)));
        assert!(!is_there(gone) && is_there(0), "{newcomer}");
    }
}

#[test]
fn the_prefix_with_most_places_gives_way_first() {
    let mut table = Host::with(EndpointConfig { max_connections: 8, ..EndpointConfig::foreground() });
    assert!(table.connect(host(1), 1));
    table.pass(Span::from_secs(10));
    let many = |i: u16| SocketAddr::new(host(2).ip(), 1000 + i);
    let places = (0..8).filter(|i| table.connect(many(*i), 1)).count();
    assert_eq!(places, 4);
    (3..6).for_each(|i| assert!(table.connect(host(i), 1)));
    table.pass(Span::from_secs(10));
    for newcomer in 10..13 {
        assert!(table.connect(host(newcomer), 1));
        let left =
            (0..8).filter(|i| table.table.entries.contains_key(&Key::new(many(*i), ConnectionId(2)))).count();
        assert_eq!(left, 4 - (newcomer - 9) as usize);
        assert!(
            table.table.entries.contains_key(&Key::new(host(1), ConnectionId(2))),
            "silent longer, but alone"
        );
    }
}

#[test]
fn connections_that_move_data_every_second_all_stay() {
    let mut table = Host::with(EndpointConfig { max_connections: 50, ..EndpointConfig::foreground() });
    (0..50).for_each(|i| assert!(table.connect(host(i), 1)));
    for round in 0..20 {
        (0..50).for_each(|i| send_data_from(&mut table, i, round, 10));
        if round > 2 {
            assert!(!table.connect(host(1000 + u32::from(round)), 1), "{round}");
        }
        table.pass(Span::from_secs(1));
    }
    assert!((0..50).all(|i| table.table.entries.contains_key(&Key::new(host(i), ConnectionId(2)))));
    // They fall silent.
    table.pass(Span::from_secs(6));
    assert!(table.connect(host(2000), 1));
}

/// Sends from address `i` the packet after `sent` others, of `len` bytes.
fn send_data_from(table: &mut Host, i: u32, sent: u16, len: usize) {
    let ack_nr = table.first_ack(host(i), 2);
    let header = Header {
        kind: Kind::Data,
        connection_id: ConnectionId(2),
        timestamp: Micros(1),
        timestamp_difference: Micros(1),
        wnd_size: 1 << 20,
        seq_nr: SeqNr(2 + sent),
        ack_nr: SeqNr(ack_nr),
    };
    let (payload, mut datagram) = (vec![7; len], Vec::new());
    Packet { header, sack: None, marks: None, payload: &payload }.encode(&mut datagram);
    table.answers(host(i), &datagram);
}

/// Sends `rate` SYNs a second, for some seconds, each from the host that `from` names, while once a second a peer with a
/// round trip of 200 ms connects. Returns how many of those get in, and their number.
fn connected_beside_a_flood(rate: u64, seconds: u32, from: impl Fn(u32) -> SocketAddr) -> (usize, u32) {
    let mut table = Host::new();
    let mut connected = 0;
    let mut sent = 0;
    for second in 0..seconds {
        let peer = host(0x10_0000 + second);
        let begin = Time::from_millis(u64::from(second) * 1000);
        let (confirms_at, end) = (begin + Span::from_millis(200), begin + Span::from_secs(1));
        let mut answered = table.syn(peer, 7);
        while table.now < end {
            table.syn(from(sent), (sent * 2) as u16 & 0x7FFF);
            sent += 1;
            table.pass(Span::from_secs(1) / rate);
            if let Some(seq_nr) = answered.take_if(|_| table.now >= confirms_at) {
                connected += usize::from(table.confirm(peer, 7, seq_nr));
            }
        }
        let EndpointStatistics { memory, memory_limit, .. } = table.statistics();
        assert!(memory <= memory_limit);
    }
    (connected, seconds)
}

#[test]
fn syns_of_one_prefix_or_of_forged_addresses_keep_nobody_out() {
    // 55 kbit/s for a minute, and more than the half-open places in a round trip.
    for (rate, seconds) in [(143, 60), (20_000, 2)] {
        let everyone = |from: fn(u32) -> SocketAddr, what| {
            let (connected, of) = connected_beside_a_flood(rate, seconds, from);
            assert_eq!(connected as u32, of, "{what}, {rate} a second");
        };
        everyone(|_| host(1), "one address");
        everyone(|i| SocketAddr::new(host(1).ip(), i as u16 | 1), "one address, many ports");
        everyone(|i| SocketAddr::new(v6(1, i), 1), "one IPv6 network");
        everyone(|i| host(i.wrapping_mul(2_654_435_761) >> 12), "forged addresses");
    }
}

#[test]
fn a_syn_that_comes_again_and_again_is_answered_twice_a_second_and_one_after_a_timeout_always() {
    for completes in [false, true] {
        let mut table = Host::new();
        let seq_nr = table.syn(host(1), 7).expect("it is answered");
        assert!(!completes || table.confirm(host(1), 7, seq_nr));
        let answers = (0..3000).filter(|_| {
            table.pass(Span::from_millis(1));
            table.syn(host(1), 7).is_some()
        });
        assert_eq!(answers.count(), 6, "completes: {completes}");
        // The shortest timeout before a SYN is repeated (BEP 29).
        table.pass(Span::from_secs(1));
        assert!(table.syn(host(1), 7).is_some());
    }
}

#[test]
fn while_all_places_are_half_open_a_peer_gets_one_with_its_first_packet() {
    let mut table = Host::new();
    (0..1000).for_each(|i| assert!(table.syn(host(i), 1).is_some()));
    let before = table.statistics();
    assert_eq!((before.half_open, before.answered_without_place), (1000, 0));
    let seq_nr = table.syn(host(2000), 1).expect("it is answered");
    let after = table.statistics();
    assert_eq!((after.connections, after.answered_without_place), (before.connections, 1));
    assert_eq!(after.memory, before.memory);
    assert!(table.confirm(host(2000), 1, seq_nr));
    assert_eq!((table.statistics().half_open, table.statistics().connections), (999, 1000));
}

#[test]
fn a_peer_whose_half_open_place_went_to_another_gets_one_again_with_its_first_packet() {
    let mut table = Host::with(EndpointConfig { max_connections: 3, ..EndpointConfig::foreground() });
    (0..2).for_each(|i| assert!(table.connect(host(i), 1)));
    let slow = table.syn(host(10), 1).expect("a place is free");
    let quick = table.syn(host(11), 1).expect("it is answered without a place");
    assert!(table.confirm(host(11), 1, quick));
    assert_eq!(table.statistics().half_open, 0, "the oldest half-open place is that of host 10");
    assert!(table.confirm(host(10), 1, slow));
    let EndpointStatistics { connections, half_open, displaced, .. } = table.statistics();
    assert_eq!((connections, half_open, displaced), (3, 0, 1), "a silent peer gives way");
}

#[test]
fn a_peer_without_a_place_whose_first_packet_is_lost_is_not_reset_and_comes_in_when_it_sends_it_again() {
    let mut table = Host::new();
    (0..1000).for_each(|i| assert!(table.syn(host(i), 1).is_some()));
    table.syn(host(2000), 1).expect("it is answered");
    let ack_nr = table.first_ack(host(2000), 2);
    let data = |seq_nr| packet(Kind::Data, 2, seq_nr, ack_nr);
    (3..=11).for_each(|seq_nr| assert!(table.answers(host(2000), &data(seq_nr)).is_empty(), "{seq_nr}"));
    assert!(!table.table.entries.contains_key(&Key::new(host(2000), ConnectionId(2))));
    table.answers(host(2000), &data(2));
    assert!(table.table.entries.contains_key(&Key::new(host(2000), ConnectionId(2))));
    // Others are strangers as ever.
    let answers = table.answers(host(2001), &data(3));
    assert_eq!(header(&answers[0]).kind, Kind::Reset);
}

/// Returns host `i` of network `n`.
fn v6(n: u16, i: u32) -> std::net::IpAddr {
    std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, n, (i >> 16) as u16, 7, 0, i as u16).into()
}

#[test]
fn two_hundred_peers_behind_one_address_connect_at_once_while_another_address_takes_what_it_can() {
    let mut table = Host::new();
    (0..3000).for_each(|id| assert_eq!(table.connect(host(1), 2 * id), id <= 1500));
    let peer = |i: u16| SocketAddr::new(host(2).ip(), 1000 + i);
    assert!((0..200).all(|i| table.connect(peer(i), 5)));
    assert_eq!(table.streams.iter().filter(|handle| handle.key.peer.ip() == host(2).ip()).count(), 200);
}

#[test]
fn one_address_or_network_gets_half_of_the_places_and_the_next_ones_get_what_they_ask_for() {
    let mut table = Host::new();
    let addresses: [fn(u16) -> SocketAddr; 2] =
        [|id| SocketAddr::new(host(1).ip(), 1 + id % 7), |id| SocketAddr::new(v6(1, id.into()), 1)];
    let places = addresses.map(|of| (0..4000).filter(|id| table.connect(of(*id), 2 * id)).count());
    assert_eq!(places, [1501, 750]);
    assert!(table.connect(SocketAddr::new(v6(2, 0), 1), 1) && table.connect(host(2), 1));
}

#[test]
fn a_small_limit_is_for_one_peer_too() {
    for max_connections in [1, 2] {
        let mut table = Host::with(EndpointConfig { max_connections, ..EndpointConfig::foreground() });
        (0..3).for_each(|i| _ = table.connect(host(1), 2 * i));
        assert_eq!(table.statistics().connections, max_connections);
    }
}
