use super::*;
use crate::event::{Ack, Delivered, DeliveryRate, Idle, Loss, Sent, SpuriousLoss, Timeout};
use alloc::vec::Vec;
use std::sync::{Arc, Mutex};

mod pacing;
mod properties;

const MSS: u64 = 1000;

/// The events of an inner controller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Sent(Sent),
    Ack(Ack),
    Loss(Loss),
    Delivered(Delivered),
    Spurious(SpuriousLoss),
    Timeout(Timeout),
    Idle(Idle),
    Mtu(u32),
    Wake,
}

#[derive(Debug, Default)]
struct Script {
    cwnd: u64,
    after_loss: Option<u64>,
    wake_at: Option<Time>,
    rate: Option<u64>,
    pairs_every: Option<Span>,
    train: u32,
    needs: Needs,
    told: Vec<Told>,
}

/// A controller whose window the test decides.
#[derive(Clone, Debug)]
struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    fn group(cwnd: u64) -> (Group, Scripted) {
        let inner = Scripted(Arc::new(Mutex::new(Script { cwnd, ..Script::default() })));
        (Group::new(Box::new(inner.clone()), MSS as u32), inner)
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    fn told(&self) -> Vec<Told> {
        core::mem::take(&mut self.script().told)
    }

    fn acks(&self) -> Vec<Ack> {
        let acks = self.told().into_iter();
        acks.filter_map(|told| if let Told::Ack(ack) = told { Some(ack) } else { None }).collect()
    }
}

impl Controller for Scripted {
    fn on_sent(&mut self, sent: &Sent) {
        self.script().told.push(Told::Sent(*sent));
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.script().told.push(Told::Ack(*ack));
    }
    fn on_loss(&mut self, loss: &Loss) {
        let mut script = self.script();
        script.told.push(Told::Loss(*loss));
        script.cwnd = script.after_loss.take().unwrap_or(script.cwnd);
    }
    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.script().told.push(Told::Spurious(*spurious));
    }
    fn on_timeout(&mut self, timeout: &Timeout) {
        self.script().told.push(Told::Timeout(*timeout));
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.script().told.push(Told::Idle(*idle));
    }
    fn on_mtu(&mut self, mss: u32) {
        self.script().told.push(Told::Mtu(mss));
    }
    fn on_wake(&mut self, _now: Time) {
        let mut script = self.script();
        script.told.push(Told::Wake);
        script.wake_at = None;
    }
    fn needs(&self) -> Needs {
        self.script().needs
    }
    fn on_delivered(&mut self, delivered: &Delivered) {
        self.script().told.push(Told::Delivered(*delivered));
    }
    fn directive(&self) -> Directive {
        let script = self.script();
        let by_rate = script.rate.map_or(Pacing::Window, Pacing::Rate);
        let pacing =
            script.pairs_every.map_or(by_rate, |every| Pacing::Together { packets: 2, apart_us: 0, every });
        let window = Directive::window(script.cwnd + u64::from(script.train));
        Directive { pacing, wake_at: script.wake_at, train: script.train, ..window }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "scripted", cwnd: self.script().cwnd, ..Snapshot::default() }
    }
}

/// A connection with a window and nothing else: sends while it may, packets come back in order.
struct Peer {
    id: MemberId,
    in_flight: Vec<Time>,
    busy: bool,
}

impl Peer {
    fn join(group: &mut Group) -> Peer {
        Peer { id: group.join(MSS as u32), in_flight: Vec::new(), busy: true }
    }

    fn bytes(&self) -> u64 {
        self.in_flight.len() as u64 * MSS
    }

    /// Sends one packet if it may.
    fn send(&mut self, group: &mut Group, now: Time) -> bool {
        let may = self.bytes() + MSS <= group.cwnd(self.id) || self.in_flight.is_empty();
        if !self.busy || !may {
            return false;
        }
        self.in_flight.push(now);
        let in_flight = self.bytes();
        let sent = Sent { now, bytes: MSS, packet_number: 0, in_flight, ..Sent::default() };
        group.on_sent(self.id, &sent);
        true
    }

    fn ack(&mut self, group: &mut Group, now: Time) {
        if self.in_flight.is_empty() {
            return;
        }
        let in_flight = self.bytes();
        let sent_at = self.in_flight.remove(0);
        group.on_ack(
            self.id,
            &Ack {
                now,
                newly_acked: MSS,
                flightsize: in_flight,
                in_flight,
                sent_at,
                smoothed_rtt: Some(Span::from_millis(100)),
                app_limited: !self.busy,
                ..Ack::default()
            },
        );
    }
}

/// Runs a round trip of 100 ms: each packet in flight at its beginning is acknowledged, members in turn, and each member
/// sends what it may.
fn round(group: &mut Group, peers: &mut [Peer], now: &mut Time) {
    let mut waiting: Vec<usize> = peers.iter().map(|peer| peer.in_flight.len()).collect();
    let steps = waiting.iter().copied().max().unwrap_or(0).max(1) as u64;
    for _ in 0..steps {
        *now += Span::from_millis(100) / steps;
        for (peer, left) in peers.iter_mut().zip(&mut waiting) {
            if *left > 0 {
                *left -= 1;
                peer.ack(group, *now);
            }
            while peer.send(group, *now) {}
        }
    }
}

fn packets(peers: &[Peer]) -> Vec<u64> {
    peers.iter().map(|peer| peer.in_flight.len() as u64).collect()
}

#[test]
fn one_member_has_the_whole_window_whatever_it_is() {
    for cwnd in [1, 300, MSS, 1500, 20 * MSS + 7] {
        let (mut group, _) = Scripted::group(cwnd);
        let id = group.join(MSS as u32);
        assert_eq!(group.cwnd(id), cwnd);
    }
}

#[test]
fn busy_members_reach_equal_shares_within_a_few_round_trips_wherever_they_begin() {
    let (mut group, _) = Scripted::group(40 * MSS);
    let mut peers = Vec::from([Peer::join(&mut group)]);
    let mut now = Time::from_millis(1000);
    round(&mut group, &mut peers, &mut now);
    assert_eq!(packets(&peers), [40], "alone it has all");
    peers.extend((0..3).map(|_| Peer::join(&mut group)));
    (0..4).for_each(|_| round(&mut group, &mut peers, &mut now));
    assert_eq!(packets(&peers), [10, 10, 10, 10]);
}

#[test]
fn who_wants_nothing_lends_its_share_and_gets_it_back() {
    let (mut group, _) = Scripted::group(40 * MSS);
    let mut peers: Vec<Peer> = (0..4).map(|_| Peer::join(&mut group)).collect();
    let mut now = Time::from_millis(1000);
    (0..4).for_each(|_| round(&mut group, &mut peers, &mut now));
    (peers[1].busy, peers[2].busy, peers[3].busy) = (false, false, false);
    (0..4).for_each(|_| round(&mut group, &mut peers, &mut now));
    assert_eq!(packets(&peers), [40, 0, 0, 0]);
    peers[3].busy = true;
    (0..4).for_each(|_| round(&mut group, &mut peers, &mut now));
    assert_eq!(packets(&peers), [20, 0, 0, 20]);
}

/// Lets handshakes go unanswered: each stranger sends what it may, and tries again when its timer expires.
fn knock(group: &mut Group, strangers: &mut [Peer], now: Time) {
    for stranger in strangers {
        if !stranger.in_flight.is_empty() {
            let flightsize = stranger.bytes();
            stranger.in_flight.clear();
            group.on_timeout(stranger.id, &Timeout { now, flightsize, consecutive: 1 });
        }
        while stranger.send(group, now) {}
    }
}

#[test]
fn handshakes_that_nobody_answers_take_nothing_from_the_member_at_work() {
    let (mut group, inner) = Scripted::group(40 * MSS);
    let mut peers = Vec::from([Peer::join(&mut group)]);
    let mut now = Time::from_millis(1000);
    (0..3).for_each(|_| round(&mut group, &mut peers, &mut now));
    let mut strangers: Vec<Peer> = (0..100).map(|_| Peer::join(&mut group)).collect();
    inner.told();
    for _ in 0..5 {
        knock(&mut group, &mut strangers, now);
        assert!(packets(&strangers).iter().all(|packets| *packets == 1), "each may begin, with one packet");
        round(&mut group, &mut peers, &mut now);
        assert_eq!(packets(&peers), [40]);
    }
    let told = inner.told();
    assert!(
        !told.iter().any(|told| matches!(told, Told::Timeout(_) | Told::Loss(_))),
        "their timeouts say nothing"
    );
    // One of them answers, and is a member like the other.
    peers.push(strangers.swap_remove(7));
    (0..3).for_each(|_| round(&mut group, &mut peers, &mut now));
    assert_eq!(packets(&peers), [20, 20]);
}

#[test]
fn strangers_do_not_make_a_job_that_wants_nothing_look_busy() {
    let (mut group, inner) = Scripted::group(40 * MSS);
    let (member, stranger) = (group.join(MSS as u32), group.join(MSS as u32));
    group.on_ack(member, &Ack { newly_acked: MSS, app_limited: true, ..Ack::default() });
    inner.told();
    group.on_sent(stranger, &sent(Time::from_millis(5)));
    let told = inner.told();
    assert!(matches!(told[..], [Told::Idle(_), Told::Sent(Sent { app_limited: true, .. })]), "{told:?}");
}

#[test]
fn members_that_begin_together_share_from_the_start() {
    let (mut group, _) = Scripted::group(40 * MSS);
    let mut peers: Vec<Peer> = (0..4).map(|_| Peer::join(&mut group)).collect();
    let now = Time::from_millis(1000);
    while peers.iter_mut().map(|peer| peer.send(&mut group, now)).fold(false, |any, sent| any | sent) {}
    assert_eq!(packets(&peers), [10, 10, 10, 10]);
    // The first ack does not hand it what the others have on the way, but for a packet of each.
    peers[0].ack(&mut group, Time::from_millis(1100));
    while peers[0].send(&mut group, now) {}
    assert_eq!(packets(&peers), [13, 10, 10, 10]);
}

#[test]
fn no_fraction_of_a_packet_stays_unused() {
    let (mut group, _) = Scripted::group(31 * MSS);
    let mut peers: Vec<Peer> = (0..16).map(|_| Peer::join(&mut group)).collect();
    let mut now = Time::from_millis(1000);
    (0..5).for_each(|_| round(&mut group, &mut peers, &mut now));
    assert_eq!(packets(&peers).iter().sum::<u64>(), 31);
    assert!(packets(&peers).iter().all(|packets| (1..=2).contains(packets)), "{:?}", packets(&peers));
}

#[test]
fn where_a_packet_for_each_does_not_fit_the_shares_are_below_a_packet_and_add_up_to_the_window() {
    let (mut group, _) = Scripted::group(2 * MSS);
    let mut peers: Vec<Peer> = (0..16).map(|_| Peer::join(&mut group)).collect();
    let mut now = Time::from_millis(1000);
    (0..2).for_each(|_| round(&mut group, &mut peers, &mut now));
    let windows: u64 = peers.iter().map(|peer| group.cwnd(peer.id)).sum();
    assert_eq!(windows, 2 * MSS);
    // Its spacing was made for a small window: it looks again after a round trip whether that has grown.
    let wake = group.directive(peers[0].id).wake_at.expect("spaced");
    assert!(wake <= now + Span::from_millis(100));
    group.on_wake(peers[0].id, wake);
    assert_eq!(group.directive(peers[0].id).wake_at, Some(wake + Span::from_millis(100)));
}

#[test]
fn a_member_that_leaves_gives_its_room_to_the_others_and_is_ignored_from_then_on() {
    let (mut group, inner) = Scripted::group(40 * MSS);
    let mut peers: Vec<Peer> = (0..2).map(|_| Peer::join(&mut group)).collect();
    let mut now = Time::from_millis(1000);
    (0..3).for_each(|_| round(&mut group, &mut peers, &mut now));
    let mut gone = peers.pop().expect("two");
    group.leave(gone.id);
    inner.told();
    assert_eq!((group.members(), group.in_flight()), (1, peers[0].bytes()));
    gone.ack(&mut group, now);
    group.leave(gone.id);
    assert_eq!((group.cwnd(gone.id), inner.told()), (0, Vec::new()));
    round(&mut group, &mut peers, &mut now);
    assert_eq!(packets(&peers), [40]);
}

#[test]
fn a_connection_that_was_closed_and_kept_is_forgotten() {
    let (mut group, _) = Scripted::group(10 * MSS);
    let mut peers: Vec<Peer> = (0..2).map(|_| Peer::join(&mut group)).collect();
    let mut now = Time::from_millis(1000);
    (0..3).for_each(|_| round(&mut group, &mut peers, &mut now));
    // Ten round trips are a second, four come on top.
    (0..14).for_each(|_| round(&mut group, &mut peers[..1], &mut now));
    assert_eq!(peers[0].bytes(), 5 * MSS);
    (0..3).for_each(|_| round(&mut group, &mut peers[..1], &mut now));
    assert_eq!(peers[0].bytes(), 10 * MSS);
}

#[test]
fn the_inner_controller_sees_one_sender_with_one_round_per_round_trip() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let mut peers: Vec<Peer> = (0..4).map(|_| Peer::join(&mut group)).collect();
    let mut now = Time::from_millis(1000);
    (0..2).for_each(|_| round(&mut group, &mut peers, &mut now));
    inner.told();
    (0..10).for_each(|_| round(&mut group, &mut peers, &mut now));
    let acks = inner.acks();
    assert_eq!(acks.iter().filter(|ack| ack.round_start).count(), 10);
    assert!(acks.iter().all(|ack| ack.packet_number == ack.sent_at.as_nanos()));
    assert!(acks.iter().all(|ack| ack.in_flight == 8 * MSS && ack.flightsize == 8 * MSS && !ack.app_limited));
}

#[test]
fn the_job_is_application_limited_only_if_nobody_wants_more() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let ack = |app_limited| Ack { newly_acked: MSS, app_limited, ..Ack::default() };
    group.on_ack(a, &ack(false));
    group.on_ack(b, &ack(true));
    group.on_ack(a, &ack(true));
    let limited: Vec<bool> = inner.acks().iter().map(|ack| ack.app_limited).collect();
    assert_eq!(limited, [false, false, true]);
}

fn sent(at: Time) -> Sent {
    Sent { now: at, bytes: MSS, in_flight: MSS, ..Sent::default() }
}

#[test]
fn a_timeout_of_one_member_is_a_loss_while_later_packets_of_others_arrive() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let at = Time::from_millis;
    group.on_ack(a, &Ack::default()); // no newcomer
    group.on_sent(a, &sent(at(0)));
    group.on_sent(b, &sent(at(10)));
    group.on_ack(
        b,
        &Ack { now: at(110), sent_at: at(10), newly_acked: MSS, in_flight: MSS, ..Ack::default() },
    );
    inner.told();
    group.on_timeout(a, &Timeout { now: at(1000), flightsize: MSS, consecutive: 1 });
    let told = inner.told();
    assert!(
        matches!(told[..], [Told::Loss(Loss { sent: Sent { now: Time::ZERO, bytes: MSS, .. }, .. })]),
        "{told:?}"
    );
    assert_eq!(group.in_flight(), 0);
}

#[test]
fn one_silence_is_one_timeout_however_many_members_notice_it() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let at = Time::from_millis;
    let timeout = |now| Timeout { now, flightsize: MSS, consecutive: 1 };
    group.on_sent(a, &sent(at(0)));
    group.on_sent(b, &sent(at(10)));
    inner.told();
    group.on_timeout(a, &timeout(at(1000)));
    group.on_timeout(b, &timeout(at(1010)));
    assert_eq!(inner.told().len(), 1);
    group.on_sent(b, &sent(at(1011)));
    inner.told();
    group.on_timeout(b, &timeout(at(3000)));
    let told = inner.told();
    assert!(matches!(told[..], [Told::Timeout(Timeout { consecutive: 2, .. })]), "{told:?}");
}

#[test]
fn a_spurious_loss_is_told_if_nobody_else_lost_anything() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let loss = Loss { sent: Sent { bytes: MSS, ..Sent::default() }, flightsize: MSS, ..Loss::default() };
    inner.script().after_loss = Some(4 * MSS);
    group.on_loss(a, &loss);
    // Whose loss was none, and whether the inner controller was to take its reduction back.
    let undone = |group: &mut Group, id| {
        let sent = Sent { now: Time::from_millis(7), ..loss.sent };
        group.on_spurious_loss(
            id,
            &SpuriousLoss { now: Time::from_millis(90), sent, undo: true, since: loss.now },
        );
        let told = inner.told().into_iter();
        let mut named =
            told.filter_map(|told| if let Told::Spurious(named) = told { Some(named) } else { None });
        let named = named.next().expect("the packet is named in any case");
        assert_eq!((named.sent.packet_number, named.sent.bytes), (7_000_000, MSS));
        named.undo
    };
    assert!(!undone(&mut group, b), "not the cause");
    assert!(undone(&mut group, a));
    group.on_loss(b, &loss);
    assert!(!undone(&mut group, a), "b's loss may be real");
}

#[test]
fn deliveries_and_rates_are_those_of_the_job() {
    let inner = Scripted(Arc::default());
    inner.script().cwnd = 8 * MSS;
    inner.script().needs = Needs { delivery_rates: true, per_packet: true };
    let mut group = Group::new(Box::new(inner.clone()), MSS as u32);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    assert_eq!(group.needs(), inner.needs());
    let at = Time::from_millis;
    let rate = DeliveryRate { delivered: MSS, interval: Span::from_millis(100), ..DeliveryRate::default() };
    let deliver = |group: &mut Group, id, now, sent_ms: u64| {
        let packet = Sent { now: at(sent_ms), bytes: MSS, ..Sent::default() };
        group.on_delivered(id, &Delivered { now, sent: packet, delivered: MSS, ..Delivered::default() });
        let ack = Ack { now, newly_acked: MSS, sent_at: at(sent_ms), delivery: Some(rate), ..Ack::default() };
        group.on_ack(id, &ack);
    };
    for ms in [1u64, 2, 3, 4] {
        group.on_sent(
            if ms % 2 == 1 { a } else { b },
            &Sent { in_flight: ms.div_ceil(2) * MSS, ..sent(at(ms)) },
        );
    }
    inner.told();
    for ms in [1, 2, 3, 4] {
        deliver(&mut group, if ms % 2 == 1 { a } else { b }, at(100 + ms), ms);
    }
    let told = inner.told();
    let Told::Delivered(last) = told[6] else { panic!("{told:?}") };
    assert_eq!((last.delivered, last.sent.in_flight, last.sent.packet_number), (4 * MSS, 4 * MSS, 4_000_000));
    let Told::Ack(ack) = told[7] else { panic!("{told:?}") };
    let rate = ack.delivery.expect("a rate");
    assert_eq!(
        (rate.delivered, rate.interval, rate.in_flight_at_send),
        (4 * MSS, Span::from_millis(103), 4 * MSS)
    );
    let loss = Loss { now: at(300), sent: Sent { bytes: MSS, ..sent(at(4)) }, ..Loss::default() };
    group.on_loss(a, &loss);
    group.on_sent(a, &Sent { in_flight: MSS, ..sent(at(301)) });
    let Some(Told::Sent(next)) = inner.told().pop() else { panic!("nothing sent") };
    assert_eq!((next.totals.delivered, next.totals.lost), (4 * MSS, MSS));
}

#[test]
fn a_path_is_dead_only_if_it_is_for_all() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let at = Time::from_millis;
    group.on_ack(b, &Ack { now: at(200), sent_at: at(100), newly_acked: MSS, ..Ack::default() });
    inner.told();
    for (sent_at, expected) in [(at(50), false), (at(150), true)] {
        group.on_loss(
            a,
            &Loss {
                now: at(300),
                sent: Sent { now: sent_at, ..Sent::default() },
                persistent: true,
                ..Loss::default()
            },
        );
        assert!(matches!(inner.told()[..], [Told::Loss(Loss { persistent, .. })] if persistent == expected));
    }
}

#[test]
fn the_job_is_idle_only_if_all_are() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let at = Time::from_millis;
    let idle = |now| Idle { now, idle_for: Span::from_secs(9), rto: Span::from_secs(1) };
    group.on_sent(b, &sent(at(9_000)));
    inner.told();
    group.on_idle(a, &idle(at(9_100)));
    assert_eq!(inner.told(), [], "b has something in flight");
    group.on_ack(b, &Ack { now: at(9_200), newly_acked: MSS, in_flight: MSS, ..Ack::default() });
    inner.told();
    group.on_idle(a, &idle(at(12_200)));
    assert_eq!(inner.told(), [Told::Idle(Idle { idle_for: Span::from_secs(3), ..idle(at(12_200)) })]);
    // A newcomer's transport has seen no idle time.
    let c = group.join(MSS as u32);
    group.on_sent(c, &sent(at(20_200)));
    assert!(
        matches!(inner.told()[..], [Told::Idle(Idle { idle_for, .. }), Told::Sent(_)] if idle_for == Span::from_secs(8))
    );
}

#[test]
fn the_inner_controller_knows_the_largest_packet() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let a = group.join(MSS as u32);
    let b = group.join(1400);
    group.on_mtu(a, 1200);
    group.on_mtu(b, 1100);
    assert_eq!(inner.told(), [Told::Mtu(1400), Told::Mtu(1200)]);
}

#[test]
fn a_wake_up_of_the_inner_controller_happens_once() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let (a, b) = (group.join(MSS as u32), group.join(MSS as u32));
    let at = Time::from_millis(50);
    inner.script().wake_at = Some(at);
    assert_eq!((group.directive(a).wake_at, group.directive(b).wake_at), (Some(at), Some(at)));
    group.on_wake(a, at);
    group.on_wake(b, at);
    assert_eq!(inner.told(), [Told::Wake]);
}

#[cfg(feature = "std")]
#[test]
fn a_dropped_member_leaves() {
    let (_, inner) = Scripted::group(8 * MSS);
    let group = Shared::new(Box::new(inner), MSS as u32);
    let (one, other) = (group.member(MSS as u32), group.member(MSS as u32));
    assert_eq!(group.members(), 2);
    drop(one);
    assert_eq!((group.members(), other.directive().cwnd), (1, 8 * MSS));
}
