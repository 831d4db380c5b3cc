//! A loss or a timeout that was none costs no controller its window.

use crate::driver::Driver;
use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::{Sent, SpuriousLoss, Timeout};

const MSS: u32 = 1000;
const BASE: Span = Span::from_millis(100);

/// All that answer losses, but libutp: it cannot take the answer back, and is imitated.
const NAMES: [&str; 10] =
    ["ledbat", "ledbat++", "fledbat", "tcp-lp", "nice", "vegas", "cubic", "newreno", "cdg", "copa"];

/// Creates a controller in congestion avoidance, or LEDBAT++ in a slowdown.
fn driver(name: &str, slowdowns: bool) -> Driver {
    let overrides = [("slowdowns", Value::Flag(slowdowns))];
    let overrides = if name == "ledbat++" { &overrides[..] } else { &[] };
    let mut driver = Driver::new(name, overrides, MSS, BASE);
    driver.reach_avoidance(30.0);
    // What was sent before has come round, and the reductions of the start are of long ago.
    (0..4).for_each(|_| driver.round(Span::ZERO));
    driver
}

fn drivers() -> impl Iterator<Item = (&'static str, Driver)> {
    let plain = NAMES.into_iter().map(|name| (name, driver(name, false)));
    plain.chain([("ledbat++", driver("ledbat++", true))])
}

fn undo(driver: &mut Driver, since: Time) {
    let sent = Sent { now: since, bytes: MSS.into(), ..Sent::default() };
    let spurious = SpuriousLoss { now: driver.now, sent, undo: true, since };
    driver.controller.on_spurious_loss(&spurious);
}

fn time_out(driver: &mut Driver, consecutive: u32) {
    let flightsize = driver.controller.directive().cwnd;
    driver.controller.on_timeout(&Timeout { now: driver.now, flightsize, consecutive });
}

#[test]
fn a_loss_that_was_none_gives_the_window_back() {
    for (name, mut driver) in drivers() {
        let before = driver.packets();
        driver.lose();
        let cut = driver.packets();
        let since = driver.now;
        undo(&mut driver, since);
        assert!(driver.packets() >= before, "{name}: {before} packets, {cut}, {}", driver.packets());
    }
}

#[test]
fn a_timeout_that_was_needless_gives_the_window_back_after_any_number_of_expiries() {
    for expiries in [1, 3] {
        for (name, mut driver) in drivers() {
            let (before, first) = (driver.packets(), driver.now);
            for consecutive in 1..=expiries {
                time_out(&mut driver, consecutive);
                driver.now += Span::from_millis(300);
            }
            undo(&mut driver, first);
            assert!(driver.packets() >= before, "{name}: {before} packets, {}", driver.packets());
        }
    }
}

#[test]
fn smaller_packets_after_a_needless_timeout_do_not_keep_the_window_away() {
    for (name, mut driver) in drivers() {
        let (before, first) = (driver.packets(), driver.now);
        time_out(&mut driver, 1);
        time_out(&mut driver, 2);
        driver.controller.on_mtu(MSS / 2);
        undo(&mut driver, first);
        assert!(driver.packets() >= before, "{name}: {before} packets, {}", driver.packets());
    }
}

#[test]
fn of_two_reductions_the_second_or_both_are_taken_back() {
    for (name, mut driver) in drivers() {
        let (before, first) = (driver.packets(), driver.now);
        driver.lose();
        let between = driver.packets();
        driver.now += BASE;
        let second = driver.now;
        driver.lose();
        driver.now += Span::from_millis(10);
        undo(&mut driver, second);
        assert!((driver.packets() - between).abs() < 1e-3, "{name}: {between} packets, {}", driver.packets());
        time_out(&mut driver, 1);
        undo(&mut driver, first);
        assert!(driver.packets() >= before, "{name}: {before} packets, {}", driver.packets());
    }
}

#[test]
fn a_loss_of_later_that_was_none_leaves_an_earlier_answer_alone() {
    for (name, mut driver) in drivers() {
        driver.lose();
        let cut = driver.packets();
        let since = driver.now + Span::from_millis(1);
        undo(&mut driver, since);
        assert_eq!(driver.packets(), cut, "{name}");
    }
}

#[test]
fn the_ledbat_family_gets_back_what_a_loss_took_and_not_what_a_queue_has_taken_since() {
    for name in ["ledbat", "fledbat", "ledbat++"] {
        let run = |loses: bool| {
            let mut driver = driver(name, false);
            let (before, at) = (driver.packets(), driver.now);
            if loses {
                driver.lose();
            }
            driver.round(Span::from_millis(150));
            let shrunk = driver.packets();
            undo(&mut driver, at);
            (before, shrunk, driver.packets())
        };
        let (before, without_loss, _) = run(false);
        let (_, shrunk, undone) = run(true);
        println!("{name}: {before}, {without_loss} without a loss, {shrunk}, {undone}");
        assert!(undone > shrunk && undone < before, "{name}: {before}, {shrunk}, {undone}");
        assert!(undone >= without_loss - 1.0, "{name}: {undone}, {without_loss} without a loss");
    }
}
