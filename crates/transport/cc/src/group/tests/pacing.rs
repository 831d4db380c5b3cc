//! Rates, pairs and trains of a group's members.

use super::*;

#[test]
fn a_pacing_rate_is_shared_like_the_window() {
    let (mut group, inner) = Scripted::group(8 * MSS);
    let a = group.join(MSS as u32);
    inner.script().rate = Some(1_000_000);
    assert_eq!(group.directive(a).pacing, Pacing::Rate(1_000_000));
    let b = group.join(MSS as u32);
    group.on_sent(a, &sent(Time::ZERO));
    group.on_sent(b, &sent(Time::ZERO));
    for id in [a, b] {
        assert_eq!(group.directive(id).pacing, Pacing::Rate(500_000));
    }
}

/// Returns a group of `count` members, each of which had an ack and has more to send.
fn busy_group(members: usize, cwnd: u64) -> (Group, Scripted, Vec<MemberId>) {
    let (mut group, inner) = Scripted::group(cwnd);
    let ids: Vec<_> = (0..members).map(|_| group.join(MSS as u32)).collect();
    for id in &ids {
        group.on_sent(*id, &sent(Time::ZERO));
        group.on_ack(*id, &Ack { newly_acked: MSS, in_flight: MSS, ..Ack::default() });
    }
    (group, inner, ids)
}

#[test]
fn pairs_stay_pairs_and_are_as_many_as_those_of_one() {
    let every = Span::from_millis(60);
    for (members, cwnd) in
        [(1, 4 * MSS), (2, 4 * MSS), (3, 4 * MSS), (4, 4 * MSS), (16, 4 * MSS), (5, 2 * MSS)]
    {
        let (group, inner, ids) = busy_group(members, cwnd);
        inner.script().pairs_every = Some(every);
        for id in ids {
            let directive = group.directive(id);
            let Pacing::Together { packets: 2, every: own, .. } = directive.pacing else {
                panic!("{directive:?}")
            };
            assert!(directive.cwnd >= 2 * MSS, "{members}: a pair does not fit {} B", directive.cwnd);
            // The level is in whole bytes.
            let expected = every * members as u64;
            assert!(own >= expected && own <= expected + every, "{members}: {own:?}");
        }
    }
}

#[test]
fn a_train_leaves_from_the_first_member_that_has_an_ack_and_demand() {
    const TRAIN: u32 = 20 * MSS as u32;
    let (mut group, inner, ids) = busy_group(4, 8 * MSS);
    let before: Vec<_> = ids.iter().map(|id| group.cwnd(*id)).collect();
    inner.script().train = TRAIN;
    inner.script().rate = Some(1_000_000);
    let ack = Ack { newly_acked: MSS, in_flight: MSS, ..Ack::default() };
    group.on_ack(ids[0], &Ack { app_limited: true, ..ack });
    group.on_sent(ids[0], &sent(Time::ZERO));
    group.on_ack(ids[2], &ack);
    group.on_ack(ids[1], &ack);
    let directives: Vec<_> = ids.iter().map(|id| group.directive(*id)).collect();
    assert_eq!(
        (directives[2].cwnd, directives[2].pacing),
        (before[2] + u64::from(TRAIN), Pacing::Rate(1_000_000))
    );
    for other in [0, 1, 3] {
        let Directive { cwnd, train, pacing, .. } = directives[other];
        assert_eq!((cwnd, train, pacing), (before[other], 0, Pacing::Rate(250_000)), "{other}");
    }
    group.leave(ids[2]);
    group.on_ack(ids[1], &ack);
    assert_eq!(group.directive(ids[1]).train, TRAIN, "another member sends it");
    inner.script().train = 0;
    group.on_ack(ids[0], &ack);
    inner.script().train = TRAIN;
    group.on_ack(ids[0], &ack);
    assert_eq!((group.directive(ids[0]).train, group.directive(ids[1]).train), (TRAIN, 0), "a new train");
}
