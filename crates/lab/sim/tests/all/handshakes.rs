//! Handshakes that a queue drops are counted, and whoever looks at packets and senders sees them.

use crate::support::{flow, link, run, scenario, utp};
use afteryou_base::Span;
use afteryou_cc::script::Event;
use afteryou_cc::{Controller, Observer, Observers, Time};
use afteryou_scenario::passage::{Content, Fate, Passage};
use afteryou_scenario::{Algorithm, Duration, Flow, Law, Link, Scenario, Size, Traffic};
use afteryou_sim::Watchers;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// Returns a scenario of connections beside a bulk flow, behind FQ-CoDel whose target is below the 6 ms that a packet takes.
fn behind_fq_codel(connections: Flow, target: &str) -> Scenario {
    let queue = Algorithm::named("fq_codel").with("target", target);
    let traffic = Traffic::Arrivals {
        arrivals: Law::Fixed(Duration::from_millis(200)),
        size: Law::Fixed(Size::from_bytes(2000)),
    };
    let connections = Flow { name: "front".to_owned(), traffic, ..connections };
    let link = Link { queue, ..link("2 Mbit/s", "100 packets") };
    scenario(link, 60.0, 0.0, vec![flow("bulk", "cubic", 40), connections])
}

/// Counts the timeouts of handshakes among the events that observers see.
#[derive(Clone, Debug, Default)]
struct Count(Arc<Mutex<u64>>);

impl Observer for Count {
    fn see(&mut self, event: &Event, _: &dyn Controller) {
        if let Event::HandshakeTimeout(now) = event {
            assert!(*now >= Time::from_millis(900), "{now:?}");
            *self.0.lock().unwrap() += 1;
        }
    }
}

#[test]
fn a_syn_that_a_queue_drops_is_counted_in_totals_shown_to_observers_and_captured_twice() {
    let scenario = behind_fq_codel(flow("front", "cubic", 40), "5 ms").checked().unwrap();
    let count = Count::default();
    let observers = {
        let count = count.clone();
        Observers::new(move |_| Some(Box::new(count.clone()) as Box<dyn Observer>))
    };
    let mut syns: BTreeMap<u32, Vec<Fate>> = BTreeMap::new();
    let mut tap = |passage: &Passage<'_>| {
        if matches!(passage.content, Content::Syn { .. }) {
            syns.entry(passage.connection).or_default().push(passage.fate);
        }
    };
    let watchers = Watchers {
        every: Span::from_millis(1000),
        take: &mut |_| (),
        tap: Some(&mut tap),
        observers: Some(observers),
    };
    let outcome = afteryou_sim::watched(&scenario, &mut |_| ControlFlow::Continue(()), watchers).unwrap();
    let totals = outcome.run.totals.iter().find(|totals| totals.flow == "front").unwrap();
    assert!(totals.handshake_timeouts > 0, "{totals:?}");
    assert_eq!(*count.0.lock().unwrap(), totals.handshake_timeouts);
    let dropped = syns.values().flatten().filter(|fate| matches!(fate, Fate::Dropped(_))).count() as u64;
    // One that is dropped near the end is not missed yet.
    assert!(
        (totals.handshake_timeouts..=totals.handshake_timeouts + 2).contains(&dropped),
        "{dropped}, {totals:?}"
    );
    let again = syns.values().filter(|fates| fates.len() > 1).count() as u64;
    assert!(again > 0 && again <= totals.handshake_timeouts, "{again}, {totals:?}");
}

#[test]
fn utp_counts_its_handshakes_and_a_target_of_one_and_a_half_packets_loses_fewer() {
    let lost = |connections: Flow, target: &str| {
        let outcome = run(&behind_fq_codel(connections, target));
        outcome.run.totals.iter().map(|totals| totals.handshake_timeouts).sum::<u64>()
    };
    assert!(lost(utp("front", "cubic", 40), "5 ms") > 0);
    let (five, nine) = (lost(flow("front", "cubic", 40), "5 ms"), lost(flow("front", "cubic", 40), "9 ms"));
    assert!(nine < five, "{nine} and {five}");
}

/// The table on the book's pages of CoDel, FQ-CoDel and PIE: connections that begin a second late, and how long transfers take.
#[test]
fn behind_fq_codel_a_target_below_a_packets_time_delays_connections_by_a_second() {
    for (kind, short, long) in
        [("codel", "5 ms", "9 ms"), ("fq_codel", "5 ms", "9 ms"), ("pie", "5 ms", "15 ms")]
    {
        let part = |target: &str| {
            let mut scenario = behind_fq_codel(flow("front", "cubic", 40), target);
            scenario.link.queue = Algorithm::named(kind).with("target", target);
            scenario.duration = Duration::from_millis(600_000);
            scenario.measure[0].to = scenario.duration;
            let outcome = run(&scenario);
            let of = |name: &str| outcome.run.totals.iter().find(|totals| totals.flow == name).unwrap();
            let (front, begun) = (of("front"), of("front").completions.as_ref().unwrap().begun);
            let time = front.completions.as_ref().unwrap().time.unwrap();
            println!(
                "{kind} {target}: {:.2} % of {begun}, mean {:.0} ms, p99 {:.0} ms, used {}",
                front.handshake_timeouts as f64 * 100.0 / begun as f64,
                time.mean_ms,
                time.p99_ms,
                outcome.run.windows[0].links[0].utilisation,
            );
            front.handshake_timeouts as f64 / begun as f64
        };
        let (short, long) = (part(short), part(long));
        if kind == "fq_codel" {
            assert!(short > 0.01 && long < short / 2.0, "{long} and {short}");
        }
    }
}
