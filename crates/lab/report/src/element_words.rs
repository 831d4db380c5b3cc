//! Elements of links and flows, and rules for single packets, in words.

use afteryou_plot::format::{count, short};
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::{Aggregate, Arq, GilbertElliott, Jitter, LossLaw, RateLaw, Steps};
use afteryou_scenario::scenario::{Delay, Drop, Every};
use afteryou_scenario::{Duration, Elements};
use std::fmt::Display;

/// Most steps that are written one by one.
const MOST_STEPS: usize = 4;

/// Each element with its name as keys of a link call it.
pub fn elements(elements: &Elements) -> Vec<(&'static str, String)> {
    let Elements { loss, duplicate, delay, jitter, rate, arq, aggregate, burst } = elements;
    let duplicate = (duplicate.ratio() > 0.0).then(|| duplicate.to_string());
    let delay = delay.as_ref().map(|delay| overtaking(steps(&delay.steps), delay.reorder));
    let words = [
        ("loss", loss.as_ref().map(loss_law)),
        ("duplicate", duplicate),
        ("delay", delay),
        ("jitter", jitter.as_ref().map(of_jitter)),
        ("rate", rate.as_ref().map(rate_law)),
        ("ARQ", arq.as_ref().map(of_arq)),
        ("aggregate", aggregate.as_ref().map(of_aggregate)),
        ("burst", burst.as_ref().map(ToString::to_string)),
    ];
    words.into_iter().filter_map(|(name, words)| Some((name, words?))).collect()
}

/// All elements in one cell.
pub fn together(of: &Elements) -> String {
    let named = elements(of).into_iter().map(|(name, words)| format!("{name}: {words}"));
    named.collect::<Vec<_>>().join("; ")
}

fn loss_law(law: &LossLaw) -> String {
    match law {
        LossLaw::Independent(probability) => format!("{probability}, independent"),
        LossLaw::GilbertElliott(GilbertElliott { p, r, good, bad }) => {
            format!("Gilbert-Elliott, p {p}, r {r}, loss {good} in the good state and {bad} in the bad one")
        }
        LossLaw::Every(n) => format!("every {}", nth(*n)),
    }
}

fn of_jitter(Jitter { law, reorder }: &Jitter) -> String {
    overtaking(distribution(law), *reorder)
}

fn overtaking(words: String, reorder: bool) -> String {
    if reorder {
        words + ", packets overtake"
    } else {
        words
    }
}

fn distribution(law: &Distribution) -> String {
    match law {
        Distribution::Fixed(time) => time.to_string(),
        Distribution::Uniform(from, to) => format!("uniform from {from} to {to}"),
        Distribution::Normal { mean, deviation } => format!("normal, mean {mean}, deviation {deviation}"),
        Distribution::Lognormal { median, sigma, clip } => {
            let clip = clip.map(|[from, to]| format!(", {from} to {to}")).unwrap_or_default();
            format!("lognormal, median {median}, σ {}{clip}", short(*sigma))
        }
        Distribution::Samples(_) => "drawn from a list of samples".to_owned(),
    }
}

fn rate_law(law: &RateLaw) -> String {
    match law {
        RateLaw::Steps { steps: of_rate, period } => {
            let again = period.map(|period| format!(", again after {period}")).unwrap_or_default();
            format!("{}{again}", steps(of_rate))
        }
        RateLaw::Opportunities { at_ms, repeat } => {
            let again = if *repeat { ", looped" } else { "" };
            format!("trace of {} opportunities{again}", count(at_ms.len() as u64))
        }
    }
}

fn of_arq(Arq { error, transmissions, round }: &Arq) -> String {
    format!("error rate {}, at most {transmissions} transmissions, {round} apart", steps(error))
}

fn of_aggregate(Aggregate { acks, time }: &Aggregate) -> String {
    format!("{acks} ACKs, or those of {time}")
}

/// "10 ms, 4 ms from 30 s", and the number of steps where there are many.
fn steps<T: Copy + Display + PartialOrd>(steps: &Steps<T>) -> String {
    let points = steps.points();
    if points.len() <= MOST_STEPS {
        let word = |(from, value): &(Duration, T)| match *from == Duration::default() {
            true => value.to_string(),
            false => format!("{value} from {from}"),
        };
        return points.iter().map(word).collect::<Vec<_>>().join(", ");
    }
    let mut values: Vec<&T> = points.iter().map(|(_, value)| value).collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let number = count(points.len() as u64);
    match (values.first(), values.last()) {
        (Some(least), Some(most)) => format!("{number} steps from {least} to {most}"),
        _ => String::new(),
    }
}

/// A rule that drops packets before the queue.
pub fn dropped(rule: &Drop) -> String {
    let Drop { flow, packet, transmission, at, until, every, count } = rule;
    let words = [chosen(*packet, *transmission), times(*at, *until), repeats(*every, *count)];
    joined(flow.as_deref().unwrap_or("any flow"), &words)
}

/// A rule that holds packets back before the queue.
pub fn delayed(rule: &Delay) -> String {
    let Delay { flow, packet, transmission, at, until, every, count, by } = rule;
    let words = [
        chosen(*packet, *transmission),
        times(*at, *until),
        repeats(*every, *count),
        format!("held back for {by}"),
    ];
    joined(flow, &words)
}

fn joined(flow: &str, words: &[String]) -> String {
    let said = words.iter().filter(|words| !words.is_empty());
    said.fold(flow.to_owned(), |text, words| format!("{text}, {words}"))
}

fn chosen(packet: Option<u64>, transmission: Option<u32>) -> String {
    let of = transmission.map(|number| format!(", transmission {number}")).unwrap_or_default();
    packet.map(|packet| format!("packet {packet}{of}")).unwrap_or_default()
}

fn times(at: Option<Duration>, until: Option<Duration>) -> String {
    let from = at.map(|at| format!("from {at}"));
    let to = until.map(|until| format!("until {until}"));
    from.into_iter().chain(to).collect::<Vec<_>>().join(" ")
}

fn repeats(every: Option<Every>, number: Option<u64>) -> String {
    let every = every.map(|every| match every {
        Every::Packets(n) => format!("every {}", nth(n)),
        Every::Time(time) => format!("one every {time}"),
    });
    let number = number.map(|number| format!("{} packets", count(number)));
    every.into_iter().chain(number).collect::<Vec<_>>().join(", ")
}

/// "packet", "second packet", "100th packet".
fn nth(n: u64) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    if n == 1 {
        "packet".to_owned()
    } else {
        format!("{}{ending} packet", count(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn every_element_is_named() {
        let all: Elements = from_value(json!({
            "loss": {"gilbert_elliott": {"p": "1 %", "r": "25 %", "good": "0 %", "bad": "100 %"}},
            "duplicate": "2 %",
            "delay": {"steps": [["0 s", "10 ms"], ["30 s", "4 ms"]], "reorder": true},
            "jitter": {"law": {"uniform": ["0 ms", "3 ms"]}, "reorder": false},
            "rate": {"steps": {"steps": [["0 s", "8 Mbit/s"], ["5 s", "1 Mbit/s"]], "period": "10 s"}},
            "arq": {"error": [["0 s", "5 %"]], "transmissions": 4, "round": "40 ms"},
            "aggregate": {"acks": 16, "time": "5 ms"},
            "burst": "1600 B",
        }))
        .unwrap();
        let words: Vec<String> =
            elements(&all).into_iter().map(|(name, words)| format!("{name} = {words}")).collect();
        assert_eq!(
            words,
            [
                "loss = Gilbert-Elliott, p 1 %, r 25 %, loss 0 % in the good state and 100 % in the bad one",
                "duplicate = 2 %",
                "delay = 10 ms, 4 ms from 30 s, packets overtake",
                "jitter = uniform from 0 us to 3 ms",
                "rate = 8 Mbit/s, 1 Mbit/s from 5 s, again after 10 s",
                "ARQ = error rate 5 %, at most 4 transmissions, 40 ms apart",
                "aggregate = 16 ACKs, or those of 5 ms",
                "burst = 1.6 kB",
            ]
        );
    }

    #[test]
    fn long_traces_are_counted() {
        let points: Vec<_> = (0..100).map(|i| (format!("{i} s"), format!("{} Mbit/s", 1 + i % 7))).collect();
        let elements: Elements = from_value(json!({"rate": {"steps": {"steps": points}}})).unwrap();
        assert_eq!(together(&elements), "rate: 100 steps from 1 Mbit/s to 7 Mbit/s");
    }

    #[test]
    fn rules_name_the_flow_the_packets_and_the_times() {
        let rule: Drop = from_value(json!({"flow": "a", "packet": 7, "transmission": 2})).unwrap();
        assert_eq!(dropped(&rule), "a, packet 7, transmission 2");
        let rule: Drop = from_value(json!({"at": "1 s", "until": "2 s", "every": 12})).unwrap();
        assert_eq!(dropped(&rule), "any flow, from 1 s until 2 s, every 12th packet");
        let rule: Delay =
            from_value(json!({"flow": "b", "at": "1 s", "every": "20 ms", "by": "5 ms"})).unwrap();
        assert_eq!(delayed(&rule), "b, from 1 s, one every 20 ms, held back for 5 ms");
    }
}
