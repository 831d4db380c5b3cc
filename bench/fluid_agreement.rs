//! Compares the equations with the simulator.
//!
//! `cargo run --release --example fluid_agreement [--all] [--stable] [--check]`
//!
//! A grid of controllers, numbers of flows, paths, rates, settings and buffers. Flows of one kind start within a round trip of
//! each other and stay. Both engines run the same scenario; the equations have the queue inside the round trip, delayed feedback
//! and measured base delays. Compared are means over the time after what dies away has died away: of all flows together, of
//! each, of the queue. Points are put into classes before they are run, by the closed forms alone:
//!
//! - *stable, roomy*: the delayed loop is stable, the equilibrium's queue fits into the buffer, and every flow has twenty packets
//!   or more in flight there;
//! - *small windows*: the same with fewer packets in flight;
//! - *unstable*: the delayed loop is unstable, so that the equilibrium is left for a limit cycle;
//! - *slowdowns*: LEDBAT++ as it is, which never settles;
//! - *small buffer*: the equilibrium's queue does not fit, so that losses rule;
//! - *losses*: controllers that react to nothing else.
//!
//! In the first class everything must be within 5 %: the total, the queue, every single flow. Why twenty packets: a sender
//! has whole packets in flight, and the equations have parts of them. Two flows that begin alike may end with one packet
//! more and one less. LEDBAT keeps that indefinitely, since nothing brings its shares back; in twenty it is 5 %. The second
//! class shows it: shares there differ by more than 5 %, and by less than a packet in a round trip. uTP acknowledges every
//! packet here: with every second one a window moves by two.
//!
//! `--check`: exit 1 if a point of the first class does not agree. `--stable` runs that class alone. `--all` prints every point.

use afteryou_fluid::closed::{self, fledbat, ledbat, DelayLoop, Equilibrium, Symmetric};
use afteryou_fluid::model::LedbatPp;
use afteryou_scenario::{
    Buffer, Checked, Duration, Flow, Link, Outcome, Rate, Role, Scenario, Transport, Window,
};
use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;
use std::process::ExitCode;

const TOLERANCE: f64 = 0.05;
const TOLERANCE_PACKETS: f64 = 1.0;
/// From this window on a packet is no more than the tolerance, packets.
const LARGE_WINDOW: f64 = TOLERANCE_PACKETS / TOLERANCE;
/// A large buffer; one for those that fill it; one that is too small for a target of 100 ms. ms.
const ROOMY_MS: u64 = 400;
const FILLED_MS: u64 = 100;
const SMALL_MS: u64 = 60;
/// LEDBAT++'s target, s.
const TARGET_S: f64 = 0.060;
/// Time constants until a disturbance counts as gone.
const TIME_CONSTANTS: f64 = 6.0;
/// How long is measured, and the longest time before that, s.
const MEASURED_S: f64 = 30.0;
const LONGEST_WARM_UP_S: f64 = 240.0;
/// Where losses rule: saws of some seconds, and slowdowns: periods of some seconds.
const SAWS_S: (f64, f64) = (40.0, 160.0);
const SLOWDOWNS_S: f64 = 120.0;
/// The most points of each class that are shown.
const SHOWN: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Rule {
    Ledbat { target_ms: u64 },
    Fledbat { target_ms: u64, zeta: f64 },
    LedbatPp { slowdowns: bool },
    NewReno,
    Cubic,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Stable,
    SmallWindows,
    Unstable,
    Slowdowns,
    SmallBuffer,
    Losses,
}

const KINDS: [Kind; 6] =
    [Kind::Stable, Kind::SmallWindows, Kind::Unstable, Kind::Slowdowns, Kind::SmallBuffer, Kind::Losses];

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Stable => "stable, roomy",
            Kind::SmallWindows => "small windows",
            Kind::Unstable => "unstable",
            Kind::Slowdowns => "slowdowns",
            Kind::SmallBuffer => "small buffer",
            Kind::Losses => "losses",
        }
    }

    /// Returns why the engines differ.
    fn explanation(self) -> &'static str {
        match self {
            Kind::Stable => "whole packets in flight: half a packet less per flow than its window, in the mean",
            Kind::SmallWindows => "a packet in flight more or less is more than 5 % of a flow",
            Kind::Unstable => {
                "a limit cycle: both go round it, the simulator less far; there a smaller window shows on the wire only as \
                 acknowledgements come, here at once"
            }
            Kind::Slowdowns => {
                "when slowdowns fall together, and what the others fill in the meantime, hangs on single round trips"
            }
            Kind::SmallBuffer | Kind::Losses => {
                "losses are events there and a rate here: there windows move in saws, here they stay where the buffer \
                 is full; \"saw\" is the mean queue of a saw in step, in closed form"
            }
        }
    }
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Rule::Ledbat { .. } => "ledbat",
            Rule::Fledbat { .. } => "fledbat",
            Rule::LedbatPp { .. } => "ledbat++",
            Rule::NewReno => "newreno",
            Rule::Cubic => "cubic",
        }
    }

    fn is_loss_based(self) -> bool {
        matches!(self, Rule::NewReno | Rule::Cubic)
    }
}

impl fmt::Display for Rule {
    /// Writes the rule as in scenarios.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Ledbat { target_ms } => write!(f, "ledbat,target={target_ms}ms"),
            Rule::Fledbat { target_ms, zeta } => write!(f, "fledbat,target={target_ms}ms,zeta={zeta}"),
            Rule::LedbatPp { slowdowns } => write!(f, "ledbat++,slowdowns={slowdowns}"),
            Rule::NewReno | Rule::Cubic => f.write_str(self.name()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Point {
    rule: Rule,
    flows: u32,
    rtt_ms: u64,
    mbit_s: u64,
    buffer_ms: u64,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Point { rule, flows, rtt_ms, mbit_s, .. } = self;
        write!(f, "{flows:>2} × {:<30} {rtt_ms:>3} ms {mbit_s:>2} Mbit/s", rule.to_string())
    }
}

fn grid() -> Vec<Point> {
    let mut points = Vec::new();
    let mut add = |rule: Rule, flows: &[u32], rates: &[u64], buffer_ms: u64| {
        for &flows in flows {
            for rtt_ms in [20, 50, 100] {
                let point = |&mbit_s: &u64| Point { rule, flows, rtt_ms, mbit_s, buffer_ms };
                points.extend(rates.iter().map(point));
            }
        }
    };
    for target_ms in [25, 100] {
        add(Rule::Ledbat { target_ms }, &[1, 2, 5], &[5, 20, 50], ROOMY_MS);
        for zeta in [0.01, 0.1, 0.5] {
            add(Rule::Fledbat { target_ms, zeta }, &[2, 5, 10], &[10, 20], ROOMY_MS);
        }
    }
    for slowdowns in [false, true] {
        add(Rule::LedbatPp { slowdowns }, &[1, 2, 5], &[5, 20], ROOMY_MS);
    }
    add(Rule::Ledbat { target_ms: 100 }, &[1, 2, 5], &[10], SMALL_MS);
    add(Rule::Fledbat { target_ms: 100, zeta: 0.1 }, &[2, 5, 10], &[10], SMALL_MS);
    for rule in [Rule::NewReno, Rule::Cubic] {
        add(rule, &[1, 2, 10], &[10], FILLED_MS);
    }
    points
}

/// The closed forms' values at a point, if it has an equilibrium.
struct Expected {
    settled: Equilibrium,
    delayed: DelayLoop,
    /// Rate at which differences between flows die away, 1/s; none if they do not.
    differences: Option<f64>,
}

impl Point {
    fn flow(&self, index: u32) -> Result<Flow, Box<dyn Error>> {
        let rtt = Duration::from_millis(self.rtt_ms);
        // Within a round trip: who comes later sees the path empty, and no two send in step.
        let start = Duration::from_millis(u64::from(index) * self.rtt_ms / u64::from(self.flows));
        let (role, transport) = match self.rule.is_loss_based() {
            true => (Role::Foreground, Transport::tcp()),
            false => (Role::Background, Transport::utp().with("ack", "every packet")),
        };
        let controller = Some(self.rule.to_string().parse()?);
        Ok(Flow { start, transport, controller, ..Flow::new(format!("{index}"), role, "", rtt) })
    }

    /// Returns the packets per second that the link carries.
    fn capacity(&self) -> Result<f64, Box<dyn Error>> {
        let format = self.flow(0)?.packet_format();
        let bytes = format.payload.bytes() + format.overhead.bytes();
        Ok(self.mbit_s as f64 * 1e6 / 8.0 / bytes as f64)
    }

    fn expected(&self) -> Result<Option<Expected>, Box<dyn Error>> {
        let rtt_s = self.rtt_ms as f64 / 1e3;
        let at = Symmetric { flows: self.flows, capacity: self.capacity()?, rtt_s };
        let closed = match self.rule {
            Rule::Ledbat { target_ms } => {
                let closed = ledbat::Closed { at, target_s: target_ms as f64 / 1e3, gain: 1.0 };
                let (settled, delayed) = (closed.equilibrium_with_queue(), closed.delayed_with_queue());
                return Ok(Some(Expected { settled, delayed, differences: None }));
            }
            Rule::Fledbat { target_ms, zeta } => {
                fledbat::Closed { at, target_s: target_ms as f64 / 1e3, alpha: 1.0, zeta }
            }
            Rule::LedbatPp { .. } => fledbat::Closed::between_slowdowns(at, &LedbatPp::new(TARGET_S)),
            Rule::NewReno | Rule::Cubic => return Ok(None),
        };
        let (settled, delayed) = (closed.equilibrium_with_queue(), closed.delayed_with_queue());
        Ok(Some(Expected { settled, delayed, differences: Some(closed.a_with_queue()) }))
    }

    fn kind(&self, expected: Option<&Expected>) -> Kind {
        match (self.rule, expected) {
            (_, None) => Kind::Losses,
            (_, Some(of)) if of.settled.queuing_s * 1e3 >= self.buffer_ms as f64 => Kind::SmallBuffer,
            (Rule::LedbatPp { slowdowns: true }, _) => Kind::Slowdowns,
            (_, Some(of)) if of.delayed.is_stable() && of.settled.window < LARGE_WINDOW => Kind::SmallWindows,
            (_, Some(of)) if of.delayed.is_stable() => Kind::Stable,
            _ => Kind::Unstable,
        }
    }

    fn is_stable(&self) -> Result<bool, Box<dyn Error>> {
        Ok(self.kind(self.expected()?.as_ref()) == Kind::Stable)
    }

    /// Returns when the window begins and ends, s.
    fn window_s(&self, kind: Kind, expected: Option<&Expected>) -> (f64, f64) {
        let Some(Expected { settled, delayed, differences }) = expected else { return SAWS_S };
        if kind == Kind::SmallBuffer {
            return SAWS_S;
        }
        // Growth is at most a packet, or GAIN, in each round trip.
        let rtt_s = self.rtt_ms as f64 / 1e3;
        let gain = match self.rule {
            Rule::LedbatPp { .. } => LedbatPp::new(TARGET_S).gain(rtt_s),
            _ => 1.0,
        };
        let growth_s = settled.window / gain * (rtt_s + settled.queuing_s);
        let of_loop = delayed.dominant().map_or(f64::INFINITY, |root| root.re.abs());
        let slowest = differences.unwrap_or(of_loop).min(of_loop);
        let from_s = (growth_s + TIME_CONSTANTS / slowest).min(LONGEST_WARM_UP_S).ceil();
        let measured_s = if kind == Kind::Slowdowns { SLOWDOWNS_S } else { MEASURED_S };
        (from_s, from_s + measured_s)
    }

    fn scenario(&self, kind: Kind, expected: Option<&Expected>) -> Result<Checked, Box<dyn Error>> {
        let (from_s, to_s) = self.window_s(kind, expected);
        let at = |s: f64| Duration::from_millis((s * 1e3) as u64);
        let buffer = Buffer::Time(Duration::from_millis(self.buffer_ms));
        let scenario = Scenario {
            measure: vec![Window { name: "settled".to_owned(), from: at(from_s), to: at(to_s) }],
            flow: (0..self.flows).map(|index| self.flow(index)).collect::<Result<_, _>>()?,
            ..Scenario::new(
                self.to_string(),
                at(to_s),
                Link::new(Rate::from_bits(self.mbit_s * 1_000_000), buffer),
            )
        };
        Ok(scenario.checked()?)
    }

    /// Returns the mean queue of saws in step, packets.
    fn saw(&self) -> Result<f64, Box<dyn Error>> {
        let format = self.flow(0)?.packet_format();
        let link = closed::Link {
            bits_per_second: self.mbit_s as f64 * 1e6,
            packet_bytes: (format.payload.bytes() + format.overhead.bytes()) as f64,
            buffer: self.capacity()? * self.buffer_ms as f64 / 1e3,
            rtt_s: self.rtt_ms as f64 / 1e3,
        };
        Ok(link.sawtooth_queue(if matches!(self.rule, Rule::Cubic) { 0.7 } else { 0.5 }))
    }
}

/// An engine's values.
struct Figures {
    /// Of each flow, Mbit/s of payload.
    rates: Vec<f64>,
    total: f64,
    /// Mean, packets.
    queue: f64,
    /// Longest delay over the median, less one: how far it swings.
    swing: f64,
}

impl Figures {
    fn of(outcome: &Outcome) -> Figures {
        let window = &outcome.run.windows[0];
        let link = window.bottleneck().cloned().unwrap_or_default();
        let rates: Vec<f64> = window.flows.iter().map(|flow| flow.goodput_bit_s / 1e6).collect();
        let delay = link.queuing_delay.unwrap_or_default();
        Figures {
            total: rates.iter().sum(),
            rates,
            queue: link.queue_packets.unwrap_or(f64::NAN),
            swing: delay.max_ms / delay.p50_ms - 1.0,
        }
    }
}

/// A point, run in both engines.
struct Compared {
    point: Point,
    kind: Kind,
    fluid: Figures,
    simulated: Figures,
    /// Differences, as parts of the simulator's values.
    total_off: f64,
    queue_off: f64,
    /// Of the flow that differs most, and how many packets that is in a round trip.
    flow_off: f64,
    flow_off_packets: f64,
    /// Mean queue of saws, packets, where losses rule.
    saw: Option<f64>,
}

impl Compared {
    fn run(point: Point) -> Result<Compared, Box<dyn Error>> {
        let expected = point.expected()?;
        let kind = point.kind(expected.as_ref());
        let scenario = point.scenario(kind, expected.as_ref())?;
        let options = afteryou_fluid::Options::default();
        let fluid =
            Figures::of(&afteryou_fluid::run(&scenario, &options, &mut |_| ControlFlow::Continue(()))?);
        let simulated = Figures::of(&afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(()))?);
        let off = fluid.rates.iter().zip(&simulated.rates).map(|(fluid, simulated)| fluid / simulated - 1.0);
        let (flow, flow_off) = off
            .enumerate()
            .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
            .ok_or("a point without flows")?;
        let part = (fluid.rates[flow] - simulated.rates[flow]) / fluid.total;
        let round_trip_s = point.rtt_ms as f64 / 1e3 + simulated.queue / point.capacity()?;
        Ok(Compared {
            total_off: fluid.total / simulated.total - 1.0,
            queue_off: fluid.queue / simulated.queue - 1.0,
            flow_off,
            flow_off_packets: part * point.capacity()? * round_trip_s,
            saw: match kind {
                Kind::SmallBuffer | Kind::Losses => Some(point.saw()?),
                _ => None,
            },
            point,
            kind,
            fluid,
            simulated,
        })
    }

    /// Returns whether the total, the queue and every flow agree.
    fn agrees(&self) -> bool {
        self.worst() <= TOLERANCE
    }

    /// Returns whether they agree but for a packet in the queue and a packet of a flow in a round trip.
    fn agrees_but_for_a_packet(&self) -> bool {
        let queue = (self.fluid.queue - self.simulated.queue).abs();
        self.total_off.abs() <= TOLERANCE
            && (self.queue_off.abs() <= TOLERANCE || queue <= TOLERANCE_PACKETS)
            && (self.flow_off.abs() <= TOLERANCE || self.flow_off_packets.abs() <= TOLERANCE_PACKETS)
    }

    /// Returns how far apart the engines are.
    fn worst(&self) -> f64 {
        self.total_off.abs().max(self.queue_off.abs()).max(self.flow_off.abs())
    }
}

const HEADER: &str = "                                                       total      worst flow,    \
mean queue, packets       swing of the delay
                                                              part  packets     \
fluid     sim   part  fluid    sim";

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { fluid, simulated, .. } = self;
        write!(
            f,
            "{} {:>+6.1} % {:>+7.1} % {:>+5.1}  {:>7.2} {:>7.2} {:>+7.1} % {:>4.0} % {:>4.0} %",
            self.point,
            self.total_off * 100.0,
            self.flow_off * 100.0,
            self.flow_off_packets,
            fluid.queue,
            simulated.queue,
            self.queue_off * 100.0,
            fluid.swing * 100.0,
            simulated.swing * 100.0,
        )?;
        if let Some(saw) = self.saw {
            write!(f, "  saw {saw:.1}")?;
        }
        f.write_str(if self.agrees() { "" } else { "  differ" })
    }
}

/// Returns the line of a class.
fn summary(name: &str, class: &[&Compared]) -> String {
    let count = |is: fn(&Compared) -> bool| class.iter().filter(|one| is(one)).count();
    let most = |of: fn(&Compared) -> f64| class.iter().map(|one| of(one).abs()).fold(0.0, f64::max) * 100.0;
    format!(
        "{name:<24} {:>6} {:>7} {:>9} {:>9.1} % {:>9.1} % {:>9.1} %",
        class.len(),
        count(Compared::agrees),
        count(Compared::agrees_but_for_a_packet),
        most(|one| one.total_off),
        most(|one| one.flow_off),
        most(|one| one.queue_off)
    )
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asks = |word: &str| words.iter().any(|said| said == word);
    let mut compared = Vec::new();
    for point in grid() {
        if !asks("--stable") || point.is_stable()? {
            compared.push(Compared::run(point)?);
        }
    }
    if !asks("--all") {
        compared.sort_by(|a, b| b.worst().total_cmp(&a.worst()));
    }
    let of_kind = |kind: Kind| -> Vec<&Compared> { compared.iter().filter(|one| one.kind == kind).collect() };
    println!("{HEADER}");
    for kind in KINDS {
        let class = of_kind(kind);
        let shown = if asks("--all") { class.len() } else { SHOWN.min(class.len()) };
        println!("\n{}: {}", kind.name(), kind.explanation());
        class[..shown].iter().for_each(|one| println!("{one}"));
    }
    println!(
        "\n{:<24} {:>6} {:>7} {:>9} {:>11} {:>11} {:>11}",
        "", "points", "agree", "or packet", "most: total", "worst flow", "queue"
    );
    for kind in KINDS {
        let class = of_kind(kind);
        println!("{}", summary(kind.name(), &class));
        for name in ["ledbat", "fledbat", "ledbat++", "newreno", "cubic"] {
            let part: Vec<_> = class.iter().copied().filter(|one| one.point.rule.name() == name).collect();
            if !part.is_empty() && part.len() < class.len() {
                println!("{}", summary(&format!("  {name}"), &part));
            }
        }
    }
    let stable = of_kind(Kind::Stable);
    let agree = stable.iter().filter(|one| one.agrees()).count();
    println!(
        "\n{agree} of {} stable, roomy points agree within {:.0} %: total, queue and every flow.",
        stable.len(),
        TOLERANCE * 100.0
    );
    let fails = asks("--check") && (agree < stable.len() || stable.is_empty());
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
