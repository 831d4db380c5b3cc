//! Ebb beside a CUBIC, with a receiver or a path that lies to it.
//!
//! ```text
//!   lie                                              what holds
//!   losses hidden; acks divided, copied, held,       the other CUBIC keeps at least what it keeps beside a CUBIC without lies
//!   released together; half of the queue explained
//!   marks on everything, or hidden marks             it leaves as much as a CUBIC with the same marks
//!   acks before the packets arrive                   it sends no more than a CUBIC: both flood the link
//!   a queue that is hidden                           a quarter of its packets is lost at most
//!   any                                              the window is explained by what was acknowledged
//! ```
//! # Trust
//! A queue is hidden if the round-trip time does not show it, or if a claim explains it. For the first a receiver delays acks, the longer the
//! shorter the queue is. For the second it claims a queue on the reverse path: over uTP and TCP the one-way delay of an ack is by the receiver's
//! clock. Every loss then finds an empty path and counts as random. The promise to leave the link to others therefore requires an honest
//! receiver as to delays, as CUBIC's fairness requires one as to losses. Behind a buffer of 40 ms and over 50 ms, a CUBIC keeps 1 to 21 % of the link beside ebb
//! with a hidden queue, and 44 to 51 % beside CUBIC. With `signal = rtt` claims do not count; delayed acks still do.

use crate::line::{Line, Net, Sender, MSS};
use crate::receiver::{Passage, Pieces, Receiver};
use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::event::Marks;
use afteryou_cc::list::find;
use afteryou_cc::{Ack, Controller, Setup};

/// What a receiver does, and the receiver.
type Lie = (&'static str, fn() -> Receiver);

/// When the figures of a run begin and end, ms.
const MEASURED_MS: (u64, u64) = (10_000, 30_000);

fn controller(name: &str, overrides: &[(&'static str, Value)]) -> Box<dyn Controller> {
    find(name).expect("in the list").build(overrides, Setup::of(MSS as u32)).expect("valid")
}

/// Returns links of 24 Mbit/s: the buffer holds twice the round-trip time, or 40 ms.
fn lines() -> Vec<Line> {
    let plain = [5, 50, 135, 250].map(|base_ms| Line::plain(2000, base_ms));
    let short = plain.map(|line| Line { buffer: Span::from_millis(40), ..line });
    plain.into_iter().chain(short).collect()
}

/// Returns the seconds of a run.
fn seconds(now: Time) -> f64 {
    now.since(Time::from_millis(1000)).as_secs_f64()
}

/// Returns numbers below `below` that follow no pattern.
fn lots(below: u64) -> impl FnMut() -> u64 {
    let mut state = 7u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Returns a receiver that holds acks, in their order.
fn holds(mut hold: impl FnMut(Time) -> Span + 'static) -> Receiver {
    let mut last = Time::ZERO;
    Receiver::acks(move |packet| {
        let acked = packet.acked?;
        last = last.max(acked + hold(acked));
        Some(last)
    })
}

/// Returns a receiver that releases acks once in `every`.
fn releases(every: Span) -> Receiver {
    Receiver::acks(move |packet| Some(Time(packet.acked?.0.div_ceil(every.0) * every.0)))
}

/// Returns a receiver that adds to the one-way delay of its acks, µs.
fn claims(mut added_us: impl FnMut(&Ack, &Passage) -> i64 + 'static) -> Receiver {
    Receiver::says(move |ack, packet| {
        let added_us = added_us(ack, packet) as u32;
        ack.reverse_delay = ack.reverse_delay.map(|us| us.wrapping_add(added_us));
    })
}

/// Returns a receiver with a clock error in ms that depends on the second of the run.
fn clock(ms_at: fn(f64) -> f64) -> Receiver {
    claims(move |ack, _| (1000.0 * ms_at(seconds(ack.now))) as i64)
}

/// Returns a receiver that delays acks so that a queue of up to `hidden_ms` does not change the round-trip time.
fn equalises(hidden_ms: u64) -> Receiver {
    let hidden = Span::from_millis(hidden_ms);
    Receiver::acks(move |packet| Some(packet.acked?.max(packet.sent + packet.base + hidden)))
}

/// Returns a receiver that acknowledges what arrives and what does not, before either.
fn is_early(parts: u64) -> Receiver {
    Receiver::acks(move |packet| Some(packet.sent + packet.base / parts))
}

/// Returns a receiver that acknowledges its first ten packets early.
fn begins_early() -> Receiver {
    let mut packets = 0;
    Receiver::acks(move |packet| {
        packets += 1;
        if packets > 10 {
            return packet.acked;
        }
        Some(packet.sent + packet.base / 4)
    })
}

const HIDES_LOSSES: Lie =
    ("hides losses", || Receiver::acks(|p| Some(p.acked.unwrap_or(p.sent + p.queue + p.base))));

/// Lies that leave a part of the queue visible.
const QUEUE_VISIBLE: &[Lie] = &[
    HIDES_LOSSES,
    ("explains half of the queue", || claims(|_, packet| packet.queue.as_micros() as i64 / 2)),
    ("clock that falls behind", || clock(|s| -s)),
    ("holds acks for 30 ms, every other 3 s", || {
        holds(|at| Span::from_millis(if seconds(at) % 6.0 < 3.0 { 0 } else { 30 }))
    }),
    ("holds acks at random", || {
        let mut lot = lots(20_000);
        holds(move |_| Span::from_micros(lot()))
    }),
    ("releases acks ten times a second", || releases(Span::from_millis(100))),
    ("releases acks every 700 ms", || releases(Span::from_millis(700))),
    ("divides acks", || Receiver { pieces: Pieces::Divided(10), ..Receiver::default() }),
    ("copies acks", || Receiver { pieces: Pieces::Copied(10), ..Receiver::default() }),
    ("begins with early acks", begins_early),
];

/// Lies that hide it in the round-trip time.
const QUEUE_IN_DELAYS: &[Lie] = &[
    ("equalises 50 ms", || equalises(50)),
    ("equalises 1 s", || equalises(1000)),
    ("holds acks for less and less time", || {
        holds(|at| Span::from_millis(2000u64.saturating_sub((seconds(at) * 50.0) as u64)))
    }),
    ("shows the empty path", || {
        let at_base = |packet: &Passage| packet.acked.map(|_| packet.sent + packet.base);
        let half =
            |ack: &mut Ack, packet: &Passage| ack.reverse_delay = Some(packet.base.as_micros() as u32 / 2);
        Receiver { says: Box::new(half), ..Receiver::acks(at_base) }
    }),
];

/// Lies that explain it, or a part of it, by a queue on the reverse path.
const QUEUE_EXPLAINED: &[Lie] = &[
    ("explains the queue", || claims(|_, packet| packet.queue.as_micros() as i64)),
    ("clock that jumps ahead", || clock(|s| if s % 10.0 < 5.0 { 0.0 } else { 40.0 })),
    ("clock that jumps back", || clock(|s| if s % 10.0 < 5.0 { 0.0 } else { -40.0 })),
    ("clock that runs ahead", || clock(|s| 10.0 * s)),
    ("claims up to 100 ms at random", || {
        let mut lot = lots(100_000);
        claims(move |_, _| lot() as i64)
    }),
    ("claims anything", || {
        let mut lot = lots(1 << 31);
        claims(move |_, _| 2 * lot() as i64)
    }),
];

const EARLY: &[Lie] = &[("early by half", || is_early(2)), ("early", || is_early(1))];

/// What a run beside a CUBIC showed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    /// Part of the link that the CUBIC gets.
    left: f64,
    /// Packets that the other sent and the link dropped.
    sent: u64,
    dropped: u64,
}

/// Returns a sender that is told a lie, and a CUBIC that begins a second later.
fn beside_cubic(line: Line, liar: Box<dyn Controller>, receiver: Receiver) -> Net {
    let mut liar = Sender::new(liar, 0, 100);
    liar.receiver = receiver;
    Net::new(line, vec![liar, Sender::new(controller("cubic", &[]), 1, 100)])
}

fn outcome(line: Line, liar: Box<dyn Controller>, receiver: Receiver) -> Outcome {
    let mut net = beside_cubic(line, liar, receiver);
    let (from, to) = MEASURED_MS;
    net.run(from, |_, _| {});
    let (sent, dropped) = (net.senders[0].sent(), net.senders[0].dropped);
    net.run(to, |_, _| {});
    let liar = &net.senders[0];
    Outcome { left: net.share(1..2, from, to), sent: liar.sent() - sent, dropped: liar.dropped - dropped }
}

#[test]
fn while_some_of_the_queue_shows_a_cubic_keeps_what_it_keeps_beside_an_honest_one() {
    for line in lines() {
        let honest = outcome(line, controller("cubic", &[]), Receiver::default());
        for (name, receiver) in QUEUE_VISIBLE {
            let ebb = outcome(line, controller("ebb", &[]), receiver());
            assert!(ebb.left >= honest.left, "{name}: {ebb:?}, beside CUBIC {honest:?}: {line:?}");
            let carried = line.packets_per_second * (MEASURED_MS.1 - MEASURED_MS.0) / 1000;
            assert!(ebb.dropped <= carried / 50, "{name}: {ebb:?} of {carried}: {line:?}");
        }
    }
}

#[test]
fn hidden_losses_make_a_cubic_flood_the_link_and_ebb_not() {
    for line in lines() {
        let [ebb, cubic] = ["ebb", "cubic"].map(|rule| {
            let mut net = beside_cubic(line, controller(rule, &[]), HIDES_LOSSES.1());
            let flooded = |net: &Net| net.senders[0].dropped > 4000;
            (1..=1000).find(|i| {
                net.run(10 * i, |_, _| {});
                flooded(&net)
            })
        });
        assert!(cubic.is_some_and(|tens| tens < 400), "{cubic:?}: {line:?}");
        assert_eq!(ebb, None, "{line:?}");
    }
}

#[test]
fn whatever_the_receiver_says_the_window_is_twice_what_three_round_trips_have_acknowledged() {
    // A ramp's bound, and the longest train.
    const MORE: u64 = 24 + 100 + 10;
    for (line, (name, receiver)) in lines().into_iter().flat_map(|line| {
        [QUEUE_VISIBLE, QUEUE_IN_DELAYS, QUEUE_EXPLAINED, EARLY]
            .concat()
            .into_iter()
            .map(move |lie| (line, lie))
    }) {
        let mut net = beside_cubic(line, controller("ebb", &[]), receiver());
        let step_ms = (line.base.as_micros() / 4000).max(2);
        for until in (0..20_000).step_by(step_ms as usize) {
            net.run(until, |now, senders| {
                let liar = &senders[0];
                let since = Time(now.0.saturating_sub(3 * liar.round_trip().0));
                let acked = liar.delivered.len() - liar.delivered.partition_point(|at| *at < since);
                let window = liar.controller.directive().cwnd / MSS;
                assert!(
                    window <= 2 * acked as u64 + MORE,
                    "{name}: {window} packets, {acked} acknowledged: {line:?}"
                );
            });
            if net.senders[0].sent() > 60_000 {
                break;
            }
        }
    }
}

#[test]
fn with_acks_that_are_early_it_sends_no_more_than_cubic_at_any_time() {
    for (line, (name, receiver)) in
        lines().into_iter().flat_map(|line| EARLY.iter().map(move |lie| (line, lie)))
    {
        let [mut ebb, mut cubic] =
            ["ebb", "cubic"].map(|rule| beside_cubic(line, controller(rule, &[]), receiver()));
        let step_ms = (line.base.as_micros() / 4000).max(1);
        for until in (0..10_000).step_by(step_ms as usize) {
            for net in [&mut ebb, &mut cubic] {
                net.run(until, |_, _| {});
            }
            let [sent, most] = [&ebb, &cubic].map(|net| net.senders[0].sent());
            assert!(sent <= most, "{name}, {until} ms: {sent} packets, CUBIC {most}: {line:?}");
            if most > 30_000 {
                break;
            }
        }
    }
}

#[test]
fn where_the_queue_is_hidden_it_loses_a_quarter_at_most() {
    for (line, (name, receiver)) in lines()
        .into_iter()
        .flat_map(|line| [QUEUE_IN_DELAYS, QUEUE_EXPLAINED].concat().into_iter().map(move |lie| (line, lie)))
    {
        let ebb = outcome(line, controller("ebb", &[]), receiver());
        assert!(ebb.dropped <= ebb.sent / 4 + 20, "{name}: {ebb:?}: {line:?}");
    }
}

#[test]
fn claims_about_the_reverse_path_change_nothing_if_round_trips_alone_count() {
    let rtt = || controller("ebb", &[("signal", Value::Choice("rtt"))]);
    for line in lines() {
        let honest = outcome(line, rtt(), Receiver::default());
        for (name, receiver) in QUEUE_EXPLAINED {
            assert_eq!(outcome(line, rtt(), receiver()), honest, "{name}: {line:?}");
        }
    }
}

#[test]
fn marks_on_everything_leave_it_what_they_leave_cubic() {
    for line in lines() {
        let marked =
            |rule| outcome(line, controller(rule, &[]), Receiver::says(|ack, _| ack.marks = Marks::Count(1)));
        let (ebb, cubic) = (marked("ebb"), marked("cubic"));
        assert!(ebb.left >= cubic.left - 0.01, "{ebb:?}, CUBIC {cubic:?}: {line:?}");
    }
}

#[test]
fn marks_that_are_hidden_leave_others_no_less_than_cubic_does() {
    for (line, above_ms) in lines().into_iter().flat_map(|line| [1, 5, 20].map(|ms| (line, ms))) {
        let line = Line { marks_above: Some(Span::from_millis(above_ms)), ..line };
        let hidden =
            |rule| outcome(line, controller(rule, &[]), Receiver::says(|ack, _| ack.marks = Marks::None));
        let (ebb, cubic) = (hidden("ebb"), hidden("cubic"));
        assert!(
            ebb.left >= cubic.left - 0.01 && ebb.dropped <= cubic.dropped,
            "{ebb:?}, CUBIC {cubic:?}: {line:?}"
        );
    }
}
