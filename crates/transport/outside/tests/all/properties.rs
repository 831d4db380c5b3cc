//! Whatever the readings say.

use afteryou_base::{Span, Time};
use afteryou_outside::rule::rate::rate;
use afteryou_outside::rule::{Direction, Group, Id, Params, Reading};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};

/// Returns steps of connections: which, bytes that came, round-trip time in µs (0: none), losses.
fn steps() -> impl Strategy<Value = Vec<(u64, u64, u32, u64)>> {
    prop::collection::vec((0..6u64, 0..400_000u64, 0..2_000_000u32, 0..3u64), 1..400)
}

fn reading(id: u64, bytes: u64, rtt_us: u32, lost: u64, mss: u32) -> Reading {
    let rtt = (rtt_us > 0).then(|| Span::from_micros(u64::from(rtt_us)));
    Reading {
        id: Id(id),
        peer: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        least_rtt: rtt,
        rtt,
        bytes,
        lost,
        mss,
        in_flight: 0,
    }
}

proptest! {
    #[test]
    fn windows_are_finite_and_never_far_above_what_came(steps in steps(), mss in prop::sample::select(vec![0u32, 536, 1448, 8948])) {
        let mut group = Group::new(Direction::Down, Params::default());
        let (mut bytes, mut lost) = ([0u64; 6], [0u64; 6]);
        let mut largest = 0.0f64;
        for (tick, (id, moved, rtt_us, losses)) in steps.into_iter().enumerate() {
            bytes[id as usize] += moved;
            lost[id as usize] += losses;
            largest = largest.max(moved as f64);
            let readings: Vec<Reading> = (0..6).map(|id| reading(id, bytes[id as usize], rtt_us, lost[id as usize], mss)).collect();
            let granted = group.tick(Time::from_millis(10 * tick as u64), &readings);
            prop_assert_eq!(granted.len(), 6);
            let sum: f64 = bytes.iter().map(|bytes| *bytes as f64).sum();
            for granted in granted {
                prop_assert!(granted.window.is_finite() && granted.window >= 1000.0, "{:?}", granted);
                prop_assert!(granted.window <= 2.0 * sum + 10.0 * 9000.0, "{:?} after {} bytes", granted, sum);
                let member = group.member(granted.id).unwrap();
                let rate = rate(member, &granted, Span::from_millis(40), false);
                prop_assert!(rate.is_finite() && rate > 0.0);
            }
            prop_assert!(group.places().0 <= group.places().1.max(1));
        }
    }

    #[test]
    fn the_window_grows_to_one_and_a_half_of_what_came_in_a_round_trip(
        moved in prop::collection::vec(0..200_000u64, 20..300),
        rtt_ms in 5..600u64,
    ) {
        let mut group = Group::new(Direction::Down, Params::default());
        let mut bytes = 0;
        let mut before = group.law().window();
        for (tick, moved) in moved.into_iter().enumerate() {
            bytes += moved;
            let now = Time::from_millis(10 * tick as u64);
            let was_slowed = matches!(group.law().phase(), afteryou_outside::rule::law::Phase::Slowdown { .. });
            group.tick(now, &[reading(1, bytes, rtt_ms as u32 * 1000, 0, 1448)]);
            let window = group.law().window();
            let round = Span::from_millis(rtt_ms);
            let came = group.member(Id(1)).unwrap().per_round(round);
            if window > before && !was_slowed {
                let allowed = (1.5 * came).max(10.0 * 1448.0);
                prop_assert!(window <= allowed + 1.0, "{window} after {came} bytes a round trip");
            }
            before = window;
        }
    }
}
