//! A cell: a drawn network, a foreground and a place for the background, as a scenario file.

use super::file::{algorithm, millis, rate, seconds};
use super::foreground::{self, Foreground};
use super::queue::{self, Queue, PACKET};
use super::stratum::Phases;
use super::trouble::{self, Changes, Trouble};
use afteryou_notation::Algorithm;
use std::fmt::Write;

/// The name of the flow that comes when the others are there.
pub const LATE: &str = "late";
/// The name of the flows with a longer round trip than the others.
const FAR: &str = "far";
/// Shortest and longest time up to which data wait before the bottleneck, ms: a few times of a packet break the phases of DropTail queues,
/// and on slow links they would be longer than any host's.
const JITTER_MS: (f64, f64) = (0.02, 4.0);
/// That time, in times of a packet.
const JITTER_PACKETS: f64 = 2.0;
/// The receive window in multiples of the bytes that path and buffer hold: a start-up that doubles overshoots by two, and a rule whose
/// window runs away is held.
const RECEIVE_WINDOW: f64 = 4.0;
/// The least receive window, bytes.
const LEAST_WINDOW: f64 = 65_536.0;
/// The background is back when it has this part of what can arrive.
const BACK: f64 = 0.8;
/// Steps in which that is looked for: twenty packets on the slowest links.
const BACK_STEP: &str = "500 ms";

/// When several background flows begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All in the first round trip: connections of one job.
    Together,
    /// One after another, within the first third of the first phase.
    Spread,
    /// The last one comes as the second phase begins.
    Late,
}

/// The background's transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// uTP.
    Utp,
}

/// The draws of a cell.
pub(super) struct Drawn {
    pub rate_bit_s: f64,
    pub rtt_ms: f64,
    /// Of the second half of the background's flows.
    pub far_rtt_ms: f64,
    pub foreground_rtt_ms: f64,
    pub foreground: Foreground,
    pub load: f64,
    pub queue: Queue,
    pub buffer_by_time: bool,
    pub buffer_at: f64,
    pub marks: bool,
    pub trouble: Trouble,
    pub amount: f64,
    pub flows: u32,
    pub arrival: Arrival,
    pub transport: Transport,
    pub phases: Phases,
    pub seed: u64,
}

/// A cell of the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its name: the set and a number.
    pub name: String,
    /// The name of its stratum.
    pub stratum: &'static str,
    /// The link's rate, bit/s.
    pub rate_bit_s: f64,
    /// The background's base round-trip time, ms.
    pub rtt_ms: f64,
    /// That of the second half of its flows, ms: the same in all cells but some [probing cells](crate::probing).
    pub far_rtt_ms: f64,
    /// The foreground's, ms.
    pub foreground_rtt_ms: f64,
    /// The foreground.
    pub foreground: Foreground,
    /// The queue's name.
    pub queue: &'static str,
    /// Packets are ECN-capable, and the queue marks them.
    pub marks: bool,
    /// Packets that the queue holds.
    pub buffer_packets: u64,
    /// The path's trouble.
    pub trouble: Trouble,
    /// Part of the packets that arrive: a sender cannot have more.
    pub arrives: f64,
    /// Background flows.
    pub flows: u32,
    /// When they begin.
    pub arrival: Arrival,
    /// The background's transport.
    pub transport: Transport,
    /// The phases.
    pub phases: Phases,
    /// The seed of its runs.
    pub seed: u64,
    /// The file up to the background, without a name.
    before: String,
    /// The background's transport as the file has it.
    background_transport: String,
    /// The flows of the background, for a controller that is put in.
    background: Vec<Group>,
}

/// Background flows that begin together.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    name: &'static str,
    count: u32,
    start: String,
    rtt_ms: f64,
}

impl Cell {
    pub(super) fn of(stratum: &'static str, drawn: &Drawn) -> Cell {
        let Drawn { rate_bit_s, rtt_ms, queue, phases, seed, .. } = *drawn;
        let buffer_packets =
            queue::buffer_packets(queue, rate_bit_s, rtt_ms, drawn.buffer_by_time, drawn.buffer_at);
        let place = trouble::Place { rate_bit_s, rtt_ms, phases, seed, amount: drawn.amount };
        let changes = drawn.trouble.changes(&place);
        let marks = drawn.marks && queue.marks;
        Cell {
            name: String::new(),
            stratum,
            rate_bit_s,
            rtt_ms,
            far_rtt_ms: drawn.far_rtt_ms,
            foreground_rtt_ms: drawn.foreground_rtt_ms,
            foreground: drawn.foreground,
            queue: queue.name,
            marks,
            buffer_packets,
            trouble: drawn.trouble,
            arrives: changes.arrives,
            flows: drawn.flows,
            arrival: drawn.arrival,
            transport: drawn.transport,
            phases,
            seed,
            before: before(drawn, buffer_packets, marks, &changes),
            background_transport: transport(
                drawn,
                drawn.transport,
                buffer_packets,
                marks,
                &changes.transport,
            ),
            background: groups(drawn),
        }
    }

    /// Returns the cell's scenario file with `controller` in the background, or without a background.
    pub fn file(&self, controller: Option<&Algorithm>) -> String {
        let mut text = format!("name     = \"{}: {}\"\n{}", self.name, self.words(), self.before);
        let Some(controller) = controller else { return text };
        let controller = algorithm(controller);
        for Group { name, count, start, rtt_ms } in &self.background {
            let _ = write!(
                text,
                "\n[[flow]]\nname       = \"{name}\"\nrole       = \"background\"\ncontroller = {controller}\ntransport  = {}\nrtt        = \"{}\"\nstart      = {start}\njitter     = {}\n",
                self.background_transport,
                millis(*rtt_ms),
                jitter(self.rate_bit_s),
            );
            if *count > 1 {
                let _ = writeln!(text, "count      = {count}");
            }
        }
        text
    }

    /// Returns the cell in words: link, queue, trouble, foreground, background.
    pub fn words(&self) -> String {
        let mbit =
            |bit_s: f64| format!("{:.3}", bit_s / 1e6).trim_end_matches('0').trim_end_matches('.').to_owned();
        let mut words = format!(
            "{} Mbit/s, {:.0} ms, {} of {} packets",
            mbit(self.rate_bit_s),
            self.rtt_ms,
            self.queue,
            self.buffer_packets
        );
        if self.marks {
            words += " with ECN";
        }
        if self.trouble != Trouble::Plain {
            let _ = write!(words, ", {}", self.trouble.name());
        }
        let _ = write!(words, "; {}", self.foreground.name());
        if self.foreground != Foreground::Nobody && self.foreground_rtt_ms != self.rtt_ms {
            let _ = write!(words, " at {:.0} ms", self.foreground_rtt_ms);
        }
        let transport = if self.transport == Transport::Utp { " over uTP" } else { "" };
        let _ = match (self.flows, self.arrival) {
            (1, _) => write!(words, "; 1 flow{transport}"),
            (flows, Arrival::Late) => write!(words, "; {flows} flows{transport}, one of them late"),
            (flows, _) => write!(words, "; {flows} flows{transport}"),
        };
        if self.far_rtt_ms != self.rtt_ms {
            let _ = write!(words, ", half of them at {:.0} ms", self.far_rtt_ms);
        }
        words
    }

    /// Returns the expected cost of a run: the packets that its link can carry.
    pub fn packets(&self) -> f64 {
        self.rate_bit_s / 8.0 / PACKET * self.phases.length_s()
    }
}

/// Returns a transport as a file has it; `further` has more of its settings.
fn transport(drawn: &Drawn, transport: Transport, buffer_packets: u64, marks: bool, further: &str) -> String {
    let rtt_ms = drawn.rtt_ms.max(drawn.foreground_rtt_ms).max(drawn.far_rtt_ms);
    let path = drawn.rate_bit_s / 8.0 * rtt_ms / 1e3 + buffer_packets as f64 * PACKET;
    let rwnd = (path * RECEIVE_WINDOW).max(LEAST_WINDOW).round();
    let kind = if transport == Transport::Utp { "utp" } else { "tcp" };
    let ecn = if marks { ", ecn = true" } else { "" };
    format!("{{ kind = \"{kind}\", rwnd = \"{rwnd} B\"{ecn}{further} }}")
}

/// Returns the jitter of every flow's data as a file has it.
fn jitter(rate_bit_s: f64) -> String {
    let packet_ms = PACKET * 8.0 / rate_bit_s * 1e3;
    let (least, most) = JITTER_MS;
    format!("{{ uniform = \"{}\" }}", millis((JITTER_PACKETS * packet_ms).clamp(least, most)))
}

/// Returns the file of a cell up to the background.
fn before(drawn: &Drawn, buffer_packets: u64, marks: bool, changes: &Changes) -> String {
    let Phases { alone_s, together_s, after_s } = drawn.phases;
    let (third, together, after) = (alone_s / 3.0, alone_s + together_s, alone_s + together_s + after_s);
    let measure = |name: &str, from_s: f64, to_s: f64, set: &str| {
        let (from, to) = (seconds(from_s), seconds(to_s));
        format!("    {{ name = \"{name}\", from = \"{from}\", to = \"{to}\"{set} }},\n")
    };
    let window = |name: &str, from_s: f64, to_s: f64| measure(name, from_s, to_s, "");
    let reach = (BACK * changes.arrives * 1e3).round() / 10.0;
    let back = format!(", role = \"background\", step = \"{BACK_STEP}\", reach = \"{reach} %\"");
    let constant = format!("\"{}\"", rate(drawn.rate_bit_s));
    let mut text = format!(
        "duration = \"{}\"\nseed     = {}\nsample   = \"{}\"\nmeasure  = [\n{}{}{}{}]\n\n[link]\nrate    = {}\nbuffer  = \"{buffer_packets} packets\"\nqueue   = {}\n{}reverse = {{ rate = \"{}\", buffer = \"{} packets\", queue = \"droptail\", elements = {{}}, loss = \"0 %\"{} }}\n",
        seconds(after),
        drawn.seed,
        seconds((after / 100.0).max(0.1)),
        window("start", 0.0, third),
        window("alone", third, alone_s),
        window("together", alone_s, together),
        measure("after", together, after, &back),
        changes.rate.as_deref().unwrap_or(&constant),
        queue::file(drawn.queue, marks),
        changes.link,
        rate(drawn.rate_bit_s),
        buffer_packets.max(100),
        changes.reverse,
    );
    let place = foreground::Place {
        rate_bit_s: drawn.rate_bit_s,
        rtt_ms: drawn.foreground_rtt_ms,
        from_s: alone_s,
        to_s: together,
        transport: &transport(drawn, Transport::Tcp, buffer_packets, marks, ""),
        jitter: &jitter(drawn.rate_bit_s),
        amount: drawn.load,
    };
    text += &drawn.foreground.file(&place);
    text += &changes.tables;
    text
}

/// Returns the flows of the background.
fn groups(drawn: &Drawn) -> Vec<Group> {
    let first = |until_s: f64| format!("{{ uniform = [\"0 s\", \"{}\"] }}", seconds(until_s));
    let group = |name, count, start| Group { name, count, start, rtt_ms: drawn.rtt_ms };
    let (round_trip_s, alone_s) = (drawn.rtt_ms / 1e3, drawn.phases.alone_s);
    match drawn.arrival {
        Arrival::Together if drawn.far_rtt_ms != drawn.rtt_ms => {
            let far = drawn.flows / 2;
            let far = Group { rtt_ms: drawn.far_rtt_ms, ..group(FAR, far, first(drawn.far_rtt_ms / 1e3)) };
            vec![group("background", drawn.flows - far.count, first(round_trip_s)), far]
        }
        Arrival::Together => vec![group("background", drawn.flows, first(round_trip_s))],
        Arrival::Spread => vec![group("background", drawn.flows, first(alone_s / 3.0))],
        Arrival::Late => {
            let late = format!(
                "{{ uniform = [\"{}\", \"{}\"] }}",
                seconds(alone_s),
                seconds(alone_s + round_trip_s)
            );
            vec![group("background", drawn.flows - 1, first(round_trip_s)), group(LATE, 1, late)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{draw, probing, Set, QUICK, WHOLE};
    use super::*;
    use afteryou_scenario_file::Experiment;

    /// Every cell is a file that anybody can run; the queue, the trouble and the flows of the file are the cell's.
    #[test]
    fn every_cell_is_a_scenario_file_without_warnings() {
        let controller: Algorithm = "ledbat++,target=40ms".parse().unwrap();
        let (quick, whole, probes) =
            (draw(QUICK, Set::Train, 1), draw(WHOLE, Set::Hold, 1), probing(Set::Train, 1));
        for cell in quick.iter().chain(&whole).chain(&probes) {
            for background in [None, Some(&controller)] {
                let text = cell.file(background);
                if background.is_none() && cell.foreground == Foreground::Nobody {
                    continue; // a file has a flow at least
                }
                let experiment = Experiment::parse(&text, &cell.name, &[]);
                let experiment = experiment.unwrap_or_else(|error| panic!("{error}\n{text}"));
                let runs = experiment.runs(None, None).unwrap();
                let scenario = &runs[0].scenario;
                assert_eq!((scenario.seed, scenario.link.queue.kind.as_str()), (cell.seed, cell.queue));
                let flows =
                    scenario.flow.iter().filter(|flow| flow.role == afteryou_scenario::Role::Background);
                assert_eq!(flows.count() as u32, if background.is_some() { cell.flows } else { 0 });
                afteryou_engines::find("sim")
                    .unwrap()
                    .supports(scenario)
                    .unwrap_or_else(|error| panic!("{error:?}"));
            }
        }
    }
}
