//! A picture of each network and traffic element, made from the files in `scenarios/gallery`.
//!
//! A file's first comment line is the title of its section, the other ones its caption.

use super::drawn::{Drawn, FIGURES};
use super::root;
use afteryou_plot::{Data, Figure, Kind};
use afteryou_scenario::passage::{Content, Fate, Passage, Time};
use afteryou_scenario::{Checked, Outcome};
use afteryou_scenario_file::Experiment;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// What a picture shows.
#[derive(Clone, Copy)]
enum Look {
    /// Curves of a quantity.
    Curves(&'static str),
    /// Curves of a quantity, of the first flow alone.
    First(&'static str),
    /// One-way delay of each data packet of the first flow that is acknowledged, between two times in seconds.
    Delays(f64, f64),
    /// Acknowledgements that report a gap so far, over acknowledgements.
    Overtaken,
    /// Data packets lost so far, over data packets.
    Lost,
    /// Copies so far, over data packets.
    Copies,
    /// Distribution of times between acknowledgements.
    Gaps,
    /// Distribution of the flows' round-trip times.
    Rtts,
    /// Distribution of times from a connection's first packet to its last acknowledgement.
    Transfers,
    /// Distribution of how far links are used.
    Used,
}

/// An element's file, its picture, and the settings that are drawn side by side.
struct Element {
    file: &'static str,
    look: Look,
    /// Name of a variant and the settings that make it; the file as it is if there are none.
    variants: &'static [(&'static str, &'static str)],
}

const fn element(file: &'static str, look: Look) -> Element {
    Element { file, look, variants: &[("", "")] }
}

const fn variants(
    file: &'static str,
    look: Look,
    variants: &'static [(&'static str, &'static str)],
) -> Element {
    Element { file, look, variants }
}

const NETWORK: &[Element] = &[
    element("parking-lot", Look::Curves("goodput")),
    element("reverse-path", Look::Curves("goodput")),
    element("rate-steps", Look::Curves("goodput")),
    element("packet-delivery-trace", Look::Curves("goodput")),
    element("rates-from-a-file", Look::Curves("goodput")),
    element("satellite", Look::Delays(0.0, 60.0)),
    element("delay-steps", Look::Delays(3.9, 4.5)),
    element("route-change", Look::Curves("goodput")),
    element("jitter", Look::Delays(2.0, 2.4)),
    variants(
        "reordering",
        Look::Overtaken,
        &[("in order", "link.jitter.reorder=false"), ("with reordering", "")],
    ),
    variants(
        "loss-laws",
        Look::Lost,
        &[
            ("independent", ""),
            ("in bursts", "link.loss={ gilbert_elliott = { mean = \"1 %\", burst = 10 } }"),
            ("periodic", "link.loss={ every = 100 }"),
        ],
    ),
    element("duplication", Look::Copies),
    variants(
        "ack-aggregation",
        Look::Gaps,
        &[("aggregated", ""), ("one by one", "link.reverse.aggregate=\"none\"")],
    ),
    element("drop-rule", Look::Curves("cwnd")),
    element("delay-rule", Look::Overtaken),
    variants(
        "rtt-laws",
        Look::Rtts,
        &[
            ("uniform", ""),
            ("lognormal", "flow.uploads.rtt={ lognormal = { median = \"50 ms\", sigma = 0.5 } }"),
            ("samples", "flow.uploads.rtt={ samples = [[\"20 ms\", 3], [\"80 ms\", 1]] }"),
        ],
    ),
    element("hosts", Look::Used),
    variants(
        "noise",
        Look::First("cwnd"),
        &[("none, any seed", ""), ("ns2, seed 1", "noise=ns2"), ("ns2, seed 2", "noise=ns2 ; seed=2")],
    ),
];

const TRAFFIC: &[Element] = &[
    element("bulk", Look::Curves("goodput")),
    element("sized", Look::Curves("goodput")),
    variants(
        "cbr",
        Look::First("queuing_delay"),
        &[("beside ledbat++", ""), ("beside ledbat", "flow.backup.controller=ledbat")],
    ),
    variants(
        "random-datagrams",
        Look::First("queuing_delay"),
        &[("exponential gaps", ""), ("equal gaps", "flow.source.traffic.gaps=\"equal\"")],
    ),
    element("on-off", Look::Curves("goodput")),
    element("intervals", Look::Curves("goodput")),
    element("chunks", Look::Curves("goodput")),
    variants(
        "arrivals",
        Look::Transfers,
        &[
            ("alone", "flow.backup.count=0"),
            ("beside ledbat++", ""),
            ("beside cubic", "flow.backup.controller=cubic"),
        ],
    ),
    element("web", Look::Curves("goodput")),
    element("video", Look::Curves("goodput")),
    element("swarm", Look::Curves("goodput")),
];

/// A group of curves, x and y.
type Row = (String, f64, f64);

impl Element {
    fn picture(&self, title: &str) -> String {
        let mut rows = Vec::new();
        for (name, setting) in self.variants {
            let sets =
                setting.split(" ; ").filter(|set| !set.is_empty()).map(str::to_owned).collect::<Vec<_>>();
            let experiment =
                Experiment::read(&scenario(self.file), &sets).unwrap_or_else(|error| panic!("{error}"));
            let planned = experiment.runs(None, Some(1)).expect("a run");
            rows.extend(rows_of(&planned[0].scenario, self.look, name));
        }
        draw(self.look, title, &rows)
    }
}

/// Returns the page, and its pictures by their path below `docs/src`.
pub fn pages() -> Vec<(String, String)> {
    let mut page = INTRODUCTION.to_owned();
    let mut files = Vec::new();
    for (heading, elements) in [("Networks", NETWORK), ("Traffic", TRAFFIC)] {
        let file = |element: &Element| element.file;
        add_chapter(heading, elements, file, Element::picture, &mut page, &mut files);
    }
    let (heading, file, picture) = ("Figures of a result", Drawn::file, Drawn::picture);
    add_chapter(heading, FIGURES, file, picture, &mut page, &mut files);
    files.push(("gallery.md".to_owned(), page));
    files
}

/// Adds a section for each of `all`, and its picture.
fn add_chapter<T: Sync>(
    heading: &str,
    all: &[T],
    file: impl Fn(&T) -> &'static str + Sync,
    picture: impl Fn(&T, &str) -> String + Sync,
    page: &mut String,
    files: &mut Vec<(String, String)>,
) {
    let _ = write!(page, "\n## {heading}\n");
    let drawn = afteryou_engines::each(&all.iter().collect::<Vec<_>>(), super::THREADS, |one| {
        let name = file(one);
        let text = super::text(&scenario(name)).unwrap_or_else(|| panic!("{name} is there"));
        let (title, caption, toml) = parts(&text);
        (section(name, &title, &caption, &toml), picture(one, &title))
    });
    for (one, (section, picture)) in all.iter().zip(drawn) {
        *page += &section;
        files.push((format!("gallery/{}.svg", file(one)), picture));
    }
}

/// Returns a file of the gallery.
fn scenario(name: &str) -> std::path::PathBuf {
    root().join(format!("scenarios/gallery/{name}.toml"))
}

const INTRODUCTION: &str = "# Gallery of networks and traffic\n\n\
    A picture for each element of a [network](networks.md) and each form of [traffic](scenarios.md#traffic), and some of the \
    [figures](figures.md) of a result, with the scenario that makes it. Each block is a whole file of `scenarios/gallery`; \
    `afteryou sim scenarios/gallery/jitter.toml --out here` runs one. The windows of all controllers have a \
    [gallery of their own](controllers/gallery.md).\n\n\
    `UPDATE_BOOK=1 cargo test -p afteryou --test all book` makes this page and its pictures. The repository has the page alone.\n";

fn section(file: &str, title: &str, caption: &str, toml: &str) -> String {
    let runs = Experiment::read(&scenario(file), &[]).ok().and_then(|read| read.runs(None, None).ok());
    let first = runs.and_then(|runs| runs.into_iter().next());
    let lab = match first.is_some_and(|run| afteryou_page::takes(&run.scenario)) {
        true => format!("\n[Open it in the lab page](lab.md#scenario=gallery/{file}).\n"),
        false => String::new(),
    };
    format!("\n### {title}\n\n{caption}\n\n![{title}](gallery/{file}.svg)\n\n```toml\n{toml}```\n{lab}")
}

/// Returns title, caption and settings of a file.
fn parts(text: &str) -> (String, String, String) {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let lines: Vec<&str> = comments.map(|line| line.trim_start_matches("# ")).collect();
    let settings = text.lines().skip(lines.len()).map(|line| format!("{line}\n"));
    (lines[0].to_owned(), lines[1..].join("\n"), settings.collect())
}

fn rows_of(scenario: &Checked, look: Look, variant: &str) -> Vec<Row> {
    let mut seen = Seen::default();
    let end = Time::ZERO + scenario.duration.0;
    let mut tap = |passage: &Passage<'_>| {
        if passage.at <= end {
            seen.see(passage);
        }
    };
    let watchers = afteryou_sim::Watchers {
        every: afteryou_sim::NEVER,
        take: &mut |_| {},
        tap: Some(&mut tap),
        observers: None,
    };
    let outcome = afteryou_sim::watched(scenario, &mut |_| ControlFlow::Continue(()), watchers)
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    let named = |values: Vec<(f64, f64)>, or: &str| {
        let name = if variant.is_empty() { or } else { variant };
        values.into_iter().map(|(x, y)| (name.to_owned(), x, y)).collect()
    };
    let alone = |values: Vec<f64>| values.into_iter().map(|y| (0.0, y)).collect::<Vec<_>>();
    match look {
        Look::Curves(quantity) => curves(&outcome, quantity, variant),
        Look::First(quantity) => {
            let first = curves(&outcome, quantity, "").into_iter();
            let first = first.filter(|(of, ..)| *of == scenario.flow[0].name);
            named(first.map(|(_, x, y)| (x, y)).collect(), "delay")
        }
        Look::Delays(from, to) => {
            let within = seen.delays.into_iter().filter(|(at, _)| (from..to).contains(at));
            named(within.collect(), "one-way delay")
        }
        Look::Overtaken => named(seen.overtaken, "acks with a gap"),
        Look::Lost => named(seen.lost, "lost"),
        Look::Copies => named(seen.copies, "copies"),
        Look::Gaps => named(alone(seen.gaps), "gaps"),
        Look::Rtts => {
            named(alone(scenario.flow.iter().map(|flow| flow.rtt.as_secs_f64()).collect()), "flows")
        }
        Look::Transfers => named(alone(seen.transfers()), "transfers"),
        Look::Used => used(&outcome),
    }
}

fn curves(outcome: &Outcome, quantity: &str, variant: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for series in outcome.run.series.iter().filter(|series| series.quantity == quantity) {
        let name = if variant.is_empty() { series.of.clone() } else { format!("{}, {variant}", series.of) };
        for (i, value) in series.values.iter().enumerate() {
            let Some(value) = value else { continue };
            rows.push((name.clone(), series.start_s + i as f64 * series.step_s, value * base(&series.unit)));
        }
    }
    rows
}

/// Returns the number of base units in one of these.
fn base(unit: &str) -> f64 {
    match unit {
        "Mbit/s" => 1e6,
        "kB" => 1e3,
        _ => 1.0,
    }
}

fn used(outcome: &Outcome) -> Vec<Row> {
    let links = &outcome.run.windows[0].links;
    let direction = |name: &str| if name.ends_with("up") { "uplinks" } else { "downlinks" };
    links.iter().map(|link| (direction(&link.link).to_owned(), 0.0, link.utilisation)).collect()
}

/// Runs of different lengths are drawn up to this packet.
const MOST_PACKETS: f64 = 15_000.0;

/// What the tap has seen.
#[derive(Default)]
struct Seen {
    delays: Vec<(f64, f64)>,
    lost: Vec<(f64, f64)>,
    copies: Vec<(f64, f64)>,
    overtaken: Vec<(f64, f64)>,
    acks: f64,
    with_gap: f64,
    gaps: Vec<f64>,
    last_ack: Option<f64>,
    data: f64,
    gone: f64,
    again: f64,
    transmissions: BTreeSet<(u32, u8)>,
    connections: BTreeMap<(usize, u32), (f64, f64)>,
}

impl Seen {
    fn see(&mut self, passage: &Passage<'_>) {
        let at = passage.at.as_nanos() as f64 / 1e9;
        let span = self.connections.entry((passage.flow, passage.connection)).or_insert((at, at));
        span.1 = at.max(span.1);
        if passage.flow != 0 {
            return;
        }
        match passage.content {
            Content::Segment { number, transmission, .. } => {
                self.data += 1.0;
                if passage.fate == Fate::Lost {
                    self.gone += 1.0;
                }
                if !self.transmissions.insert((number, transmission)) {
                    self.again += 1.0;
                }
                if self.data <= MOST_PACKETS {
                    self.lost.push((self.data, self.gone));
                }
                self.copies.push((self.data, self.again));
            }
            Content::Ack { tsval, tsecr, blocks, .. } if passage.fate == Fate::Sent => {
                self.acks += 1.0;
                self.with_gap += f64::from(u8::from(!blocks.is_empty()));
                self.overtaken.push((self.acks, self.with_gap));
                self.delays.push((f64::from(tsecr) / 1e6, f64::from(tsval.wrapping_sub(tsecr)) / 1e3));
                self.gaps.extend(self.last_ack.map(|last| at - last));
                self.last_ack = Some(at);
            }
            _ => {}
        }
    }

    /// Returns the transfers of the first flow.
    fn transfers(&self) -> Vec<f64> {
        let first = self.connections.iter().filter(|((flow, _), _)| *flow == 0);
        first.map(|(_, (begin, end))| end - begin).collect()
    }
}

fn draw(look: Look, title: &str, rows: &[Row]) -> String {
    let (x, y, kind) = match look {
        Look::Curves("goodput") => ("time_s", "goodput_bit_s", Kind::Line),
        Look::Curves("cwnd") | Look::First("cwnd") => ("time_s", "congestion_window_bytes", Kind::Line),
        Look::Curves(_) | Look::First(_) => ("time_s", "queuing_delay_ms", Kind::Line),
        Look::Delays(..) => ("sent_at_s", "one_way_delay_ms", Kind::Line),
        Look::Overtaken => ("acks", "acks_with_a_gap", Kind::Line),
        Look::Lost => ("data_packets", "lost_packets", Kind::Line),
        Look::Copies => ("data_packets", "copies", Kind::Line),
        Look::Gaps => ("", "time_between_acks_s", Kind::Cdf),
        Look::Rtts => ("", "rtt_s", Kind::Cdf),
        Look::Transfers => ("", "transfer_s", Kind::Cdf),
        Look::Used => ("", "utilisation_ratio", Kind::Cdf),
    };
    let mut csv = format!("by,{},{y}\n", if x.is_empty() { "none" } else { x });
    // A picture has about a thousand points a curve at most.
    for (by, x, value) in thinned(rows) {
        let _ = writeln!(csv, "\"{by}\",{x},{value:.6}");
    }
    let figure = Figure {
        kind: Some(kind),
        x: (!x.is_empty()).then(|| x.to_owned()),
        y: y.to_owned(),
        by: vec!["by".to_owned()],
        title: Some(title.to_owned()),
        ..Figure::default()
    };
    let drawn = Data::parse(&csv, Path::new(title)).and_then(|data| figure.draw_of(data));
    drawn.unwrap_or_else(|error| panic!("{title}: {error}"))
}

/// Returns every n-th row of each group.
fn thinned(rows: &[Row]) -> impl Iterator<Item = &Row> {
    const MOST: usize = 500;
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().for_each(|(by, ..)| *sizes.entry(by).or_default() += 1);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().filter(move |(by, ..)| {
        let i = seen.entry(by).or_default();
        *i += 1;
        (*i - 1).is_multiple_of(sizes[by.as_str()].div_ceil(MOST))
    })
}
