//! Properties of `poll_event` over random programs and paths: no change is missed, none is reported twice, `Closed` is last.

use afteryou_base::{Span, Time};
use afteryou_cc::{list, Controller, Setup};
use afteryou_utp::packet::Packet;
use afteryou_utp::{Config, Connection, ConnectionId, Event, SeqNr};
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize),
    Read(usize, usize),
    Finish(usize),
    Abort(usize),
    Deliver(usize),
    Drop(usize),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..2_usize, 1..80_000_usize).prop_map(|(end, n)| Step::Write(end, n)),
        8 => (0..2_usize, 1..20_000_usize).prop_map(|(end, n)| Step::Read(end, n)),
        1 => (0..2_usize).prop_map(Step::Finish),
        1 => (0..2_usize).prop_map(Step::Abort),
        20 => (0..2_usize).prop_map(Step::Deliver),
        2 => (0..2_usize).prop_map(Step::Drop),
        10 => (1..2_000_u64).prop_map(Step::Wait),
    ]
}

/// A connection, and what its program may conclude from the events alone.
struct End {
    connection: Connection,
    connected: bool,
    readable: bool,
    short_write: bool,
    finished: bool,
    finish_acknowledged: bool,
    closed: bool,
}

impl End {
    fn new(connection: Connection) -> End {
        End {
            connection,
            connected: false,
            readable: false,
            short_write: false,
            finished: false,
            finish_acknowledged: false,
            closed: false,
        }
    }

    fn poll(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            assert!(!self.closed, "{event:?} after Closed");
            match event {
                Event::Connected => assert!(!std::mem::replace(&mut self.connected, true), "connected twice"),
                Event::Readable => {
                    assert!(self.connection.is_readable(), "nothing to read");
                    assert!(!std::mem::replace(&mut self.readable, true), "reported before it was used up");
                }
                Event::Writable => {
                    assert!(std::mem::take(&mut self.short_write), "no write was cut short");
                    assert!(self.connection.writable() > 0, "no room");
                }
                Event::FinishAcknowledged => {
                    assert!(self.finished, "the program has not finished");
                    assert!(!std::mem::replace(&mut self.finish_acknowledged, true), "acknowledged twice");
                }
                Event::Closed(error) => {
                    assert_eq!(error, self.connection.error());
                    self.closed = true;
                }
                other => panic!("{other:?} has no rule here"),
            }
            assert!(self.connected || self.closed, "{event:?} before Connected");
        }
        assert!(self.readable || !self.connection.is_readable(), "bytes that no event announced");
        assert_eq!(self.closed, self.connection.is_closed());
    }

    fn write(&mut self, n: usize) {
        if let Ok(taken) = self.connection.write(&vec![1; n]) {
            self.short_write |= taken < n;
        }
    }

    fn read(&mut self, now: Time, n: usize) {
        let _ = self.connection.read(now, &mut vec![0; n]);
        self.readable &= self.connection.is_readable();
    }
}

fn controller() -> Box<dyn Controller> {
    list::find("newreno").unwrap().build(&[], Setup::of(1352)).unwrap()
}

/// Two ends whose datagrams wait until a step delivers or drops them.
struct Pair {
    ends: [Option<End>; 2],
    towards: [VecDeque<Vec<u8>>; 2],
    now: Time,
}

impl Pair {
    fn new() -> Pair {
        let connection =
            Connection::connect(Config::default(), controller(), Time::ZERO, ConnectionId(7), SeqNr(100));
        Pair { ends: [Some(End::new(connection)), None], towards: Default::default(), now: Time::ZERO }
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Wait(ms) => self.wait(Span::from_micros(ms * 1000)),
            Step::Deliver(to) => self.deliver(to),
            Step::Drop(to) => drop(self.towards[to].pop_front()),
            Step::Write(at, n) => self.with(at, |end, _| end.write(n)),
            Step::Read(at, n) => self.with(at, |end, now| end.read(now, n)),
            Step::Finish(at) => self.with(at, |end, _| {
                end.connection.finish();
                end.finished = true;
            }),
            Step::Abort(at) => self.with(at, |end, _| end.connection.abort()),
        }
        self.settle();
    }

    fn with(&mut self, at: usize, act: impl FnOnce(&mut End, Time)) {
        if let Some(end) = &mut self.ends[at] {
            act(end, self.now);
        }
    }

    fn wait(&mut self, span: Span) {
        self.now += span;
        for end in self.ends.iter_mut().flatten() {
            end.connection.handle_deadline(self.now);
        }
    }

    fn deliver(&mut self, to: usize) {
        let Some(datagram) = self.towards[to].pop_front() else { return };
        let packet = Packet::decode(&datagram).expect("our own packet");
        let now = self.now;
        match &mut self.ends[to] {
            Some(end) => end.connection.handle(now, &packet),
            none => {
                *none = Some(End::new(Connection::accept(
                    Config::default(),
                    controller(),
                    now,
                    &packet,
                    SeqNr(5000),
                )))
            }
        }
    }

    fn settle(&mut self) {
        for at in 0..2 {
            let Some(end) = &mut self.ends[at] else { continue };
            end.poll();
            let mut datagram = Vec::new();
            while end.connection.poll_transmit(self.now, &mut datagram) {
                self.towards[1 - at].push_back(std::mem::take(&mut datagram));
            }
            end.poll();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_change_is_announced_once_and_closed_is_the_last_event(steps in prop::collection::vec(step(), 1..300)) {
        let mut pair = Pair::new();
        pair.settle();
        for step in &steps {
            pair.run(step);
        }
    }
}
