//! Several connections of one job that share one window, over one bottleneck in virtual time.

use crate::support::{Path, Plan, World};
use afteryou_cc::group::Shared;
use afteryou_cc::list;

const RTT_MS: u64 = 40;
const END_MS: u64 = 25_000;
/// Deeper than LEDBAT++'s target of 60 ms by far.
const DEEP_MS: u64 = 500;
/// One bandwidth-delay product: CUBIC fills it again and again.
const SHALLOW_MS: u64 = 40;
/// What is measured: start and slow start are over.
const MEASURED_MS: (u64, u64) = (8_000, END_MS);

fn group_of(controller: &str, payload: u32) -> Shared {
    let inner = list::find(controller)
        .expect("in the list")
        .build(&[], afteryou_cc::Setup::of(payload))
        .expect("defaults are valid");
    Shared::new(inner, payload)
}

fn bulk(controller: &'static str) -> Plan {
    Plan::bulk(controller, RTT_MS)
}

/// Returns `count` connections, all of one group or each for itself.
fn job(controller: &'static str, count: usize, grouped: bool) -> Vec<Plan> {
    let group = group_of(controller, Plan::bulk(controller, RTT_MS).config.payload);
    let member = |_| if grouped { bulk(controller).in_group(&group) } else { bulk(controller) };
    (0..count).map(member).collect()
}

/// Runs the job beside `others`, which begin a moment later; returns shares of the link: the job's and the others'.
fn shares(buffer_ms: u64, job: Vec<Plan>, others: &[&'static str]) -> (f64, f64) {
    let members = job.len();
    let others = others.iter().map(|controller| Plan { start_ms: 500, ..bulk(controller) });
    let world = run(Path::new(20, buffer_ms), job.into_iter().chain(others).collect());
    (share(&world, 0..members), share(&world, members..world.flows.len()))
}

fn run(path: Path, plans: Vec<Plan>) -> World {
    let mut world = World::new(path, plans);
    world.run_until(END_MS);
    world
}

fn share(world: &World, flows: std::ops::Range<usize>) -> f64 {
    let (from, to) = MEASURED_MS;
    let received: u64 = world.flows[flows].iter().map(|flow| flow.received_between(from, to)).sum();
    received as f64 / world.payload_capacity(from, to)
}

/// Runs the job alone; returns its share of the link.
fn alone(controller: &'static str, count: usize, grouped: bool) -> f64 {
    shares(DEEP_MS, job(controller, count, grouped), &[]).0
}

#[test]
fn a_group_of_one_is_its_controller_to_the_byte() {
    for controller in ["ledbat++", "cubic"] {
        let (own, grouped) = [false, true].map(|grouped| alone(controller, 1, grouped)).into();
        assert_eq!(own, grouped, "{controller}");
    }
}

#[test]
fn alone_a_group_takes_what_one_connection_takes() {
    let one = alone("ledbat++", 1, false);
    let group = alone("ledbat++", 16, true);
    assert!(group >= 0.95 * one && group <= 1.05 * one, "{group} against {one}");
}

#[test]
fn the_members_of_a_group_get_equal_shares() {
    let world = run(Path::new(20, DEEP_MS), job("ledbat++", 4, true));
    let members: Vec<f64> = (0..4).map(|i| share(&world, i..i + 1)).collect();
    let mean = members.iter().sum::<f64>() / 4.0;
    assert!(members.iter().all(|share| (share / mean - 1.0).abs() <= 0.1), "{members:?}");
}

#[test]
fn beside_a_cubic_a_ledbatpp_group_is_as_modest_as_one_of_them() {
    let one = shares(DEEP_MS, job("ledbat++", 1, false), &["cubic"]).0;
    for count in [4, 16] {
        let group = shares(DEEP_MS, job("ledbat++", count, true), &["cubic"]).0;
        // At the floor a thousandth of the link is a packet in two round trips.
        assert!(group <= 1.1 * one + 0.001, "{count}: {group} against {one}");
    }
    let apart = shares(DEEP_MS, job("ledbat++", 16, false), &["cubic"]).0;
    assert!(apart >= 10.0 * one, "without a group they take more: {apart} against {one}");
}

#[test]
fn beside_a_cubic_a_cubic_group_takes_half_and_as_many_without_a_group_four_fifths() {
    let apart = shares(SHALLOW_MS, job("cubic", 4, false), &["cubic"]).0;
    let group = shares(SHALLOW_MS, job("cubic", 4, true), &["cubic"]).0;
    assert!((0.72..=0.88).contains(&apart), "{apart}");
    assert!((0.35..=0.6).contains(&group), "{group}");
}

#[test]
fn beside_a_single_ledbatpp_a_group_gets_what_a_single_one_would() {
    let (one, beside_one) = shares(DEEP_MS, job("ledbat++", 1, false), &["ledbat++"]);
    let (group, beside_group) = shares(DEEP_MS, job("ledbat++", 16, true), &["ledbat++"]);
    assert!((group - one).abs() <= 0.1 && (beside_group - beside_one).abs() <= 0.1, "{group} against {one}");
    let (apart, beside_them) = shares(DEEP_MS, job("ledbat++", 16, false), &["ledbat++"]);
    assert!(apart > 0.85 && beside_them < 0.1, "without a group they crowd it out: {apart}");
}

#[test]
fn members_that_come_and_go_disturb_nobody() {
    let steady = alone("ledbat++", 4, true);
    let mut plans = job("ledbat++", 8, true);
    for (i, plan) in plans.iter_mut().enumerate().skip(4) {
        let start_ms = 3_000 * i as u64;
        (plan.start_ms, plan.stop_ms) = (start_ms, Some(start_ms + 5_000));
    }
    let changing = shares(DEEP_MS, plans, &[]).0;
    assert!(changing >= 0.97 * steady, "{changing} against {steady}");
}

#[test]
fn a_member_with_nothing_to_send_leaves_its_share_to_the_others() {
    let full = alone("ledbat++", 2, true);
    let mut plans = job("ledbat++", 4, true);
    for plan in &mut plans[2..] {
        plan.bytes = Some(100_000);
    }
    let lent = shares(DEEP_MS, plans, &[]).0;
    assert!(lent >= 0.98 * full, "{lent} against {full}");
}

#[test]
fn random_loss_stops_no_member_of_a_group() {
    let plans = job("cubic", 8, true).into_iter().map(|plan| plan.sending(300_000)).collect();
    let mut world = World::new(Path::new(20, DEEP_MS).lossy(0.03), plans);
    assert!(world.run_to_completion(END_MS));
    assert!(world.flows.iter().all(|flow| flow.received == 300_000 && !flow.corrupt));
}

/// Runs sixteen LEDBAT++ on 1 Mbit/s, where its window is nine packets; returns the link's use, and the 95th percentile of
/// the time in the queue in ms.
fn on_a_slow_link(grouped: bool) -> (f64, f64) {
    let world = run(Path::new(1, DEEP_MS), job("ledbat++", 16, grouped));
    (share(&world, 0..16), world.sojourn_percentile(95, MEASURED_MS.0, END_MS))
}

#[test]
fn where_a_packet_for_each_does_not_fit_a_group_keeps_the_queue_short_and_loses_a_quarter() {
    let (apart, group) = (on_a_slow_link(false), on_a_slow_link(true));
    assert!(apart.1 >= 250.0, "without a group their floors fill the buffer: {apart:?}");
    assert!(group.1 <= 90.0 && group.0 >= 0.7, "{group:?}");
}
