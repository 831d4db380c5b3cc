//! One suite for the sender's promises to a controller, run over both transports.
//!
//! The [`auditor`] is a controller that keeps books. Each transmission has one number; later reports of an
//! acknowledgement or a loss must agree with the report of that transmission.

mod auditor;
mod ends;
mod path;

use afteryou_cc::{Pacing, RecoveryWindow, Span, Time};
use auditor::{Books, Rule};
use ends::{Ends, Tcp, Utp};
use path::{Link, Path, Transfer};

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
/// Losses among a thousand packets.
const LOSSES: [u32; 4] = [0, 1, 10, 50];
/// Payload of a packet, bytes.
const PACKET: u64 = 1000;
const PACKETS: u64 = 3000;

/// Runs a test over every path with both transports.
fn on_every_path(mut test: impl FnMut(&str, Make, Path)) {
    for rtt_ms in RTTS_MS {
        for loss in LOSSES {
            let path = Path { rtt: Span::from_millis(rtt_ms), loss, ..Path::default() };
            test(&format!("tcp, {rtt_ms} ms, {loss} ‰"), Tcp::begin, path);
            test(&format!("utp, {rtt_ms} ms, {loss} ‰"), Utp::begin, path);
        }
    }
}

/// Returns a window of about one bandwidth-delay product at 8 Mbit/s.
fn window(rtt: Span) -> Rule {
    Rule::window((rtt.as_micros() / 1000).max(10) * PACKET)
}

/// Sends everything and returns the books, which must be in order.
fn completed(what: &str, make: Make, rule: Rule, path: Path) -> Books {
    let (ends, books) = make(rule);
    let mut transfer = Transfer::new(ends, path);
    transfer.send(PACKETS * PACKET);
    assert!(transfer.run_until_flushed(Time::from_millis(600_000)), "{what}: not finished");
    books.lock(|books| assert_eq!(books.errors, Vec::<String>::new(), "{what}"));
    books
}

#[test]
fn every_byte_is_reported_as_delivered_once() {
    on_every_path(|what, make, path| {
        let books = completed(what, make, window(path.rtt), path);
        books.lock(|books| assert_eq!(books.delivered, PACKETS * PACKET, "{what}"));
    });
}

#[test]
fn a_lost_tail_is_probed_and_takes_no_timeout_however_long_the_path() {
    for rtt_ms in [5, 50, 135, 250, 600, 1000] {
        for packets in [1, 8] {
            let rule = Rule::window(100 * PACKET);
            let path = Path { rtt: Span::from_millis(rtt_ms), ..Path::default() };
            lose_a_tail(&format!("tcp, {rtt_ms} ms, {packets} packets"), Tcp::begin(rule), path, packets);
            lose_a_tail(&format!("utp, {rtt_ms} ms, {packets} packets"), Utp::begin(rule), path, packets);
        }
    }
}

/// Sends three chunks of `packets` packets. The last packet of the last one is lost once.
fn lose_a_tail(what: &str, (ends, books): (Box<dyn Ends>, Books), path: Path, packets: u64) {
    let mut transfer = Transfer::new(ends, path);
    for chunk in 0..3 {
        if chunk == 2 {
            transfer.lose_transmission(3 * packets - 1);
        }
        transfer.send(packets * PACKET);
        assert!(transfer.run_until_flushed(Time::from_millis(60_000)), "{what}");
    }
    books.lock(|books| {
        assert_eq!(books.errors, Vec::<String>::new(), "{what}");
        assert_eq!((books.timeouts, books.sent.len() as u64), (0, 3 * packets + 1), "{what}");
    });
}

#[test]
fn a_timeout_loses_the_first_packet_and_what_was_sent_a_round_trip_ago() {
    let mut timeouts = std::collections::BTreeMap::new();
    on_every_path(|what, make, path| {
        // TCP's shortest timeout comes on top of the round-trip time.
        let rto = match what.starts_with("tcp") {
            true => Span::from_millis(200) + path.rtt,
            false => Span::from_millis(500),
        };
        // Twenty packets in a round trip, whatever is lost.
        let rate = (20 * PACKET * 1_000_000).div_ceil(path.rtt.as_micros());
        let rule = Rule { pacing: Pacing::Rate(rate), ..Rule::window(1 << 40) };
        let from = Time::ZERO + path.rtt * 50;
        // The timer expires once for a probe, then for a timeout. Acks of what leaves after the outage come later than that, by a
        // part of the round trip.
        for eighths in 1..=12 {
            let until = from + rto * 2 + path.rtt * eighths / 8;
            let (ends, books) = make(rule);
            let mut transfer = Transfer::new(ends, Path { outage: Some((from, until)), ..path });
            transfer.send(2 * PACKETS * PACKET);
            assert!(transfer.run_until_flushed(Time::from_millis(600_000)), "{what}: not finished");
            books.lock(|books| {
                let lost = books.sent.last().map_or(0, |sent| sent.totals.lost) / PACKET;
                assert!(
                    lost <= transfer.dropped(),
                    "{what}, {eighths}/8: {lost}, not {}",
                    transfer.dropped()
                );
                assert_eq!(books.errors, Vec::<String>::new(), "{what}");
                *timeouts.entry((what[..3].to_owned(), path.rtt)).or_default() += books.timeouts;
            });
        }
    });
    assert!(timeouts.values().all(|timeouts: &u64| *timeouts > 0), "{timeouts:?}");
}

#[test]
fn rounds_last_for_a_round_trip() {
    on_every_path(|what, make, path| {
        let books = completed(what, make, window(path.rtt), path);
        books.lock(|books| {
            for pair in books.rounds.windows(2) {
                assert!(pair[1].since(pair[0]) >= path.rtt, "{what}: {pair:?}");
            }
        });
    });
}

#[test]
fn a_sender_is_idle_from_the_last_data_that_it_sent() {
    for rtt_ms in RTTS_MS {
        let rule = Rule::window(100 * PACKET);
        for (what, (ends, books)) in [("tcp", Tcp::begin(rule)), ("utp", Utp::begin(rule))] {
            let path = Path { rtt: Span::from_millis(rtt_ms), ..Path::default() };
            let mut transfer = Transfer::new(ends, path);
            for _ in 0..2 {
                transfer.send(8 * PACKET);
                assert!(transfer.run_until_flushed(Time::from_millis(60_000)), "{what}");
                transfer.pause(Span::from_millis(5000));
            }
            books.lock(|books| {
                // RFC 5681 §4.1: "if the TCP has not sent data in an interval exceeding the retransmission timeout".
                // A packet's turn lasts until the pacer would let the next one go: at most a hundredth of the round trip.
                let since_last = books.sent[8].now.since(books.sent[7].now);
                let [idle] = books.idles[..] else { panic!("{what}, {rtt_ms} ms: {:?}", books.idles) };
                let turn = since_last.saturating_sub(idle.idle_for);
                assert!(
                    turn <= path.rtt / 100 && idle.idle_for <= since_last,
                    "{what}, {rtt_ms} ms: {turn:?}"
                );
            });
        }
    }
}

#[test]
fn a_late_packet_is_reported_as_delivered_too() {
    on_every_path(|what, make, path| {
        // Packets overtake one another by up to a round trip: some were taken for lost.
        let path = Path { jitter: path.rtt, ..path };
        let books = completed(what, make, window(path.rtt), path);
        books.lock(|books| {
            assert!(books.spurious > 0 || books.losses > 0, "{what}: nothing came late");
            assert_eq!(books.delivered, PACKETS * PACKET, "{what}");
        });
    });
}

#[test]
fn compressed_acknowledgements_report_no_rate_above_the_rate_of_sending() {
    let rate = 1_000_000; // bytes per second
    on_every_path(|what, make, path| {
        // Acknowledgements wait for 60 ms; then the oldest of them comes 2 ms ahead of all the others.
        let path = Path { ack_gate: Some((Span::from_millis(60), Span::from_millis(2))), ..path };
        let rule = Rule { pacing: Pacing::Rate(rate), ..Rule::window(4000 * PACKET) };
        let books = completed(what, make, rule, path);
        books.lock(|books| {
            assert!(books.rates.len() > 20, "{what}: {} samples", books.rates.len());
            for sample in &books.rates {
                // The pacer makes up for late timers: 2 ms, and two packets at once.
                let most = rate as f64 * (sample.interval.as_secs_f64() + 0.002) + (2 * PACKET) as f64;
                assert!(sample.delivered as f64 <= most, "{what}: {sample:?}");
            }
        });
    });
}

#[test]
fn every_packet_is_reported_once_with_the_senders_state_when_it_left() {
    on_every_path(|what, make, path| {
        let books = completed(what, make, window(path.rtt), path);
        books.lock(|books| {
            assert_eq!(books.packet_bytes, PACKETS * PACKET, "{what}");
            assert_eq!(books.packets.len() as u64, PACKETS, "{what}");
            assert_eq!(books.queuing_at_loss.len() as u64, books.losses, "{what}");
        });
    });
}

#[test]
fn samples_that_waited_in_the_receiver_are_marked_and_one_of_an_ack_has_a_one_way_delay() {
    for rtt_ms in RTTS_MS {
        let path = Path { rtt: Span::from_millis(rtt_ms), ..Path::default() };
        for (what, make) in both() {
            let books = completed(what, make, window(path.rtt), path);
            books.lock(|books| {
                let (mut acks, mut one_way_delays) = (std::collections::BTreeSet::new(), 0);
                for packet in &books.packets {
                    let rtt = packet.rtt.expect("sent once");
                    let shows_the_path = rtt <= path.rtt + Span::from_millis(1);
                    assert!(shows_the_path || packet.may_have_waited, "{what}: {packet:?}");
                    acks.insert(packet.now);
                    one_way_delays += usize::from(packet.one_way_delay.is_some());
                }
                assert_eq!(one_way_delays, acks.len(), "{what}");
                let trusted = books.packets.iter().filter(|packet| !packet.may_have_waited).count();
                assert!(trusted as u64 >= PACKETS / 3, "{what}: {trusted}");
            });
        }
    }
}

#[test]
fn packets_leave_together_as_many_and_as_rarely_as_the_controller_wants() {
    for rtt_ms in RTTS_MS {
        let path = Path { rtt: Span::from_millis(rtt_ms), ..Path::default() };
        let every = path.rtt * 3;
        for (what, make) in both() {
            let rule = Rule {
                pacing: Pacing::Together { packets: 3, apart_us: 0, every },
                ..Rule::window(10 * PACKET)
            };
            let (ends, books) = make(rule);
            let mut transfer = Transfer::new(ends, path);
            transfer.send(30 * PACKET);
            assert!(transfer.run_until_flushed(Time::from_millis(600_000)), "{what}: not finished");
            books.lock(|books| {
                // uTP has no round-trip time until its first packet is acknowledged.
                let first =
                    books.sent.iter().position(|sent| sent.now > books.sent[0].now).expect("a second group");
                let times: Vec<Time> = books.sent[first..].iter().map(|sent| sent.now).collect();
                for group in times.chunks(3) {
                    assert!(group.iter().all(|at| *at == group[0]), "{what}, {rtt_ms} ms: {times:?}");
                }
                for pair in times.chunks(3).collect::<Vec<_>>().windows(2) {
                    assert_eq!(pair[1][0].since(pair[0][0]), every, "{what}, {rtt_ms} ms");
                }
            });
        }
    }
}

#[test]
fn a_controller_may_choose_the_window_of_a_recovery() {
    // A loss leaves ten packets of a hundred. PRR spreads that over a round trip, the controller's window holds at once.
    let sent_in_recovery = |make: Make, rtt: Span, recovery| {
        let path = Path { rtt, ..Path::default() };
        let rule = Rule { after_loss: Some(10 * PACKET), recovery, ..Rule::window(100 * PACKET) };
        let (ends, books) = make(rule);
        let mut transfer = Transfer::new(ends, path);
        transfer.lose_transmission(500);
        transfer.send(1000 * PACKET);
        assert!(transfer.run_until_flushed(Time::from_millis(600_000)), "not finished");
        books.lock(|books| {
            assert_eq!((books.losses, books.errors.as_slice()), (1, &[][..]));
            // The second of three SACKs sends new data yet (RFC 6675 §5, step 3), at the instant at which the third one shows
            // the loss. Only what left after the loss was reported belongs to the recovery.
            let after_loss = || books.sent.iter().filter(|sent| sent.totals.lost > 0);
            let repaired = after_loss().next().expect("repaired").now;
            // The pacer spreads a window over 0.8 of the round trip: for 0.72 more than ten packets are in flight.
            after_loss().filter(|sent| sent.now.since(repaired) < rtt * 3 / 5).count()
        })
    };
    for rtt in RTTS_MS.map(Span::from_millis) {
        for (what, make) in both() {
            let [prr, own] = [RecoveryWindow::Transport, RecoveryWindow::Controller]
                .map(|recovery| sent_in_recovery(make, rtt, recovery));
            // RFC 9937 §6.2: at least a tenth of the packets that are delivered meanwhile, 75 of them.
            assert!(prr >= 7, "{what}, {rtt:?}: {prr} packets");
            // RFC 6675 §5, step 4.3: the retransmission goes whatever the window is, and nothing else does.
            assert_eq!(own, 1, "{what}, {rtt:?}");
        }
    }
}

#[test]
fn a_loss_is_reported_with_the_queue_that_the_packet_met() {
    let path = Path {
        rtt: Span::from_millis(50),
        link: Some(Link { bytes_per_second: 1_000_000, buffer: 40 * PACKET }),
        ..Path::default()
    };
    for (what, make) in both() {
        let books = completed(what, make, Rule::window(120 * PACKET), path);
        books.lock(|books| {
            assert!(books.queuing_at_loss.len() > 3, "{what}: {} losses", books.queuing_at_loss.len());
            let first = books.queuing_at_loss[0];
            // 40 packets of a millisecond; the packet ahead of the lost one met a queue that was all but full.
            let range = Span::from_millis(36)..=Span::from_millis(41);
            assert!(range.contains(&first), "{what}: {first:?}");
        });
    }
}

type Make = fn(Rule) -> (Box<dyn Ends>, Books);

/// Returns both transports.
fn both() -> [(&'static str, Make); 2] {
    [("tcp", Tcp::begin), ("utp", Utp::begin)]
}
