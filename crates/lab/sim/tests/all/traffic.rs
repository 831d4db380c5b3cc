//! Applications that open and close connections, held against closed forms.
//!
//! That every byte offered is delivered, given up or queued needs no test here: a run whose books do not balance is an error.

use crate::support::{flow, link, ms, run, scenario, utp, Look};
use afteryou_scenario::law::Drawn;
use afteryou_scenario::outcome::Completions;
use afteryou_scenario::traffic::Web;
use afteryou_scenario::{
    Duration, Flow, Law, Link, Outcome, Probability, Role, Size, Traffic, TransportKind,
};
use afteryou_scenario_file::Experiment;

const KB: u64 = 1000;

fn size(bytes: u64) -> Size {
    Size::from_bytes(bytes)
}

fn poisson(per_second: f64) -> Law<Duration> {
    Law::Drawn(Drawn::Exponential(Duration::from_secs_f64(1.0 / per_second)))
}

/// Returns the transfers of one flow alone on a link.
fn alone(link: Link, duration_s: f64, flow: Flow) -> Completions {
    let outcome = run(&scenario(link, duration_s, 1.0, vec![flow]));
    outcome.totals("one").completions.clone().expect("transfers")
}

fn both(test: impl Fn(&dyn Fn(&str, u64) -> Flow)) {
    test(&|controller, rtt_ms| flow("one", controller, rtt_ms));
    test(&|controller, rtt_ms| utp("one", controller, rtt_ms));
}

#[test]
fn a_short_transfer_takes_one_and_a_half_round_trips_and_the_time_to_send() {
    for rtt_ms in [5, 50, 135, 250] {
        both(|make| {
            let flow = make("cubic", rtt_ms);
            let (utp, sizes) = (flow.transport.kind == TransportKind::Utp, flow.packet_format());
            // One packet: a second one would be paced.
            let bytes = sizes.payload.bytes();
            let traffic = Traffic::Arrivals { arrivals: Law::Fixed(ms(1000)), size: Law::Fixed(size(bytes)) };
            let done = alone(link("100 Mbit/s", "1000 packets"), 20.5, Flow { traffic, ..flow });
            assert_eq!((done.begun, done.completed, done.connections), (20, 20, 20));
            // SYN, its answer, and the data; uTP's SYN carries an extension.
            let packets = 3 * sizes.overhead.bytes() + bytes;
            let expected = 1.5 * rtt_ms as f64 + packets as f64 * 8.0 / 1e8 * 1e3;
            let mean = done.time.unwrap().mean_ms;
            let tolerance = if utp { 0.01 } else { 0.002 };
            assert!((mean - expected).abs() < tolerance, "{rtt_ms} ms: {mean} ms for {expected} ms");
        });
    }
}

#[test]
fn transfers_arrive_as_often_as_the_law_says_and_the_link_carries_what_they_offer() {
    for loss in ["0 %", "0.1 %", "1 %", "5 %"] {
        both(|make| {
            let sizes = Law::Drawn(Drawn::Uniform(size(5 * KB), size(35 * KB)));
            let traffic = Traffic::Arrivals { arrivals: poisson(50.0), size: sizes };
            let link = Link { loss: loss.parse().unwrap(), ..link("100 Mbit/s", "1000 packets") };
            let done = alone(link, 60.0, Flow { traffic, ..make("cubic", 20) });
            // 3000 arrivals, four standard deviations; 60 MB, the same of a sum of uniform sizes.
            assert!((done.begun as f64 - 3000.0).abs() < 4.0 * 3000f64.sqrt(), "{}", done.begun);
            assert!((done.bytes.offered as f64 - 60e6).abs() < 4.0 * 60e6 / 3000f64.sqrt() * 1.1, "{loss}");
            assert!(
                done.bytes.delivered as f64 > 0.98 * done.bytes.offered as f64,
                "{loss}: {:?}",
                done.bytes
            );
            assert_eq!(done.classes.iter().map(|class| class.time.samples).sum::<u64>(), done.completed);
            assert_eq!(done.bytes.closed, 0, "a connection closes when everything is acknowledged");
        });
    }
}

#[test]
fn another_law_of_sizes_moves_no_arrival() {
    let begun = |bytes| {
        let traffic = Traffic::Arrivals { arrivals: poisson(20.0), size: Law::Fixed(size(bytes)) };
        alone(link("100 Mbit/s", "1000 packets"), 30.0, Flow { traffic, ..flow("one", "cubic", 20) }).begun
    };
    assert_eq!(begun(1000), begun(30_000));
}

fn peers(chunk: u64, pause_ms: u64, persist: f64) -> Traffic {
    let persist = Probability::from_ratio(persist).unwrap();
    Traffic::Peers { chunk: size(chunk), pause: ms(pause_ms), persist }
}

#[test]
fn chunks_to_the_same_peer_are_a_pause_and_a_round_trip_apart() {
    both(|make| {
        // A chunk of one packet: half a round trip there, the ack back (at once: uTP's and TCP's delay is 25 or 40 ms).
        let flow = make("cubic", 100);
        let packet = flow.packet_format().payload.bytes();
        let transport = flow.transport.clone().with("ack", "every packet");
        let flow = Flow { traffic: peers(packet, 100, 1.0), transport, ..flow };
        let done = alone(link("100 Mbit/s", "1000 packets"), 100.0, flow);
        // 100 ms handshake, then 200 ms for each.
        assert!((done.begun as i64 - 500).abs() <= 2, "{} chunks", done.begun);
        assert_eq!(done.connections, 1);
    });
}

#[test]
fn a_new_peer_is_a_new_connection_as_often_as_persist_says() {
    for persist in [0.0, 0.5, 0.9] {
        both(|make| {
            let flow = Flow { traffic: peers(20 * KB, 20, persist), ..make("cubic", 20) };
            let done = alone(link("100 Mbit/s", "1000 packets"), 100.0, flow);
            let n = (done.begun - 1) as f64;
            let (expected, error) = (1.0 + n * (1.0 - persist), (n * persist * (1.0 - persist)).sqrt());
            let opened = done.connections as f64;
            // The last chunk may have ended in a pause.
            assert!((opened - expected).abs() <= 4.0 * error + 1.0, "{opened} of {expected}");
        });
    }
}

#[test]
fn a_new_connection_begins_with_the_initial_window() {
    // One packet at first: 1, 2, 4, 8 packets take four round trips after the handshake's one.
    let first = |persist| {
        let flow = flow("one", "newreno,initial_window=1", 100);
        let transport =
            flow.transport.clone().with("iw", "1").with("ack", "every packet").with("pacing", "false");
        let flow = Flow { traffic: peers(15 * 1448, 100, persist), transport, ..flow };
        alone(link("1 Gbit/s", "1000 packets"), 60.0, flow).time.unwrap()
    };
    assert!((first(0.0).p50_ms - 450.0).abs() < 5.0, "{:?}", first(0.0));
    assert!((first(1.0).p50_ms - 50.0).abs() < 5.0, "the window is kept: {:?}", first(1.0));
}

fn video(rate: &str) -> Completions {
    let traffic = Traffic::Bursts { every: ms(4000), size: size(1_500_000) };
    alone(link(rate, "100 ms"), 119.0, Flow { traffic, ..flow("one", "cubic", 30) })
}

#[test]
fn segments_are_late_where_the_link_is_slower_than_the_video() {
    // 3 Mbit/s of payload.
    let (fast, slow) = (video("10 Mbit/s"), video("2 Mbit/s"));
    assert_eq!((fast.begun, fast.completed, fast.late), (30, 30, Some(0)));
    assert_eq!(slow.begun, 30);
    assert_eq!(slow.late, Some(29), "the last one is not due yet when the run ends");
    // 2 Mbit/s with headers carry 1.93 Mbit/s: 119 s are 28.7 MB, which is 19 segments.
    assert_eq!(slow.completed, 19);
    assert!(slow.bytes.queued > 0);
}

#[test]
fn users_pages_follow_the_law_of_response_times() {
    both(|make| {
        let web = Web {
            users: 20,
            think: Law::Drawn(Drawn::Exponential(ms(2000))),
            objects: 8,
            size: Law::Drawn(Drawn::Uniform(size(5 * KB), size(15 * KB))),
            connections: 6,
        };
        let done = alone(
            link("20 Mbit/s", "100 ms"),
            400.0,
            Flow { traffic: Traffic::Web(web), ..make("cubic", 40) },
        );
        // N = X (Z + R): within the sampling error of 20 · 400 s / 2.2 s times of thinking.
        let response = done.time.unwrap().mean_ms / 1e3;
        let expected = 400.0 * 20.0 / (2.0 + response);
        let rate = done.completed as f64 / expected;
        assert!((rate - 1.0).abs() < 4.0 / expected.sqrt(), "{} pages for {expected}", done.completed);
        assert!(done.connections <= 6 * done.begun && done.connections > 5 * done.begun);
    });
}

#[test]
fn transfers_share_a_link_with_bulk_flows_of_lower_effort() {
    let traffic = Traffic::Arrivals { arrivals: poisson(10.0), size: Law::Fixed(size(50 * KB)) };
    let page = Flow { traffic, ..flow("one", "cubic", 40) };
    let backup = Flow { role: Role::Background, ..flow("backup", "ledbat++", 40) };
    let time = |flows| {
        let outcome = run(&scenario(link("20 Mbit/s", "200 ms"), 120.0, 20.0, flows));
        let done = outcome.totals("one").completions.clone().unwrap();
        done.time.unwrap().mean_ms
    };
    let (alone, beside) = (time(vec![page.clone()]), time(vec![page, backup]));
    // LEDBAT++ adds its target of 60 ms to each of the two or three round trips at most.
    assert!(beside > alone && beside < alone + 3.0 * 60.0 + 30.0, "{alone} ms alone, {beside} ms beside");
}

#[test]
fn a_transfer_that_stops_gives_the_same_result_every_time() {
    let traffic = Traffic::Arrivals { arrivals: poisson(100.0), size: Law::Fixed(size(20 * KB)) };
    let stopping = Flow { traffic, stop: Some(ms(5000)), ..flow("one", "cubic", 40) };
    let scenario = scenario(link("10 Mbit/s", "50 packets"), 20.0, 1.0, vec![stopping]);
    let (one, other) = (run(&scenario), run(&scenario));
    assert_eq!(one, other);
    let done = one.totals("one").completions.clone().unwrap();
    assert_eq!((done.completed, done.bytes.queued), (done.begun, 0), "those under way at 5 s go on");
}

/// Runs a swarm with `peers` peers, and downloads beside it if there are any.
fn swarm(peers: u32, persist: f64, downloads: u32) -> Outcome {
    let web = match downloads {
        0 => String::new(),
        _ => format!(
            "[[flow]]\nname = \"web\"\ncontroller = \"newreno\"\nhosts = \"peers\"\n\
             traffic = {{ downloads = {downloads}, size = {{ uniform = [\"0 B\", \"512 kB\"] }} }}\n"
        ),
    };
    let text = format!(
        "duration = \"60 s\"\n[[hosts]]\nname = \"peers\"\ncount = {peers}\nup = \"4 Mbit/s\"\ndown = \"8 Mbit/s\"\n\
         queue = \"100 packets\"\nrtt = {{ lognormal = {{ mean = \"38 ms\", sigma = 0.8, clip = [\"2 ms\", \"400 ms\"] }} }}\n\
         [[flow]]\nname = \"one\"\nrole = \"background\"\ncontroller = {{ kind = \"ledbat\", init_cwnd = 1 }}\n\
         hosts = \"peers\"\ntraffic = {{ swarm = {{ chunk = \"250 kB\", persist = {persist} }} }}\n{web}"
    );
    let experiment = Experiment::parse(&text, "swarm", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&experiment.runs(None, None).unwrap().remove(0).scenario)
}

#[test]
fn a_peer_alone_fills_its_uplink_with_five_uploads() {
    let outcome = swarm(1, 1.0, 0);
    let done = outcome.totals("one").completions.clone().unwrap();
    assert_eq!((done.connections, done.begun - done.completed <= 5), (5, true));
    // Its queue never runs empty with five uploads, of which one pauses now and then.
    assert!(outcome.run.windows[0].link("peers 1 up").unwrap().utilisation > 0.97);
}

/// One upload at a time over an uplink that is never full: each chunk costs its bytes, the round trip until its last
/// acknowledgement, and the idle ones.
#[test]
fn a_slot_goes_on_with_the_last_acknowledgement_of_a_chunk_or_so_many_round_trips_later() {
    let chunks = |idle: &str| {
        let text = format!(
            "duration = \"60 s\"\n[[hosts]]\nname = \"peer\"\nup = \"4 Mbit/s\"\ndown = \"8 Mbit/s\"\nqueue = \"100 packets\"\n\
             rtt = \"100 ms\"\n[[flow]]\nname = \"one\"\ncontroller = \"newreno\"\nhosts = \"peer\"\n\
             traffic = {{ swarm = {{ chunk = \"2896 B\", slots = 1, persist = 1{idle} }} }}\n"
        );
        let experiment = Experiment::parse(&text, "swarm", &[]).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&experiment.runs(None, None).unwrap().remove(0).scenario);
        outcome.totals("one").completions.clone().unwrap().completed as f64
    };
    // Two packets take 6 ms on the link; their acknowledgement, which is not delayed, 0.1 ms.
    for (idle, rounds) in [("", 1.0), (", idle_rtts = 1", 2.0), (", idle_rtts = 2.5", 3.5)] {
        let expected = 60.0 / (0.1 * rounds + 0.0061);
        assert!((chunks(idle) / expected - 1.0).abs() < 0.03, "{idle}: {} for {expected}", chunks(idle));
    }
}

#[test]
fn every_peer_of_a_swarm_uploads_and_its_acks_share_the_uplink() {
    let outcome = swarm(20, 0.5, 0);
    let done = outcome.totals("one").completions.clone().unwrap();
    let n = (done.completed - 100) as f64;
    let (expected, error) = (100.0 + n / 2.0, (n / 4.0).sqrt());
    assert!(
        (done.connections as f64 - expected).abs() < 4.0 * error + 100.0,
        "{} of {expected}",
        done.connections
    );
    let window = &outcome.run.windows[0];
    for peer in 1..=20 {
        let link = window.link(&format!("peers {peer} up")).unwrap();
        assert!(link.utilisation > 0.8, "peer {peer}: {}", link.utilisation);
    }
    // Downlinks carry the data of others and the acknowledgements of a peer's own.
    let sent: u64 = outcome.run.links.iter().map(|link| link.packets.unwrap().arrived).sum();
    assert!(sent > 2 * outcome.totals("one").packets * 13 / 10, "data and acks cross two links each");
}

#[test]
fn as_many_hosts_download_at_any_time_as_is_written() {
    let outcome = swarm(50, 0.9, 25);
    let done = outcome.totals("web").completions.clone().unwrap();
    assert_eq!(done.begun - done.completed, 25);
    // Uniform from 0 to 512 kB: four standard errors.
    let mean = done.bytes.offered as f64 / done.begun as f64;
    assert!((mean - 256e3).abs() < 4.0 * 512e3 / (12.0 * done.begun as f64).sqrt(), "{mean} B");
    assert_eq!(swarm(50, 0.9, 25), outcome, "the same every time");
}

/// A retransmission that was not needed is still on its way when its connection has closed, and the next connection begins.
#[test]
fn packets_that_outlive_their_connection_stay_on_their_way_and_are_counted_where_they_are() {
    let text = "duration = \"20 s\"\n[[hosts]]\nname = \"peers\"\ncount = 12\nup = \"10 Mbit/s\"\ndown = \"10 Mbit/s\"\n\
                queue = \"20 packets\"\nrtt = { lognormal = { mean = \"38 ms\", sigma = 0.8, clip = [\"2 ms\", \"400 ms\"] } }\n\
                [[flow]]\nname = \"one\"\nrole = \"background\"\ncontroller = \"fledbat\"\nhosts = \"peers\"\n\
                transport = { kind = \"tcp\", preset = \"classic\" }\n\
                traffic = { swarm = { chunk = \"250 kB\", persist = 0.5 } }\n\
                [[flow]]\nname = \"web\"\ncontroller = \"newreno\"\nhosts = \"peers\"\n\
                transport = { kind = \"tcp\", preset = \"classic\" }\n\
                traffic = { downloads = 6, size = { uniform = [\"0 B\", \"100 kB\"] } }\n";
    let experiment = Experiment::parse(text, "swarm", &[]).unwrap_or_else(|error| panic!("{error}"));
    for planned in experiment.runs(None, Some(5)).unwrap() {
        let outcome = run(&planned.scenario);
        let spurious: u64 = outcome.run.totals.iter().map(|totals| totals.spurious).sum();
        assert!(spurious > 0, "nothing was sent twice without need");
        assert!(outcome
            .run
            .links
            .iter()
            .all(|link| link.ledger.as_ref().is_some_and(|ledger| ledger.balances())));
    }
}
