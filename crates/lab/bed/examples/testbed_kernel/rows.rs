//! The networks, and what runs on them.

use afteryou_scenario::Checked;
use afteryou_scenario_file::Experiment;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Where a background flow runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The simulator, over TCP.
    Simulator,
    /// The testbed, over the kernel's TCP.
    Kernel,
    /// The testbed, over uTP.
    Utp,
}

/// A network and a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub rule: &'static str,
    pub rtt_ms: u32,
    pub queue: &'static str,
    pub buffer: &'static str,
    pub loss: &'static str,
    /// The rule runs over uTP as well, and all bounds hold.
    pub has_utp: bool,
}

/// The times of a run, s.
#[derive(Clone, Copy)]
pub struct Course {
    /// From here on the background alone is measured.
    pub settled: u32,
    pub arrival: u32,
    pub end: u32,
}

const fn row(
    rule: &'static str,
    rtt_ms: u32,
    queue: &'static str,
    buffer: &'static str,
    loss: &'static str,
) -> Row {
    Row { rule, rtt_ms, queue, buffer, loss, has_utp: false }
}

const fn beside_utp(rule: &'static str) -> Row {
    Row { has_utp: true, ..row(rule, 40, "droptail", "500 ms", "0 %") }
}

const RULES: [&str; 4] = ["ebb", "ledbat++", "ledbat", "fledbat"];
/// The rules of the rows without uTP.
const BRIEF: [&str; 2] = ["ebb", "ledbat++"];
const RTTS_MS: [u32; 4] = [5, 50, 135, 250];
const LOSSES: [&str; 3] = ["0 %", "0.1 %", "1 %"];
const QUEUES: [&str; 3] = ["fq_codel", "codel", "pie"];

/// Returns all rows.
pub fn rows() -> Vec<Row> {
    let of_rule = |rule: &'static str| {
        let lossy = LOSSES.map(|loss| RTTS_MS.map(|rtt_ms| row(rule, rtt_ms, "droptail", "500 ms", loss)));
        let managed =
            QUEUES.map(|queue| RTTS_MS.map(|rtt_ms| row(rule, rtt_ms, queue, "1000 packets", "0 %")));
        lossy.into_iter().chain(managed).flatten()
    };
    RULES.into_iter().map(beside_utp).chain(BRIEF.into_iter().flat_map(of_rule)).collect()
}

impl Row {
    pub fn name(&self) -> String {
        let Row { rule, rtt_ms, queue, buffer, loss, .. } = self;
        let lossy = if *loss == "0 %" { String::new() } else { format!(", {loss} lost") };
        format!("{rule}, {rtt_ms} ms, {queue} of {buffer}{lossy}")
    }

    pub fn course(&self) -> Course {
        match self.has_utp {
            true => Course { settled: 5, arrival: 15, end: 45 },
            false => Course { settled: 4, arrival: 10, end: 25 },
        }
    }

    pub fn homes(&self) -> &'static [Home] {
        match self.has_utp {
            true => &[Home::Simulator, Home::Kernel, Home::Utp],
            false => &[Home::Simulator, Home::Kernel],
        }
    }

    /// Returns the run with this seed; the background is at `home`.
    pub fn scenario(&self, home: Home, seed: u64) -> Result<Checked, Failure> {
        let transport = match (home, self.rule) {
            (Home::Utp, _) => "\"utp\"",
            // It sets the pacing rate.
            (_, "ebb") => "\"tcp\"",
            _ => TCP,
        };
        let background = format!(
            "[[flow]]\nname = \"background\"\nrole = \"background\"\ncontroller = {:?}\ntransport = {transport}\nrtt = \"{} ms\"\n\
             start = {{ uniform = [\"0 s\", \"2 s\"] }}\n",
            self.rule, self.rtt_ms
        );
        checked(&self.text(self.course(), &background), seed)
    }

    /// Returns the run without the background. CUBIC comes after a second.
    pub fn without(&self, seed: u64) -> Result<Checked, Failure> {
        let Course { arrival, end, .. } = self.course();
        checked(&self.text(Course { settled: 0, arrival: 1, end: 1 + end - arrival }, ""), seed)
    }

    fn text(&self, course: Course, background: &str) -> String {
        let Row { rtt_ms, queue, buffer, loss, .. } = self;
        let Course { settled, arrival, end } = course;
        let late = arrival + 2;
        format!(
            "duration = \"{end} s\"\n\
             measure = [\n  {{ name = \"alone\", from = \"{settled} s\", to = \"{arrival} s\" }},\n  \
             {{ name = \"stay\", from = \"{arrival} s\", to = \"{end} s\" }},\n  \
             {{ name = \"late\", from = \"{late} s\", to = \"{end} s\" }},\n]\n\
             [link]\nrate = \"20 Mbit/s\"\nbuffer = \"{buffer}\"\nqueue = \"{queue}\"\nloss = \"{loss}\"\n\
             [[flow]]\nname = \"cubic\"\ncontroller = {{ kind = \"cubic\", hystart = \"linux\", friendly = \"linux\" }}\n\
             transport = {TCP}\nrtt = \"{rtt_ms} ms\"\nstart = \"{arrival} s\"\n{background}"
        )
    }
}

/// TCP as the kernel's, which does not pace.
const TCP: &str = "{ kind = \"tcp\", pacing = \"off\" }";

fn checked(text: &str, seed: u64) -> Result<Checked, Failure> {
    let experiment = Experiment::parse(text, "row", &[])?;
    Ok(experiment.runs(Some(seed), Some(1))?.pop().ok_or("a file without a run")?.scenario)
}
