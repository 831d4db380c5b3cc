//! A flow's traffic, and the laws of its sizes and times.

use crate::error::Problem;
use crate::keys::{Key as Known, LAW_LOGNORMAL, PARETO, SWARM, TRAFFIC, WEB};
use crate::outside::Outside;
use crate::read::{self, at, check_keys, count, list, needed, pair, quantity, table, text, time, Result};
use crate::tree::{Node, Table, Value};
use afteryou_notation::{unknown, Duration, Error, Probability};
use afteryou_scenario::law::{Drawn, Law, Lognormal, Pareto, Quantity};
use afteryou_scenario::traffic::{Command, Gaps, Swarm, Traffic, Web, CBR_PAYLOAD};
use std::str::FromStr;

const FORMS: &str = "this is no traffic: write \"bulk\", { size = \"260 kB\" }, { chunk = \"250 kB\" }, \
    { on = \"30 s\", off = \"30 s\" }, { cbr = \"64 kbit/s\", payload = \"160 B\" }, \
    { arrivals = { poisson = \"50 per s\" }, size = \"20 kB\" }, { chunk = \"250 kB\", pause = \"1 rtt\", persist = 0.9 }, \
    { web = { users = 20, … } }, { swarm = { chunk = \"250 kB\", persist = 0.9 } }, \
    { downloads = 25, size = \"250 kB\" }, { command = [\"iperf3\", \"-c\", \"{peer}\"] } or { every = \"4 s\", size = \"1.5 MB\" }";

const NOT_TRUSTED: &str =
    "a scenario that is not trusted may start no program: read it, then run it without --untrusted";

/// Refuses programs of a scenario that is not trusted.
pub(crate) fn check_programs(node: Option<&Node>, traffic: &Traffic, files: &Outside) -> Result<()> {
    match node {
        Some(node) if traffic.is_command() && !files.may_start_programs() => {
            Err(Problem::new(&node.place, NOT_TRUSTED))
        }
        _ => Ok(()),
    }
}

/// Reads what a flow with this round-trip time sends.
pub(crate) fn traffic(node: &Node, rtt: Duration) -> Result<Traffic> {
    if let Value::Text(word) = &node.value {
        return match word.as_str() {
            "bulk" => Ok(Traffic::Bulk),
            _ => Err(Problem::new(&node.place, FORMS)),
        };
    }
    let fields = table(node).map_err(|_| Problem::new(&node.place, FORMS))?;
    check_keys(fields, "traffic", TRAFFIC)?;
    let mut names: Vec<&str> = fields.entries.iter().map(|(key, _)| key.name.as_str()).collect();
    names.sort_unstable();
    let get = |name: &str| needed(fields, name, node, "…");
    match names.as_slice() {
        ["size"] => Ok(Traffic::Size(quantity(get("size")?)?)),
        ["chunk"] => Ok(Traffic::Chunk(quantity(get("chunk")?)?)),
        ["off", "on"] => Ok(Traffic::OnOff { on: quantity(get("on")?)?, off: quantity(get("off")?)? }),
        ["cbr"] | ["cbr", "payload"] | ["cbr", "gaps"] | ["cbr", "gaps", "payload"] => {
            let payload = fields.get("payload").map_or(Ok(CBR_PAYLOAD), quantity)?;
            let gaps = fields.get("gaps").map_or(Ok(Gaps::default()), gaps)?;
            Ok(Traffic::Cbr { rate: quantity(get("cbr")?)?, payload, gaps })
        }
        ["arrivals", "size"] => {
            Ok(Traffic::Arrivals { arrivals: arrivals(get("arrivals")?)?, size: law(get("size")?)? })
        }
        ["chunk", "pause", "persist"] => Ok(Traffic::Peers {
            chunk: quantity(get("chunk")?)?,
            pause: time(get("pause")?, rtt)?,
            persist: ratio(get("persist")?)?,
        }),
        ["web"] => web(get("web")?),
        ["swarm"] => swarm(get("swarm")?),
        ["downloads", "size"] => Ok(Traffic::Downloads {
            downloads: count(get("downloads")?, 1..=1000)? as u32,
            size: law(get("size")?)?,
        }),
        ["command"] | ["command", "server"] => {
            let server = fields.get("server").map_or(Ok(Vec::new()), words)?;
            Ok(Traffic::Command(Command { command: words(get("command")?)?, server }))
        }
        ["every", "size"] => {
            Ok(Traffic::Bursts { every: time(get("every")?, rtt)?, size: quantity(get("size")?)? })
        }
        _ => Err(Problem::new(&node.place, FORMS)),
    }
}

/// Reads a program and its arguments.
fn words(node: &Node) -> Result<Vec<String>> {
    let words = list(node)?;
    if words.is_empty() {
        return Err(Problem::new(&node.place, "this is no program: write [\"iperf3\", \"-c\", \"{peer}\"]"));
    }
    words.iter().map(|word| text(word).map(str::to_owned)).collect()
}

/// Reads the times between datagrams.
fn gaps(node: &Node) -> Result<Gaps> {
    match text(node)? {
        "equal" => Ok(Gaps::Equal),
        "exponential" => Ok(Gaps::Exponential),
        other => at(node, Err(unknown("gaps", other, Gaps::WORDS))),
    }
}

fn web(node: &Node) -> Result<Traffic> {
    let fields = table(node)?;
    check_keys(fields, "web", WEB)?;
    let number =
        |name: &str, otherwise: u64| fields.get(name).map_or(Ok(otherwise), |node| count(node, 1..=10_000));
    Ok(Traffic::Web(Web {
        users: count(needed(fields, "users", node, "20")?, 1..=10_000)? as u32,
        think: law(needed(fields, "think", node, "{ exponential = \"5 s\" }")?)?,
        objects: number("objects", 1)? as u32,
        size: law(needed(fields, "size", node, "\"20 kB\"")?)?,
        connections: number("connections", 6)? as u32,
    }))
}

fn swarm(node: &Node) -> Result<Traffic> {
    let fields = table(node)?;
    check_keys(fields, "swarm", SWARM)?;
    let number =
        |name: &str, otherwise: u64| fields.get(name).map_or(Ok(otherwise), |node| count(node, 1..=1000));
    let tit_for_tat = fields.get("tit_for_tat").map_or(Ok(false), read::flag)?;
    let persist = match (tit_for_tat, fields.get("persist")) {
        (true, None) => Probability::ONE,
        (true, Some(node)) => {
            return Err(Problem::new(
                &node.place,
                "with tit_for_tat the neighbours' uploads decide: leave persist out",
            ))
        }
        (false, _) => ratio(needed(fields, "persist", node, "0.9")?)?,
    };
    Ok(Traffic::Swarm(Swarm {
        chunk: quantity(needed(fields, "chunk", node, "\"250 kB\"")?)?,
        slots: number("slots", 5)? as u32,
        neighbours: number("neighbours", 10)? as u32,
        persist,
        idle_rtts: fields.get("idle_rtts").map_or(Ok(0.0), |node| read::number(node, 0.0..=100.0))?,
        uploaders: fields.get("uploaders").map(|node| count(node, 1..=1000).map(|n| n as u32)).transpose()?,
        tit_for_tat,
    }))
}

/// Reads a probability: a number from 0 to 1, or per cent.
fn ratio(node: &Node) -> Result<Probability> {
    let Value::Number(number) = &node.value else { return quantity(node) };
    let refused = || {
        Problem::new(
            &node.place,
            format!("{number} is no probability: write a number from 0 to 1, or per cent"),
        )
    };
    number.parse().ok().and_then(Probability::from_ratio).ok_or_else(refused)
}

/// Reads the times between arrivals: `{ poisson = "50 per s" }`, or any law of times.
fn arrivals(node: &Node) -> Result<Law<Duration>> {
    if let Value::Table(Table { entries, .. }) = &node.value {
        if let [(key, rate)] = entries.as_slice() {
            if key.name == "poisson" {
                return poisson(rate);
            }
        }
    }
    law(node)
}

/// Reads "50 per s": times without memory between arrivals.
fn poisson(node: &Node) -> Result<Law<Duration>> {
    let written = match &node.value {
        Value::Text(text) => text.as_str(),
        _ => "",
    };
    let (number, unit) = written.split_once("per").unwrap_or((written, ""));
    let seconds = match unit.trim() {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    let mean = number.trim().parse::<f64>().ok().map(|number| seconds / number);
    match mean.filter(|mean| (1e-9..1e8).contains(mean)) {
        Some(mean) => Ok(Law::Drawn(Drawn::Exponential(Duration::from_secs_f64(mean)))),
        None => Err(Problem::new(
            &node.place,
            "write a number of arrivals, such as \"50 per s\" or \"3 per min\"",
        )),
    }
}

/// Reads a value, or a table with a law.
pub(crate) fn law<Q: Quantity + FromStr<Err = Error>>(node: &Node) -> Result<Law<Q>> {
    let Value::Table(fields) = &node.value else { return quantity(node).map(Law::Fixed) };
    let forms = "write a value, { uniform = [from, to] }, { exponential = mean }, { lognormal = { median = …, sigma = … } }, \
                 { pareto = { shape = …, min = … } } or { listed = [… ] }";
    let [(key, shape)] = fields.entries.as_slice() else { return Err(Problem::new(&node.place, forms)) };
    let drawn = match key.name.as_str() {
        "uniform" => {
            let [from, to] = pair(shape)?;
            Drawn::Uniform(quantity(from)?, quantity(to)?)
        }
        "exponential" => Drawn::Exponential(quantity(shape)?),
        "lognormal" => Drawn::Lognormal(lognormal(shape)?),
        "pareto" => Drawn::Pareto(pareto(shape)?),
        "listed" => Drawn::Listed(list(shape)?.iter().map(quantity).collect::<Result<_>>()?),
        _ => return Err(Problem::new(&key.place, forms)),
    };
    let law = Law::Drawn(drawn);
    at(shape, law.check())?;
    Ok(law)
}

fn lognormal<Q: Quantity + FromStr<Err = Error>>(node: &Node) -> Result<Lognormal<Q>> {
    let fields = known(node, "lognormal", LAW_LOGNORMAL)?;
    let optional = |name: &str| fields.get(name).map(quantity).transpose();
    let clip = |node: &Node| {
        let [from, to] = pair(node)?;
        Ok((quantity(from)?, quantity(to)?))
    };
    Ok(Lognormal {
        median: optional("median")?,
        mean: optional("mean")?,
        sigma: number(needed(fields, "sigma", node, "0.8")?)?,
        clip: fields.get("clip").map(clip).transpose()?,
    })
}

fn pareto<Q: Quantity + FromStr<Err = Error>>(node: &Node) -> Result<Pareto<Q>> {
    let fields = known(node, "pareto", PARETO)?;
    Ok(Pareto {
        shape: number(needed(fields, "shape", node, "1.2")?)?,
        min: quantity(needed(fields, "min", node, "\"4 kB\"")?)?,
        cap: fields.get("cap").map(quantity).transpose()?,
    })
}

fn known<'a>(node: &'a Node, what: &str, keys: &[Known]) -> Result<&'a Table> {
    let fields = table(node)?;
    check_keys(fields, what, keys)?;
    Ok(fields)
}

fn number(node: &Node) -> Result<f64> {
    let Value::Number(number) = &node.value else {
        return Err(Problem::new(&node.place, "write a number, such as 0.8"));
    };
    number.parse().map_err(|_| Problem::new(&node.place, "write a number, such as 0.8"))
}
