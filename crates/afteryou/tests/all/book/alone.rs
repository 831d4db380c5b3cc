//! The share of a slow link that each controller takes alone.

use super::words::{page, role, tenths, transport};
use super::THREADS;
use afteryou_cc::list::{Entry, CONTROLLERS};
use afteryou_engines::each;
use afteryou_scenario::{Buffer, Duration, Flow, Link, Rate, Scenario, Window};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;

const RATES_KBIT: [u64; 5] = [250, 500, 1000, 2000, 5000];
const RTTS_MS: [u64; 4] = [10, 40, 100, 200];
const BUFFER: Duration = Duration::from_millis(1000);
const DURATION: Duration = Duration::from_millis(200_000);
const MEASURED_FROM: Duration = Duration::from_millis(60_000);
/// The rule: nobody takes less of a link that is empty, tenths of a per cent.
const LEAST: u64 = 600;

/// A controller on a path.
pub struct Run {
    entry: &'static Entry,
    kbit: u64,
    rtt_ms: u64,
    /// Utilisation in tenths of a per cent.
    share: u64,
}

/// Returns all runs, made once.
pub fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let paths = RTTS_MS.iter().flat_map(|rtt_ms| RATES_KBIT.map(|kbit| (kbit, *rtt_ms)));
        let paths: Vec<(u64, u64)> = paths.collect();
        let jobs = CONTROLLERS.iter().flat_map(|entry| paths.iter().map(move |path| (entry, *path)));
        each(&jobs.collect::<Vec<_>>(), THREADS, |(entry, (kbit, rtt_ms))| run(entry, *kbit, *rtt_ms))
    })
}

fn run(entry: &'static Entry, kbit: u64, rtt_ms: u64) -> Run {
    let rate: Rate = format!("{kbit} kbit/s").parse().expect("a rate");
    let rtt = Duration::from_millis(rtt_ms);
    let flow = Flow { transport: transport(entry), ..Flow::new(entry.name, role(entry), entry.name, rtt) };
    let scenario = Scenario {
        measure: vec![Window { name: "settled".to_owned(), from: MEASURED_FROM, to: DURATION }],
        flow: vec![flow],
        ..Scenario::new(entry.name, DURATION, Link::new(rate, Buffer::Time(BUFFER)))
    };
    let scenario = scenario.checked().expect("a scenario");
    let outcome = afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()));
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    let utilisation = outcome.run.windows[0].bottleneck().expect("a link").utilisation;
    Run { entry, kbit, rtt_ms, share: (1000.0 * utilisation).round() as u64 }
}

/// Returns the runs that leave more of the link unused than they may, in words.
pub fn idle(runs: &[Run]) -> Vec<String> {
    let idle = runs.iter().filter(|run| run.share < LEAST);
    let words = idle.map(|run| {
        let (name, path) = (run.entry.name, format!("{} Mbit/s, {} ms", mbit(run.kbit), run.rtt_ms));
        format!("{name}, {path}: {} % of the link", tenths(run.share))
    });
    words.collect()
}

fn mbit(kbit: u64) -> String {
    (kbit as f64 / 1000.0).to_string()
}

/// Returns the page.
pub fn alone_page(runs: &[Run]) -> String {
    let mut text = format!(
        "# Alone on slow links\n\n\
         One bulk flow alone on a slow link without loss, for {DURATION} in the simulator, over the transport that the controller \
         was made for. The buffer is droptail and holds {BUFFER}. Cells have the link's utilisation from {MEASURED_FROM} on, in per cent.\n\n\
         A packet takes 48 ms on a link of 0.25 Mbit/s and 2.4 ms at 5 Mbit/s. There a threshold in milliseconds is affected by the delay that a flow's own packets add to each \
         other. A test requires at least {} % in every cell. No controller needs an exception.\n\n\
         LEDBAT++ loses up to a tenth to its slowdowns, and more on long paths, where each takes two long \
         round trips. Without \
         its four packets of noise [Nice](nice.md) has less than 1 % of a link of 0.5 to 2 Mbit/s: two packets that leave together are \
         more than 5 ms apart there, and the second one's delay counts as a queue.\n",
        LEAST / 10
    );
    RTTS_MS.iter().for_each(|rtt_ms| text += &table(runs, *rtt_ms));
    text
}

/// Returns the utilisation of every controller on every link with this round-trip time.
fn table(runs: &[Run], rtt_ms: u64) -> String {
    let heads: String = RATES_KBIT.iter().map(|kbit| format!(" {} Mbit/s |", mbit(*kbit))).collect();
    let lines = "--:|".repeat(RATES_KBIT.len());
    let mut text =
        format!("\n## Round trips of {rtt_ms} ms\n\n| controller | over |{heads}\n|---|---|{lines}\n");
    for entry in CONTROLLERS {
        let _ = write!(text, "| [{}]({}.md) | {} |", entry.name, page(entry.name), transport(entry));
        let of = runs.iter().filter(|run| run.entry.name == entry.name && run.rtt_ms == rtt_ms);
        of.for_each(|run| text += &format!(" {} |", tenths(run.share)));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_tenths_of_an_empty_link_are_enough_and_less_is_not() {
        let run = |share| Run { entry: &CONTROLLERS[0], kbit: 250, rtt_ms: 40, share };
        assert_eq!(idle(&[run(600), run(1000)]), Vec::<String>::new());
        let words = format!("{}, 0.25 Mbit/s, 40 ms: 59.9 % of the link", CONTROLLERS[0].name);
        assert_eq!(idle(&[run(599)]), [words]);
    }
}
