//! A day on a home uplink: hours of silence, of transfers that come and go, of calls. Measured are the drift of a rule's base delay and the
//! longest time for which it left a free path unused.

use crate::support::{head, line, outcomes, with_rule, Result};
use afteryou_notation::Algorithm;
use afteryou_scenario::outcome::Series;
use afteryou_scenario::random::{stream, uniform};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;

const RATE_MBIT: f64 = 10.0;
const RTT_MS: f64 = 40.0;
/// Bytes of a full packet.
const PACKET: f64 = 1500.0;
/// The path is free in a step in which the transfers had less than this part of it.
const FREE: f64 = 0.01;
/// It is unused in one in which the rule had less than this part as well.
const USED: f64 = 0.1;
/// The first seconds, in which the rule starts.
const START_S: f64 = 10.0;

/// The figures of a rule's day.
#[derive(Clone, Copy, Debug, Default)]
pub struct Day {
    /// The largest error of the base delay in either direction, ms; none if the rule reports no base delay.
    pub error_ms: Option<f64>,
    /// The mean base delay of the last eighth of the time less that of the first, ms.
    pub drift_ms: Option<f64>,
    /// The longest time with a free path of which less than a tenth was used, s, and when it ended.
    pub unused_s: f64,
    pub unused_until_s: f64,
    /// Share of the free time's capacity that was used.
    pub used: f64,
    /// Part of the time in which the path was free.
    pub free: f64,
}

/// The traffic of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hour {
    Silent,
    Uploads,
    Bursts,
    Call,
    CallAndBursts,
}

/// An hour of each five is of each kind, in an order that is drawn.
const HOURS: [Hour; 5] = [Hour::Silent, Hour::Uploads, Hour::Bursts, Hour::Call, Hour::CallAndBursts];

/// Prints what each rule did in a day.
pub fn print(rules: &[Algorithm], hours: u64, seeds: u64) -> Result<()> {
    let columns = [
        "rule, seed",
        "largest error of the base, ms",
        "drift of the base, ms",
        "longest unused, s",
        "until, h",
        "used when free",
    ];
    head(&columns.map(str::to_owned));
    for rule in rules {
        for seed in 1..=seeds {
            let day = run(rule, hours, seed)?;
            let maybe = |ms: Option<f64>| ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.1}"));
            line([
                format!("{rule}, {seed}"),
                maybe(day.error_ms),
                maybe(day.drift_ms),
                format!("{:.0}", day.unused_s),
                format!("{:.2}", day.unused_until_s / 3600.0),
                format!("{:.3}", day.used),
            ]);
        }
    }
    Ok(())
}

/// Runs this many hours of a rule and looks at the curves.
pub fn run(rule: &Algorithm, hours: u64, seed: u64) -> Result<Day> {
    let text = scenario(hours, seed);
    let experiment = Experiment::parse(&text, "day.toml", &[with_rule("backup", rule)])?;
    let outcome = outcomes(&experiment, seed, 1)?.swap_remove(0);
    look(&outcome)
}

/// Returns the scenario of this many hours, with traffic drawn from `seed`.
pub fn scenario(hours: u64, seed: u64) -> String {
    let mut random = stream(seed, "a day");
    let mut draw = |from: f64, to: f64| from + (to - from) * uniform(&mut random);
    let (mut uploads, mut bursts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let mut deck: Vec<Hour> = Vec::new();
    for hour in 0..hours {
        if deck.is_empty() {
            deck = HOURS.to_vec();
        }
        let kind = deck.swap_remove(draw(0.0, deck.len() as f64) as usize);
        let (begin_s, end_s) = (hour as f64 * 3600.0, (hour + 1) as f64 * 3600.0);
        match kind {
            Hour::Silent => {}
            Hour::Uploads => fill(&mut uploads, begin_s, end_s, (60.0, 900.0), (30.0, 600.0), &mut draw),
            Hour::Bursts => fill(&mut bursts, begin_s, end_s, (1.0, 20.0), (5.0, 60.0), &mut draw),
            Hour::Call => fill(&mut calls, begin_s, end_s, (300.0, 1500.0), (60.0, 600.0), &mut draw),
            Hour::CallAndBursts => {
                fill(&mut calls, begin_s, end_s, (300.0, 1500.0), (60.0, 600.0), &mut draw);
                fill(&mut bursts, begin_s, end_s, (1.0, 20.0), (20.0, 120.0), &mut draw);
            }
        }
    }
    let mut text = format!(
        "name = \"{hours} hours on a home uplink\"\nduration = \"{hours} h\"\nsample = \"1 s\"\nmeasure = {{ name = \"whole\", from = \"{START_S} s\" }}\n\n\
         [link]\nrate = \"{RATE_MBIT} Mbit/s\"\nbuffer = \"300 ms\"\n\n\
         [[flow]]\nname = \"backup\"\nrole = \"background\"\ncontroller = \"ledbat++\"\nrtt = \"{RTT_MS} ms\"\njitter = {{ uniform = \"1 ms\" }}\n"
    );
    for (name, active, more) in [
        ("upload", &uploads, "controller = \"cubic\"\n"),
        ("bursts", &bursts, "controller = \"cubic\"\nreconnect = true\n"),
        ("call", &calls, "traffic = { cbr = \"64 kbit/s\", payload = \"160 B\" }\n"),
    ] {
        if active.is_empty() {
            continue;
        }
        let pairs: Vec<String> =
            active.iter().map(|(from, to)| format!("[\"{from:.1} s\", \"{to:.1} s\"]")).collect();
        text += &format!(
            "\n[[flow]]\nname = \"{name}\"\n{more}rtt = \"{RTT_MS} ms\"\njitter = {{ uniform = \"1 ms\" }}\nactive = [{}]\n",
            pairs.join(", ")
        );
    }
    text
}

/// Fills an hour with times of activity whose lengths and pauses are drawn.
fn fill(
    active: &mut Vec<(f64, f64)>,
    begin_s: f64,
    end_s: f64,
    on_s: (f64, f64),
    off_s: (f64, f64),
    draw: &mut impl FnMut(f64, f64) -> f64,
) {
    let mut at_s = begin_s;
    loop {
        let from_s = at_s + draw(off_s.0, off_s.1);
        let to_s = from_s + draw(on_s.0, on_s.1);
        if to_s > end_s - 1.0 {
            return;
        }
        active.push((from_s, to_s));
        at_s = to_s;
    }
}

fn look(outcome: &Outcome) -> Result<Day> {
    let curve = |of: &str, quantity: &str| {
        outcome.run.series.iter().find(|series| series.of == of && series.quantity == quantity)
    };
    let mut day = curve("backup", "base_delay").map_or_else(Day::default, of_base);
    let backup = curve("backup", "goodput").ok_or("the run has no goodput")?;
    let others: Vec<&Series> =
        ["upload", "bursts"].into_iter().filter_map(|name| curve(name, "goodput")).collect();
    let at = |series: &Series, i: usize| series.values.get(i).copied().flatten().unwrap_or_default();
    let (mut unused, mut free, mut used_mbit, mut steps) = (0, 0_u32, 0.0, 0_u32);
    for i in (START_S / backup.step_s) as usize..backup.values.len() {
        let others_mbit: f64 = others.iter().map(|series| at(series, i)).sum();
        let mbit = at(backup, i);
        steps += 1;
        if others_mbit >= FREE * RATE_MBIT {
            unused = 0;
            continue;
        }
        free += 1;
        used_mbit += mbit;
        unused = if mbit < USED * RATE_MBIT { unused + 1 } else { 0 };
        let unused_s = f64::from(unused) * backup.step_s;
        if unused_s > day.unused_s {
            day.unused_s = unused_s;
            day.unused_until_s = backup.start_s + (i + 1) as f64 * backup.step_s;
        }
    }
    // Payload of 1448 bytes in packets of 1500.
    let payload = 1448.0 / PACKET;
    day.used = used_mbit / (f64::from(free.max(1)) * RATE_MBIT * payload);
    day.free = f64::from(free) / f64::from(steps.max(1));
    Ok(day)
}

/// Returns the error and the drift of a curve of the base delay. The truth is the round trip of the path with the time that the link
/// needs for a packet.
fn of_base(series: &Series) -> Day {
    let truth_ms = RTT_MS + PACKET * 8.0 / RATE_MBIT / 1e3;
    let settled: Vec<f64> =
        series.values.iter().skip((START_S / series.step_s) as usize).copied().flatten().collect();
    let error_ms = settled.iter().map(|ms| (ms - truth_ms).abs()).fold(0.0, f64::max);
    let eighth = (settled.len() / 8).max(1);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let drift_ms = mean(&settled[settled.len() - eighth.min(settled.len())..])
        - mean(&settled[..eighth.min(settled.len())]);
    Day { error_ms: Some(error_ms), drift_ms: Some(drift_ms), ..Day::default() }
}
