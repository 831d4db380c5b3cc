//! The bed set is about two hours of traffic, and each of its runs is one that the testbed takes.

use afteryou_engines::{Bed, Engine};
use afteryou_scenario::TransportKind;
use afteryou_studies::bed::{days, set, Cost};
use afteryou_studies::choice;

#[test]
fn the_set_takes_at_most_forty_minutes_with_four_at_once() {
    let set = set().unwrap();
    let tested = set.tested(&choice::all().unwrap()).unwrap();
    let cost = Cost::of(&tested).unwrap();
    assert!(cost.with(4) <= 40.0 * 60.0, "{cost:?}");
    let checks: usize = set.parts.iter().map(|part| part.checks.len()).sum();
    assert_eq!(tested.len(), checks, "a part names an entry that is not there");
}

#[cfg(target_os = "linux")]
#[test]
fn the_testbed_takes_every_run_of_the_set() {
    let set = set().unwrap();
    for tested in set.tested(&choice::all().unwrap()).unwrap() {
        for point in tested.real().unwrap() {
            let refused = Bed::new().supports(&point.scenario).err().unwrap_or_default();
            let at = format!("{}/{}", tested.chosen.entry.id, tested.check.id);
            assert!(refused.is_empty(), "{at}: {refused:?}");
            let controllers =
                point.scenario.flow.iter().filter_map(|flow| Some((flow, flow.controller.as_ref()?)));
            for (flow, controller) in
                controllers.filter(|(flow, _)| flow.transport.kind == TransportKind::Tcp)
            {
                assert_eq!(
                    controller.kind, "cubic",
                    "{at}: the kernel has no {:?} for {}",
                    controller.kind, flow.name
                );
            }
        }
    }
}

#[test]
fn everything_takes_weeks() {
    let (runs, days) = days().unwrap();
    assert!(runs > 20_000 && days > 20.0, "{runs} runs, {days} days");
}
