//! libutp against itself: shows that the driver works.

mod support;

use std::net::{IpAddr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use afteryou_interop::{Ended, Error, Finish, Job, LibutpPeer, Loss, Options, UtpFailure};
use support::{pattern, PATIENCE};

const MIB: usize = 1 << 20;

fn sending(bytes: &[u8], finish: Finish) -> Job {
    Job { send: bytes.to_vec(), finish, ..Job::default() }
}

#[test]
fn a_mebibyte_arrives_whole_and_both_ends_close() {
    let data = pattern(MIB);
    let pair = LibutpPeer::pair(sending(&data, Finish::HalfClose), Job::default()).unwrap();
    let (connecting, accepting) = pair.join(PATIENCE).unwrap();
    assert!(accepting.received == data);
    assert!(accepting.got_eof && accepting.closed, "{accepting:?}");
    assert!(connecting.got_eof && connecting.closed, "{connecting:?}");
    assert_eq!(connecting.ended, Ended::Done);
    assert_eq!(connecting.written, MIB);
    assert_eq!((connecting.error, accepting.error), (None, None));
    assert_eq!(connecting.sent.by_type[4], 1);
}

#[test]
fn an_end_that_closes_first_acks_no_fin_and_answers_it_with_a_reset() {
    // Once its own FIN is acked, a closed libutp forgets the connection.
    let pair = LibutpPeer::pair(sending(b"bye", Finish::Close), Job::default()).unwrap();
    let (connecting, accepting) = pair.join(PATIENCE).unwrap();
    assert!(connecting.closed && !connecting.got_eof, "{connecting:?}");
    assert_eq!(accepting.received, b"bye");
    assert!(accepting.got_eof && !accepting.closed, "{accepting:?}");
    assert_eq!(accepting.error, Some(UtpFailure::Reset));
}

#[test]
fn both_directions_arrive_whole_with_half_close() {
    let (there, back) = (pattern(300_000), pattern(200_001));
    let pair = LibutpPeer::pair(sending(&there, Finish::HalfClose), sending(&back, Finish::HalfClose));
    let (connecting, accepting) = pair.unwrap().join(PATIENCE).unwrap();
    assert!(accepting.received == there && connecting.received == back);
    assert!(connecting.got_eof && accepting.got_eof);
    assert!(connecting.closed && accepting.closed);
}

#[test]
fn everything_arrives_over_ipv6() {
    let bind = IpAddr::V6(Ipv6Addr::LOCALHOST);
    if UdpSocket::bind((bind, 0)).is_err() {
        eprintln!("skipped: this machine has no ipv6 loopback");
        return;
    }
    let options = Options { bind, ..Options::default() };
    let data = pattern(100_000);
    let mut connecting = sending(&data, Finish::Close);
    connecting.options = options.clone();
    let accepting = Job { options, ..Job::default() };
    let pair = LibutpPeer::pair(connecting, accepting).unwrap();
    let (connecting, accepting) = pair.join(PATIENCE).unwrap();
    assert!(accepting.received == data);
    assert_eq!(connecting.sent.by_size.keys().last(), Some(&1232));
}

#[test]
fn everything_arrives_when_one_in_twenty_datagrams_is_lost_each_way() {
    let data = pattern(200_000);
    let mut connecting = sending(&data, Finish::Close);
    connecting.deadline = Duration::from_secs(120);
    connecting.options.loss =
        Loss { sent_per_mille: 50, received_per_mille: 50, seed: 42, ..Loss::default() };
    let accepting = Job { deadline: Duration::from_secs(120), ..Job::default() };
    let pair = LibutpPeer::pair(connecting, accepting).unwrap();
    let (connecting, accepting) = pair.join(Duration::from_secs(120)).unwrap();
    assert!(accepting.received == data);
    assert!(connecting.sent.dropped > 0 && connecting.got.dropped > 0);
}

#[test]
fn sequence_numbers_wrap_around_in_a_transfer() {
    let data = pattern(200_000);
    let mut connecting = sending(&data, Finish::Close);
    connecting.options.first_seq = Some(65_500);
    let pair = LibutpPeer::pair(connecting, Job::default()).unwrap();
    let (_, accepting) = pair.join(PATIENCE).unwrap();
    assert!(accepting.received == data);
}

#[test]
fn a_slow_reader_holds_the_sender_back() {
    let data = pattern(120_000);
    let mut accepting = Job::default();
    accepting.options.recv_buffer = Some(20_000);
    accepting.options.read_rate = Some(100_000);
    let started = Instant::now();
    let pair = LibutpPeer::pair(sending(&data, Finish::Close), accepting).unwrap();
    let (_, accepting) = pair.join(PATIENCE).unwrap();
    assert!(accepting.received == data);
    // 100 kB have to be read at 100 kB/s before the last 20 kB fit.
    assert!(started.elapsed() > Duration::from_millis(900));
}

#[test]
fn a_peer_that_nobody_calls_ends_at_its_deadline() {
    let job = Job { deadline: Duration::from_millis(200), ..Job::default() };
    let outcome = LibutpPeer::accept_one(job).unwrap().join(PATIENCE).unwrap();
    assert_eq!(outcome.ended, Ended::Deadline);
    assert!(!outcome.connected);
}

#[test]
fn join_stops_a_late_peer_and_tells_what_it_got() {
    let handle = LibutpPeer::accept_one(Job::default()).unwrap();
    match handle.join(Duration::from_millis(100)) {
        Err(Error::NotDone { partial, .. }) => assert_eq!(partial[0].ended, Ended::Stopped),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_peer_of_the_same_thread_is_refused_until_the_first_is_dropped() {
    let first = LibutpPeer::accept_one(Job::default()).unwrap();
    let second = LibutpPeer::accept_one(Job::default());
    assert!(matches!(second, Err(Error::Busy)));
    drop(first);
    LibutpPeer::accept_one(Job::default()).unwrap();
}

#[test]
fn an_option_that_libutp_would_abort_on_is_refused() {
    let mut job = Job::default();
    job.options.udp_mtu = Some(500);
    let refused = LibutpPeer::accept_one(job).unwrap_err().to_string();
    assert!(refused.contains("`udp_mtu` is 500"), "{refused}");
}

#[test]
fn an_address_that_is_not_loopback_or_of_the_other_family_is_refused() {
    for to in ["192.0.2.1:9", "[::1]:9"] {
        let refused = LibutpPeer::connect(to.parse().unwrap(), Job::default());
        assert!(matches!(refused, Err(Error::Address { .. })), "{to}");
    }
}
