//! A controller allocates when it is made and never again: it runs in a packet's path.
#![cfg(feature = "std")]

use crate::driver::Driver;
use afteryou_base::param::Settings;
use afteryou_base::{Span, Time};
use afteryou_cc::group::Shared;
use afteryou_cc::list::{find, CONTROLLERS};
use afteryou_cc::rledbat::{Rledbat, Segment, PARAMS};
use afteryou_cc::{Idle, Sent, Setup, SpuriousLoss, Timeout};

#[test]
fn nothing_is_allocated_after_construction() {
    for entry in CONTROLLERS {
        let mut driver = Driver::new(entry.name, &[], 1448, Span::from_millis(40));
        let allocations = allocation_counter::measure(|| {
            for cycle in 0..20u64 {
                (0..40).for_each(|_| driver.round(Span::from_millis(cycle * 20)));
                driver.lose();
                for undo in [false, true] {
                    let (now, sent) = (driver.now, Sent::default());
                    driver.controller.on_spurious_loss(&SpuriousLoss { now, sent, undo, since: Time::ZERO });
                }
                let (now, flightsize) = (driver.now, driver.controller.directive().cwnd);
                driver.controller.on_timeout(&Timeout { now, flightsize, consecutive: 1 });
                driver.now += Span::from_secs(90);
                let (idle_for, rto) = (Span::from_secs(90), Span::from_secs(1));
                driver.controller.on_idle(&Idle { now: driver.now, idle_for, rto });
                driver.controller.on_mtu(1200 + cycle as u32);
                driver.controller.snapshot();
            }
        });
        assert_eq!(allocations.count_total, 0, "{}", entry.name);
    }
}

#[test]
fn a_member_of_a_group_allocates_nothing_either() {
    let mut driver = Driver::new("ledbat++", &[], 1448, Span::from_millis(40));
    let inner = find("ledbat++").expect("in the list").build(&[], Setup::of(1448)).expect("valid");
    let group = Shared::new(inner, 1448);
    driver.controller = group.member(1448);
    let _other = group.member(1448);
    let allocations = allocation_counter::measure(|| {
        (0..200).for_each(|_| driver.round(Span::from_millis(20)));
        driver.lose();
        driver.controller.snapshot();
    });
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn a_receiver_that_limits_its_sender_allocates_nothing_either() {
    let mut receiver = Rledbat::new(&Settings::defaults(PARAMS), 1448);
    let allocations = allocation_counter::measure(|| {
        for position in 0..10_000u64 {
            let now = Time::from_millis(1_000 + position);
            let clock = now.as_micros() as u32;
            let again = if position % 500 == 0 { 2 } else { 0 };
            receiver.on_segment(&Segment {
                now,
                clock,
                position: position.saturating_sub(again),
                received: 1448,
                tsval: clock,
                tsecr: clock - 50_000 - (position % 100) as u32 * 1000,
            });
            receiver.announce(position * 1448, clock, 1 << 20);
        }
        receiver.snapshot();
    });
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn the_counter_counts() {
    let allocations = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1))));
    assert_eq!(allocations.count_total, 1);
}
