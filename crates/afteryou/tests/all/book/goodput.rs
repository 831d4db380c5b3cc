//! Goodput of every controller on every path, and how long it lay at its floor.

use super::words::{page, role, tenths, transport};
use super::THREADS;
use afteryou_base::Span;
use afteryou_cc::list::{Entry, CONTROLLERS};
use afteryou_engines::each;
use afteryou_scenario::{Buffer, Duration, Flow, Link, Probability, Rate, Scenario, Window};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;

const RATE: Rate = Rate::from_mbit(20);
const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
/// Random loss in tenths of a per cent.
const LOSSES: [u64; 4] = [0, 1, 10, 50];
const DURATION: Duration = Duration::from_millis(60_000);
const MEASURED_FROM: Duration = Duration::from_millis(10_000);
/// Time between two looks at the window.
const LOOK: Span = Span::from_millis(10);
/// The floor is at most this many packets.
const FLOOR_PACKETS: u64 = 2;
/// The rule: on paths with at most this loss (tenths of a per cent) nobody is at the floor for longer (tenths of a second).
const RULE_LOSS: u64 = 10;
const RULE_TENTHS_S: u64 = 30;

/// Controllers that may break the rule: name, path (round-trip time in ms, tenths of a per cent of loss), reason.
const EXCEPTIONS: &[(&str, (u64, u64), &str)] = &[];

/// A controller on a path.
pub struct Run {
    entry: &'static Entry,
    rtt_ms: u64,
    loss: u64,
    /// Goodput in tenths of a per cent of the payload capacity.
    goodput: u64,
    /// Longest time on end at the floor, tenths of a second.
    floor: u64,
}

/// Returns all runs, made once.
pub fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let paths = LOSSES.iter().flat_map(|loss| RTTS_MS.map(|rtt_ms| (rtt_ms, *loss)));
        let paths: Vec<(u64, u64)> = paths.collect();
        let jobs = CONTROLLERS.iter().flat_map(|entry| paths.iter().map(move |path| (entry, *path)));
        each(&jobs.collect::<Vec<_>>(), THREADS, |(entry, (rtt_ms, loss))| run(entry, *rtt_ms, *loss))
    })
}

fn run(entry: &'static Entry, rtt_ms: u64, loss: u64) -> Run {
    let scenario = scenario(entry, rtt_ms, loss).checked().expect("a scenario");
    let packet = scenario.flow[0].packet_format();
    let (mut looks_at_floor, mut longest) = (0, 0);
    let take = &mut |sample: afteryou_sim::Sample<'_>| {
        let at_floor = sample.snapshot.cwnd <= FLOOR_PACKETS * packet.payload.bytes();
        looks_at_floor = if at_floor { looks_at_floor + 1 } else { 0 };
        longest = longest.max(looks_at_floor);
    };
    let outcome = afteryou_sim::sampled(&scenario, &mut |_| ControlFlow::Continue(()), LOOK, take);
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    // Whole bits and bytes: the same on every machine.
    let bits = outcome.run.windows[0].flows[0].goodput_bit_s as u64;
    let full_packet = packet.payload.bytes() + packet.overhead.bytes();
    let capacity = RATE.bits_per_second() * packet.payload.bytes();
    let goodput = (bits * full_packet * 1000 + capacity / 2) / capacity;
    let looks_per_tenth = Span::from_millis(100).as_nanos() / LOOK.as_nanos();
    Run { entry, rtt_ms, loss, goodput, floor: (longest + looks_per_tenth / 2) / looks_per_tenth }
}

fn scenario(entry: &Entry, rtt_ms: u64, loss: u64) -> Scenario {
    let rtt = Duration::from_millis(rtt_ms);
    let link = Link {
        loss: Probability::from_ratio(loss as f64 / 1000.0).expect("a probability"),
        ..Link::new(RATE, Buffer::Time(rtt))
    };
    let flow = Flow { transport: transport(entry), ..Flow::new(entry.name, role(entry), entry.name, rtt) };
    Scenario {
        measure: vec![Window { name: "settled".to_owned(), from: MEASURED_FROM, to: DURATION }],
        flow: vec![flow],
        ..Scenario::new(entry.name, DURATION, link)
    }
}

/// Returns the runs that are at the floor for longer than they may, in words.
pub fn stuck(runs: &[Run]) -> Vec<String> {
    let excused = |run: &Run| {
        EXCEPTIONS.iter().any(|(name, path, _)| *name == run.entry.name && *path == (run.rtt_ms, run.loss))
    };
    let stuck = runs.iter().filter(|run| run.loss <= RULE_LOSS && run.floor > RULE_TENTHS_S && !excused(run));
    let words = stuck.map(|run| {
        let (name, path, floor) = (run.entry.name, path(run.rtt_ms, run.loss), tenths(run.floor));
        format!("{name}, {path}: {floor} s at its floor")
    });
    words.collect()
}

/// Returns the exceptions that nobody needs any more, in words.
pub fn needless(runs: &[Run]) -> Vec<String> {
    let needs = |name: &str, path: (u64, u64)| {
        let mut of = runs.iter().filter(|run| run.entry.name == name && (run.rtt_ms, run.loss) == path);
        of.any(|run| run.floor > RULE_TENTHS_S)
    };
    let needless = EXCEPTIONS.iter().filter(|(name, path, _)| !needs(name, *path));
    needless.map(|(name, (rtt_ms, loss), _)| format!("{name}, {}", path(*rtt_ms, *loss))).collect()
}

fn path(rtt_ms: u64, loss: u64) -> String {
    format!("{rtt_ms} ms, {} loss", percent(loss))
}

fn percent(tenths_of_percent: u64) -> String {
    match tenths_of_percent % 10 {
        0 => format!("{} %", tenths_of_percent / 10),
        _ => format!("{} %", tenths(tenths_of_percent)),
    }
}

/// Returns the page.
pub fn goodput_page(runs: &[Run]) -> String {
    let mut text = introduction();
    text += "\n## Goodput, per cent\n";
    LOSSES.iter().for_each(|loss| text += &table(runs, *loss, |run| run.goodput));
    text += "\n## Longest time at the floor, seconds\n";
    LOSSES.iter().for_each(|loss| text += &table(runs, *loss, |run| run.floor));
    let _ = write!(
        text,
        "\n## Exceptions: at the floor for longer than {} s\n\n{}",
        tenths(RULE_TENTHS_S),
        exceptions()
    );
    text
}

/// How much a cell means, measured once.
const SCATTER: &str = "\
**How far one run scatters.** CUBIC over uTP at 5 ms and 5 % of loss has a mean of 6.68 Mbit/s over 100 seeds. The standard \
deviation is 0.35 Mbit/s, 1.8 % of the link. When uTP began to spread its reductions over the recovery (PRR, RFC 9937), the run with \
seed 1 went from 6.82 to 6.46 Mbit/s. The same 100 seeds have 6.68 Mbit/s with PRR and 6.70 without, each with a standard error \
of 0.04, so PRR changes nothing here. The rule for timeouts that came with it has no part either. With the former rule all 100 runs \
end with the same packets and losses.";

fn introduction() -> String {
    let rtts = RTTS_MS.map(|rtt| rtt.to_string()).join(", ");
    format!(
        "# Goodput on lossy paths\n\n\
         One bulk flow alone on a link of {RATE}, for {DURATION} in the simulator, over the transport that the controller was \
         made for. The buffer is droptail and holds one bandwidth-delay product: what the link sends in one round trip. Packets \
         are lost at random in each direction. Round trips of {rtts} ms; seed 1.\n\n\
         - **Goodput** is payload that arrived for the first time, from {MEASURED_FROM} on, in per cent of what the link can carry \
         of it. Random loss is not congestion, but a controller that reacts to loss loses goodput, and more on \
         longer paths.\n\
         - **At the floor** is the longest continuous time in which the window was at most {FLOOR_PACKETS} packets \
         although there was more to send. Many rules go there for a moment. Several seconds there mean a stuck flow.\n\n\
         A test checks every controller against a bound. With at most {} of loss nobody is at the floor for longer than {} s \
         continuously, unless its own rule demands it. Each number comes from one run, so small differences between cells are noise; a difference between \
         two versions is an effect of the change.\n\n\
         {SCATTER}\n",
        percent(RULE_LOSS),
        tenths(RULE_TENTHS_S),
    )
}

/// Returns a quantity that counts tenths, of every controller on every path with this loss.
fn table(runs: &[Run], loss: u64, quantity: fn(&Run) -> u64) -> String {
    let heads: String = RTTS_MS.iter().map(|rtt| format!(" {rtt} ms |")).collect();
    let lines = "--:|".repeat(RTTS_MS.len());
    let mut text = format!("\n### {} random loss\n\n", percent(loss));
    let _ = writeln!(text, "| controller | over |{heads}\n|---|---|{lines}");
    for entry in CONTROLLERS {
        let _ = write!(text, "| [{}]({}.md) | {} |", entry.name, page(entry.name), transport(entry));
        let of = runs.iter().filter(|run| run.entry.name == entry.name && run.loss == loss);
        of.for_each(|run| text += &format!(" {} |", tenths(quantity(run))));
        text.push('\n');
    }
    text
}

fn exceptions() -> String {
    if EXCEPTIONS.is_empty() {
        return "No controller needs an exception.\n".to_owned();
    }
    let mut text = "| controller | path | why |\n|---|---|---|\n".to_owned();
    for (name, (rtt_ms, loss), why) in EXCEPTIONS {
        let _ = writeln!(text, "| {name} | {} | {why} |", path(*rtt_ms, *loss));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_seconds_at_the_floor_are_allowed_and_more_is_not_up_to_one_per_cent_of_loss() {
        let run = |loss, floor| Run { entry: &CONTROLLERS[0], rtt_ms: 50, loss, goodput: 0, floor };
        assert_eq!(stuck(&[run(10, 30), run(50, 31), run(0, 0)]), Vec::<String>::new());
        let words = format!("{}, 50 ms, 1 % loss: 3.1 s at its floor", CONTROLLERS[0].name);
        assert_eq!(stuck(&[run(10, 31)]), [words]);
    }
}
