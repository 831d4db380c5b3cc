//! Windows per round trip: a standard path, alone and with a TCP flow that comes and goes.
//!
//! The text is for reviewers, who see in its diff what a change does; the picture is for readers.

use super::words::{class, page, role, sentence, tenths, transport};
use afteryou_cc::list::Entry;
use afteryou_cc::Snapshot;
use afteryou_plot::Scale;
use afteryou_scenario::outcome::{Outcome, Series};
use afteryou_scenario::{Buffer, Duration, Flow, Link, Rate, Role, Scenario, Window};
use std::fmt::Write;
use std::ops::ControlFlow;

const RATE: Rate = Rate::from_mbit(10);
const RTT: Duration = Duration::from_millis(50);
const BUFFER: Duration = Duration::from_millis(100);
const DURATION: Duration = Duration::from_millis(30_000);
/// Who comes, and when.
const OTHER: &str = "newreno";
const OTHER_STAYS: [Duration; 2] = [Duration::from_millis(10_000), Duration::from_millis(20_000)];
/// The start is over, alone and with the other flow.
const ALONE: [Duration; 2] = [Duration::from_millis(10_000), DURATION];
const TOGETHER: [Duration; 2] = [Duration::from_millis(12_000), Duration::from_millis(20_000)];
/// Rounds in a line of the text.
const ROUNDS: usize = 10;

/// A controller's two runs.
pub struct Exhibit {
    entry: &'static Entry,
    alone: Rounds,
    together: Rounds,
}

/// A run as it looks once per round trip.
struct Rounds {
    outcome: Outcome,
    /// Window in tenths of a packet, and the phase.
    windows: Vec<(u64, &'static str)>,
}

impl Exhibit {
    /// Runs both.
    pub fn new(entry: &'static Entry) -> Exhibit {
        let flow = own_flow(entry);
        let other = Flow {
            start: OTHER_STAYS[0],
            stop: Some(OTHER_STAYS[1]),
            ..Flow::new(format!("another ({OTHER})"), Role::Foreground, OTHER, RTT)
        };
        let alone = Rounds::run(scenario(entry, ALONE, vec![flow.clone()]));
        let together = Rounds::run(scenario(entry, TOGETHER, vec![flow, other]));
        Exhibit { entry, alone, together }
    }

    /// Returns the snapshot for reviewers.
    pub fn text(&self) -> String {
        let flow = own_flow(self.entry);
        let mut text = format!(
            "{} over {}, {RATE}, {RTT}, buffer {BUFFER}, droptail, {DURATION}.\n\
             Window at the start of each round trip of {RTT}, in packets of {} B, and the phase (with how many of the line's \
             rounds).\n",
            self.entry.name,
            flow.transport,
            flow.packet_format().payload.bytes(),
        );
        let _ = write!(text, "\nalone\n{}", self.alone.lines());
        let _ = write!(text, "\nbeside {OTHER} over tcp{}\n{}", stay(), self.together.lines());
        text
    }

    /// Returns the picture for readers.
    pub fn picture(&self) -> String {
        let title = format!("{}: window in each round trip of {RTT}, packets", self.entry.name);
        let beside = format!("Beside {OTHER}{}", stay());
        let runs = [("Alone", &self.alone.outcome), (&*beside, &self.together.outcome)];
        afteryou_plot::stacked_svg(&title, "cwnd", &runs, Scale::Own)
            .unwrap_or_else(|error| panic!("{title}: {error}"))
    }

    /// Returns the picture's contents in one line.
    pub fn line(&self) -> String {
        let share = |rounds: &Rounds, flow: usize| tenths(rounds.share(flow));
        format!(
            "Alone {} % of the link; beside {OTHER} {} %, which then has {} %.",
            share(&self.alone, 0),
            share(&self.together, 0),
            share(&self.together, 1)
        )
    }
}

fn stay() -> String {
    let [from, to] = OTHER_STAYS;
    format!(", which comes at {from} and leaves at {to}")
}

fn own_flow(entry: &Entry) -> Flow {
    Flow { transport: transport(entry), ..Flow::new(entry.name, role(entry), entry.name, RTT) }
}

fn scenario(entry: &Entry, [from, to]: [Duration; 2], flow: Vec<Flow>) -> Scenario {
    Scenario {
        measure: vec![Window { name: "settled".to_owned(), from, to }],
        flow,
        ..Scenario::new(entry.name, DURATION, Link::new(RATE, Buffer::Time(BUFFER)))
    }
}

impl Rounds {
    fn run(scenario: Scenario) -> Rounds {
        let packets = scenario.flow.iter().map(|flow| flow.packet_format().payload.bytes());
        let packets: Vec<u64> = packets.collect();
        let mut curves: Vec<Series> = scenario.flow.iter().map(|flow| curve(&flow.name)).collect();
        let mut windows = Vec::new();
        let take = &mut |sample: afteryou_sim::Sample<'_>| {
            let Snapshot { cwnd, phase, .. } = sample.snapshot;
            let i = curves.iter().position(|curve| curve.of == sample.flow).expect("a flow of the scenario");
            let window = (cwnd * 10 + packets[i] / 2) / packets[i];
            let round = (sample.at.as_nanos() / RTT.0.as_nanos()) as usize;
            curves[i].values.resize(round, None);
            curves[i].values.push(Some(window as f64 / 10.0));
            if i == 0 {
                windows.push((window, phase));
            }
        };
        let outcome = afteryou_sim::sampled(
            &scenario.checked().expect("a scenario"),
            &mut |_| ControlFlow::Continue(()),
            RTT.0,
            take,
        );
        let mut outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        outcome.run.series = curves;
        Rounds { outcome, windows }
    }

    /// Returns the goodput of a flow in tenths of a per cent of the payload capacity.
    fn share(&self, flow: usize) -> u64 {
        (self.outcome.run.windows[0].flows[flow].share_of_payload_capacity * 1000.0).round() as u64
    }

    fn lines(&self) -> String {
        let mut text = " round      ms".to_owned();
        (0..ROUNDS).for_each(|i| text += &format!("{:>7}", format!("+{i}")));
        text.push('\n');
        for (i, line) in self.windows.chunks(ROUNDS).enumerate() {
            let round = i * ROUNDS;
            let ms = round as u64 * RTT.0.as_nanos() / 1_000_000;
            let _ = write!(text, "{round:>6}{ms:>8}");
            line.iter().for_each(|(window, _)| text += &format!("{:>7}", tenths(*window)));
            let blank = 7 * (ROUNDS - line.len()) + 3;
            let _ = writeln!(text, "{:blank$}{}", "", phases(line));
        }
        text
    }
}

fn curve(of: &str) -> Series {
    Series {
        of: of.to_owned(),
        quantity: "cwnd".to_owned(),
        unit: "packets".to_owned(),
        start_s: 0.0,
        step_s: RTT.as_secs_f64(),
        values: Vec::new(),
    }
}

/// Returns the phases: "slow start 4, congestion avoidance 6".
fn phases(line: &[(u64, &'static str)]) -> String {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for (_, phase) in line {
        match runs.last_mut() {
            Some((known, n)) if known == phase => *n += 1,
            _ => runs.push((phase, 1)),
        }
    }
    match runs[..] {
        [(phase, _)] => phase.to_owned(),
        _ => runs.iter().map(|(phase, n)| format!("{phase} {n}")).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the page with all pictures.
pub fn gallery_page(exhibits: &[Exhibit]) -> String {
    let [from, to] = TOGETHER;
    let mut text = format!(
        "# Gallery\n\n\
         Every controller on the same path in the simulator: {RATE}, a round trip of {RTT}, a droptail buffer of {BUFFER}. \
         In the upper half of each picture it is alone for {DURATION}. In the lower half there is a TCP flow with {OTHER}{}. A \
         background controller should fill the link above and yield below; foreground controllers share. Each point is the \
         window, once per base round-trip time.\n\n\
         The buffer is no longer than the longest target that LEDBAT allows. A controller with that target never measures a queue above it, and competes like TCP: a known bad \
         case, shown on purpose.\n\n\
         Shares are goodput over the link's payload capacity where the picture is shaded. That is from {} on alone, and from \
         {from} to {to} beside {OTHER}.\n\n\
         <style>:root {{ --content-max-width: 1700px; }}</style>\n<div class=\"gallery\">\n",
        stay(),
        ALONE[0],
    );
    for exhibit in exhibits {
        let (entry, page) = (exhibit.entry, page(exhibit.entry.name));
        let _ = write!(
            text,
            "<div>\n\n[![Windows of {name}](gallery/{page}.svg)]({page}.md)\n\n\
             **[{name}]({page}.md)** ({}): {} {}\n\n</div>\n",
            class(entry),
            sentence(entry.summary),
            exhibit.line(),
            name = entry.name,
        );
    }
    text + "</div>\n"
}
