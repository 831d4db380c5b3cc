//! The sender against the worked examples of its RFCs.

use super::{Incoming, Sender, Transmit};
use crate::packet::{Sack, NO_WINDOW};
use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::{list, Ack, Controller, Directive, Loss, Setup, Snapshot, SpuriousLoss, Timeout};
use afteryou_scenario::transport::{Protocol, TcpOptions};
use afteryou_scenario::Transport;
use std::sync::{Arc, Mutex};

const MSS: u16 = 1000;
const RTT: u64 = 100;

fn options(transport: Transport) -> TcpOptions {
    match transport.protocol() {
        Ok(Protocol::Tcp(options)) => options,
        other => panic!("{other:?}"),
    }
}

/// Twenty packets until a loss, ten after it: the example's window, which no duplicate ack widens.
#[derive(Debug)]
struct Halving {
    packets: u64,
}

impl Controller for Halving {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {
        self.packets = 10;
    }
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> Directive {
        Directive::window(self.packets * u64::from(MSS))
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

/// Calls of a controller.
#[derive(Debug, Default)]
struct Heard {
    delivered: u64,
    losses: u64,
    spurious: u64,
}

/// A window of ten packets that nothing changes, and a record of the calls.
#[derive(Debug)]
struct Recorder(Arc<Mutex<Heard>>);

impl Controller for Recorder {
    fn on_ack(&mut self, ack: &Ack) {
        self.0.lock().unwrap().delivered += ack.delivered();
    }
    fn on_loss(&mut self, _: &Loss) {
        self.0.lock().unwrap().losses += 1;
    }
    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.0.lock().unwrap().spurious += u64::from(spurious.undo);
    }
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> Directive {
        Directive::window(10 * u64::from(MSS))
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

/// Returns a sender that was given `packets` packets, at most ten, and has sent them, and the calls of its controller from
/// now on.
fn recorded(packets: u64) -> (Sender, Arc<Mutex<Heard>>) {
    let heard = Arc::default();
    let controller = Box::new(Recorder(Arc::clone(&heard)));
    let mut sender = Sender::new(options(Transport::tcp().with("pacing", "false")), controller, MSS);
    sender.open(Time::ZERO);
    drain(&mut sender, 0);
    sender.on_syn_ack(Time::from_millis(RTT), NO_WINDOW);
    sender.give(packets * u64::from(MSS));
    assert_eq!(drain(&mut sender, RTT).len(), packets as usize);
    (sender, heard)
}

/// Returns a sender with a window of `window` packets that has just finished its handshake and sent them.
fn sender(transport: Transport, window: u64) -> Sender {
    let overrides = [("initial_window", Value::Count(window))];
    let controller = list::find("newreno").unwrap().build(&overrides, Setup::of(MSS.into())).unwrap();
    sender_with(transport, controller, window)
}

fn sender_with(transport: Transport, controller: Box<dyn Controller>, window: u64) -> Sender {
    let transport = transport.with("pacing", "false");
    let mut sender = Sender::new(options(transport), controller, MSS);
    sender.open(Time::ZERO);
    assert_eq!(drain(&mut sender, 0), [None]);
    sender.on_syn_ack(Time::from_millis(RTT), NO_WINDOW);
    sender.give(u64::MAX);
    assert_eq!(drain(&mut sender, RTT).len(), window as usize);
    sender
}

/// Returns the numbers of the segments that are sent now; `None` for a SYN.
fn drain(sender: &mut Sender, ms: u64) -> Vec<Option<u64>> {
    let mut sent = Vec::new();
    while let Some(transmit) = sender.poll(Time::from_millis(ms)) {
        sent.push(match transmit {
            Transmit::Syn => None,
            Transmit::Data(outgoing, _) => Some(outgoing.seq),
        });
    }
    sent
}

fn ack(sender: &mut Sender, ms: u64, cumulative: u32, blocks: &[(u32, u32)]) {
    echo(sender, ms, ms - RTT, cumulative, blocks);
}

/// Acknowledges with an ack that echoes what left at `sent_ms`.
fn echo(sender: &mut Sender, ms: u64, sent_ms: u64, cumulative: u32, blocks: &[(u32, u32)]) {
    let mut sack = Sack { count: blocks.len() as u8, ..Sack::default() };
    sack.blocks[..blocks.len()].copy_from_slice(blocks);
    let sack = (!blocks.is_empty()).then_some(&sack);
    let tsecr = (sent_ms * 1000) as u32;
    let incoming = Incoming { cumulative, tsecr, one_way_delay: 50_000, sack, flags: 0 };
    sender.on_ack(Time::from_millis(ms), &incoming);
}

#[test]
fn the_worked_example_of_rfc_9937_comes_out_to_the_packet() {
    // 20 in flight, the first one is lost, limited transmit of two, ssthresh 10 (RFC 9937 §8, figure 1).
    let mut sender = sender_with(Transport::tcp(), Box::new(Halving { packets: 20 }), 20);
    let (mut windows, mut sent) = (Vec::new(), Vec::new());
    for dup in 1..=10u64 {
        ack(&mut sender, 2 * RTT, 0, &[(1, 1 + dup as u32)]);
        windows.push(sender.congestion.window() / u64::from(MSS));
        sent.push(drain(&mut sender, 2 * RTT));
    }
    // From the third duplicate ack on.
    assert_eq!(windows[2..], [19, 18, 18, 17, 17, 16, 16, 15]);
    let new = |seq: u64| vec![Some(seq)];
    let expected = [new(20), new(21), new(0), vec![], new(22), vec![], new(23), vec![], new(24), vec![]];
    assert_eq!(sent, expected);
}

#[test]
fn two_discontiguous_ranges_are_no_loss_and_three_are() {
    // RFC 6675 §4, IsLost: segments of 1000 B, SACK of 1000-2000 and 3000-4000, then 5000-6000 too.
    let mut sender = sender(Transport::tcp().with("recovery", "sack"), 8);
    ack(&mut sender, 2 * RTT, 0, &[(1, 2)]);
    ack(&mut sender, 2 * RTT, 0, &[(3, 4), (1, 2)]);
    assert_eq!(sender.counters().losses, 0);
    ack(&mut sender, 2 * RTT, 0, &[(5, 6), (3, 4), (1, 2)]);
    assert_eq!(sender.counters().losses, 1);
    assert_eq!(drain(&mut sender, 2 * RTT)[0], Some(0));
}

#[test]
fn the_first_timeouts_follow_rfc_6298() {
    let classic = Transport::tcp().with("preset", "classic");
    let mut sender = sender(classic.clone().with("min_rto", "1 s"), 4);
    // R = 100 ms: SRTT 100, RTTVAR 50, RTO max(300, 1000).
    assert_eq!(sender.rto(), Span::from_secs(1));
    sender.options.min_rto = Span::from_millis(1);
    assert_eq!(sender.rto(), Span::from_millis(300));
    // R = 200 ms: SRTT 112.5, RTTVAR 62.5, RTO 362.5.
    ack(&mut sender, 3 * RTT, 1, &[]);
    assert_eq!(sender.rto(), Span::from_micros(362_500));
}

#[test]
fn a_timeout_doubles_until_an_ack_moves() {
    let mut sender = sender(Transport::tcp().with("preset", "classic"), 4);
    let (mut now, mut gaps) = (Time::from_millis(RTT), Vec::new());
    for _ in 0..4 {
        let at = sender.deadline();
        gaps.push(at.since(now).as_millis_f64());
        now = at;
        sender.on_timer(now);
        assert_eq!(drain(&mut sender, now.as_micros() / 1000), [Some(0)]);
    }
    assert_eq!(gaps, [1000.0, 2000.0, 4000.0, 8000.0]);
    assert_eq!(sender.counters().timeouts, 4);
}

#[test]
fn the_initial_window_and_the_growth_in_bytes_are_those_of_rfc_5681() {
    let newreno = |mss| {
        list::find("newreno").unwrap().build(&[("initial_window", Value::Count(0))], Setup::of(mss)).unwrap()
    };
    assert_eq!([1460, 536, 2300].map(|mss| newreno(mss).directive().cwnd), [4380, 2144, 4600]);
}

#[test]
fn a_lost_syn_is_sent_again_and_its_round_trip_is_not_measured() {
    let controller = list::find("newreno").unwrap().build(&[], Setup::of(MSS.into())).unwrap();
    let mut sender = Sender::new(options(Transport::tcp()), controller, MSS);
    sender.open(Time::ZERO);
    assert_eq!(drain(&mut sender, 0), [None]);
    assert_eq!(sender.deadline(), Time::from_millis(1000));
    sender.on_timer(Time::from_millis(1000));
    assert_eq!(drain(&mut sender, 1000), [None]);
    assert_eq!(sender.deadline(), Time::from_millis(3000));
    sender.on_syn_ack(Time::from_millis(1100), NO_WINDOW);
    sender.give(1000);
    assert_eq!(drain(&mut sender, 1100), [Some(0)]);
    // RFC 6298 §5.7: 3 s for the data.
    assert_eq!(sender.deadline(), Time::from_millis(4100));
}

/// Lets the next deadline pass and returns it, ms, and what is sent then.
fn wait(sender: &mut Sender) -> (u64, Vec<Option<u64>>) {
    let at = sender.deadline();
    sender.on_timer(at);
    let ms = at.as_micros() / 1000;
    (ms, drain(sender, ms))
}

#[test]
fn a_late_ack_of_a_segment_that_was_only_probed_is_no_spurious_loss() {
    let (mut sender, heard) = recorded(4);
    ack(&mut sender, 2 * RTT, 3, &[]);
    let (ms, sent) = wait(&mut sender);
    assert_eq!((sender.counters().probes, sent), (1, vec![Some(3)]));
    echo(&mut sender, ms + 10, RTT, 4, &[]);
    assert_eq!((sender.counters().spurious, heard.lock().unwrap().spurious), (0, 0));
}

/// Returns a sender for which segments 0 and 1 of ten are taken for lost and sent again at 200 ms.
fn two_lost() -> (Sender, Arc<Mutex<Heard>>) {
    let (mut sender, heard) = recorded(10);
    ack(&mut sender, 2 * RTT, 0, &[(2, 5)]);
    assert_eq!((sender.counters().losses, &drain(&mut sender, 2 * RTT)[..]), (2, &[Some(0), Some(1)][..]));
    (sender, heard)
}

#[test]
fn a_recovery_is_undone_once_every_packet_that_was_taken_for_lost_has_arrived() {
    let (mut sender, heard) = recorded(10);
    ack(&mut sender, 2 * RTT, 0, &[(2, 5)]);
    // The first transmission of 1 comes before it is sent again.
    ack(&mut sender, 2 * RTT + 1, 0, &[(1, 5)]);
    assert_eq!(heard.lock().unwrap().spurious, 0, "0 may be lost");
    assert_eq!(drain(&mut sender, 2 * RTT + 1)[0], Some(0));
    echo(&mut sender, 2 * RTT + 10, RTT, 5, &[]);
    assert_eq!((sender.counters().spurious, heard.lock().unwrap().spurious), (2, 1));
}

#[test]
fn a_recovery_with_one_real_loss_is_not_undone() {
    let (mut sender, heard) = recorded(10);
    ack(&mut sender, 2 * RTT, 0, &[(2, 5)]);
    ack(&mut sender, 2 * RTT + 1, 0, &[(1, 5)]);
    drain(&mut sender, 2 * RTT + 1);
    // The retransmission of 0 is acknowledged.
    echo(&mut sender, 3 * RTT + 1, 2 * RTT + 1, 5, &[]);
    assert_eq!((sender.counters().spurious, heard.lock().unwrap().spurious), (1, 0));
}

#[test]
fn a_segment_whose_first_ack_echoes_no_retransmission_was_not_lost_if_it_comes_twice() {
    let (mut sender, heard) = two_lost();
    // The first transmission of 1 comes ahead of that of 0. A SACK of 1 echoes nothing of it.
    echo(&mut sender, 2 * RTT + 55, RTT, 0, &[(1, 8)]);
    echo(&mut sender, 2 * RTT + 60, RTT, 8, &[]);
    assert_eq!((sender.counters().spurious, heard.lock().unwrap().spurious), (1, 0), "1 may be lost");
    echo(&mut sender, 3 * RTT, RTT, 8, &[(0, 1)]);
    assert_eq!(heard.lock().unwrap().spurious, 0);
    echo(&mut sender, 3 * RTT, RTT, 8, &[(1, 2)]);
    assert_eq!((sender.counters().spurious, heard.lock().unwrap().spurious), (2, 1));
}

#[test]
fn copies_of_retransmissions_that_the_network_makes_undo_nothing() {
    let (mut sender, heard) = two_lost();
    // Both retransmissions repair a loss, and both come twice; so do segments that were sent once.
    echo(&mut sender, 3 * RTT, 2 * RTT, 1, &[(2, 8)]);
    echo(&mut sender, 3 * RTT, 2 * RTT, 1, &[(0, 1), (2, 8)]);
    echo(&mut sender, 3 * RTT, 2 * RTT, 8, &[]);
    for (start, end) in [(1, 2), (0, 1), (1, 2), (5, 6), (7, 8)] {
        echo(&mut sender, 3 * RTT, 2 * RTT, 8, &[(start, end)]);
    }
    assert_eq!((sender.counters().spurious, heard.lock().unwrap().spurious), (0, 0));
}

#[test]
fn what_arrives_after_it_was_taken_for_lost_is_reported_as_delivered() {
    let (mut sender, heard) = two_lost();
    let before = heard.lock().unwrap().delivered;
    ack(&mut sender, 2 * RTT + 1, 0, &[(1, 5)]);
    assert_eq!(heard.lock().unwrap().delivered - before, u64::from(MSS));
}

#[test]
fn a_lost_ack_is_no_reordering() {
    let (mut sender, _) = recorded(10);
    ack(&mut sender, 2 * RTT, 0, &[(1, 2)]);
    // The ack with the block 3-4 was lost; the newest block comes first (RFC 2018 §4).
    ack(&mut sender, 2 * RTT, 0, &[(5, 6), (3, 4), (1, 2)]);
    assert!(!sender.reordering.seen);
    ack(&mut sender, 2 * RTT, 0, &[(2, 4), (5, 6)]);
    assert!(sender.reordering.seen, "2 came after 5");
}

/// Returns a sender of one packet of which a probe was sent, and when.
fn probed() -> (Sender, Arc<Mutex<Heard>>, u64) {
    let (mut sender, heard) = recorded(1);
    let (ms, sent) = wait(&mut sender);
    assert_eq!((sender.counters().probes, sent), (1, vec![Some(0)]));
    (sender, heard, ms)
}

/// Sends another packet, whose ack lies past the end of the probe.
fn go_on(sender: &mut Sender, ms: u64) {
    sender.give(u64::from(MSS));
    assert_eq!(drain(sender, ms), [Some(1)]);
    ack(sender, ms + RTT, 2, &[]);
}

#[test]
fn a_probe_that_repaired_a_loss_shows_when_later_data_is_acknowledged() {
    // RFC 8985 §7.4.2: an ack at TLP.end_seq is that of the segment or of its probe.
    let (mut sender, heard, ms) = probed();
    echo(&mut sender, ms + RTT, ms, 1, &[]);
    assert_eq!((sender.counters().losses, heard.lock().unwrap().losses), (0, 0));
    go_on(&mut sender, ms + RTT);
    assert_eq!((sender.counters().losses, heard.lock().unwrap().losses), (1, 1));
    sender.give(u64::from(MSS));
    assert_eq!(drain(&mut sender, ms + 2 * RTT), [Some(2)]);
    ack(&mut sender, ms + 3 * RTT, 3, &[]);
    assert_eq!(heard.lock().unwrap().losses, 1, "once");
}

#[test]
fn a_needless_probe_is_no_loss() {
    // Case 1 is a receiver with D-SACK, case 2 one without.
    for blocks in [&[(0, 1)][..], &[]] {
        let (mut sender, heard, ms) = probed();
        let window = sender.reordering_window();
        echo(&mut sender, ms + 10, RTT, 1, &[]);
        echo(&mut sender, ms + RTT, RTT, 1, blocks);
        go_on(&mut sender, ms + RTT);
        assert_eq!((sender.counters().losses, heard.lock().unwrap().losses), (0, 0), "{blocks:?}");
        assert_eq!(sender.reordering_window(), window, "a probe's D-SACK says nothing about reordering");
    }
}

#[test]
fn a_copy_of_a_probe_that_repaired_a_loss_hides_nothing() {
    for blocks in [&[(0, 1)][..], &[]] {
        let (mut sender, heard, ms) = probed();
        echo(&mut sender, ms + RTT, ms, 1, &[]);
        echo(&mut sender, ms + RTT, ms, 1, blocks);
        go_on(&mut sender, ms + RTT);
        assert_eq!((sender.counters().losses, heard.lock().unwrap().losses), (1, 1), "{blocks:?}");
    }
}

#[test]
fn a_timeout_marks_the_first_segment_and_what_is_older_than_a_round_trip_and_the_reordering_window() {
    // RFC 8985 §6.3; RACK.rtt 100 ms, reordering window 25 ms. 1, 2 and 3 left at 100 ms, 4 and 5 at 200 ms.
    for (ms, left) in [(210, 4), (224, 4), (225, 2), (324, 2), (325, 0)] {
        let mut sender = sender(Transport::tcp(), 4);
        ack(&mut sender, 2 * RTT, 1, &[]);
        assert_eq!(drain(&mut sender, 2 * RTT), [Some(4), Some(5)]);
        sender.timers.loss.probe = Time::NEVER;
        sender.timers.loss.retransmit = Time::from_millis(ms);
        sender.on_timer(Time::from_millis(ms));
        assert_eq!(sender.board.in_flight(), left * u64::from(MSS), "{ms} ms");
        assert_eq!(drain(&mut sender, ms), [Some(1)], "{ms} ms");
    }
}

#[test]
fn a_needless_timeout_is_undone_and_what_it_took_for_lost_is_not_sent_again() {
    for (name, needless) in [("newreno", true), ("cubic", true), ("newreno", false)] {
        let overrides = [("initial_window", Value::Count(10))];
        let controller = list::find(name).unwrap().build(&overrides, Setup::of(MSS.into())).unwrap();
        let mut sender = sender_with(Transport::tcp(), controller, 10);
        sender.timers.loss.probe = Time::NEVER;
        sender.timers.loss.retransmit = Time::from_millis(500);
        sender.on_timer(Time::from_millis(500));
        assert_eq!((sender.counters().timeouts, drain(&mut sender, 500)), (1, vec![Some(0)]));
        let echoed = if needless { RTT } else { 500 };
        echo(&mut sender, 520, echoed, 2, &[]);
        let window = sender.congestion.window() / u64::from(MSS);
        let sent: Vec<u64> = drain(&mut sender, 520).into_iter().flatten().collect();
        if needless {
            assert!(window >= 10 && sent.iter().all(|seq| *seq >= 10), "{name}: {window} packets, {sent:?}");
        } else {
            assert!(window <= 3 && sent[0] == 2, "{name}: {window} packets, {sent:?}");
        }
    }
}

/// Acknowledges with an ack that announces a window.
fn announce(sender: &mut Sender, ms: u64, cumulative: u32, window: u32) {
    let sack = Sack { window, ..Sack::default() };
    let tsecr = ((ms - RTT) * 1000) as u32;
    let incoming = Incoming { cumulative, tsecr, one_way_delay: 50_000, sack: Some(&sack), flags: 0 };
    sender.on_ack(Time::from_millis(ms), &incoming);
}

#[test]
fn the_announced_window_limits_what_is_outstanding_and_an_older_ack_does_not_change_it() {
    let mut sender = sender(Transport::tcp(), 10);
    for (cumulative, window, sent) in [
        (2, 4_000, vec![]),
        (8, 4_000, vec![10, 11]),
        (7, 64_000, vec![]),
        (11, 500, vec![]),
        (12, 500, vec![]),
    ] {
        announce(&mut sender, 2 * RTT, cumulative, window);
        let now: Vec<u64> = drain(&mut sender, 2 * RTT).into_iter().flatten().collect();
        assert_eq!(now, sent, "{cumulative}, {window}");
    }
    // A window below a packet is used each time that a timeout has passed.
    for packet in 12..15 {
        let (at, acknowledged) = (sender.deadline(), sender.board.delivered_at());
        let ms = at.as_micros() / 1000;
        assert!(at.since(acknowledged) >= Span::from_millis(200), "{at:?} after {acknowledged:?}");
        sender.on_timer(at);
        let Some(Transmit::Data(sent, _)) = sender.poll(at) else { panic!("nothing") };
        assert_eq!((sent.seq, sent.len, sender.poll(at)), (packet, 500, None));
        announce(&mut sender, ms + RTT, packet as u32 + 1, if packet == 14 { 3_000 } else { 500 });
        let after: Vec<u64> = drain(&mut sender, ms + RTT).into_iter().flatten().collect();
        assert_eq!(after, if packet == 14 { vec![15, 16, 17] } else { vec![] });
    }
}

#[test]
fn no_sequence_of_windows_lets_more_out_than_window_and_congestion_window_permit() {
    let (mut sender, mut state) = (sender(Transport::tcp(), 10), 1u64);
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for step in 0..10_000 {
        let (una, next) = (sender.board.una(), sender.board.next_seq());
        let window = random(40_000) as u32;
        announce(&mut sender, 2 * RTT + step, (una + random(next - una + 1)) as u32, window);
        while let Some(transmit) = sender.poll(Time::from_millis(2 * RTT + step)) {
            let Transmit::Data(outgoing, _) = transmit else { continue };
            let outstanding = sender.board.outstanding();
            let is_alone = outstanding == u64::from(MSS);
            assert!(is_alone || outstanding <= window.into(), "{outstanding} B of {window} B");
            assert!(is_alone || sender.board.in_flight() <= sender.congestion.cwnd());
            assert_eq!(outgoing.transmission, 1);
        }
    }
    assert!(sender.board.una() > 1_000, "the connection goes on");
}
