//! RED, CHOKe and le_red as a bottleneck's queue.

use crate::support::*;
use afteryou_scenario::outcome::{LinkFigures, WindowFigures};
use afteryou_scenario::{Flow, Rate, Role, Size};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Runs flows over 10 Mbit/s with room for 500 packets; returns the figures from 20 s to 120 s.
fn behind(queue: &str, flows: Vec<Flow>) -> WindowFigures {
    let mut link = link("10 Mbit/s", "500 packets");
    link.queue = queue.parse().unwrap();
    run(&scenario(link, 120.0, 20.0, flows)).window("all").clone()
}

fn bottleneck(window: &WindowFigures) -> &LinkFigures {
    window.bottleneck().expect("a link")
}

fn five(controller: &str) -> Vec<Flow> {
    NAMES.map(|name| flow(name, controller, 60)).to_vec()
}

fn share(window: &WindowFigures, flow: &str) -> f64 {
    of(window, flow).share_of_payload_capacity
}

#[test]
fn it_keeps_the_queue_of_loss_based_flows_between_its_thresholds() {
    for controller in ["cubic", "newreno"] {
        for (queue, range) in [
            ("red", 5.0..15.0),
            ("red,preset=adaptive", 9.0..12.0),
            ("red,preset=classic", 5.0..15.0),
            ("red,preset=gentle", 5.0..15.0),
            // 30 to 90 kB.
            ("red,preset=linux", 15.0..60.0),
        ] {
            let window = behind(queue, five(controller));
            let packets = bottleneck(&window).queue_packets.unwrap();
            println!("{controller} {queue}: {packets:.1} packets, {:.3}", bottleneck(&window).utilisation);
            assert!(range.contains(&packets), "{packets} packets: {controller}, {queue}");
            assert!(
                bottleneck(&window).utilisation > 0.97,
                "{}: {controller}, {queue}",
                bottleneck(&window).utilisation
            );
        }
        let droptail = bottleneck(&behind("droptail", five(controller))).queue_packets.unwrap();
        assert!(droptail > 300.0, "{droptail} packets with droptail");
    }
}

#[test]
fn a_flow_alone_needs_a_longer_queue_than_that_for_all_of_the_link() {
    // A window of 50 packets halves to 25 behind a queue of 4; CUBIC goes down to 35 and comes back sooner.
    for (controller, range) in [("newreno", 0.80..0.92), ("cubic", 0.88..0.97)] {
        let window = behind("red", vec![flow("one", controller, 60)]);
        println!("{controller}: {:.3}", bottleneck(&window).utilisation);
        assert!(range.contains(&bottleneck(&window).utilisation), "{}", bottleneck(&window).utilisation);
        assert!(bottleneck(&window).queue_packets.unwrap() < 6.0);
    }
}

#[test]
fn behind_it_a_delay_based_flow_no_longer_yields() {
    let beside = |queue: &str| {
        let flows = vec![flow("tcp", "newreno", 60), utp("ledbat", "ledbat", 60)];
        share(&behind(queue, flows), "ledbat")
    };
    let (droptail, red) = (beside("droptail"), beside("red"));
    println!("{droptail:.3} and {red:.3}");
    assert!(droptail < 0.05 && red > 0.35, "{droptail} and {red}");
}

#[test]
fn choke_takes_from_a_flow_that_does_not_back_off() {
    let pressed = |queue: &str| {
        let rate = Rate::from_bits(10_000_000);
        let cbr = Flow::cbr("cbr", Role::Foreground, rate, Size::from_bytes(1400), ms(60));
        let mut flows = five("cubic");
        flows.push(cbr);
        let window = behind(queue, flows);
        let left: f64 = NAMES.iter().map(|name| share(&window, name)).sum();
        println!("{queue}: {:.3} and {left:.3}", share(&window, "cbr"));
        (share(&window, "cbr"), left)
    };
    let ((cbr_red, left_red), (cbr_choke, left_choke)) = (pressed("red"), pressed("choke"));
    assert!(cbr_red > 0.8 && cbr_choke < 0.7, "{cbr_red} and {cbr_choke}");
    assert!(left_choke > 2.0 * left_red, "{left_choke} and {left_red}");
}

#[test]
fn le_red_gives_lower_effort_less_whatever_its_controller() {
    let lower = |queue: &str, background: Flow| {
        let flows = vec![flow("tcp", "newreno", 60), Flow { role: Role::Background, ..background }];
        let window = behind(queue, flows);
        share(&window, "back") / share(&window, "tcp")
    };
    for background in [flow("back", "newreno", 60), utp("back", "ledbat", 60)] {
        let [red, le_4, le_16, le_64] = ["red", "le_red,weight=4", "le_red", "le_red,weight=64"]
            .map(|queue| lower(queue, background.clone()));
        println!("{red:.2}, {le_4:.2}, {le_16:.2}, {le_64:.2}");
        assert!(red > 0.75 && le_4 < 0.85 * red && le_16 < 0.85 * le_4 && le_64 < 0.85 * le_16);
        // 1/√16 of the other, or not much more.
        assert!((0.2..0.5).contains(&le_16), "{le_16}");
    }
}
