//! What BBR keeps beside each background controller, and the queue that a latecomer does not see.

use super::words::{class, page, tenths, transport};
use super::THREADS;
use afteryou_cc::list::{find, Entry, CONTROLLERS};
use afteryou_engines::each;
use afteryou_scenario::outcome::Run;
use afteryou_scenario::{Buffer, Duration, Flow, Link, Rate, Record, Role, Scenario, Window};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;

const RATE: Rate = Rate::from_mbit(10);
const RTT: Duration = Duration::from_millis(40);
/// Half a BDP, 30 ms, one BDP, four, twelve, 500 ms.
const BUFFERS_MS: [u64; 6] = [20, 30, 40, 160, 480, 500];
const VERSIONS: [&str; 2] = ["bbr", "bbr3"];
const BACKGROUND: &str = "background";
/// BBR comes when the background flow has seen the empty path.
const COMES: Duration = Duration::from_millis(20_000);
const MEASURED: [Duration; 2] = [Duration::from_millis(30_000), Duration::from_millis(70_000)];
/// One BDP, and many.
const BUFFERS_OF_LATECOMERS_MS: [u64; 2] = [40, 500];
/// In the other experiment the background flow comes second, right after version 1 has measured its round-trip time for the second time.
const LATECOMER: Duration = Duration::from_millis(22_000);
const BEFORE: [Duration; 2] = [Duration::from_millis(24_000), Duration::from_millis(29_000)];
const AFTER: [Duration; 2] = [Duration::from_millis(35_000), Duration::from_millis(40_000)];

/// A pair on a link.
struct Pair {
    background: &'static Entry,
    version: &'static str,
    buffer_ms: u64,
    /// BBR's goodput over the same without the background flow, in tenths of a per cent.
    kept: u64,
    /// The queue that a latecomer does not see, before and after a probe of version 1, ms; none of a controller that reports no queue, and of
    /// the other buffers.
    unseen_ms: Option<[f64; 2]>,
}

/// Returns the page.
pub fn page_of_pairs() -> String {
    let pairs = pairs();
    let mut text = format!(
        "# Beside BBR\n\n\
         [BBR](bbr.md) sends at the rate that it has measured and does not wait for losses. In a buffer of one BDP or less, version 1 fills \
         the buffer, and every background controller leaves it most of the link. In deeper ones both versions hold less queue than the \
         LEDBAT family's targets. Such a controller sees too little of BBR, and takes up to half of the link. Nice yields \
         to all of it.\n\n\
         The link has {RATE} and a round trip of {RTT}, without loss. The background flow runs from the start, over the transport that its \
         controller was made for, and BBR over tcp comes at {COMES}. Cells have what BBR keeps of the goodput that it has alone, from \
         {} to {}, in per cent. One run each in the simulator. Buffers are droptail. Half a BDP is 20 ms here.\n",
        MEASURED[0], MEASURED[1]
    );
    for version in VERSIONS {
        text += &kept_table(pairs, version);
    }
    text += &latecomers_table(pairs);
    text
}

fn kept_table(pairs: &[Pair], version: &str) -> String {
    let heads: String = BUFFERS_MS.iter().map(|ms| format!(" {ms} ms |")).collect();
    let lines = "--:|".repeat(BUFFERS_MS.len());
    let mut text = format!("\n## What {version} keeps\n\n| background | over |{heads}\n|---|---|{lines}\n");
    for entry in players() {
        let _ = write!(text, "| [{}]({}.md) | {} |", entry.name, page(entry.name), transport(entry));
        let of = pairs.iter().filter(|pair| pair.background.name == entry.name && pair.version == version);
        of.for_each(|pair| text += &format!(" {} |", tenths(pair.kept)));
        text.push('\n');
    }
    text
}

fn latecomers_table(pairs: &[Pair]) -> String {
    let mut text = format!(
        "\n## A latecomer\n\n\
         Here BBR runs from the start, and the background flow comes at {LATECOMER}. Version 1 sends next to nothing for 200 ms every 10 s, \
         version 3 half as much as the path holds every 5 s. Until then a latecomer takes BBR's queue for a part of the path. Cells have the \
         error of its base delay in ms, which is the queue less its own estimate of the queue, as a mean over its acks. The first number \
         is from {} to {}, before a probe of version 1. The second is from {} to {}, after it. Controllers that report no estimate are \
         left out.\n\n\
         | background |",
        BEFORE[0], BEFORE[1], AFTER[0], AFTER[1]
    );
    let columns = || VERSIONS.iter().flat_map(|version| BUFFERS_OF_LATECOMERS_MS.map(|ms| (*version, ms)));
    columns().for_each(|(version, ms)| text += &format!(" {version}, {ms} ms |"));
    text += &format!("\n|---|{}\n", "--:|".repeat(columns().count()));
    for entry in players() {
        let cell = |(version, ms)| {
            let key = (entry.name, version, ms);
            let pair = pairs.iter().find(|one| (one.background.name, one.version, one.buffer_ms) == key)?;
            let [before, after] = pair.unseen_ms?;
            Some(format!(" {before:.1} → {after:.1} |"))
        };
        let cells: Option<String> = columns().map(cell).collect();
        if let Some(cells) = cells {
            let _ = writeln!(text, "| [{}]({}.md) |{cells}", entry.name, page(entry.name));
        }
    }
    text
}

/// Returns the background controllers.
fn players() -> impl Iterator<Item = &'static Entry> {
    CONTROLLERS.iter().filter(|entry| class(entry) == BACKGROUND)
}

/// Returns all pairs, measured once.
fn pairs() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let links = || VERSIONS.iter().flat_map(|version| BUFFERS_MS.map(|ms| (*version, ms)));
        let alone = each(&links().collect::<Vec<_>>(), THREADS, |(version, buffer_ms)| {
            goodput(&run(*buffer_ms, vec![bbr(version, COMES)], vec![window("measured", MEASURED)]))
        });
        let links: Vec<_> = links().zip(alone).collect();
        let jobs = players().flat_map(|entry| links.iter().map(move |link| (entry, link)));
        each(&jobs.collect::<Vec<_>>(), THREADS, |(entry, ((version, buffer_ms), alone))| {
            let flows = vec![background(entry, Duration::from_millis(0)), bbr(version, COMES)];
            let together = goodput(&run(*buffer_ms, flows, vec![window("measured", MEASURED)]));
            Pair {
                background: entry,
                version,
                buffer_ms: *buffer_ms,
                kept: (1000.0 * together / alone).round() as u64,
                unseen_ms: unseen_ms(entry, version, *buffer_ms),
            }
        })
    })
}

fn unseen_ms(entry: &Entry, version: &str, buffer_ms: u64) -> Option<[f64; 2]> {
    if !BUFFERS_OF_LATECOMERS_MS.contains(&buffer_ms) {
        return None;
    }
    let flows = vec![background(entry, LATECOMER), bbr(version, Duration::from_millis(0))];
    let run = run(buffer_ms, flows, vec![window("before", BEFORE), window("after", AFTER)]);
    let unseen = |window: usize| run.windows[window].flows[0].sender?.delay_error_ms;
    Some([-unseen(0)?, -unseen(1)?])
}

fn window(name: &str, [from, to]: [Duration; 2]) -> Window {
    Window { name: name.to_owned(), from, to }
}

fn background(entry: &Entry, start: Duration) -> Flow {
    Flow { start, transport: transport(entry), ..Flow::new("background", Role::Background, entry.name, RTT) }
}

fn bbr(version: &str, start: Duration) -> Flow {
    let entry = find(version).unwrap_or_else(|| panic!("{version} is not in the list of controllers"));
    Flow { start, transport: transport(entry), ..Flow::new("bbr", Role::Foreground, entry.name, RTT) }
}

fn run(buffer_ms: u64, flow: Vec<Flow>, measure: Vec<Window>) -> Run {
    let link = Link::new(RATE, Buffer::Time(Duration::from_millis(buffer_ms)));
    let duration = measure.iter().map(|window| window.to).max().expect("a window");
    let record = vec![Record::Senders];
    let scenario = Scenario { measure, flow, record, ..Scenario::new("beside BBR", duration, link) };
    let scenario = scenario.checked().expect("a scenario");
    afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).expect("a run").run
}

/// Returns BBR's goodput, bit/s: it is the last flow.
fn goodput(run: &Run) -> f64 {
    run.windows[0].flows.last().map_or(0.0, |flow| flow.goodput_bit_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the least that a version keeps beside these controllers in these buffers, in tenths of a per cent.
    fn least(version: &str, is_one: impl Fn(&str) -> bool, buffers_ms: std::ops::RangeInclusive<u64>) -> u64 {
        let of = pairs().iter().filter(|pair| pair.version == version && is_one(pair.background.name));
        of.filter(|pair| buffers_ms.contains(&pair.buffer_ms)).map(|pair| pair.kept).min().unwrap()
    }

    #[test]
    fn the_page_begins_with_what_its_tables_show() {
        assert!(least("bbr", |name| name != "proteus-s", 0..=40) >= 850);
        assert!(least("bbr", |name| name == "proteus-s", 0..=40) >= 700);
        for version in VERSIONS {
            assert!(
                least(version, |name| name.contains("ledbat") || name.contains("utp"), 41..=500) <= 650,
                "{version}"
            );
            assert!(least(version, |name| name == "nice", 0..=500) >= 980, "{version}");
        }
    }

    #[test]
    fn each_background_controller_meets_both_versions_in_every_buffer() {
        let all = players().count() * VERSIONS.len() * BUFFERS_MS.len();
        assert_eq!(pairs().len(), all);
        assert!(
            pairs().iter().all(|pair| (1..=1050).contains(&pair.kept)),
            "what is kept is a part of what it has alone"
        );
    }
}
