//! A transmitter whose rate changes: by steps, or by a packet-delivery trace.
//!
//! Steps: a packet has been sent when the integral of the rate since it began is its size. An outage is a step of 0; a packet
//! that it interrupts continues afterwards.
//!
//! Traces: at each opportunity of a trace the link sends 1504 bytes, as Mahimahi's `mm-link` does (Netravali et al., USENIX ATC
//! 2015; `link_queue.cc` and `link_queue.hh`): a packet of 1500 bytes and the 4 bytes that a TUN device puts before each. A large
//! packet takes several opportunities and small ones share one; bytes of an opportunity for which nothing waits are lost. A packet
//! that reaches an idle link at the very time of an opportunity has missed it.
//!
//! Two differences from `mm-link`. Here as on every link of the simulator a packet leaves the queue when the packet before it has
//! been sent, and waits for its opportunity outside of the queue: the queue holds one packet less than there. Packets above 1500
//! bytes, which `mm-link` refuses, are sent as if in fragments of 1500 bytes, each with its 4 bytes.

use afteryou_base::{Span, Time};
use afteryou_scenario::element::{RateLaw, OPPORTUNITY_BYTES};
use afteryou_scenario::Duration;

/// Bytes that a TUN device puts before each packet; `mm-link` counts them.
const TUN_HEADER_BYTES: u64 = 4;

/// A rate that changes, and where in time it is.
pub enum VaryingRate {
    /// By steps.
    Steps(Law),
    /// By opportunities.
    Opportunities(Law, Trace),
}

/// The law, and the packet that is being sent.
pub struct Law {
    law: RateLaw,
    began: Time,
    done: Time,
    size: u32,
}

/// Opportunities of a trace.
pub struct Trace {
    at_ms: Vec<u32>,
    /// Length of a round, if there is another one.
    period: Option<Span>,
    /// Index of the next opportunity, in all rounds.
    next: u64,
    /// When the one before it was, and its bytes that are left.
    last: (Time, u64),
}

impl VaryingRate {
    /// Creates the transmitter with this law.
    pub fn new(law: &RateLaw) -> VaryingRate {
        let of = Law { law: law.clone(), began: Time::ZERO, done: Time::ZERO, size: 0 };
        let RateLaw::Opportunities { at_ms, repeat } = law else { return VaryingRate::Steps(of) };
        let length = at_ms.last().map(|last| Span::from_millis((*last).into()));
        let period = length.filter(|length| *repeat && *length > Span::ZERO);
        let trace = Trace { at_ms: at_ms.to_vec(), period, next: 0, last: (Time::ZERO, 0) };
        VaryingRate::Opportunities(of, trace)
    }

    /// Sends a packet; returns when it will have been sent.
    pub fn send(&mut self, now: Time, size: u32) -> Time {
        let (law, done) = match self {
            VaryingRate::Steps(law) => {
                let done = law.after(now, u128::from(size) * 8 * 1_000_000_000);
                (law, done)
            }
            VaryingRate::Opportunities(law, trace) => {
                let follows = now == law.done && law.size > 0;
                (law, trace.send(now, size, follows))
            }
        };
        (law.began, law.done, law.size) = (now, done, size);
        done
    }

    /// Returns the bytes of the packet being sent that have not left by now.
    pub fn unsent(&self, now: Time) -> u64 {
        let (VaryingRate::Steps(law) | VaryingRate::Opportunities(law, _)) = self;
        if now >= law.done {
            return 0;
        }
        let bytes = |from: Time, to: Time| {
            let at = |time: Time| law.law.nanobits(Duration(Span(time.0)));
            u64::try_from((at(to) - at(from)) / 8_000_000_000).unwrap_or(u64::MAX).min(law.size.into())
        };
        match law.done {
            // The law does not last for the packet: what it has sent of it so far has left, and the rest never does.
            Time::NEVER => {
                let began = match self {
                    // The opportunity at which the packet began was that of the packet before it.
                    VaryingRate::Opportunities(..) => law.began + Span(1),
                    VaryingRate::Steps(_) => law.began,
                };
                u64::from(law.size) - bytes(began, now.max(began))
            }
            done => bytes(now, done),
        }
    }

    /// Returns the mean rate between two times, bit/s.
    pub fn mean(&self, from: Time, to: Time) -> f64 {
        let (VaryingRate::Steps(law) | VaryingRate::Opportunities(law, _)) = self;
        law.law.mean(Duration(Span(from.0)), Duration(Span(to.0)))
    }
}

impl Law {
    /// Returns when `nanobits` will have been sent, from `now` on.
    fn after(&self, now: Time, nanobits: u128) -> Time {
        let RateLaw::Steps { steps, period } = &self.law else { return Time::NEVER };
        let points = steps.points();
        let (mut left, mut at) = (nanobits, now.0);
        if let Some(period) = period {
            let in_period = self.law.nanobits(*period);
            let Some(whole) = left.checked_div(in_period) else { return Time::NEVER };
            at = at.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX).saturating_mul(period.0 .0));
            left %= in_period;
        }
        loop {
            let into = period.map_or(at, |period| at % period.0 .0);
            let index = points.partition_point(|(from, _)| from.0 .0 <= into);
            let Some((_, rate)) = index.checked_sub(1).map(|step| points[step]) else { return Time::NEVER };
            let end = points.get(index).map(|(from, _)| from.0 .0).or(period.map(|period| period.0 .0));
            let rate = u128::from(rate.bits_per_second());
            let nanos = end.map_or(u64::MAX, |end| end - into);
            if let Some(needed) = left.checked_div(rate).filter(|needed| *needed <= u128::from(nanos)) {
                // Never no time at all, or a run might not get on.
                return Time(at.saturating_add(needed as u64).max(now.0 + 1));
            }
            if end.is_none() {
                return Time::NEVER;
            }
            left -= rate * u128::from(nanos);
            at = at.saturating_add(nanos);
            if at == u64::MAX {
                return Time::NEVER;
            }
        }
    }
}

impl Trace {
    /// Returns when the opportunity with this index is, if there is one.
    fn at(&self, index: u64) -> Option<Time> {
        let length = self.at_ms.len() as u64;
        let (round, place) = (index / length.max(1), index % length.max(1));
        let begin = match (round, self.period) {
            (0, _) => 0,
            (_, Some(period)) => period.0.checked_mul(round)?,
            (_, None) => return None,
        };
        let at = u64::from(*self.at_ms.get(place as usize)?) * 1_000_000;
        begin.checked_add(at).map(Time)
    }

    /// Returns the index of the first opportunity after `now`.
    fn first_after(&self, now: Time) -> u64 {
        let length = self.at_ms.len() as u64;
        let (round, into) = self.period.map_or((0, now.0), |period| (now.0 / period.0, now.0 % period.0));
        let place = self.at_ms.partition_point(|at| u64::from(*at) * 1_000_000 <= into);
        // What comes at the end of a round and at the beginning of the next is at the same instant.
        round * length + place as u64
    }

    /// Sends a packet; `follows` if the one before it has just been sent.
    fn send(&mut self, now: Time, size: u32, follows: bool) -> Time {
        if !follows {
            self.next = self.next.max(self.first_after(now));
            self.last.1 = 0;
        }
        let mut unsent = u64::from(size) + fragments(size) * TUN_HEADER_BYTES;
        while self.last.1 < unsent {
            unsent -= self.last.1;
            let Some(at) = self.at(self.next) else {
                self.last = (Time::NEVER, 0);
                return Time::NEVER;
            };
            self.last = (at, OPPORTUNITY_BYTES + TUN_HEADER_BYTES);
            self.next += 1;
        }
        self.last.1 -= unsent;
        self.last.0
    }
}

/// Returns the number of pieces of a full packet's size at most.
fn fragments(size: u32) -> u64 {
    u64::from(size).div_ceil(OPPORTUNITY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::element::Steps;
    use afteryou_scenario::{random, Rate};
    use std::collections::VecDeque;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_packet_is_sent_when_the_integral_of_the_rate_is_its_size() {
        let mbit = Rate::from_mbit;
        let steps = Steps::new(vec![(ms(0), mbit(12)), (ms(3), mbit(0)), (ms(10), mbit(6))]).unwrap();
        let mut rate = VaryingRate::new(&RateLaw::Steps { steps: steps.clone(), period: None });
        let mut at = Time::ZERO;
        let done: Vec<u64> = (0..5)
            .map(|_| {
                at = rate.send(at, 1500);
                at.as_micros() / 1000
            })
            .collect();
        // Three packets in the first 3 ms, an outage until 10 ms, then 2 ms for each.
        assert_eq!(done, [1, 2, 3, 12, 14]);
        let mut looped = VaryingRate::new(&RateLaw::Steps { steps, period: Some(ms(12)) });
        assert_eq!(looped.send(Time::from_millis(2), 3000), Time::from_millis(12));
        assert_eq!(looped.send(Time::from_millis(12), 6000), Time::from_millis(24));
        // 4 packets in each round: 1000 rounds later.
        assert_eq!(looped.send(Time::from_millis(24), 6_000_000), Time::from_millis(24 + 12 * 1000));
        assert_eq!(looped.unsent(Time::from_millis(24 + 12 * 999)), 6000);
    }

    #[test]
    fn an_outage_without_an_end_sends_nothing_more() {
        let steps = Steps::new(vec![(ms(0), Rate::from_mbit(12)), (ms(3), Rate::from_bits(0))]).unwrap();
        let mut rate = VaryingRate::new(&RateLaw::Steps { steps, period: None });
        assert_eq!(rate.send(Time::from_millis(2), 1501), Time::NEVER);
        assert_eq!([2, 3, 1000].map(|ms| rate.unsent(Time::from_millis(ms))), [1501, 1, 1]);
    }

    #[test]
    fn a_packet_for_which_a_trace_has_no_opportunity_never_leaves() {
        let mut rate = VaryingRate::new(&RateLaw::Opportunities { at_ms: vec![10].into(), repeat: false });
        assert_eq!(rate.send(Time::ZERO, 1500), Time::from_millis(10));
        assert_eq!(rate.send(Time::from_millis(10), 1500), Time::NEVER);
        assert_eq!([10, 11, 1000].map(|ms| rate.unsent(Time::from_millis(ms))), [1500; 3]);
    }

    /// Returns when each packet of `arrivals` (ns, bytes) has been sent, by `LinkQueue::rationalize` of `mm-link`, whose
    /// `PACKET_SIZE` is 1504.
    fn mahimahi(at_ms: &[u32], repeat: bool, arrivals: &[(u64, u32)], end: u64) -> Vec<u64> {
        let (mut queue, mut transit) = (VecDeque::new(), None::<u32>);
        let (mut arrivals, mut departed) = (arrivals.iter().peekable(), Vec::new());
        let last = u64::from(*at_ms.last().unwrap());
        let rounds = if repeat { end / (last * 1_000_000) + 1 } else { 1 };
        for round in 0..rounds {
            for at in at_ms {
                let at = (round * last + u64::from(*at)) * 1_000_000;
                while let Some((_, size)) = arrivals.next_if(|(arrival, _)| *arrival < at) {
                    queue.push_back(*size);
                }
                let mut left = 1504;
                while left > 0 {
                    // What `mm-link` reads from its TUN device begins with four bytes of flags and protocol.
                    let Some(unsent) = transit.or_else(|| queue.pop_front().map(|size| size + 4)) else {
                        break;
                    };
                    let amount = unsent.min(left);
                    left -= amount;
                    transit = (unsent > amount).then_some(unsent - amount);
                    if transit.is_none() {
                        departed.push(at);
                    }
                }
            }
        }
        departed
    }

    #[test]
    fn a_trace_is_replayed_to_the_byte() {
        let mut random = random::stream(9, "test");
        let mut below = |end: f64| (random::uniform(&mut random) * end) as u64;
        for (case, repeat) in [true, false, true, true, false].into_iter().enumerate() {
            let mut at = 0;
            let at_ms: Vec<u32> = (0..400)
                .map(|_| {
                    at += below(4.0) as u32;
                    at
                })
                .collect();
            // Bursts that wait, and pauses in which opportunities pass unused.
            let mut now = 0;
            let arrivals: Vec<(u64, u32)> = (0..2000)
                .map(|i| {
                    now += if i % 50 == 0 { below(60e6) } else { below(1.5e6 * case as f64) } + 1;
                    now += u64::from(now.is_multiple_of(1_000_000));
                    (now, 40 + below(1461.0) as u32)
                })
                .collect();
            let mut rate = VaryingRate::new(&RateLaw::Opportunities { at_ms: at_ms.clone().into(), repeat });
            let mut free = Time::ZERO;
            let mut sent = |(arrival, size): &(u64, u32)| {
                free = rate.send(free.max(Time(*arrival)), *size);
                free
            };
            let done: Vec<u64> =
                arrivals.iter().map(&mut sent).map(|at| at.0).filter(|at| *at < u64::MAX).collect();
            let expected = mahimahi(&at_ms, repeat, &arrivals, done.last().copied().unwrap_or(0) + 1_000_000);
            assert!(done.len() > 100, "{}", done.len());
            assert_eq!(done, expected[..done.len().min(expected.len())], "case {case}");
        }
    }
}
