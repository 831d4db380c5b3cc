//! Handshakes that a queue drops are counted, and whoever looks at packets and senders sees them.

use crate::support::{flow, link, run, scenario, utp};
use afteryou_base::Span;
use afteryou_cc::script::Event;
use afteryou_cc::{Controller, Observer, Time};
use afteryou_scenario::passage::{Content, Fate, Passage};
use afteryou_scenario::senders::Observers;
use afteryou_scenario::{Algorithm, Duration, Flow, Law, Link, Scenario, Size, Traffic};
use afteryou_sim::Watchers;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Connections beside a bulk flow, behind FQ-CoDel whose target is below the 6 ms that a packet takes.
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
    let scenario = behind_fq_codel(flow("front", "cubic", 40), "5 ms");
    let count = Count::default();
    let observers = {
        let count = count.clone();
        Observers::new(move |_| Some(Box::new(count.clone()) as Box<dyn Observer>))
    };
    let mut syns: BTreeMap<u32, Vec<Fate>> = BTreeMap::new();
    let mut tap = |passage: &Passage<'_>| {
        if passage.content == Content::Syn {
            syns.entry(passage.connection).or_default().push(passage.fate);
        }
    };
    let watchers = Watchers {
        every: Span::from_millis(1000),
        take: &mut |_| (),
        tap: Some(&mut tap),
        observers: Some(observers),
    };
    let outcome = afteryou_sim::watched(&scenario, &mut |_| true, watchers).unwrap();
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
