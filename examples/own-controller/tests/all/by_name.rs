//! The controller, found by its name: in the simulator, on real sockets, and against events that no path sends.

use afteryou_base::{Span, Time};
use afteryou_bed::run::Options;
use afteryou_cc::{Ack, Idle, Loss, Marks, Sent, Setup, Timeout};
use afteryou_notation::catalogue;
use afteryou_scenario::outcome::WindowFigures;
use afteryou_scenario::{Checked, Outcome};
use afteryou_scenario_file::Experiment;
use own_controller::POLITE;
use std::ops::ControlFlow;

const MSS: u32 = 1400;

/// Returns the scenario in a file's text, with some of its settings replaced.
fn scenario(text: &str, sets: &[&str]) -> Checked {
    catalogue::register(&POLITE).unwrap();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let experiment = Experiment::parse(text, "", &sets).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

fn window<'a>(outcome: &'a Outcome, name: &str) -> &'a WindowFigures {
    outcome.run.windows.iter().find(|window| window.window == name).expect("measured")
}

#[test]
fn in_the_simulator_it_fills_an_empty_link_with_a_small_queue_and_gives_way() {
    for transport in ["tcp", "utp"] {
        let sets =
            [format!("flow.backup.transport={transport}"), format!("flow.upload.transport={transport}")];
        let scenario = scenario(include_str!("../../polite.toml"), &sets.each_ref().map(String::as_str));
        let outcome = afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
        let alone = window(&outcome, "alone");
        let share = alone.flows[0].share_of_payload_capacity;
        let queue = alone.bottleneck().unwrap().queuing_delay.expect("packets");
        let kept =
            outcome.comparison.iter().find(|of| (&*of.window, &*of.flow) == ("upload's stay", "upload"));
        let kept = kept.and_then(|of| of.kept).expect("compared");
        println!("{transport}: share {share}, queue {queue:?}, kept {kept}");
        assert!(share >= 0.8, "{transport}: {share}");
        assert!(queue.mean_ms < 10.0 && queue.p99_ms < 20.0, "{transport}: {queue:?}");
        assert!(kept > 0.95, "{transport}: {kept}");
    }
}

#[test]
fn in_the_simulator_it_finishes_on_every_path() {
    let text = r#"
        duration = "600 s"
        link     = { rate = "20 Mbit/s", buffer = "500 ms" }

        [[flow]]
        name       = "backup"
        role       = "background"
        controller = "polite"
        rtt        = "50 ms"
        traffic    = { size = "4 MB" }
    "#;
    for transport in ["tcp", "utp"] {
        for rtt_s in [0.005, 0.05, 0.135, 0.25] {
            for loss in [0.0, 0.001, 0.01, 0.05f64] {
                let what = [
                    format!("flow.backup.transport={transport}"),
                    format!("flow.backup.rtt={rtt_s} s"),
                    format!("link.loss={} %", loss * 100.0),
                ];
                let scenario = scenario(text, &what.each_ref().map(String::as_str));
                let outcome = afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
                // Four times what the link or Mathis' rate at this loss asks for, and thirty round trips to start with.
                let mathis_bit_s = 1.22 * 1352.0 * 8.0 / (rtt_s * loss.sqrt());
                let patience = 4.0 * (32e6 / mathis_bit_s.min(20e6) + 30.0 * rtt_s);
                let seconds = outcome.run.totals[0].completed_in_s.unwrap_or(f64::INFINITY);
                println!("{what:?}: {seconds} of {patience} s");
                assert!(seconds <= patience, "{what:?}: {seconds} s, not {patience} s");
            }
        }
    }
}

#[test]
fn on_real_sockets_it_runs_from_the_same_words() {
    let text = r#"
        duration = "3 s"
        link     = { rate = "10 Mbit/s", buffer = "200 ms" }
        measure  = { from = "1 s" }

        [[flow]]
        name       = "backup"
        role       = "background"
        controller = { kind = "polite", limit = "15 ms" }
        transport  = "utp"
        rtt        = "20 ms"
    "#;
    let outcome =
        afteryou_bed::run::run(&scenario(text, &[]), &Options::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    let share = outcome.run.windows[0].flows[0].share_of_payload_capacity;
    assert!(share > 0.5, "{share}");
    assert!(outcome.transfers[0].identical(), "{:?}", outcome.transfers);
    assert_eq!(outcome.scenario.flow[0].controller.as_ref().unwrap().to_string(), "polite,limit=15 ms");
}

fn ack(at_ms: u64, acked: u64, rtt_ms: Option<u64>) -> Ack {
    Ack {
        now: Time::from_millis(at_ms),
        newly_acked: acked,
        newly_sacked: 0,
        flightsize: acked,
        in_flight: acked,
        sent_at: Time::from_millis(at_ms.saturating_sub(rtt_ms.unwrap_or(1))),
        packet_number: 1,
        rtt: rtt_ms.map(Span::from_millis),
        smoothed_rtt: rtt_ms.map(Span::from_millis),
        round_start: true,
        ..Ack::default()
    }
}

fn loss(at_ms: u64, sent_ms: u64) -> Loss {
    Loss {
        now: Time::from_millis(at_ms),
        sent: Sent {
            now: Time::from_millis(sent_ms),
            bytes: MSS.into(),
            packet_number: 1,
            ..Sent::default()
        },
        flightsize: 0,
        ..Loss::default()
    }
}

#[test]
fn a_queue_halves_the_window_once_per_round_trip_and_so_does_a_loss() {
    let mut polite = POLITE.build(&[], Setup::of(MSS)).unwrap();
    polite.on_ack(&ack(100, 40_000 - 2 * u64::from(MSS), Some(40)));
    assert_eq!(polite.directive().cwnd, 40_000, "slow start takes every byte");
    // Four samples of a queue of 30 ms: only then is it no accident.
    (0..8).for_each(|i| polite.on_ack(&ack(200 + i, 0, Some(70))));
    assert_eq!(polite.directive().cwnd, 20_000);
    polite.on_loss(&loss(210, 190));
    assert_eq!(polite.directive().cwnd, 20_000, "it left before the reduction");
    polite.on_loss(&loss(280, 250));
    assert_eq!(polite.directive().cwnd, 10_000);
}

#[test]
fn after_a_timeout_it_comes_back_although_a_lone_packet_is_acknowledged_late() {
    let mut polite = POLITE.build(&[], Setup::of(MSS)).unwrap();
    polite.on_ack(&ack(100, 40_000, Some(40)));
    polite.on_timeout(&Timeout { now: Time::from_millis(1000), flightsize: 0, consecutive: 1 });
    assert_eq!(polite.directive().cwnd, u64::from(MSS));
    // 25 ms more than the path takes, as receivers that delay acknowledgements have it.
    polite.on_ack(&ack(1100, MSS.into(), Some(65)));
    assert!(polite.directive().cwnd >= 2 * u64::from(MSS), "{}", polite.directive().cwnd);
}

#[test]
fn no_order_of_events_brings_the_window_below_a_packet_and_no_loss_raises_it() {
    let sizes = [0, 1, 1400, 300_000, u64::MAX];
    let rtts = [None, Some(0), Some(40), Some(3_600_000)];
    let mut random = 1u32;
    let mut draw = |n: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as usize % n
    };
    for _ in 0..200 {
        let mut mss = MSS;
        let mut polite = POLITE.build(&[], Setup::of(mss)).unwrap();
        let mut at_ms = 1000;
        for _ in 0..200 {
            at_ms += [0, 1, 40, 3_600_000][draw(4)];
            let (now, before) = (Time::from_millis(at_ms), polite.directive().cwnd);
            let event = draw(8);
            match event {
                0 => polite.on_timeout(&Timeout {
                    now,
                    flightsize: sizes[draw(5)],
                    consecutive: draw(3) as u32,
                }),
                1 => polite.on_loss(&loss(at_ms, at_ms - [0, 40, 1000][draw(3)])),
                2 => polite.on_idle(&Idle { now, idle_for: Span::from_secs(9), rto: Span::from_secs(1) }),
                3 => {
                    mss = [1, MSS, 65_535][draw(3)];
                    polite.on_mtu(mss);
                }
                4 => polite.on_ack(&Ack { marks: Marks::Echo, ..ack(at_ms, sizes[draw(5)], rtts[draw(4)]) }),
                _ => polite.on_ack(&ack(at_ms, sizes[draw(5)], rtts[draw(4)])),
            }
            assert!(
                polite.directive().cwnd >= u64::from(mss),
                "{} after event {event}: {polite:?}",
                polite.directive().cwnd
            );
            assert!(
                event > 1 || polite.directive().cwnd <= before,
                "event {event} raised {before} to {}",
                polite.directive().cwnd
            );
        }
    }
}
