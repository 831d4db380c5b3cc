use super::*;
use afteryou_base::param::Settings;
use afteryou_cc::newreno::{NewReno, PARAMS};
use afteryou_cc::{Needs, Snapshot, SpuriousLoss};
use std::sync::{Arc, Mutex};

const PACKET: u64 = 1000;
const RTT: Span = Span::from_millis(100);

/// Calls of a controller.
#[derive(Debug, Default)]
struct Calls {
    idle: Vec<Span>,
    /// Number of the packet, and whether the recovery is undone.
    spurious: Vec<(u64, bool)>,
    wakes: u64,
}

/// A controller that keeps its directive and records its calls.
#[derive(Debug)]
struct Fixed {
    directive: Directive,
    calls: Arc<Mutex<Calls>>,
}

impl Controller for Fixed {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn on_idle(&mut self, idle: &Idle) {
        self.calls.lock().unwrap().idle.push(idle.idle_for);
    }
    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.calls.lock().unwrap().spurious.push((spurious.sent.packet_number, spurious.undo));
    }
    fn on_wake(&mut self, _: Time) {
        self.calls.lock().unwrap().wakes += 1;
        self.directive.wake_at = None;
    }
    fn directive(&self) -> Directive {
        self.directive
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Returns an established connection with a round-trip time of 100 ms.
fn congestion(directive: Directive) -> (Congestion, Arc<Mutex<Calls>>) {
    let calls = Arc::default();
    let controller = Fixed { directive, calls: Arc::clone(&calls) };
    let mut congestion = Congestion::new(Box::new(controller), PACKET as u32);
    congestion.start(Time::ZERO);
    congestion.take_rtt(RTT);
    (congestion, calls)
}

/// Sends as much as pacing lets go until `ms`, 1 ms after another. Returns the number of packets.
fn packets_until(congestion: &mut Congestion, board: &mut Board, ms: u64) -> u64 {
    let before = board.next_number();
    for now in (0..ms).map(at) {
        while congestion.pacing_allows(now) && board.next_number() < before + 1000 {
            board.send_new(now, PACKET as u16);
            congestion.sent(board, now, PACKET);
        }
    }
    board.next_number() - before
}

#[test]
fn a_window_is_paced_with_headroom_and_a_window_below_one_packet_is_its_spacing() {
    // Bytes of the window, slow start, packets in ten round trips.
    for (cwnd, growing, packets) in
        [(10_000, false, 125), (10_000, true, 200), (500, false, 5), (500, true, 5)]
    {
        let (mut congestion, _) = congestion(Directive::growing_window(cwnd, growing));
        let sent = packets_until(&mut congestion, &mut Board::new(Needs::NONE), 1000);
        assert!(sent.abs_diff(packets) <= 2, "{sent} of {packets}");
    }
}

#[test]
fn a_rate_is_kept_whatever_the_window_and_unpaced_windows_leave_at_once() {
    let directive = Directive { pacing: Pacing::Rate(50_000), ..Directive::window(10_000) };
    let (rated, _) = congestion(directive);
    let sent = packets_until(&mut rated.pacing_small_windows_only(), &mut Board::new(Needs::NONE), 1000);
    assert!(sent.abs_diff(50) <= 2, "{sent}");
    let (unpaced, _) = congestion(Directive::window(10_000));
    assert_eq!(
        packets_until(&mut unpaced.pacing_small_windows_only(), &mut Board::new(Needs::NONE), 1),
        1000
    );
    let (small, _) = congestion(Directive::window(500));
    let sent = packets_until(&mut small.pacing_small_windows_only(), &mut Board::new(Needs::NONE), 1000);
    assert!(sent.abs_diff(5) <= 1, "{sent}");
}

#[test]
fn a_sender_that_runs_late_sends_its_window_in_each_round_trip_and_an_idle_one_earns_no_burst() {
    let (mut congestion, _) = congestion(Directive::window(50 * PACKET));
    let mut board = Board::new(Needs::NONE);
    let mut send_at = |now, most: u64| {
        congestion.clear_pacing_deadline(now);
        let before = board.next_number();
        while board.next_number() < before + most && congestion.pacing_allows(now) {
            board.send_new(now, PACKET as u16);
            congestion.sent(&board, now, PACKET);
        }
        board.next_number() - before
    };
    // It runs every 20 ms, a fifth of the round trip: 62.5 packets in 100 ms are due.
    let sent: u64 = (1..=50).map(|run| send_at(at(20 * run), 1000)).sum();
    assert!((610..=630).contains(&sent), "{sent} packets in ten round trips");
    // Nothing waited after the last packet, for there was none.
    send_at(at(1020), 5);
    let burst = send_at(at(1100), 1000);
    assert!(burst <= 3, "{burst} packets at once");
}

#[test]
fn nothing_in_flight_lets_one_packet_go_however_small_the_window() {
    let (congestion, _) = congestion(Directive::window(500));
    assert!(congestion.has_room(PACKET, 0, false) && !congestion.has_room(PACKET, 0, true));
}

#[test]
fn a_packet_that_a_small_window_spaced_waits_by_the_window_of_now() {
    let (mut congestion, _) = congestion(Directive::window(100));
    let mut board = Board::new(Needs::NONE);
    board.send_new(at(0), PACKET as u16);
    congestion.sent(&board, at(0), PACKET);
    assert!(!congestion.pacing_allows(at(1)));
    assert_eq!(congestion.pacing_deadline(), at(1000));
    congestion.directive.cwnd = 2 * PACKET;
    congestion.hasten(at(1));
    assert!(congestion.pacing_allows(at(1 + 40)), "1.25 windows of two packets in a round trip");
}

#[test]
fn silence_counts_as_idle_from_the_last_packet_or_from_when_the_pacer_let_the_next_one_go() {
    for (cwnd, idle_for) in [(10 * PACKET, 2000), (PACKET / 10, 1000)] {
        let (mut congestion, calls) = congestion(Directive::window(cwnd));
        congestion.resume(at(0), Time::ZERO, RTT);
        let mut board = Board::new(Needs::NONE);
        board.send_new(at(0), PACKET as u16);
        congestion.sent(&board, at(0), PACKET);
        congestion.resume(at(2000), at(2000), RTT);
        assert_eq!(
            calls.lock().unwrap().idle,
            [],
            "before the first packet, or with the ack of the last one"
        );
        congestion.resume(at(2000), at(100), RTT);
        let idle = calls.lock().unwrap().idle.clone();
        // The packet itself takes its spacing: 8 ms at 1.25 windows of ten packets in a round trip, less the burst allowance.
        assert_eq!(idle.len(), 1);
        assert!(idle[0].as_micros().abs_diff(idle_for * 1000) <= 8_000, "{idle:?}");
    }
}

/// Returns a connection in recovery from the losses of transmissions 0 and 1.
fn recovery(directive: Directive) -> (Congestion, Arc<Mutex<Calls>>) {
    let (mut congestion, calls) = congestion(directive);
    lose(&mut congestion, &[0, 1]);
    (congestion, calls)
}

/// Loses these transmissions, of ten in flight.
fn lose(congestion: &mut Congestion, numbers: &[u64]) {
    let all = 10 * PACKET;
    let before = Before { flightsize: all, in_flight: all, recover_fs: all };
    let found = Found { now: at(100), flightsize: all, before, point: 10, in_proportion: true };
    let flight = |number: &u64| Flight { number: *number, seq: *number, bytes: PACKET, ..Flight::default() };
    let lost: Vec<Flight> = numbers.iter().map(flight).collect();
    congestion.lost(&found, lost.iter().map(|flight| (flight, true)));
}

/// A window that each loss halves.
#[derive(Debug)]
struct Halving(u64);

impl Controller for Halving {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {
        self.0 /= 2;
    }
    fn on_timeout(&mut self, _: &Timeout) {
        self.0 = PACKET;
    }
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> Directive {
        Directive::window(self.0)
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

#[test]
fn a_further_loss_in_a_recovery_begins_a_new_account_with_a_retransmission_at_once() {
    let timed_out = |congestion: &mut Congestion| {
        congestion.timed_out(&Timeout { now: at(90), flightsize: 10 * PACKET, consecutive: 1 }, 10, None);
    };
    let lost = |congestion: &mut Congestion| lose(congestion, &[0]);
    for begin in [&lost as &dyn Fn(&mut Congestion), &timed_out] {
        let mut congestion = Congestion::new(Box::new(Halving(20 * PACKET)), PACKET as u32);
        begin(&mut congestion);
        congestion.episode_mut().unwrap().resend();
        assert!(!congestion.forces_retransmission());
        lose(&mut congestion, &[5]);
        assert!(congestion.forces_retransmission(), "the oldest loss goes at once");
        congestion.refresh();
        congestion.reduce(PACKET, 8 * PACKET, false);
        assert_eq!(congestion.window() / PACKET, 9);
    }
}

#[test]
fn a_timeout_was_needless_if_the_first_ack_after_it_echoes_a_time_before_it() {
    let first = Flight { number: 3, seq: 3, bytes: PACKET, ..Flight::default() };
    for (expiries, echoed_ms, needless) in [(1, 399, true), (1, 400, false), (3, 399, true), (3, 500, false)]
    {
        let (mut congestion, calls) = congestion(Directive::window(5 * PACKET));
        for consecutive in 1..=expiries {
            let timeout =
                Timeout { now: at(300 + 100 * u64::from(consecutive)), flightsize: 10 * PACKET, consecutive };
            congestion.timed_out(&timeout, 10, Some(first));
        }
        assert_eq!(congestion.judge_timeout(at(900), at(echoed_ms)), needless, "{echoed_ms} ms");
        assert_eq!(congestion.episode().is_none(), needless);
        let reported: &[(u64, bool)] = if needless { &[(3, true)] } else { &[] };
        assert_eq!(calls.lock().unwrap().spurious, reported);
        assert!(!congestion.judge_timeout(at(901), at(1)), "the first ack shows it");
    }
}

#[test]
fn a_recovery_is_undone_with_the_last_of_its_losses_and_every_packet_is_named() {
    let (mut congestion, calls) = recovery(Directive::window(5 * PACKET));
    congestion.arrived_late(at(110), &[1]);
    congestion.arrived_late(at(111), &[7]);
    assert!(congestion.episode().is_some(), "0 may be lost, and 7 was not lost in this recovery");
    congestion.arrived_late(at(112), &[0]);
    assert_eq!(calls.lock().unwrap().spurious, [(1, false), (0, true)]);
    assert!(congestion.episode().is_none());
}

/// Returns a NewReno with a window of ten packets that has lost transmission 0 at 100 ms, and its retransmission 11 at 200
/// ms.
fn two_cuts() -> Congestion {
    let mut congestion =
        Congestion::new(Box::new(NewReno::new(&Settings::defaults(PARAMS), PACKET as u32)), PACKET as u32);
    congestion.take_rtt(RTT);
    for (now, number) in [(100, 0), (200, 11)] {
        let flight = Flight { number, seq: 0, bytes: PACKET, sent_at: at(now - 50), ..Flight::default() };
        let before = Before { flightsize: 10 * PACKET, in_flight: 10 * PACKET, recover_fs: 10 * PACKET };
        let found = Found { now: at(now), flightsize: 10 * PACKET, before, point: 10, in_proportion: true };
        congestion.lost(&found, [(&flight, true)].into_iter());
        congestion.refresh();
    }
    assert_eq!(congestion.cwnd(), 2_500);
    congestion
}

#[test]
fn of_two_cuts_in_a_recovery_the_second_or_both_are_taken_back() {
    let mut congestion = two_cuts();
    congestion.arrived_late(at(210), &[11]);
    assert_eq!(congestion.cwnd(), 5_000, "the first loss may be real");
    assert!(congestion.episode().is_some());
    congestion.arrived_late(at(220), &[0]);
    assert_eq!(congestion.cwnd(), 10_000);
    assert!(congestion.episode().is_none());

    let mut congestion = two_cuts();
    congestion.arrived_late(at(210), &[0]);
    assert_eq!(congestion.cwnd(), 2_500, "the second loss may be real");
    congestion.arrived_late(at(220), &[11]);
    assert_eq!(congestion.cwnd(), 10_000);
}

#[test]
fn a_needless_timeout_in_a_recovery_gives_back_the_window_after_the_loss_or_before_it() {
    for loss_was_none in [false, true] {
        let (mut congestion, first) = (two_cuts(), Flight { number: 12, seq: 0, ..Flight::default() });
        let timeout = Timeout { now: at(600), flightsize: 10 * PACKET, consecutive: 1 };
        congestion.timed_out(&timeout, 10, Some(first));
        assert_eq!(congestion.cwnd(), PACKET);
        assert!(congestion.judge_timeout(at(610), at(599)));
        assert_eq!(congestion.cwnd(), 2_500);
        if loss_was_none {
            congestion.arrived_late(at(620), &[0, 11]);
            assert_eq!(congestion.cwnd(), 10_000);
        }
    }
}

#[test]
fn a_loss_of_the_recovery_before_that_was_none_is_taken_back_in_the_next() {
    let mut congestion = two_cuts();
    congestion.arrived_late(at(210), &[11]);
    assert!(congestion.advance(10));
    let flight = Flight { number: 20, seq: 12, bytes: PACKET, sent_at: at(250), ..Flight::default() };
    let before = Before { flightsize: 5 * PACKET, in_flight: 5 * PACKET, recover_fs: 5 * PACKET };
    let found = Found { now: at(300), flightsize: 5 * PACKET, before, point: 20, in_proportion: true };
    congestion.lost(&found, [(&flight, true)].into_iter());
    congestion.refresh();
    congestion.arrived_late(at(310), &[0]);
    assert_eq!(congestion.cwnd(), 2_500, "20 may be lost");
    congestion.arrived_late(at(320), &[20]);
    assert_eq!(congestion.cwnd(), 10_000);
}

#[test]
fn duplicates_of_every_lost_packet_undo_a_recovery_even_after_its_end() {
    for is_over in [false, true] {
        let (mut congestion, calls) = recovery(Directive::window(5 * PACKET));
        assert_eq!(congestion.arrived_twice(at(200), (0, 1)), 0);
        assert_eq!(congestion.advance(if is_over { 10 } else { 9 }), is_over);
        assert_eq!(congestion.arrived_twice(at(201), (1, 2)), 2, "losses that were none");
        assert_eq!(calls.lock().unwrap().spurious, [(0, false), (1, true)]);
    }
}

#[test]
fn a_duplicate_of_a_packet_that_its_retransmission_repaired_undoes_nothing() {
    let (mut congestion, calls) = recovery(Directive::window(5 * PACKET));
    congestion.repaired(&[(1, 11)]);
    assert_eq!(congestion.arrived_twice(at(201), (0, 2)), 0);
    assert!(congestion.advance(10));
    assert_eq!(congestion.arrived_twice(at(202), (0, 2)), 0);
    assert_eq!(calls.lock().unwrap().spurious, []);
}

#[test]
fn nothing_is_undone_after_a_timeout() {
    let (mut timed_out, calls) = recovery(Directive::window(5 * PACKET));
    timed_out.timed_out(&Timeout { now: at(400), flightsize: 10 * PACKET, consecutive: 1 }, 10, None);
    timed_out.arrived_late(at(401), &[0, 1]);
    assert_eq!(calls.lock().unwrap().spurious, []);
    assert!(timed_out.episode().is_some(), "until everything sent before is acknowledged");
}

#[test]
fn the_window_in_a_recovery_is_prrs_unless_the_controller_takes_it_over() {
    for (whose, window) in [(RecoveryWindow::Transport, 9), (RecoveryWindow::Controller, 5)] {
        let (mut congestion, _) = recovery(Directive { recovery: whose, ..Directive::window(5 * PACKET) });
        congestion.reduce(PACKET, 8 * PACKET, false);
        assert_eq!(congestion.window() / PACKET, window);
        congestion.advance(10);
        assert_eq!(congestion.window() / PACKET, 5);
    }
}

/// A controller that asks for a time and never for another one.
#[derive(Debug)]
struct Stuck;

impl Controller for Stuck {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> Directive {
        Directive { wake_at: Some(at(5)), ..Directive::window(PACKET) }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

#[test]
fn a_time_that_a_controller_never_moves_wakes_it_once_and_not_for_ever() {
    let mut congestion = Congestion::new(Box::new(Stuck), PACKET as u32);
    congestion.take_rtt(Span::from_millis(1));
    assert_eq!(congestion.wake_at(), at(5));
    congestion.wake(at(5));
    assert_eq!(congestion.wake_at(), Time::NEVER);
}

#[test]
fn the_controller_is_woken_once_there_is_a_round_trip_time() {
    let directive = Directive { wake_at: Some(at(5)), ..Directive::window(PACKET) };
    let (mut with_rtt, calls) = congestion(directive);
    let controller = Fixed { directive, calls: Arc::clone(&calls) };
    let mut without = Congestion::new(Box::new(controller), PACKET as u32);
    assert_eq!((without.wake_at(), with_rtt.wake_at()), (Time::NEVER, at(5)));
    without.wake(at(10));
    with_rtt.wake(at(4));
    assert_eq!(calls.lock().unwrap().wakes, 0);
    (10..13).for_each(|ms| with_rtt.wake(at(ms)));
    assert_eq!(calls.lock().unwrap().wakes, 1);
}

#[test]
fn an_empty_round_trip_is_taken_for_a_microsecond() {
    let (mut congestion, _) = congestion(Directive::window(PACKET));
    congestion.take_rtt(Span::ZERO);
    assert_eq!(congestion.rtt().min(), Some(Span::from_micros(1)));
}

#[test]
fn a_pause_shorter_than_the_timeout_is_reported_and_changes_nothing_else() {
    let (mut congestion, calls) = congestion(Directive::window(10 * PACKET));
    let mut board = Board::new(Needs::NONE);
    board.send_new(at(0), PACKET as u16);
    congestion.sent(&board, at(0), PACKET);
    let next = congestion.departures.next();
    congestion.resume(at(150), at(100), Span::from_millis(300));
    assert_eq!((calls.lock().unwrap().idle.len(), congestion.departures.next()), (1, next));
}
