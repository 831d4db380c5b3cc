//! Rules for single packets, in words.

use afteryou_notation::format::{count, nth};
use afteryou_notation::Duration;
use afteryou_scenario::scenario::{Delay, Drop, Every};

/// Describes a rule that drops packets before the queue.
pub fn dropped(rule: &Drop) -> String {
    let Drop { flow, packet, transmission, at, until, every, count } = rule;
    let words = [chosen(*packet, *transmission), times(*at, *until), repeats(*every, *count)];
    joined(flow.as_deref().unwrap_or("any flow"), &words)
}

/// Describes a rule that holds packets back before the queue.
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
        Every::Packets(n) => format!("every {}", nth(n, "packet")),
        Every::Time(time) => format!("one every {time}"),
    });
    let number = number.map(|number| format!("{} packets", count(number)));
    every.into_iter().chain(number).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

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
