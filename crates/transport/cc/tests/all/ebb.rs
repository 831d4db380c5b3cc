//! Ebb on whole paths: what it takes alone, that it comes back, that its window stays near what the path carries.
//!
//! Jitter is 1 ms at most here: at the floor it looks like a queue, and 5 ms keep the rule there for long.

use crate::line::{Line, Net, Sender, MSS};
use afteryou_base::param::Value;
use afteryou_base::Span;
use afteryou_cc::group::Shared;
use afteryou_cc::list::find;
use afteryou_cc::{Controller, Setup};

fn controller(name: &str) -> Box<dyn Controller> {
    let overrides: [(&str, Value); 0] = [];
    find(name).expect("in the list").build(&overrides, Setup::of(MSS as u32)).expect("defaults are valid")
}

/// Returns so many connections with a window of their own, or one for all.
fn ebbs(count: usize, grouped: bool, from_s: u64, until_s: u64) -> Vec<Sender> {
    let group = Shared::new(controller("ebb"), MSS as u32);
    let one = || if grouped { group.member(MSS as u32) } else { controller("ebb") };
    (0..count).map(|_| Sender::new(one(), from_s, until_s)).collect()
}

/// Returns the paths that it must cope with. Batches are those of 13 ms at most.
fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    for base_ms in [5, 20, 50, 135, 250, 600] {
        for (lost_permille, jitter_ms) in [(0, 0), (0, 1), (1, 0), (10, 1), (50, 0)] {
            let (lost, jitter) = (lost_permille, Span::from_millis(jitter_ms));
            for (rate, batch) in [(400, 1), (2000, 8), (5000, 1), (5000, 64)] {
                let batch = if base_ms < 50 { 1 } else { batch };
                lines.push(Line { lost_permille: lost, jitter, batch, ..Line::plain(rate, base_ms) });
            }
        }
    }
    lines
}

/// Returns the time in which it has to take a tenth of a link that others have left, ms: eight round trips. The queue of the others goes
/// first. A path of 600 ms takes longer: at a few packets a round trip a step back after a loss alone is six rounds.
fn patience_ms(line: &Line) -> u64 {
    let (base_ms, buffer_ms) = (line.base.as_micros() / 1000, line.buffer.as_micros() / 1000);
    let rounds = if base_ms > 300 { 50 } else { 8 };
    buffer_ms + 3000.max(rounds * base_ms)
}

/// Returns a run of ebb beside a CUBIC that comes after 2 s and stays for so long.
fn beside_cubic(line: Line, cubic_s: u64) -> Net {
    let mut senders = ebbs(1, false, 0, 100);
    senders.push(Sender::new(controller("cubic"), 2, 2 + cubic_s));
    Net::new(line, senders)
}

#[test]
fn after_cubic_has_left_it_takes_a_tenth_of_the_link() {
    for (line, cubic_s) in lines().into_iter().flat_map(|line| [(line, 3), (line, 12)]) {
        let mut net = beside_cubic(line, cubic_s);
        let from = 1000 * (2 + cubic_s) + patience_ms(&line);
        net.run(from + 6000, |_, _| {});
        let share = net.share(0..1, from, from + 6000);
        assert!(share >= 0.1, "{share:.3} of {line:?} after {cubic_s} s");
    }
}

#[test]
fn its_window_is_a_few_times_what_the_path_holds() {
    for (line, cubic_s) in lines().into_iter().flat_map(|line| [(line, 0), (line, 12)]) {
        let mut net = beside_cubic(line, cubic_s);
        net.run(20_000, |_, _| {});
        let (most, holds) = (net.senders[0].most / MSS, line.holds());
        assert!(most <= 3 * holds + 110, "{most} packets, the path holds {holds}: {line:?}");
    }
}

#[test]
fn it_fills_paths_alone_whatever_the_batch() {
    for (base_ms, batch) in [20, 50, 135, 250].into_iter().flat_map(|ms| [1, 8, 64].map(|batch| (ms, batch)))
    {
        let line = Line { batch, ..Line::plain(5000, base_ms) };
        let mut net = Net::new(line, ebbs(1, false, 0, 60));
        net.run(25_000, |_, _| {});
        let share = net.share(0..1, 10_000, 25_000);
        // 64 packets take this link 13 ms.
        assert!(share > 0.95, "{base_ms} ms, batches of {batch}: {share:.3}");
    }
}

#[test]
fn after_a_change_to_a_longer_route_it_comes_back_alone_and_in_a_group() {
    for (members, base_ms) in [(1, 20), (2, 20), (4, 20), (8, 20), (4, 100)] {
        let mut net = Net::new(Line::plain(4000, base_ms), ebbs(members, true, 0, 90));
        net.run(10_000, |_, _| {});
        net.line.base = net.line.base + Span::from_millis(70);
        net.run(60_000, |_, _| {});
        let share = net.share(0..members, 40_000, 60_000);
        println!("{members} of {base_ms} ms: {share:.3}");
        assert!(share > 0.8, "{members} of {base_ms} ms: {share:.3}");
    }
}

#[test]
fn a_group_at_the_floor_sends_as_much_as_one_and_pairs() {
    for members in [1, 2, 4, 8] {
        let line = Line { buffer: Span::from_millis(200), ..Line::plain(4000, 20) };
        let mut senders = ebbs(members, true, 5, 60);
        senders.push(Sender::new(controller("cubic"), 0, 60));
        let mut net = Net::new(line, senders);
        let mut yields = 0u64;
        net.run(40_000, |_, senders| yields += u64::from(senders[0].controller.snapshot().phase == "yield"));
        let share = net.share(0..members, 20_000, 40_000);
        println!("{members}: {share:.4}, yields {yields}");
        assert!(share < 0.05, "{members}: {share:.3}");
    }
}
