//! The book's tables of the keys of a scenario file, made from the tables that the checker reads.

use crate::key_examples::Examples;
use afteryou_scenario_file::keys::{Key, Takes, ROOT, TRAFFIC};
use std::fmt::Write;

/// The end of the page's text; the tables follow.
const MARK: &str =
    "<!-- Made from the checker's tables: UPDATE_SCHEMA=1 cargo test -p afteryou-scenario-file --test all schema -->\n";

/// Returns `page` with a table for each section of a file after its text.
pub fn filled(page: &str, examples: &Examples) -> String {
    let (text, _) = page.split_once(MARK).expect("the page says where the keys begin");
    let mut tables = String::new();
    section("The file", ROOT, examples, &mut tables);
    format!("{text}{MARK}{tables}")
}

/// Writes the table of one section, then those of the sections within it.
fn section(title: &str, keys: &[Key], examples: &Examples, text: &mut String) {
    let _ = write!(text, "\n### {title}\n\n| key | example | value | meaning |\n|---|---|---|---|\n");
    for Key { name, takes, help } in keys {
        let example = match takes {
            Takes::Table(_) | Takes::Tables(_) | Takes::TableOrList(..) => "see below".to_owned(),
            _ => examples.of(title, name),
        };
        let _ = writeln!(text, "| `{name}` | {example} | {} | {} |", value(*takes), help.replace('|', "\\|"));
    }
    for Key { name, takes, .. } in keys {
        let inner = match title {
            "The file" => name.to_string(),
            _ => format!("{}.{name}", title.trim_matches(['[', ']', '`'])),
        };
        let mut inside = |title: String, keys: &[Key]| section(&title, keys, examples, text);
        match takes {
            Takes::Table(keys) if title == "The file" => inside(format!("`[{inner}]`"), keys),
            Takes::Table(keys) | Takes::Markov(keys) => inside(format!("`{inner}`"), keys),
            Takes::ChangingRate(keys)
            | Takes::OrNone(keys)
            | Takes::Loss(keys)
            | Takes::Propagation(keys)
            | Takes::Jitter(keys)
                if title == "`[link]`" =>
            {
                inside(format!("`{inner}`"), keys)
            }
            Takes::Tables(keys) => inside(format!("`[[{inner}]]`"), keys),
            Takes::TableOrList(one, several) => {
                inside(format!("`[{inner}]`"), one);
                inside(format!("`[[{inner}]]`"), several);
            }
            Takes::Traffic => inside(format!("`{inner}`"), TRAFFIC),
            _ => {}
        }
    }
}

/// Returns the values of a key, in words.
fn value(takes: Takes) -> String {
    let words =
        |words: &[&str]| words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or ");
    let fixed = match takes {
        Takes::Word(choices) => return words(choices),
        Takes::Words(choices) => return format!("list of {}", words(choices)),
        Takes::WordOrFlag(choices) => return format!("{}, `true` or `false`", words(choices)),
        Takes::Text => "text",
        Takes::Names => "list of names",
        Takes::NamesOrAll => "`\"all\"`, or list of names",
        Takes::Rate => "rate: `\"20 Mbit/s\"`",
        Takes::Size => "size: `\"260 kB\"`, `\"64 KiB\"`",
        Takes::Time => "time: `\"40 ms\"`",
        Takes::TimeOrRounds => "time, or round trips: `\"3 rtt\"`",
        Takes::Moment => "moment: `\"20 s\"`, `\"last start + 10 s\"`, `\"end - 30 s\"`",
        Takes::Buffer => "`\"100 packets\"`, `\"64 KiB\"` or `\"500 ms\"`",
        Takes::Number(least, most) => return format!("number from {least} to {most}"),
        Takes::ChangingRate(_) => "rate: `\"20 Mbit/s\"`, `{ steps = … }` or `{ trace = \"file\" }`",
        Takes::Markov(_) => "`\"satellite\"`, or a table",
        Takes::Weights => "`{ good = 3, blocked = 1 }`",
        Takes::Elements => "table, as in a result",
        Takes::RateSteps => "pairs of time and rate: `[[\"0 s\", \"10 Mbit/s\"], …]`",
        Takes::Propagation(_) => "time, or `{ steps = [[\"0 s\", \"10 ms\"], …] }`",
        Takes::Jitter(_) => "`{ uniform = \"1 ms\" }`, another law of delays, or `\"none\"`",
        Takes::OrNone(_) => "table, or `\"none\"`",
        Takes::CountOrTime => "whole number, or time: `\"40 ms\"`",
        Takes::DelaySteps => "pairs of times: `[[\"0 s\", \"10 ms\"], …]`",
        Takes::UpTo => "time, or `[from, to]`",
        Takes::Range => "`[from, to]`",
        Takes::Samples => "times, `[[time, weight], …]`, or a file of lines `time` or `time,weight`",
        Takes::Loss(_) => "`\"1 %\"`, `{ gilbert_elliott = … }` or `{ every = 100 }`",
        Takes::Probability => "probability: `\"1 %\"`",
        Takes::Dscp => "code point: `\"le\"`, `\"default\"`, `\"cs1\"` or a number",
        Takes::Packets => "`\"10 packets\"`",
        Takes::Window => "`\"10 packets\"` or `{ uniform = [from, to] }`",
        Takes::Count => "whole number",
        Takes::Flag => "`true` or `false`",
        Takes::Controller => "controller: `\"cubic\"`, `{ kind = \"ledbat++\", target = \"60 ms\" }`",
        Takes::Queue => "queue: `\"codel\"`, `{ kind = \"pie\", target = \"15 ms\" }`",
        Takes::Transport => "transport: `\"utp\"`, `{ kind = \"tcp\", iw = 2 }`",
        Takes::Receiver => "receiver: `\"rledbat\"`, `{ controller = \"outside\", target = \"40 ms\" }`",
        Takes::Sender => "sender: `\"outside\"`, `{ controller = \"outside\", target = \"40 ms\" }`",
        Takes::Traffic => {
            "`\"bulk\"`, `{ size = … }`, `{ chunk = … }`, `{ on = …, off = … }`, `{ cbr = … }`, `{ arrivals = …, size = … }`, \
             `{ chunk = …, pause = …, persist = … }`, `{ web = { … } }` or `{ every = …, size = … }`"
        }
        Takes::SizeLaw => "size, or a law of sizes",
        Takes::TimeLaw => "time, or a law of times",
        Takes::RateLaw => "rate, or a law of rates",
        Takes::Arrivals => "`{ poisson = \"50 per s\" }`, a time, or a law of times",
        Takes::Ratio => "number, or per cent",
        Takes::Distribution => {
            "time, `{ uniform = [from, to] }`, `{ normal = … }`, `{ lognormal = … }` or `{ samples = … }`"
        }
        Takes::Start => "time, `{ every = …, first = … }` or `{ uniform = [from, to] }`",
        Takes::Intervals => "pairs of times: `[[\"0 s\", \"30 s\"], …]`",
        Takes::Table(_) => "table",
        Takes::Tables(_) => "tables",
        Takes::TableOrList(..) => "table or list of tables",
        Takes::Sweep => "table: setting = list of values",
    };
    fixed.to_owned()
}
