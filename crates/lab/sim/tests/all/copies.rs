//! Evidence that a loss was none: a packet that comes late is, a copy that the network makes is not.

use crate::support::*;
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::Jitter;
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::passage::{Content, Passage};
use afteryou_scenario::scenario::{Delay, Drop, Reverse};
use afteryou_scenario::{Elements, Flow, Link, Outcome, Probability, Scenario, Transport};
use afteryou_sim::{watched, Watchers, NEVER};
use std::ops::ControlFlow;

fn ratio(ratio: f64) -> Probability {
    Probability::from_ratio(ratio).unwrap()
}

/// Returns a scenario of one NewReno for 20 s over 100 Mbit/s, whose data packets are lost and come twice with these
/// probabilities.
fn copying(rtt_ms: u64, loss: f64, copies: f64) -> Scenario {
    let elements = Elements { duplicate: ratio(copies), ..Elements::default() };
    let reverse =
        Reverse { loss: Some(ratio(0.0)), elements: Some(Elements::default()), ..Reverse::default() };
    let link = Link { loss: ratio(loss), elements, reverse: Some(reverse), ..link("100 Mbit/s", "200 ms") };
    scenario(link, 20.0, 0.0, vec![flow("one", "newreno", rtt_ms)])
}

fn goodput(outcome: &Outcome) -> f64 {
    of(outcome.window("all"), "one").goodput_bit_s
}

#[test]
fn no_real_loss_counts_as_spurious_however_many_copies_the_network_makes() {
    for rtt_ms in [5, 50, 135, 250] {
        for loss in [0.001, 0.01, 0.05] {
            let alone = goodput(&run(&copying(rtt_ms, loss, 0.0)));
            for copies in [0.0, 0.01, 0.2, 1.0] {
                let outcome = run(&copying(rtt_ms, loss, copies));
                let (totals, ratio) = (outcome.totals("one"), goodput(&outcome) / alone);
                let case = format!("{rtt_ms} ms, {loss} lost, {copies} copied");
                println!("{case}: {ratio:.2} of the goodput without, {} losses", totals.losses);
                assert_eq!(totals.spurious, 0, "{case}");
                // Twenty seconds of a sawtooth: with 5 % loss and 250 ms no more than eighty rounds.
                assert!(ratio < 1.5, "{case}: {ratio} times the goodput without copies");
            }
        }
    }
}

/// Returns totals and goodput of a flow whose packet 3000 is late by `late_ms`, of which `lost_too` packets beside it are
/// lost.
fn late(rtt_ms: u64, late_ms: u64, copies: f64, lost_too: u64) -> (Totals, f64) {
    let delay = Delay::of_packet("one", 3_000, ms(late_ms));
    let drop =
        Drop { flow: Some("one".to_owned()), packet: Some(3_010), count: Some(lost_too), ..Drop::default() };
    let mut scenario = Scenario {
        delay: vec![delay],
        drop: if lost_too == 0 { vec![] } else { vec![drop] },
        ..copying(rtt_ms, 0.0, copies)
    };
    // No queue grows and nothing is lost beside the script.
    scenario.flow[0].transport = Transport::tcp().with("rwnd", "150 kB");
    let outcome = run(&scenario);
    (outcome.totals("one").clone(), goodput(&outcome))
}

#[test]
fn a_packet_that_comes_late_is_no_loss_and_one_that_is_lost_beside_it_stays_one() {
    for rtt_ms in [50, 135, 250] {
        for copies in [0.0, 0.2, 1.0] {
            let (none, alone) = late(rtt_ms, 0, copies, 0);
            assert_eq!((none.losses, none.spurious), (0, 0));
            let (totals, undone) = late(rtt_ms, rtt_ms * 3 / 4, copies, 0);
            let case = format!("{rtt_ms} ms, {copies} copied");
            println!("{case}: {undone:.0} of {alone:.0} bit/s with a late packet");
            assert_eq!((totals.losses, totals.spurious), (1, 1), "{case}");
            assert!(undone > 0.97 * alone, "{case}: {undone} of {alone} bit/s");
            let (totals, answered) = late(rtt_ms, rtt_ms * 3 / 4, copies, 1);
            assert_eq!((totals.losses, totals.spurious), (2, 1), "{case}");
            assert!(answered < undone, "{case}: {answered} of {undone} bit/s");
        }
    }
}

#[test]
fn a_sender_learns_from_reordering_whether_or_not_the_network_makes_copies() {
    for transport in [Transport::tcp(), Transport::tcp().with("pacing", "false")] {
        for copies in [0.0, 0.2] {
            let jitter = Jitter { law: Distribution::Uniform(ms(0), ms(10)), reorder: true };
            let elements = Elements { jitter: Some(jitter), duplicate: ratio(copies), ..Elements::default() };
            let one = Flow { elements, transport: transport.clone(), ..flow("one", "newreno", 20) };
            let outcome = run(&scenario(link("20 Mbit/s", "100 ms"), 30.0, 5.0, vec![one]));
            let used = outcome.window("all").bottleneck().unwrap().utilisation;
            let totals = outcome.totals("one");
            println!(
                "{transport}, {copies} copied: {used:.3}, {} of {} losses spurious",
                totals.spurious, totals.losses
            );
            assert!(used > 0.9, "{transport}, {copies} copied: {used}");
            assert!(totals.spurious < totals.packets / 200, "{transport}, {copies} copied: {totals:?}");
        }
    }
}

#[test]
fn each_copy_is_reported_once_by_a_block_of_its_segment() {
    for loss in [0.0, 0.01] {
        let (mut twice, mut reports) = (Vec::new(), Vec::new());
        let mut seen = std::collections::BTreeSet::new();
        let mut tap = |passage: &Passage<'_>| match passage.content {
            Content::Segment { number, tsval, .. } if !seen.insert((number, tsval)) => twice.push(number),
            Content::Ack { cumulative, blocks: [(start, end), more @ ..], .. } => {
                let is_within = |(from, to): &(u32, u32)| from <= start && end <= to;
                if *start < cumulative || more.first().is_some_and(is_within) {
                    assert_eq!(*end, start + 1);
                    reports.push(*start);
                }
            }
            _ => {}
        };
        let mut scenario = Scenario { duration: seconds(5.0), measure: vec![], ..copying(50, loss, 0.2) };
        scenario.flow[0].transport = Transport::tcp().with("rwnd", "150 kB");
        let watchers = Watchers { every: NEVER, take: &mut |_| {}, tap: Some(&mut tap), observers: None };
        watched(&scenario.checked().unwrap(), &mut |_| ControlFlow::Continue(()), watchers).expect("a run");
        // The last ones are under way.
        assert!(
            reports.len() > 200 && twice.len() - reports.len() < 1000,
            "{} {}",
            twice.len(),
            reports.len()
        );
        assert_eq!(twice[..reports.len()], reports, "{loss} lost");
    }
}
