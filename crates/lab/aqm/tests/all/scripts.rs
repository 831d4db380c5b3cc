//! Check vectors of the documents as scripts, and the driver's own promises for every discipline.

use afteryou_aqm::script::{Driver, Event, Fate, OutOfOrder};
use afteryou_aqm::{list, Limit, Packet, Queue, Site};
use afteryou_base::{Span, Time};
use proptest::prelude::*;
use rand_pcg::Pcg64;

fn build(name: &str, limit: Limit) -> Box<dyn Queue<u32>> {
    let site = Site { limit, bits_per_second: 10_000_000, random: Pcg64::new(1, 2) };
    list::find(name).expect("in the list").build(&[], site).expect("valid")
}

fn arrive(now: Time, flow: u32, size: u32, number: u32) -> Event<u32> {
    Event::Arrive { now, packet: Packet::from_tos(size, flow, 0, number) }
}

/// RFC 8289 §5: while the sojourn time stays above TARGET, the n-th drop follows the one before by INTERVAL / √n.
#[test]
fn codel_drops_by_its_control_law() {
    let mut queue = build("codel", Limit::Packets(1_000_000));
    let mut driver = Driver::new(queue.as_mut());
    for number in 0..60_000 {
        driver.apply(arrive(Time::ZERO, 0, 1500, number)).unwrap();
    }
    let step = Span::from_micros(10);
    let first = Time::from_millis(6);
    let mut drops = Vec::new();
    let mut now = first;
    while now < first + Span::from_millis(510) {
        let fates = driver.apply(Event::Serve { now }).unwrap();
        let dropped = fates.iter().filter(|fate| matches!(fate, Fate::Dropped { .. })).count();
        drops.extend(std::iter::repeat_n(now.since(first).as_millis_f64(), dropped));
        now += step;
    }
    let law = [100.0, 200.0, 270.711, 328.446, 378.446, 423.167, 463.992, 501.788];
    assert_eq!(drops.len(), law.len(), "{drops:?}");
    for (drop, law) in drops.iter().zip(law) {
        assert!((0.0..=0.011).contains(&(drop - law)), "{drop} ms for {law} ms, served every 0.01 ms");
    }
}

/// Shreedhar and Varghese 1995: a turn is a quantum of bytes.
#[test]
fn drr_serves_a_quantum_of_each_flow_in_turn() {
    let mut queue = build("drr", Limit::Packets(100));
    let mut driver = Driver::new(queue.as_mut());
    for number in 0..4 {
        driver.apply(arrive(Time::ZERO, 0, 1500, number)).unwrap();
    }
    for number in 0..8 {
        driver.apply(arrive(Time::ZERO, 1, 500, number)).unwrap();
    }
    let mut order = String::new();
    for ms in 1..=13 {
        for fate in driver.apply(Event::Serve { now: Time::from_millis(ms) }).unwrap() {
            let Fate::Left { packet, .. } = fate else { panic!("nothing is dropped: {fate:?}") };
            order.push(if packet.flow == 0 { 'A' } else { 'B' });
        }
    }
    assert_eq!(order, "ABBBABBBABBA");
}

#[test]
fn an_event_out_of_order_is_refused_and_the_queue_has_not_seen_it() {
    let mut queue = build("droptail", Limit::Packets(10));
    let mut driver = Driver::new(queue.as_mut());
    driver.apply(arrive(Time::from_millis(2), 0, 1500, 1)).unwrap();
    let error = driver.apply(arrive(Time::from_millis(1), 0, 1500, 2)).unwrap_err();
    assert_eq!(error, OutOfOrder { at: Time::from_millis(1), after: Time::from_millis(2) });
    assert_eq!(error.to_string(), "the event at 0.001 s comes after one at 0.002 s: sort the script by time");
    assert_eq!(driver.queue().backlog().packets, 1);
}

proptest! {
    /// Each packet that went in is in the queue or has exactly one fate, and no sojourn is longer than the script.
    #[test]
    fn a_script_accounts_for_every_packet_of_every_discipline(
        steps in prop::collection::vec((0..3_000u64, any::<bool>(), 0..4u32, 40..1500u32), 1..200),
    ) {
        for entry in list::QUEUES {
            let mut queue = build(entry.name, Limit::Packets(20));
            let mut driver = Driver::new(queue.as_mut());
            let (mut now, mut went_in, mut fates) = (Time::ZERO, 0, Vec::new());
            for &(gap_us, arrives, flow, size) in &steps {
                now += Span::from_micros(gap_us);
                let event = match arrives {
                    true => arrive(now, flow, size, went_in),
                    false => Event::Serve { now },
                };
                went_in += u32::from(arrives);
                fates.extend(driver.apply(event).unwrap());
            }
            let mut seen: Vec<u32> = fates.iter().map(|fate| match fate {
                Fate::Left { packet, .. } | Fate::Dropped { packet, .. } => packet.body,
            }).collect();
            let ended = seen.len() as u64;
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len() as u64, ended, "{}: a packet ends once", entry.name);
            prop_assert_eq!(ended + driver.queue().backlog().packets, u64::from(went_in), "{}", entry.name);
            for fate in &fates {
                if let Fate::Left { now, sojourn, .. } = fate {
                    prop_assert!(sojourn.0 <= now.0, "{}", entry.name);
                }
            }
        }
    }
}
