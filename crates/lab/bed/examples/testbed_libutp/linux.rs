//! Runs the scenarios and prints the table.

use super::senders::{flow, scenario, Failure, Sender, END};
use afteryou_base::{Span, Time};
use afteryou_bed::run::Options;
use afteryou_bed::testbed;
use afteryou_scenario::passage::{Fate, Passage};
use afteryou_scenario::Checked;
use std::ops::ControlFlow;
use std::process::ExitCode;

/// A silence of the link that counts as a stall.
const STALL: Span = Span::from_millis(100);
/// Seeds of a measurement under loss.
const SEEDS: u64 = 5;
const SENDERS: [Sender; 4] = [Sender::Libutp, Sender::OursLikeLibutp, Sender::Ours, Sender::OursByDefault];

/// Arguments of the command line.
struct Settings {
    peer: String,
    seconds: u64,
    only: String,
    /// Measure under loss, with this number of seeds.
    loss: Option<u64>,
    check: bool,
}

/// The measures of the first flow.
#[derive(Default)]
struct Figures {
    bytes: u64,
    others: u64,
    stalls: u32,
    longest: Span,
    last: Option<Time>,
}

impl Figures {
    fn see(&mut self, passage: &Passage<'_>, window: [Time; 2]) {
        let is_in = passage.at >= window[0] && passage.at < window[1];
        if passage.is_reply || passage.fate != Fate::Sent || !is_in {
            return;
        }
        if passage.flow > 0 {
            self.others += u64::from(passage.size);
            return;
        }
        self.bytes += u64::from(passage.size);
        let silence = passage.at.since(self.last.unwrap_or(window[0]));
        self.stalls += u32::from(silence > STALL);
        self.longest = self.longest.max(silence);
        self.last = Some(passage.at);
    }
}

/// Measures what the command line asks for.
pub fn main() -> ExitCode {
    if let Err(error) = testbed::ready() {
        println!("SKIPPED: {error}");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns false if a bound is missed that `--check` names.
fn run() -> Result<bool, Failure> {
    let Settings { peer, seconds, only, loss, check } = settings()?;
    if let Some(seeds) = loss {
        return Ok(super::loss::run(&peer, seconds, seeds)? || !check);
    }
    let senders = || SENDERS.into_iter().filter(|sender| sender.name().contains(&only));
    println!("| sender | scenario | utilisation % | stalls a minute | longest s | part beside CUBIC % |");
    println!("|---|---|--:|--:|--:|--:|");
    for (rtt, rate) in [(2, 2), (6, 2), (6, 4), (20, 2)] {
        for sender in senders() {
            let link = format!("rate = \"{rate} Mbit/s\"\nbuffer = \"1000 packets\"\nqueue = \"fq_codel\"\n");
            let words = format!("FQ-CoDel, {rate} Mbit/s, {rtt} ms");
            row(&words, sender, &scenario(&link, &flow(sender, &peer, rtt, seconds), seconds)?, seconds)?;
        }
    }
    for sender in senders() {
        let link = "rate = \"10 Mbit/s\"\nbuffer = \"1000 packets\"\nqueue = { kind = \"pie\", preset = \"linux-3.17\" }\n";
        let cubic = "[[flow]]\nname = \"cubic\"\ncontroller = \"cubic\"\nrtt = \"60 ms\"\n";
        let flows = flow(sender, &peer, 60, seconds) + cubic;
        row("PIE, 10 Mbit/s, 60 ms, CUBIC", sender, &scenario(link, &flows, seconds)?, seconds)?;
    }
    Ok(true)
}

fn settings() -> Result<Settings, Failure> {
    let mut arguments = std::env::args().skip(1);
    let peer = arguments.next().ok_or("name the program utp_peer: see the head of this file")?;
    let mut settings = Settings { peer, seconds: 60, only: String::new(), loss: None, check: false };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seconds" => settings.seconds = value()?.parse()?,
            "--only" => settings.only = value()?,
            "--loss" => settings.loss = settings.loss.or(Some(SEEDS)),
            "--seeds" => settings.loss = Some(value()?.parse()?),
            "--check" => settings.check = true,
            other => return Err(format!("unknown argument {other}: see the head of this file").into()),
        }
    }
    Ok(settings)
}

/// Runs and prints a row.
fn row(words: &str, sender: Sender, scenario: &Checked, seconds: u64) -> Result<(), Failure> {
    let mut figures = Figures::default();
    let window = [END, seconds].map(|s| Time::ZERO + Span::from_secs(s));
    let mut see = |passage: &Passage<'_>| figures.see(passage, window);
    let outcome =
        testbed::tapped(scenario, &Options::default(), &mut |_| ControlFlow::Continue(()), Some(&mut see))?;
    let late =
        if outcome.run.lateness.is_some_and(|late| late.spoiled()) { " (the host was too slow)" } else { "" };
    let measured_s = (seconds - END) as f64;
    let capacity = scenario.link.rate.bytes_per_second() as f64 * measured_s;
    let share = match figures.others {
        0 => "–".to_owned(),
        others => format!("{:.1}", figures.bytes as f64 / (figures.bytes + others) as f64 * 100.0),
    };
    println!(
        "| {}{late} | {words} | {:.1} | {:.1} | {:.2} | {share} |",
        sender.name(),
        (figures.bytes + figures.others) as f64 / capacity * 100.0,
        f64::from(figures.stalls) / measured_s * 60.0,
        figures.longest.as_secs_f64(),
    );
    Ok(())
}
