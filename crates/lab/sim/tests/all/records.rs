//! Measures on demand: they change nothing, and they agree with what is measured anyway and with closed forms.

use afteryou_scenario::outcome::Run;
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;

fn run(text: &str) -> Run {
    let experiment = Experiment::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let planned = experiment.runs(None, None).unwrap().remove(0);
    afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}"))
        .run
}

/// Runs a latecomer beside a LEDBAT flow, on a link of 10 Mbit/s; `record` is the line of the file, or nothing.
fn latecomer(record: &str) -> Run {
    run(&format!(
        r#"
        duration = "60 s"
        {record}
        measure = {{ name = "late", from = "30 s" }}
        [link]
        rate = "10 Mbit/s"
        buffer = "300 packets"
        [[flow]]
        name = "first"
        role = "background"
        controller = {{ kind = "ledbat", clock_skew = "none" }}
        rtt = "50 ms"
        [[flow]]
        name = "second"
        controller = "newreno"
        rtt = "50 ms"
        start = "10 s"
        "#
    ))
}

const ALL: &str = "record = [\"queues\", \"senders\", \"events\"]";

#[test]
fn a_record_changes_nothing_else() {
    let (mut with, without) = (latecomer(ALL), latecomer(""));
    assert!(!with.events.is_empty() && !with.phases.is_empty());
    (with.events, with.phases) = Default::default();
    let all = with.series.len();
    with.series.retain(|curve| !["flightsize", "rtt", "losses", "marks"].contains(&curve.quantity.as_str()));
    assert_eq!(all - with.series.len(), 6, "three of each flow: no queue marks");
    for window in &mut with.windows {
        for link in &mut window.links {
            assert!(link.queue_length.take().is_some());
            assert!(!std::mem::take(&mut link.flows).is_empty());
        }
        for flow in &mut window.flows {
            assert!(flow.sender.take().is_some());
        }
    }
    assert_eq!(with, without);
}

#[test]
fn the_curve_of_losses_has_every_loss_that_a_sender_found() {
    let run = latecomer(ALL);
    for flow in ["first", "second"] {
        let curve = run.series.iter().find(|curve| curve.of == flow && curve.quantity == "losses").unwrap();
        let counted: f64 = curve.values.iter().flatten().map(|rate| rate * curve.step_s).sum();
        let found = run.events.iter().filter(|event| event.flow == flow && event.what == "loss").count();
        assert!(found > 0 && (counted - found as f64).abs() < 0.01, "{flow}: {counted} of {found}");
    }
}

#[test]
fn flight_size_stays_within_the_window_and_makes_the_round_trip_as_long_as_the_queue() {
    let run = latecomer(ALL);
    let values = |of: &str, quantity: &str| {
        let curve = run.series.iter().find(|curve| curve.of == of && curve.quantity == quantity);
        curve.unwrap_or_else(|| panic!("no {quantity} of {of}")).values.clone()
    };
    let (windows, flights, trips) =
        (values("second", "cwnd"), values("second", "flightsize"), values("second", "rtt"));
    // In these ten seconds the second flow has the link nearly to itself and loses nothing: what is in flight takes a round trip.
    for step in 300..400 {
        let (window, flight, trip) = (windows[step].unwrap(), flights[step].unwrap(), trips[step].unwrap());
        assert!(flight <= window, "step {step}: {flight} kB of {window} kB");
        let expected = flight * 8.0 / 10.0 * 1500.0 / 1448.0;
        assert!((trip / expected - 1.0).abs() < 0.05, "step {step}: {trip} ms for {flight} kB");
    }
}

#[test]
fn shares_and_queues_add_up_to_what_the_link_measures() {
    let run = latecomer(ALL);
    let window = &run.windows[0];
    let seconds = window.to_s - window.from_s;
    for link in &window.links {
        let bytes: u64 = link.flows.iter().map(|flow| flow.bytes).sum();
        let used = bytes as f64 * 8.0 / (link.capacity_bit_s * seconds);
        assert!((used - link.utilisation).abs() < 0.001, "{}: {used} for {}", link.link, link.utilisation);
        let queued: f64 = link.flows.iter().map(|flow| flow.queue_packets).sum();
        let mean = link.queue_packets.unwrap();
        assert!((queued - mean).abs() < 0.01, "{}: {queued} for {mean}", link.link);
        let shares: f64 = link.flows.iter().map(|flow| flow.share).sum();
        assert!((shares - 1.0).abs() < 1e-5, "{}: {shares}", link.link);
    }
    // The queue is never longer than the buffer, and never empty where NewReno keeps it filled.
    let length = window.links[0].queue_length.unwrap();
    assert!(length.max <= 300 && length.p50 <= length.p95 && length.p95 <= length.p99, "{length:?}");
}

/// A single NewReno flow over a full link: its window grows by a packet a round trip from W/2 to W = BDP + B, and a round trip takes
/// w/C. So the mean over time is ∫w² dw / ∫w dw = 7/9 of W.
#[test]
fn a_window_over_time_is_the_saw_tooth_of_the_textbook() {
    let run = self::run(
        r#"
        duration = "400 s"
        record = ["senders", "events"]
        measure = { from = "100 s" }
        [link]
        rate = "8 Mbit/s"
        buffer = "40 packets"
        [[flow]]
        name = "one"
        controller = "newreno"
        rtt = "60 ms"
        packet = { payload = "1448 B", overhead = "52 B" }
        "#,
    );
    let sender = run.windows[0].flows[0].sender.unwrap();
    // BDP = 8 Mbit/s × 60 ms = 40 packets of 1500 B, as many as the buffer.
    let (top, cwnd) = (80.0 * 1.448, sender.cwnd_kb);
    assert!((cwnd.max / top - 1.0).abs() < 0.05, "{cwnd:?} for {top}");
    assert!((cwnd.mean / (7.0 / 9.0 * cwnd.max) - 1.0).abs() < 0.02, "{cwnd:?}");
    // Each cut follows a drop, and halves.
    let cuts = run.events.iter().filter(|event| event.what == "cut").count();
    let drops = run.events.iter().filter(|event| event.what == "drop").count();
    assert!(cuts > 10 && drops >= cuts, "{cuts} cuts, {drops} drops");
    let times: Vec<f64> = run.events.iter().map(|event| event.at_s).collect();
    assert!(times.is_sorted());
}

/// RFC 6817 §4.4: who starts while another keeps the queue at TARGET takes that queue for the empty path.
#[test]
fn a_latecomers_base_delay_error_is_the_queue_that_it_found() {
    let run = self::run(
        r#"
        duration = "100 s"
        record = ["senders"]
        measure = { from = "60 s", to = "90 s" }
        [link]
        rate = "10 Mbit/s"
        buffer = "2000 packets"
        [[flow]]
        name = "first"
        controller = { kind = "ledbat", clock_skew = "none" }
        rtt = "50 ms"
        [[flow]]
        name = "late"
        controller = { kind = "ledbat", clock_skew = "none" }
        rtt = "50 ms"
        start = "30 s"
        "#,
    );
    let error = |i: usize| run.windows[0].flows[i].sender.unwrap().delay_error_ms.unwrap();
    assert!(error(0).abs() < 5.0, "the first one knows the empty path: {} ms", error(0));
    assert!((-115.0..-85.0).contains(&error(1)), "the latecomer misses TARGET = 100 ms: {} ms", error(1));
}

/// An outage of two seconds is a stall of as long, less the time for which the queue still empties, and a sender notes its timeouts in it.
#[test]
fn an_outage_is_a_stall_with_timeouts() {
    for transport in ["tcp", "utp"] {
        let run = self::run(&format!(
            r#"
            duration = "30 s"
            record = ["senders", "events"]
            measure = {{ from = "5 s" }}
            [link]
            rate = "5 Mbit/s"
            buffer = "100 packets"
            [[flow]]
            name = "one"
            controller = "cubic"
            transport = "{transport}"
            rtt = "40 ms"
            [[drop]]
            at = "10 s"
            until = "12 s"
            "#
        ));
        let sender = run.windows[0].flows[0].sender.unwrap();
        // Packets that were in the queue of 240 ms and on the path still arrive.
        assert!((1.7..6.0).contains(&sender.longest_stall_s), "{transport}: {} s", sender.longest_stall_s);
        let since = |what: &str, at_s: f64| {
            let found = run.events.iter().find(|event| event.what == what && event.at_s >= at_s);
            found.unwrap_or_else(|| panic!("{transport}: no {what} from {at_s} s on"))
        };
        assert!(since("stall", 10.5).seconds.unwrap() >= 1.7, "{transport}: {:?}", since("stall", 10.5));
        assert!(since("stall", 10.5).at_s >= 12.0, "{transport}: {:?}", since("stall", 10.5));
        assert!(since("timeout", 10.0).at_s < 12.0, "{transport}: {:?}", since("timeout", 10.0));
    }
}
