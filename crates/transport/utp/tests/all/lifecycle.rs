//! Opening, closing and failing, over whole paths in virtual time.

use crate::support::{Path, Plan, Side, World};
use afteryou_base::{Span, Time};
use afteryou_cc::list;
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{Config, Connection, ConnectionId, Error, Host, Recovery, SeqNr};

fn controller() -> Box<dyn afteryou_cc::Controller> {
    list::find("newreno").unwrap().build(&[], afteryou_cc::Setup::of(1352)).unwrap()
}

fn transmit(connection: &mut Connection, now: Time) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut datagram = Vec::new();
        if !connection.poll_transmit(now, &mut datagram) {
            return all;
        }
        all.push(datagram);
    }
}

/// Exchanges everything without delay until both are silent.
fn exchange(now: Time, a: &mut Connection, b: &mut Connection) {
    for _ in 0..100 {
        let (from_a, from_b) = (transmit(a, now), transmit(b, now));
        if from_a.is_empty() && from_b.is_empty() {
            return;
        }
        from_a.iter().for_each(|datagram| b.handle(now, &Packet::decode(datagram).unwrap()));
        from_b.iter().for_each(|datagram| a.handle(now, &Packet::decode(datagram).unwrap()));
    }
    panic!("they never fall silent");
}

/// Returns two connected ends.
fn pair(config: Config) -> (Connection, Connection) {
    let mut a = Connection::connect(config.clone(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
    let syn = transmit(&mut a, Time::ZERO).remove(0);
    let mut b =
        Connection::accept(config, controller(), Time::ZERO, &Packet::decode(&syn).unwrap(), SeqNr(5000));
    exchange(Time::ZERO, &mut a, &mut b);
    assert!(a.is_connected() && b.is_connected());
    (a, b)
}

fn read_all(connection: &mut Connection, now: Time) -> Vec<u8> {
    let mut buf = vec![0; 100_000];
    let n = connection.read(now, &mut buf).unwrap();
    buf.truncate(n);
    buf
}

/// Runs one connection alone and notes when it sends.
fn sends_until_closed(connection: &mut Connection) -> (Vec<f64>, f64) {
    let (mut now, mut sent) = (Time::ZERO, Vec::new());
    loop {
        sent.extend(transmit(connection, now).iter().map(|_| now.as_secs_f64()));
        match connection.deadline() {
            Some(at) => now = at,
            None => return (sent, now.as_secs_f64()),
        }
        connection.handle_deadline(now);
    }
}

#[test]
fn an_unanswered_syn_is_resent_at_3_and_9_s_and_fails_at_21_s() {
    for recovery in [Recovery::Modern, Recovery::Libutp, Recovery::Libutp200ms, Recovery::LibutpMod] {
        let config = Config::recovering(recovery);
        let mut connection =
            Connection::connect(config, controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
        let (sent, failed) = sends_until_closed(&mut connection);
        assert_eq!((sent, failed), (vec![0.0, 3.0, 9.0], 21.0));
        assert_eq!(connection.error(), Some(Error::Unreachable));
    }
}

#[test]
fn the_handshake_looks_as_bep_29_draws_it() {
    let mut a = Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
    let syn = transmit(&mut a, Time::ZERO).remove(0);
    let syn = Packet::decode(&syn).unwrap();
    assert_eq!(
        (syn.header.kind, syn.header.connection_id, syn.header.seq_nr),
        (Kind::Syn, ConnectionId(7), SeqNr(100))
    );
    let mut b = Connection::accept(Config::default(), controller(), Time::ZERO, &syn, SeqNr(5000));
    assert_eq!(b.recv_id(), ConnectionId(8));
    let state = transmit(&mut b, Time::ZERO).remove(0);
    let state = Packet::decode(&state).unwrap();
    assert_eq!(
        (state.header.kind, state.header.connection_id, state.header.ack_nr),
        (Kind::State, ConnectionId(7), SeqNr(100))
    );
    assert_eq!(state.header.seq_nr, SeqNr(5000), "the acceptor's next number");
    a.handle(Time::ZERO, &state);
    assert!(a.is_connected() && !b.is_connected());
    a.write(b"hi").unwrap();
    let sent = transmit(&mut a, Time::ZERO);
    let data = Packet::decode(&sent[0]).unwrap();
    assert_eq!((data.header.kind, data.header.connection_id), (Kind::Data, ConnectionId(8)));
    assert_eq!((data.header.seq_nr, data.header.ack_nr), (SeqNr(101), SeqNr(4999)));
    b.handle(Time::ZERO, &data);
    assert!(b.is_connected());
    assert_eq!(read_all(&mut b, Time::ZERO), b"hi");
}

#[test]
fn the_side_that_accepted_may_speak_first() {
    let (mut a, mut b) = pair(Config::default());
    b.write(b"hello").unwrap();
    exchange(Time::ZERO, &mut a, &mut b);
    assert_eq!(read_all(&mut a, Time::ZERO), b"hello");
}

#[test]
fn an_acceptor_waiting_to_speak_hears_the_initiator_even_if_its_first_ack_is_lost() {
    let mut world = World::new(Path::new(20, 500), vec![Plan::bulk("newreno", 50).sending(0)]);
    let mut lost = 0;
    world.filter = Some(Box::new(move |_, _, side, packet| {
        let first = side == Side::Client && packet.header.kind == Kind::State && lost == 0;
        lost += u32::from(first);
        !first
    }));
    assert!(world.run_to_completion(5_000));
}

#[test]
fn a_round_trip_longer_than_the_first_timeout_still_connects() {
    let mut world = World::new(Path::new(20, 500), vec![Plan::bulk("newreno", 10_000).sending(10_000)]);
    assert!(world.run_to_completion(120_000));
    assert_eq!((world.flows[0].received, world.flows[0].corrupt), (10_000, false));
}

#[test]
fn a_connection_that_nobody_confirms_is_kept_for_21_s() {
    let mut a = Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
    let syn = transmit(&mut a, Time::ZERO).remove(0);
    let syn = Packet::decode(&syn).unwrap();
    let mut b = Connection::accept(Config::default(), controller(), Time::ZERO, &syn, SeqNr(5000));
    assert_eq!(sends_until_closed(&mut b), (vec![0.0], 21.0));
    assert_eq!(b.error(), Some(Error::Unreachable));
}

#[test]
fn each_direction_ends_by_itself() {
    let (mut a, mut b) = pair(Config::default());
    a.write(b"question").unwrap();
    a.finish();
    exchange(Time::ZERO, &mut a, &mut b);
    assert_eq!(read_all(&mut b, Time::ZERO), b"question");
    assert!(b.is_at_end() && a.is_finish_acknowledged() && !a.is_at_end());
    assert_eq!(a.write(b"more"), Err(Error::Finished));
    for _ in 0..10 {
        b.write(&[7; 5000]).unwrap();
        exchange(Time::from_millis(50), &mut a, &mut b);
    }
    assert_eq!(read_all(&mut a, Time::from_millis(50)).len(), 50_000);
    b.finish();
    exchange(Time::from_millis(50), &mut a, &mut b);
    assert!(a.is_at_end());
    let late = Time::from_millis(60_000);
    a.handle_deadline(late);
    b.handle_deadline(late);
    assert!(a.is_closed() && b.is_closed());
    assert_eq!((a.error(), b.error()), (None, None));
}

#[test]
fn a_reset_ends_the_connection_and_one_out_of_the_blue_does_not() {
    let (mut a, mut b) = pair(Config::default());
    b.abort();
    let reset = transmit(&mut b, Time::ZERO).remove(0);
    let mut wrong = reset.clone();
    wrong[18] ^= 0x40; // acknowledges what was never sent
    a.handle(Time::ZERO, &Packet::decode(&wrong).unwrap());
    assert!(!a.is_closed());
    a.handle(Time::ZERO, &Packet::decode(&reset).unwrap());
    assert_eq!(a.error(), Some(Error::Reset));
    assert_eq!(a.write(b"x"), Err(Error::Reset));
    let mut c =
        Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(5000));
    transmit(&mut c, Time::ZERO);
    let mut refused = reset;
    refused[18..20].copy_from_slice(&5000u16.to_be_bytes());
    c.handle(Time::ZERO, &Packet::decode(&refused).unwrap());
    assert_eq!(c.error(), Some(Error::Refused));
}

#[test]
fn an_initiator_that_takes_its_syn_back_frees_the_acceptor() {
    let mut a = Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
    let syn = transmit(&mut a, Time::ZERO).remove(0);
    let syn = Packet::decode(&syn).unwrap();
    let mut b = Connection::accept(Config::default(), controller(), Time::ZERO, &syn, SeqNr(5000));
    a.abort();
    let reset = transmit(&mut a, Time::ZERO).remove(0);
    let reset = Packet::decode(&reset).unwrap();
    let (mut neighbour, mut guess) = (reset, reset);
    neighbour.header.connection_id.0 += 1;
    guess.header.seq_nr.0 += 1;
    b.handle(Time::ZERO, &neighbour);
    b.handle(Time::ZERO, &guess);
    assert!(!b.is_closed());
    b.handle(Time::ZERO, &reset);
    assert_eq!(b.error(), Some(Error::Reset));
}

#[test]
fn a_peer_that_vanishes_is_given_up_after_the_patience() {
    let (mut a, _) = pair(Config::default());
    a.write(&[1; 20_000]).unwrap();
    let (sent, failed) = sends_until_closed(&mut a);
    assert_eq!(a.error(), Some(Error::TimedOut));
    assert!((60.0..130.0).contains(&failed), "{failed} s");
    assert!(sent.len() < 40, "{} packets into the void", sent.len());
}

/// Runs one connection alone, whose application reads what comes, until it is closed; s.
fn reads_until_closed(connection: &mut Connection, mut now: Time) -> f64 {
    for _ in 0..1_000 {
        transmit(connection, now);
        let Some(at) = connection.deadline() else { return now.as_secs_f64() };
        now = at;
        connection.handle_deadline(now);
        read_all_or_error(connection, now);
    }
    panic!("it never ends: {connection:?}");
}

fn read_all_or_error(connection: &mut Connection, now: Time) {
    let _ = connection.read(now, &mut [0; 1000]);
}

#[test]
fn a_reader_learns_within_90_s_that_its_peer_is_gone_whatever_was_said_before() {
    let silent: fn(&mut Connection, &mut Connection) = |_, _| {};
    let spoken: fn(&mut Connection, &mut Connection) = |a, b| {
        b.write(&[1; 5000]).unwrap();
        exchange(Time::ZERO, a, b);
    };
    let half_closed: fn(&mut Connection, &mut Connection) = |a, b| {
        a.finish();
        exchange(Time::ZERO, a, b);
    };
    let with_a_gap: fn(&mut Connection, &mut Connection) = |a, b| {
        b.write(&[1; 5000]).unwrap();
        let sent = transmit(b, Time::ZERO);
        sent.iter().skip(1).for_each(|datagram| a.handle(Time::ZERO, &Packet::decode(datagram).unwrap()));
    };
    for before in [silent, spoken, half_closed, with_a_gap] {
        let (mut a, mut b) = pair(Config::default());
        before(&mut a, &mut b);
        let closed = reads_until_closed(&mut a, Time::ZERO);
        assert_eq!(a.error(), Some(Error::TimedOut));
        assert!((60.0..=90.0).contains(&closed), "{closed} s");
    }
}

/// One that sends nothing of its own accord: libtorrent, or a libutp that has sent its FIN.
#[test]
fn a_peer_without_keepalives_is_asked_and_kept_while_it_answers_every_third_time() {
    let (mut a, mut b) = pair(Config::default());
    let (mut asked, mut now) = (0, Time::ZERO);
    while now < Time::from_millis(3_600_000) {
        for datagram in transmit(&mut a, now) {
            b.handle(now, &Packet::decode(&datagram).unwrap());
            let answers = transmit(&mut b, now);
            asked += answers.len();
            let heard = asked % 3 == 0;
            answers.iter().filter(|_| heard).for_each(|ack| a.handle(now, &Packet::decode(ack).unwrap()));
        }
        now = a.deadline().unwrap();
        a.handle_deadline(now);
        assert_eq!(a.error(), None, "{} s", now.as_secs_f64());
    }
    assert!((60..300).contains(&asked), "{asked} questions in an hour");
}

#[test]
fn two_idle_ends_need_no_questions() {
    let (mut a, mut b) = pair(Config::default());
    for s in 0..600 {
        let now = Time::from_millis(s * 1000);
        a.handle_deadline(now);
        b.handle_deadline(now);
        exchange(now, &mut a, &mut b);
    }
    assert_eq!((a.error(), b.error()), (None, None));
    let duplicates = a.statistics().duplicates_received + b.statistics().duplicates_received;
    assert_eq!((duplicates, a.statistics().data_packets_sent), (0, 0));
}

#[test]
fn a_clock_that_jumps_ahead_ends_no_connection_before_the_peer_was_asked() {
    let (mut a, mut b) = pair(Config::default());
    let now = Time::from_millis(3_600_000);
    a.handle_deadline(now);
    exchange(now, &mut a, &mut b);
    let soon = now + Span::from_secs(30);
    a.handle_deadline(soon);
    exchange(soon, &mut a, &mut b);
    assert_eq!((a.error(), b.error()), (None, None));
}

#[test]
fn an_idle_connection_shows_itself_every_29_s() {
    let (mut a, mut b) = pair(Config::default());
    let mut sent = Vec::new();
    for s in 0..100 {
        let now = Time::from_millis(s * 1000);
        a.handle_deadline(now);
        b.handle_deadline(now);
        for datagram in transmit(&mut a, now) {
            b.handle(now, &Packet::decode(&datagram).unwrap());
            sent.push(s);
        }
        transmit(&mut b, now).iter().for_each(|ack| a.handle(now, &Packet::decode(ack).unwrap()));
    }
    assert!(sent.ends_with(&[29, 58, 87]) || sent.ends_with(&[30, 59, 88]) || sent.len() <= 7, "{sent:?}");
    assert!(sent.iter().any(|s| *s >= 80));
}

#[test]
fn a_sender_keeps_the_network_busy_and_holds_half_a_window_beside_it() {
    for window in [1 << 20, 2 << 20] {
        for (rtt_ms, loss) in [(5, 0.0), (50, 0.0), (135, 0.0), (250, 0.0), (50, 0.001)] {
            let config = Config { recv_buffer: window, ..Config::default() };
            let plan = Plan { config, host: Host::REAL, ..Plan::bulk("cubic", rtt_ms).without_content() };
            let mut world = World::new(Path::new(1_000, 50).lossy(loss), vec![plan]);
            let mut most = 0;
            for at in (0..4_000).step_by(7) {
                world.run_until(at);
                most = most.max(world.flows[0].held());
            }
            let what = format!("{window} bytes, {rtt_ms} ms, loss {loss}");
            // What is beyond a lost packet stays held until the gap is closed: up to two windows.
            let windows = if loss > 0.0 { 2.0 } else { 1.51 };
            assert!(most as f64 <= windows * window as f64, "{what}: {most} bytes held");
            let rate = world.flows[0].received_between(3_000, 4_000) as f64;
            let possible = (window as f64 / (rtt_ms as f64 / 1e3)).min(world.payload_capacity(3_000, 4_000));
            assert!(loss > 0.0 || rate > 0.97 * possible, "{what}: {rate} of {possible} bytes per second");
        }
    }
}

#[test]
fn a_slow_reader_closes_the_window_and_nothing_is_lost() {
    let server = Config { recv_buffer: 100_000, ..Config::default() };
    let plan =
        Plan { server: Some(server), read_rate: Some(500_000), ..Plan::bulk("cubic", 50).sending(1_000_000) };
    let mut world = World::new(Path::new(20, 500), vec![plan]);
    assert!(world.run_to_completion(20_000));
    let flow = &world.flows[0];
    assert_eq!((flow.received, flow.corrupt), (1_000_000, false));
    let took = flow.finished_at.unwrap().as_secs_f64();
    assert!((2.0..3.0).contains(&took), "{took} s at 500 kB/s");
    assert_eq!(flow.client().statistics().timeouts, 0);
}

#[test]
fn a_receive_buffer_of_a_few_packets_is_slow_but_never_stalls() {
    for recv_buffer in [2_000, 2_700, 4_000, 4_096] {
        let server = Config { recv_buffer, ..Config::default() };
        let plan = Plan {
            server: Some(server),
            read_rate: Some(10_000_000),
            ..Plan::bulk("cubic", 50).sending(20_000)
        };
        let mut world = World::new(Path::new(20, 500), vec![plan]);
        assert!(world.run_to_completion(60_000), "{recv_buffer} B");
        let (flow, statistics) = (&world.flows[0], world.flows[0].client().statistics());
        assert_eq!((flow.received, flow.corrupt, statistics.timeouts), (20_000, false, 0), "{recv_buffer} B");
        let took = flow.finished_at.unwrap().as_secs_f64();
        assert!(took < 1.5, "{recv_buffer} B: {took} s, {statistics:?}");
    }
}

#[test]
fn a_window_that_stays_closed_is_probed_and_opens_again() {
    let config = Config { recv_buffer: 5_000, ..Config::default() };
    let (mut a, mut b) = pair(config);
    a.write(&[3; 20_000]).unwrap();
    let mut now = Time::ZERO;
    let (mut got, mut lost_update) = (0, false);
    for _ in 0..400 {
        now += Span::from_millis(50);
        a.handle_deadline(now);
        b.handle_deadline(now);
        transmit(&mut a, now).iter().for_each(|datagram| b.handle(now, &Packet::decode(datagram).unwrap()));
        let answers = transmit(&mut b, now);
        answers.iter().for_each(|datagram| a.handle(now, &Packet::decode(datagram).unwrap()));
        if now > Time::from_millis(2_000) {
            got += read_all(&mut b, now).len();
            let updates = transmit(&mut b, now);
            if lost_update {
                updates.iter().for_each(|datagram| a.handle(now, &Packet::decode(datagram).unwrap()));
            }
            lost_update = true; // the first update is lost
        }
    }
    assert_eq!(got, 20_000);
}

#[test]
fn small_writes_wait_for_company_only_with_nagle() {
    for (nagle, packets) in [(true, 1), (false, 10)] {
        let (mut a, mut b) = pair(Config { nagle, ..Config::default() });
        a.write(b"first").unwrap();
        let first = transmit(&mut a, Time::ZERO);
        let now = Time::from_millis(100);
        for _ in 0..10 {
            a.write(&[1; 10]).unwrap();
            let sent = transmit(&mut a, now);
            assert!(sent.is_empty() || !nagle);
        }
        first.iter().for_each(|datagram| b.handle(now, &Packet::decode(datagram).unwrap()));
        exchange(now, &mut a, &mut b);
        b.handle_deadline(now + Span::from_millis(30));
        exchange(now + Span::from_millis(30), &mut a, &mut b);
        assert_eq!(a.statistics().data_packets_sent, 1 + packets, "nagle {nagle}");
    }
}

#[test]
fn the_rest_of_a_write_leaves_with_its_full_packets_and_that_of_the_next_one_waits_for_it() {
    let config = Config::default();
    let full = config.payload as usize;
    let (mut a, mut b) = pair(config);
    // The pacer lets them leave within a few milliseconds.
    let leave = |a: &mut Connection, from_ms: u64| -> Vec<_> {
        (from_ms..from_ms + 20).flat_map(|ms| transmit(a, Time::from_millis(ms))).collect()
    };
    a.write(&vec![1; 2 * full + 10]).unwrap();
    let sent = leave(&mut a, 0);
    assert_eq!(sent.len(), 3, "two full ones and the rest");
    a.write(&vec![2; full + 10]).unwrap();
    assert_eq!(leave(&mut a, 20).len(), 1, "a full one");
    let now = Time::from_millis(50);
    sent.iter().for_each(|datagram| b.handle(now, &Packet::decode(datagram).unwrap()));
    let acks = leave(&mut b, 50);
    acks.iter().for_each(|datagram| a.handle(now, &Packet::decode(datagram).unwrap()));
    assert_eq!(leave(&mut a, 70).len(), 1, "the second rest");
}

#[test]
fn a_reader_may_pause_for_longer_than_the_patience() {
    let (mut a, mut b) = pair(Config { recv_buffer: 5_000, ..Config::default() });
    a.write(&[3; 20_000]).unwrap();
    let mut now = Time::ZERO;
    for s in 0..400 {
        now = Time::from_millis(s * 500);
        a.handle_deadline(now);
        b.handle_deadline(now);
        exchange(now, &mut a, &mut b);
    }
    assert_eq!((a.error(), now), (None, Time::from_millis(199_500)));
    let mut got = 0;
    for _ in 0..400 {
        now += Span::from_millis(500);
        got += read_all(&mut b, now).len();
        a.handle_deadline(now);
        b.handle_deadline(now);
        exchange(now, &mut a, &mut b);
    }
    assert_eq!(got, 20_000);
}

#[test]
fn one_lost_answer_of_a_pausing_reader_does_not_end_the_connection() {
    for patience_s in [5, 20, 60] {
        let patience = Span::from_secs(patience_s);
        let (mut a, mut b) = pair(Config { recv_buffer: 5_000, patience, ..Config::default() });
        a.write(&[3; 20_000]).unwrap();
        let mut probes = 0;
        for half_s in 0..600 {
            let now = Time::from_millis(half_s * 500);
            a.handle_deadline(now);
            b.handle_deadline(now);
            let sent = transmit(&mut a, now);
            sent.iter().for_each(|datagram| b.handle(now, &Packet::decode(datagram).unwrap()));
            probes += sent.len();
            // Every second answer gets lost.
            let answers = transmit(&mut b, now);
            if probes % 2 == 0 {
                answers.iter().for_each(|datagram| a.handle(now, &Packet::decode(datagram).unwrap()));
            }
            assert_eq!(a.error(), None, "patience {patience_s} s, after {} s", now.as_secs_f64());
        }
        assert!((20..150).contains(&probes), "{probes} packets in 300 s");
    }
}

#[test]
fn a_configuration_without_payload_or_keepalive_still_works() {
    let (mut a, mut b) =
        pair(Config { payload: 0, keepalive: Span::ZERO, max_packets: 0, ..Config::default() });
    a.write(b"hi").unwrap();
    a.flush();
    for ms in 0..100 {
        let now = Time::from_millis(ms);
        a.handle_deadline(now);
        b.handle_deadline(now);
        exchange(now, &mut a, &mut b);
    }
    assert_eq!(read_all(&mut b, Time::ZERO), b"hi");
}
