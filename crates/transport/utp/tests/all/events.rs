//! Programs that do nothing but what events ask of them, in virtual time.

use afteryou_base::{Span, Time};
use afteryou_cc::{list, Setup};
use afteryou_utp::packet::Packet;
use afteryou_utp::{Config, Connection, ConnectionId, Error, Event, SeqNr};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::VecDeque;

fn controller() -> Box<dyn afteryou_cc::Controller> {
    list::find("newreno").unwrap().build(&[], Setup::of(1352)).unwrap()
}

/// An end that writes `to_write` and reads whatever comes, when events say so.
struct End {
    connection: Connection,
    to_write: VecDeque<u8>,
    read: Vec<u8>,
    at_end: bool,
    events: Vec<Event>,
}

impl End {
    fn new(connection: Connection, to_write: &[u8]) -> End {
        End {
            connection,
            to_write: to_write.iter().copied().collect(),
            read: Vec::new(),
            at_end: false,
            events: Vec::new(),
        }
    }

    fn run_application(&mut self, now: Time) {
        while let Some(event) = self.connection.poll_event() {
            self.events.push(event);
            match event {
                Event::Connected | Event::Writable => self.write(),
                Event::Readable => self.read(now),
                _ => {}
            }
        }
    }

    fn write(&mut self) {
        let data = self.to_write.make_contiguous();
        let taken = self.connection.write(data).expect("open");
        self.to_write.drain(..taken);
        if self.to_write.is_empty() {
            self.connection.finish();
        }
    }

    fn read(&mut self, now: Time) {
        let mut buf = [0; 5000];
        loop {
            match self.connection.read(now, &mut buf).expect("no error") {
                0 => break,
                n => self.read.extend_from_slice(&buf[..n]),
            }
        }
        self.at_end = self.connection.is_at_end();
    }

    fn count(&self, event: Event) -> usize {
        self.events.iter().filter(|seen| **seen == event).count()
    }
}

/// Two ends and a path with delay and random loss.
struct Net {
    ends: [Option<End>; 2],
    wire: VecDeque<(Time, usize, Vec<u8>)>,
    one_way: Span,
    loss: f64,
    random: Pcg64,
    answer: Vec<u8>,
}

impl Net {
    fn new(rtt_ms: u64, loss: f64, question: &[u8], answer: &[u8]) -> Net {
        let connection =
            Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
        Net {
            ends: [Some(End::new(connection, question)), None],
            wire: VecDeque::new(),
            one_way: Span::from_micros(rtt_ms * 500),
            loss,
            random: Pcg64::seed_from_u64(rtt_ms),
            answer: answer.to_vec(),
        }
    }

    fn run(&mut self) {
        let mut now = Time::ZERO;
        self.settle(now);
        while let Some(next) = self.next() {
            now = next.max(now);
            assert!(now < Time::from_millis(600_000), "they never end");
            while self.wire.front().is_some_and(|(at, _, _)| *at <= now) {
                let Some((_, to, datagram)) = self.wire.pop_front() else { break };
                self.arrive(now, to, &datagram);
            }
            for end in self.ends.iter_mut().flatten() {
                end.connection.handle_deadline(now);
            }
            self.settle(now);
        }
    }

    fn next(&self) -> Option<Time> {
        let deadlines = self.ends.iter().flatten().filter_map(|end| end.connection.deadline());
        deadlines.chain(self.wire.front().map(|(at, _, _)| *at)).min()
    }

    fn arrive(&mut self, now: Time, to: usize, datagram: &[u8]) {
        let packet = Packet::decode(datagram).unwrap();
        let answer = &self.answer;
        let end = self.ends[to].get_or_insert_with(|| {
            let connection = Connection::accept(Config::default(), controller(), now, &packet, SeqNr(5000));
            End::new(connection, answer)
        });
        end.connection.handle(now, &packet);
    }

    fn settle(&mut self, now: Time) {
        for at in 0..2 {
            let Some(end) = &mut self.ends[at] else { continue };
            end.run_application(now);
            loop {
                let mut datagram = Vec::new();
                if !end.connection.poll_transmit(now, &mut datagram) {
                    break;
                }
                let draw = self.random.next_u32() as f64 / f64::from(u32::MAX);
                if draw >= self.loss {
                    self.wire.push_back((now + self.one_way, 1 - at, datagram));
                }
            }
            end.run_application(now);
        }
    }
}

#[test]
fn programs_that_follow_events_alone_exchange_everything_on_every_path() {
    let bytes = |n: u32, step: u32| (0..n).map(|i| (i.wrapping_mul(step) >> 3) as u8).collect::<Vec<_>>();
    // More than a send buffer at the start holds, so that writes are cut short.
    let (question, answer) = (bytes(300_000, 7), bytes(150_000, 11));
    for rtt_ms in [5, 50, 135, 250] {
        for loss in [0.0, 0.001, 0.01, 0.05] {
            let mut net = Net::new(rtt_ms, loss, &question, &answer);
            net.run();
            let [Some(a), Some(b)] = &net.ends else { panic!("nobody answered") };
            for (end, expected) in [(a, &answer), (b, &question)] {
                let what = format!("{rtt_ms} ms, loss {loss}");
                assert!(end.at_end && end.read == *expected, "{what}: {} bytes", end.read.len());
                assert_eq!(end.count(Event::Connected), 1, "{what}");
                assert!(end.count(Event::Writable) > 0, "{what}");
                assert_eq!(end.count(Event::FinishAcknowledged), 1, "{what}");
                assert_eq!(end.events.last(), Some(&Event::Closed(None)), "{what}");
                assert_eq!(end.count(Event::Closed(None)), 1, "{what}");
            }
        }
    }
}

#[test]
fn the_same_event_comes_again_only_after_it_was_used_up() {
    let mut net = Net::new(50, 0.0, &[1; 100], &[]);
    net.run();
    let [_, Some(b)] = &net.ends else { panic!("nobody answered") };
    // Data and the end came apart: each is news. What has been read is not reported again.
    assert!((1..=2).contains(&b.count(Event::Readable)), "{:?}", b.events);

    let mut unread =
        Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
    let mut out = Vec::new();
    assert!(unread.poll_transmit(Time::ZERO, &mut out));
    let syn = Packet::decode(&out).unwrap();
    let mut far = Connection::accept(Config::default(), controller(), Time::ZERO, &syn, SeqNr(5000));
    exchange(&mut unread, &mut far);
    assert_eq!((unread.poll_event(), unread.poll_event()), (Some(Event::Connected), None));
    for _ in 0..3 {
        far.write(&[7; 10]).unwrap();
        far.flush();
        exchange(&mut unread, &mut far);
    }
    assert_eq!((unread.poll_event(), unread.poll_event()), (Some(Event::Readable), None));
    assert_eq!(unread.read(Time::ZERO, &mut [0; 20]), Ok(20));
    assert_eq!(unread.poll_event(), None, "ten bytes are left, as the program knows");
    assert_eq!(unread.read(Time::ZERO, &mut [0; 20]), Ok(10));
    far.write(&[7; 10]).unwrap();
    far.flush();
    exchange(&mut unread, &mut far);
    assert_eq!(unread.poll_event(), Some(Event::Readable));
}

fn exchange(a: &mut Connection, b: &mut Connection) {
    let mut moved = true;
    while moved {
        moved = carry(a, b) | carry(b, a);
    }
}

fn carry(from: &mut Connection, to: &mut Connection) -> bool {
    let (mut moved, mut datagram) = (false, Vec::new());
    while from.poll_transmit(Time::ZERO, &mut datagram) {
        to.handle(Time::ZERO, &Packet::decode(&datagram).unwrap());
        datagram.clear();
        moved = true;
    }
    moved
}

#[test]
fn a_connection_that_fails_says_so_once_and_was_never_connected() {
    let mut net = Net::new(50, 1.0, &[1; 100], &[]);
    net.run();
    let [Some(a), None] = &net.ends else { panic!("something arrived") };
    assert_eq!(a.events, [Event::Closed(Some(Error::Unreachable))]);
}
