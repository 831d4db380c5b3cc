use super::*;
use crate::list;
use crate::packet::Class;
use proptest::prelude::*;
use rand_pcg::Pcg64;

fn queue(rows: &[(&'static str, Value)]) -> DualPi2<u64, Pcg64> {
    DualPi2::new(&Settings::new(PARAMS, rows).unwrap(), Site::test(Limit::Packets(10_000))).unwrap()
}

fn packet(number: u64, ecn: Ecn) -> Packet<u64> {
    Packet { ecn, ..Packet::from_tos(1500, 0, 0, number) }
}

#[test]
fn the_base_probability_its_square_and_the_coupled_one() {
    let mut queue = queue(&[]);
    queue.controller.p = 0.1;
    queue.controller.old_delay = Span::from_millis(18);
    queue.controller.update(Span::from_millis(20));
    let p = queue.controller.p;
    assert!((p - 0.1072).abs() < 1e-12, "{p}");
    assert!((p * p - 0.011_492).abs() < 5e-7 && (queue.coupling * p - 0.2144).abs() < 1e-12);
    // And that is how often they are drawn.
    let packets = 200_000;
    (0..9).for_each(|i| queue.enqueue(Time::ZERO, packet(i, Ecn::Ect0), &mut Vec::new()));
    let classic = (0..packets).filter(|_| queue.classic_verdict(Ecn::NotEct) == Verdict::Drop).count();
    let scalable = (0..packets).filter(|_| queue.scalable_verdict(Span::ZERO, true) == Verdict::Mark).count();
    let near = |count: usize, p: f64| (count as f64 / packets as f64 / p - 1.0).abs() < 0.06;
    assert!(near(classic, 0.011_492) && near(scalable, 0.2144), "{classic}, {scalable}");
}

#[test]
fn ect_1_and_ce_go_first_but_for_the_share_of_the_classic_queue() {
    let mut queue = queue(&[]);
    let codes = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    (0..4000).for_each(|i| queue.enqueue(Time::ZERO, packet(i, codes[i as usize % 4]), &mut Vec::new()));
    let out: Vec<_> = (0..1000).filter_map(|_| queue.dequeue(Time::ZERO, &mut Vec::new())).collect();
    let scalable = out.iter().filter(|(packet, _)| packet.body % 4 >= 2).count();
    assert!((895..=905).contains(&scalable), "{scalable} of 1000");
    let first = out.iter().position(|(packet, _)| packet.body % 4 < 2).unwrap();
    assert!(first > 5, "the L queue begins");
}

/// Returns the packets that leave, in order, until the queue is empty: `C` or `L`.
fn order(queue: &mut DualPi2<u64, Pcg64>) -> String {
    let next = || queue.dequeue(Time::ZERO, &mut Vec::new());
    std::iter::from_fn(next).map(|(packet, _)| if packet.ecn == Ecn::Ect1 { 'L' } else { 'C' }).collect()
}

/// Lets this many packets arrive at each queue.
fn arrive(queue: &mut DualPi2<u64, Pcg64>, scalable: u64, classic: u64) {
    (0..scalable).for_each(|i| queue.enqueue(Time::ZERO, packet(i, Ecn::Ect1), &mut Vec::new()));
    (0..classic).for_each(|i| queue.enqueue(Time::ZERO, packet(i, Ecn::NotEct), &mut Vec::new()));
}

#[test]
fn the_share_of_the_classic_queue_is_what_was_asked_for_to_the_fraction_of_a_per_cent() {
    for (weight, share) in [(0.01, 40), (0.015, 60), (0.1, 400), (0.333, 1332), (0.9875, 3950), (0.99, 3960)]
    {
        let mut queue = queue(&[("classic_weight", Value::Number(weight))]);
        arrive(&mut queue, 4000, 4000);
        let classic = order(&mut queue).bytes().take(4000).filter(|queue| *queue == b'C').count();
        assert!(classic.abs_diff(share) <= 2, "{classic} of 4000 with {weight}");
    }
}

#[test]
fn a_queue_that_is_alone_pays_nothing_for_it() {
    for (scalable, classic) in [(500, 0), (0, 500)] {
        let mut queue = queue(&[]);
        arrive(&mut queue, scalable, classic);
        // One is left, so that the queue is never empty.
        (1..500).for_each(|_| _ = queue.dequeue(Time::ZERO, &mut Vec::new()));
        arrive(&mut queue, 500 - scalable, 500 - classic);
        arrive(&mut queue, 100, 100);
        let order = order(&mut queue);
        let of_classic = order.bytes().take(100).filter(|queue| *queue == b'C').count();
        assert!((8..=11).contains(&of_classic), "{order}");
    }
}

#[test]
fn an_empty_queue_forgets_the_credit() {
    let mut fresh = queue(&[]);
    arrive(&mut fresh, 20, 20);
    let mut used = queue(&[]);
    arrive(&mut used, 5, 1);
    assert_eq!(order(&mut used), "LLLLLC");
    arrive(&mut used, 20, 20);
    assert_eq!(order(&mut used), order(&mut fresh));
}

#[test]
fn the_longer_delay_steers_be_it_that_of_the_l_queue() {
    // Half of the link is the C queue's, which always holds one or two packets; the L queue gets twice what it may send.
    let mut queue = queue(&[("classic_weight", Value::Number(0.5))]);
    let mut dropped = Vec::new();
    for ms in 0..2000 {
        let now = Time::from_millis(ms);
        queue.enqueue(now, packet(ms, Ecn::Ect1), &mut dropped);
        if queue.classic.backlog().packets < 2 {
            queue.enqueue(now, packet(ms, Ecn::NotEct), &mut dropped);
        }
        queue.dequeue(now, &mut dropped);
    }
    let of_l = dropped.iter().filter(|dropped| matches!(dropped.packet.ecn, Ecn::Ect1)).count();
    assert!(of_l > 100, "{of_l}: only overload drops what understands marks");
    let target = PARAMS.iter().find(|param| param.name == "target").unwrap();
    assert!(target.help.contains("the longer one of the two queues"), "{}", target.help);
}

#[test]
fn the_step_marks_what_waited_longer_but_not_below_its_number_of_packets() {
    for (wait_us, step_packets, marked) in [(1000, 0, 0), (1001, 0, 3), (1001, 2, 1)] {
        let mut queue = queue(&[("step_packets", Value::Count(step_packets))]);
        (0..3).for_each(|i| queue.enqueue(Time::ZERO, packet(i, Ecn::Ect1), &mut Vec::new()));
        while queue.dequeue(Time::from_micros(wait_us), &mut Vec::new()).is_some() {}
        assert_eq!(queue.statistics().of(Class::BestEffort).marked, marked, "{wait_us} µs, {step_packets}");
    }
}

/// Returns the drops by the controller, the marks and the last delay, with a packet of `ecn` too many per millisecond for
/// two seconds.
fn overload(rows: &[(&'static str, Value)], ecn: Ecn) -> (u64, u64, f64) {
    let mut queue = queue(rows);
    let mut dropped = Vec::new();
    let mut last = Span::ZERO;
    for ms in 0..2000 {
        let now = Time::from_millis(ms);
        (0..2).for_each(|_| queue.enqueue(now, packet(ms, ecn), &mut dropped));
        last = queue.dequeue(now, &mut dropped).map_or(last, |(_, sojourn)| sojourn);
    }
    let counters = queue.statistics().of(Class::BestEffort);
    (counters.dropped_head, counters.marked, last.as_millis_f64())
}

#[test]
fn overload_drops_what_marks_do_not_slow_down() {
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let (dropped, marked, delay) = overload(&[], ecn);
        assert!(dropped > 500 && marked > 0 && delay < 100.0, "{ecn:?}: {dropped}, {marked}, {delay} ms");
        let (dropped, marked, delay) = overload(&[("overload", Value::Choice("mark"))], ecn);
        assert!(dropped == 0 && marked > 100 && delay > 900.0, "{ecn:?}: {dropped}, {marked}, {delay} ms");
    }
    let (dropped, marked, _) = overload(&[("overload", Value::Choice("mark"))], Ecn::NotEct);
    assert!(dropped > 100 && marked == 0);
}

#[test]
fn a_lazy_controller_has_done_what_a_timer_would_have() {
    for (oldest, p) in [(None, 1.0), (Some(Time::from_millis(100)), 0.0), (None, 0.0)] {
        let mut lazy = Controller { p, old_delay: Span::from_millis(30), ..queue(&[]).controller };
        let mut timer = lazy;
        let end = Time::from_millis(20_000);
        while timer.next_update <= end {
            let at = timer.next_update;
            timer.update(oldest.map_or(Span::ZERO, |oldest| at.since(oldest)));
            timer.next_update += timer.tupdate;
        }
        lazy.catch_up(end, oldest);
        let of = |c: &Controller| (c.p, c.old_delay, c.next_update);
        assert_eq!(of(&lazy), of(&timer), "{oldest:?}");
        lazy.catch_up(Time::ZERO + Span::from_secs(3_000_000_000), oldest);
        assert_eq!(lazy.p, if oldest.is_some() { 1.0 } else { 0.0 });
        assert_eq!(lazy.next_update.0 % lazy.tupdate.0, 0);
        lazy.catch_up(Time::NEVER, oldest);
    }
}

#[test]
fn values_that_make_no_sense_are_refused_with_the_range() {
    let refused = |name, value| {
        let site = Site::test(Limit::Packets(10));
        list::find("dualpi2").unwrap().build::<()>(&[(name, value)], site).err().unwrap().to_string()
    };
    let ms = |ms| Value::Time(Span::from_millis(ms));
    for (name, value, range) in [
        ("target", ms(0), "1 ms to 1000 ms"),
        ("tupdate", ms(0), "1 ms to 1000 ms"),
        ("alpha", Value::Number(0.0), "0.001 to 100"),
        ("beta", Value::Number(-1.0), "0 to 100"),
        ("coupling", Value::Number(0.5), "1 to 255"),
        ("classic_weight", Value::Number(0.0), "0.01 to 0.99"),
        ("classic_weight", Value::Number(1.0), "0.01 to 0.99"),
        ("step", ms(16), "target = 15 ms: use 0 ms to 15 ms"),
    ] {
        let error = refused(name, value);
        assert!(error.contains(name) && error.contains(range), "{error}");
    }
}

proptest! {
    #[test]
    fn each_queue_keeps_its_order_and_the_probability_is_one(
        arrivals in prop::collection::vec((0..4u8, 0..4000u64, 0..3usize), 1..500),
    ) {
        let mut queue = queue(&[]);
        let (mut now, mut dropped, mut last) = (Time::ZERO, Vec::new(), [None; 2]);
        for (number, (tos, passes_us, leave)) in arrivals.iter().enumerate() {
            now += Span::from_micros(*passes_us);
            // The lane in the body: a mark changes the bits.
            let lane = usize::from(tos & 1);
            queue.enqueue(now, packet(number as u64 * 2 + lane as u64, Ecn::from_bits(*tos)), &mut dropped);
            for _ in 0..*leave {
                let Some((packet, _)) = queue.dequeue(now, &mut dropped) else { break };
                let last = &mut last[packet.body as usize % 2];
                prop_assert!(last.is_none_or(|last| last < packet.body));
                *last = Some(packet.body);
            }
            prop_assert!((0.0..=1.0).contains(&queue.controller.p));
        }
        while queue.dequeue(now, &mut dropped).is_some() {}
        queue.dequeue(now + Span::from_secs(1000), &mut dropped);
        prop_assert_eq!(queue.controller.p, 0.0);
    }
}
