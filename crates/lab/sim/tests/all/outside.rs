//! Jobs that are steered from outside, as by `afteryou run`: downloads at the receiver, uploads at the sender.
//!
//! The bounds are those of `bench/outside.rs`, which measures the command itself with kernel sockets.

use crate::support::*;
use afteryou_scenario::{EndRule, Flow, Outcome, Role, Scenario, Size, Traffic};

/// The end at which a job is steered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Receiver,
    Sender,
}
use End::{Receiver, Sender};

/// Returns a job of `count` connections from or to one server.
fn job(end: End, controller: &str, count: u32, rtt_ms: u64) -> Vec<Flow> {
    let rule = Some(EndRule::named("outside"));
    let (receiver, sender) = if end == Receiver { (rule, None) } else { (None, rule) };
    let one = |index| Flow {
        group: Some("job".to_owned()),
        role: Role::Background,
        receiver: receiver.clone(),
        sender: sender.clone(),
        ..flow(&format!("b{index}"), controller, rtt_ms)
    };
    (0..count).map(one).collect()
}

fn share(outcome: &Outcome) -> f64 {
    share_in(outcome, "all")
}

fn share_in(outcome: &Outcome, window: &str) -> f64 {
    let flows = &outcome.window(window).flows;
    flows.iter().filter(|flow| flow.flow.starts_with('b')).map(|flow| flow.share_of_payload_capacity).sum()
}

fn p95_ms(outcome: &Outcome) -> f64 {
    outcome.window("all").bottleneck().unwrap().queuing_delay.expect("packets").p95_ms
}

/// Runs flows over 20 Mbit/s with 500 ms of buffer, measured from 20 s to 60 s.
fn on_20_mbit(flows: Vec<Flow>, baseline: bool) -> Outcome {
    run(&Scenario { baseline, ..scenario(link("20 Mbit/s", "500 ms"), 60.0, 20.0, flows) })
}

/// Returns what a CUBIC flow keeps beside a job.
fn kept(job: Vec<Flow>, rtt_ms: u64) -> f64 {
    let flows = std::iter::once(flow("f", "cubic", rtt_ms)).chain(job).collect();
    on_20_mbit(flows, true).comparison[0].kept.expect("a baseline")
}

#[test]
fn alone_a_job_uses_the_link_and_keeps_the_queue_short() {
    let mut misses = Vec::new();
    for (end, controller, count, rtt_ms) in [
        (Receiver, "cubic", 1, 40),
        (Receiver, "cubic", 4, 40),
        (Receiver, "cubic", 16, 40),
        (Receiver, "bbr", 4, 40),
        (Receiver, "cubic", 4, 5),
        (Receiver, "cubic", 4, 100),
        (Sender, "cubic", 1, 40),
        (Sender, "cubic", 4, 40),
        (Sender, "bbr", 4, 40),
    ] {
        let outcome = on_20_mbit(job(end, controller, count, rtt_ms), false);
        let (share, p95_ms) = (share(&outcome), p95_ms(&outcome));
        println!("{end:?} {controller} {count} {rtt_ms} ms: {share:.3}, {p95_ms:.1} ms");
        let (least, most) = if controller == "bbr" && end == Receiver { (0.94, 50.0) } else { (0.93, 35.0) };
        if share < least || p95_ms > most {
            misses.push(format!("{end:?} {controller} {count} {rtt_ms} ms: {share}, {p95_ms} ms"));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn cubic_keeps_the_link_beside_a_job_however_many_connections_it_has() {
    let mut misses = Vec::new();
    for (end, count, least) in [
        (Receiver, 1, 0.97),
        (Receiver, 4, 0.97),
        (Receiver, 16, 0.97),
        (Sender, 1, 0.96),
        (Sender, 4, 0.96),
        (Sender, 16, 0.93),
    ] {
        let kept = kept(job(end, "cubic", count, 40), 40);
        println!("{end:?} {count}: {kept:.3}");
        if kept < least {
            misses.push(format!("{end:?} {count}: {kept}"));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Returns a telephone call.
fn call() -> Flow {
    Flow::cbr("call", Role::Foreground, "64 kbit/s".parse().unwrap(), Size::from_bytes(160), ms(40))
}

#[test]
fn a_call_beside_a_job_hardly_notices_it() {
    let mut misses = Vec::new();
    for (end, controller, count) in [
        (Receiver, "cubic", 1),
        (Receiver, "cubic", 4),
        (Receiver, "cubic", 16),
        (Sender, "cubic", 1),
        (Sender, "cubic", 4),
        (Sender, "cubic", 16),
    ] {
        let flows = std::iter::once(call()).chain(job(end, controller, count, 40));
        let outcome = on_20_mbit(flows.collect(), true);
        let added_ms = outcome.comparison[0].added_delay_p95_ms.expect("a baseline");
        println!("{end:?} {controller} {count}: {added_ms:.1} ms");
        if added_ms > 30.0 {
            misses.push(format!("{end:?} {controller} {count}: {added_ms} ms"));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn flows_that_were_not_written_together_are_jobs_of_their_own() {
    let mut flows = job(Receiver, "cubic", 2, 40);
    let together = p95_ms(&on_20_mbit(flows.clone(), false));
    flows.iter_mut().for_each(|flow| flow.group = None);
    let apart = p95_ms(&on_20_mbit(flows, false));
    println!("{together} ms together, {apart} ms apart");
    assert!(together <= 35.0 && apart >= together, "{together} ms together, {apart} ms apart");
}

#[test]
fn a_rate_that_does_not_bind_leaves_the_sender_its_window() {
    // One packet of a thousand is lost: CUBIC by itself does not fill the link, so nothing has to be held back.
    let alone = |flows| {
        let mut link = link("20 Mbit/s", "500 ms");
        link.loss = "0.1 %".parse().unwrap();
        share(&run(&scenario(link, 120.0, 20.0, flows)))
    };
    let by_itself = alone(vec![flow("b", "cubic", 40)]);
    let steered = alone(job(Sender, "cubic", 1, 40));
    println!("{steered:.3} of {by_itself:.3}");
    assert!(steered >= 0.8 * by_itself, "{steered} of {by_itself}");
}

#[test]
fn every_transfer_ends_also_of_those_that_wait() {
    for end in [Receiver, Sender] {
        let mut flows = job(end, "cubic", 8, 40);
        flows.iter_mut().for_each(|flow| flow.traffic = Traffic::Size(Size::from_bytes(1_000_001)));
        let outcome = run(&scenario(link("20 Mbit/s", "500 ms"), 60.0, 0.0, flows));
        for index in 0..8 {
            assert_eq!(outcome.totals(&format!("b{index}")).received_bytes, 1_000_001, "{end:?} {index}");
        }
    }
}

#[test]
fn behind_a_fair_queue_a_job_finds_others_by_trial_and_comes_back() {
    let mut misses = Vec::new();
    for (end, count, rtt_ms, least_kept) in [
        (Receiver, 1, 40, 0.75),
        (Receiver, 4, 40, 0.75),
        (Receiver, 16, 40, 0.75),
        (Sender, 1, 40, 0.75),
        (Sender, 4, 40, 0.75),
        (Sender, 16, 40, 0.75),
        (Receiver, 4, 5, 0.7),
        (Sender, 4, 5, 0.7),
    ] {
        let mut cubic = flow("f", "cubic,hystart=linux", rtt_ms);
        (cubic.start, cubic.stop) = (seconds(20.0), Some(seconds(60.0)));
        let job = job(end, "cubic,hystart=linux", count, rtt_ms);
        let mut link = link("20 Mbit/s", "1000 packets");
        link.queue = "fq_codel".parse().unwrap();
        let flows = std::iter::once(cubic).chain(job).collect();
        let mut scenario = Scenario { baseline: true, ..scenario(link, 80.0, 0.0, flows) };
        scenario.measure =
            vec![window("alone", 10.0, 20.0), window("together", 20.0, 60.0), window("back", 70.0, 80.0)];
        let outcome = run(&scenario);
        let (alone, back) = (share_in(&outcome, "alone"), share_in(&outcome, "back"));
        let kept = outcome.comparison.iter().find(|row| row.window == "together").and_then(|row| row.kept);
        let kept = kept.expect("a baseline");
        println!("{end:?} {count} {rtt_ms} ms: alone {alone:.3}, kept {kept:.3}, back {back:.3}");
        if alone < 0.8 || kept < least_kept || back < 0.8 {
            misses.push(format!("{end:?} {count} {rtt_ms} ms: alone {alone}, kept {kept}, back {back}"));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Returns when the last of `count` files of together 30 MB has come, seconds. The first begins `apart_s` before the others, as that of a
/// program that asks whether its server can do several.
fn took_s(mut flows: Vec<Flow>, apart_s: f64) -> f64 {
    let size = 30_000_000 / flows.len() as u64;
    flows.iter_mut().for_each(|flow| flow.traffic = Traffic::Size(Size::from_bytes(size)));
    flows.iter_mut().skip(1).for_each(|flow| flow.start = seconds(apart_s));
    let begins: Vec<(String, f64)> =
        flows.iter().map(|flow| (flow.name.clone(), flow.start.as_secs_f64())).collect();
    let outcome = run(&scenario(link("20 Mbit/s", "500 ms"), 60.0, 0.0, flows));
    let end = |(name, begun_s): &(String, f64)| {
        begun_s + outcome.totals(name).completed_in_s.unwrap_or(f64::INFINITY)
    };
    begins.iter().map(end).fold(0.0, f64::max)
}

#[test]
fn alone_files_take_hardly_longer_than_without_the_rule() {
    let mut misses = Vec::new();
    for (end, controller, rtt_ms, apart_s, most) in [
        (Receiver, "cubic,hystart=linux", 40, 0.0, 1.05),
        (Receiver, "bbr", 40, 0.0, 1.05),
        (Sender, "cubic,hystart=linux", 40, 0.0, 1.05),
        // Those that begin at once fill the queue before they have a window.
        (Receiver, "cubic,hystart=linux", 40, 0.3, 1.1),
        (Receiver, "bbr", 40, 0.3, 1.1),
        (Sender, "cubic,hystart=linux", 40, 0.3, 1.1),
        (Sender, "cubic,hystart=linux", 40, 1.2, 1.1),
        // A window grows by half in a round trip, CUBIC's own doubles.
        (Receiver, "cubic,hystart=linux", 100, 0.0, 1.1),
    ] {
        for count in [1, 3, 4, 16] {
            let steered = job(end, controller, count, rtt_ms);
            let mut free = steered.clone();
            free.iter_mut().for_each(|flow| (flow.receiver, flow.sender) = (None, None));
            let (free, steered) = (took_s(free, apart_s), took_s(steered, apart_s));
            let row = format!(
                "{end:?} {controller} {rtt_ms} ms, {count}, {apart_s} s: {steered:.2} s of {free:.2}"
            );
            println!("{row}");
            if steered > most * free {
                misses.push(row);
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
