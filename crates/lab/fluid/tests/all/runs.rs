//! Scenarios to outcomes.

use crate::checked::{explain, run, supports};
use afteryou_fluid::{Base, Error, Options, Pacing};
use afteryou_scenario::fluid::Fluid;
use afteryou_scenario::outcome::{jain, LinkFigures, Outcome, Series, WindowFigures};
use afteryou_scenario::scenario::{Delay, PacketFormat};
use afteryou_scenario::{Duration, Flow, FlowSet, Link, Role, Scenario, Size, Traffic, Transport, Window};
use std::ops::ControlFlow;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn window(name: &str, from_s: u64, to_s: u64) -> Window {
    Window { name: name.to_owned(), from: ms(from_s * 1000), to: ms(to_s * 1000) }
}

fn scenario(rate: &str, buffer: &str, s: u64, flow: Vec<Flow>) -> Scenario {
    let link = Link::new(rate.parse().unwrap(), buffer.parse().unwrap());
    let measure = vec![window("late", s / 4, s)];
    Scenario { flow, measure, ..Scenario::new("a test", ms(s * 1000), link) }
}

fn flow(name: &str, role: Role, controller: &str, rtt_ms: u64) -> Flow {
    let controller = Some(controller.parse().unwrap());
    Flow { controller, ..Flow::new(name, role, "", ms(rtt_ms)) }
}

fn background(controller: &str, rtt_ms: u64) -> Flow {
    flow(controller, Role::Background, controller, rtt_ms)
}

fn outcome(scenario: &Scenario) -> Outcome {
    run(scenario, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

fn link(window: &WindowFigures) -> &LinkFigures {
    window.bottleneck().expect("a link")
}

fn late(scenario: &Scenario) -> WindowFigures {
    outcome(scenario).run.windows[0].clone()
}

#[test]
fn ledbatpp_alone_uses_nine_tenths_of_the_link_and_more_on_short_paths() {
    // What the packet simulator gave for the same scenario, 20 Mbit/s and a buffer of 500 ms.
    for (rtt_ms, simulated) in [(10, 0.974), (20, 0.956), (40, 0.939), (100, 0.927), (200, 0.926)] {
        let figures = late(&scenario("20 Mbit/s", "500 ms", 200, vec![background("ledbat++", rtt_ms)]));
        assert!(
            (link(&figures).utilisation - simulated).abs() < 0.01,
            "{rtt_ms} ms: {}",
            link(&figures).utilisation
        );
        let delay = link(&figures).queuing_delay.unwrap();
        assert!((58.0..62.0).contains(&delay.p50_ms), "{rtt_ms} ms: {delay:?}");
    }
}

#[test]
fn slowdowns_are_marked_at_a_tenth_of_the_time() {
    let outcome = outcome(&scenario("20 Mbit/s", "500 ms", 100, vec![background("ledbat++", 40)]));
    let at: Vec<f64> =
        outcome.run.marks.iter().filter(|mark| mark.what == "slowdown").map(|m| m.at_s).collect();
    assert!(at.len() > 5);
    let periods: Vec<f64> = at.windows(2).skip(1).map(|pair| pair[1] - pair[0]).collect();
    let mean = periods.iter().sum::<f64>() / periods.len() as f64;
    assert!(periods.iter().all(|period| (period / mean - 1.0).abs() < 0.05), "{periods:?}");
}

#[test]
fn a_flow_that_begins_with_a_window_slows_down_as_others_do() {
    let begun = |windows: Vec<f64>| {
        let fluid = Some(Fluid { windows, ..Fluid::default() });
        outcome(&Scenario { fluid, ..scenario("20 Mbit/s", "500 ms", 100, vec![background("ledbat++", 40)]) })
    };
    let slowdowns =
        |outcome: &Outcome| outcome.run.marks.iter().filter(|mark| mark.what == "slowdown").count();
    let (by_itself, with_window) = (begun(Vec::new()), begun(vec![100.0]));
    assert!(slowdowns(&by_itself) > 5 && slowdowns(&with_window) > 5, "{:?}", with_window.run.marks);
    let used = |outcome: &Outcome| outcome.run.windows[0].bottleneck().unwrap().utilisation;
    assert!((used(&with_window) - used(&by_itself)).abs() < 0.01, "{}", used(&with_window));
}

#[test]
fn a_queue_at_the_beginning_keeps_the_link_busy_and_is_nobody_s_goodput() {
    // 400 packets of 1500 bytes take 0.48 s of 10 Mbit/s.
    let fluid = Some(Fluid { queue: Some(400.0), ..Fluid::default() });
    let measure = vec![Window { name: "early".to_owned(), from: ms(0), to: ms(400) }];
    let whole = scenario("10 Mbit/s", "500 packets", 10, vec![background("ledbat", 50)]);
    let figures = late(&Scenario { fluid, measure, ..whole });
    assert!((link(&figures).utilisation - 1.0).abs() < 1e-3, "{}", link(&figures).utilisation);
    let queue = link(&figures).queue_packets.unwrap();
    assert!((200.0..300.0).contains(&queue), "{queue}");
    assert!(figures.flows[0].goodput_bit_s < 0.05 * 1e7, "{:?}", figures.flows);
}

#[test]
fn a_receive_window_bounds_a_flow_from_its_first_window_on() {
    let limited = |controller: &str, rwnd: u64| {
        let transport = Transport::tcp().with("rwnd", &format!("{rwnd} B"));
        let flow = Flow { transport, ..flow("upload", Role::Foreground, controller, 50) };
        let fluid = Some(Fluid { windows: vec![10.0], ..Fluid::default() });
        late(&Scenario { fluid, ..scenario("100 Mbit/s", "500 packets", 60, vec![flow]) }).flows[0]
            .goodput_bit_s
    };
    for controller in ["cubic", "newreno", "ledbat", "fledbat"] {
        // Less than a packet; some seventy.
        for rwnd in [1_000, 100_000] {
            let expected = rwnd as f64 * 8.0 / 0.050;
            let goodput = limited(controller, rwnd);
            assert!((goodput / expected - 1.0).abs() < 1e-3, "{controller}, {rwnd} B: {goodput}");
        }
    }
}

#[test]
fn a_loss_based_flow_drives_the_background_to_its_floor() {
    for controller in ["ledbat++", "fledbat"] {
        let flows = vec![flow("upload", Role::Foreground, "newreno", 40), background(controller, 40)];
        let whole = Scenario { baseline: true, ..scenario("20 Mbit/s", "500 ms", 120, flows) };
        let outcome = outcome(&whole);
        let share = outcome.run.windows[0].bottleneck().unwrap().foreground_share.unwrap();
        assert!(share > 0.98, "{controller}: {share}");
        let kept = outcome.comparison[0].kept.unwrap();
        assert!(kept > 0.98, "{controller}: {kept}");
        assert_eq!((outcome.engine.as_str(), outcome.baseline.is_some()), ("fluid", true));
    }
}

#[test]
fn two_fledbats_settle_at_their_equilibrium_with_the_queue_in_the_round_trip() {
    let sizes = PacketFormat { payload: Size::from_bytes(1448), overhead: Size::from_bytes(52) };
    let one = |name: &str| Flow { packet: Some(sizes), ..flow(name, Role::Background, "fledbat", 50) };
    let figures = late(&scenario("10 Mbit/s", "100 packets", 120, vec![one("a"), one("b")]));
    let delay = link(&figures).queuing_delay.unwrap();
    assert!((delay.mean_ms - 32.29).abs() < 0.05, "{delay:?}");
    assert!(
        (link(&figures).queue_packets.unwrap() - 26.9).abs() < 0.05,
        "{:?}",
        link(&figures).queue_packets
    );
    assert_eq!((link(&figures).utilisation, link(&figures).fairness), (1.0, Some(1.0)));
}

#[test]
fn a_late_ledbat_starves_the_first_and_ledbatpps_share() {
    let pair = |controller: &str| {
        let first = flow("first", Role::Background, controller, 50);
        let second = Flow { start: ms(10_000), ..flow("second", Role::Background, controller, 50) };
        late(&scenario("10 Mbit/s", "500 ms", 300, vec![first, second]))
    };
    let share = |figures: &WindowFigures| {
        figures.flows[0].goodput_bit_s / (figures.flows[0].goodput_bit_s + figures.flows[1].goodput_bit_s)
    };
    let ledbat = pair("ledbat,target=25ms");
    assert!(share(&ledbat) < 0.10, "{}", share(&ledbat));
    let ledbatpp = pair("ledbat++");
    assert!((0.4..0.6).contains(&share(&ledbatpp)), "{}", share(&ledbatpp));
}

#[test]
fn on_a_short_path_with_a_long_queue_cubic_leaves_newreno_a_share() {
    let pair = vec![flow("c", Role::Foreground, "cubic", 20), flow("r", Role::Foreground, "newreno", 20)];
    let figures = late(&scenario("20 Mbit/s", "100 ms", 200, pair));
    // The simulator has 44 %. A Reno window with the clock of the empty path, six times as fast, leaves it 23 %.
    let share =
        figures.flows[1].goodput_bit_s / figures.flows.iter().map(|flow| flow.goodput_bit_s).sum::<f64>();
    assert!((0.36..0.52).contains(&share), "{share}");
}

#[test]
fn packets_are_accounted_for() {
    let flows = vec![flow("a", Role::Foreground, "newreno", 30), background("ledbat", 60)];
    let mut whole = scenario("10 Mbit/s", "50 packets", 60, flows);
    whole.link.loss = "0.1 %".parse().unwrap();
    let outcome = outcome(&whole);
    let packets = outcome.run.bottleneck().unwrap().packets.unwrap();
    assert_eq!(packets.arrived, packets.delivered + packets.dropped + packets.lost + packets.unfinished);
    assert!(packets.dropped > 0 && packets.unfinished <= 51);
    let lost = packets.lost as f64 / (packets.delivered + packets.lost) as f64;
    assert!((lost - 0.001).abs() < 1e-4, "{lost}");
    let received: u64 = outcome.run.totals.iter().map(|totals| totals.received_bytes).sum();
    assert!((received as f64 / (packets.delivered as f64 * 1448.0) - 1.0).abs() < 1e-3);
}

#[test]
fn packets_are_accounted_for_where_all_of_them_are_lost() {
    for rtt_tenths in [73, 80, 91, 97, 110, 130] {
        let one = Flow {
            rtt: Duration(afteryou_base::Span::from_micros(rtt_tenths * 100)),
            ..background("ledbat", 1)
        };
        let mut whole = scenario("1 Mbit/s", "500 packets", 20, vec![one]);
        whole.link.loss = "100 %".parse().unwrap();
        let packets = outcome(&whole).run.bottleneck().unwrap().packets.unwrap();
        assert_eq!(packets.arrived, packets.dropped + packets.lost + packets.unfinished, "{packets:?}");
        assert_eq!((packets.delivered, packets.dropped), (0, 0), "{packets:?}");
    }
}

#[test]
fn a_transfer_of_a_size_ends_and_leaves_the_link_to_the_others() {
    let upload = Flow {
        traffic: Traffic::Size(Size::from_bytes(10_000_000)),
        start: ms(5_000),
        ..flow("upload", Role::Foreground, "newreno", 40)
    };
    let outcome = outcome(&scenario("20 Mbit/s", "100 ms", 60, vec![upload, background("ledbat", 40)]));
    let totals = &outcome.run.totals[0];
    assert_eq!(totals.received_bytes, 10_000_000);
    let completed_in_s = totals.completed_in_s.unwrap();
    assert!((4.0..12.0).contains(&completed_in_s), "{completed_in_s}");
    let cwnd = outcome.run.series.iter().find(|series| series.of == "upload" && series.quantity == "cwnd");
    let cwnd = &cwnd.unwrap().values;
    assert!(cwnd[20].is_none() && cwnd[80].is_some() && cwnd[400].is_none(), "a curve while it is there");
}

#[test]
fn a_call_has_its_rate_and_the_queue_s_delay() {
    let call =
        Flow::cbr("call", Role::Foreground, "64 kbit/s".parse().unwrap(), Size::from_bytes(160), ms(40));
    let figures = late(&scenario("20 Mbit/s", "500 ms", 60, vec![call, background("ledbat++", 40)]));
    assert!((figures.flows[0].goodput_bit_s - 64_000.0).abs() < 100.0);
    assert_eq!(figures.flows[0].queuing_delay, link(&figures).queuing_delay);
    assert_eq!(figures.flows[1].queuing_delay, None);
}

#[test]
fn a_flow_that_connects_anew_forgets_the_path() {
    // It meets an empty link first, then the queue that another one keeps.
    let base_ms = |reconnect: bool| {
        let again = Flow {
            active: vec![[ms(0), ms(5_000)], [ms(30_000), ms(60_000)]],
            reconnect,
            ..flow("again", Role::Background, "ledbat,target=25ms", 50)
        };
        let stays = Flow { start: ms(2_000), ..flow("stays", Role::Background, "ledbat,target=25ms", 50) };
        let outcome = outcome(&scenario("10 Mbit/s", "500 ms", 60, vec![again, stays]));
        let of = |series: &&Series| series.of == "again" && series.quantity == "base_delay";
        let series = outcome.run.series.iter().find(of).unwrap();
        series.values[320].unwrap()
    };
    assert_eq!(base_ms(false), 50.0);
    assert!(base_ms(true) > 60.0, "{}", base_ms(true));
}

#[test]
fn a_flow_that_is_there_for_less_than_a_step_goes_again() {
    let brief = Flow { start: ms(5_000), stop: Some(ms(5_001)), ..background("ledbat", 100) };
    let outcome = outcome(&scenario("10 Mbit/s", "100 ms", 20, vec![brief]));
    let marks: Vec<_> = outcome.run.marks.iter().map(|mark| (mark.what.as_str(), mark.at_s)).collect();
    assert_eq!(marks, [("start", 5.0), ("stop", 5.01)]);
    assert!(outcome.run.totals[0].packets <= 1, "{:?}", outcome.run.totals);
}

#[test]
fn on_and_off_flows_come_and_go() {
    let traffic = Traffic::OnOff { on: ms(5_000), off: ms(5_000) };
    let video = Flow { traffic, ..flow("video", Role::Foreground, "newreno", 30) };
    let measure = vec![window("on", 22, 25), window("off", 27, 30)];
    let whole =
        Scenario { measure, ..scenario("10 Mbit/s", "100 ms", 60, vec![video, background("ledbat", 30)]) };
    let outcome = outcome(&whole);
    let share = |window: usize| outcome.run.windows[window].bottleneck().unwrap().foreground_share.unwrap();
    assert!(share(0) > 0.5 && share(1) < 0.01, "{} and {}", share(0), share(1));
}

#[test]
fn what_has_no_model_is_refused_by_name_with_what_has_one() {
    let refused = |scenario: &Scenario| {
        run(scenario, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap_err()
    };
    let with = |controller: &str| scenario("10 Mbit/s", "100 ms", 10, vec![background(controller, 40)]);
    for controller in ["libutp", "libutp-mod", "tcp-lp", "nice", "vegas"] {
        let message = refused(&with(controller)).to_string();
        assert!(
            message.contains(&format!("no fluid model of {controller}: use one of ledbat,")),
            "{message}"
        );
    }
    let mut queue = with("ledbat");
    queue.link.queue = "codel".parse().unwrap();
    let message = refused(&queue).to_string();
    assert!(message.starts_with("there is no fluid model of the queue codel: use droptail"), "{message}");
    let key = |scenario: &Scenario| match refused(scenario) {
        Error::Unsupported(what) => what.key,
        other => panic!("{other}"),
    };
    assert!(key(&with("cubic,hystart=true")).ends_with(".controller.hystart"));
    assert!(key(&with("ledbat++,ramp_exit=true")).ends_with(".controller.ramp_exit"));
    run(&with("cubic,hystart=false"), &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let mut chunks = with("ledbat");
    chunks.flow[0].traffic = Traffic::Chunk(Size::from_bytes(250_000));
    assert!(refused(&chunks).to_string().contains("chunks"));
    let mut segments = with("ledbat");
    segments.flow[0].traffic = Traffic::Bursts { every: ms(4000), size: Size::from_bytes(250_000) };
    assert!(key(&segments).ends_with(".traffic"));
    assert!(refused(&segments).to_string().contains("many transfers"));
    let mut script = with("ledbat");
    script.delay.push(Delay::of_packet("ledbat", 1, ms(1)));
    assert_eq!(key(&script), "delay");
    let mut instant = with("ledbat");
    instant.flow[0].rtt = Duration::default();
    assert!(refused(&instant).to_string().contains("too short"));
    let blinks = Flow { traffic: Traffic::OnOff { on: ms(1), off: ms(1) }, ..background("ledbat", 40) };
    let flows = (0..300).map(|i| Flow { name: format!("f{i}"), ..blinks.clone() }).collect();
    assert!(refused(&scenario("10 Mbit/s", "100 ms", 10, flows)).to_string().contains("on and off"));
    let stands = Scenario { fluid: Some(Fluid { step: Some(ms(0)), ..Fluid::default() }), ..with("ledbat") };
    let message =
        run(&stands, &Options::of(&stands), &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(message.starts_with("fluid.step = 0: use a longer step"), "{message}");
    let long = Scenario { duration: ms(1 << 40), ..with("ledbat") };
    assert!(matches!(refused(&long), Error::TooLong { .. }));
}

#[test]
fn every_reason_against_a_scenario_is_listed_with_its_key() {
    let options = Options::default();
    let mut scenario = scenario("10 Mbit/s", "100 ms", 10, vec![background("ledbat", 40)]);
    assert_eq!(supports(&scenario, &options), Ok(()));
    let other = Flow { name: "b".to_owned(), group: Some("both".to_owned()), ..background("nice", 0) };
    let controller = "cubic,hystart=true,beta=0.6".parse().unwrap();
    scenario.flow.push(Flow { name: "c".to_owned(), controller: Some(controller), ..other.clone() });
    scenario.flow.push(other);
    scenario.link.queue = "codel".parse().unwrap();
    scenario.link.reverse = Some(Default::default());
    let reasons = supports(&scenario, &options).unwrap_err();
    let keys: Vec<&str> = reasons.iter().map(|reason| reason.key.as_str()).collect();
    let expected = [
        "link.queue",
        "link.reverse",
        "flow.both.controller.hystart",
        "flow.both.rtt",
        "flow.both.controller",
        "flow.both.rtt",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        run(&scenario, &options, &mut |_| ControlFlow::Continue(())).unwrap_err(),
        Error::Unsupported(reasons[0].clone())
    );
    let long = Scenario {
        duration: ms(1 << 40),
        ..self::scenario("1 Mbit/s", "100 ms", 1, vec![background("ledbat", 40)])
    };
    assert_eq!(supports(&long, &options).unwrap_err()[0].key, "duration");
}

#[test]
fn a_run_ends_when_its_watcher_says_so() {
    let whole = scenario("10 Mbit/s", "100 ms", 600, vec![background("ledbat", 40)]);
    let mut looks = 0;
    let ended = run(&whole, &Options::default(), &mut |_| {
        looks += 1;
        match looks < 2 {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    assert_eq!((ended.unwrap_err(), looks), (Error::Interrupted, 2));
}

#[test]
fn curves_cover_the_run_and_windows_as_short_as_a_step_are_measured() {
    let mut whole = scenario("10 Mbit/s", "100 ms", 30, vec![background("fledbat", 40)]);
    whole.measure.push(Window { name: "short".to_owned(), from: ms(30_000 - 1), to: ms(30_000) });
    let outcome = outcome(&whole);
    for quantity in ["goodput", "cwnd", "base_delay"] {
        let series = outcome.run.series.iter().find(|series| series.quantity == quantity).unwrap();
        assert_eq!((series.values.len(), series.step_s), (300, 0.1), "{quantity}");
    }
    let short = &outcome.run.windows[1];
    assert!(link(short).queuing_delay.is_some());
    assert!((0.99..=1.0).contains(&link(short).utilisation), "{}", link(short).utilisation);
    // The last point of goodput and the last window are the same tenth of a second.
    let goodput = outcome.run.series.iter().find(|series| series.quantity == "goodput").unwrap();
    assert!((goodput.values[299].unwrap() - 9.65).abs() < 0.05);
}

#[test]
fn a_run_is_the_same_to_the_last_bit() {
    let flows = vec![
        flow("a", Role::Foreground, "cubic", 35),
        background("ledbat++", 45),
        flow("c", Role::Background, "fledbat", 70),
    ];
    let whole = scenario("20 Mbit/s", "80 ms", 30, flows);
    let (one, other) = (outcome(&whole), outcome(&whole));
    assert_eq!(one, other);
    let figures = &one.run.windows[0];
    let goodput: Vec<f64> = figures.flows.iter().map(|flow| flow.goodput_bit_s).collect();
    // The same on every machine; if a change of the model moves them, so be it, but then on all.
    assert_eq!(goodput, [18_770_012.0, 185_401.0, 351_253.0]);
}

#[test]
fn an_empty_link_has_figures_too() {
    let figures = late(&scenario("10 Mbit/s", "100 ms", 5, Vec::new()));
    assert_eq!((link(&figures).utilisation, link(&figures).queuing_delay.unwrap().max_ms), (0.0, 0.0));
}

#[test]
fn extreme_scenarios_give_figures_or_a_refusal_and_never_nonsense() {
    let rates = ["8 bit/s", "64 kbit/s", "10 Mbit/s", "10000 Gbit/s"];
    let buffers = ["1 packets", "1500 B", "1 us", "100 ms", "100000000 packets"];
    let controllers = [
        "ledbat,target=1ms",
        "fledbat,target=1ms,zeta=100",
        "fledbat,zeta=0.0001,slow_start=delay",
        "ledbat++,restart=true,target=1ms",
        "newreno",
        "cubic,c=100",
    ];
    let mut measured = 0;
    for rate in rates {
        for buffer in buffers {
            for rtt_us in [100, 40_000, 2_000_000] {
                let rtt = Duration(afteryou_base::Span::from_micros(rtt_us));
                let flows = controllers.iter().enumerate().map(|(i, controller)| Flow {
                    rtt,
                    start: ms(10 * i as u64),
                    stop: (i % 2 == 0).then(|| ms(700)),
                    ..flow(&format!("f{i}"), Role::Background, controller, 1)
                });
                let mut whole = scenario(rate, buffer, 1, flows.collect());
                whole.link.loss = if rtt_us == 40_000 { "100 %" } else { "0 %" }.parse().unwrap();
                if whole.clone().checked().is_err() {
                    continue;
                }
                let explained = explain(&whole, &Options::default()).is_ok();
                let Ok(outcome) = run(&whole, &Options::default(), &mut |_| ControlFlow::Continue(())) else {
                    continue;
                };
                measured += 1;
                assert!(explained, "{whole:?}");
                let figures = &outcome.run.windows[0];
                let delay = link(figures).queuing_delay.unwrap();
                assert!(link(figures).utilisation >= 0.0 && link(figures).utilisation <= 1.0, "{whole:?}");
                assert!(delay.mean_ms.is_finite() && delay.mean_ms >= 0.0, "{whole:?}: {delay:?}");
                assert!(figures.flows.iter().all(|flow| flow.goodput_bit_s.is_finite()), "{whole:?}");
            }
        }
    }
    assert!(measured > 30, "{measured}");
}

/// NewReno's share falls with the round-trip time: the flow with the long path has a fifth of its fair share.
#[test]
fn a_set_of_flows_is_measured_over_time() {
    let flows =
        [("near", 20), ("far", 400)].map(|(name, rtt_ms)| flow(name, Role::Foreground, "newreno", rtt_ms));
    let mut scenario = scenario("10 Mbit/s", "30 packets", 100, flows.to_vec());
    let set = FlowSet::new("late", vec!["near".to_owned(), "far".to_owned()]);
    scenario.sets = vec![FlowSet { starved: "30 %".parse().unwrap(), ..set }];
    let outcome = outcome(&scenario);
    let (set, window) = (&outcome.run.sets[0], &outcome.run.windows[0]);
    let rates: Vec<f64> = window.flows.iter().map(|flow| flow.goodput_bit_s).collect();
    assert!((set.fairness.unwrap() - jain(&rates)).abs() < 1e-6, "{set:?}");
    let short = set.short_term.unwrap();
    assert_eq!((short.steps, short.skipped), (75, 0));
    // The shares hardly change, so neither does the index.
    assert!((short.mean - set.fairness.unwrap()).abs() < 0.05 && short.p5 <= short.mean, "{set:?}");
    let starved = set.starved.as_ref().unwrap();
    let part = 2.0 * window.flows[1].share_of_payload_capacity;
    assert!(part < 0.3 && starved.longest_s > 30.0, "{part} of the fair share: {starved:?}");
    assert_eq!(starved.flow.as_deref(), Some("far"));
    assert!(set.start_up_s.is_some_and(|start_up_s| start_up_s < 75.0), "{set:?}");
    assert_eq!((set.stalls, &set.transfers, &set.after_loss), (None, &None, &None));
}

/// Returns the part of 20 Mbit/s that a lone flow uses, past the first third of 600 s.
fn used_alone(controller: &str, buffer: &str, rtt_ms: u64, pacing: &str) -> f64 {
    let format = PacketFormat { payload: Size::from_bytes(1390), overhead: Size::from_bytes(66) };
    let transport = Transport::tcp().with("pacing", pacing).with("rwnd", "100 MB");
    let flow = Flow { packet: Some(format), transport, ..background(controller, rtt_ms) };
    let measure = vec![window("late", 200, 600)];
    let whole = Scenario { measure, ..scenario("20 Mbit/s", buffer, 600, vec![flow]) };
    link(&late(&whole)).utilisation
}

#[test]
fn on_a_long_path_a_sender_that_does_not_pace_uses_what_it_uses_in_the_simulator() {
    // The simulator, TCP with an acknowledgement for each packet and pacing off.
    for (buffer, rtt_ms, simulated) in [
        ("500 ms", 5, 0.989),
        ("500 ms", 50, 0.939),
        ("500 ms", 135, 0.928),
        ("500 ms", 250, 0.843),
        ("500 ms", 300, 0.700),
        ("500 ms", 400, 0.524),
        ("500 ms", 1000, 0.206),
        ("30 ms", 5, 0.980),
        ("30 ms", 50, 0.908),
        ("30 ms", 100, 0.763),
        ("30 ms", 135, 0.486),
        ("30 ms", 250, 0.257),
        ("30 ms", 400, 0.161),
    ] {
        let used = used_alone("ledbat++", buffer, rtt_ms, "false");
        assert!((used / simulated - 1.0).abs() < 0.09, "{buffer}, {rtt_ms} ms: {used}, not {simulated}");
    }
}

#[test]
fn pacing_counts_only_where_a_train_outgrows_a_target_or_the_buffer() {
    for rtt_ms in [5, 50] {
        let [paced, unpaced] = ["true", "false"].map(|on| used_alone("ledbat++", "500 ms", rtt_ms, on));
        assert!((paced - unpaced).abs() < 1e-3, "{rtt_ms} ms: {paced} and {unpaced}");
    }
    for rtt_ms in [300, 400] {
        let [paced, unpaced] = ["true", "false"].map(|on| used_alone("ledbat++", "500 ms", rtt_ms, on));
        assert!(paced > 0.9 && unpaced < 0.75, "{rtt_ms} ms: {paced} and {unpaced}");
    }
}

#[test]
fn with_pacing_of_all_flows_no_transport_sends_trains() {
    let transport = Transport::tcp().with("preset", "classic");
    let flow = Flow { transport, ..background("ledbat++", 400) };
    let whole = scenario("20 Mbit/s", "500 ms", 300, vec![flow]);
    let used = |pacing: Pacing| {
        let options = Options { pacing, ..Options::default() };
        link(&run(&whole, &options, &mut |_| ControlFlow::Continue(())).unwrap().run.windows[0]).utilisation
    };
    let (all, by_transport) = (used(Pacing::All), used(Pacing::ByTransport));
    assert!(all > 1.3 * by_transport, "{all} and {by_transport}");
}

#[test]
fn without_pacing_slow_start_on_a_long_path_overflows_a_short_buffer() {
    // Of the first 200 s of a NewReno, in the simulator with and without pacing.
    for (rtt_ms, paced, unpaced) in [(400, 0.791, 0.542), (1000, 0.663, 0.129)] {
        let used = |pacing: &str| {
            let format = PacketFormat { payload: Size::from_bytes(1390), overhead: Size::from_bytes(66) };
            let transport = Transport::tcp().with("pacing", pacing).with("rwnd", "100 MB");
            let flow = Flow { packet: Some(format), transport, ..background("newreno", rtt_ms) };
            let measure = vec![window("early", 0, 200)];
            let whole = Scenario { measure, ..scenario("20 Mbit/s", "30 ms", 200, vec![flow]) };
            link(&late(&whole)).utilisation
        };
        assert!((used("false") / unpaced - 1.0).abs() < 0.03, "{rtt_ms} ms: {}", used("false"));
        assert!((used("true") / paced - 1.0).abs() < 0.12, "{rtt_ms} ms: {}", used("true"));
    }
}

#[test]
fn many_flows_at_their_floor_hold_what_the_path_does_not_and_with_a_smaller_one_they_settle() {
    let sizes = PacketFormat { payload: Size::from_bytes(1448), overhead: Size::from_bytes(52) };
    let controller = "fledbat,target=25ms,zeta=0.5,min_cwnd=2,init_cwnd=2";
    let queue = |floor: Option<f64>, rtt_ms: u64| {
        let one = |i: u64| Flow {
            packet: Some(sizes),
            start: ms(7 * i),
            ..flow(&format!("f{i}"), Role::Background, controller, rtt_ms)
        };
        let fluid = Some(Fluid { floor, base: Base::Known, ..Fluid::default() });
        let measure = vec![window("late", 20, 30)];
        let whole = scenario("10 Mbit/s", "2000 packets", 30, (0..200).map(one).collect());
        let whole = Scenario { fluid, measure, ..whole };
        let outcome = run(&whole, &Options::of(&whole), &mut |_| ControlFlow::Continue(())).unwrap();
        link(&outcome.run.windows[0]).queue_packets.unwrap()
    };
    for rtt_ms in [50, 135, 250] {
        // 10 Mbit/s carry 0.8333 packets in a millisecond.
        let path = rtt_ms as f64 / 1.2;
        assert!(
            (queue(None, rtt_ms) - (400.0 - path)).abs() < 0.1,
            "{rtt_ms} ms: the controller's two packets"
        );
        let held = queue(Some(1.5), rtt_ms);
        assert!((held - (300.0 - path)).abs() < 0.1, "{rtt_ms} ms: {held}");
    }
    // (q − τ)·(R + q) = N·α·τ/(C·ζ), q = 120.57 ms: half a packet of each flow.
    let free = queue(Some(0.01), 5);
    assert!((free - 100.47).abs() < 0.01, "{free}");
}
