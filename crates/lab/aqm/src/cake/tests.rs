use super::*;
use crate::list;
use crate::packet::{Class, Ecn};
use rand_pcg::Pcg64;

/// A full packet.
const FULL: u32 = 1500;
const LE: u8 = 0x04;
const EF: u8 = 46 << 2;
const CS4: u8 = 32 << 2;

type Overrides<'a> = &'a [(&'static str, Value)];

/// Returns a queue before a link of 10 Mbit/s.
fn queue(limit: Limit, overrides: Overrides<'_>) -> Cake<u32, Pcg64> {
    Cake::new(&Settings::new(PARAMS, overrides).unwrap(), Site::test(limit)).unwrap()
}

/// Lets `n` packets of a flow arrive.
fn arrive(queue: &mut Cake<u32, Pcg64>, now: Time, (flow, tos): (u32, u8), n: u32) -> Vec<Dropped<u32>> {
    let mut dropped = Vec::new();
    (0..n).for_each(|i| queue.enqueue(now, Packet::from_tos(FULL, flow, tos, i), &mut dropped));
    dropped
}

/// A link that always has the next packet to send, of flows that always have `standing` packets in the queue.
struct Link {
    queue: Cake<u32, Pcg64>,
    now: Time,
    bytes_per_second: u64,
    /// By flow, its size of packets and TOS byte, and the bytes that it has sent.
    flows: Vec<(u32, u8)>,
    sent: Vec<u64>,
    standing: u64,
    waiting: Vec<u64>,
    dropped: Vec<Dropped<u32>>,
}

impl Link {
    fn new(queue: Cake<u32, Pcg64>, mbit: u64, flows: &[(u32, u8)]) -> Link {
        let (sent, waiting) = (vec![0; flows.len()], vec![0; flows.len()]);
        let (flows, dropped) = (flows.to_vec(), Vec::new());
        let bytes_per_second = mbit * 125_000;
        Link { queue, now: Time::ZERO, bytes_per_second, flows, sent, standing: 3, waiting, dropped }
    }

    fn fill(&mut self) {
        for (flow, (size, tos)) in self.flows.iter().enumerate() {
            while self.waiting[flow] < self.standing {
                let packet = Packet::from_tos(*size, flow as u32, *tos, 0);
                self.queue.enqueue(self.now, packet, &mut self.dropped);
                self.waiting[flow] += 1;
            }
        }
    }

    /// Sends for a time. Returns each flow's part of the bytes, and the rate in Mbit/s.
    fn run(&mut self, time: Span) -> (Vec<f64>, f64) {
        let (begin, end) = (self.now, self.now + time);
        self.sent.fill(0);
        while self.now < end {
            self.fill();
            let next = self.queue.dequeue(self.now, &mut self.dropped);
            self.dropped.drain(..).for_each(|dropped| self.waiting[dropped.packet.flow as usize] -= 1);
            match next {
                Some((packet, _)) => {
                    self.waiting[packet.flow as usize] -= 1;
                    self.sent[packet.flow as usize] += u64::from(packet.size);
                    self.now += Span::of_bytes(packet.size.into(), self.bytes_per_second);
                }
                None => {
                    let until = self.queue.held_until().expect("packets wait");
                    assert!(until > self.now);
                    self.now = until;
                }
            }
        }
        let all = self.sent.iter().sum::<u64>() as f64;
        let parts = self.sent.iter().map(|sent| *sent as f64 / all).collect();
        (parts, 8e-6 * all / self.now.since(begin).as_secs_f64())
    }
}

fn close(is: f64, should: f64, by: f64) -> bool {
    (is - should).abs() <= by
}

#[test]
fn a_sparse_flow_goes_first_and_after_its_quantum_waits_its_turn() {
    let mut queue = queue(Limit::Packets(100), &[]);
    arrive(&mut queue, Time::ZERO, (1, 0), 6);
    let next = |queue: &mut Cake<u32, Pcg64>| queue.dequeue(Time::ZERO, &mut Vec::new()).unwrap().0.flow;
    assert_eq!([next(&mut queue), next(&mut queue)], [1, 1]);
    arrive(&mut queue, Time::ZERO, (2, 0), 3);
    // A packet is more than its quantum of 305 B, and from then on it is as bulk as the other one, which has overdrawn by more.
    assert_eq!(next(&mut queue), 2);
    let rest: Vec<_> = (0..6).map(|_| next(&mut queue)).collect();
    assert_eq!(rest, [2, 1, 2, 1, 1, 1]);
}

#[test]
fn two_flows_get_the_same_bytes_whatever_their_packets() {
    let mut link = Link::new(queue(Limit::Packets(1000), &[]), 10, &[(1500, 0), (300, 0)]);
    let (parts, _) = link.run(Span::from_secs(5));
    assert!(close(parts[0], 0.5, 0.005), "{parts:?}");
}

#[test]
fn hosts_get_equal_parts_by_the_end_that_is_kept_apart() {
    type OfFlow = fn(u32) -> Hosts;
    let hosts: OfFlow = |flow| Hosts { source: Some(u32::from(flow > 0)), destination: None };
    let reversed: OfFlow = |flow| Hosts { source: None, destination: Some(u32::from(flow > 0)) };
    let by_word = |word, hosts: OfFlow| {
        let mut queue = queue(Limit::Packets(1000), &[("isolation", Value::Choice(word))]);
        (0..5).for_each(|flow| queue.note_hosts(flow, hosts(flow)));
        let mut link = Link::new(queue, 10, &[(FULL, 0); 5]);
        link.standing = 8;
        link.run(Span::from_secs(1));
        let (parts, _) = link.run(Span::from_secs(10));
        parts
    };
    // One host has flow 0, the other one four flows.
    let cases = [
        ("triple-isolate", hosts, 0.5),
        ("triple-isolate", reversed, 0.5),
        ("dual-srchost", hosts, 0.5),
        ("dual-srchost", reversed, 0.2),
        ("dual-dsthost", reversed, 0.5),
        ("dual-dsthost", hosts, 0.2),
        ("srchost", hosts, 0.5),
        ("dsthost", reversed, 0.5),
        ("flows", hosts, 0.2),
    ];
    for (word, hosts, first) in cases {
        let parts = by_word(word, hosts);
        assert!(close(parts[0], first, 0.01), "{word}: {parts:?}");
        if word != "srchost" && word != "dsthost" {
            let others = (1.0 - first) / 4.0;
            assert!(parts[1..].iter().all(|part| close(*part, others, 0.01)), "{word}: {parts:?}");
        }
    }
    // All hosts' flows of one pair of hosts are in one queue, and so are all with `flowblind`.
    assert!(close(by_word("flowblind", hosts)[0], 0.2, 0.02));
    assert!(close(by_word("hosts", reversed)[0], 0.2, 0.01), "each source is a host of its own");
}

#[test]
fn bulk_gets_a_sixteenth_beside_best_effort_and_everything_alone() {
    for word in ["diffserv3", "diffserv4"] {
        let tins = [("tins", Value::Choice(word))];
        for mbit in [1, 10, 100] {
            let site = Site { bits_per_second: mbit * 1_000_000, ..Site::test(Limit::Packets(1000)) };
            let queue = Cake::new(&Settings::new(PARAMS, &tins).unwrap(), site).unwrap();
            let mut link = Link::new(queue, mbit, &[(FULL, 0), (FULL, LE)]);
            let (parts, _) = link.run(Span::from_secs(20));
            assert!(close(parts[1], 1.0 / 16.0, 0.005), "{word}, {mbit} Mbit/s: {parts:?}");
        }
    }
    let mut alone = Link::new(queue(Limit::Packets(1000), &[]), 10, &[(FULL, LE)]);
    let (_, mbit) = alone.run(Span::from_secs(2));
    assert!(close(mbit, 10.0, 0.01), "{mbit}");
    let besteffort = [("tins", Value::Choice("besteffort"))];
    let mut link = Link::new(queue(Limit::Packets(1000), &besteffort), 10, &[(FULL, 0), (FULL, LE)]);
    let (parts, _) = link.run(Span::from_secs(5));
    assert!(close(parts[1], 0.5, 0.005), "{parts:?}");
}

#[test]
fn without_a_rate_tins_take_turns_by_weight() {
    let unlimited = [("unlimited", Value::Flag(true))];
    let mut link =
        Link::new(queue(Limit::Packets(1000), &unlimited), 10, &[(FULL, 0), (FULL, LE), (FULL, EF)]);
    let (parts, _) = link.run(Span::from_secs(20));
    let all = f64::from(1024 + 64 + 256);
    let should = [1024.0 / all, 64.0 / all, 256.0 / all];
    assert!(parts.iter().zip(should).all(|(is, should)| close(*is, should, 0.01)), "{parts:?}");
}

#[test]
fn voice_goes_first_up_to_a_quarter_and_best_effort_keeps_the_rest() {
    // A call of 1.2 Mbit/s: a packet of 150 B each millisecond.
    let mut queue = queue(Limit::Packets(1000), &[]);
    let (mut dropped, mut now) = (Vec::new(), Time::ZERO);
    let mut longest = Span::ZERO;
    for ms in 0..3000 {
        let tick = Time::from_millis(ms);
        arrive(&mut queue, tick, (1, 0), 2);
        queue.enqueue(tick, Packet::from_tos(150, 2, EF, 0), &mut dropped);
        now = now.max(tick);
        while now < tick + Span::from_millis(1) {
            let Some((packet, sojourn)) = queue.dequeue(now, &mut dropped) else { break };
            longest = if packet.flow == 2 { longest.max(sojourn) } else { longest };
            now += Span::of_bytes(packet.size.into(), 1_250_000);
        }
    }
    assert!(longest <= Span::from_millis(3), "{longest:?}");
    // Two flows that fill the link: Voice is above its threshold and takes turns by it.
    let mut link = Link::new(self::queue(Limit::Packets(1000), &[]), 10, &[(FULL, 0), (FULL, EF)]);
    let (parts, _) = link.run(Span::from_secs(20));
    assert!(close(parts[1], 0.25, 0.02), "{parts:?}");
}

#[test]
fn code_points_are_in_the_tins_of_the_manual_page() {
    let tin = |kinds: Tins, tos: u8| kinds.of(Dscp::of_tos(tos));
    for (tos, three, four) in
        [(0, 0, 0), (LE, 1, 1), (8 << 2, 1, 1), (EF, 2, 3), (CS4, 0, 3), (34 << 2, 0, 2)]
    {
        assert_eq!((tin(Tins::Three, tos), tin(Tins::Four, tos)), (three, four), "TOS {tos:#x}");
        assert_eq!(tin(Tins::One, tos), 0);
    }
}

#[test]
fn the_shaper_keeps_its_rate_before_a_faster_link_and_counts_the_overhead() {
    let shaped = |rows: Overrides<'_>| {
        let rows = [&[("bandwidth", Value::Number(8.0))], rows].concat();
        let (_, mbit) =
            Link::new(queue(Limit::Packets(1000), &rows), 100, &[(1460, 0)]).run(Span::from_secs(5));
        mbit
    };
    assert!(close(shaped(&[]), 8.0, 0.01));
    assert!(close(shaped(&[("overhead", Value::Bytes(40))]), 8.0 * 1460.0 / 1500.0, 0.01));
    let atm = [("overhead", Value::Bytes(40)), ("atm", Value::Choice("atm"))];
    assert!(close(shaped(&atm), 8.0 * 1460.0 / (32.0 * 53.0), 0.01));
    assert!(close(shaped(&[("mpu", Value::Bytes(64))]), 8.0, 0.01));
}

#[test]
fn packets_dropped_on_ingress_count_for_the_shaper() {
    // Whatever comes back as dropped is replaced at once, so that drops never end.
    let run = |ingress| {
        let rows = [("bandwidth", Value::Number(8.0)), ("ingress", Value::Flag(ingress))];
        let mut link = Link::new(queue(Limit::Packets(1000), &rows), 100, &[(FULL, 0)]);
        link.standing = 50;
        link.run(Span::from_secs(5)).1
    };
    assert!(close(run(false), 8.0, 0.01));
    let mbit = run(true);
    assert!((8.0 / 1.5 - 0.01..7.95).contains(&mbit), "two thirds at least: {mbit}");
}

#[test]
fn an_idle_shaper_saves_nothing() {
    let mut queue = queue(Limit::Packets(100), &[("bandwidth", Value::Number(12.0))]);
    let mut dropped = Vec::new();
    arrive(&mut queue, Time::from_millis(5000), (1, 0), 3);
    let mut leave = |queue: &mut Cake<u32, Pcg64>, now| queue.dequeue(now, &mut dropped).is_some();
    // A packet of 1500 B takes a millisecond.
    for ms in 0..3 {
        let now = Time::from_millis(5000 + ms);
        assert!(leave(&mut queue, now) && !leave(&mut queue, now));
        assert_eq!(queue.held_until(), (ms < 2).then(|| now + Span::from_millis(1)));
    }
}

#[test]
fn without_room_the_fattest_queue_of_all_tins_loses_its_oldest_packet() {
    let mut queue = queue(Limit::Packets(10), &[]);
    assert!(arrive(&mut queue, Time::ZERO, (1, LE), 6).is_empty());
    assert!(arrive(&mut queue, Time::ZERO, (2, 0), 4).is_empty());
    let dropped = arrive(&mut queue, Time::ZERO, (3, EF), 1);
    let lost: Vec<_> =
        dropped.iter().map(|dropped| (dropped.packet.flow, dropped.packet.body, dropped.reason)).collect();
    assert_eq!(lost, [(1, 0, DropReason::Full)]);
    assert_eq!(queue.backlog(), Backlog { packets: 10, bytes: 15_000 });
}

#[test]
fn a_flow_that_stands_too_long_is_dropped_or_marked_and_the_others_are_not() {
    for (tos, ecn) in [(0, Ecn::NotEct), (2, Ecn::Ect0)] {
        let mut queue = queue(Limit::Packets(10_000), &[]);
        let mut dropped = Vec::new();
        for ms in 0..4000u64 {
            let now = Time::from_millis(ms);
            // Two packets leave each time; flow 1 sends two, flow 2 one in four times.
            dropped.extend(arrive(&mut queue, now, (1, tos), 2));
            if ms % 4 == 0 {
                dropped.extend(arrive(&mut queue, now, (2, tos), 1));
            }
            for _ in 0..2 {
                let (packet, sojourn) = queue.dequeue(now, &mut dropped).unwrap();
                assert!(
                    packet.flow == 1 || (sojourn <= Span::from_millis(1) && packet.ecn == ecn),
                    "{sojourn:?}"
                );
            }
        }
        let statistics = queue.statistics().of(Class::BestEffort);
        assert!(dropped.iter().all(|dropped| dropped.packet.flow == 1));
        assert_eq!(statistics.dropped_head > 20, ecn == Ecn::NotEct, "{statistics:?}");
        assert_eq!(statistics.marked > 20, ecn == Ecn::Ect0, "{statistics:?}");
    }
}

#[test]
fn a_flow_that_does_not_react_is_dropped_ever_more_often_until_it_pauses() {
    // A flow of twice the rate overflows a small buffer.
    let mut queue = queue(Limit::Packets(20), &[("ecn", Value::Flag(false))]);
    let mut dropped = Vec::new();
    let send = |queue: &mut Cake<u32, Pcg64>, dropped: &mut Vec<_>, from: u64, ms: u64| {
        for ms in from..from + ms {
            let now = Time::from_millis(ms);
            dropped.extend(arrive(queue, now, (1, 0), 2));
            queue.dequeue(now, dropped);
        }
    };
    send(&mut queue, &mut dropped, 0, 3000);
    let place = queue.bucket(1).unwrap();
    let probability = |queue: &mut Cake<u32, Pcg64>| queue.tins[0].law(place).0.probability();
    let raised = probability(&mut queue);
    assert!((0.1..1.0).contains(&raised), "{raised}");
    // Each packet of another flow finds the queue empty.
    for tick in 0..200 {
        let now = Time::from_millis(3000 + 10 * tick);
        dropped.extend(arrive(&mut queue, now, (2, 0), 1));
        while queue.dequeue(now, &mut dropped).is_some() {}
    }
    assert!(probability(&mut queue) < raised);
}

#[test]
fn a_hundred_flows_have_a_queue_each() {
    let mut queue = queue(Limit::Packets(1000), &[]);
    (0..100).for_each(|flow| _ = arrive(&mut queue, Time::ZERO, (flow, 0), 1));
    let mut buckets: Vec<_> = (0..100).map(|flow| queue.bucket(flow).unwrap()).collect();
    buckets.sort_unstable();
    buckets.dedup();
    assert_eq!((buckets.len(), queue.bucket(100)), (100, None));
}

#[test]
fn a_rate_for_a_queue_that_is_not_to_know_it_is_refused() {
    let rows = [("unlimited", Value::Flag(true)), ("bandwidth", Value::Number(8.0))];
    let site = Site::test(Limit::Packets(10));
    let error = list::find("cake").unwrap().build::<()>(&rows, site).err().unwrap().to_string();
    assert!(
        error.contains("unlimited = true does not go with bandwidth = 8 Mbit/s: use one of them"),
        "{error}"
    );
}
