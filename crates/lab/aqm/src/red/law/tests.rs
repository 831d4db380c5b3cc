use super::*;
use rand_pcg::Pcg64;

const PLAIN: Shape = Shape {
    min_th: 5.0,
    max_th: 15.0,
    weight: 0.002,
    max_p: 0.1,
    gentle: false,
    wait: true,
    in_bytes: false,
    by_size: false,
    adaptive: false,
    mean_packet: 1500,
    bits_per_second: 10_000_000,
};

fn law(shape: &Shape, average: f64) -> Law<Pcg64> {
    Law { average, ..Law::new(shape, Pcg64::new(1, 2)) }
}

fn backlog(packets: u64) -> Backlog {
    Backlog { packets, bytes: 1500 * packets }
}

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value} for {expected}");
}

#[test]
fn the_probability_follows_the_average() {
    let gentle = Shape { gentle: true, ..PLAIN };
    close(law(&PLAIN, 10.0).base_probability(), 0.05);
    close(law(&gentle, 20.0).base_probability(), 0.4);
    close(law(&gentle, 15.0).base_probability(), 0.1);
    close(law(&gentle, 30.0 - 1e-9).base_probability(), 1.0);
    let verdict = |shape: &Shape, average| {
        let mut spacing = Spacing { count: 0.0, is_above: true };
        law(shape, average).decide(&mut spacing, backlog(20), 1500, 1.0, false)
    };
    assert_eq!(verdict(&gentle, 30.0), Verdict::Forced);
    assert_eq!(verdict(&PLAIN, 15.0), Verdict::Forced);
    assert_eq!(verdict(&PLAIN, 4.99), Verdict::Accept);
}

#[test]
fn drops_by_lot_keep_their_distance() {
    for (count, expected) in [(10.0, 0.0), (19.0, 0.0), (20.0, 0.05), (30.0, 0.1), (40.0, 1.0), (99.0, 1.0)] {
        close(spaced(0.05, count, true), expected);
    }
    for (count, expected) in [(0.0, 0.05), (10.0, 0.1), (19.0, 1.0), (20.0, 1.0), (99.0, 1.0)] {
        close(spaced(0.05, count, false), expected);
    }
}

#[test]
fn a_probability_that_counts_sixteen_times_is_at_most_one() {
    close(weighted(0.05, 16.0), 0.8);
    close(weighted(0.1, 16.0), 1.0);
    close(weighted(0.05, 1.0), 0.05);
}

#[test]
fn the_average_moves_by_its_weight_and_falls_while_the_link_is_idle() {
    let mut busy = law(&PLAIN, 10.0);
    busy.arrive(Time::ZERO, backlog(20));
    close(busy.average, 10.02);
    // A packet takes 1.2 ms: the link is busy so long after the last one left the queue, then idle for 100 more.
    let mut idle = law(&PLAIN, 10.0);
    idle.depart(Time::from_millis(5), 1500);
    idle.arrive(Time::from_micros(5_000 + 1_200 + 120_000 + 10), backlog(0));
    close(idle.average, 8.169297);
    // A second arrival at the same time finds no more idle time, nor does one while the link sends.
    idle.arrive(Time::from_micros(126_210), backlog(0));
    close(idle.average, 8.169297 * 0.998);
    idle.depart(Time::from_millis(500), 1500);
    idle.arrive(Time::from_millis(501), backlog(0));
    close(idle.average, 8.169297 * 0.998 * 0.998);
    idle.arrive(Time::from_millis(100_000), backlog(0));
    assert_eq!(idle.average, 0.0);
}

#[test]
fn the_length_is_in_packets_or_in_bytes() {
    let bytes = Shape { in_bytes: true, ..PLAIN };
    let half = Backlog { packets: 20, bytes: 20 * 750 };
    for (shape, expected) in [(&PLAIN, 10.02), (&bytes, 10.0)] {
        let unit = if shape.in_bytes { 1500.0 } else { 1.0 };
        let mut law = law(shape, 10.0 * unit);
        law.arrive(Time::ZERO, half);
        close(law.average / unit, expected);
        close(law.base_probability(), 0.1 * (expected - 5.0) / 10.0);
    }
}

#[test]
fn small_packets_are_spared_if_the_size_counts() {
    let dropped = |size: u32, wait| {
        let mut law = law(&Shape { by_size: true, in_bytes: true, wait, ..PLAIN }, 15_000.0);
        let mut spacing = Spacing { count: 0.0, is_above: true };
        let drops = |_: &i32| law.decide(&mut spacing, backlog(20), size, 1.0, false) == Verdict::Early;
        (0..100_000).filter(drops).count()
    };
    for wait in [true, false] {
        let ratio = dropped(1500, wait) as f64 / dropped(150, wait) as f64;
        assert!((8.0..12.5).contains(&ratio), "{ratio}");
    }
}

#[test]
fn distances_are_uniform_over_what_wait_says() {
    for (wait, range) in [(true, 20..=40), (false, 1..=20)] {
        let mut law = law(&Shape { wait, ..PLAIN }, 10.0);
        let mut spacing = Spacing { count: 0.0, is_above: true };
        let mut seen = [0u32; 41];
        let mut distance = 0;
        for _ in 0..1_000_000 {
            distance += 1;
            if law.decide(&mut spacing, backlog(20), 1500, 1.0, false) == Verdict::Early {
                seen[std::mem::take(&mut distance)] += 1;
            }
        }
        let drops: u32 = seen.iter().sum();
        assert_eq!(drops, seen[range.clone()].iter().sum::<u32>(), "{seen:?}");
        let even = f64::from(drops) / range.clone().count() as f64;
        // The first and the last distance of the longer range may have half a share.
        let inner = &seen[range.start() + 1..*range.end()];
        assert!(inner.iter().all(|n| (0.9..1.15).contains(&(f64::from(*n) / even))), "{even}: {seen:?}");
    }
}

#[test]
fn the_first_packet_above_the_threshold_and_one_before_a_short_queue_pass() {
    let mut law = law(&Shape { max_p: 1.0, ..PLAIN }, 14.9);
    let mut spacing = Spacing { count: 50.0, is_above: false };
    assert_eq!(law.decide(&mut spacing, backlog(20), 1500, 1.0, false), Verdict::Accept);
    assert_eq!((spacing.count, spacing.is_above), (1.0, true));
    let mut spacing = Spacing { count: 50.0, is_above: true };
    assert_eq!(law.decide(&mut spacing, backlog(1), 1500, 1.0, false), Verdict::Accept);
    assert!(!spacing.is_above);
}

#[test]
fn every_kind_of_drop_starts_the_count_anew() {
    for (average, is_full, expected) in
        [(14.0, false, Verdict::Early), (20.0, false, Verdict::Forced), (0.0, true, Verdict::Full)]
    {
        let mut spacing = Spacing { count: 50.0, is_above: true };
        let verdict = law(&PLAIN, average).decide(&mut spacing, backlog(20), 1500, 1.0, is_full);
        assert_eq!((verdict, spacing.count), (expected, 0.0));
    }
}

#[test]
fn adaptation_moves_max_p_towards_an_average_in_the_middle() {
    let adaptive = Shape { adaptive: true, ..PLAIN };
    let after = |average, max_p| {
        let mut law = law(&adaptive, average).with_max_p(max_p);
        let length = average as u64;
        law.arrive(Time::from_millis(500), backlog(length));
        close(law.max_p, max_p);
        law.arrive(Time::from_millis(501), backlog(length));
        let moved = law.max_p;
        law.arrive(Time::from_millis(900), backlog(length));
        close(law.max_p, moved);
        moved
    };
    // The middle is 9 to 11 packets.
    let edges = [(8.99, 0.09), (9.01, 0.1), (10.99, 0.1), (11.01, 0.11)];
    for (average, expected) in [(12.0, 0.11), (8.0, 0.09), (10.0, 0.1)].into_iter().chain(edges) {
        close(after(average, 0.1), expected);
    }
    // Small steps from a small value; neither beyond a half nor below 80 kbit/s of the rate.
    for (average, max_p, expected) in [(12.0, 0.02, 0.025), (14.0, 0.5, 0.5), (2.0, 0.008, 0.008)] {
        close(after(average, max_p), expected);
    }
}
