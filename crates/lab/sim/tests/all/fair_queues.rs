//! Fair queues as a bottleneck: they take from a background flow what makes it yield, unless they know lower effort.

use crate::support::*;
use afteryou_scenario::{Dscp, Flow};

/// Returns the shares of the payload capacity of 10 Mbit/s, flow by flow, and the queue's mean delay, ms.
fn shares(queue: &str, flows: Vec<Flow>) -> (Vec<f64>, f64) {
    let mut link = link("10 Mbit/s", "200 packets");
    link.queue = queue.parse().unwrap();
    let names: Vec<_> = flows.iter().map(|flow| flow.name.clone()).collect();
    let outcome = run(&scenario(link, 120.0, 20.0, flows));
    let share = |name: &String| of(outcome.window("all"), name).share_of_payload_capacity;
    let delays = outcome.curve("link", "queuing_delay");
    let settled: Vec<f64> = delays.iter().filter(|(at, _)| *at > 20.0).map(|(_, ms)| *ms).collect();
    (names.iter().map(share).collect(), settled.iter().sum::<f64>() / settled.len() as f64)
}

fn work() -> Flow {
    flow("work", "cubic", 60)
}

/// Returns a background flow: its packets carry the DSCP of lower effort.
fn backup() -> Flow {
    flow("backup", "ledbat++", 60)
}

#[test]
fn under_fair_queueing_a_background_flow_takes_half() {
    for queue in ["drr", "drr,preset=ns2", "sfq", "sfq,preset=ns2", "fq_codel", "fq_codel,preset=rfc8290"] {
        let (both, delay_ms) = shares(queue, vec![work(), backup()]);
        println!("{queue}: {both:.3?}, {delay_ms:.1} ms");
        let part = both[1] / (both[0] + both[1]);
        assert!((0.42..0.58).contains(&part), "{queue}: {part} of what is sent");
        assert!(both[0] + both[1] > 0.9, "{queue}: {both:?}");
        assert_eq!(delay_ms < 10.0, queue.starts_with("fq_codel"), "{queue}: {delay_ms} ms");
    }
}

#[test]
fn queues_that_know_lower_effort_give_the_foreground_the_link_back() {
    for queue in ["le_two_queues", "le_two_queues,best_effort=droptail", "le_fq_codel"] {
        let (alone, _) = shares(queue, vec![work()]);
        let (both, delay_ms) = shares(queue, vec![work(), backup()]);
        let kept = both[0] / alone[0];
        println!("{queue}: kept {kept:.3} of {:.3}, background {:.3}, {delay_ms:.1} ms", alone[0], both[1]);
        assert!(kept > 0.95, "{queue}: {kept}");
        assert!(both[1] > 0.005, "{queue}: the guard lets a packet pass: {both:?}");
        let (background, _) = shares(queue, vec![backup()]);
        assert!(background[0] > 0.9, "{queue}: the empty link is not used: {background:?}");
    }
}

#[test]
fn not_even_a_loss_based_lower_effort_flow_hurts_the_foreground() {
    for queue in ["le_two_queues", "le_fq_codel"] {
        let (alone, _) = shares(queue, vec![work()]);
        let greedy = Flow { role: afteryou_scenario::Role::Background, ..flow("greedy", "cubic", 60) };
        let (both, _) = shares(queue, vec![work(), greedy]);
        let kept = both[0] / alone[0];
        println!("{queue}: kept {kept:.3}, background {:.3}", both[1]);
        assert!(kept > 0.95, "{queue}: {kept}");
    }
}

/// Returns the backup with another class of its packets.
fn marked(dscp: Dscp) -> Flow {
    Flow { dscp: Some(dscp), ..backup() }
}

// The mark leaves a sixteenth, and what CUBIC does not use after its losses.
#[test]
fn behind_cake_the_mark_alone_restores_the_priority() {
    for (dscp, part) in [(Dscp::DEFAULT, 0.40..0.58), (Dscp::LE, 0.0625..0.125)] {
        for tins in ["diffserv3", "diffserv4"] {
            let greedy = Flow { controller: Some("cubic".parse().unwrap()), ..marked(dscp) };
            let (both, delay_ms) = shares(&format!("cake,tins={tins}"), vec![work(), greedy]);
            println!("{tins}, {dscp:?}: {both:.3?}, {delay_ms:.1} ms");
            let taken = both[1] / (both[0] + both[1]);
            assert!(part.contains(&taken), "{tins}, {dscp:?}: {taken} of what is sent");
            assert!(both[0] + both[1] > 0.85, "{tins}, {dscp:?}: {both:?}");
        }
    }
    let (alone, _) = shares("cake", vec![marked(Dscp::LE)]);
    assert!(alone[0] > 0.85, "the empty link is not used: {alone:?}");
}

#[test]
fn cake_gives_two_hosts_equal_parts_whatever_their_flows() {
    let of_host = |host: &str, name: &str| Flow { host: Some(host.to_owned()), ..flow(name, "cubic", 60) };
    let flows = |first: &str| {
        let many = ["b", "c", "d", "e"].map(|name| of_host("many", name));
        [of_host(first, "a")].into_iter().chain(many).collect::<Vec<_>>()
    };
    for (queue, first, part) in
        [("cake", "one", 0.5), ("cake,isolation=flows", "one", 0.2), ("cake", "many", 0.2)]
    {
        let (all, _) = shares(queue, flows(first));
        let is = all[0] / all.iter().sum::<f64>();
        println!("{queue}, {first}: {all:.3?}");
        // A flow alone leaves a little of its part after each loss.
        assert!((is - part).abs() < 0.06, "{queue}, {first}: {is} for {part}");
    }
}

#[test]
fn cake_keeps_the_rate_of_its_shaper_on_a_faster_link() {
    for (queue, mbit) in
        [("cake,bandwidth=4", 4.0), ("cake,bandwidth=4,overhead=100B", 4.0 * 1500.0 / 1600.0)]
    {
        let mut link = link("10 Mbit/s", "200 packets");
        link.queue = queue.parse().unwrap();
        let outcome = run(&scenario(link, 60.0, 20.0, vec![work()]));
        let utilisation = outcome.window("all").bottleneck().unwrap().utilisation;
        assert!(
            utilisation * 10.0 < mbit + 0.01 && utilisation * 10.0 > 0.85 * mbit,
            "{queue}: {utilisation}"
        );
    }
}
