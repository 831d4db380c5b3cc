use super::*;
use afteryou_cc::{list, Directive, Needs, Snapshot};
use proptest::prelude::*;
use quinn::congestion::Controller as _;
use std::time::Duration;

mod pacing;

const MTU: u64 = 1200;

/// The events that a controller received.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Made(u32),
    Sent(Sent),
    Ack(Ack),
    Delivered(Delivered),
    Loss(Loss),
    Timeout(Timeout),
    Idle(Idle),
    Mtu(u32),
    Wake(Time),
}

#[derive(Debug)]
struct Shared {
    told: Vec<Told>,
    cwnd: u64,
    pacing: Pacing,
    wake_at: Option<Time>,
    needs: Needs,
}

/// A controller that records its events, and has the window that the test requires.
#[derive(Clone, Debug)]
struct Scribe(Arc<Mutex<Shared>>);

impl Scribe {
    fn note(&self, told: Told) {
        self.0.lock().unwrap().told.push(told);
    }
}

impl Controller for Scribe {
    fn needs(&self) -> Needs {
        self.0.lock().unwrap().needs
    }
    fn on_delivered(&mut self, delivered: &Delivered) {
        self.note(Told::Delivered(*delivered));
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.note(Told::Sent(*sent));
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.note(Told::Ack(*ack));
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.note(Told::Loss(*loss));
    }
    fn on_timeout(&mut self, timeout: &Timeout) {
        self.note(Told::Timeout(*timeout));
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.note(Told::Idle(*idle));
    }
    fn on_mtu(&mut self, mss: u32) {
        self.note(Told::Mtu(mss));
    }
    fn on_wake(&mut self, now: Time) {
        self.0.lock().unwrap().wake_at = None;
        self.note(Told::Wake(now));
    }
    fn directive(&self) -> Directive {
        let script = self.0.lock().unwrap();
        Directive { pacing: script.pacing, wake_at: script.wake_at, ..Directive::window(script.cwnd) }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "test", cwnd: self.directive().cwnd, ..Snapshot::default() }
    }
}

/// An adapter with its scribe, called as quinn calls it.
struct Bench {
    adapter: Adapter,
    scribe: Scribe,
    start: Instant,
}

impl Bench {
    fn new() -> Bench {
        let pacing = Pacing::Window;
        let shared = Shared { told: Vec::new(), cwnd: 100 * MTU, pacing, wake_at: None, needs: Needs::NONE };
        let scribe = Scribe(Arc::new(Mutex::new(shared)));
        let copy = scribe.clone();
        let factory = Factory::of(move |setup| {
            copy.note(Told::Made(setup.mss));
            Box::new(copy.clone())
        });
        let adapter = Adapter::new(factory, MTU as u16, Monitor::default());
        Bench { adapter, scribe, start: Instant::now() + Duration::from_secs(1) }
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    fn send(&mut self, ms: u64, bytes: u64) {
        self.adapter.on_sent(self.at(ms), bytes, 0);
    }

    /// Acknowledges packets of a full MTU in one ACK frame, by when they were sent.
    fn ack(&mut self, ms: u64, sent_ms: &[u64], in_flight: u64) {
        let now = self.at(ms);
        self.adapter.note_departure();
        for sent in sent_ms {
            self.adapter.note_acked(time_of(now), time_of(self.at(*sent)), MTU);
        }
        self.adapter.on_end_acks(now, in_flight, false, None);
    }

    fn lose(&mut self, ms: u64, sent_ms: u64, persistent: bool, bytes: u64) {
        self.adapter.on_congestion_event(self.at(ms), self.at(sent_ms), persistent, bytes);
    }

    /// Returns the controller's events since the last call.
    fn told(&self) -> Vec<Told> {
        std::mem::take(&mut self.scribe.0.lock().unwrap().told)
    }

    fn acks(&self) -> Vec<Ack> {
        let ack = |told| if let Told::Ack(ack) = told { Some(ack) } else { None };
        self.told().into_iter().filter_map(ack).collect()
    }

    fn set_cwnd(&self, cwnd: u64) {
        self.scribe.0.lock().unwrap().cwnd = cwnd;
    }
}

#[test]
fn a_controller_that_needs_packets_one_by_one_gets_each_with_the_state_at_its_departure() {
    let mut bench = Bench::new();
    let [first, second] = [0, 10].map(|ms| time_of(bench.at(ms)));
    bench.scribe.0.lock().unwrap().needs = Needs { per_packet: true, ..Needs::NONE };
    bench.send(0, MTU);
    bench.send(10, MTU);
    bench.ack(50, &[0], MTU);
    bench.send(60, MTU);
    bench.told();
    bench.ack(110, &[10, 60], 0);
    let told = bench.told();
    let [Told::Delivered(one), Told::Delivered(two), Told::Ack(_)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!((one.sent.now, one.sent.packet_number, one.sent.in_flight), (second, 2, 2 * MTU));
    assert_eq!(
        (one.sent.totals.delivered, one.sent.totals.first_sent_at, one.delivered),
        (0, first, 2 * MTU)
    );
    assert_eq!(one.rtt, Some(Span::from_millis(100)));
    let totals = two.sent.totals;
    assert_eq!(
        (two.sent.packet_number, totals.delivered, totals.delivered_at),
        (3, MTU, time_of(bench.at(50)))
    );
    assert_eq!((two.delivered, two.rtt), (3 * MTU, Some(Span::from_millis(50))));
    assert!(one.may_have_waited && two.may_have_waited, "the peer's ack delay is in both");
}

#[test]
fn a_loss_has_the_state_at_the_departure_of_its_packet() {
    let mut bench = Bench::new();
    [0, 10, 20].into_iter().for_each(|ms| bench.send(ms, MTU));
    bench.ack(50, &[0], 2 * MTU);
    bench.told();
    bench.lose(70, 10, false, MTU);
    bench.send(80, MTU);
    let told = bench.told();
    let [Told::Loss(loss), Told::Sent(sent)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((loss.sent.packet_number, loss.sent.in_flight, loss.sent.totals.delivered), (2, 2 * MTU, 0));
    assert_eq!((sent.totals.delivered, sent.totals.lost), (MTU, MTU));
}

#[test]
fn a_batch_is_told_packet_by_packet() {
    let mut bench = Bench::new();
    bench.send(0, 2 * MTU + 300);
    let sent = |told: Told| match told {
        Told::Sent(sent) => Some((sent.packet_number, sent.bytes, sent.in_flight)),
        _ => None,
    };
    let told: Vec<_> = bench.told().into_iter().filter_map(sent).collect();
    assert_eq!(told, [(1, MTU, MTU), (2, MTU, 2 * MTU), (3, 300, 2 * MTU + 300)]);
}

#[test]
fn the_smallest_sample_of_an_ack_frame_is_its_round_trip_time() {
    let mut bench = Bench::new();
    [0, 10, 25].into_iter().for_each(|ms| bench.send(ms, MTU));
    bench.ack(75, &[0, 25, 10], 0);
    let [ack] = bench.acks()[..] else { panic!("one frame, one ack") };
    assert_eq!((ack.rtt, ack.smoothed_rtt), (Some(Span::from_millis(50)), Some(Span::from_millis(50))));
    assert_eq!((ack.newly_acked, ack.in_flight, ack.flightsize), (3 * MTU, 3 * MTU, 3 * MTU));
    assert_eq!((ack.packet_number, ack.sent_at), (3, time_of(bench.at(25))));
}

#[test]
fn a_round_starts_with_the_first_ack_of_what_was_sent_since_the_last_start() {
    let mut bench = Bench::new();
    [0, 1].into_iter().for_each(|ms| bench.send(ms, MTU));
    bench.ack(50, &[0], MTU); // round 1: it ends when something sent after this is acknowledged
    bench.send(50, MTU);
    bench.ack(51, &[1], MTU);
    bench.ack(100, &[50], 0);
    let starts: Vec<_> = bench.acks().into_iter().map(|ack| ack.round_start).collect();
    assert_eq!(starts, [true, false, true]);
}

#[test]
fn compressed_acks_show_no_delivery_rate_above_the_rate_of_sending() {
    let mut bench = Bench::new();
    (1..=10).for_each(|i| bench.send(10 * i, MTU));
    bench.ack(109, &[10], 9 * MTU);
    bench.send(110, MTU);
    let held: Vec<u64> = (2..=10).map(|i| 10 * i).collect();
    bench.ack(111, &held, MTU);
    bench.ack(130, &[110], 0);
    let rate = bench.acks()[2].delivery.unwrap();
    // Ten packets left in the 100 ms from the one acknowledged when it left; the acks came within 21 ms.
    assert_eq!((rate.delivered, rate.interval), (10 * MTU, Span::from_millis(100)));
    assert_eq!((rate.in_flight_at_send, rate.app_limited), (10 * MTU, false));
}

#[test]
fn a_delivery_rate_does_not_span_the_idle_time_before_it() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.ack(50, &[0], 0);
    bench.send(5000, MTU);
    bench.ack(5050, &[5000], 0);
    let rates: Vec<_> = bench.acks().into_iter().map(|ack| ack.delivery.unwrap()).collect();
    assert!(
        rates.iter().all(|rate| (rate.delivered, rate.interval) == (MTU, Span::from_millis(50))),
        "{rates:?}"
    );
}

#[test]
fn app_limited_is_passed_on() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.adapter.note_acked(time_of(bench.at(50)), time_of(bench.at(0)), MTU);
    bench.adapter.on_end_acks(bench.at(50), 0, true, None);
    assert!(bench.acks()[0].app_limited);
}

#[test]
fn an_ecn_event_is_a_mark_and_acknowledges_nothing() {
    let mut bench = Bench::new();
    bench.send(0, 3 * MTU);
    bench.ack(50, &[0], 2 * MTU);
    bench.told();
    bench.lose(50, 0, false, 0);
    let [mark] = bench.acks()[..] else { panic!("one mark") };
    assert_eq!((mark.marks, mark.delivered(), mark.rtt), (Marks::Echo, 0, None));
    assert_eq!((mark.in_flight, mark.packet_number), (2 * MTU, 3));
    assert_eq!(bench.adapter.monitor().status().marked_frames, 1);
}

#[test]
fn a_loss_has_the_number_of_the_newest_lost_packet() {
    let mut bench = Bench::new();
    [0, 1, 2, 3, 4].into_iter().for_each(|ms| bench.send(ms, MTU));
    bench.ack(50, &[4], 4 * MTU);
    bench.told();
    bench.lose(50, 2, false, 2 * MTU);
    let told = bench.told();
    let [Told::Loss(loss)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((loss.now, loss.flightsize, loss.persistent), (time_of(bench.at(50)), 4 * MTU, false));
    assert_eq!((loss.sent.now, loss.sent.bytes), (time_of(bench.at(2)), 2 * MTU));
    assert_eq!(
        (loss.sent.packet_number, loss.sent.in_flight),
        (3, 3 * MTU),
        "the state when that packet left"
    );
    assert_eq!(bench.adapter.monitor().status().in_flight, 2 * MTU);
}

#[test]
fn persistent_congestion_is_a_loss_and_then_a_timeout_that_is_not_the_first() {
    let mut bench = Bench::new();
    bench.send(0, 4 * MTU);
    bench.told();
    bench.lose(5000, 0, true, 4 * MTU);
    let told = bench.told();
    assert!(matches!(
        told[..],
        [Told::Loss(Loss { persistent: true, .. }), Told::Timeout(Timeout { consecutive: 2, .. })]
    ));
}

/// Returns a controller of that name with a window of 40 packets, 20 of them in flight since time 0.
fn grown(name: &str) -> Bench {
    let mut bench = Bench::new();
    let entry = list::find(name).unwrap();
    bench.adapter = Adapter::new(Factory::new(entry, &[]).unwrap(), MTU as u16, Monitor::default());
    bench.send(0, MTU);
    let mut ms = 0;
    while bench.adapter.window() < 40 * MTU {
        assert!(ms < 600_000, "{name} does not grow: {}", bench.adapter.window());
        let packets = bench.adapter.window() / MTU;
        bench.send(ms, packets * MTU);
        bench.ack(ms + 50, &vec![ms; packets as usize], 0);
        ms += 50;
    }
    bench.send(ms, 20 * MTU);
    bench.ack(ms + 50, &[ms], 19 * MTU);
    bench.start += Duration::from_millis(ms);
    bench
}

#[test]
fn many_loss_events_in_one_round_trip_reduce_the_window_once() {
    for name in ["ledbat++", "cubic", "newreno"] {
        let mut bench = grown(name);
        let before = bench.adapter.window();
        bench.lose(50, 0, false, MTU);
        let after = bench.adapter.window();
        assert!(after < before * 3 / 4, "{name}: {before} to {after}");
        (51..60).for_each(|ms| bench.lose(ms, 0, false, MTU));
        assert_eq!(bench.adapter.window(), after, "{name}");
        bench.send(61, MTU);
        bench.lose(111, 61, false, MTU);
        assert!(bench.adapter.window() < after, "{name}: a loss of the next round trip counts");
    }
}

#[test]
fn persistent_congestion_collapses_the_window_of_every_controller() {
    for entry in list::CONTROLLERS {
        let mut bench = grown(entry.name);
        bench.lose(2000, 0, true, 19 * MTU);
        let window = bench.adapter.window();
        assert!(window <= 2 * MTU + 1, "{}: {window}", entry.name);
    }
}

#[test]
fn a_window_of_two_packets_lets_two_packets_leave() {
    let bench = Bench::new();
    bench.set_cwnd(2 * MTU);
    // quinn sends while in_flight + packet < window.
    let may_send = |in_flight| in_flight + MTU < bench.adapter.window();
    assert!(may_send(0) && may_send(MTU) && !may_send(MTU + 1) && !may_send(2 * MTU));
}

#[test]
fn a_window_below_one_packet_still_lets_one_leave() {
    let bench = Bench::new();
    for cwnd in [0, 1, MTU - 1, MTU] {
        bench.set_cwnd(cwnd);
        assert_eq!(bench.adapter.window(), MTU + 1);
    }
    bench.set_cwnd(u64::MAX);
    assert_eq!(bench.adapter.window(), u64::MAX);
}

#[test]
fn the_window_is_that_of_this_moment_whoever_changed_it() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    for cwnd in [7 * MTU, 3 * MTU, 11 * MTU] {
        bench.set_cwnd(cwnd);
        assert_eq!(bench.adapter.window(), cwnd + 1);
    }
}

#[test]
fn silence_with_nothing_in_flight_is_idle_and_silence_with_something_is_not() {
    let mut bench = Bench::new();
    bench.send(0, 2 * MTU);
    bench.ack(50, &[0], MTU);
    bench.send(3000, MTU);
    bench.ack(3050, &[3000], 0);
    assert!(!bench.told().iter().any(|told| matches!(told, Told::Idle(_))));
    bench.send(9050, MTU);
    let idle = bench.told().into_iter().find_map(|told| match told {
        Told::Idle(idle) => Some(idle),
        _ => None,
    });
    let idle = idle.expect("six seconds of silence");
    assert_eq!((idle.idle_for, idle.now), (Span::from_millis(6050), time_of(bench.at(9050))));
    assert!(idle.rto >= MIN_RTO && idle.rto < Span::from_secs(1));
}

#[test]
fn a_pause_of_any_length_is_idle_and_an_ack_that_sends_the_next_packet_ends_none() {
    for (pause_ms, idles) in [(0, 0), (1, 1), (150, 1)] {
        let mut bench = Bench::new();
        bench.send(0, MTU);
        bench.ack(50, &[0], 0);
        bench.send(50 + pause_ms, MTU);
        let told = bench.told();
        let idle: Vec<Span> = told
            .iter()
            .filter_map(|told| if let Told::Idle(idle) = told { Some(idle.idle_for) } else { None })
            .collect();
        assert_eq!(idle, vec![Span::from_millis(50 + pause_ms); idles]);
    }
}

#[test]
fn keep_alives_and_acknowledgements_do_not_end_an_idle_time() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.ack(50, &[0], 0);
    for second in 1..5 {
        bench.send(second * 1000, 40);
        bench.ack(second * 1000 + 50, &[second * 1000], 0);
    }
    bench.send(5050, MTU);
    let told = bench.told();
    let idle =
        told.iter().find_map(|told| if let Told::Idle(idle) = told { Some(idle.idle_for) } else { None });
    assert_eq!(idle, Some(Span::from_millis(5050)));
}

#[test]
fn acknowledgements_alone_do_not_pile_up_as_bytes_in_flight() {
    let mut bench = Bench::new();
    bench.set_cwnd(4 * MTU);
    (0..10_000).for_each(|ms| bench.send(ms, 40));
    assert_eq!(bench.adapter.path.in_flight, 4 * MTU);
}

#[test]
fn a_controller_is_woken_by_the_first_call_after_its_time() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.scribe.0.lock().unwrap().wake_at = Some(time_of(bench.at(20)));
    bench.told();
    bench.send(19, MTU);
    bench.ack(30, &[0], MTU);
    bench.send(31, MTU);
    let told = bench.told();
    let woken: Vec<_> = told.iter().filter(|told| matches!(told, Told::Wake(_))).collect();
    assert_eq!(woken, [&Told::Wake(time_of(bench.at(30)))]);
    assert!(matches!(told[..], [Told::Sent(_), Told::Wake(_), Told::Ack(_), Told::Sent(_)]), "{told:?}");
}

#[test]
fn a_new_mtu_is_the_controllers_new_packet() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.told();
    bench.adapter.on_mtu_update(1452);
    assert_eq!(bench.told(), [Told::Mtu(1452)]);
    bench.set_cwnd(0);
    assert_eq!(bench.adapter.window(), 1453);
}

#[test]
fn a_copy_begins_anew_when_it_is_used_and_keeps_the_monitor() {
    let mut bench = Bench::new();
    bench.send(0, MTU);
    bench.ack(50, &[0], 0);
    let monitor = bench.adapter.monitor().clone();
    bench.told();

    let copy = bench.adapter.clone_box().into_any().downcast::<Adapter>().unwrap();
    assert_eq!(bench.told(), [], "looking makes no controller");
    bench.adapter = *copy;
    bench.adapter.on_mtu_update(1400);
    assert_eq!(bench.told(), [Told::Made(1400), Told::Mtu(1400)]);
    bench.send(100, 1400);
    bench.ack(130, &[100], 0);
    let status = monitor.status();
    assert_eq!((status.paths, status.acked_bytes, status.mtu), (2, 2 * MTU, 1400));
    assert_eq!(status.min_rtt, Some(Span::from_millis(30)), "of the new path alone");
}

#[test]
fn what_was_sent_on_the_old_path_says_nothing_about_the_new_one() {
    let mut bench = Bench::new();
    bench.send(0, 4 * MTU);
    let copy = bench.adapter.clone_box().into_any().downcast::<Adapter>().unwrap();
    bench.adapter = *copy;
    bench.ack(60, &[0], MTU);
    bench.send(100, MTU);
    bench.told();
    bench.ack(110, &[0], MTU);
    bench.lose(110, 0, true, MTU);
    bench.lose(110, 0, false, 0);
    assert_eq!(bench.told(), []);
    bench.ack(130, &[0, 100], 0);
    assert_eq!(bench.acks().iter().map(|ack| ack.newly_acked).sum::<u64>(), MTU);
}

#[test]
fn the_monitor_shows_the_state_after_the_latest_frame() {
    let mut bench = Bench::new();
    let monitor = bench.adapter.monitor().clone();
    assert_eq!(monitor.status(), Status::default());
    bench.send(0, 3 * MTU);
    bench.ack(40, &[0, 0], MTU);
    bench.lose(41, 0, false, MTU);
    let status = monitor.status();
    assert_eq!((status.acked_bytes, status.lost_bytes, status.in_flight), (2 * MTU, MTU, 0));
    assert_eq!((status.smoothed_rtt, status.snapshot.phase), (Some(Span::from_millis(40)), "test"));
    assert_eq!((status.mtu, status.paths), (MTU as u16, 1));
}

/// One call of quinn, whatever its order and arguments.
#[derive(Clone, Debug)]
enum Call {
    Sent { bytes: u64 },
    Acked { back_ms: u64, bytes: u64 },
    EndAcks { in_flight: u64, app_limited: bool },
    Congestion { back_ms: u64, persistent: bool, bytes: u64 },
    Mtu(u16),
    Copy,
    Wait(u64),
}

fn call() -> impl Strategy<Value = Call> {
    let bytes = prop_oneof![Just(0), 1..20_000_u64, Just(u64::MAX)];
    prop_oneof![
        4 => bytes.clone().prop_map(|bytes| Call::Sent { bytes }),
        4 => (0..5000_u64, bytes.clone()).prop_map(|(back_ms, bytes)| Call::Acked { back_ms, bytes }),
        4 => (bytes.clone(), any::<bool>())
            .prop_map(|(in_flight, app_limited)| Call::EndAcks { in_flight, app_limited }),
        2 => (0..5000_u64, any::<bool>(), bytes)
            .prop_map(|(back_ms, persistent, bytes)| Call::Congestion { back_ms, persistent, bytes }),
        1 => any::<u16>().prop_map(Call::Mtu),
        1 => Just(Call::Copy),
        4 => (0..3000_u64).prop_map(Call::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn whatever_quinn_calls_the_window_holds_a_packet_and_counts_stay_sane(
        which in 0..list::CONTROLLERS.len(),
        calls in prop::collection::vec(call(), 0..200),
    ) {
        let factory = Factory::new(&list::CONTROLLERS[which], &[]).unwrap();
        let mut adapter = Adapter::new(factory, MTU as u16, Monitor::default());
        let (start, mut ms) = (Instant::now(), 10_000);
        let at = |ms| start + Duration::from_millis(ms);
        for call in calls {
            let before = adapter.path.in_flight;
            match call {
                Call::Sent { bytes } => adapter.on_sent(at(ms), bytes.min(1 << 20), 0),
                Call::Acked { back_ms, bytes } => {
                    adapter.note_acked(time_of(at(ms)), time_of(at(ms - back_ms)), bytes.min(65_535));
                }
                Call::EndAcks { in_flight, app_limited } => {
                    adapter.on_end_acks(at(ms), in_flight, app_limited, None);
                }
                Call::Congestion { back_ms, persistent, bytes } => {
                    adapter.on_congestion_event(at(ms), at(ms - back_ms), persistent, bytes);
                }
                Call::Mtu(mtu) => adapter.on_mtu_update(mtu.max(1200)),
                Call::Copy => adapter = *adapter.clone_box().into_any().downcast().unwrap(),
                Call::Wait(more) => ms += more,
            }
            let window = adapter.window();
            prop_assert!(window > u64::from(adapter.mtu), "{window}");
            let after = adapter.path.in_flight;
            let sane = match call {
                Call::Sent { .. } => after >= before,
                Call::EndAcks { in_flight, .. } => after == in_flight,
                Call::Copy => after == 0,
                _ => after <= before,
            };
            prop_assert!(sane, "{call:?}: {before} to {after}");
        }
    }
}
