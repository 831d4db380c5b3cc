//! Losses of many packets in one window are repaired in the round trips that they need, without a timeout.

use crate::support::*;
use afteryou_scenario::element::{Propagation, Steps};
use afteryou_scenario::scenario::{Drop, Reverse};
use afteryou_scenario::{Duration, Elements, Flow, Link, Scenario, Size, Traffic, Transport};

/// Payload of a packet, bytes.
const MSS: u64 = 1448;

/// Runs a transfer of `packets` packets over 1 Gbit/s and `rtt_ms` in a window of 4000. Of these `lost` in a row, from
/// packet `first` on, are dropped. Returns the seconds that it takes and its timeouts.
fn transfer(transport: &Transport, rtt_ms: u64, packets: u64, first: u64, lost: u64) -> (f64, u64, u64) {
    let flow = Flow {
        transport: transport.clone().with("rwnd", &format!("{} B", 4_000 * MSS)),
        traffic: Traffic::Size(Size::from_bytes(packets * MSS)),
        ..flow("one", "newreno", rtt_ms)
    };
    let drop =
        Drop { flow: Some("one".to_owned()), packet: Some(first), count: Some(lost), ..Drop::default() };
    let drop = if lost == 0 { vec![] } else { vec![drop] };
    let outcome =
        run(&Scenario { drop, ..scenario(link("1 Gbit/s", "100000 packets"), 120.0, 0.0, vec![flow]) });
    let totals = outcome.totals("one");
    assert_eq!(totals.losses, lost);
    (totals.completed_in_s.expect("complete"), totals.timeouts, totals.packets)
}

#[test]
fn any_number_of_losses_in_a_window_takes_no_timeout() {
    let modern = Transport::tcp();
    let classic = Transport::tcp().with("preset", "classic");
    for rtt_ms in [5, 50, 135, 250] {
        for lost in [1, 3, 600, 1500] {
            for transport in [&modern, &classic] {
                let (seconds, timeouts, _) = transfer(transport, rtt_ms, 16_000, 6_000, lost);
                println!("{transport}, {rtt_ms} ms, {lost} lost: {seconds:.3} s, {timeouts} timeouts");
                assert_eq!(timeouts, 0, "{transport}, {rtt_ms} ms, {lost} lost");
            }
        }
    }
}

#[test]
fn losses_in_the_last_window_take_the_round_trips_that_theory_says() {
    // The window of N = 4400 packets is a tenth more than the path holds, so acks come evenly and a round trip is N of
    // them, of which the queue makes up N/11. The first k packets of the last window are lost before the queue, which
    // then is empty: the loss shows k acks and ten elevenths of a round trip after the first of them was sent. PRR lets half
    // a packet go for each ack while more than N/2 are in flight, for a = N − 2k acks, and a whole one afterwards. So the
    // last retransmission leaves after s = min(2k, a + k − a/2) acks and arrives without a queue, while without losses the
    // end would have been sent after N acks and have met one: two elevenths between them.
    let (window, packets) = (4_400, 60_000);
    for lost in [1, 3, 600, 1_500] {
        let half_rate = window - 2 * lost;
        let acks = (2 * lost).min(half_rate + lost - (half_rate / 2).min(lost));
        let rounds = ((lost + acks) as f64 / window as f64 - 2.0 / 11.0).max(0.0);
        let time = |lost| {
            let flow = Flow {
                transport: Transport::tcp()
                    .with("rwnd", &format!("{} B", window * MSS))
                    .with("ack", "every packet"),
                traffic: Traffic::Size(Size::from_bytes(packets * MSS)),
                ..flow("one", "newreno", 100)
            };
            let first = Some(packets - window + 1);
            let drop =
                Drop { flow: Some("one".to_owned()), packet: first, count: Some(lost), ..Drop::default() };
            let drop = if lost == 0 { vec![] } else { vec![drop] };
            let outcome =
                run(&Scenario { drop, ..scenario(link("480 Mbit/s", "100 MB"), 30.0, 0.0, vec![flow]) });
            let totals = outcome.totals("one");
            assert_eq!((totals.timeouts, totals.losses), (0, lost));
            totals.completed_in_s.expect("complete")
        };
        let longer = (time(lost) - time(0)) / 0.11;
        println!("{lost} lost: {longer:.2} round trips longer, theory {rounds}");
        assert!((longer - rounds).abs() <= 0.08, "{lost} lost: {longer:.2} round trips longer, not {rounds}");
    }
}

#[test]
fn a_lost_tail_is_repaired_by_a_probe_and_not_by_a_timeout() {
    for rtt_ms in [5, 50, 135, 250] {
        for lost in [1, 2, 5] {
            let (alone, ..) = transfer(&Transport::tcp(), rtt_ms, 100, 1, 0);
            let (seconds, timeouts, packets) = transfer_tail(rtt_ms, 100, lost);
            // Two round trips and the delay of a lone ack until the probe, one for its answer, a quarter for reordering.
            // The probe repairs one; of the rest PRR sends one, then two, then four in each round trip.
            let rounds = 3.25 + f64::from(64 - (lost - 1u64).leading_zeros());
            let most = alone + rounds * rtt_ms as f64 / 1e3 + 0.1;
            println!("{rtt_ms} ms, last {lost} lost: {seconds:.3} s against {alone:.3} s, {packets} packets");
            assert_eq!(timeouts, 0);
            assert!(seconds <= most, "{seconds} > {most}");
        }
    }
}

fn transfer_tail(rtt_ms: u64, packets: u64, lost: u64) -> (f64, u64, u64) {
    let flow =
        Flow { traffic: Traffic::Size(Size::from_bytes(packets * MSS)), ..flow("one", "newreno", rtt_ms) };
    let drop = Drop {
        flow: Some("one".to_owned()),
        packet: Some(packets + 1 - lost),
        count: Some(lost),
        ..Drop::default()
    };
    let outcome = run(&Scenario {
        drop: vec![drop],
        ..scenario(link("100 Mbit/s", "100000 packets"), 120.0, 0.0, vec![flow])
    });
    let totals = outcome.totals("one");
    (totals.completed_in_s.expect("complete"), totals.timeouts, totals.packets)
}

#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let drop = |transmission| Drop {
        flow: Some("one".to_owned()),
        packet: Some(3_000),
        transmission: Some(transmission),
        ..Drop::default()
    };
    for rtt_ms in [5, 50, 135, 250] {
        let flow =
            Flow { traffic: Traffic::Size(Size::from_bytes(9_000 * MSS)), ..flow("one", "newreno", rtt_ms) };
        let outcome = run(&Scenario {
            drop: vec![drop(1), drop(2), drop(3)],
            ..scenario(link("100 Mbit/s", "100000 packets"), 60.0, 0.0, vec![flow])
        });
        let totals = outcome.totals("one");
        assert_eq!((totals.timeouts, totals.retransmissions), (0, 3), "{rtt_ms} ms");
    }
}

#[test]
fn a_path_that_was_dead_for_ten_seconds_is_used_again() {
    for rtt_ms in [5, 50, 135, 250] {
        for transport in [Transport::tcp(), Transport::tcp().with("preset", "classic"), Transport::utp()] {
            let flow = Flow { transport: transport.clone(), ..flow("one", "cubic", rtt_ms) };
            let at = |s: u64| Some(Duration::from_millis(s * 1000));
            let drop = vec![Drop { at: at(10), until: at(20), ..Drop::default() }];
            // The timer has backed off to at most as long as the outage lasted; ten round trips and slow start follow.
            let scenario = Scenario {
                drop,
                measure: vec![window("after", 40.0, 60.0)],
                ..scenario(link("20 Mbit/s", "100 ms"), 60.0, 5.0, vec![flow])
            };
            let outcome = run(&scenario);
            let after = outcome.window("after").bottleneck().unwrap().utilisation;
            println!("{transport}, {rtt_ms} ms: {after}, {} timeouts", outcome.totals("one").timeouts);
            assert!(after >= 0.9, "{transport}, {rtt_ms} ms: {after}");
        }
    }
}

#[test]
fn a_flow_that_resumes_under_a_queue_of_seconds_measures_the_round_trip_and_resends_little() {
    for recovery in ["modern", "libutp-mod"] {
        for queue_s in [1, 2, 4, 8] {
            let background = Flow {
                transport: Transport::utp().with("recovery", recovery),
                active: vec![[seconds(0.0), seconds(5.0)], [seconds(90.0), seconds(240.0)]],
                ..flow("background", "ledbat++", 40)
            };
            let foreground = Flow { start: seconds(6.0), ..flow("foreground", "cubic", 40) };
            let link = link("2 Mbit/s", &format!("{queue_s} s"));
            let outcome = run(&scenario(link, 240.0, 90.0, vec![background, foreground]));
            let totals = outcome.totals("background");
            println!("{recovery}, {queue_s} s: {totals:?}");
            // One timeout at the jump, which backs off until the first answer, and the losses of a full queue.
            let needless = totals.retransmissions - (totals.losses - totals.spurious);
            assert!(needless <= 12 && totals.timeouts <= 12, "{recovery}, {queue_s} s: {totals:?}");
        }
    }
}

/// Returns the same numbers every time (Knuth's MMIX generator), below `bound`.
fn numbers(seed: u64, bound: u64) -> impl Iterator<Item = u64> {
    let step = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(step(&seed), step).map(move |state| (state >> 33) % bound)
}

#[test]
fn where_later_packets_are_acknowledged_after_each_loss_and_resend_there_is_no_timeout() {
    for rtt_ms in [5, 50, 135, 250] {
        for controller in ["newreno", "cubic", "ledbat"] {
            for (transport, seed) in
                [Transport::tcp(), Transport::utp()].iter().flat_map(|of| [(of, 1), (of, 2), (of, 3)])
            {
                // Bursts of which up to three transmissions in a row are lost, of the 400 to 600 packets that path and queue hold.
                let mut random = numbers(seed, 6);
                let mut drop = Vec::new();
                for burst in 0..5 {
                    for packet in 0..[1, 1, 2, 5, 10, 20][random.next().unwrap() as usize] {
                        let last = 1 + random.next().unwrap() as u32 % 3;
                        drop.extend((1..=last).map(|transmission| Drop {
                            flow: Some("one".to_owned()),
                            packet: Some(5_000 + 3_000 * burst + packet),
                            transmission: Some(transmission),
                            ..Drop::default()
                        }));
                    }
                }
                let flow = Flow {
                    traffic: Traffic::Size(Size::from_bytes(20_000 * MSS)),
                    transport: transport.clone(),
                    ..flow("one", controller, rtt_ms)
                };
                let rate = format!("{} Mbit/s", 4_800 / rtt_ms);
                let outcome =
                    run(&Scenario { drop, ..scenario(link(&rate, "200 packets"), 300.0, 0.0, vec![flow]) });
                let totals = outcome.totals("one");
                println!("{transport} {controller}, {rtt_ms} ms, {seed}: {totals:?}");
                assert!(totals.completed_in_s.is_some());
                assert_eq!(totals.timeouts, 0, "{transport} {controller}, {rtt_ms} ms, {seed}");
            }
        }
    }
}

#[test]
fn a_queue_that_overflows_in_a_recovery_leads_to_no_timeout() {
    for rate in ["1 Mbit/s", "5 Mbit/s", "20 Mbit/s"] {
        for buffer in ["20 packets", "60 packets", "200 packets"] {
            for controller in ["newreno", "cubic"] {
                let outcome =
                    run(&scenario(link(rate, buffer), 60.0, 20.0, vec![flow("one", controller, 50)]));
                let totals = outcome.totals("one");
                println!("{controller}, {rate}, {buffer}: {totals:?}");
                assert_eq!(totals.timeouts, 0, "{controller}, {rate}, {buffer}");
            }
        }
    }
}

#[test]
fn a_path_that_stands_still_for_longer_than_the_timeout_costs_one_packet() {
    let transports = [Transport::tcp(), Transport::utp()];
    for transport in transports.map(|transport| transport.with("rwnd", "150 kB")) {
        for rtt_ms in [5, 50, 135, 250] {
            for controller in ["newreno", "cubic"] {
                stands_still(&transport, rtt_ms, controller);
            }
        }
    }
}

/// Runs a flow in a window of 150 kB over a path that stalls for 1.5 s after 5 s.
fn stands_still(transport: &Transport, rtt_ms: u64, controller: &str) {
    let run_with = |still_ms: u64| {
        let one = Flow { transport: transport.clone(), ..flow("one", controller, rtt_ms) };
        let steps = vec![(ms(0), ms(0)), (ms(5_000), ms(still_ms)), (ms(5_001 + still_ms), ms(0))];
        let delay = Propagation { steps: Steps::new(steps).unwrap(), reorder: false };
        let elements = Elements { delay: (still_ms > 0).then_some(delay), ..Elements::default() };
        let reverse = Some(Reverse { elements: Some(Elements::default()), ..Reverse::default() });
        let link = Link { elements, reverse, ..link("100 Mbit/s", "1000 packets") };
        let outcome = run(&scenario(link, 12.0, 8.0, vec![one]));
        (outcome.totals("one").clone(), of(outcome.window("all"), "one").goodput_bit_s)
    };
    let ((_, alone), (totals, after)) = (run_with(0), run_with(1_500));
    println!("{transport}, {controller}, {rtt_ms} ms: {after} of {alone} bit/s, {totals:?}");
    // Each expiry sends the first packet again, and probes ahead of it the last one.
    assert!(
        (1..=3).contains(&totals.timeouts) && totals.retransmissions <= totals.timeouts + 2,
        "{transport}, {controller}, {rtt_ms} ms: {totals:?}"
    );
    // Four seconds begin and end anywhere between two windows.
    let least = alone - 150_000.0 * 8.0 / 4.0;
    assert!(after > least, "{transport}, {controller}, {rtt_ms} ms: {after} of {alone} bit/s");
}
