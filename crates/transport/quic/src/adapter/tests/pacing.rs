//! A controller with a rate within the turns of a connection's task.

use super::*;
use crate::driver::{depart_at, within_turn};

/// A window for which quinn does not pace.
const UNPACED: u64 = 1 << 32;

/// Returns a bench on a path of 50 ms with a packet every 100 ms.
fn paced_bench() -> Bench {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.ack(50, &[0], 0);
    bench.scribe.0.lock().unwrap().pacing = Pacing::Rate(MTU * 10);
    bench.told();
    bench
}

#[test]
fn the_window_is_closed_until_the_next_departure_and_the_task_is_woken_for_it() {
    let mut bench = paced_bench();
    let pairs = Pacing::Together { packets: 2, apart_us: 0, every: Span::from_millis(100) };
    bench.scribe.0.lock().unwrap().pacing = pairs;
    let window = 100 * MTU + 1;
    within_turn(|| {
        for _ in 0..2 {
            assert_eq!(bench.adapter.window(), window);
            assert!(bench.adapter.window() > UNPACED, "quinn's pacer is out of the way");
        }
        assert_eq!(bench.adapter.window(), 0);
        bench.send(60, 2 * MTU);
    });
    let (closed, due) = within_turn(|| bench.adapter.window());
    assert_eq!(closed, 0);
    assert_eq!(due, time_of(bench.at(160)));
    assert_eq!(bench.adapter.window(), window, "others see the controller's window");
}

#[test]
fn a_question_that_led_to_no_packet_is_forgotten_with_its_turn() {
    let bench = paced_bench();
    let (windows, _) = within_turn(|| {
        let window = bench.adapter.window();
        crate::driver::depart(|| Ok(())).unwrap();
        [window, bench.adapter.window()]
    });
    assert_eq!(windows, [100 * MTU + 1; 2], "something else was sent between the questions");
    assert_eq!(within_turn(|| bench.adapter.window()).0, 100 * MTU + 1, "a turn later");
}

#[test]
fn without_a_round_trip_time_or_without_a_turn_quinn_paces() {
    let mut bench = Bench::new();
    bench.scribe.0.lock().unwrap().pacing = Pacing::Rate(1);
    let ask = |bench: &Bench| [bench.adapter.window(), bench.adapter.window()];
    assert_eq!(within_turn(|| ask(&bench)).0, [100 * MTU + 1; 2]);
    bench.send(0, MTU);
    bench.ack(50, &[0], 0);
    bench.send(60, 50 * MTU);
    assert_eq!(ask(&bench), [100 * MTU + 1; 2]);
}

#[test]
fn round_trip_times_count_from_the_departure_and_names_stay_quinns() {
    let mut bench = Bench::new();
    bench.scribe.0.lock().unwrap().needs = Needs { per_packet: true, ..Needs::NONE };
    within_turn(|| {
        bench.send(0, 2 * MTU);
        depart_at(time_of(bench.at(7)));
        bench.send(0, 40);
        depart_at(time_of(bench.at(8)));
        bench.ack(50, &[0], MTU);
    });
    let told = bench.told();
    let delivered = told.iter().find_map(|told| if let Told::Delivered(it) = told { Some(it) } else { None });
    let ack = told.iter().find_map(|told| if let Told::Ack(ack) = told { Some(ack) } else { None });
    let (delivered, ack) = (delivered.unwrap(), ack.unwrap());
    assert_eq!((delivered.rtt, ack.rtt), (Some(Span::from_millis(43)), Some(Span::from_millis(43))));
    assert_eq!((delivered.sent.now, ack.sent_at), (time_of(bench.at(0)), time_of(bench.at(0))));
}

#[test]
fn an_acknowledgement_dated_before_the_departure_counts_from_quinns_time() {
    let mut bench = Bench::new();
    within_turn(|| {
        bench.send(0, MTU);
        depart_at(time_of(bench.at(7)));
        bench.ack(5, &[0], 0);
    });
    assert_eq!(bench.acks()[0].rtt, Some(Span::from_millis(5)));
}

#[test]
fn a_time_for_which_the_rate_held_data_back_is_not_idle() {
    let idle_ms = |pause_ms: u64| {
        let mut bench = paced_bench();
        within_turn(|| {
            bench.send(60, 2 * MTU);
            bench.ack(110, &[60, 60], 0);
            bench.told();
            bench.send(160 + pause_ms, MTU);
        });
        bench.told().into_iter().find_map(|told| match told {
            Told::Idle(idle) => Some(idle.idle_for.as_micros() / 1000),
            _ => None,
        })
    };
    assert_eq!([0, 30, 5000].map(idle_ms), [None, Some(30), Some(5000)]);
}

#[test]
fn a_controller_is_woken_when_its_time_comes_while_a_packet_waits() {
    let mut bench = paced_bench();
    bench.scribe.0.lock().unwrap().wake_at = Some(time_of(bench.at(90)));
    let (window, due) = within_turn(|| {
        bench.send(60, 2 * MTU);
        bench.adapter.window()
    });
    assert_eq!((window, due), (0, time_of(bench.at(90))));
}

#[test]
fn a_faster_rate_shortens_the_wait() {
    let mut bench = paced_bench();
    within_turn(|| bench.send(60, 50 * MTU));
    let ((), due) = within_turn(|| {
        bench.scribe.0.lock().unwrap().pacing = Pacing::Rate(MTU * 1000);
        bench.ack(120, &[60], MTU);
        assert_eq!(bench.adapter.window(), 0, "the bench's clock is ahead");
    });
    assert_eq!(due, time_of(bench.at(121)));
}
