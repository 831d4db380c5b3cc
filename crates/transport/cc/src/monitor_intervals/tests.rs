use super::*;
use proptest::prelude::*;

const BYTES: u64 = 1000;
const RATE: f64 = 1e6;
const RTT: Span = Span::from_millis(50);

/// Returns a packet that leaves at this time; packets of [`RATE`] are a millisecond apart.
fn packet(ms: u64) -> Sent {
    Sent { now: Time::from_millis(ms), bytes: BYTES, ..Sent::default() }
}

/// Returns a queue with one interval that has ended, of packets that left in these milliseconds.
fn sent(times: impl IntoIterator<Item = u64>) -> MonitorIntervals {
    let mut queue = MonitorIntervals::default();
    queue.begin(RATE);
    times.into_iter().for_each(|ms| queue.on_sent(&packet(ms)));
    queue.end();
    queue
}

fn report(queue: &MonitorIntervals) -> Report {
    assert!(queue.are_known(1), "{queue:?}");
    queue.reports().next().expect("an interval")
}

#[test]
fn bytes_are_divided_by_the_time_from_the_first_packet_to_the_end_of_the_last() {
    let mut queue = sent(100..150);
    (100..140).for_each(|ms| queue.on_delivered(&packet(ms)));
    (140..150).for_each(|ms| queue.on_loss(&packet(ms)));
    let report = report(&queue);
    assert!((report.duration - 0.05).abs() < 1e-12, "{report:?}");
    assert!((report.rate - RATE).abs() < 1e-6 && (report.throughput - 0.8 * RATE).abs() < 1e-6, "{report:?}");
    assert_eq!((report.loss, report.asked), (0.2, RATE));
}

#[test]
fn a_result_is_known_with_the_last_of_its_packets() {
    let mut queue = sent(100..110);
    for ms in 100..109 {
        queue.on_delivered(&packet(ms));
        assert!(!queue.are_known(1), "with the packet of {ms} ms");
    }
    queue.on_loss(&packet(109));
    assert!(queue.are_known(1));
}

#[test]
fn packets_of_other_times_change_nothing() {
    let mut queue = sent(100..110);
    for ms in [99, 110, 500] {
        queue.on_delivered(&packet(ms));
        queue.on_loss(&packet(ms));
        queue.on_rtt(Time::from_millis(ms), RTT, true);
    }
    assert_eq!(
        queue.reports().next().map(|report| (report.throughput, report.loss, report.samples)),
        Some((0.0, 0.0, 0))
    );
}

#[test]
fn a_loss_that_was_none_is_taken_back() {
    let mut queue = sent(100..110);
    (100..110).for_each(|ms| queue.on_loss(&packet(ms)));
    queue.on_spurious_loss(&packet(103));
    assert_eq!(report(&queue).loss, 0.9);
}

#[test]
fn packets_that_nobody_reports_are_lost_once_one_of_two_round_trips_later_has_arrived() {
    let mut queue = sent(100..110);
    (100..108).for_each(|ms| queue.on_delivered(&packet(ms)));
    queue.expire(Time::from_millis(209), RTT);
    assert!(!queue.are_known(1));
    queue.expire(Time::from_millis(210), RTT);
    assert_eq!(report(&queue).loss, 0.2);
}

#[test]
fn a_queue_that_grows_is_a_gradient_with_a_deviation_and_no_error() {
    // 2 ms more in each 100 ms, from packet to packet.
    let mut queue = sent(100..200);
    for ms in 100..200 {
        queue.on_delivered(&packet(ms));
        queue.on_rtt(Time::from_millis(ms), RTT + Span::from_micros(20 * (ms - 100)), true);
    }
    let report = report(&queue);
    assert!((report.gradient - 0.02).abs() < 1e-9 && report.error < 1e-6, "{report:?}");
    assert!((report.deviation - 0.002 / 12f64.sqrt()).abs() < 1e-6, "{report:?}");
    assert!((report.mean_rtt - 0.05099).abs() < 1e-9, "{report:?}");
}

#[test]
fn samples_that_do_not_count_are_in_no_line() {
    let mut queue = sent(100..110);
    for ms in 100..110 {
        queue.on_delivered(&packet(ms));
        let is_burst = ms > 106;
        queue.on_rtt(Time::from_millis(ms), if is_burst { RTT * 9 } else { RTT }, !is_burst);
    }
    assert_eq!((report(&queue).samples, report(&queue).gradient, report(&queue).deviation), (7, 0.0, 0.0));
}

/// Returns when an interval that begins at 100 ms ends, if samples of its packets come a round trip after them. A packet leaves and an
/// ack comes in every millisecond.
fn ends_at(counts: impl Fn(u64) -> Option<bool>) -> Option<u64> {
    let mut queue = MonitorIntervals::default();
    queue.begin(RATE);
    (100..1000).find(|ms| {
        if let Some(counts) = counts(*ms) {
            queue.on_rtt(Time::from_millis(ms - 50), RTT, counts);
        }
        queue.end_if_due(Time::from_millis(*ms), RTT, RTT);
        queue.on_sent(&packet(*ms));
        !queue.is_open
    })
}

#[test]
fn an_interval_ends_with_four_samples_after_its_duration() {
    assert_eq!(ends_at(|_| Some(true)), Some(153), "acks of 100 to 103 ms");
    // Every third ack counts: twice the duration.
    assert_eq!(ends_at(|ms| Some(ms % 3 == 0)), Some(200));
    assert_eq!(ends_at(|_| None), Some(300), "four round trips without any sample");
}

#[test]
fn packets_of_one_instant_belong_to_one_interval() {
    let mut queue = MonitorIntervals::default();
    queue.begin(RATE);
    (0..20).for_each(|_| queue.on_sent(&packet(100)));
    (0..9).for_each(|_| queue.on_rtt(Time::from_millis(100), RTT, true));
    queue.end_if_due(Time::from_millis(100), Span::ZERO, Span::ZERO);
    assert!(queue.is_open);
    queue.end_if_due(Time::from_millis(101), Span::ZERO, Span::ZERO);
    assert!(!queue.is_open);
}

#[test]
fn an_interval_without_packets_is_forgotten_and_a_full_queue_takes_no_further_one() {
    let mut queue = MonitorIntervals::default();
    queue.begin(RATE);
    queue.begin(2.0 * RATE);
    assert_eq!((queue.len(), queue.open_rate()), (1, Some(2.0 * RATE)));
    for i in 0..10 {
        queue.begin(RATE);
        queue.on_sent(&packet(100 + i));
    }
    assert_eq!((queue.len(), queue.open_rate()), (MOST_INTERVALS, None));
}

proptest! {
    #[test]
    fn each_packet_counts_once_whatever_the_order_of_reports(
        bounds in prop::collection::vec(1..40u64, 1..=MOST_INTERVALS),
        order in Just((0..240u64).collect::<Vec<_>>()).prop_shuffle(),
        losses in prop::collection::vec(any::<bool>(), 240),
    ) {
        let mut queue = MonitorIntervals::default();
        let mut now = 0;
        for packets in &bounds {
            queue.begin(RATE);
            for _ in 0..*packets {
                queue.on_sent(&packet(now));
                now += 1;
            }
        }
        queue.end();
        let lost = |ms: u64| losses[ms as usize];
        for ms in order.into_iter().filter(|ms| *ms < now) {
            prop_assert!(!queue.are_known(bounds.len()));
            if lost(ms) { queue.on_loss(&packet(ms)) } else { queue.on_delivered(&packet(ms)) }
        }
        prop_assert!(queue.are_known(bounds.len()));
        let mut first = 0;
        for (report, packets) in queue.reports().zip(&bounds) {
            let share = (first..first + packets).filter(|ms| lost(*ms)).count() as f64 / *packets as f64;
            prop_assert!((report.loss - share).abs() < 1e-12, "{report:?}");
            prop_assert!((report.rate - RATE).abs() < 1e-6, "{report:?}");
            prop_assert!((report.throughput - (1.0 - share) * RATE).abs() < 1e-6, "{report:?}");
            first += packets;
        }
    }
}
