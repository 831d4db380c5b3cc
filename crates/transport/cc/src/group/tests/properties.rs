//! Whatever members do, in whatever order.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Send(usize),
    Ack(usize),
    Lose(usize),
    TimeOut(usize),
    Busy(usize, bool),
    Join,
    Leave(usize),
    Window(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..6usize;
    let step = prop_oneof![
        20 => who.clone().prop_map(Step::Send),
        20 => who.clone().prop_map(Step::Ack),
        2 => who.clone().prop_map(Step::Lose),
        1 => who.clone().prop_map(Step::TimeOut),
        1 => (who.clone(), any::<bool>()).prop_map(|(who, busy)| Step::Busy(who, busy)),
        1 => Just(Step::Join),
        1 => who.prop_map(Step::Leave),
        2 => (1..60 * MSS).prop_map(Step::Window),
    ];
    proptest::collection::vec(step, 1..400)
}

/// Does one thing; returns who sent a packet.
fn act(group: &mut Group, peers: &mut Vec<Peer>, inner: &Scripted, now: Time, step: &Step) -> Option<usize> {
    match *step {
        Step::Join if peers.len() < 6 => peers.push(Peer::join(group)),
        Step::Leave(who) if who < peers.len() => group.leave(peers.remove(who).id),
        Step::Window(bytes) => inner.script().cwnd = bytes,
        Step::Send(who) => return peers.get_mut(who)?.send(group, now).then_some(who),
        Step::Ack(who) => peers.get_mut(who)?.ack(group, now),
        Step::Busy(who, busy) => peers.get_mut(who)?.busy = busy,
        Step::Lose(who) => {
            let peer = peers.get_mut(who).filter(|peer| !peer.in_flight.is_empty())?;
            let flightsize = peer.bytes();
            let sent_at = peer.in_flight.remove(0);
            let loss = Loss {
                now,
                sent: Sent { now: sent_at, bytes: MSS, ..Sent::default() },
                flightsize,
                ..Loss::default()
            };
            group.on_loss(peer.id, &loss);
        }
        Step::TimeOut(who) => {
            let peer = peers.get_mut(who).filter(|peer| !peer.in_flight.is_empty())?;
            let flightsize = peer.bytes();
            peer.in_flight.clear();
            group.on_timeout(peer.id, &Timeout { now, flightsize, consecutive: 1 });
        }
        _ => {}
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sum_never_exceeds_the_window_by_more_than_a_packet_of_each(steps in steps()) {
        let (mut group, inner) = Scripted::group(10 * MSS);
        let mut peers: Vec<Peer> = (0..3).map(|_| Peer::join(&mut group)).collect();
        let mut now = Time::from_millis(1000);
        for step in &steps {
            now += Span::from_millis(3);
            let sender = act(&mut group, &mut peers, &inner, now, step);
            let sum: u64 = peers.iter().map(Peer::bytes).sum();
            prop_assert_eq!(group.in_flight(), sum);
            if let Some(sender) = sender {
                let is_its_only_packet = peers[sender].in_flight.len() == 1;
                let newcomers = group.members.values().filter(|state| state.is_newcomer()).count() as u64;
                let most = inner.script().cwnd + newcomers * MSS;
                prop_assert!(sum <= most || is_its_only_packet, "{sum} B in {} B", inner.script().cwnd);
            }
            // Nobody starves: each has its even part of the window, or a packet, and may have one packet at least.
            for peer in &peers {
                let least = MSS.min(inner.script().cwnd / peers.len() as u64).max(1);
                prop_assert!(group.cwnd(peer.id) >= least);
                prop_assert!(group.cwnd(peer.id) <= inner.script().cwnd.max(MSS));
            }
        }
        // Whatever happened: all busy, they meet.
        inner.script().cwnd = 60 * MSS;
        peers.iter_mut().for_each(|peer| peer.busy = true);
        (0..12).for_each(|_| round(&mut group, &mut peers, &mut now));
        let shares = packets(&peers);
        if let (Some(least), Some(most)) = (shares.iter().min(), shares.iter().max()) {
            prop_assert!(most - least <= 1, "{shares:?}");
            prop_assert_eq!(shares.iter().sum::<u64>(), 60);
        }
    }

    #[test]
    fn nonsense_breaks_nothing(
        needs_rates: bool,
        events in proptest::collection::vec((0..4u64, 0..9u8, any::<[u64; 4]>(), any::<bool>()), 1..200),
    ) {
        let inner = Scripted(Arc::new(Mutex::new(Script { cwnd: 10 * MSS, ..Script::default() })));
        inner.script().needs.delivery_rates = needs_rates;
        let mut group = Group::new(Box::new(inner.clone()), MSS as u32);
        (0..3).for_each(|_| _ = group.join(MSS as u32));
        for (who, what, [a, b, c, d], flag) in events {
            let (id, now) = (MemberId(who), Time(a));
            match what {
                0 => group.on_sent(id, &Sent { now, bytes: b, packet_number: c, in_flight: d, app_limited: flag, ..Sent::default() }),
                1 => group.on_ack(id, &Ack {
                    now, newly_acked: b, newly_sacked: c, flightsize: d, in_flight: b ^ d, sent_at: Time(c),
                    smoothed_rtt: Some(Span(d)), app_limited: flag, ..Ack::default()
                }),
                2 => group.on_loss(id, &Loss { now, sent: Sent { now: Time(c), bytes: b, packet_number: 0, ..Sent::default() }, flightsize: d, persistent: flag, ..Loss::default() }),
                3 => {
                    let sent = Sent { now: Time(b), bytes: c, ..Sent::default() };
                    group.on_spurious_loss(id, &SpuriousLoss { now, sent, undo: flag, since: now });
                    group.on_delivered(id, &Delivered { now, sent, delivered: d, ..Delivered::default() });
                }
                4 => group.on_timeout(id, &Timeout { now, flightsize: b, consecutive: c as u32 }),
                5 => group.on_idle(id, &Idle { now, idle_for: Span(b), rto: Span(c) }),
                6 => group.on_mtu(id, b as u32),
                7 => group.on_wake(id, now),
                _ if flag => group.leave(id),
                _ => _ = group.join(b as u32),
            }
            inner.script().cwnd = c;
            inner.script().rate = flag.then_some(d);
            let sums = group.members.values().map(Sums::of).fold(Sums::default(), Sums::plus);
            prop_assert_eq!(sums, group.sums);
            let kept = (group.proven, group.excess);
            group.sum_up();
            prop_assert_eq!((group.proven, group.excess), kept);
            for id in group.members.keys() {
                _ = group.directive(*id);
                prop_assert!(group.snapshot(*id).cwnd >= 1);
            }
        }
    }
}
